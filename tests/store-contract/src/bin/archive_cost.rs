//! Measures the cost of archived payments for later ones, for `scripts/archive_cost`.
//!
//! `archive-cost FULL EMPTY COUNT [ROUNDS]`: two stores by their URLs, both without payments. The first one is filled
//! with COUNT payments, which are archived as the service does it. Then both get the same creations, reads and lists,
//! in turns. Prints medians and 99th percentiles, in microseconds.
#![allow(clippy::unwrap_used, clippy::expect_used, reason = "a tool for measurements")]

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Instant;

use quita_domain::identity::{MerchantId, Mode, TransactionId};
use quita_domain::listing::PaymentFilter;
use quita_domain::payment::Payment;
use quita_domain::status::Status;
use quita_embedded::EmbeddedStore;
use quita_mongo::MongoStore;
use quita_ports::{WholeStore, Write};
use tokio::task::JoinSet;
use uuid::Uuid;

use quita_store_contract::samples::{Sample, paid, pending};

const USAGE: &str = "usage: archive-cost FULL EMPTY COUNT [ROUNDS]";
/// Number of payments that are stored and archived at once while the store is filled.
const FILLED_AT_ONCE: u64 = 500;
/// Number of tasks that fill the store: one alone leaves most of a MongoDB server idle.
const FILLERS: u64 = 6;
/// Number of creations in a round, and the size of a batch.
const BATCH: u64 = 50;
const BATCHES: u64 = 40;
const LISTS: usize = 40;
/// Time between two payments, for ten million in a year.
const EVERY_MS: i64 = 3_150;

async fn open(url: &str) -> Arc<dyn WholeStore> {
    match url.strip_prefix("sqlite:") {
        Some(path) => Arc::new(EmbeddedStore::open_sole_writer(path).unwrap()),
        None => Arc::new(MongoStore::connect(url).await.unwrap()),
    }
}

/// Returns an id derived from an `Idempotency-Key`, which may be anywhere among the others.
fn keyed(number: u64) -> TransactionId {
    let mixed = |seed: u64| {
        let mut mixed = number.wrapping_add(seed).wrapping_mul(0x9e37_79b9_7f4a_7c15);
        mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb)
    };
    TransactionId::new(Uuid::from_u64_pair(mixed(1), mixed(1 << 40)))
}

fn payment(number: u64, at: i64) -> Payment {
    let opened = Sample { id: keyed(number), at, postback: false, ..Sample::default() }.open();
    pending(&opened, at)
}

fn insert(payment: Payment) -> Write {
    Write { payment: Arc::new(payment), expected_revision: 0 }
}

async fn fill_and_archive(store: &dyn WholeStore, numbers: std::ops::Range<u64>) {
    let at = |number: u64| i64::try_from(number).unwrap() * EVERY_MS;
    let some: Vec<_> = numbers.map(|number| paid(&payment(number, at(number)), at(number) + 9)).collect();
    let writes: Vec<_> = some.iter().cloned().map(insert).collect();
    assert!(store.commit(&writes).await.iter().all(Result::is_ok));
    // A busy machine may take longer than a command is allowed to: the next pass continues.
    while let Err(error) = store.archive(&some).await {
        eprintln!("{error}: once more");
    }
}

/// Fills the store with `count` archived payments, by several tasks that take the next ones in turn.
async fn fill(store: &Arc<dyn WholeStore>, count: u64) {
    let begun = Instant::now();
    let next = Arc::new(AtomicU64::new(0));
    let mut tasks = JoinSet::new();
    for _ in 0..FILLERS {
        let (store, next) = (Arc::clone(store), Arc::clone(&next));
        tasks.spawn(async move {
            loop {
                let start = next.fetch_add(FILLED_AT_ONCE, Ordering::Relaxed);
                if start >= count {
                    return;
                }
                if start.is_multiple_of(100_000) {
                    eprintln!("{start} of {count} archived after {} s", begun.elapsed().as_secs());
                }
                fill_and_archive(&*store, start..count.min(start + FILLED_AT_ONCE)).await;
            }
        });
    }
    while let Some(ended) = tasks.join_next().await {
        ended.unwrap();
    }
    eprintln!("{count} archived in {} s", begun.elapsed().as_secs());
}

