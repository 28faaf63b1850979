//! `quita load` on a service that goes away, and on a tester who does: nobody is accused of what nobody knows.

use std::fs;
use std::process::Command;
use std::time::Duration;

use serde_json::Value;

use crate::support::{Fault, PATIENCE, PlantedService, Program, Running, TestApp, eventually, pause};

/// Waits until the load tester knows of a payment: it reads back what it was told of.
fn wait_for_a_payment(app: &TestApp) {
    const READS: &str = r#"quita_http_requests_total{method="GET",route="/pay/payments/{id}",status="200"} "#;
    eventually(PATIENCE, "the first payment is read back", || {
        let metrics = app.ops().get("/metrics").text();
        let read = metrics.lines().find_map(|line| line.strip_prefix(READS))?;
        (read != "0").then_some(())
    });
}

fn start(app: &TestApp, options: &[&str]) -> Running {
    let url = app.url();
    let arguments = [&["load", "--url", &url, "--json", "report.json"], options].concat();
    app.program(&arguments).env("QUITA_KEY", app.key()).start("load")
}

fn report(directory: &std::path::Path) -> Value {
    serde_json::from_str(&fs::read_to_string(directory.join("report.json")).unwrap()).unwrap()
}

#[test]
fn a_service_that_is_killed_during_the_run_is_said_to_be_away_and_accused_of_nothing() {
    let mut app = TestApp::new();
    let metrics = format!("{}/metrics", app.ops_url());
    let options = [
        "--rate",
        "20",
        "--duration",
        "4s",
        "--settle",
        "1s",
        "--metrics",
        &metrics,
        "--html",
        "report.html",
    ];
    let mut running = start(&app, &options);
    wait_for_a_payment(&app);
    app.kill();
    assert_eq!(running.wait(PATIENCE).code(), Some(1), "{}", running.stderr());
    let shown = running.stdout();
    let said = running.stderr();
    assert!(shown.starts_with("Warning: the service did not answer from "), "{shown}");
    assert!(said.contains("The service went away during the run"), "{said}");
    for wrong in [
        "broke a promise",
        "saturated",
        "metrics could not be read",
        "without the answer",
        "could not be read",
    ] {
        assert!(!shown.contains(wrong) && !said.contains(wrong), "{wrong}: {shown}{said}");
    }
    let gap =
        format!("{metrics} was read before the run, but not after the last payment (connection refused)");
    assert!(shown.contains(&gap), "{shown}");
    let report = report(app.directory());
    let payments = report["payments"].as_u64().unwrap();
    assert_eq!((&report["passed"], &report["violations"]), (&false.into(), &Value::Array(Vec::new())));
    assert_eq!((payments > 0, &report["verdicts"]["not judged"]), (true, &payments.into()), "{report}");
    let not_judged =
        format!("payments: {payments} not judged, because the service did not report how they ended");
    assert!(shown.contains(&not_judged), "{shown}");
    let examples = report["examples"].as_array().unwrap();
    assert!(
        !examples.is_empty() && examples.iter().all(|example| example["verdict"] == "unjudged"),
        "{report}"
    );
    let absences = report["absences"].as_array().unwrap();
    assert_eq!((absences.len(), &absences[0]["untilMs"]), (1, &Value::Null), "{report}");
    assert!(absences[0]["fromMs"].as_u64().unwrap() < 4_000, "{report}");
    let page = fs::read_to_string(app.directory().join("report.html")).unwrap();
    assert!(page.contains("the service did not answer from") && !page.contains("saturated"), "{page}");
}

#[test]
fn a_proxy_that_answers_for_a_dead_service_is_an_absence_and_no_broken_promise() {
    let service = PlantedService::start(Fault::GoesBehindProxy);
    let directory = tempfile::tempdir().unwrap();
    let url = service.url();
    let options = ["--rate", "10", "--duration", "2s", "--settle", "1s", "--json", "report.json"];
    let arguments = [&["load", "--url", &url], &options[..]].concat();
    let finished = Program::new(directory.path(), arguments).env("QUITA_KEY", "qk_test_x_y").run();
    assert_eq!(finished.code, Some(1), "{finished:?}");
    assert!(finished.stdout.contains("did not reach the service (502 of a proxy)"), "{finished:?}");
    assert!(finished.stderr.contains("The service went away during the run"), "{finished:?}");
    for wrong in ["broke a promise", "without the answer", "could not be read"] {
        assert!(
            !finished.stdout.contains(wrong) && !finished.stderr.contains(wrong),
            "{wrong}: {finished:?}"
        );
    }
    let report = report(directory.path());
    assert_eq!(report["violations"], Value::Array(Vec::new()));
    let absences = report["absences"].as_array().unwrap();
    assert_eq!((absences.len(), &absences[0]["cause"]), (1, &"502 of a proxy".into()), "{report}");
}

