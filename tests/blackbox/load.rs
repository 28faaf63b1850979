//! `quita load`: it finds a healthy service healthy, and a planted fault in any other.

use std::fs;
use std::time::Duration;

use serde_json::Value;

use crate::support::{
    Fault, Finished, PATIENCE, PlantedService, Program, TestApp, eventually, is_mongodb, pause,
};

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

fn latency<'a>(report: &'a Value, id: &str) -> &'a Value {
    let mut latencies = report["latenciesUs"].as_array().unwrap().iter();
    latencies.find(|latency| latency["id"] == id).unwrap()
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
    assert_eq!(latency(&report, "delivery")["count"], 10, "the others were held back");
}

/// Checks that a run did not begin, and that its cause is the tester's and is named.
#[track_caller]
fn check_refused(app: &TestApp, options: &[&str], code: i32, causes: &[&str]) {
    let finished = app.quita(&[&["load", "--json", "report.json"], options].concat());
    assert_eq!((finished.code, finished.stdout.as_str()), (Some(code), ""), "{finished:?}");
    for cause in causes {
        assert!(finished.stderr.contains(cause), "{cause}: {finished:?}");
    }
    assert!(!finished.stderr.contains("broke a promise"), "{finished:?}");
    assert!(!app.directory().join("report.json").exists(), "nothing was measured");
}

#[test]
fn a_run_that_cannot_begin_says_why_and_blames_nobody() {
    let app = TestApp::new();
    let url = app.url();
    for pace in ["--rate", "--concurrency"] {
        let nobody = ["--url", "http://127.0.0.1:1", "--key", app.key(), pace, "5"];
        check_refused(&app, &nobody, 1, &["127.0.0.1:1/ can't be reached", "`quita serve` is running there"]);
    }
    check_refused(&app, &["--url", &url, "--key", "qk_test_x_y"], 1, &["answered 401", "--key or QUITA_KEY"]);
    check_refused(&app, &["--url", &url, "--key", "qk_live_x_y"], 2, &["begins with qk_test_"]);
    check_refused(&app, &["--url", &url], 2, &["--key or QUITA_KEY"]);
    let elsewhere = app.ops_url();
    check_refused(
        &app,
        &["--url", &elsewhere, "--key", app.key()],
        1,
        &["which is not an answer of Quita", "--url"],
    );
    let reader = app.create_key(&["--merchant", "shop", "--scopes", "payments:read"]);
    check_refused(&app, &["--url", &url, "--key", &reader], 1, &["refused with 403", "payments:write"]);
}

#[test]
fn a_secret_that_fits_no_signature_is_the_testers_and_accuses_nobody() {
    let app = TestApp::new();
    let url = app.url();
    let options = ["load", "--url", &url, "--rate", "10", "--duration", "1s", "--json", "report.json"];
    let of_another = "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw";
    let finished = app.program(&options).env("QUITA_KEY", app.key()).env("QUITA_SECRET", of_another).run();
    assert_eq!(finished.code, Some(1), "{finished:?}");
    assert!(finished.stdout.contains("no signature matches QUITA_SECRET"), "{finished:?}");
    assert!(!finished.stderr.contains("broke a promise"), "{finished:?}");
    assert_eq!(report(&app)["violations"].as_array().unwrap().len(), 0);
}

#[test]
fn a_report_that_cannot_be_written_costs_no_other() {
    let app = TestApp::new();
    let url = app.url();
    let options = ["load", "--url", &url, "--key", app.key(), "--rate", "5", "--duration", "1s"];
    let outputs = ["--json", "/dev/full", "--html", "report.html"];
    let finished = app.quita(&[&options[..], &outputs].concat());
    assert_eq!(finished.code, Some(1), "{finished:?}");
    assert!(finished.stderr.contains("/dev/full can't be written"), "{finished:?}");
    let (_, outcome) = finished.stdout.split_once("\nFAILED\n  report: /dev/full can't be written").unwrap();
    assert!(!outcome.contains("PASSED") && outcome.lines().count() <= 1, "{finished:?}");
    assert!(app.directory().join("report.html").exists());
}

