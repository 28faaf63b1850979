//! MongoDB fails each command in each way while the service runs: every answer stays true, and what was refused can
//! be asked for again.

use std::thread;
use std::time::{Duration, Instant};

use mongodb::bson::Document;
use serde_json::{Value, json};

use crate::support::fail_point::{
    BAD_VALUE, FailPoint, INTERRUPTED_AT_SHUTDOWN, MAX_TIME_EXPIRED, NOT_WRITABLE_PRIMARY,
    PRIMARY_STEPPED_DOWN, UNKNOWN_ERROR, WRITE_CONCERN_FAILED, delay, hang_up, no_majority, refuse,
};
use crate::support::{
    Answer, Client, Edit, OwnMongod, PATIENCE, TestApp, TestReceiver, block_on, card, eventually, is_mongodb,
    pause, pix, take_fail_point,
};

/// Longer than the lease of a delivery or a charge that was under way, 30 s.
const HEALS_WITHIN: Duration = Duration::from_secs(75);
/// A check that was stored after its write was given up asks nothing: the next one is two minutes and a fifth later, as it
/// would be after a crash at that place.
const CHECKED_WITHIN: Duration = Duration::from_secs(160);
/// Duration of a failure that lasts for a while.
const A_WHILE: Duration = Duration::from_millis(600);

const WRITES: [&str; 2] = ["insert", "update"];
const READS_AND_WRITES: [&str; 3] = ["find", "insert", "update"];
/// Commands that the service sends while it runs.
const EVERYTHING: [&str; 6] = ["find", "getMore", "insert", "update", "aggregate", "ping"];

fn faults() -> Vec<(&'static str, Document)> {
    vec![
        ("hangs-up", hang_up()),
        ("not-primary", refuse(NOT_WRITABLE_PRIMARY)),
        ("shutdown", refuse(INTERRUPTED_AT_SHUTDOWN)),
        ("stepped-down", refuse(PRIMARY_STEPPED_DOWN)),
        ("write-concern", refuse(WRITE_CONCERN_FAILED)),
        ("no-majority", no_majority(WRITE_CONCERN_FAILED)),
        ("time-limit", refuse(MAX_TIME_EXPIRED)),
        ("bad-value", refuse(BAD_VALUE)),
        ("unknown", refuse(UNKNOWN_ERROR)),
        ("slow", delay(Duration::from_millis(300))),
    ]
}

/// Four requests with a key each, which are made while the store fails and again when it is healed.
struct Round {
    name: String,
    requests: [(String, Value); 4],
    answers: Vec<Answer>,
}

impl Round {
    /// A PIX, a card, a refund and a cancellation; for the last two there is a payment each.
    fn prepare(client: &Client, receiver: &TestReceiver, name: String) -> Self {
        let told = |request: Value| request.with("postbackUrl", json!(receiver.url()));
        let path = |record: &Value, what| {
            format!("/pay/payments/{}/{what}", record["transactionId"].as_str().unwrap())
        };
        let paid = client.create(&told(card("4242424242424242", 10_000)));
        let waiting = client.create(&told(pix(10_027)));
        let payments = || String::from("/pay/payments");
        let requests = [
            (payments(), told(pix(10_000))),
            (payments(), told(card("4242424242424242", 10_000))),
            (path(&paid, "refunds"), json!({"amount": 1_000})),
            (path(&waiting, "cancel"), json!({})),
        ];
        Self { name, requests, answers: Vec::new() }
    }

    fn send(&self, client: &Client) -> Vec<Answer> {
        thread::scope(|scope| {
            let post = |(place, (path, body)): (usize, &(String, Value))| {
                let key = format!("{}-{place}", self.name);
                let path = path.clone();
                let body = body.clone();
                scope.spawn(move || client.post_once(&path, &key, &body))
            };
            let threads: Vec<_> = self.requests.iter().enumerate().map(post).collect();
            threads.into_iter().map(|thread| thread.join().unwrap()).collect()
        })
    }

    fn meet_the_fault(&mut self, client: &Client) {
        self.answers = self.send(client);
        self.check_answers(&self.answers);
    }

    /// Each is done, or refused in the way that lets the caller ask again.
    #[track_caller]
    fn check_answers(&self, answers: &[Answer]) {
        for answer in answers {
            match answer.status {
                200 | 201 => {}
                503 => {
                    answer.expect_error_shape();
                    assert!(answer.header("retry-after").is_some(), "{}: {answer}", self.name);
                }
                _ => panic!("{}: {answer}", self.name),
            }
        }
    }

