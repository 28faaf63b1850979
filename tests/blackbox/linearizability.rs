//! Many clients at one payment at once, on every node: some order of their operations explains all answers.

mod history;
mod model;
mod recorder;

use std::sync::Barrier;
use std::sync::atomic::{AtomicU64, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use crate::support::{Client, TestApp, is_mongodb};
use history::History;
use model::Model;
use recorder::{Act, Recorder, Way};

/// Histories of one run: each is a payment of its own.
const HISTORIES: u64 = 300;
/// Clients that act on one payment at once.
const CLIENTS: usize = 4;
/// Number of actions of each client after it created the payment.
const ACTS: usize = 4;
/// Payments that are acted on at once.
const AT_ONCE: usize = 8;
/// After this no more than enough are begun: a slow machine makes fewer of them.
const TIME: Duration = Duration::from_secs(10);
const ENOUGH: u64 = 20;

#[test]
fn some_order_explains_what_many_clients_are_told_about_one_payment() {
    let first = TestApp::new();
    let second = is_mongodb().then(|| TestApp::builder().store(first.store_url()).start());
    let nodes: Vec<_> = std::iter::once(first.client())
        .chain(second.as_ref().map(|app| app.client_with(first.key())))
        .collect();
    let next = AtomicU64::new(0);
    let checked = AtomicU64::new(0);
    let began = Instant::now();
    thread::scope(|scope| {
        for _ in 0..AT_ONCE {
            scope.spawn(|| {
                loop {
                    let number = next.fetch_add(1, Ordering::Relaxed);
                    let is_late = began.elapsed() >= TIME;
                    if number >= if is_late { ENOUGH } else { HISTORIES } {
                        break;
                    }
                    check(number, &nodes);
                    checked.fetch_add(1, Ordering::Relaxed);
                }
            });
        }
    });
    let checked = checked.into_inner();
    println!("{checked} histories in {:?}", began.elapsed());
    assert!(checked >= ENOUGH, "only {checked} histories");
}

/// Records the history with this number, and looks for the order that explains it.
fn check(number: u64, nodes: &[Client]) {
    let way = if number.is_multiple_of(3) { Way::Card } else { Way::Pix };
    let history = record(number, way, nodes);
    let (begins_as, total) = way.begins_as();
    if let Err(why) = history.check(Model::new(begins_as, total)) {
        panic!("history {number} ({way:?}): {why}\n{history}");
    }
}

fn record(number: u64, way: Way, nodes: &[Client]) -> History {
    let barrier = Barrier::new(CLIENTS);
    let began = Instant::now();
    let mut operations: Vec<_> = thread::scope(|scope| {
        let barrier = &barrier;
        let clients: Vec<_> = (0..CLIENTS)
            .map(|client| {
                scope.spawn(move || {
                    let node = nodes[client % nodes.len()].clone();
                    let mut recorder = Recorder::new(node, client, began);
                    let mut dice = Dice::new(number * 1_000 + client as u64);
                    barrier.wait();
                    recorder.create(way, number);
                    for turn in 0..ACTS {
                        let act = way.choose(turn, client, dice.roll());
                        recorder.act(act);
                    }
                    recorder.into_operations()
                })
            })
            .collect();
        clients.into_iter().flat_map(|client| client.join().unwrap()).collect()
    });
    // At the end, when nothing is on its way any more, every node shows the same.
    for (index, node) in nodes.iter().enumerate() {
        let mut recorder = Recorder::new(node.clone(), CLIENTS + index, began);
        recorder.create(way, number);
        recorder.see_at_rest();
        recorder.act(Act::See);
        operations.extend(recorder.into_operations());
    }
    History(operations)
}

/// Numbers that look random and are the same in every run (SplitMix64).
struct Dice(u64);

impl Dice {
    const fn new(seed: u64) -> Self {
        Self(seed)
    }

    fn roll(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mixed = (self.0 ^ (self.0 >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        let mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        mixed ^ (mixed >> 31)
    }
}
