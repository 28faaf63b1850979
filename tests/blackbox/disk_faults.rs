//! The disk of the embedded store fails: full, read-only, or syncs that did not happen.

use std::sync::Mutex;
use std::thread;
use std::time::Duration;

use serde_json::{Value, json};

use crate::support::{
    Answer, Client, Edit, FailingCalls, PATIENCE, Program, SmallDisk, TestApp, TestReceiver, card,
    eventually, is_mongodb, pause, pix,
};

const CARD: &str = "4242424242424242";

fn is_embedded() -> bool {
    if is_mongodb() {
        println!("skipped: the disk is MongoDB's");
    }
    !is_mongodb()
}

fn id_of(record: &Value) -> String {
    record["transactionId"].as_str().unwrap().to_owned()
}

/// Refused so that the caller may ask again, and with nothing of the inside.
#[track_caller]
fn assert_refused(answer: &Answer) {
    assert_eq!(answer.status, 503, "{answer}");
    answer.expect_error_shape();
    assert!(answer.header("retry-after").is_some(), "{answer}");
    assert!(!answer.text().contains(".db") && !answer.text().contains("disk"), "{answer}");
}

/// Returns the number of calls to acquirers, whatever they answered.
fn acquirer_calls(app: &TestApp) -> f64 {
    let metrics = app.ops().get("/metrics").text();
    let counts = metrics.lines().filter(|line| line.starts_with("quita_acquirer_request_seconds_count"));
    counts.map(|line| line.rsplit(' ').next().unwrap().parse::<f64>().unwrap()).sum()
}

/// As many payments as there is room for; the ids of those that were confirmed.
fn create_until_refused(client: &Client) -> Vec<String> {
    let mut ids = Vec::new();
    for _ in 0..5_000 {
        let answer = client.post("/pay/payments", &pix(10_027));
        if answer.status != 201 {
            assert_refused(&answer);
            return ids;
        }
        ids.push(id_of(&answer.json()));
    }
    panic!("{} payments, and still there is room", ids.len());
}

fn all_ids(client: &Client) -> Vec<String> {
    let mut ids = Vec::new();
    let mut path = String::from("/pay/payments?limit=100");
    loop {
        let page = client.get(&path).expect(200);
        ids.extend(page["data"].as_array().unwrap().iter().map(id_of));
        let Some(cursor) = page["nextCursor"].as_str() else { return ids };
        path = format!("/pay/payments?limit=100&cursor={cursor}");
    }
}

#[test]
fn a_full_disk_refuses_charges_nothing_and_passes_by_itself() {
    let Some(disk) = is_embedded().then(|| SmallDisk::mount(4)).flatten() else { return };
    let url = format!("sqlite:{}", disk.path().join("quita.db").display());
    let mut app =
        TestApp::builder().store(&url).arg("--sandbox-settle-after", "2s").expects_store_away().start();
    let receiver = TestReceiver::start();
    let client = app.client();
    let settled_meanwhile = id_of(&client.create(&pix(10_000).with("postbackUrl", json!(receiver.url()))));
    disk.fill();
    let mut confirmed = create_until_refused(&client);
    confirmed.push(settled_meanwhile.clone());
    // Nothing else is under way now than what the store refuses.
    pause(Duration::from_secs(3));
    let before = acquirer_calls(&app);
    for n in 0..5 {
        assert_refused(&client.post_once("/pay/payments", &format!("k{n}"), &card(CARD, 10_000)));
    }
    assert!((acquirer_calls(&app) - before).abs() < 0.5, "nothing is sent to an acquirer");
    for id in &confirmed {
        assert_eq!(client.payment(id)["status"], "pending", "reads go on");
    }
    assert_eq!(all_ids(&client).len(), confirmed.len());
    assert_eq!(app.ops().get("/health/live").status, 200);
    // A small write may still find room, so this is looked at while payments are refused.
    eventually(PATIENCE, "the disk is named as the cause", || {
        assert_refused(&client.post("/pay/payments", &pix(10_027)));
        let ready = app.ops().get("/health/ready");
        let metrics = app.ops().get("/metrics").text();
        let is_full = app.ops().get("/outage").json()["trouble"] == "full";
        let agree = ready.status == 503 && metrics.contains("\nquita_ready 0\n");
        (is_full && agree && ready.text().contains("disk is full")).then_some(())
    });
    let found = app.quita(&["doctor"]).stdout;
    let line = found.lines().find(|line| line.starts_with("fail  store")).expect(&found);
    assert!(line.contains("the store's disk is full"), "{line}");
    app.kill();
    app.restart();
    let client = app.client();
    // None is lost. Opening moves the log into the store, which may leave room for what settled meanwhile.
    for id in &confirmed {
        let status = &client.payment(id)["status"];
        assert!(status == "pending" || (status == "paid" && *id == settled_meanwhile), "{id}: {status}");
    }
    disk.free();
    for n in 0..5 {
        let key = format!("k{n}");
        let record = eventually(PATIENCE, "there is room again", || {
            let answer = client.post_once("/pay/payments", &key, &card(CARD, 10_000));
            [200, 201].contains(&answer.status).then(|| answer.json())
        });
        let record = client.wait_for_status(&id_of(&record), "paid");
        assert_eq!(record["routing"]["attempts"].as_array().unwrap().len(), 1, "{record:#}");
        confirmed.push(id_of(&record));
    }
    let found = app.quita(&["doctor"]).stdout;
    assert!(found.lines().any(|line| line.starts_with("ok    store")), "{found}");
    client.wait_for_status_within(Duration::from_secs(60), &settled_meanwhile, "paid");
    let told = receiver.wait_for_told(&settled_meanwhile, "paid", Duration::from_secs(60));
    assert_eq!(told, ["pending", "paid"]);
    app.kill();
    app.restart();
    let mut stored = all_ids(&app.client());
    let client = app.client();
    confirmed.iter().for_each(|id| assert_eq!(client.payment(id)["transactionId"], **id));
    stored.sort();
    confirmed.sort();
    assert_eq!(stored, confirmed, "what was confirmed, and nothing else");
}