    /// Meets a fault `times` times, or for a while.
    fn meet(&mut self, point: &FailPoint, times: Option<u32>, how: &Document, client: &Client) {
        let (before, met) = match times {
            Some(times) => {
                let commands = if times == 1 { &WRITES[..] } else { &READS_AND_WRITES };
                let before = block_on(point.fail(times, commands, how));
                self.meet_the_fault(client);
                block_on(point.wait_for(before + i64::from(times), A_WHILE));
                (before, block_on(point.heal()))
            }
            None => {
                let before = block_on(point.fail_on(&EVERYTHING, how));
                let healed = thread::scope(|scope| {
                    let healed = scope.spawn(|| {
                        pause(A_WHILE);
                        block_on(point.heal())
                    });
                    self.meet_the_fault(client);
                    healed.join().unwrap()
                });
                (before, healed)
            }
        };
        assert!(met > before, "{}: no command met the fault", self.name);
    }

    /// The same requests again: what was done before is the same, what was refused is done now. What nobody knows
    /// the outcome of is taken up when its lease is over.
    fn ask_again(&mut self, client: &Client) {
        let again = eventually(HEALS_WITHIN, &format!("{}: all is done", self.name), || {
            let answers = self.send(client);
            self.check_answers(&answers);
            answers.iter().all(|answer| answer.status != 503).then_some(answers)
        });
        for (before, after) in self.answers.iter().zip(&again) {
            if before.status != 503 {
                let id = if before.json()["refundId"].is_null() { "transactionId" } else { "refundId" };
                assert_eq!(before.json()[id], after.json()[id], "{}: {before} then {after}", self.name);
            }
        }
        self.answers = again;
    }

    /// Checks the outcome of the requests, once all is quiet.
    fn check(&self, client: &Client, receiver: &TestReceiver) {
        let id = |place: usize| self.answers[place].json()["transactionId"].as_str().unwrap().to_owned();
        let of_path = |place: usize| self.requests[place].0.split('/').nth(3).unwrap().to_owned();
        let refunded = eventually(HEALS_WITHIN, "the refund is booked", || {
            let record = client.payment(&of_path(2));
            (record["refundedAmount"] == "10.00").then_some(record)
        });
        assert_eq!(refunded["refunds"].as_array().unwrap().len(), 1, "{refunded:#}");
        for (id, statuses, refunds) in [
            (id(0), ["pending", "paid"], 0),
            (id(1), ["approved", "paid"], 0),
            (of_path(2), ["approved", "paid"], 1),
            (of_path(3), ["pending", "cancelled"], 0),
        ] {
            let record = client.wait_for_status_within(CHECKED_WITHIN, &id, statuses[1]);
            assert_eq!(record["routing"]["attempts"].as_array().unwrap().len(), 1, "{record:#}");
            let mut history = client.history(&id);
            assert_eq!(history.len(), statuses.len() + refunds, "{}: {id}: {history:?}", self.name);
            history.dedup();
            assert_eq!(history, statuses, "{}: {id}", self.name);
            let told = receiver.wait_for_told(&id, statuses[1], HEALS_WITHIN);
            assert_eq!(told, statuses, "{}: {id}", self.name);
        }
    }
}

#[test]
fn every_answer_is_true_however_a_command_fails() {
    let Some(point) = take_fail_point() else { return };
    let app = TestApp::builder().store_failing_at(&point).expects_store_away().start();
    let receiver = TestReceiver::start();
    let client = app.client();
    let mut rounds = Vec::new();
    let mut refused = 0;
    let begun = Instant::now();
    for (name, how) in faults() {
        for times in [Some(1), Some(3), None] {
            let mut round = Round::prepare(&client, &receiver, format!("{name}-{times:?}"));
            round.meet(&point, times, &how, &client);
            refused += round.answers.iter().filter(|answer| answer.status == 503).count();
            round.ask_again(&client);
            rounds.push(round);
        }
    }
    println!("{refused} requests of {} were refused in {:?}", rounds.len() * 4, begun.elapsed());
    assert!(refused >= 10, "the faults were met: {refused}");
    for round in &rounds {
        round.check(&client, &receiver);
    }
    let mut ids = Vec::new();
    let mut path = String::from("/pay/payments?limit=100");
    loop {
        let page = client.get(&path).expect(200);
        ids.extend(page["data"].as_array().unwrap().iter().map(|record| record["transactionId"].clone()));
        let Some(cursor) = page["nextCursor"].as_str() else { break };
        path = format!("/pay/payments?limit=100&cursor={cursor}");
    }
    assert_eq!(ids.len(), rounds.len() * 4, "one payment for each key and each preparation");
}

