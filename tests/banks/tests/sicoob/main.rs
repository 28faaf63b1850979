//! Behaviour of a bank of boletos, as its portal says and as others' clients expect it to.

#![allow(clippy::unwrap_used, clippy::panic, clippy::indexing_slicing, reason = "tests")]

mod callbacks;
mod customer;
mod faults;
mod movements;
mod payments;
mod registration;
mod tokens;
