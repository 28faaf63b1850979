//! Deliveries to the merchants.

pub(crate) mod deliver;
pub(crate) mod pool;
pub(crate) mod secrets;
pub(crate) mod worker;
