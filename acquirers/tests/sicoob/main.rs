//! The adapter for Sicoob, held against the bank of `quita-banks`, which two clients of others judge.

#![allow(
    clippy::string_slice,
    clippy::wildcard_enum_match_arm,
    clippy::unwrap_used,
    clippy::panic,
    clippy::indexing_slicing,
    reason = "tests"
)]

mod world;

mod callbacks;
mod inquiries;
mod movements;
mod registration;
mod withdrawals;
