//! Actors: one for each transaction, and those that serve them.
//!
//! The tree is in `system.rs`. Each actor has its own file, with the messages that it receives.
//! Nothing here depends on HTTP, BSON, SQL or a provider.

mod acquirers;
mod actor;
mod store;
mod transaction;
mod upkeep;
mod watch;
mod webhooks;

mod denied;
mod erasure_follower;
mod limits;
mod link_payments;
mod operators;
mod payments;
mod system;

pub use acquirers::method_outages::MethodOutage;
pub use acquirers::missing_routes::RouteKey;
pub use acquirers::notices::NoticeDenied;
pub use acquirers::route_view::{
    RouteApprovals, RouteFailure, RouteHealth, RouteOutcomes, RouteState, RouteView,
};
pub use actor::crash_cause::CrashCause;
pub use actor::kind::ActorKind;
pub use denied::Denied;
pub use erasure_follower::ErasureFollower;
pub use limits::{Limits, NODE_SEEN_WITHIN, WebhookLimits};
pub use link_payments::{CreationFailure, LinkPaymentError, LinkPayments, NotClosed, is_waiting};
pub use operators::{Asked, Operators};
pub use payments::{Operated, Payments, Readiness};
pub use store::failing_reads::FailingReads;
pub use store::state::{StoreAway, StoreCall, StoreState, StoreTrouble};
pub use store::watched::WatchedStore;
pub use system::{ActorSystem, Placement, Ports};
pub use transaction::messages::{CreatePayment, Created, LinkUse};
pub use upkeep::known_nodes::{NodeState, NodeView};
pub use upkeep::node::NodeIdentity;
pub use watch::actor_view::{ActorView, LiveView, MessageView, ShardView};
pub use watch::sample::{
    KindSample, MessageSample, PaymentSample, Sample, StoreSample, Thousandths, WebhookSample,
};
