//! A server that fails each command in each way: the store's answers never differ from the stored data.

use std::sync::Arc;
use std::time::{Duration, Instant};

use bson::Document;
use mongodb::options::ReadConcern;
use mongodb::{Client, Database};
use quita_domain::payment::Payment;
use quita_domain::time::Timestamp;
use quita_mongo::MongoStore;
use quita_ports::{Backlog, ExceptionStore, InboxStore, PaymentStore, Store, StoreError, Write, WriteError};
use uuid::Uuid;

use crate::exceptions::exception;
use crate::mongo::server_uri;
use quita_store_contract::fail_point::{
    BAD_VALUE, EXCEEDED_TIME_LIMIT, FailPoint, INTERRUPTED_AT_SHUTDOWN, MAX_TIME_EXPIRED,
    NOT_WRITABLE_PRIMARY, PRIMARY_STEPPED_DOWN, SHUTDOWN_IN_PROGRESS, UNKNOWN_ERROR, WRITE_CONCERN_FAILED,
    delay, hang_up, no_majority, refuse,
};
use quita_store_contract::lent_database::LentDatabase;
use quita_store_contract::samples::{created_at, insert, notice, pending, replace};

/// A store whose commands can be made to fail, and another one without faults.
pub struct World {
    pub point: FailPoint,
    pub store: MongoStore,
    pub witness: MongoStore,
    uri: String,
    pub database: Database,
}

impl World {
    /// Opens both stores. Returns `None` and prints a line if no server is configured, or it has no fail points.
    pub async fn open() -> Option<Self> {
        let server = server_uri()?;
        let point = FailPoint::take_turn(&server).await?;
        let LentDatabase { uri, name, .. } = LentDatabase::alone(&server);
        let witness = MongoStore::connect(&uri).await.unwrap();
        // A server that refuses with a shutdown error does not report its return, so the heartbeat is frequent.
        let marked = format!("{}&heartbeatFrequencyMS=500", point.mark(&uri));
        let store = MongoStore::connect(&marked).await.unwrap();
        let database = Client::with_uri_str(&uri).await.unwrap().database(&name);
        Some(Self { point, store, witness, uri: marked, database })
    }

    pub async fn close(self) {
        self.point.heal().await;
        self.database.drop().await.unwrap();
    }

    /// Returns true if exactly this write is stored.
    async fn is_stored(&self, write: &Write) -> bool {
        let stored = self.witness.load(&[write.payment.id]).await.unwrap().pop();
        stored.is_some_and(|stored| stored.last_op == write.payment.last_op)
    }

    /// Makes writes and compares every outcome with the stored data.
    async fn commit(&self, fault: &Fault, writes: &[Write]) -> Vec<Result<(), WriteError>> {
        let outcomes = self.store.commit(writes).await;
        assert_eq!(outcomes.len(), writes.len());
        for (outcome, write) in outcomes.iter().zip(writes) {
            let is_stored = self.is_stored(write).await;
            let is_honest = match outcome {
                Ok(()) => is_stored,
                Err(WriteError::Conflict | WriteError::TokenUsed | WriteError::PixTaken) => !is_stored,
                Err(WriteError::NotWritten(_)) => !is_stored,
                Err(WriteError::Unknown(_)) => true,
            };
            assert!(is_honest, "{}: told {outcome:?}, stored: {is_stored}", fault.name);
        }
        outcomes
    }
}

/// One kind of failure, and what is known about a write that met it.
pub struct Fault {
    pub name: &'static str,
    pub how: Document,
    is_certain: bool,
    pub is_done: bool,
}

pub fn faults() -> Vec<Fault> {
    let refused = |name, code| Fault { name, how: refuse(code), is_certain: false, is_done: false };
    let unconfirmed = |name, code| Fault { name, how: no_majority(code), is_certain: false, is_done: true };
    vec![
        Fault { name: "hangs up", how: hang_up(), is_certain: false, is_done: false },
        refused("NotWritablePrimary", NOT_WRITABLE_PRIMARY),
        refused("InterruptedAtShutdown", INTERRUPTED_AT_SHUTDOWN),
        refused("ShutdownInProgress", SHUTDOWN_IN_PROGRESS),
        refused("PrimarySteppedDown", PRIMARY_STEPPED_DOWN),
        refused("WriteConcernFailed", WRITE_CONCERN_FAILED),
        refused("ExceededTimeLimit", EXCEEDED_TIME_LIMIT),
        refused("MaxTimeMSExpired", MAX_TIME_EXPIRED),
        refused("UnknownError", UNKNOWN_ERROR),
        Fault { is_certain: true, ..refused("BadValue", BAD_VALUE) },
        unconfirmed("no majority", WRITE_CONCERN_FAILED),
        unconfirmed("no majority before the shutdown", SHUTDOWN_IN_PROGRESS),
        unconfirmed("no majority before the step-down", PRIMARY_STEPPED_DOWN),
    ]
}

