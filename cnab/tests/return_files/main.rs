//! Return files as a whole: what is read in them, and which are refused where.
#![allow(
    clippy::unwrap_used,
    clippy::panic,
    clippy::as_conversions,
    clippy::indexing_slicing,
    clippy::wildcard_enum_match_arm,
    reason = "tests: what must not happen fails the test"
)]

mod files;
mod properties;
mod refusals;
mod same_as_others;
mod tolerances;
