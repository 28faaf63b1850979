//! Webhooks to merchants: where they may go, when to try, how to sign.

pub mod address;
pub mod schedule;
pub mod signature;
