//! Two services on one MongoDB database: any of them serves any request.

use std::thread;
use std::time::Duration;

use serde_json::{Value, json};

use crate::support::{
    Acquirers, Edit, PATIENCE, Reply, TestApp, TestReceiver, Visitor, add_node_ahead, eventually,
    give_up_runs, is_mongodb, pause, pix,
};

/// Longer than the first look of a service that has just started.
const NIGHT: Duration = Duration::from_secs(40);

/// Two nodes, or `None` on a store that only one service may use.
fn two_nodes() -> Option<(TestApp, TestApp)> {
    if !is_mongodb() {
        println!("skipped: an SQLite file belongs to one service");
        return None;
    }
    let first = TestApp::new();
    let second = TestApp::builder().store(first.store_url()).start();
    Some((first, second))
}

fn id_of(record: &Value) -> String {
    record["transactionId"].as_str().unwrap().to_owned()
}

#[test]
fn each_node_knows_what_the_other_one_did() {
    let Some((first, second)) = two_nodes() else { return };
    let here = first.client();
    let there = second.client_with(first.key());
    let id = id_of(&here.create(&pix(10_027)));
    assert_eq!(there.payment(&id)["status"], "pending");
    there.post_empty(&format!("/pay/payments/{id}/cancel")).expect(200);
    assert_eq!(here.payment(&id)["status"], "cancelled");
    here.post_empty(&format!("/pay/payments/{id}/cancel")).expect_error(409, "status_conflict");
    assert_eq!(here.history(&id), ["pending", "cancelled"]);
}

#[test]
fn one_key_at_once_on_both_nodes_makes_one_payment() {
    let Some((first, second)) = two_nodes() else { return };
    let receiver = TestReceiver::start();
    let request = pix(10_000).with("postbackUrl", json!(receiver.url()));
    let answers: Vec<_> = thread::scope(|scope| {
        let post = |app: &TestApp| app.client_with(first.key()).post_once("/pay/payments", "k", &request);
        let nodes = [&first, &second].repeat(16).into_iter();
        let threads: Vec<_> = nodes.map(|app| scope.spawn(move || post(app))).collect();
        threads.into_iter().map(|thread| thread.join().unwrap()).collect()
    });
    assert_eq!(answers.iter().filter(|answer| answer.status == 201).count(), 1, "{answers:?}");
    let id = id_of(&answers[0].json());
    assert!(answers.iter().all(|answer| id_of(&answer.json()) == id));
    let events = receiver.wait_for_events(&id, 2, PATIENCE);
    let told: Vec<_> = events.iter().map(|event| event.text("status")).collect();
    assert_eq!(told, ["pending", "paid"]);
}

#[test]
fn refunds_at_once_on_both_nodes_never_exceed_what_was_paid() {
    let Some((first, second)) = two_nodes() else { return };
    let client = first.client();
    let id = id_of(&client.create(&pix(10_000)));
    client.wait_for_status(&id, "paid");
    let path = format!("/pay/payments/{id}/refunds");
    let statuses: Vec<u16> = thread::scope(|scope| {
        let refund =
            |app: &TestApp| app.client_with(first.key()).post(&path, &json!({"amount": 3_000})).status;
        let threads: Vec<_> =
            [&first, &second].repeat(6).into_iter().map(|app| scope.spawn(move || refund(app))).collect();
        threads.into_iter().map(|thread| thread.join().unwrap()).collect()
    });
    assert_eq!(statuses.iter().filter(|status| **status == 201).count(), 3, "{statuses:?}");
    eventually(PATIENCE, "the refunds are booked", || {
        (client.payment(&id)["refundedAmount"] == "90.00").then_some(())
    });
}

#[test]
fn a_comparison_that_failed_on_one_node_is_red_on_the_home_of_every_node() {
    if !is_mongodb() {
        println!("skipped: an SQLite file belongs to one service");
        return;
    }
    let acquirers = Acquirers::start();
    // Nobody is there.
    let nobody = "https://127.0.0.1:1";
    let first = acquirers.builder_by_way_of(nobody, nobody).arg("--reconcile-at", "00:00").start();
    let failed = "Reconciliation</a></h2><p class=\"value\">Failed<";
    let operator = Visitor::operator(&first);
    eventually(NIGHT, "the comparison failed here", || operator.page("/").contains(failed).then_some(()));
    let second = acquirers
        .builder_by_way_of(nobody, nobody)
        .arg("--reconcile-at", "00:00")
        .store(first.store_url())
        .start();
    let operator = Visitor::operator(&second);
    let page = eventually(PATIENCE, "and is known there", || {
        Some(operator.page("/")).filter(|page| page.contains(failed))
    });
    assert!(page.contains(&format!("{}: bank, ", first.address())), "{page}");
}

