//! Deliveries to the merchants.

mod backlog;
pub(crate) mod deliver;
pub(crate) mod pool;
mod queue;
pub(crate) mod secrets;
pub(crate) mod worker;