/// Checks the outcomes of these writes while the fault lasts.
#[track_caller]
fn assert_told(fault: &Fault, outcomes: &[Result<(), WriteError>], is_repeated: bool) {
    for outcome in outcomes {
        let is_as_expected = match outcome {
            Err(WriteError::Unknown(_)) => !(fault.is_certain || fault.is_done && is_repeated),
            Err(WriteError::NotWritten(_)) => fault.is_certain,
            Err(WriteError::TokenUsed | WriteError::PixTaken) => false,
            // The first write was made, and a failed guard needs no majority.
            Err(WriteError::Conflict) => fault.is_done && is_repeated,
            Ok(()) => false,
        };
        assert!(is_as_expected, "{} (again: {is_repeated}): {outcome:?}", fault.name);
    }
}

/// Returns the same writes decided again, as if by another writer.
fn afresh(writes: &[Write]) -> Vec<Write> {
    let again = |write: &Write| {
        let mut payment = Payment::clone(&write.payment);
        payment.last_op = Uuid::now_v7();
        Write { payment: Arc::new(payment), expected_revision: write.expected_revision }
    };
    writes.iter().map(again).collect()
}

#[tokio::test]
async fn a_write_is_never_reported_to_be_other_than_it_is() {
    let Some(world) = World::open().await else { return };
    for fault in faults() {
        let old = [created_at(1), created_at(2)];
        let inserts = old.each_ref().map(insert);
        let replacements = old.each_ref().map(|payment| replace(&pending(payment, 3)));
        for writes in [inserts, replacements] {
            world.point.fail(2, &["insert", "update"], &fault.how).await;
            assert_told(&fault, &world.commit(&fault, &writes).await, false);
            assert_told(&fault, &world.commit(&fault, &afresh(&writes)).await, true);
            let healed = world.commit(&fault, &afresh(&writes)).await;
            let expected = if fault.is_done { Err(WriteError::Conflict) } else { Ok(()) };
            assert_eq!(healed, vec![expected; 2], "{} healed", fault.name);
        }
    }
    world.close().await;
}

#[tokio::test]
async fn a_stale_guard_is_reported_even_without_a_majority() {
    let Some(world) = World::open().await else { return };
    let taken = created_at(1);
    let fresh = created_at(2);
    assert_eq!(world.witness.commit(&[insert(&taken)]).await, [Ok(())]);
    world.point.fail(1, &["insert"], &no_majority(WRITE_CONCERN_FAILED)).await;
    let outcomes = world.store.commit(&[insert(&taken), insert(&fresh)]).await;
    assert_eq!(outcomes[0], Err(WriteError::Conflict));
    assert!(matches!(outcomes[1], Err(WriteError::Unknown(_))), "{:?}", outcomes[1]);
    world.close().await;
}

#[tokio::test]
async fn after_a_refusal_as_if_it_shut_down_the_next_write_only_waits() {
    let Some(world) = World::open().await else { return };
    let store = MongoStore::connect(&world.uri.replace("&heartbeatFrequencyMS=500", "")).await.unwrap();
    world.point.fail(1, &["insert"], &refuse(INTERRUPTED_AT_SHUTDOWN)).await;
    let payment = created_at(1);
    let told = store.commit(&[insert(&payment)]).await;
    assert!(matches!(told[0], Err(WriteError::Unknown(_))), "{told:?}");
    assert_eq!(store.commit(&[insert(&payment)]).await, [Ok(())]);
    world.close().await;
}

/// Time that exceeds the store's wait for an answer, 15 s.
const TOO_LONG: Duration = Duration::from_secs(19);