#[test]
fn a_comparison_that_failed_on_every_node_is_named_once_on_the_home() {
    if !is_mongodb() {
        println!("skipped: an SQLite file belongs to one service");
        return;
    }
    let acquirers = Acquirers::start();
    // Nobody is there.
    let nobody = "https://127.0.0.1:1";
    let builder = || acquirers.builder_by_way_of(nobody, nobody).arg("--reconcile-at", "00:00");
    let first = builder().start();
    let failed = "Reconciliation</a></h2><p class=\"value\">Failed<";
    let operator = Visitor::operator(&first);
    eventually(NIGHT, "the comparison failed there", || operator.page("/").contains(failed).then_some(()));
    give_up_runs(first.store_url());
    let second = builder().store(first.store_url()).start();
    let known = Visitor::operator(&second);
    let own = |page: &str| {
        page.matches("bank, ").count() > 0 && !page.contains(&format!("{}: bank", first.address()))
    };
    eventually(NIGHT, "it failed here too", || own(&known.page("/")).then_some(()));
    for (operator, other) in [(&operator, second.address()), (&known, first.address())] {
        pause(Duration::from_secs(6));
        let page = operator.page("/");
        assert_eq!(page.matches("bank, ").count(), 1, "{page}");
        assert!(!page.contains(other), "{page}");
    }
}

#[test]
fn what_a_dead_node_left_is_taken_up_by_the_other_one() {
    let Some((mut first, second)) = two_nodes() else { return };
    let receiver = TestReceiver::start();
    receiver.answer_with(|_| Reply::status(200).after(Duration::from_secs(60)));
    let record = first.client().create(&pix(10_000).with("postbackUrl", json!(receiver.url())));
    receiver.wait_for(1, PATIENCE);
    first.kill();
    receiver.answer(200);
    let id = id_of(&record);
    let client = second.client_with(first.key());
    client.wait_for_status_within(Duration::from_secs(90), &id, "paid");
    assert_eq!(receiver.wait_for_told(&id, "paid", Duration::from_secs(60)), ["pending", "paid"]);
}

#[test]
fn a_key_revoked_anywhere_stops_on_every_node() {
    let Some((first, second)) = two_nodes() else { return };
    let key = first.create_key(&["--merchant", "shop"]);
    let clients = [first.client_with(&key), second.client_with(&key)];
    clients.iter().for_each(|client| assert_eq!(client.get("/pay/payments").status, 200));
    first.quita(&["keys", "revoke", key.split('_').nth(2).unwrap()]).output();
    for client in &clients {
        eventually(Duration::from_millis(5_500), "the key is refused", || {
            (client.get("/pay/payments").status == 401).then_some(())
        });
    }
}

#[test]
fn an_event_is_not_sent_by_both_nodes() {
    let Some((first, second)) = two_nodes() else { return };
    let receiver = TestReceiver::start();
    let request = pix(10_000).with("postbackUrl", json!(receiver.url()));
    let clients = [first.client(), second.client_with(first.key())];
    let ids: Vec<_> = (0..40).map(|n| id_of(&clients[n % 2].create(&request))).collect();
    receiver.wait_for(80, PATIENCE);
    pause(Duration::from_secs(1));
    for id in &ids {
        let told: Vec<_> = receiver.events_of(id).iter().map(|event| event.text("status")).collect();
        assert_eq!(told, ["pending", "paid"], "{id}");
    }
}

/// A node counts as lost a minute after it was seen last.
const MISSED_WITHIN: Duration = Duration::from_secs(90);

