//! Many seeds on several threads, and their results.

use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::mpsc;
use std::time::Instant;

use crate::chance::Fault;
use crate::installation::Happening;
use crate::life::{self, Outcome};

/// Number of violations that are shown in full.
const SHOWN: usize = 20;
/// Number of seeds from which on a run must have met every fault, and every event of an installation.
const SEEDS_FOR_EVERY_FAULT: u64 = 1_000;
/// One seed in this many is lived twice: without the same story each time, no failure could be looked into.
const ONE_LIVED_TWICE_IN: u64 = 50;
/// Number of payments that a seed must store on average.
const PAYMENTS_PER_SEED: u64 = 15;

/// Prints one world, line by line. Returns true if nothing was wrong in it.
pub(crate) fn tell(seed: u64) -> bool {
    let outcome = life::seed(seed, true);
    print!("{}", outcome.trace);
    println!("seed {seed}: {} payments, {} events", outcome.payments, outcome.events);
    for violation in &outcome.violations {
        println!("VIOLATION {violation}");
    }
    outcome.violations.is_empty()
}

/// Runs the seeds. Returns true if nothing was wrong in any of them, and enough happened.
pub(crate) fn run(from: u64, count: u64, jobs: u64) -> bool {
    let began = Instant::now();
    let next = AtomicU64::new(from);
    let (sender, receiver) = mpsc::channel();
    let total = std::thread::scope(|scope| {
        for _ in 0..jobs.max(1) {
            let sender = sender.clone();
            let next = &next;
            scope.spawn(move || {
                loop {
                    let seed = next.fetch_add(1, Ordering::Relaxed);
                    if seed >= from + count || sender.send((seed, outcome_of(seed))).is_err() {
                        break;
                    }
                }
            });
        }
        drop(sender);
        let mut total = Total::default();
        for (seed, outcome) in receiver {
            total.add(seed, &outcome);
            if total.seeds.is_multiple_of(10_000) {
                eprintln!("{} seeds, {} failed", total.seeds, total.failed.len());
            }
        }
        total
    });
    total.print(began, jobs);
    total.is_good()
}

fn outcome_of(seed: u64) -> Outcome {
    if seed.is_multiple_of(ONE_LIVED_TWICE_IN) { life::seed_twice(seed) } else { life::seed(seed, false) }
}

/// Totals over all worlds.
#[derive(Default)]
struct Total {
    seeds: u64,
    failed: Vec<u64>,
    payments: u64,
    acknowledged: u64,
    events: u64,
    further: u64,
    struck: Vec<u64>,
    happened: Vec<u64>,
}

impl Total {
    fn add(&mut self, seed: u64, outcome: &Outcome) {
        self.seeds += 1;
        self.payments += outcome.payments;
        self.acknowledged += outcome.acknowledged;
        self.events += outcome.events;
        self.further += outcome.further;
        add_up(&mut self.struck, &outcome.struck);
        add_up(&mut self.happened, &outcome.happened);
        if outcome.violations.is_empty() {
            return;
        }
        self.failed.push(seed);
        if self.failed.len() <= SHOWN {
            println!("seed {seed} fails; the whole story: scripts/simulate seed {seed}");
            for violation in &outcome.violations {
                println!("    {violation}");
            }
        }
    }

    fn print(&self, began: Instant, jobs: u64) {
        let seconds = began.elapsed().as_secs_f64();
        let rate = self.seeds as f64 / seconds;
        println!("{:>12} seeds in {seconds:.1} s: {rate:.0} a second with {jobs} threads", self.seeds);
        println!(
            "{:>12} payments, {} acknowledged, {} events",
            self.payments, self.acknowledged, self.events
        );
        println!("{:>12} went to a further bank after a decline", self.further);
        for ((_, name, _), count) in Fault::ALL.iter().zip(&self.struck) {
            println!("{count:>12} × {name}");
        }
        for ((_, name), count) in Happening::ALL.iter().zip(&self.happened) {
            println!("{count:>12} × {name}");
        }
        println!("{:>12} seeds failed", self.failed.len());
    }

    /// Returns true if nothing was wrong, and enough happened to conclude that.
    fn is_good(&self) -> bool {
        let faults = Fault::ALL.iter().map(|(_, name, _)| *name).zip(&self.struck);
        let happenings = Happening::ALL.iter().map(|(_, name)| *name).zip(&self.happened);
        let missing: Vec<_> =
            faults.chain(happenings).filter(|(_, count)| **count == 0).map(|(name, _)| name).collect();
        let has_all = self.seeds < SEEDS_FOR_EVERY_FAULT || missing.is_empty();
        let has_payments = self.payments >= self.seeds * PAYMENTS_PER_SEED;
        if !has_all {
            println!("too little went wrong: {missing:?} never happened");
        }
        if !has_payments {
            println!("too little went on: {} payments in {} worlds", self.payments, self.seeds);
        }
        self.failed.is_empty() && has_all && has_payments
    }
}

/// Adds each of these counts to its total.
fn add_up(totals: &mut Vec<u64>, counts: &[u64]) {
    totals.resize(counts.len(), 0);
    for (total, count) in totals.iter_mut().zip(counts) {
        *total += count;
    }
}
