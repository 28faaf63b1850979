//! Lists of acquirers: compared by hand, and at night by the service.

use std::time::Duration;

use serde_json::{Value, json};

use super::{charge, end_to_end_id, exceptions, line, told, two_days};
use crate::support::{Acquirers, Finished, PATIENCE, TestApp, Visitor, eventually, paid_earlier, pause};

const KEY: &str = "123e4567-e12b-12d1-a456-426655440000";

/// Longer than the first look of a service that has just started.
const NIGHT: Duration = Duration::from_secs(40);

/// Longer than a Pix that was paid may take to be listed.
const LISTED_WITHIN: Duration = Duration::from_secs(11 * 60);

#[test]
fn a_list_has_what_nobody_told_settled_and_what_the_bank_denies_is_for_a_person() {
    let acquirers = Acquirers::start();
    // The bank's callbacks never arrive.
    let app = acquirers.builder().start();
    let client = app.client_with(&app.create_key(&["--merchant", "shop", "--mode", "live"]));
    // Where much else runs, what the first call needs may take longer than a charge may.
    acquirers.wait_until_registered();
    let (paid, of_paid) = charge(&client, 10_000);
    let (misfiled, of_misfiled) = charge(&client, 2_500);
    let pay = end_to_end_id(&acquirers.tell_bank(&json!({"do": "pay", "txid": of_paid})));
    acquirers.tell_bank(&json!({"do": "desk_refund", "txid": of_paid, "amount": "40.00"}));
    let wrong = end_to_end_id(
        &acquirers.tell_bank(&json!({"do": "misfile", "txid": of_misfiled, "amount": "25.00"})),
    );
    let nobodys =
        end_to_end_id(&acquirers.tell_bank(&json!({"do": "pay_key", "key": KEY, "amount": "7.00"})));
    // Until the bank has given the money back.
    pause(Duration::from_millis(700));
    let [_, today] = two_days();
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
        "net": null, "on": today, "instalment": null, "paidOutOn": null, "expectedOn": null,
        "difference": null,
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

/// Compares these days, and returns what the comparison says.
fn compare(acquirers: &Acquirers, app: &TestApp, [since, until]: &[String; 2], more: &[&str]) -> Finished {
    let arguments = ["reconcile", "--acquirer", "bank", "--since", since, "--until", until];
    acquirers.call(app, &[&arguments[..], more].concat())
}

#[test]
fn a_pix_that_its_bank_does_not_list_is_missed_until_the_bank_lists_it() {
    let acquirers = Acquirers::start();
    let days = two_days();
    let mut app = acquirers.builder().start();
    let key = app.create_key(&["--merchant", "shop", "--mode", "live"]);
    acquirers.send_notices_to(&app);
    acquirers.wait_until_registered();
    let (id, txid) = charge(&app.client_with(&key), 10_000);
    let transfer = end_to_end_id(&acquirers.tell_bank(&json!({"do": "pay", "txid": txid})));
    acquirers.tell_bank(&json!({"do": "unlist", "endToEndId": transfer}));
    app.client_with(&key).wait_for_status(&id, "paid");
    let soon = compare(&acquirers, &app, &days, &[]);
    assert_eq!(soon.code, Some(0), "it may not be listed yet: {soon:?}");
    assert!(soon.stdout.ends_with("\n0 lines\n"), "{soon:?}");
    app.kill();
    paid_earlier(app.store_url(), &id, LISTED_WITHIN);
    app.restart();
    let known = it_is_missed(&acquirers, &app, &days, &id, &transfer);
    acquirers.tell_bank(&json!({"do": "relist", "endToEndId": transfer}));
    for _ in 0..2 {
        let listed = compare(&acquirers, &app, &days, &["--json"]);
        assert_eq!(listed.code, Some(0), "{listed:?}");
        let report = told(&listed);
        let summary = json!({"matched": 1, "different": 0, "missing_there": 0, "unknown_here": 0});
        assert_eq!(report["summary"], summary, "{report:#}");
        assert_eq!(line(&report, &transfer)["transactionId"], json!(id));
        assert_eq!(shown(&app, &transfer), ["matched"], "the line is there once");
        assert_eq!(exceptions(&app), known, "a person ends it");
    }
    let client = app.client_with(&key);
    assert_eq!(
        (client.payment(&id)["status"].clone(), client.history(&id)),
        paid_once(),
        "a list changes nothing"
    );
}

fn paid_once() -> (Value, Vec<String>) {
    (json!("paid"), vec!["pending".into(), "paid".into()])
}

/// It is told, and told again, and an operator hears of it once: gives what he hears.
fn it_is_missed(
    acquirers: &Acquirers,
    app: &TestApp,
    days: &[String; 2],
    id: &str,
    transfer: &str,
) -> Vec<Value> {
    let asked = || acquirers.tell_bank(&json!({"do": "calls"}))["GET /cob/{txid}"].as_u64().unwrap();
    let before = asked();
    let first = compare(acquirers, app, days, &["--json"]);
    assert_eq!((first.code, first.beside_the_store().as_str()), (Some(1), "1 line differs.\n"), "{first:?}");
    assert!(asked() > before, "the bank is asked first");
    let report = told(&first);
    let summary = json!({"matched": 0, "different": 0, "missing_there": 1, "unknown_here": 0});
    assert_eq!(report["summary"], summary, "{report:#}");
    let day = line(&report, transfer)["on"].as_str().unwrap().to_owned();
    assert!(days.contains(&day), "{day}");
    let expected = json!([{
        "verdict": "missing_there", "transactionId": id, "kind": "pix", "reference": transfer, "gross": "100.00",
        "fee": null, "net": null, "on": day, "instalment": null, "paidOutOn": null, "expectedOn": null,
        "difference": null,
    }]);
    assert_eq!(report["lines"], expected);
    let known = exceptions(app);
    assert_eq!(known.len(), 1, "{known:#?}");
    assert_eq!(
        (&known[0]["kind"], &known[0]["transactionId"], &known[0]["acquirer"]),
        (&json!("missing_there"), &json!(id), &json!("bank"))
    );
    let detail = format!("pix {transfer} of 100.00 on {day} is known here, and bank does not list it");
    assert_eq!(known[0]["detail"], json!(detail));
    assert_eq!(shown(app, transfer), ["missing_there"]);
    the_console_leads_to_it(app, &day, id, transfer);
    let again = compare(acquirers, app, days, &["--json"]);
    assert_eq!((again.code, again.stdout), (first.code, first.stdout), "comparing again changes nothing");
    assert_eq!((exceptions(app), shown(app, transfer)), (known.clone(), vec!["missing_there".to_owned()]));
    known
}

/// The verdicts that the console's file has for a reference.
fn shown(app: &TestApp, reference: &str) -> Vec<String> {
    let file = Visitor::operator(app).get("/reconciliation.csv").text();
    let lines = file.lines().filter(|line| line.contains(reference));
    lines.map(|line| line.split(',').nth(2).unwrap().to_owned()).collect()
}

/// From the days to the lines of one verdict, and to the payment.
fn the_console_leads_to_it(app: &TestApp, day: &str, id: &str, transfer: &str) {
    let operator = Visitor::operator(app);
    let lines = format!("/reconciliation/lines?source=bank&#38;day={day}&#38;verdict=missing_there");
    let days = operator.page("/reconciliation");
    assert!(days.contains(&format!("<a href=\"{lines}\">1</a>")), "{days}");
    let lines = operator.page(&lines.replace("&#38;", "&"));
    for told in [transfer, &format!("/transactions/{id}"), "Missing there", "not listed", "R$\u{a0}100.00"] {
        assert!(lines.contains(told), "{told} is not in {lines}");
    }
}

#[test]
fn of_a_list_that_cannot_be_had_there_is_no_verdict() {
    let acquirers = Acquirers::start();
    let app = acquirers.builder().start();
    let [_, today] = two_days();
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
        (&["--acquirer", "bank", "--since", "2026-02-30"], "must be a date, such as"),
        (&["--acquirer", "bank", "--since", "2026-02-02", "--until", "2026-02-01"], "no days"),
        (&["--acquirer", "bank", "--until", "2999-01-01"], "no days"),
        (&["--acquirer", "bank", "--cnab", "x.ret"], "cannot be used with"),
    ] {
        let refused = acquirers.call(&app, &[&["reconcile"][..], arguments].concat());
        assert_eq!((refused.code, refused.stdout.as_str()), (Some(2), ""), "{arguments:?}: {refused:?}");
        assert!(refused.stderr.contains(why), "{arguments:?}: {}", refused.stderr);
    }
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
    let counted = "quita_exceptions_total{kind=\"unknown_here\"} 1";
    eventually(PATIENCE, "it is counted", || {
        app.ops().get("/metrics").text().contains(counted).then_some(())
    });
}