#[test]
fn a_node_that_stops_is_gone_and_one_that_dies_is_lost_until_an_operator_takes_it_off() {
    let Some((first, mut second)) = two_nodes() else { return };
    let operator = Visitor::operator(&first);
    let page_with = |within, what: &str, is_so: &dyn Fn(&str) -> bool| {
        eventually(within, what, || Some(operator.page("/store")).filter(|page| is_so(page)))
    };
    let address = second.address().to_owned();
    page_with(PATIENCE, "both are listed", &|page| page.contains(&address));
    assert!(second.terminate(PATIENCE).success());
    page_with(PATIENCE, "the one that stopped is gone", &|page| !page.contains(&address));
    second.restart();
    let address = second.address().to_owned();
    page_with(PATIENCE, "it is back", &|page| page.contains(&address));
    let doctor = || {
        let found = first.quita(&["doctor", "--ops-listen", "127.0.0.1:0", "--json"]).output();
        let findings = serde_json::from_str::<Value>(&found).unwrap()["findings"].take();
        let of_nodes = findings.as_array().unwrap().iter().filter(|finding| finding["subject"] == "nodes");
        of_nodes.cloned().collect::<Vec<_>>()
    };
    let found = doctor();
    assert!(found.len() == 1 && found[0]["level"] == "ok", "{found:?}");
    assert!(found[0]["text"].as_str().unwrap().starts_with("2 nodes are alive: "), "{found:?}");
    second.signal("STOP");
    let found = eventually(MISSED_WITHIN, "the doctor notices a frozen one", || {
        Some(doctor()).filter(|found| found[0]["level"] == "warn")
    });
    let text = found[0]["text"].as_str().unwrap();
    assert!(text.contains(&address) && text.contains("silent for") && text.contains("frozen"), "{found:?}");
    second.kill();
    let page = page_with(MISSED_WITHIN, "it is lost", &|page| page.contains(">Lost<"));
    let found = doctor();
    let text = found[0]["text"].as_str().unwrap();
    assert!(found[0]["level"] == "warn" && text.contains(&address) && text.contains("was lost"), "{found:?}");
    assert!(page.contains(&address), "{page}");
    assert_eq!(first.log().matches("another node was lost").count(), 1);
    assert!(operator.page("/").contains("/runbook#quitanodelost"));
    let (_, link) = page.split_once("href=\"/nodes/").unwrap();
    let path = format!("/nodes/{}", link.split('"').next().unwrap());
    assert!(operator.page(&path).contains(&address));
    assert_eq!(operator.post(&path, &[]).status, 303);
    let page = operator.page("/store");
    assert!(!page.contains(&address) && !page.contains(">Lost<"), "{page}");
    assert!(operator.page("/audit").contains("removed the lost node"));
}

#[test]
fn a_node_whose_clock_is_fast_is_shown_with_its_clock_and_never_as_seen_a_moment_ago() {
    if !is_mongodb() {
        println!("skipped: an SQLite file belongs to one service");
        return;
    }
    let app = TestApp::new();
    let operator = Visitor::operator(&app);
    let own = eventually(PATIENCE, "the node is listed", || {
        Some(operator.page("/store")).filter(|page| page.contains("a moment ago"))
    });
    assert_eq!(own.matches("s ahead").count(), 0, "{own}");
    add_node_ahead(app.store_url(), "10.0.0.7:8080", Duration::from_secs(600));
    let page = eventually(PATIENCE, "the other node is listed", || {
        Some(operator.page("/store")).filter(|page| page.contains("10.0.0.7:8080"))
    });
    let (_, row) = page.split_once("10.0.0.7:8080").unwrap();
    let row = row.split("</tr>").next().unwrap();
    assert!(row.contains(" s ahead") && row.contains("/runbook#quitanodeclocksdiffer"), "{row}");
    assert!(!row.contains("a moment ago"), "{row}");
    assert!(operator.page("/").contains("clocks differ"));
    eventually(PATIENCE, "the log has it once", || {
        (app.log().matches("another node's clock differs").count() == 1).then_some(())
    });
    let metrics = app.ops().get("/metrics").text();
    let offset = metrics.lines().find_map(|line| line.strip_prefix("quita_node_clock_offset_seconds "));
    let offset_s: i64 = offset.unwrap().parse().unwrap();
    assert!((550..=600).contains(&offset_s), "{offset_s}");
    // It is dead: it was written once.
    eventually(MISSED_WITHIN, "it is lost in the usual time", || {
        operator.page("/store").contains(">Lost<").then_some(())
    });
}