#[test]
fn wrong_usage_is_told_apart_and_a_file_that_cannot_be_written_is_told_before_the_run() {
    let app = TestApp::new();
    let url = app.url();
    let nowhere = ["load", "--url", &url, "--key", app.key(), "--json", "nowhere/report.json"];
    let finished = app.quita(&nowhere);
    assert_eq!((finished.code, finished.stdout.as_str()), (Some(1), ""), "told before the run, not after it");
    assert!(finished.stderr.contains("nowhere/report.json can't be written"), "{finished:?}");
    for (wrong, allowed) in [
        (&["--json", "same", "--html", "./same"][..], "the same file"),
        (&["--mix", "cash=1"], "\"cash\" is not a method; known: pix, boleto, card"),
        (&["--fail-if", "create.p98>5ms"], "p50, p90, p99, p99.9, max"),
        (&["--stages", "10s:fast"], "10s:50,20s:50-200,30s:200"),
    ] {
        let finished = app.quita(&[&["load", "--key", "qk_test_x"], wrong].concat());
        assert_eq!(finished.code, Some(2), "{finished:?}");
        assert!(finished.stderr.contains(allowed), "{finished:?}");
    }
}

#[test]
fn a_run_that_was_mostly_refused_has_not_passed_and_refused_is_not_failed() {
    let app = TestApp::builder().arg("--rate-limit", "2").start();
    let finished =
        load(&app, &["--rate", "10", "--duration", "2s", "--mix", "boleto=1", "--fail-if", "failed>0"]);
    assert_eq!(finished.code, Some(1), "{finished:?}");
    assert!(finished.stdout.contains("were refused, so the requested load was not"), "{}", finished.stdout);
    assert!(!finished.stderr.contains("broke a promise"), "{}", finished.stderr);
    let report = report(&app);
    assert_eq!(
        report["thresholds"][0]["isCrossed"], false,
        "a refusal is an answer that the contract promises"
    );
    let over_time = |name: &str| -> u64 {
        let slices = report["timeline"].as_array().unwrap().iter();
        slices.map(|slice| slice[name].as_u64().unwrap()).sum()
    };
    assert_eq!(over_time("failures"), 0, "one word for one thing: {report}");
    assert!(over_time("refusals") > 5, "{report}");
}

#[test]
fn a_service_that_takes_no_events_on_this_machine_stops_the_run_with_the_reason() {
    let app = TestApp::builder()
        .arg("--environment", "production")
        .arg("--public-url", "https://pay.example.com")
        .env("QUITA_SECRET_KEY", "a-key-for-tests-that-is-long-enough-to-be-taken")
        .env("QUITA_ACQUIRER", "[{ name = 'sandbox', adapter = 'sandbox' }]")
        .start();
    let finished = load(&app, &["--rate", "5", "--duration", "10s"]);
    assert_eq!(finished.code, Some(1), "{finished:?}");
    for expected in ["postbackUrl", "must be https", "environment = development"] {
        assert!(
            finished.stderr.contains(expected) || finished.stdout.contains(expected),
            "{expected}: {finished:?}"
        );
    }
    assert!(!finished.stderr.contains("broke a promise"), "{}", finished.stderr);
}

#[test]
fn ctrl_c_ends_a_run_with_its_report_and_files_appear_only_then() {
    let app = TestApp::new();
    let url = app.url();
    let path = app.directory().join("report.json");
    fs::write(&path, "an older report").unwrap();
    let arguments = ["load", "--url", &url, "--rate", "20", "--duration", "10m", "--json", "report.json"];
    let mut running = app.program(&arguments).env("QUITA_KEY", app.key()).start("load");
    // A busy machine lists a payment before the tester has its answer: some later ones are waited for.
    eventually(PATIENCE, "payments that were answered", || {
        let page = app.client().get("/pay/payments?status=paid").expect(200);
        (page["data"].as_array()?.len() > 2).then_some(())
    });
    assert_eq!(fs::read_to_string(&path).unwrap(), "an older report");
    running.signal("INT");
    assert_eq!(running.wait(PATIENCE).code(), Some(130), "{}", running.stderr());
    assert!(running.stdout().contains("STOPPED"), "{}", running.stdout());
    assert!(!running.stderr().contains("broke a promise"), "{}", running.stderr());
    let report = report(&app);
    let stopped = &report["stopped"];
    assert_eq!((&stopped["cause"], &report["passed"]), (&"interrupted by Ctrl-C".into(), &false.into()));
    assert_eq!((&stopped["ofMs"], &stopped["isLoadWhole"]), (&600_000.into(), &false.into()));
    assert!(running.stderr().contains("The run was interrupted by Ctrl-C after"), "{}", running.stderr());
    let payments = report["payments"].as_u64().unwrap();
    assert!(payments > 0 && latency(&report, "create")["count"].as_u64().unwrap() > 0, "{report}");
    assert_eq!(report["verdicts"]["not judged"], payments, "nobody asked how they ended");
}

