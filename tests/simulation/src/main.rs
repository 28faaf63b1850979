//! Real actor system in simulated worlds.
//!
//! A world has one to three nodes on one simulated store, and banks, receivers and merchants' programs. All run on one
//! thread in paused time. One seed decides everything that happens, so a failing seed fails identically each time.
//! Banks are simulated at the port (`bank/`), or are counterparties that the adapters' own code calls (`provider/`).
//!
//! Judges check each part. `judge.rs` in `tests/memory-store` checks every write, `receivers.rs` every webhook,
//! `bank.rs` every charge, and `merchant.rs` every answer. `invariants.rs` compares the store with every bank's
//! `account.rs`. It does so whenever all is quiet and the nights have come in which lists of banks are compared.
//! `reconciling/judge.rs` judges those comparisons. `installation.rs` has the events that affect the service as a
//! whole.

#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::indexing_slicing,
    clippy::as_conversions,
    clippy::float_arithmetic,
    reason = "a program that tests: whatever can't be is a defect that should stop it"
)]

mod account;
mod bank;
mod campaign;
mod chance;
mod clock;
mod crash_points;
mod installation;
mod invariants;
mod life;
mod links;
mod merchant;
mod node;
mod operator;
mod orders;
mod party;
mod past;
mod planted;
mod provider;
mod receivers;
mod reconciling;
mod routes;
mod secret_keys;
mod store;
mod trace;
mod world;

use std::process::ExitCode;

use clap::{Parser, Subcommand};

/// Allocator of the simulator: worlds consist of many small objects.
#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

/// Simulates whole worlds of the payment service, and judges what becomes of every payment.
#[derive(Parser)]
#[command(name = "simulate")]
struct Options {
    #[command(subcommand)]
    what: What,
}

#[derive(Subcommand)]
enum What {
    /// Many worlds, each from a seed of its own.
    Seeds {
        /// The first seed.
        #[arg(long, default_value_t = 0)]
        from: u64,
        /// Number of seeds.
        #[arg(long, default_value_t = 1_000)]
        count: u64,
        /// Threads; each simulates worlds of its own.
        #[arg(long, default_value_t = 2)]
        jobs: u64,
    },
    /// One world, with everything that happens in it.
    Seed {
        /// The seed.
        seed: u64,
    },
    /// Every point at which a process can die, for each method and fault.
    CrashPoints {
        /// Only the courses of a payment whose name contains this.
        #[arg(long, default_value = "")]
        only: String,
        /// One in this many points, starting at a different one for each course and fault.
        #[arg(long, default_value_t = 1, value_parser = clap::value_parser!(u64).range(1..))]
        one_in: u64,
        /// Print everything that happens at each point that fails.
        #[arg(long)]
        story: bool,
        /// Threads.
        #[arg(long, default_value_t = 2)]
        jobs: u64,
    },
    /// Deliberate mistakes, with the world that catches each.
    Planted {
        /// Only the mistakes whose name contains this.
        #[arg(long, default_value = "")]
        only: String,
        /// Threads.
        #[arg(long, default_value_t = 2)]
        jobs: u64,
    },
}

fn main() -> ExitCode {
    // Actors that die because of a fault are part of the simulation, not an error to print.
    std::panic::set_hook(Box::new(|_| {}));
    let is_good = match Options::parse().what {
        What::Seeds { from, count, jobs } => campaign::run(from, count, jobs),
        What::Seed { seed } => campaign::tell(seed),
        What::CrashPoints { only, one_in, story, jobs } => crash_points::run(&only, one_in, story, jobs),
        What::Planted { only, jobs } => planted::run(&only, jobs),
    };
    if is_good { ExitCode::SUCCESS } else { ExitCode::FAILURE }
}