#[test]
fn a_promise_that_was_broken_before_the_service_went_away_stays_broken() {
    let service = PlantedService::start(Fault::RepeatsUnderNewId);
    let directory = tempfile::tempdir().unwrap();
    let url = service.url();
    let arguments = [
        "load",
        "--url",
        &url,
        "--rate",
        "10",
        "--duration",
        "3s",
        "--settle",
        "1s",
        "--json",
        "report.json",
    ];
    let mut running = Program::new(directory.path(), arguments).env("QUITA_KEY", "qk_test_x_y").start("load");
    // The fault befalls the third payment.
    pause(Duration::from_millis(1_500));
    drop(service);
    assert_eq!(running.wait(PATIENCE).code(), Some(1), "{}", running.stderr());
    assert!(running.stderr().contains("The service broke a promise."), "{}", running.stderr());
    let report = report(directory.path());
    assert_eq!(report["violations"], serde_json::json!(["payments: 1 repeated under a new id"]));
    assert!(report["verdicts"]["not judged"].as_u64().unwrap() > 0, "{report}");
    assert_eq!(report["absences"].as_array().unwrap().len(), 1, "{report}");
}

#[test]
fn a_service_that_hangs_when_the_run_is_stopped_is_away_and_what_waited_is_counted() {
    let app = TestApp::new();
    let mut running = start(&app, &["--rate", "20", "--duration", "10m"]);
    wait_for_a_payment(&app);
    app.signal("STOP");
    // Nothing at all is answered for more than 3 s.
    pause(Duration::from_millis(4_500));
    running.signal("INT");
    let ended = running.wait(PATIENCE);
    app.signal("CONT");
    assert_eq!(ended.code(), Some(130), "{}", running.stderr());
    let shown = running.stdout();
    let said = running.stderr();
    assert!(shown.contains(" under way without an answer, the oldest for "), "{shown}");
    assert!(!shown.contains("broke a promise") && !said.contains("broke a promise"), "{shown}{said}");
    let report = report(app.directory());
    let unanswered = ["creations", "oldestMs"].map(|name| report["unanswered"][name].as_u64().unwrap());
    assert!(unanswered[0] >= 60 && unanswered[1] > 3_000, "{report}");
    let create = &report["latenciesUs"].as_array().unwrap()[0];
    assert!(create["max"].as_u64().unwrap() > 3_000_000, "their age is a latency: {create}");
    assert!(create["count"].as_u64() > report["payments"].as_u64(), "{report}");
    let absences = report["absences"].as_array().unwrap();
    assert_eq!((absences.len(), &absences[0]["untilMs"]), (1, &Value::Null), "{report}");
    assert_eq!(report["violations"], Value::Array(Vec::new()));
}

#[test]
fn a_service_that_freezes_after_the_load_is_said_to_have_and_its_payments_have_their_time() {
    let app = TestApp::builder().arg("--sandbox-settle-after", "3s").start();
    let mut running = start(&app, &["--rate", "5", "--duration", "1s", "--mix", "pix=1", "--settle", "4s"]);
    wait_for_a_payment(&app);
    pause(Duration::from_millis(1_500));
    app.signal("STOP");
    pause(Duration::from_secs(6));
    app.signal("CONT");
    let ended = running.wait(PATIENCE);
    let shown = running.stdout();
    assert_eq!(ended.code(), Some(0), "{shown}{}", running.stderr());
    assert!(shown.starts_with("Warning: a freeze: nothing was answered for "), "{shown}");
    let report = report(app.directory());
    assert_eq!(report["verdicts"]["complete"], 5, "{report}");
    let frozen = report["freezes"]["lengthMs"].as_u64().unwrap();
    assert!((4_000..9_000).contains(&frozen), "{report}");
}

#[test]
fn a_pause_of_the_load_tester_is_not_blamed_on_the_service() {
    let app = TestApp::new();
    let mut running = start(&app, &["--rate", "10", "--duration", "8s", "--mix", "pix=1"]);
    wait_for_a_payment(&app);
    running.signal("STOP");
    pause(Duration::from_millis(4_500));
    running.signal("CONT");
    assert!(running.wait(PATIENCE).code().is_some(), "{}", running.stderr());
    let shown = running.stdout();
    assert!(shown.starts_with("Warning: the load tester itself was paused for "), "{shown}");
    let report = report(app.directory());
    assert_eq!((&report["freezes"], &report["absences"]), (&Value::Null, &Value::Array(vec![])), "{report}");
}