#[test]
fn a_threshold_that_is_crossed_fails_a_run_and_no_promise_is_said_to_be_broken() {
    let app = TestApp::new();
    let options = ["--rate", "10", "--duration", "1s", "--mix", "pix=1"];
    let kept = ["--fail-if", "failed>0,create.p99>60s", "--fail-if", "rate<1"];
    let finished = load(&app, &[&options[..], &kept[..]].concat());
    assert_eq!(finished.code, Some(0), "{finished:?}");
    let crossed = ["--fail-if", "create.p50>0us", "--fail-if", "create.card.p99>1s", "--fail-if", "failed>0"];
    let finished = load(&app, &[&options[..], &crossed[..]].concat());
    assert_eq!(finished.code, Some(1), "{finished:?}");
    assert!(finished.stderr.contains("A threshold was crossed."), "{finished:?}");
    let report = report(&app);
    assert_eq!(report["violations"], Value::Array(Vec::new()));
    let thresholds = report["thresholds"].as_array().unwrap();
    let is_crossed: Vec<_> = thresholds.iter().map(|threshold| &threshold["isCrossed"]).collect();
    assert_eq!(is_crossed, [true, true, false], "no card was paid, and nothing measured proves nothing");
    assert_eq!(thresholds[1]["measured"], Value::Null);
}

#[test]
fn stages_follow_each_other_and_each_has_its_own_latency() {
    let app = TestApp::new();
    let finished = load(&app, &["--stages", "1s:10,1s:10-30", "--mix", "pix=1,boleto=1"]);
    assert_eq!(finished.code, Some(0), "{finished:?}");
    assert!(finished.stdout.contains("open model, stages 1s:10,1s:10-30"), "{finished:?}");
    let report = report(&app);
    assert_eq!(check_healthy(&report), 30);
    let stages = report["stages"].as_array().unwrap();
    let created: Vec<_> = stages.iter().map(|stage| (&stage["stage"], &stage["created"])).collect();
    assert_eq!(created, [(&"1s:10".into(), &10.into()), (&"1s:10-30".into(), &20.into())]);
    let counts = ["create", "create.pix", "create.boleto", "create.card"]
        .map(|id| latency(&report, id)["count"].as_u64().unwrap());
    assert_eq!(counts, [30, 15, 15, 0]);
    let card = finished.stdout.lines().find(|line| line.trim_start().starts_with("create card")).unwrap();
    assert!(card.contains('–') && !card.contains("0 µs"), "nothing measured is no latency of zero: {card}");
}

#[test]
fn a_report_says_what_bounds_the_figure_and_where_it_was_made() {
    let app = TestApp::new();
    let metrics = format!("{}/metrics", app.ops_url());
    let finished =
        load(&app, &["--rate", "10", "--duration", "1s", "--metrics", &metrics, "--note", "before"]);
    assert_eq!(finished.code, Some(0), "{finished:?}");
    let report = report(&app);
    let service = &report["limits"]["service"];
    assert_eq!(service["created"], 10, "{service}");
    assert!(service["commits"].as_u64().unwrap() > 0, "{service}");
    assert!(service["commitP99BelowUs"].as_u64().unwrap() > 0, "{service}");
    let circumstances = &report["circumstances"];
    let store = if is_mongodb() { "mongodb" } else { "embedded" };
    assert_eq!(circumstances["service"]["store"], store);
    assert_eq!(
        (&circumstances["note"], &circumstances["version"]),
        (&"before".into(), &env!("CARGO_PKG_VERSION").into())
    );
    assert!(circumstances["machine"]["cores"].as_u64().unwrap() > 0);
    let limits = &report["limits"];
    let [all, others] = ["machineBusyPercent", "othersPercent"].map(|name| limits[name].as_u64().unwrap());
    assert!(others <= all && all <= 100, "{limits}");
    let page = fs::read_to_string(app.directory().join("report.html")).unwrap();
    for part in ["what bounds the figure", "commits of", "other programs took", "started", "before"] {
        assert!(finished.stdout.contains(part), "{part}: {finished:?}");
        assert!(page.to_lowercase().contains(part), "{part}: {page}");
    }
}

