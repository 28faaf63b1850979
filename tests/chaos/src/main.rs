//! Real processes, real faults, three ledgers.
//!
//! Starts the service as it is run (`quita serve` with an adapter to the tester's banks), beside it two banks and a
//! receiver of webhooks over HTTP, with a TCP proxy on every line, and clients that create, retry, cancel, capture and
//! refund at once. While they work, faults fall by a plan that follows from a seed: SIGKILL of nodes; SIGKILL, SIGSTOP
//! and step-down of MongoDB's primary; partitions between any two parties, the members of the replica set among them
//! (full, one way, refused, flapping), latency, connections that are cut before the answer; banks that are slow, break
//! off, answer nonsense, want fewer calls, tell things twice, late or never; receivers that fail. Then everything is
//! healed, and what clients were told, the banks' books and what the receiver got are compared with the store.
//!
//! The banks differ (`bank_kind.rs`). One knows operations by our ids, says in its notices what happened, and takes some
//! seconds for refunds. The other one knows operations by its sums alone, so that a refund that is sent again is given
//! back again; its notices are hints, so that money is found by asking, and it takes some seconds to register boletos.
//!
//! What a violation is stands in `verdict.rs`, and where it is seen at once: in `told.rs` (a replay that names another
//! payment, an amount that changed, two statuses under one version, a 404 for what was told) and `receiver.rs` (a wrong
//! signature, an event before the one before it was confirmed, a repetition that differs). A round with too few payments
//! fails too. Each violation is printed with what the books, the store and the receiver have; logs are kept.
//!
//! Time that nobody wants to wait for (the lease of what was killed, the retry of a webhook after 5 minutes, the later
//! questions about an unknown outcome) is skipped after the faults: all nodes are started again with their clocks
//! ahead. How far that had to go is printed.
//!
//! `--plant` makes a mistake on purpose, and the run has to fail: a charge or an operation whose outcome is unknown is
//! taken for refused or for done, an operation whose outcome is unknown is sent again without asking, the end of the
//! embedded store's log is lost in a kill.
//!
//! The seed decides which faults fall, in which order and after which pauses. How long processes take is the machine's
//! affair, so a second run of one seed is alike, not the same.
//!
//! Counted, not judged: a GET that shows an older version than somebody was told before. Exceptions `unknown_outcome`
//! are no violation by themselves, because crashes in a row make a question be asked many times; what became of the
//! payment is judged by the books.
//!
//! With `--upgrade` every start of a node takes one of two versions, until the store is upgraded beside them
//! (`upgrade.rs`): the upgrade is killed, and goes on where it stopped.
//!
//! Not covered here: loss of power (the kernel keeps what a killed process wrote; `fsync` is not put to the test), full
//! and failing disks, errors that MongoDB answers to single commands, clocks that differ between nodes, a bank that
//! finds a request in its post later than 20 s after its sender gave up, more than one merchant, live keys, and the
//! pages of payers.
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::indexing_slicing,
    clippy::as_conversions,
    clippy::wildcard_enum_match_arm,
    reason = "a tester may stop with a message"
)]

mod bank;
mod bank_kind;
mod books;
mod bridge;
mod clients;
mod dice;
mod faults;
mod link;
mod node;
mod ports;
mod receiver;
mod report;
mod round;
mod server;
mod set;
mod store;
mod told;
mod upgrade;
mod verdict;
mod wire;
mod world;

use std::process::ExitCode;

use clap::{Parser, ValueEnum};
use quita_machine::SystemClock;
use quita_ports::Clock;
use tokio::task::LocalSet;

use faults::Quota;
use round::Campaign;

/// Store that the service runs on.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum StoreKind {
    /// Three nodes on the replica set of `scripts/mongod run --nodes 3`.
    Mongodb,
    /// One node on SQLite.
    Embedded,
}

/// Kills, cuts and partitions real processes, and compares three ledgers with the store.
#[derive(Debug, Parser)]
#[command(name = "quita-chaos", args_override_self = true)]
struct Options {
    /// Store that the service runs on
    #[arg(long, value_enum, default_value = "embedded")]
    store: StoreKind,
    /// Rounds: each with a store of its own, and a verdict
    #[arg(long, default_value_t = 1)]
    rounds: u64,
    /// Seconds that the faults of a round last at least
    #[arg(long, default_value_t = 20)]
    seconds: u64,
    /// Nodes killed in a round
    #[arg(long, default_value_t = 10)]
    kills: u64,
    /// Elections of a round; MongoDB only
    #[arg(long, default_value_t = 3)]
    elections: u64,
    /// Partitions of a round
    #[arg(long, default_value_t = 5)]
    partitions: u64,
    /// Clients at work at once
    #[arg(long, default_value_t = 8)]
    clients: u64,
    /// Seed of the plan of faults; a fresh one when absent
    #[arg(long)]
    seed: Option<u64>,
    /// Nodes of two versions work on one store, which is then upgraded, after so many kills of the upgrade
    #[arg(long, value_name = "KILLS")]
    upgrade: Option<u64>,
    /// Makes a mistake on purpose: then the run has to fail
    #[arg(long, value_enum)]
    plant: Option<node::Plant>,
}

fn main() -> ExitCode {
    let options = Options::parse();
    let seed = options.seed.unwrap_or_else(|| SystemClock.now().millis().unsigned_abs() % 1_000_000);
    let quota = Quota {
        seconds: options.seconds,
        kills: options.kills,
        elections: if options.store == StoreKind::Mongodb { options.elections } else { 0 },
        partitions: options.partitions,
    };
    let campaign = Campaign {
        seed,
        rounds: options.rounds,
        clients: options.clients,
        quota,
        on_mongodb: options.store == StoreKind::Mongodb,
        plant: options.plant,
        upgrade_kills: options.upgrade,
    };
    println!("quita-chaos: {:?}, seed {seed}, {} rounds of {quota:?}", options.store, options.rounds);
    // A single thread, because a child is tied to the thread that started it.
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().expect("a runtime");
    match LocalSet::new().block_on(&runtime, campaign.run()) {
        Ok(true) => ExitCode::SUCCESS,
        Ok(false) => ExitCode::FAILURE,
        Err(error) => {
            println!("quita-chaos: {error:#} (seed {seed})");
            ExitCode::FAILURE
        }
    }
}
