//! Behaviour of a Cielo, as its manual says and as it was seen to be.

#![allow(
    clippy::unwrap_used,
    clippy::panic,
    clippy::indexing_slicing,
    clippy::string_slice,
    reason = "tests"
)]

mod cards;
mod codes;
mod control;
mod faults;
mod notices;
mod pix_and_boletos;
mod requests;
mod shop;
mod traps;