#[tokio::test]
async fn a_write_that_is_made_after_nobody_waits_any_more_was_reported_as_unknown() {
    let Some(world) = World::open().await else { return };
    let old = created_at(1);
    let fresh = created_at(2);
    assert_eq!(world.witness.commit(&[insert(&old)]).await, [Ok(())]);
    let new = [insert(&fresh)];
    let next = [replace(&pending(&old, 3))];
    world.point.fail_on(&["insert", "update", "find", "aggregate"], &delay(TOO_LONG)).await;
    let begun = Instant::now();
    let ids = [old.id];
    let (inserted, replaced, read, counted) = tokio::join!(
        world.store.commit(&new),
        world.store.commit(&next),
        world.store.load(&ids),
        world.store.backlog(Timestamp::default(), 10),
    );
    assert!(begun.elapsed() < TOO_LONG, "{:?}", begun.elapsed());
    for outcome in [&inserted[0], &replaced[0]] {
        assert!(matches!(outcome, Err(WriteError::Unknown(_))), "{outcome:?}");
    }
    assert!(matches!(read, Err(StoreError::Unavailable(_))), "{read:?}");
    assert!(matches!(counted, Err(StoreError::Unavailable(_))), "{counted:?}");
    while !(world.is_stored(&new[0]).await && world.is_stored(&next[0]).await) {
        assert!(begun.elapsed() < TOO_LONG * 2, "the server does what it was asked");
        tokio::time::sleep(Duration::from_millis(50)).await;
    }
    world.close().await;
}

/// Returns enough payments for a second reply of the cursor: more than 101 documents, or more than 16 MB.
async fn many(store: &MongoStore) -> Vec<Payment> {
    let large = |at| {
        let mut payment = created_at(at);
        payment.page_token = "x".repeat(6_000_000);
        payment
    };
    let mut payments: Vec<_> = (1..=150).map(created_at).collect();
    payments.extend((151..=154).map(large));
    let writes: Vec<_> = payments.iter().map(insert).collect();
    assert!(store.commit(&writes).await.iter().all(Result::is_ok));
    payments
}

#[tokio::test]
async fn a_read_is_whole_or_an_error() {
    let Some(world) = World::open().await else { return };
    let payments = many(&world.witness).await;
    let large: Vec<_> = payments[150..].iter().map(|payment| payment.id).collect();
    let later = Timestamp::from_millis(1_000_000_000);
    for fault in faults().into_iter().filter(|fault| !fault.is_done) {
        for (times, commands) in [(1, ["find", "aggregate", "ping"]), (2, ["getMore", "aggregate", "ping"])] {
            world.point.fail(times, &commands, &fault.how).await;
            let found = world.store.load(&large).await;
            assert!(found.as_ref().map_or(true, |found| found.len() == 4), "{}", fault.name);
            assert!(
                !matches!(found, Err(StoreError::Broken(_) | StoreError::Unreadable(_))),
                "{}",
                fault.name
            );
            let due = world.store.due(later, 500).await;
            assert!(due.as_ref().map_or(true, |due| due.len() == 154), "{}: {due:?}", fault.name);
            let waits = world.store.backlog(later, 1_000).await;
            let all = Backlog { webhooks: 0, due: 154, inbox: 0 };
            assert!(waits.as_ref().map_or(true, |waits| *waits == all), "{}: {waits:?}", fault.name);
            drop(world.store.ping().await);
            world.point.heal().await;
            assert_eq!(world.store.load(&large).await.unwrap().len(), 4, "{} healed", fault.name);
            assert_eq!(world.store.due(later, 500).await.unwrap().len(), 154, "{} healed", fault.name);
            assert_eq!(world.store.ping().await, Ok(()), "{} healed", fault.name);
        }
    }
    world.close().await;
}

/// Time for which the server does not notice the majority's state; all other writes wait this long.
const BEHIND: Duration = Duration::from_millis(300);

#[tokio::test]
async fn a_payment_is_missing_only_if_a_majority_says_so() {
    let Some(world) = World::open().await else { return };
    let payment = created_at(1);
    let new = [insert(&payment)];
    let raw = world.database.collection::<Document>("payments");
    let is_written = async || {
        let any = raw.find_one(Document::new()).read_concern(ReadConcern::local());
        any.await.unwrap().is_some()
    };
    // As on a newly elected primary: it has the writes that its predecessor acknowledged, but does not know yet that
    // they are on a majority.
    let behind = async {
        world.point.hide_majority(true).await;
        let commit = world.witness.commit(&new);
        let read = async {
            let begun = Instant::now();
            while !is_written().await && begun.elapsed() < BEHIND {
                tokio::time::sleep(Duration::from_millis(5)).await;
            }
            world.store.load_all(&[payment.id]).await
        };
        let healed = async {
            tokio::time::sleep(BEHIND).await;
            world.point.hide_majority(false).await;
            // The next write makes the majority's state visible.
            world.witness.commit(&[insert(&created_at(2))]).await
        };
        tokio::join!(commit, read, healed)
    };
    let (committed, read, healed) = behind.await;
    assert_eq!((committed, healed), (vec![Ok(())], vec![Ok(())]));
    assert_eq!(read.map(|found| found.len()), Ok(1), "it was there");
    assert_eq!(world.store.load_all(&[created_at(3).id]).await, Ok(Vec::new()));
    world.close().await;
}

