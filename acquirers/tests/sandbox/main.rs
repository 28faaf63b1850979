//! The sandbox, held against the table of the contract, section 4.1.

#![allow(clippy::unwrap_used, clippy::panic, clippy::indexing_slicing, reason = "tests")]

mod world;

mod answers;
mod rows;
mod trouble;
