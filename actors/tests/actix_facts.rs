//! Facts about actix and tokio that this service relies on, each as a small program.
//! An upgrade that changes one is noticed.
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::let_underscore_must_use,
    clippy::disallowed_methods,
    missing_docs,
    reason = "tests"
)]

use std::future::Future;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use actix::prelude::*;
use tokio::time::{Instant, sleep};

/// Runs a program in paused time: it goes by at once while everybody waits.
fn simulate<T>(program: impl Future<Output = T>) -> T {
    let runner = actix::System::with_tokio_rt(|| {
        tokio::runtime::Builder::new_current_thread().enable_time().start_paused(true).build().unwrap()
    });
    runner.block_on(program)
}

const fn ms(ms: u64) -> Duration {
    Duration::from_millis(ms)
}

/// Log of what actors write down, in order.
#[derive(Clone, Default)]
struct Log(Arc<Mutex<Vec<String>>>);

impl Log {
    fn note(&self, line: impl Into<String>) {
        self.0.lock().unwrap().push(line.into());
    }

    fn lines(&self) -> Vec<String> {
        self.0.lock().unwrap().clone()
    }
}

/// Counts, and can be asked in every way that the facts need.
#[derive(Default)]
struct Counter {
    count: u32,
    name: &'static str,
    log: Log,
}

impl Actor for Counter {
    type Context = Context<Self>;
}

impl Supervised for Counter {}

/// Reads the count, waits, writes one more; others may run meanwhile.
#[derive(Message)]
#[rtype(result = "()")]
struct AddInterleaved;

impl Handler<AddInterleaved> for Counter {
    type Result = ResponseActFuture<Self, ()>;

    fn handle(&mut self, _: AddInterleaved, _: &mut Self::Context) -> Self::Result {
        let seen = self.count;
        Box::pin(sleep(ms(10)).into_actor(self).map(move |(), actor, _| actor.count = seen + 1))
    }
}

/// Reads the count, waits, writes one more; nobody runs meanwhile.
#[derive(Message)]
#[rtype(result = "()")]
struct AddAtomically(Duration);

impl Handler<AddAtomically> for Counter {
    type Result = AtomicResponse<Self, ()>;

    fn handle(&mut self, message: AddAtomically, _: &mut Self::Context) -> Self::Result {
        let seen = self.count;
        let work = sleep(message.0).into_actor(self);
        AtomicResponse::new(Box::pin(work.map(move |(), actor, _| {
            actor.count = seen + 1;
            actor.log.note(format!("{} {}", actor.name, actor.count));
        })))
    }
}

#[derive(Message)]
#[rtype(result = "u32")]
struct Count;

impl Handler<Count> for Counter {
    type Result = u32;

    fn handle(&mut self, _: Count, _: &mut Self::Context) -> u32 {
        self.count
    }
}

#[derive(Message)]
#[rtype(result = "()")]
struct Add;

impl Handler<Add> for Counter {
    type Result = ();

    fn handle(&mut self, _: Add, _: &mut Self::Context) {
        self.count += 1;
        self.log.note(format!("{} {}", self.name, self.count));
    }
}

#[derive(Message)]
#[rtype(result = "()")]
struct Panic;

impl Handler<Panic> for Counter {
    type Result = ();

    fn handle(&mut self, _: Panic, _: &mut Self::Context) {
        panic!("the handler panics");
    }
}

#[derive(Message)]
#[rtype(result = "()")]
struct Stop;

impl Handler<Stop> for Counter {
    type Result = ();

    fn handle(&mut self, _: Stop, context: &mut Self::Context) {
        context.stop();
    }
}

/// Asks for a note after a while.
#[derive(Message)]
#[rtype(result = "()")]
struct NoteLater(Duration, Instant);

impl Handler<NoteLater> for Counter {
    type Result = ();

    fn handle(&mut self, message: NoteLater, context: &mut Self::Context) {
        context.run_later(message.0, move |actor, _| {
            actor.log.note(format!("{}", message.1.elapsed().as_millis()));
        });
    }
}

#[test]
fn interleaved_handlers_lose_updates_and_atomic_ones_do_not() {
    simulate(async {
        let counter = Counter::default().start();
        let (one, two) = tokio::join!(counter.send(AddInterleaved), counter.send(AddInterleaved));
        assert!(one.is_ok() && two.is_ok());
        assert_eq!(counter.send(Count).await, Ok(1), "an update was lost");
        let counter = Counter::default().start();
        let (one, two) =
            tokio::join!(counter.send(AddAtomically(ms(10))), counter.send(AddAtomically(ms(10))));
        assert!(one.is_ok() && two.is_ok());
        assert_eq!(counter.send(Count).await, Ok(2));
    });
}