/// Times of one kind of call, on the full store and on the empty one.
#[derive(Default)]
struct Times {
    of: [Vec<u128>; 2],
}

impl Times {
    fn print(mut self, what: &str) {
        let mut figures = self.of.each_mut().map(|times| {
            times.sort_unstable();
            let at = |percent: usize| times.get(times.len() * percent / 100).copied().unwrap_or_default();
            (at(50), at(99))
        });
        figures.reverse();
        let [(empty, empty_99), (full, full_99)] = figures;
        let percent = full * 100 / empty.max(1);
        println!("| {what} | {empty} | {full} | {percent} % | {empty_99} | {full_99} |");
    }
}

fn filter() -> PaymentFilter {
    PaymentFilter::all_of(MerchantId::new("loja"), Mode::Test)
}

#[tokio::main]
async fn main() {
    let mut arguments = std::env::args().skip(1);
    let mut next = || arguments.next().expect(USAGE);
    let full = next();
    let empty = next();
    let count = next().parse::<u64>().expect(USAGE);
    let rounds: u64 = arguments.next().map_or(5, |rounds| rounds.parse().expect(USAGE));
    let stores = [open(&full).await, open(&empty).await];
    let (full, _) = stores.split_first().expect("two");
    fill(full, count).await;
    let now = i64::try_from(count).unwrap() * EVERY_MS;
    let [mut singles, mut batches, mut reads, mut archived, mut newest, mut waiting, mut settled] =
        [(); 7].map(|()| Times::default());
    // The first round warms up.
    for round in 0..=rounds {
        for (place, store) in stores.iter().enumerate() {
            let time = async |times: &mut Times, call: std::pin::Pin<Box<dyn Future<Output = bool> + '_>>| {
                let begun = Instant::now();
                assert!(call.await);
                if let Some(times) = times.of.get_mut(place).filter(|_| round > 0) {
                    times.push(begun.elapsed().as_micros());
                }
            };
            let first = count + round * 2 * BATCH * BATCHES;
            for batch in 0..BATCHES {
                let from = first + batch * 2 * BATCH;
                let at = |number: u64| now + i64::try_from(number).unwrap();
                let writes: Vec<_> =
                    (from..from + BATCH).map(|number| insert(payment(number, at(number)))).collect();
                let commit = async { store.commit(&writes).await.iter().all(Result::is_ok) };
                time(&mut batches, Box::pin(commit)).await;
                let one = [insert(payment(from + BATCH, at(from + BATCH)))];
                time(&mut singles, Box::pin(async { store.commit(&one).await == [Ok(())] })).await;
                let recent = keyed(from);
                // The empty store has none: a recent one is what to compare with.
                let old = if place == 0 { keyed((from * 7_919) % count) } else { recent };
                for (times, id) in [(&mut reads, [recent]), (&mut archived, [old])] {
                    let read = async { store.load(&id).await.is_ok_and(|found| found.len() == 1) };
                    time(times, Box::pin(read)).await;
                }
            }
            for _ in 0..LISTS {
                for (times, statuses) in [
                    (&mut newest, Vec::new()),
                    (&mut waiting, vec![Status::Pending]),
                    (&mut settled, vec![Status::Paid]),
                ] {
                    let filter = PaymentFilter { statuses, ..filter() };
                    let list = async { store.list(&filter, None, 20).await.is_ok() };
                    time(times, Box::pin(list)).await;
                }
            }
        }
    }
    println!("| {count} archived | empty µs | full µs | full ÷ empty | empty p99 | full p99 |");
    println!("|---|---:|---:|---:|---:|---:|");
    singles.print("a creation");
    batches.print("fifty creations in one batch");
    reads.print("a recent payment by its id");
    archived.print("an archived payment by its id (empty store: a recent one)");
    newest.print("the newest 20");
    waiting.print("the newest 20 that wait");
    settled.print("the newest 20 that are paid, which are archived");
}
