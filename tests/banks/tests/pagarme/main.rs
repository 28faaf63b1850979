//! Behaviour of a Pagar.me, as its pages say and as it was seen.

#![allow(
    clippy::unwrap_used,
    clippy::panic,
    clippy::indexing_slicing,
    clippy::string_slice,
    reason = "tests"
)]

mod callbacks;
mod cards;
mod control;
mod faults;
mod keys;
mod payables;
mod pix_and_boletos;
mod requests;
mod shop;
