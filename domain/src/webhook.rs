//! Webhooks to merchants: where to, when to try, how to sign.

pub mod address;
pub mod schedule;
pub mod signature;
