//! Webhooks to merchants: where they may go, what they say, when to try, how to sign.

pub mod address;
pub mod body;
pub mod schedule;
pub mod signature;
