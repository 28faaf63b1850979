//! The creation request: every row of the contract's table with its edges and their neighbours.
#![allow(
    clippy::unwrap_used,
    clippy::panic,
    clippy::indexing_slicing,
    clippy::wildcard_enum_match_arm,
    reason = "tests"
)]

mod request {
    //! One file for each part of the table.
    pub(crate) mod bodies;
    pub(crate) mod card;
    pub(crate) mod due;
    pub(crate) mod evaluation;
    pub(crate) mod fingerprint;
    pub(crate) mod free_text;
    pub(crate) mod lists;
    pub(crate) mod messages;
    pub(crate) mod payer;
    pub(crate) mod properties;
    pub(crate) mod root;
    pub(crate) mod shape;
    pub(crate) mod terms;
    pub(crate) mod token;
}
