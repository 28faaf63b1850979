//! Upkeep of the system: waking due payments and notices, the node's heartbeat, exceptions for operators.

pub(crate) mod backoff;
pub(crate) mod heartbeats;
pub(crate) mod known_nodes;
pub(crate) mod node;
pub(crate) mod reporting;
pub(crate) mod route_agreement;
pub(crate) mod timer;
