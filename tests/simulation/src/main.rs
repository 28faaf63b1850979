//! The real actor system in simulated worlds.
//!
//! A world has one to three nodes on one simulated store, banks, receivers and merchants' programs, all on one thread
//! in paused time. One seed decides everything that happens, so a seed that fails does so every time, to the letter.

#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::indexing_slicing,
    clippy::as_conversions,
    clippy::float_arithmetic,
    reason = "a program that tests: whatever can't be is a defect that should stop it"
)]

mod bank;
mod chance;
mod clock;
mod invariants;
mod life;
mod merchant;
mod node;
mod orders;
mod receivers;
mod store;
mod trace;
mod world;

fn main() {
    let mut args = std::env::args().skip(1);
    let from: u64 = args.next().map_or(0, |text| text.parse().unwrap());
    let count: u64 = args.next().map_or(100, |text| text.parse().unwrap());
    let wants_trace = args.next().is_some();
    let began = std::time::Instant::now();
    let (mut failed, mut payments, mut events) = (0, 0, 0);
    std::panic::set_hook(Box::new(|info| {
        if std::env::var("SHOW").is_ok() {
            eprintln!("{info}");
        }
    }));
    for number in from..from + count {
        let outcome = life::seed(number, wants_trace);
        payments += outcome.payments;
        events += outcome.events;
        if !outcome.violations.is_empty() {
            failed += 1;
            if failed < 400 {
                println!("seed {number}: {:#?}", outcome.violations);
            }
        }
        if wants_trace {
            println!("{}", outcome.trace);
        }
    }
    println!("{count} seeds {failed} failed {payments} payments {events} events {:?}", began.elapsed());
}
