//! Receivables that Pagar.me lists, compared with the payments.

use chrono::Days;
use quita_banks::pagarme::Entry;
use quita_machine::SystemClock;
use quita_ports::Clock as _;

use super::*;
use crate::support::{Account, Visitor, paid_earlier};

/// Longer than a payment may take to be listed.
const LISTED_WITHIN: Duration = Duration::from_secs(61 * 60);

/// Yesterday and today, in Brasília.
fn two_days() -> [String; 2] {
    let today = SystemClock.now().sao_paulo_date();
    [today - Days::new(1), today].map(|day| day.to_string())
}

impl World {
    fn compare(&self) -> Finished {
        let [since, until] = two_days();
        self.call(&["reconcile", "--acquirer", "pagarme", "--since", &since, "--until", &until, "--json"])
    }

    /// The summary and the lines of a comparison, by kind and instalment.
    #[track_caller]
    fn compared(&self, code: i32) -> (Value, Vec<Value>) {
        let finished = self.compare();
        assert_eq!(finished.code, Some(code), "{finished:?}");
        let report: Value = serde_json::from_str(&finished.stdout).unwrap();
        let mut lines = report["lines"].as_array().unwrap().clone();
        lines.sort_by_key(|line| (line["kind"].to_string(), line["instalment"].as_u64()));
        (report["summary"].clone(), lines)
    }

    fn paid_card(&self) -> (String, Entry) {
        let id = id_of(&self.client.create(&card(CARD, 10_000).with("installments", json!(3))));
        self.client.wait_for_status_within(PATIENCE, &id, "paid");
        let entry = self.only(&id);
        (id, entry)
    }
}

fn summary(matched: u64, different: u64, missing_there: u64, unknown_here: u64) -> Value {
    json!({
        "matched": matched, "different": different, "missing_there": missing_there, "unknown_here": unknown_here,
    })
}

#[test]
fn every_instalment_is_a_line_and_refunds_and_movements_of_the_account_are_too() {
    let world = World::open();
    let (id, entry) = world.paid_card();
    world.refund(&id, 1_000);
    world.tell(&json!({ "do": "adjust", "amountCents": -700 }));
    let (told, lines) = world.compared(0);
    assert_eq!(told, summary(5, 0, 0, 0), "{lines:#?}");
    let day = lines[1]["on"].as_str().unwrap().to_owned();
    assert!(two_days().contains(&day), "{day}");
    let account = &lines[0];
    assert_eq!((&account["kind"], &account["transactionId"]), (&json!("other"), &Value::Null));
    assert_eq!((&account["gross"], &account["instalment"]), (&json!("-7.00"), &Value::Null));
    let in_a_month = SystemClock.now().plus_ms(30 * 24 * 3_600_000).sao_paulo_date().to_string();
    let expected = json!({
        "verdict": "matched", "transactionId": id, "kind": "receivable", "reference": entry.charge_id,
        "gross": "33.34", "fee": "1.33", "net": "32.01", "on": day, "instalment": 1, "paidOutOn": null,
        "expectedOn": in_a_month, "difference": null,
    });
    assert_eq!(lines[1], expected);
    let gross: Vec<_> = lines[1..].iter().map(|line| line["gross"].as_str().unwrap()).collect();
    assert_eq!(gross, ["33.34", "33.33", "33.33", "-10.00"]);
    assert_eq!((&lines[4]["kind"], &lines[4]["net"]), (&json!("refund"), &json!("-10.00")));
    let page = Visitor::operator(&world.app).page(&format!("/reconciliation/lines?source=pagarme&day={day}"));
    for shown in ["-R$\u{a0}10.00", "instalment 2", "expected on"] {
        assert!(page.contains(shown), "{shown}: {page}");
    }
    world.tell(&json!({ "do": "anticipate", "charge": entry.charge_id, "feeCents": 50 }));
    let (_, lines) = world.compared(0);
    assert_eq!((&lines[1]["paidOutOn"], &lines[1]["expectedOn"]), (&json!(day), &Value::Null));
    assert_eq!(lines[1]["fee"], "1.83");
}

#[test]
fn money_that_no_callback_reported_is_found_by_its_receivables() {
    let world = World::open();
    // Callbacks get lost from now on.
    world.tell(&json!({ "do": "set", "config": { "notices": { "lostPermille": 1_000 } } }));
    let id = id_of(&world.client.create(&pix(10_000)));
    world.tell(&json!({ "do": "pay", "charge": id.replace('-', "") }));
    let (told, lines) = world.compared(0);
    assert_eq!(told, summary(1, 0, 0, 0), "{lines:#?}");
    assert_eq!(world.client.payment(&id)["status"], "paid");
    world.tell(&json!({ "do": "cancel", "charge": id.replace('-', ""), "amountCents": 400 }));
    let (told, _) = world.compared(0);
    assert_eq!(told, summary(2, 0, 0, 0));
    let refunded = world.client.payment(&id);
    assert_eq!((&refunded["status"], &refunded["refundedAmount"]), (&json!("paid"), &json!("4.00")));
}