#[test]
fn a_disk_that_is_full_from_the_start_or_read_only_is_reported_at_the_start() {
    let Some(disk) = is_embedded().then(|| SmallDisk::mount(2)).flatten() else { return };
    let url = format!("sqlite:{}", disk.path().join("quita.db").display());
    let serve = || {
        let arguments = ["serve", "--listen", "127.0.0.1:0", "--ops-listen", "127.0.0.1:0"];
        Program::new(std::env::temp_dir().as_path(), arguments).env("QUITA_STORE", &url).run()
    };
    disk.fill();
    let refused = serve();
    assert_eq!(refused.code, Some(1), "{refused:?}");
    assert!(refused.stderr.contains("quita.db") && !refused.stderr.contains("panicked"), "{refused:?}");
    disk.free();
    drop(TestApp::builder().store(&url).start());
    disk.make_read_only();
    let refused = serve();
    assert_eq!(refused.code, Some(1), "{refused:?}");
    assert!(refused.stderr.contains("quita.db") && !refused.stderr.contains("panicked"), "{refused:?}");
}

#[test]
fn a_backup_onto_a_full_disk_names_the_copy_and_not_the_store() {
    let Some(disk) = is_embedded().then(|| SmallDisk::mount(1)).flatten() else { return };
    disk.fill();
    let app = TestApp::new();
    let copy = disk.path().join("copy.db");
    let refused = app.quita(&["backup", copy.to_str().unwrap()]);
    assert_eq!(refused.code, Some(1), "{refused:?}");
    assert!(refused.stderr.contains("copy.db can't be made: "), "{refused:?}");
    assert!(!refused.stderr.contains("the store's disk"), "the store is well: {refused:?}");
    assert!(!copy.exists(), "no half of a copy is left");
}

#[test]
fn after_a_sync_that_failed_nothing_is_accepted_until_a_restart() {
    check_failed_sync("1");
}

#[test]
fn after_a_later_sync_that_failed_nothing_is_accepted_until_a_restart() {
    check_failed_sync("3");
}

#[test]
fn while_every_sync_fails_nothing_is_accepted_until_a_restart() {
    check_failed_sync("1+");
}