#[test]
fn payers_who_take_longer_than_the_tester_waits_are_no_broken_promise() {
    let app = TestApp::builder().arg("--sandbox-settle-after", "1h").start();
    let mut running = start(&app, &["--rate", "5", "--duration", "1s", "--mix", "pix=1", "--settle", "1s"]);
    assert_eq!(running.wait(PATIENCE).code(), Some(1), "{}", running.stderr());
    let shown = running.stdout();
    let said = running.stderr();
    assert!(!shown.contains("not settled in time") && !said.contains("broke a promise"), "{shown}{said}");
    assert!(said.contains("5 still open, because --settle was no longer"), "{said}");
    assert!(shown.contains("--settle than the service's sandbox-settle-after"), "{shown}");
    let report = report(app.directory());
    assert_eq!(
        (&report["verdicts"]["still open"], &report["violations"]),
        (&5.into(), &Value::Array(vec![]))
    );
}

#[test]
fn payments_that_a_dead_bank_declines_fall_short_of_the_plan_and_have_not_passed() {
    let files = tempfile::tempdir().unwrap();
    let path = files.path().join("quita.toml");
    let table = "[[acquirer]]\nname = 'bank'\nadapter = 'api_pix'\ndialect = 'bacen'\nmode = 'test'\n\
                 base-url = 'http://127.0.0.1:9'\ntoken-url = 'http://127.0.0.1:9/oauth/token'\n\
                 client-id = 'id'\nwebhook = 'off'\npix-key = '123e4567-e12b-12d1-a456-426655440000'\n\
                 receiver-name = 'Loja'\nreceiver-city = 'Sao Paulo'\n";
    fs::write(&path, table).unwrap();
    let builder = TestApp::builder().arg("--config", path.to_str().unwrap());
    let app = builder.env("QUITA_ACQUIRER_BANK_CLIENT_SECRET", "secret").start();
    let mut running = start(&app, &["--rate", "5", "--duration", "1s", "--mix", "pix=1", "--settle", "5s"]);
    assert_eq!(running.wait(PATIENCE).code(), Some(1), "{}", running.stderr());
    let shown = running.stdout();
    let said = running.stderr();
    assert!(shown.contains("\n  declined 5 (no_acquirer_available)\n"), "{shown}");
    assert!(shown.contains("\nFAILED\n"), "{shown}");
    let expected = "The run fell short of its plan: payments: 5 of 5 were declined, but all should be paid \
                    (no_acquirer_available); see /health/ready.";
    assert!(said.contains(expected), "{said}");
    let report = report(app.directory());
    assert_eq!((&report["passed"], &report["violations"]), (&false.into(), &Value::Array(Vec::new())));
    assert_eq!(report["declined"]["no_acquirer_available"], 5, "{report}");
}

#[test]
fn the_last_questions_heed_the_rate_limit_and_are_no_refusals_of_the_load() {
    let app = TestApp::builder().arg("--rate-limit", "2").start();
    let mut running = start(&app, &["--rate", "20", "--duration", "2s", "--mix", "pix=1", "--settle", "30s"]);
    assert!(running.wait(PATIENCE).code().is_some(), "{}", running.stderr());
    let shown = running.stdout();
    let said = running.stderr();
    assert!(!said.contains("broke a promise"), "{shown}{said}");
    let report = report(app.directory());
    assert_eq!(report["verdicts"]["not judged"], 0, "{report}");
    let rows = report["requests"].as_array().unwrap();
    let refused = |calls: &[&str]| -> u64 {
        let matching =
            rows.iter().filter(|row| row["status"] == 429 && calls.iter().any(|call| row["call"] == *call));
        matching.map(|row| row["count"].as_u64().unwrap()).sum()
    };
    let of_the_load = refused(&["create", "read"]);
    assert!(of_the_load > 0, "{report}");
    assert!(refused(&["check"]) <= 30, "they are not hammered: {report}");
    assert!(shown.contains(&format!("the key's rate limit answered {of_the_load} requests")), "{shown}");
}

#[test]
fn ctrl_c_says_how_far_the_run_was_and_a_second_one_ends_at_once() {
    let app = TestApp::new();
    // Nobody reads it, so that the report is never finished.
    assert!(Command::new("mkfifo").arg(app.directory().join("report.json")).status().unwrap().success());
    let mut running = start(&app, &["--rate", "20", "--duration", "10m"]);
    wait_for_a_payment(&app);
    running.signal("INT");
    eventually(PATIENCE, "the report", || running.stdout().contains("STOPPED").then_some(()));
    let shown = running.stdout();
    let said = running.stderr();
    let first = shown.lines().next().unwrap();
    assert!(first.starts_with("Warning: interrupted by Ctrl-C after "), "{first}");
    assert!(
        first.ends_with(" s of 600.0 s; every figure covers only that part, and no payment is judged"),
        "{first}"
    );
    assert!(said.contains("Ctrl-C again ends without it."), "{said}");
    assert_eq!(running.ended(), None);
    running.signal("INT");
    assert_eq!(running.wait(PATIENCE).code(), Some(130), "{}", running.stderr());
}
