//! Webhooks to merchants: when to try, how to sign.

pub mod schedule;
pub mod signature;