#[test]
fn timers_of_an_actor_wait_for_its_atomic_response() {
    simulate(async {
        let log = Log::default();
        let counter = Counter { log: log.clone(), ..Counter::default() }.start();
        counter.send(NoteLater(ms(50), Instant::now())).await.unwrap();
        counter.send(AddAtomically(ms(300))).await.unwrap();
        sleep(ms(100)).await;
        let fired_ms: u64 = log.lines().last().unwrap().parse().unwrap();
        assert!((300..310).contains(&fired_ms), "{fired_ms}");
    });
}

#[test]
fn an_actor_that_panics_is_gone_and_its_neighbours_live() {
    simulate(async {
        let victim = Counter::default().start();
        let neighbour = Counter::default().start();
        assert_eq!(victim.send(Panic).await, Err(MailboxError::Closed));
        assert!(!victim.connected());
        assert_eq!(victim.send(Count).await, Err(MailboxError::Closed));
        assert_eq!(neighbour.send(Count).await, Ok(0));
        assert_eq!(Counter::default().start().send(Count).await, Ok(0), "the arbiter starts new ones");
    });
}

#[test]
fn the_supervisor_of_actix_does_not_restart_after_a_panic() {
    simulate(async {
        let supervised = actix::Supervisor::start(|_| Counter::default());
        assert_eq!(supervised.send(Count).await, Ok(0));
        assert_eq!(supervised.send(Panic).await, Err(MailboxError::Closed));
        sleep(ms(1_000)).await;
        assert_eq!(supervised.send(Count).await, Err(MailboxError::Closed));
    });
}

#[test]
fn do_send_ignores_the_mailbox_limit() {
    simulate(async {
        let counter = Counter::default().start();
        for _ in 0..1_000 {
            counter.do_send(Add);
        }
        sleep(ms(1)).await;
        assert_eq!(counter.send(Count).await, Ok(1_000));
    });
}

#[test]
fn try_send_is_bounded_for_one_clone_of_an_address_and_not_over_all_of_them() {
    simulate(async {
        let counter = Counter::default().start();
        let taken = (0..1_000).filter(|_| counter.try_send(Add).is_ok()).count();
        assert_eq!(taken, 16);
        assert!(matches!(counter.try_send(Add), Err(SendError::Full(_))));
        let by_clones = (0..1_000).filter(|_| counter.clone().try_send(Add).is_ok()).count();
        assert_eq!(by_clones, 1_000, "a fresh clone always has room: count what waits elsewhere");
    });
}

#[test]
fn a_capacity_of_zero_is_no_bound() {
    simulate(async {
        let counter = Counter::create(|context| {
            context.set_mailbox_capacity(0);
            Counter::default()
        });
        assert!((0..1_000).all(|_| counter.try_send(Add).is_ok()));
        assert_eq!(counter.send(Count).await, Ok(1_000));
    });
}

#[test]
fn what_is_queued_behind_a_stop_is_lost() {
    simulate(async {
        let log = Log::default();
        let counter = Counter { log: log.clone(), ..Counter::default() }.start();
        counter.do_send(Stop);
        let queued = counter.send(Add).await;
        assert!(queued.is_err(), "{queued:?}");
        assert_eq!(log.lines(), Vec::<String>::new());
    });
}

#[test]
fn what_is_queued_when_the_last_address_drops_is_handled_while_a_new_incarnation_may_run() {
    simulate(async {
        let log = Log::default();
        let start = |name| Counter { name, log: log.clone(), ..Counter::default() }.start();
        let old = start("old");
        for _ in 0..3 {
            old.do_send(AddAtomically(ms(10)));
        }
        drop(old);
        sleep(ms(15)).await;
        start("new").send(Add).await.unwrap();
        sleep(ms(100)).await;
        assert_eq!(log.lines(), ["old 1", "new 1", "old 2", "old 3"]);
    });
}

#[test]
fn a_message_whose_caller_left_before_its_turn_is_never_handled() {
    simulate(async {
        let counter = Counter::default().start();
        let busy = counter.send(AddAtomically(ms(100)));
        let busy = actix::spawn(busy);
        sleep(ms(1)).await;
        assert!(tokio::time::timeout(ms(10), counter.send(Add)).await.is_err());
        busy.await.unwrap().unwrap();
        sleep(ms(10)).await;
        assert_eq!(counter.send(Count).await, Ok(1), "only what was busy");
    });
}

/// Fifty actors that wait for random times, by a seed, and write down when they woke.
fn fifty_sleepers(seed: u64) -> (Vec<String>, Duration) {
    simulate(async move {
        let log = Log::default();
        let begun = Instant::now();
        let mut dice = seed;
        let actors: Vec<_> = (0..50)
            .map(|number| {
                let name: &'static str = Box::leak(format!("actor {number}").into_boxed_str());
                let actor = Counter { name, log: log.clone(), ..Counter::default() }.start();
                for _ in 0..10 {
                    dice =
                        dice.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
                    actor.do_send(AddAtomically(ms((dice >> 33) % 500)));
                }
                actor
            })
            .collect();
        sleep(ms(5_000)).await;
        drop(actors);
        (log.lines(), begun.elapsed())
    })
}

