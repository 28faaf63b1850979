//! Webhooks to merchants: allowed addresses, bodies, schedule, signatures.

pub mod address;
pub mod body;
pub mod schedule;
pub mod signature;