#[tokio::test]
async fn a_ping_that_fails_is_told() {
    let Some(world) = World::open().await else { return };
    for fault in faults().into_iter().filter(|fault| !fault.is_done) {
        world.point.fail_on(&["ping"], &fault.how).await;
        let told = world.store.ping().await;
        assert!(matches!(told, Err(StoreError::Unavailable(_))), "{}: {told:?}", fault.name);
        world.point.heal().await;
        assert_eq!(world.store.ping().await, Ok(()), "{} healed", fault.name);
    }
    world.close().await;
}

#[tokio::test]
async fn a_notice_is_stored_or_its_sender_has_to_send_it_again() {
    let Some(world) = World::open().await else { return };
    let now = Timestamp::from_millis(10);
    for (place, fault) in faults().iter().enumerate() {
        let id = format!("a:{place}");
        world.point.fail(2, &["insert"], &fault.how).await;
        for time in ["first", "second"] {
            let told = world.store.put_notices(&[notice(&id, 1)]).await;
            assert!(matches!(told, Err(StoreError::Unavailable(_))), "{}, {time}: {told:?}", fault.name);
        }
        let again = world.store.put_notices(&[notice(&id, 1)]).await;
        assert_eq!(again, Ok(vec![!fault.is_done]), "{}", fault.name);
        let waiting = world.store.due_notices(now, 10).await.unwrap();
        assert_eq!(waiting.len(), 1, "{}: once", fault.name);
        world.point.fail(3, &["update"], &fault.how).await;
        let told = world.store.finish_notices(std::slice::from_ref(&id), now).await;
        let waits = world.witness.due_notices(now, 10).await.unwrap().len();
        assert!(told.is_err() || waits == 0, "{}: {told:?}", fault.name);
        world.point.heal().await;
        world.store.finish_notices(&[id], now).await.unwrap();
        assert_eq!(world.witness.due_notices(now, 10).await, Ok(Vec::new()), "{}", fault.name);
    }
    world.close().await;
}

#[tokio::test]
async fn a_notice_that_was_there_before_is_not_confirmed_before_a_majority_has_it() {
    let Some(world) = World::open().await else { return };
    let known = notice("a:known", 1);
    let fresh = notice("a:fresh", 1);
    assert_eq!(world.witness.put_notices(std::slice::from_ref(&known)).await, Ok(vec![true]));
    for fault in faults().into_iter().filter(|fault| fault.is_done) {
        world.point.fail(1, &["insert"], &fault.how).await;
        let told = world.store.put_notices(&[known.clone(), fresh.clone()]).await;
        assert!(matches!(told, Err(StoreError::Unavailable(_))), "{}: {told:?}", fault.name);
    }
    assert_eq!(world.store.put_notices(&[known, fresh]).await, Ok(vec![false, false]));
    world.close().await;
}

#[tokio::test]
async fn an_exception_is_stored_or_has_to_be_reported_again() {
    let Some(world) = World::open().await else { return };
    for (place, fault) in (1..).zip(faults()) {
        let reported = exception(&format!("a:{place}"), place);
        world.point.fail(2, &["insert"], &fault.how).await;
        for time in ["first", "second"] {
            let told = world.store.put_exception(&reported).await;
            assert!(matches!(told, Err(StoreError::Unavailable(_))), "{}, {time}: {told:?}", fault.name);
        }
        assert!(world.store.put_exception(&reported).await.is_ok(), "{} healed", fault.name);
        let stored = world.witness.exceptions(100).await.unwrap();
        let copies = stored.iter().filter(|stored| stored.id == reported.id).count();
        assert_eq!(copies, 1, "{}: once", fault.name);
    }
    world.close().await;
}

#[tokio::test]
async fn a_start_succeeds_or_says_why() {
    let Some(world) = World::open().await else { return };
    let commands = ["createIndexes", "replSetGetConfig", "listCollections", "find"];
    let faults = || faults().into_iter().filter(|fault| !fault.is_done);
    for (command, fault) in
        commands.into_iter().flat_map(|command| faults().map(move |fault| (command, fault)))
    {
        world.point.fail_on(&[command], &fault.how).await;
        let refused = MongoStore::connect(&world.uri).await;
        let told = refused.as_ref().err().map(ToString::to_string).unwrap_or_default();
        assert!(matches!(refused, Err(StoreError::Unavailable(_))), "{command}, {}: {told}", fault.name);
        assert!(!told.contains("appName"), "no part of the URI: {told}");
        world.point.heal().await;
        assert!(MongoStore::connect(&world.uri).await.is_ok(), "{command}, {} healed", fault.name);
    }
    world.close().await;
}