#[test]
fn two_reports_are_compared_and_what_is_no_report_is_refused() {
    let app = TestApp::new();
    for rate in ["10", "20"] {
        let options = ["--rate", rate, "--duration", "1s", "--mix", "pix=1"];
        assert_eq!(load(&app, &options).code, Some(0));
        fs::rename(app.directory().join("report.json"), app.directory().join(format!("{rate}.json")))
            .unwrap();
    }
    let finished = app.quita(&["load", "compare", "10.json", "20.json"]);
    assert_eq!(finished.code, Some(1), "a script sees that they are unlike: {finished:?}");
    assert!(finished.stderr.contains("The runs are not comparable"), "{finished:?}");
    let table = &finished.stdout;
    let row = |name: &str| {
        let line =
            table.lines().find(|line| line.starts_with(name)).unwrap_or_else(|| panic!("{name}: {table}"));
        line.split_whitespace().map(str::to_owned).collect::<Vec<_>>()
    };
    assert_eq!(row("payments"), ["payments", "10", "20", "+100.0%"]);
    assert_eq!(row("create p99").len(), 7, "{table}");
    assert!(table.contains("pace: 10 / 20"), "unlike runs are said to be unlike: {table}");
    fs::copy(app.directory().join("10.json"), app.directory().join("alike.json")).unwrap();
    let alike = app.quita(&["load", "compare", "10.json", "alike.json"]);
    assert_eq!((alike.code, alike.stderr.as_str()), (Some(0), ""), "{alike:?}");
    fs::write(app.directory().join("other.json"), "{}").unwrap();
    for (other, expected) in [
        ("other.json", "other.json is not a JSON report of this version of `quita load`"),
        ("report.html", "report.html is an HTML page written by --html"),
        ("missing.json", "missing.json can't be read"),
        ("./10.json", "Both reports are the same file"),
    ] {
        let finished = app.quita(&["load", "compare", "10.json", other]);
        assert_eq!((finished.code, finished.stdout.as_str()), (Some(1), ""));
        assert!(finished.stderr.contains(expected), "{finished:?}");
        assert!(
            !finished.stderr.contains(&format!("--json {other}")),
            "it would be overwritten: {finished:?}"
        );
    }
}

#[test]
fn too_few_open_files_are_the_testers_and_are_said_before_the_run() {
    let app = TestApp::new();
    let command = format!(
        "ulimit -n 40; exec {} load --url {} --key {} --concurrency 64 --duration 1s",
        env!("CARGO_BIN_EXE_quita"),
        app.url(),
        app.key()
    );
    let finished = std::process::Command::new("sh").args(["-c", &command]).output().unwrap();
    let said = String::from_utf8(finished.stderr).unwrap();
    assert_eq!((finished.status.code(), finished.stdout.len()), (Some(1), 0), "{said}");
    assert!(said.contains("may open 40 files and sockets, and needs 160"), "{said}");
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
fn an_event_that_is_still_to_be_delivered_is_late_and_no_fault() {
    check_fault(Fault::DelaysEvent, 0, "late event");
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

#[test]
fn a_creation_whose_connection_broke_is_repeated_and_no_broken_promise() {
    let told = "requests: the connection of 1 broke, and the same request was answered when it was repeated";
    check_fault(Fault::CutsOnce, 1, told);
}

#[test]
fn creations_whose_repeats_are_cut_too_are_broken_promises() {
    let service = PlantedService::start(Fault::CutsAll);
    let directory = tempfile::tempdir().unwrap();
    let url = service.url();
    let arguments = ["load", "--url", &url, "--rate", "5", "--duration", "1s", "--settle", "1s"];
    let finished = Program::new(directory.path(), arguments).env("QUITA_KEY", "qk_test_x_y").run();
    assert_eq!(finished.code, Some(1), "{finished:?}");
    assert!(finished.stdout.contains("without the answer that the contract promises"), "{finished:?}");
    assert!(!finished.stdout.contains("was answered when it was repeated"), "{finished:?}");
}
