//! `quita reconcile`, and what `serve` compares at night: lists of a bank with books of its own, files of banks.

mod files;
mod lists;

use chrono::Days;
use quita_machine::SystemClock;
use quita_ports::Clock;
use serde_json::Value;

use crate::support::{Client, Finished, TestApp, pix};

/// Yesterday and today in Brasília: what has just happened is of one of them, also at midnight.
fn two_days() -> [String; 2] {
    let today = SystemClock.now().sao_paulo_date();
    [today - Days::new(1), today].map(|day| day.to_string())
}

/// A live payment that its bank waits for: its id, and the bank's name of its charge.
fn charge(client: &Client, cents: u64) -> (String, String) {
    let record = client.create(&pix(cents));
    let id = record["transactionId"].as_str().unwrap().to_owned();
    client.wait_for_status(&id, "pending");
    let txid = id.replace('-', "");
    (id, txid)
}

/// The name of the transfer that the bank says came in.
fn end_to_end_id(told: &Value) -> String {
    told["endToEndId"].as_str().unwrap().to_owned()
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