#[test]
fn a_payment_that_is_not_listed_is_missing_until_it_is() {
    let mut world = World::open();
    let (id, entry) = world.paid_card();
    world.tell(&json!({ "do": "unlist", "charge": entry.charge_id }));
    assert_eq!(world.compared(0).0, summary(0, 0, 0, 0), "it may not be listed yet");
    world.app.kill();
    paid_earlier(world.app.store_url(), &id, LISTED_WITHIN);
    world.app.restart();
    let (told, lines) = world.compared(1);
    assert_eq!(told, summary(0, 0, 1, 0), "{lines:#?}");
    assert_eq!((&lines[0]["transactionId"], &lines[0]["gross"]), (&json!(id), &json!("100.00")));
    world.tell(&json!({ "do": "relist", "charge": entry.charge_id }));
    let (told, lines) = world.compared(0);
    assert_eq!(told, summary(4, 0, 0, 0), "what was missing, and three instalments: {lines:#?}");
    assert_eq!(world.compared(0).0, summary(3, 0, 0, 0));
}

#[test]
fn a_list_without_an_end_and_one_that_is_too_old_are_not_compared() {
    let world = World::open();
    world.paid_card();
    world.tell(&json!({ "do": "set", "config": { "pageSize": 2, "payablesEnd": "circle" } }));
    let circle = world.compare();
    assert_eq!(circle.code, Some(1), "{circle:?}");
    assert!(circle.stderr.contains("nothing that is not on earlier pages"), "{circle:?}");
    world.tell(&json!({ "do": "set", "config": { "payablesEnd": "repeated" } }));
    assert_eq!(world.compared(0).0, summary(3, 0, 0, 0));
    let today = SystemClock.now().sao_paulo_date();
    let since = (today - chrono::Months::new(24) - Days::new(1)).to_string();
    let old = world.call(&["reconcile", "--acquirer", "pagarme", "--since", &since]);
    assert_eq!(old.code, Some(2), "{old:?}");
    assert!(old.stderr.contains("24 months back"), "{old:?}");
}

/// The record once it has this cost.
#[track_caller]
fn costing(world: &World, id: &str, cost: &str) -> Value {
    eventually(PATIENCE, "the cost is known", || {
        let record = world.client.payment(id);
        (record["cost"] == cost).then_some(record)
    })
}

#[test]
fn what_a_payment_cost_is_learnt_from_its_payables_without_an_event() {
    let world =
        World::with("[[cost]]\nacquirer = 'pagarme'\nwhen = { method = 'credit_card' }\nrate = '3.5%'\n");
    let (id, entry) = world.paid_card();
    let before = world.client.payment(&id);
    assert_eq!(before["cost"], Value::Null);
    world.compared(0);
    let known = costing(&world, &id, "3.99");
    assert_eq!(entry.fees_cents, 399);
    let version = |record: &Value| record["version"].as_u64().unwrap();
    assert!(version(&known) > version(&before), "{known}");
    world.tell(&json!({ "do": "anticipate", "charge": entry.charge_id, "feeCents": 50 }));
    world.compared(0);
    let anticipated = costing(&world, &id, "5.49");
    assert_eq!(version(&anticipated), version(&known) + 1);
    assert_eq!(world.client.history(&id), ["approved", "paid"]);
    world.compared(0);
    assert_eq!(world.client.payment(&id)["version"], anticipated["version"], "nothing changed");
    let beside = "R$\u{a0}5.49 (calculated: R$\u{a0}3.50)";
    let operator = Visitor::operator(&world.app).page(&format!("/transactions/{id}"));
    assert!(operator.contains(beside), "{operator}");
    let owner = Account::create(&world.app, "shop", "owner@example.com", "owner");
    let merchant = Visitor::signed_in(&world.app, &owner).page(&format!("/console/live/payments/{id}"));
    assert!(merchant.contains(beside), "{merchant}");
}

#[test]
fn a_card_that_is_held_after_its_decline_is_voided_and_an_operator_hears_of_it() {
    let world = World::open();
    let plan = json!({ "do": "plan", "plan": { "outcome": { "decline": { "code": "51" } } } });
    assert_eq!(tell(&world.pagarme, &plan), json!({ "ok": true }));
    let record = world.client.create(&card(CARD, 10_000).with("capture", json!(false)));
    let id = id_of(&record);
    // Cielo may have taken it further; here no route says so.
    assert_eq!(record["status"], "declined", "{record}");
    world.tell(&json!({ "do": "recover", "charge": id.replace('-', "") }));
    eventually(SLOW, "the limit is released", || (world.only(&id).status == Status::Canceled).then_some(()));
    let kind = eventually(PATIENCE, "an operator hears of it", || {
        let all = world.app.ops().get("/ops/exceptions").expect(200);
        let mut entries = all["data"].as_array().unwrap().iter();
        entries.find(|entry| entry["transactionId"] == json!(id)).map(|entry| entry["kind"].clone())
    });
    assert_eq!(kind, "paid_after_decline");
    assert_eq!(world.client.payment(&id)["status"], "declined");
}
