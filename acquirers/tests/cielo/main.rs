//! The adapter for Cielo, held against a small Cielo with books of its own and against odd answers.

#![allow(clippy::unwrap_used, clippy::panic, clippy::indexing_slicing, reason = "tests")]

mod bank;
mod payment;
mod scripted;

mod boletos;
mod cards;
mod inquiries;
mod lenient;
mod notices;
#[cfg(feature = "network")]
mod on_the_wire;
mod operations;
mod pix;
mod refusals;
mod reload;
mod secrets;
mod spaced;
mod sums;
