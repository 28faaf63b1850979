//! Real money's way under SIGKILL: a bank and a bank for boletos over mutual TLS, a Cielo and a Pagar.me over TLS, all with
//! faults at every call, clients that ask until they are answered, and a service that is killed at any moment. At the end
//! the books of all are compared with what the service says.
//!
//! `QUITA_TEST_KILLS` is how often it is killed (6 if absent), `QUITA_TEST_SEED` where chance comes from (printed).

mod books;
mod clients;
mod dice;

use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use quita_banks::Request;

use crate::support::{Acquirers, TestReceiver, pause};
use clients::{Shop, Story};
use dice::Dice;

/// Kills on one store, before everything is left to settle: what an acquirer leaves open is asked for less and less
/// often.
const KILLS_OF_A_ROUND: usize = 10;
const CLIENTS: u64 = 32;
/// Of a thousand calls to the acquirers, so many fail.
const FAULTS_PERMILLE: u64 = 200;
/// Longest time until all is settled. An outcome that no question of the first minutes has brought is asked for up to
/// six minutes later. The other minutes are for "not found" to be believed, and for what is then sent once more.
const SETTLES_WITHIN: Duration = Duration::from_secs(9 * 60);
/// Interval at which the bank repeats what it told while the service was dead.
const HINTS_EVERY: Duration = Duration::from_secs(10);
/// Time after which anything that would be done once more is done.
const AFTERWARDS: Duration = Duration::from_secs(3);

#[test]
fn no_kill_makes_two_charges_or_two_refunds_in_the_books() {
    let number = |name: &str| std::env::var(name).ok().map(|text| text.parse::<u64>().unwrap());
    let kills = usize::try_from(number("QUITA_TEST_KILLS").unwrap_or(6)).unwrap();
    let seed = number("QUITA_TEST_SEED").unwrap_or_else(|| uuid::Uuid::now_v7().as_u64_pair().1);
    println!("QUITA_TEST_SEED={seed}");
    let mut left = kills;
    let mut dice = Dice::new(seed);
    while left > 0 {
        let kills = left.min(KILLS_OF_A_ROUND);
        let acquirers = Acquirers::with_pagarme().and_sicoob();
        let round = Round { kills, seed: dice.throw(), acquirers };
        let violations = round.run();
        assert!(violations.is_empty(), "seed {seed}: {violations:#?}");
        left -= kills;
    }
}

#[test]
fn a_provider_that_does_things_twice_is_noticed() {
    let sale = |request: &Request| {
        (request.path.trim_end_matches('/') == "/1/sales" && request.method == "POST")
            .then(|| request.clone())
    };
    let refund = |request: &Request| {
        let is_refund = request.path.contains("/devolucao/") && request.method == "PUT";
        is_refund.then(|| Request { path: format!("{}0", request.path), ..request.clone() })
    };
    let acquirers = Acquirers::with_mistakes(refund, sale);
    let app = acquirers.builder().start();
    acquirers.send_notices_to(&app);
    let key = app.create_key(&["--merchant", "shop", "--mode", "live"]);
    let receiver = TestReceiver::start();
    let shop = Shop::new(&acquirers, &receiver, app.client_with(&key));
    acquirers.wait_until_registered();
    shop.live(Story::Card { holds_first: false, parts: 0 }, "card", 10_000);
    shop.live(Story::Pix { is_cancelled: false, parts: 2 }, "pix", 10_000);
    let violations = shop.violations();
    for expected in ["2 sales hold or took money", "refunds in the books"] {
        assert!(violations.iter().any(|told| told.contains(expected)), "{expected}: {violations:#?}");
    }
}

/// One store, from its first payment until all is settled.
struct Round {
    kills: usize,
    seed: u64,
    acquirers: Acquirers,
}

impl Round {
    /// Gives what was violated, after a line that says what was done.
    fn run(self) -> Vec<String> {
        let acquirers = &self.acquirers;
        let began = Instant::now();
        let mut dice = Dice::new(self.seed);
        let mut app = acquirers.builder().start();
        acquirers.send_notices_to(&app);
        let key = app.create_key(&["--merchant", "shop", "--mode", "live"]);
        let receiver = TestReceiver::start();
        let shop = Shop::new(acquirers, &receiver, app.client_with(&key));
        acquirers.fail(FAULTS_PERMILLE, dice.throw());
        let is_over = AtomicBool::new(false);
        thread::scope(|scope| {
            for number in 0..CLIENTS {
                let shop = &shop;
                let is_over = &is_over;
                let mut dice = Dice::new(dice.throw());
                scope.spawn(move || {
                    for life in 0_u64.. {
                        if is_over.load(Ordering::SeqCst) {
                            break;
                        }
                        let story = Story::drawn(&mut dice);
                        shop.live(story, &format!("{number}-{life}"), 1_000 + dice.below(90_000));
                    }
                });
            }
            for _ in 0..self.kills {
                pause(Duration::from_millis(200 + dice.below(3_500)));
                app.kill();
                pause(Duration::from_millis(dice.below(600)));
                app.restart();
                acquirers.send_notices_to(&app);
                shop.go_to(app.client_with(&key));
            }
            pause(Duration::from_millis(dice.below(3_000)));
            is_over.store(true, Ordering::SeqCst);
            acquirers.fail(0, 0);
        });
        let worked = began.elapsed();
        let violations = settle(&shop);
        println!(
            "{} kills, {}; {worked:?} of work and faults, {:?} until all was settled; exceptions {}",
            self.kills,
            shop.summary(),
            began.elapsed().saturating_sub(worked),
            app.ops().get("/ops/exceptions").text(),
        );
        violations
    }
}

/// Waits until nothing is open or in contradiction, and looks once more afterwards.
fn settle(shop: &Shop) -> Vec<String> {
    let end = Instant::now() + SETTLES_WITHIN;
    let mut next_hints = Instant::now();
    loop {
        let mut violations = shop.violations();
        if violations.is_empty() {
            pause(AFTERWARDS);
            violations = shop.violations();
        }
        if violations.is_empty() || Instant::now() >= end {
            return violations;
        }
        if Instant::now() >= next_hints {
            shop.hint();
            next_hints += HINTS_EVERY;
        }
        pause(Duration::from_secs(1));
    }
}
