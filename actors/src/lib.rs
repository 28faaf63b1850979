//! Who does it, in which order: one actor per transaction, and those that serve them.
//!
//! The tree is in `system.rs`; each actor has a file of its own, with the messages that it receives.
//! Nothing here knows HTTP, BSON, SQL or a provider.

mod limits;
mod mailbox;
mod meter;
mod slot;
mod wheel;

mod asking;
mod doubts;
mod failed_lately;
mod published;

mod journal;
mod lanes;
mod punctual;
mod reader;

mod acquirer;
mod routing;
mod supervisor;

mod front;
mod inbox;
mod reporting;
mod secrets;
mod timer;
mod transaction;
mod webhook_pool;
mod webhook_worker;

mod payments;
mod shared;
mod system;

pub use limits::Limits;
pub use payments::{CreatePayment, Created, Denied, Operated, Payments};
pub use routing::{RouteHealth, RouteState};
pub use system::{ActorSystem, Placement, Ports};
