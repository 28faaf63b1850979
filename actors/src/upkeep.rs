//! What keeps the system going: waking what is due, the node's sign of life, exceptions for operators.

pub(crate) mod backoff;
pub(crate) mod known_nodes;
pub(crate) mod node;
pub(crate) mod reporting;
pub(crate) mod timer;
