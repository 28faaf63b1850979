//! The stored form: what the program says of it, and what becomes of a service that an upgrade left behind.

use std::time::{Duration, Instant};

use serde_json::json;

use crate::support::{TestApp, pix, upgrade_to};

/// A heartbeat, and the end of what was under way.
const ENDS_WITHIN: Duration = Duration::from_secs(30);

#[test]
fn a_store_in_the_newest_form_has_nothing_to_upgrade() {
    let app = TestApp::new();
    let nothing = "the store has form 1, the newest that this version supports: nothing to do";
    for more in [&[][..], &["--dry-run"], &["--rate", "5"]] {
        let arguments: Vec<_> = ["store", "upgrade"].iter().chain(more).copied().collect();
        assert_eq!(app.quita(&arguments).output(), nothing, "{arguments:?}");
    }
    app.client().create(&pix(10_027));
}

#[test]
fn readiness_version_and_metrics_name_the_form() {
    let app = TestApp::new();
    let ready = app.ops().get("/health/ready").expect(200);
    assert_eq!((&ready["storedForm"], &ready["storeForm"]), (&json!(1), &json!(1)), "{ready:#}");
    let told = app.quita(&["--version"]).output();
    assert!(told.ends_with(", stored form 1)"), "{told}");
    let metrics = app.ops().get("/metrics").text();
    let build = metrics.lines().find(|line| line.starts_with("quita_build_info{")).unwrap();
    assert!(build.contains("stored_form=\"1\""), "{build}");
}

#[test]
fn a_service_that_an_upgrade_left_behind_writes_nothing_more_and_ends_with_1() {
    let mut app = TestApp::builder().expects_errors().start();
    let client = app.client();
    let created = client.create(&pix(10_010));
    let id = created["transactionId"].as_str().unwrap();
    client.wait_for_status(id, "paid");
    // Asleep, as on a machine that was suspended.
    app.signal("STOP");
    upgrade_to(app.store_url(), 2, "9.1.0");
    app.signal("CONT");
    // What it can't read any more is out of reach, and no defect.
    let path = format!("/pay/payments/{id}");
    let deadline = Instant::now() + ENDS_WITHIN;
    while let Ok(answer) = client.try_send("GET", &path, &[], b"") {
        assert!([200, 503].contains(&answer.status), "{}: {}", answer.status, answer.text());
        assert!(Instant::now() < deadline, "it does not end");
    }
    assert_eq!(app.process().wait(ENDS_WITHIN).code(), Some(1));
    assert!(app.log().contains("the store was upgraded to stored form 2"), "{}", app.log());
    for arguments in [&["keys", "list"][..], &["store", "upgrade"]] {
        let refused = app.quita(arguments);
        assert_eq!(refused.code, Some(1), "{refused:?}");
        for part in ["its stored form has number 2", "forms up to number 1", "install Quita 9.1.0 or newer"] {
            assert!(refused.stderr.contains(part), "{refused:?}");
        }
    }
}
