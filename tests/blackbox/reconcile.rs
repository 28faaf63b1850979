//! `quita reconcile`, and what `serve` compares at night: lists of a bank with books of its own, files of banks.

use std::fs;
use std::path::Path;
use std::time::Duration;

use quita_adapters::system::SystemClock;
use quita_ports::Clock;
use serde_json::{Value, json};

use crate::support::{
    Acquirers, Client, Edit, Finished, Program, TestApp, Visitor, boleto, eventually, pause, pix,
};

const KEY: &str = "123e4567-e12b-12d1-a456-426655440000";

/// Longer than the first look of a service that has just started.
const NIGHT: Duration = Duration::from_secs(40);

fn today() -> String {
    SystemClock.now().sao_paulo_date().to_string()
}

/// A live payment that its bank waits for: its id, and the bank's name of its charge.
fn charge(client: &Client, cents: u64) -> (String, String) {
    let record = client.create(&pix(cents));
    let id = record["transactionId"].as_str().unwrap().to_owned();
    let txid = id.replace('-', "");
    (id, txid)
}

fn told(finished: &Finished) -> Value {
    serde_json::from_str(&finished.stdout).unwrap_or_else(|_| panic!("{finished:?}"))
}

fn line<'a>(told: &'a Value, reference: &str) -> &'a Value {
    let lines = told["lines"].as_array().unwrap();
    lines
        .iter()
        .find(|line| line["reference"] == reference)
        .unwrap_or_else(|| panic!("{reference}: {told:#}"))
}

fn exceptions(app: &TestApp) -> Vec<Value> {
    app.ops().get("/ops/exceptions").expect(200)["data"].as_array().unwrap().clone()
}

#[test]
fn a_list_has_what_nobody_told_settled_and_what_the_bank_denies_is_for_a_person() {
    let acquirers = Acquirers::start();
    // The bank's callbacks never arrive.
    let app = acquirers.builder().start();
    let client = app.client_with(&app.create_key(&["--merchant", "shop", "--mode", "live"]));
    let (paid, of_paid) = charge(&client, 10_000);
    let (misfiled, of_misfiled) = charge(&client, 2_500);
    let end_to_end_id = |told: Value| told["endToEndId"].as_str().unwrap().to_owned();
    let pay = end_to_end_id(acquirers.tell_bank(&json!({"do": "pay", "txid": of_paid})));
    acquirers.tell_bank(&json!({"do": "desk_refund", "txid": of_paid, "amount": "40.00"}));
    let wrong =
        end_to_end_id(acquirers.tell_bank(&json!({"do": "misfile", "txid": of_misfiled, "amount": "25.00"})));
    let nobodys = end_to_end_id(acquirers.tell_bank(&json!({"do": "pay_key", "key": KEY, "amount": "7.00"})));
    // Until the bank has given the money back.
    pause(Duration::from_millis(700));
    let today = today();
    let reconcile = |more: &[&str]| {
        let arguments = ["reconcile", "--acquirer", "bank", "--since", &today, "--until", &today];
        acquirers.call(&app, &[&arguments[..], more].concat())
    };
    let first = reconcile(&["--json"]);
    assert_eq!(first.code, Some(1), "{first:?}");
    let report = told(&first);
    assert_eq!(
        (&report["source"], &report["from"], &report["until"]),
        (&json!("bank"), &json!(today), &json!(today))
    );
    let summary = json!({"matched": 2, "different": 1, "missing_there": 0, "unknown_here": 1});
    assert_eq!(report["summary"], summary, "{report:#}");
    let matched = json!({
        "verdict": "matched", "transactionId": paid, "kind": "pix", "reference": pay, "gross": "100.00", "fee": null,
        "net": null, "on": today, "difference": null,
    });
    assert_eq!(line(&report, &pay), &matched);
    let lines = report["lines"].as_array().unwrap();
    let refund = lines.iter().find(|line| line["kind"] == "refund").unwrap();
    assert_eq!((&refund["verdict"], &refund["gross"]), (&json!("matched"), &json!("40.00")));
    assert!(refund["reference"].as_str().unwrap().starts_with('D'));
    let different = line(&report, &wrong);
    assert_eq!(different["difference"], json!({"field": "status", "here": "pending", "there": "paid"}));
    assert_eq!(different["transactionId"], json!(misfiled));
    let unknown = line(&report, &nobodys);
    assert_eq!((&unknown["verdict"], &unknown["kind"]), (&json!("unknown_here"), &json!("other")));
    // Settled the ordinary way, with its events; a list settles nothing.
    let record = client.payment(&paid);
    assert_eq!((&record["status"], &record["refundedAmount"]), (&json!("paid"), &json!("40.00")));
    assert_eq!(client.history(&paid)[..2], ["pending", "paid"]);
    assert_eq!(client.payment(&misfiled)["status"], "pending");
    let known = exceptions(&app);
    let kinds: Vec<_> = known.iter().map(|one| (&one["kind"], &one["transactionId"])).collect();
    assert_eq!(kinds.len(), 2, "{known:#?}");
    assert!(kinds.contains(&(&json!("status_differs"), &json!(misfiled))), "{kinds:?}");
    assert!(kinds.contains(&(&json!("unknown_here"), &Value::Null)), "{kinds:?}");
    let again = reconcile(&["--json"]);
    assert_eq!((again.code, again.stdout), (first.code, first.stdout), "running it again changes nothing");
    assert_eq!(exceptions(&app), known);
    let table = reconcile(&[]);
    assert!(table.stdout.starts_with(&format!("bank, {today} until {today}\n")), "{}", table.stdout);
    assert!(table.stdout.contains("status: pending here, paid there"), "{}", table.stdout);
    assert!(table.stderr.ends_with("2 lines differ.\n"), "{}", table.stderr);
}

