//! `quita load`: it finds a healthy service healthy, and a planted fault in any other.

use std::fs;
use std::time::Duration;

use serde_json::Value;

use crate::support::{Fault, Finished, PATIENCE, PlantedService, Program, TestApp, eventually, pause};

fn load(app: &TestApp, options: &[&str]) -> Finished {
    let url = app.url();
    let arguments =
        [&["load", "--url", &url, "--json", "report.json", "--html", "report.html"], options].concat();
    app.program(&arguments).env("QUITA_KEY", app.key()).env("QUITA_SECRET", &app.secret()).run()
}

fn report(app: &TestApp) -> Value {
    serde_json::from_str(&fs::read_to_string(app.directory().join("report.json")).unwrap()).unwrap()
}

fn requests(report: &Value, call: &str, status: u64) -> u64 {
    let rows = report["requests"].as_array().unwrap().iter();
    rows.filter(|row| row["call"] == call && row["status"] == status)
        .map(|row| row["count"].as_u64().unwrap())
        .sum()
}

fn sum(rows: &Value, name: &str) -> u64 {
    rows.as_array().unwrap().iter().map(|row| row[name].as_u64().unwrap()).sum()
}

/// Checks that every number of a report about a healthy service fits every other, and gives the payments.
#[track_caller]
fn check_healthy(report: &Value) -> u64 {
    let payments = report["payments"].as_u64().unwrap();
    assert_eq!((&report["passed"], report["violations"].as_array().unwrap().len()), (&true.into(), 0));
    assert_eq!(requests(report, "create", 201), payments);
    assert_eq!(requests(report, "read", 200), payments);
    assert!(requests(report, "check", 200) >= payments);
    let verdicts = report["verdicts"].as_object().unwrap();
    assert_eq!(verdicts.values().map(|count| count.as_u64().unwrap()).sum::<u64>(), payments);
    let good = ["complete", "repeated with the same id"].map(|name| verdicts[name].as_u64().unwrap());
    assert_eq!(good.iter().sum::<u64>(), payments);
    for latency in report["latenciesUs"].as_array().unwrap() {
        assert_eq!(latency["count"], sum(&latency["distribution"], "count"));
        let values = ["p50", "p90", "p99", "p999", "max"].map(|name| latency[name].as_u64().unwrap());
        assert!(values.is_sorted(), "{latency}");
    }
    let timeline = &report["timeline"];
    assert_eq!((sum(timeline, "creates"), sum(timeline, "reads")), (payments, payments));
    assert_eq!(sum(timeline, "events"), report["webhooks"]["received"].as_u64().unwrap());
    payments
}

#[test]
fn a_healthy_service_passes_in_the_open_model_with_every_payment_on_time() {
    let app = TestApp::new();
    let finished = load(&app, &["--rate", "20", "--duration", "3s", "--mix", "pix=60,boleto=20,card=20"]);
    assert_eq!(finished.code, Some(0), "{finished:?}");
    for part in ["create", "read", "event to delivery", "complete", "own cost", "PASSED"] {
        assert!(finished.stdout.contains(part), "{part}: {finished:?}");
    }
    let report = report(&app);
    assert_eq!(check_healthy(&report), 60, "20 a second for 3 seconds, not one less");
    assert_eq!(report["webhooks"]["received"], 120, "two events each");
    let page = app.client().get("/pay/payments?limit=100").expect(200);
    let made = page["data"].as_array().unwrap();
    let of = |method: &str| made.iter().filter(|payment| payment["paymentMethod"] == method).count();
    assert_eq!([of("PIX"), of("BOLETO"), of("CREDIT_CARD")], [36, 12, 12]);
}

#[test]
fn a_healthy_service_passes_in_the_closed_model_and_has_its_plots() {
    let app = TestApp::new();
    let finished = load(&app, &["--concurrency", "4", "--duration", "2s"]);
    assert_eq!(finished.code, Some(0), "{finished:?}");
    assert!(check_healthy(&report(&app)) >= 4);
    let page = fs::read_to_string(app.directory().join("report.html")).unwrap();
    assert!(page.starts_with("<!doctype html>"));
    for title in ["Rate over time", "Latency over time", "Latency distribution", "Event to delivery"] {
        assert!(page.contains(&format!("aria-label=\"{title}\"")), "{title}");
    }
    assert_eq!((page.matches("<svg ").count(), page.matches("</svg>").count()), (5, 5));
    for external in ["src=", "href=", "url(", "@import", "<script"] {
        assert!(!page.contains(external), "the page needs nothing else: {external}");
    }
}

#[test]
fn a_stall_of_the_service_is_not_hidden_in_the_open_model() {
    let app = TestApp::new();
    let url = app.url();
    let arguments = ["load", "--url", &url, "--rate", "20", "--duration", "4s", "--json", "report.json"];
    let mut running = app.program(&arguments).env("QUITA_KEY", app.key()).start("load");
    eventually(PATIENCE, "the first payment", || {
        let page = app.client().get("/pay/payments").expect(200);
        (!page["data"].as_array()?.is_empty()).then_some(())
    });
    app.signal("STOP");
    pause(Duration::from_millis(1_500));
    app.signal("CONT");
    assert!(running.wait(PATIENCE).success(), "{}", running.stdout());
    let report = report(&app);
    assert_eq!(check_healthy(&report), 80, "what was due meanwhile was sent all the same");
    let create = &report["latenciesUs"].as_array().unwrap()[0];
    // 30 of the 80 were due while it stood still: the last of them waited for nothing, the first for all of it.
    assert!(create["p90"].as_u64().unwrap() > 700_000, "{create}");
}