/// Longer than a payment waits for its write, 10 s.
const TOO_LONG: Duration = Duration::from_secs(14);

#[test]
fn a_write_that_is_made_too_late_is_found_under_its_key() {
    let Some(point) = take_fail_point() else { return };
    let app = TestApp::builder().store_failing_at(&point).expects_store_away().start();
    let receiver = TestReceiver::start();
    let client = app.client();
    let mut round = Round::prepare(&client, &receiver, String::from("late"));
    block_on(point.fail_on(&WRITES, &delay(TOO_LONG)));
    let begun = Instant::now();
    round.meet_the_fault(&client);
    assert!(round.answers.iter().all(|answer| answer.status == 503), "{:?}", round.answers);
    // A refund may have to wait until an event of its payment was given up, too.
    assert!(begun.elapsed() < TOO_LONG * 2, "{:?}", begun.elapsed());
    block_on(point.heal());
    // Those that were delayed are made now, before or after the ones that ask again.
    round.ask_again(&client);
    round.check(&client, &receiver);
}

/// The store waits 15 s for an answer; and this machine may be busy.
const STOPPED_LIMIT: Duration = Duration::from_secs(25);

#[test]
fn requests_are_refused_in_time_while_mongod_is_stopped() {
    let Some(server) = is_mongodb().then(OwnMongod::start).flatten() else { return };
    let app = TestApp::builder()
        .store(server.uri())
        .arg("--sandbox-settle-after", "2s")
        .expects_store_away()
        .start();
    let receiver = TestReceiver::start();
    let client = app.client();
    let mut round = Round::prepare(&client, &receiver, String::from("stopped"));
    let waiting = client.create(&pix(10_000).with("postbackUrl", json!(receiver.url())));
    server.stop();
    let begun = Instant::now();
    // Nothing is heard of it any more: who asks learns that within the limits of a write and of a read.
    thread::scope(|scope| {
        let read = scope.spawn(|| client.get("/pay/payments"));
        let ready = scope.spawn(|| app.ops().get("/health/ready"));
        round.meet_the_fault(&client);
        assert!(begun.elapsed() < STOPPED_LIMIT, "{:?}", begun.elapsed());
        assert!(round.answers.iter().all(|answer| answer.status == 503), "{:?}", round.answers);
        assert_eq!(ready.join().unwrap().status, 503);
        assert_eq!(read.join().unwrap().status, 503);
        assert!(begun.elapsed() < STOPPED_LIMIT, "{:?}", begun.elapsed());
    });
    println!("refused within {:?}", begun.elapsed());
    server.go_on();
    eventually(PATIENCE, "it is ready", || (app.ops().get("/health/ready").status == 200).then_some(()));
    println!("ready {:?} after the stop", begun.elapsed());
    round.ask_again(&client);
    round.check(&client, &receiver);
    let id = waiting["transactionId"].as_str().unwrap();
    client.wait_for_status_within(CHECKED_WITHIN, id, "paid");
    assert_eq!(receiver.wait_for_told(id, "paid", HEALS_WITHIN), ["pending", "paid"]);
}

#[test]
fn a_mongod_that_stops_for_a_moment_is_waited_for() {
    let Some(server) = is_mongodb().then(OwnMongod::start).flatten() else { return };
    let app = TestApp::builder().store(server.uri()).expects_store_away().start();
    let receiver = TestReceiver::start();
    let client = app.client();
    let mut round = Round::prepare(&client, &receiver, String::from("moment"));
    server.stop();
    thread::scope(|scope| {
        scope.spawn(|| {
            pause(Duration::from_secs(5));
            server.go_on();
        });
        round.meet_the_fault(&client);
    });
    round.ask_again(&client);
    round.check(&client, &receiver);
}

#[test]
fn secrets_are_sealed_when_the_store_is_back_and_its_absence_is_no_error() {
    let Some(point) = take_fail_point() else { return };
    let mut app = TestApp::builder().store_failing_at(&point).expects_store_away().start();
    let (_, database) = app.store_url().rsplit_once('/').unwrap();
    let database = database.split('?').next().unwrap();
    let mut how = refuse(INTERRUPTED_AT_SHUTDOWN);
    how.insert("namespace", format!("{database}.applications"));
    block_on(point.fail_on(&WRITES, &how));
    app.restart_with("QUITA_SECRET_KEY", "a-secret-key-of-its-own-that-is-long-enough");
    // That it logs no error but the absence itself is seen at the end of each test.
    let logged = |text| eventually(PATIENCE, text, || app.log().contains(text).then_some(()));
    logged("may still be readable");
    block_on(point.heal());
    logged("are now encrypted");
}