#[test]
fn paused_time_makes_a_whole_system_repeatable() {
    let (first, elapsed) = fifty_sleepers(7);
    assert_eq!(first.len(), 500);
    assert!((ms(5_000)..ms(5_010)).contains(&elapsed));
    for _ in 0..3 {
        assert_eq!(fifty_sleepers(7).0, first);
    }
    assert_ne!(fifty_sleepers(8).0, first, "another seed is another order");
}

#[test]
fn ten_thousand_actors_live_and_go() {
    simulate(async {
        let log = Log::default();
        let actors: Vec<_> = (0..10_000)
            .map(|_| {
                let actor = Counter { log: log.clone(), ..Counter::default() }.start();
                actor.do_send(Add);
                actor
            })
            .collect();
        sleep(ms(1)).await;
        assert!(actors.iter().all(Addr::connected));
        assert_eq!(log.lines().len(), 10_000);
        drop(actors);
        sleep(ms(1)).await;
        assert_eq!(Arc::strong_count(&log.0), 1, "every actor is gone");
    });
}

thread_local! {
    /// Message of this thread's panic that was heard last.
    static HEARD: std::cell::RefCell<String> = const { std::cell::RefCell::new(String::new()) };
}

/// Hears every panic of the process from now on; others still do.
fn hear_panics() {
    let others = std::panic::take_hook();
    std::panic::set_hook(Box::new(move |panic| {
        HEARD.set(panic.payload_as_str().unwrap_or_default().to_owned());
        others(panic);
    }));
}

/// Notes, when it is dropped, whether its thread panics and what was heard.
struct Witness(&'static str, Log);

impl Drop for Witness {
    fn drop(&mut self) {
        let panics = std::thread::panicking();
        self.1.note(format!("{} {panics} {}", self.0, HEARD.with_borrow(Clone::clone)));
    }
}

/// Owns a witness, and panics in every way that a handler can.
struct Mortal(Witness);

impl Actor for Mortal {
    type Context = Context<Self>;
}

#[derive(Clone, Copy, Message)]
#[rtype(result = "()")]
enum PanicIn {
    Handler,
    Spawned,
}

impl Handler<PanicIn> for Mortal {
    type Result = ();

    fn handle(&mut self, message: PanicIn, context: &mut Self::Context) {
        let witness = Witness("message", self.0.1.clone());
        match message {
            PanicIn::Handler => panic!("handler"),
            PanicIn::Spawned => {
                let work = async { panic!("spawned") };
                context.spawn(work.into_actor(self).map(|(), _, _| ()));
            }
        }
        drop(witness);
    }
}

#[derive(Message)]
#[rtype(result = "()")]
struct PanicAtomically;

impl Handler<PanicAtomically> for Mortal {
    type Result = AtomicResponse<Self, ()>;

    fn handle(&mut self, _: PanicAtomically, _: &mut Self::Context) -> Self::Result {
        let witness = Witness("message", self.0.1.clone());
        let work = async move {
            sleep(ms(1)).await;
            drop(panic_with("atomic", &witness));
        };
        AtomicResponse::new(Box::pin(work.into_actor(self)))
    }
}

#[derive(Message)]
#[rtype(result = "()")]
struct PanicApart;

impl Handler<PanicApart> for Mortal {
    type Result = ResponseFuture<()>;

    fn handle(&mut self, _: PanicApart, _: &mut Self::Context) -> Self::Result {
        let witness = Witness("message", self.0.1.clone());
        Box::pin(async move { drop(panic_with("apart", &witness)) })
    }
}

fn panic_with(text: &str, _: &Witness) -> Log {
    panic!("{text}")
}

#[test]
fn what_belongs_to_an_actor_that_panics_is_dropped_while_its_thread_panics() {
    hear_panics();
    simulate(async {
        let log = Log::default();
        let start = || Mortal(Witness("actor", log.clone())).start();
        assert!(start().send(PanicIn::Handler).await.is_err());
        assert!(start().send(PanicAtomically).await.is_err());
        let spawns = start();
        assert!(spawns.send(PanicIn::Spawned).await.is_ok());
        sleep(ms(1)).await;
        assert!(!spawns.connected());
        let died = ["message true handler", "actor true handler", "message true atomic", "actor true atomic"];
        assert_eq!(log.lines()[..4], died);
        assert_eq!(log.lines()[4..], ["message false atomic", "actor true spawned"]);
    });
}

#[test]
fn a_future_that_is_answered_with_panics_apart_from_its_actor() {
    hear_panics();
    simulate(async {
        let log = Log::default();
        let actor = Mortal(Witness("actor", log.clone())).start();
        assert!(actor.send(PanicApart).await.is_err());
        assert_eq!((actor.connected(), log.lines()), (true, vec!["message true apart".to_owned()]));
    });
}