#[test]
fn of_a_list_that_cannot_be_had_there_is_no_verdict() {
    let acquirers = Acquirers::start();
    let app = acquirers.builder().start();
    let today = today();
    let arguments = ["reconcile", "--acquirer", "bank", "--until", &today, "--json"];
    let away = json!({"do": "faults", "any": [{"fault": "error-before", "status": 500}], "permille": 1000, "seed": 1});
    assert_eq!(acquirers.tell_bank(&away), json!({"ok": true}));
    let refused = acquirers.call(&app, &arguments);
    assert_eq!((refused.code, refused.stdout.as_str()), (Some(1), ""), "no list, no verdict: {refused:?}");
    assert!(refused.stderr.contains("the list can't be had"), "{}", refused.stderr);
}

#[test]
fn wrong_usage_and_an_acquirer_without_lists_are_told_apart_from_what_differs() {
    let acquirers = Acquirers::start();
    let app = acquirers.builder().start();
    for (arguments, why) in [
        (&["--acquirer", "cielo"][..], "cielo has no lists"),
        (&["--acquirer", "nobody"], "There is no acquirer \"nobody\""),
        (&["--acquirer", "bank", "--since", "2026-02-30"], "a date is written as"),
        (&["--acquirer", "bank", "--since", "2026-02-02", "--until", "2026-02-01"], "no days"),
        (&["--acquirer", "bank", "--until", "2999-01-01"], "no days"),
        (&["--acquirer", "bank", "--cnab", "x.ret"], "cannot be used with"),
    ] {
        let refused = acquirers.call(&app, &[&["reconcile"][..], arguments].concat());
        assert_eq!((refused.code, refused.stdout.as_str()), (Some(2), ""), "{arguments:?}: {refused:?}");
        assert!(refused.stderr.contains(why), "{arguments:?}: {}", refused.stderr);
    }
}

fn root() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR"))
}

/// A return file of Banco do Brasil, as the sandbox's boletos are, in which the boleto with document number 1 was paid.
fn settled_file(folder: &Path) -> String {
    let file = fs::read_to_string(root().join("cnab/tests/files/cnab400-bb.ret")).unwrap();
    let mut lines: Vec<_> = file.lines().map(str::to_owned).collect();
    assert_eq!(lines[1].get(108..110), Some("02"), "registered");
    lines[1].replace_range(108..110, "06");
    let path = folder.join("settled.ret");
    fs::write(&path, lines.join("\r\n") + "\r\n").unwrap();
    path.to_str().unwrap().to_owned()
}

