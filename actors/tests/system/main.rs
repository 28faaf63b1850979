//! The whole actor system over an in-memory world: one thread, paused time, every fault on demand.
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::indexing_slicing,
    clippy::panic,
    clippy::let_underscore_must_use,
    clippy::wildcard_enum_match_arm,
    missing_docs,
    unreachable_pub,
    reason = "tests"
)]

mod access;
mod bank;
mod chance;
mod invariants;
mod lasting_trouble;
mod logs;
mod orders;
mod receivers;
mod spans;
mod store;
mod trace;
mod world;

mod acquirer_directives;
mod crashes;
mod creating;
mod dying;
mod erasing;
mod further;
mod grouping;
mod hints;
mod nights;
mod notices;
mod numbers;
mod operating;
mod outage;
mod overload;
mod pacing;
mod passivation;
mod pix_taken;
mod preparing;
mod reconciling;
mod settling;
mod stale;
mod stopping;
mod store_trouble;
mod threads;
mod traces;
mod two_nodes;
mod unknown_outcomes;
mod watching;
mod webhooks;
mod writes;
