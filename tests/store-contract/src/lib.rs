//! The tests of the stores, and what they are tried with: payments as the service makes them, and a server that fails on
//! demand. `tests/contract` runs one contract against every store.
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::indexing_slicing,
    clippy::panic,
    missing_docs,
    reason = "tests"
)]

pub mod fail_point;
pub mod samples;
