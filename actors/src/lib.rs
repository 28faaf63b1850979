//! Who does it, in which order: one actor per transaction, and those that serve them.
//!
//! The tree is in `system.rs`; each actor has a file of its own, with the messages that it receives.
//! Nothing here knows HTTP, BSON, SQL or a provider.

mod limits;
mod mailbox;
mod slot;
mod wheel;

mod actor_meter;
mod batch_span;
mod cause;
mod kind;
mod meter;
mod reading;
mod sample;
mod sampler;
mod tally;
mod trail;

mod asking;
mod doubts;
mod failed_lately;
mod published;

mod journal;
mod lanes;
mod punctual;
mod reader;

mod acquirer;
mod health;
mod orders;
mod outcome;
mod recent_calls;
mod route_view;
mod routing;
mod supervisor;

mod actor_view;
mod front;
mod inbox;
mod node;
mod reporting;
mod secrets;
mod timer;
mod transaction;
mod webhook_pool;
mod webhook_worker;

mod operators;
mod payments;
mod shared;
mod system;

pub use actor_view::{ActorView, LiveView, MessageView, ShardView};
pub use cause::Cause;
pub use kind::ActorKind;
pub use limits::Limits;
pub use node::NodeIdentity;
pub use operators::{Asked, Operators};
pub use payments::{CreatePayment, Created, Denied, Operated, Payments};
pub use route_view::{RouteFailure, RouteHealth, RouteOutcomes, RouteState, RouteView};
pub use sample::{KindSample, MessageSample, PaymentSample, Sample, StoreSample, Thousandths, WebhookSample};
pub use system::{ActorSystem, Placement, Ports};