/// `when` names the syncs that fail, counted from the first payment on.
fn check_failed_sync(when: &str) {
    if !is_embedded() {
        return;
    }
    let mut app = TestApp::builder().expects_errors().start();
    let client = app.client();
    let mut confirmed = vec![id_of(&client.create(&pix(10_027)))];
    let calls = "fdatasync,fsync,sync_file_range";
    let Some(failing) = FailingCalls::begin(app.process(), calls, "EIO", when) else { return };
    for n in 0..200 {
        let answer = client.post_once("/pay/payments", &format!("k{n}"), &card(CARD, 10_000));
        match answer.status {
            201 => confirmed.push(id_of(&answer.json())),
            _ => {
                assert_refused(&answer);
                break;
            }
        }
    }
    drop(failing);
    let refused = confirmed.len() - 1;
    assert!(refused < 200, "no sync failed");
    assert_refused(&client.post("/pay/payments", &pix(10_000)));
    assert_refused(&client.post_once("/pay/payments", &format!("k{refused}"), &card(CARD, 10_000)));
    assert_eq!(app.ops().get("/health/ready").status, 503, "when={when}");
    assert_eq!(app.ops().get("/health/live").status, 200);
    let log = app.log();
    let errors: Vec<_> = log.lines().filter(|line| line.contains("\"level\":\"ERROR\"")).collect();
    let [line] = errors[..] else { panic!("one line is enough: {errors:#?}") };
    assert!(line.contains("fsync failed") && line.contains("restart the service"), "{line}");
    assert!(!line.contains("backup"), "{line}");
    let refusal = client.post("/pay/payments", &pix(10_000)).text();
    assert!(!refusal.contains("nothing is lost"), "nobody knows yet: {refusal}");
    assert_eq!(client.payment(&confirmed[0])["status"], "pending", "reads go on");
    app.kill();
    app.restart();
    let client = app.client();
    confirmed.iter().for_each(|id| assert_eq!(client.payment(id)["transactionId"], **id));
    let answer = client.post_once("/pay/payments", &format!("k{refused}"), &card(CARD, 10_000));
    assert!([200, 201].contains(&answer.status), "{answer}");
    let record = client.wait_for_status_within(Duration::from_secs(60), &id_of(&answer.json()), "paid");
    assert_eq!(record["routing"]["attempts"].as_array().unwrap().len(), 1, "{record:#}");
}

#[test]
fn a_write_that_the_disk_refuses_is_refused_and_passes_by_itself() {
    if !is_embedded() {
        return;
    }
    let mut app = TestApp::builder().expects_store_away().start();
    let client = app.client();
    let confirmed = id_of(&client.create(&pix(10_027)));
    for error in ["EIO", "EROFS", "ENOSPC", "EDQUOT"] {
        let calls = "pwrite64,pwritev,ftruncate,fallocate";
        let Some(failing) = FailingCalls::begin(app.process(), calls, error, "1+") else { return };
        assert_refused(&client.post_once("/pay/payments", error, &card(CARD, 10_000)));
        assert_eq!(client.payment(&confirmed)["status"], "pending", "reads go on");
        drop(failing);
        let record = eventually(PATIENCE, "it passes by itself", || {
            let answer = client.post_once("/pay/payments", error, &card(CARD, 10_000));
            [200, 201].contains(&answer.status).then(|| answer.json())
        });
        let record = client.wait_for_status_within(Duration::from_secs(60), &id_of(&record), "paid");
        assert_eq!(record["routing"]["attempts"].as_array().unwrap().len(), 1, "{record:#}");
    }
}

const KILLS: usize = 20;

#[test]
fn twenty_kills_in_the_middle_of_writes_lose_nothing() {
    if !is_embedded() {
        return;
    }
    let mut app = TestApp::new();
    let mut all = Vec::new();
    for round in 0..KILLS {
        let confirmed = Mutex::new(Vec::new());
        thread::scope(|scope| {
            for writer in 0..4 {
                let client = app.client();
                let confirmed = &confirmed;
                scope.spawn(move || {
                    let amount = if writer % 2 == 0 { 10_027 } else { 10_000 };
                    let headers = [("Content-Type", "application/json")];
                    let body = pix(amount).to_string();
                    while let Ok(answer) = client.try_send("POST", "/pay/payments", &headers, body.as_bytes())
                    {
                        confirmed.lock().unwrap().push(id_of(&answer.expect(201)));
                    }
                });
            }
            // Not always at the same point of a batch, and not before there was one.
            let wanted = 20 + round * 7;
            eventually(PATIENCE, "payments are made", || {
                (confirmed.lock().unwrap().len() >= wanted).then_some(())
            });
            app.kill();
        });
        app.restart();
        let client = app.client();
        let confirmed = confirmed.into_inner().unwrap();
        confirmed.iter().for_each(|id| assert_eq!(client.payment(id)["transactionId"], **id));
        all.extend(confirmed);
    }
    let stored = all_ids(&app.client());
    let lost: Vec<_> = all.iter().filter(|id| !stored.contains(id)).collect();
    assert!(lost.is_empty(), "{lost:?}");
    println!("{} payments confirmed in {KILLS} lives", all.len());
}
