//! The tests of the stores and their tools: payments as the service creates them, and a server that fails on demand.
//! `tests/contract` runs one contract against every store.
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::indexing_slicing,
    clippy::panic,
    missing_docs,
    reason = "tests"
)]

pub mod fail_point;
pub mod lent_database;
pub mod samples;