#[test]
fn a_file_finds_its_boletos_by_their_document_numbers_and_imports_each_line_once() {
    let folder = tempfile::tempdir().unwrap();
    let file = settled_file(folder.path());
    let app = TestApp::builder().arg("--sandbox-settle-after", "1h").start();
    let client = app.client();
    let record = client.create(&boleto(10_000).with("externalReference", json!("1")));
    let id = record["transactionId"].as_str().unwrap();
    let reconcile = |files: &[&str]| app.quita(&[&["reconcile", "--json", "--cnab"], files].concat());
    let first = reconcile(&[&file]);
    assert_eq!(first.code, Some(1), "{first:?}");
    let report = told(&first);
    assert_eq!((&report["source"], &report["from"]), (&json!("cnab 001"), &json!("2016-10-20")));
    let difference = json!({"field": "status", "here": "pending", "there": "paid"});
    let expected = json!([{
        "verdict": "different", "transactionId": id, "kind": "settled", "reference": "12345670000000001",
        "gross": "100.00", "fee": "0.00", "net": "100.00", "on": "2016-10-20", "difference": difference,
    }]);
    assert_eq!(report["lines"], expected, "the acquirer was asked, and denies it");
    let known = exceptions(&app);
    assert_eq!((known.len(), &known[0]["kind"]), (1, &json!("status_differs")));
    let twice = told(&reconcile(&[&file, &file]));
    assert_eq!(twice["summary"]["different"], 2, "it is told of each file");
    assert_eq!(exceptions(&app), known, "and there once");
    the_console_shows_it(&app, id);
    client.post_empty(&format!("/sandbox/payments/{id}/pay")).expect(200);
    let after = reconcile(&[&file]);
    assert_eq!(after.code, Some(0), "{after:?}");
    assert_eq!(told(&after)["lines"][0]["verdict"], "matched");
}

/// By day and source, down to the line and its payment; and as a file.
fn the_console_shows_it(app: &TestApp, id: &str) {
    let operator = Visitor::operator(app);
    assert!(!operator.page("/reconciliation").contains("cnab 001"), "that was years ago");
    let days = operator.page("/reconciliation?until=2016-10-31");
    let lines = "/reconciliation/lines?source=cnab+001&#38;day=2016-10-20&#38;verdict=different";
    assert!(days.contains("cnab 001") && days.contains(lines), "{days}");
    let lines = operator.page(&lines.replace("&#38;", "&"));
    assert!(lines.contains(&format!("/transactions/{id}")) && lines.contains("12345670000000001"), "{lines}");
    assert!(lines.contains("settled.ret:2"), "{lines}");
    let file = operator.get("/reconciliation.csv?until=2016-10-31");
    let expected = format!(
        "2016-10-20,cnab 001,different,{id},settled,12345670000000001,100.00,0.00,100.00,2016-10-20,status,pending,\
         paid,settled.ret:2\r\n"
    );
    let text = file.text();
    let (head, told) = text.split_once("\r\n").unwrap();
    assert!(head.starts_with("day,source,verdict,"), "{head}");
    assert_eq!(told, expected);
}

#[test]
fn nothing_is_compared_of_files_of_which_one_is_cut() {
    let folder = tempfile::tempdir().unwrap();
    let whole = root().join("cnab/tests/files/cnab400-itau.ret");
    let bytes = fs::read(&whole).unwrap();
    fs::write(folder.path().join("cut.ret"), &bytes[..bytes.len() / 2]).unwrap();
    let store = format!("sqlite:{}", folder.path().join("quita.db").display());
    let program = Program::new(folder.path(), ["reconcile", "--cnab", whole.to_str().unwrap(), "cut.ret"]);
    let refused = program.env("QUITA_STORE", &store).run();
    assert_eq!((refused.code, refused.stdout.as_str()), (Some(1), ""), "{refused:?}");
    assert!(refused.stderr.starts_with("cut.ret: line "), "{}", refused.stderr);
    assert!(!folder.path().join("quita.db").exists(), "the store is not even opened");
}

#[test]
fn at_night_the_service_compares_yesterdays_list_by_itself_and_once() {
    let acquirers = Acquirers::start();
    acquirers.tell_bank(&json!({"do": "pay_key", "key": KEY, "amount": "7.00", "hoursAgo": 24}));
    let app = acquirers.builder().arg("--reconcile-at", "00:00").start();
    let found = eventually(NIGHT, "the night's comparison", || {
        exceptions(&app).into_iter().find(|exception| exception["kind"] == "unknown_here")
    });
    assert_eq!(found["acquirer"], "bank");
    assert!(found["detail"].as_str().unwrap().contains("of 7.00 on "), "{found}");
    let metrics = app.ops().get("/metrics").text();
    assert!(metrics.contains("quita_exceptions_total{kind=\"unknown_here\"} 1"), "{metrics}");
}
