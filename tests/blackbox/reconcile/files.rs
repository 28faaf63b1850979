//! Return files of banks about boletos.

use std::fs;
use std::path::Path;

use serde_json::{Value, json};

use super::{exceptions, told};
use crate::support::{Acquirers, Client, Edit, Finished, PATIENCE, Program, Proxy, TestApp, Visitor, boleto};

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
    let reconcile =
        |files: &[&str]| app.quita(&[&["reconcile", "--mode", "test", "--json", "--cnab"], files].concat());
    let first = reconcile(&[&file]);
    assert_eq!(first.code, Some(1), "{first:?}");
    let report = told(&first);
    assert_eq!((&report["source"], &report["from"]), (&json!("cnab 001"), &json!("2016-10-20")));
    let difference = json!({"field": "status", "here": "pending", "there": "paid"});
    let expected = json!([{
        "verdict": "different", "transactionId": id, "kind": "settled", "reference": "12345670000000001",
        "gross": "100.00", "fee": "0.00", "net": "100.00", "on": "2016-10-20", "instalment": null,
        "paidOutOn": null, "expectedOn": null, "difference": difference,
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

#[test]
fn a_boleto_that_was_paid_again_on_another_day_needs_a_person_once() {
    let folder = tempfile::tempdir().unwrap();
    let first = settled_file(folder.path());
    let second = folder.path().join("again.ret");
    let text = fs::read_to_string(&first).unwrap();
    // The date of the occurrence, in columns 111 to 116.
    let mut lines: Vec<_> = text.lines().map(str::to_owned).collect();
    lines[1].replace_range(110..116, "211016");
    fs::write(&second, lines.join("\r\n") + "\r\n").unwrap();
    let app = TestApp::builder().arg("--sandbox-settle-after", "1h").start();
    let client = app.client();
    let record = client.create(&boleto(10_000).with("externalReference", json!("1")));
    let id = record["transactionId"].as_str().unwrap();
    client.post_empty(&format!("/sandbox/payments/{id}/pay")).expect(200);
    let reconcile = |file: &str| {
        told(&app.quita(&["reconcile", "--mode", "test", "--json", "--cnab", file]))["lines"][0].clone()
    };
    assert_eq!(reconcile(&first)["verdict"], "matched");
    for _ in 0..2 {
        let again = reconcile(second.to_str().unwrap());
        let here = "settled on 2016-10-20";
        let expected = json!({"field": "reference", "here": here, "there": "settled again on 2016-10-21"});
        assert_eq!((&again["transactionId"], &again["difference"]), (&json!(id), &expected));
        let known = exceptions(&app);
        assert_eq!((known.len(), &known[0]["kind"]), (1, &json!("movement_differs")));
    }
    assert_eq!(reconcile(&first)["verdict"], "matched");
}

#[test]
fn what_a_bank_says_is_not_held_against_test_payments() {
    let folder = tempfile::tempdir().unwrap();
    let file = settled_file(folder.path());
    let app = TestApp::builder().arg("--sandbox-settle-after", "1h").start();
    let client = app.client();
    let record = client.create(&boleto(10_000).with("externalReference", json!("1")));
    let id = record["transactionId"].as_str().unwrap();
    client.post_empty(&format!("/sandbox/payments/{id}/pay")).expect(200);
    let reconcile = |mode: &[&str]| {
        let report = told(&app.quita(&[&["reconcile", "--json", "--cnab", &file], mode].concat()));
        let line = &report["lines"][0];
        (line["verdict"].clone(), line["transactionId"].clone())
    };
    for live in [&[][..], &["--mode", "live"]] {
        assert_eq!(reconcile(live), (json!("unknown_here"), Value::Null));
    }
    assert_eq!(reconcile(&["--mode", "test"]), (json!("matched"), json!(id)));
    assert_eq!(reconcile(&[]), (json!("unknown_here"), Value::Null));
    let both = app.quita(&["reconcile", "--acquirer", "sandbox", "--mode", "test"]);
    assert_eq!(both.code, Some(2), "a list has its acquirer's mode: {both:?}");
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
         paid,settled.ret:2,,,\r\n"
    );
    let text = file.text();
    let (head, told) = text.split_once("\r\n").unwrap();
    assert!(head.starts_with("\u{feff}day,source,verdict,"), "{head}");
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

/// A boleto of the merchant's own agreement with Bradesco, which Cielo registers: the payment, the bank's number of it, and
/// Cielo's name of the sale.
fn registered(client: &Client, cents: u64) -> [String; 3] {
    let record = client.create(&boleto(cents));
    assert_eq!((&record["status"], &record["acquirer"]), (&json!("pending"), &json!("cielo")), "{record:#}");
    let reference = &record["acquirerReference"];
    [&record["transactionId"], &reference["ourNumber"], &reference["paymentId"]]
        .map(|value| value.as_str().unwrap_or_else(|| panic!("{record:#}")).to_owned())
}

/// A sample in which some of its numbers of boletos are others. None of its lines has a document number of ours.
fn numbered(name: &str, folder: &Path, numbers: &[(&str, &str)]) -> String {
    let sample = fs::read_to_string(root().join("cnab/tests/files").join(name)).unwrap();
    let text = numbers.iter().fold(sample, |text, (theirs, ours)| {
        assert!(text.contains(theirs) && theirs.len() == ours.len(), "{theirs} {ours}");
        text.replace(theirs, ours)
    });
    let path = folder.join(name);
    fs::write(&path, text).unwrap();
    path.to_str().unwrap().to_owned()
}

#[test]
fn a_file_finds_boletos_by_the_banks_numbers_and_has_them_settled_the_ordinary_way() {
    let acquirers = Acquirers::start();
    let folder = tempfile::tempdir().unwrap();
    let app = acquirers.builder().start();
    let client = app.client_with(&app.create_key(&["--merchant", "shop", "--mode", "live"]));
    let [paid, number_of_paid, sale] = registered(&client, 500);
    let [open, number_of_open, _] = registered(&client, 200);
    // Cielo's notice never arrives.
    assert_eq!(acquirers.tell_cielo(&json!({"do": "pay", "sale": sale})), json!({"ok": true}));
    let numbers = [("000000000097", &*number_of_paid), ("000000000186", &number_of_open)];
    let file = numbered("cnab400-bradesco.ret", folder.path(), &numbers);
    let reconcile =
        |files: &[&str]| acquirers.call(&app, &[&["reconcile", "--json", "--cnab"], files].concat());
    let first = reconcile(&[&file]);
    assert_eq!((first.code, first.beside_the_store().as_str()), (Some(1), "5 lines differ.\n"), "{first:?}");
    let report = told(&first);
    let summary = json!({"matched": 2, "different": 1, "missing_there": 0, "unknown_here": 4});
    assert_eq!(report["summary"], summary, "{report:#}");
    let lines = report["lines"].as_array().unwrap().iter();
    let ours = lines.filter(|line| line["verdict"] != "unknown_here").cloned().collect::<Vec<_>>();
    let line = |kind: &str, verdict: &str, id: &str, number: &str, gross: &str, difference: Value| {
        json!({
            "verdict": verdict, "transactionId": id, "kind": kind, "reference": number, "gross": gross,
            "fee": "0.00", "net": if kind == "settled" { json!(gross) } else { Value::Null }, "on": "2012-04-11",
            "instalment": null, "paidOutOn": null, "expectedOn": null, "difference": difference,
        })
    };
    let status = json!({"field": "status", "here": "pending", "there": "paid"});
    let expected = [
        line("registered", "matched", &paid, &number_of_paid, "5.00", Value::Null).with("fee", json!("2.52")),
        line("settled", "matched", &paid, &number_of_paid, "5.00", Value::Null),
        line("settled", "different", &open, &number_of_open, "0.02", status),
    ];
    assert_eq!(ours, expected);
    let told_of = |id: &str| (client.payment(id)["status"].clone(), client.history(id));
    assert_eq!(
        told_of(&paid),
        (json!("paid"), vec!["pending".into(), "paid".into()]),
        "Cielo was asked, and knows"
    );
    assert_eq!(told_of(&open), (json!("pending"), vec!["pending".into()]), "Cielo denies it");
    again_nothing_changes(&app, &file, &first, &reconcile);
}

#[test]
fn an_acquirer_that_refuses_the_connection_is_not_said_to_be_late() {
    let acquirers = Acquirers::start();
    let folder = tempfile::tempdir().unwrap();
    let wire = Proxy::to(acquirers.cielo.url().trim_start_matches("https://"));
    let to_cielo = format!("https://{}", wire.address());
    let mut app = acquirers.builder_by_way_of(&acquirers.bank.url(), &to_cielo).start();
    let client = app.client_with(&app.create_key(&["--merchant", "shop", "--mode", "live"]));
    let [_, number, _] = registered(&client, 500);
    let file = numbered("cnab400-bradesco.ret", folder.path(), &[("000000000097", &number)]);
    wire.cut();
    let told = acquirers.call(&app, &["reconcile", "--cnab", &file]);
    let note = "The acquirers have not answered about 1 line. It was judged by the stored data; run it again later.\n";
    assert!(told.code == Some(1) && told.stderr.contains(note), "{told:?}");
    app.terminate(PATIENCE);
    let told = acquirers.call(&app, &["reconcile", "--cnab", &file]);
    let note =
        "No service runs on this store, so the acquirers can't be queried about 1 line. It was judged by";
    assert!(told.code == Some(1) && told.stderr.contains(note), "{told:?}");
}

/// Neither by the same file, nor by a copy of it beside it.
fn again_nothing_changes(
    app: &TestApp,
    file: &str,
    first: &Finished,
    reconcile: &dyn Fn(&[&str]) -> Finished,
) {
    let operator = Visitor::operator(app);
    let shown = || {
        let page = operator.page("/reconciliation?until=2012-04-20");
        (page, operator.get("/reconciliation.csv?until=2012-04-20").text(), exceptions(app))
    };
    let known = shown();
    assert_eq!((known.1.lines().count(), known.2.len()), (8, 5), "a head and 7 lines: {}", known.1);
    let copy = format!("{file}.copy");
    fs::copy(file, &copy).unwrap();
    for (files, times) in [(&[file][..], 1), (&[file, &copy], 2)] {
        let again = reconcile(files);
        assert_eq!(again.code, Some(1), "{again:?}");
        let lines = |finished: &Finished| told(finished)["lines"].as_array().unwrap().clone();
        assert_eq!(lines(&again), vec![lines(first); times].concat(), "{files:?}");
        assert_eq!(shown(), known, "{files:?}");
    }
}

#[test]
fn the_same_number_at_another_bank_is_another_boleto() {
    let acquirers = Acquirers::start();
    let folder = tempfile::tempdir().unwrap();
    let app = acquirers.builder().start();
    let client = app.client_with(&app.create_key(&["--merchant", "shop", "--mode", "live"]));
    let [id, number, _] = registered(&client, 10_000);
    let number = format!("{number:0>17}");
    let file = numbered("cnab400-bb.ret", folder.path(), &[("12345670000000001", &number)]);
    let finished = acquirers.call(&app, &["reconcile", "--json", "--cnab", &file]);
    assert_eq!(finished.code, Some(1), "{finished:?}");
    let report = told(&finished);
    let line = &report["lines"][0];
    assert_eq!(
        (&line["reference"], &line["verdict"], &line["transactionId"]),
        (&json!(number), &json!("unknown_here"), &Value::Null),
        "the boleto {id} is Bradesco's: {report:#}"
    );
}