#[test]
fn events_that_the_receiver_refuses_come_again_and_are_no_violation() {
    let app = TestApp::new();
    let options = ["--rate", "10", "--duration", "1s", "--mix", "pix=1", "--receiver-fail", "100%"];
    let finished = load(&app, &options);
    assert_eq!(finished.code, Some(0), "{finished:?}");
    let report = report(&app);
    assert_eq!(check_healthy(&report), 10);
    let counts = ["received", "refused"].map(|name| report["webhooks"][name].as_u64().unwrap());
    assert_eq!(counts, [40, 20], "two events each, both refused when they came first");
    let delivered = &report["latenciesUs"].as_array().unwrap()[2];
    assert_eq!(
        (&delivered["name"], &delivered["count"]),
        (&"event to delivery".into(), &10.into()),
        "the others were held back"
    );
}

#[test]
fn a_service_out_of_reach_fails_it() {
    let app = TestApp::new();
    for pace in ["--rate", "--concurrency"] {
        let arguments = ["load", "--url", "http://127.0.0.1:1", pace, "5", "--duration", "1s"];
        let finished = app.program(&arguments).env("QUITA_KEY", app.key()).run();
        assert_eq!(finished.code, Some(1), "{finished:?}");
        assert!(finished.stdout.contains("no payment was made"), "{finished:?}");
    }
}

#[test]
fn a_wrong_key_fails_it_and_wrong_usage_is_told_apart() {
    let app = TestApp::new();
    let url = app.url();
    let finished = app.quita(&["load", "--url", &url, "--key", "qk_test_x_y", "--duration", "1s"]);
    assert_eq!(finished.code, Some(1), "{finished:?}");
    assert!(finished.stdout.contains("401"), "{finished:?}");
    let nowhere = ["load", "--url", &url, "--key", app.key(), "--json", "nowhere/report.json"];
    let finished = app.quita(&nowhere);
    assert_eq!((finished.code, finished.stdout.as_str()), (Some(1), ""), "told before the run, not after it");
    assert!(finished.stderr.contains("nowhere/report.json can't be written"), "{finished:?}");
    for wrong in [&["load"][..], &["load", "--key", "x", "--mix", "cash=1"]] {
        assert_eq!(app.quita(wrong).code, Some(2));
    }
}

/// Runs against a service with a fault, and checks that the report names it as the only one.
#[track_caller]
fn check_fault(fault: Fault, expected_code: i32, expected: &str) {
    let service = PlantedService::start(fault);
    let directory = tempfile::tempdir().unwrap();
    let url = service.url();
    let arguments = ["load", "--url", &url, "--rate", "10", "--duration", "1s", "--settle", "5s"];
    let finished = Program::new(directory.path(), arguments)
        .env("QUITA_KEY", "qk_test_x_y")
        .env("QUITA_SECRET", PlantedService::SECRET)
        .run();
    assert_eq!(finished.code, Some(expected_code), "{finished:?}");
    let lines: Vec<_> = finished.stdout.lines().map(str::trim).collect();
    let verdict = lines.iter().skip_while(|line| **line != "PASSED" && **line != "FAILED").skip(1);
    let violations: Vec<_> = verdict.copied().collect();
    if expected_code == 0 {
        assert_eq!(violations, [""; 0], "{finished:?}");
        assert!(finished.stdout.contains(expected), "{finished:?}");
    } else {
        assert_eq!(violations, [expected], "{finished:?}");
    }
}

#[test]
fn a_service_without_a_fault_passes() {
    check_fault(Fault::Nothing, 0, "complete");
}

#[test]
fn a_repetition_with_the_same_id_is_allowed_and_told() {
    check_fault(Fault::RepeatsUnderSameId, 0, "repeated with the same id");
}

#[test]
fn a_dropped_event_is_found() {
    check_fault(Fault::DropsEvent, 1, "payments: 1 missing event");
}

#[test]
fn a_repetition_under_a_new_id_is_found() {
    check_fault(Fault::RepeatsUnderNewId, 1, "payments: 1 repeated under a new id");
}

#[test]
fn swapped_events_are_found() {
    check_fault(Fault::SwapsOrder, 1, "payments: 1 out of order");
}

#[test]
fn a_status_that_contradicts_the_events_is_found() {
    check_fault(Fault::WrongStatus, 1, "payments: 1 wrong final status");
}

#[test]
fn a_signature_with_another_secret_is_found() {
    check_fault(Fault::WrongSecret, 1, "payments: 1 bad signature");
}

#[test]
fn a_forgotten_payment_is_found() {
    check_fault(Fault::Forgets, 1, "payments: 1 lost");
}

#[test]
fn an_answer_that_the_contract_does_not_know_is_found() {
    check_fault(Fault::Fails, 1, "requests: 1 without the answer that the contract promises");
}
