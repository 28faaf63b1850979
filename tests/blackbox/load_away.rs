//! `quita load` on a service that goes away, and on a tester who does: nobody is accused of what nobody knows.

use std::fs;
use std::process::Command;
use std::time::Duration;

use serde_json::Value;

use crate::support::{Fault, PATIENCE, PlantedService, Program, Running, TestApp, eventually, pause};

fn wait_for_a_payment(app: &TestApp) {
    eventually(PATIENCE, "the first payment", || {
        let page = app.client().get("/pay/payments").expect(200);
        (!page["data"].as_array()?.is_empty()).then_some(())
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
    let (shown, said) = (running.stdout(), running.stderr());
    assert!(shown.starts_with("Attention: the service did not answer from "), "{shown}");
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
        format!("payments: {payments} not judged, because the service did not tell how they ended");
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
fn ctrl_c_says_how_far_the_run_was_and_a_second_one_ends_at_once() {
    let app = TestApp::new();
    // Nobody reads it, so that the report is never finished.
    assert!(Command::new("mkfifo").arg(app.directory().join("report.json")).status().unwrap().success());
    let mut running = start(&app, &["--rate", "20", "--duration", "10m"]);
    wait_for_a_payment(&app);
    running.signal("INT");
    eventually(PATIENCE, "the report", || running.stdout().contains("STOPPED").then_some(()));
    let (shown, said) = (running.stdout(), running.stderr());
    let first = shown.lines().next().unwrap();
    assert!(first.starts_with("Attention: interrupted by Ctrl-C after "), "{first}");
    assert!(
        first.ends_with(" s of 600.0 s; every figure is of that part, and no payment is judged"),
        "{first}"
    );
    assert!(said.contains("Ctrl-C again ends without it."), "{said}");
    assert_eq!(running.ended(), None);
    running.signal("INT");
    assert_eq!(running.wait(PATIENCE).code(), Some(130), "{}", running.stderr());
}
