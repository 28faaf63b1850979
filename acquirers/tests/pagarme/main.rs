//! The adapter for Pagar.me, held against the Pagar.me of `quita-banks`, which its own client judges, and against odd
//! answers.

#![allow(
    clippy::string_slice,
    clippy::wildcard_enum_match_arm,
    clippy::unwrap_used,
    clippy::panic,
    clippy::indexing_slicing,
    reason = "tests"
)]

mod payment;
mod scripted;
mod there;

mod boletos;
mod callbacks;
mod cards;
mod disputes;
mod inquiries;
mod operations;
mod payables;
mod pix;
mod refusals;
mod secrets;
mod sending_again;
mod splits;
mod statuses;
