//! The adapter of API Pix, tried against a small bank behind its one HTTP exchange.

#![allow(
    clippy::unwrap_used,
    clippy::panic,
    clippy::indexing_slicing,
    clippy::wildcard_enum_match_arm,
    reason = "tests"
)]

mod bank;
mod callbacks;
mod charges;
mod due;
mod golden;
mod inquiries;
mod odd_answers;
#[cfg(feature = "network")]
mod on_the_wire;
mod operations;
mod registration;
mod tokens;
mod world;
