//! `quita doctor` beside a running service, and before a restart with another configuration.

use std::fs;
use std::net::TcpListener;

use serde_json::json;

use crate::support::{Finished, PATIENCE, TestApp, eventually, is_mongodb, pix};

/// Runs the doctor with this address as the operators' one.
fn doctor_at(app: &TestApp, ops_listen: &str) -> Finished {
    app.quita(&["doctor", "--ops-listen", ops_listen])
}

fn ops_address(app: &TestApp) -> String {
    app.ops_url().trim_start_matches("http://").to_owned()
}

fn line<'a>(found: &'a Finished, start: &str) -> &'a str {
    found.stdout.lines().find(|line| line.starts_with(start)).unwrap_or_else(|| panic!("{start}: {found:?}"))
}

#[test]
fn the_doctor_says_that_a_service_runs_and_is_ready() {
    let app = TestApp::new();
    let found = doctor_at(&app, &ops_address(&app));
    assert_eq!(found.code, Some(0), "{found:?}");
    assert!(line(&found, "ok    service").contains(&app.ops_url()), "{found:?}");
    let socket = TcpListener::bind("127.0.0.1:0").unwrap();
    let free = socket.local_addr().unwrap().to_string();
    drop(socket);
    let alone = doctor_at(&app, &free);
    assert_eq!(alone.code, Some(0), "{alone:?}");
    let words = "the service is not running here";
    assert!(line(&alone, "warn  service").contains(words), "{alone:?}");
}

#[test]
fn the_doctor_warns_beside_a_service_that_uses_another_store() {
    let [service, other] = [TestApp::new(), TestApp::new()];
    let warning = "uses another store than";
    let end_of_log = || {
        let metrics = service.ops().get("/metrics").text();
        metrics.lines().find(|line| line.starts_with("quita_audit_log_end ")).unwrap().to_owned()
    };
    for name in ["before an entry", "after an entry"] {
        let end = end_of_log();
        let found = doctor_at(&other, &ops_address(&service));
        assert_eq!(found.code, Some(0), "{name}: {found:?}");
        let told =
            found.stdout.lines().find(|line| line.starts_with("warn  store") && line.contains(warning));
        let told = told.unwrap_or_else(|| panic!("{name}: {found:?}"));
        assert!(told.contains(&service.ops_url()) && told.contains("in the configuration file"), "{told}");
        let own = doctor_at(&service, &ops_address(&service));
        assert!(!own.stdout.contains(warning), "{name}: {own:?}");
        for app in [&service, &other] {
            app.create_key(&["--merchant", "acme"]);
        }
        eventually(PATIENCE, "the service has seen the entry of the command", || {
            (end_of_log() != end).then_some(())
        });
    }
}

#[test]
fn the_doctor_fails_beside_a_service_whose_store_was_taken_away() {
    if is_mongodb() {
        println!("skipped: MongoDB has the files");
        return;
    }
    let app = TestApp::builder().expects_errors().start();
    app.client().create(&pix(10_027));
    let (data, aside) = (app.directory().join("data"), app.directory().join("aside"));
    fs::create_dir(&aside).unwrap();
    for file in fs::read_dir(&data).unwrap() {
        let file = file.unwrap();
        fs::rename(file.path(), aside.join(file.file_name())).unwrap();
    }
    eventually(PATIENCE, "it is seen", || (app.ops().get("/health/ready").status == 503).then_some(()));
    let found = doctor_at(&app, &ops_address(&app));
    assert_eq!(found.code, Some(1), "{found:?}");
    let service = line(&found, "fail  service");
    for part in [&app.ops_url(), "is not ready", "was deleted or replaced"] {
        assert!(service.contains(part), "{part}: {service}");
    }
    let store = line(&found, "fail  store");
    for part in ["a service runs at", &app.ops_url(), "its store is gone", "do not start another"] {
        assert!(store.contains(part), "{part}: {store}");
    }
    assert!(!found.stdout.contains("`quita serve` creates it"), "{found:?}");
    let log_before = app.log().len();
    app.signal("TERM");
    let log = eventually(PATIENCE, "it has stopped", || {
        let log = app.log();
        log.contains("the service has stopped").then_some(log)
    });
    assert!(!log[log_before..].contains("other nodes"), "an embedded store has one node: {log}");
}

#[test]
fn the_doctor_fails_for_each_acquirer_that_open_payments_need_and_the_configuration_lacks() {
    let app = TestApp::new();
    let file = app.directory().join("next.toml");
    let doctor = |name: &str, methods: &str| {
        let table = format!("[[acquirer]]\nname = '{name}'\nadapter = 'sandbox'\nmethods = [{methods}]\n");
        fs::write(&file, table).unwrap();
        app.quita(&["doctor", "--ops-listen", "127.0.0.1:0", "--config", file.to_str().unwrap()])
    };
    let finished = |found: &Finished| found.code == Some(0) && !found.stdout.contains("open payments");
    let found = doctor("other", "'pix'");
    assert!(finished(&found), "nothing is open yet: {found:?}");
    let record = app.client().create(&pix(10_027));
    let id = record["transactionId"].as_str().unwrap();
    let acquirer = record["acquirer"].as_str().unwrap();
    for found in [doctor("other", "'pix'"), doctor(acquirer, "'boleto'")] {
        assert_eq!(found.code, Some(1), "{found:?}");
        let told = line(&found, "fail  acquirer");
        for part in [&format!("{acquirer}: open payments need it (pix)"), "until the payments have ended"] {
            assert!(told.contains(part), "{part}: {told}");
        }
    }
    let found = doctor(acquirer, "'pix'");
    assert!(finished(&found), "{found:?}");
    app.client().post_once(&format!("/pay/payments/{id}/cancel"), "withdrawn", &json!({}));
    app.client().wait_for_status(id, "cancelled");
}
