//! The events of a payment: the stored ones, and those that its merchant received.

use std::collections::{BTreeMap, BTreeSet};

use quita_domain::status::Status;
use serde_json::Value;

use super::Verdict;
use crate::receiver::Received;
use crate::store::{Stored, text};
use crate::world::World;

/// Checks that sequences 1..n follow the edges of the table up to the current status. A refund that ended leaves the
/// status unchanged.
pub(super) fn check_order(verdict: &mut Verdict, id: &str, stored: &Stored) {
    let mut status = Status::Initial;
    for (place, event) in stored.events.iter().enumerate() {
        let next = event["status"].as_str().and_then(Status::parse);
        let follows = if is_about_refund(event) {
            next == Some(status)
        } else {
            next.is_some_and(|next| status.allows(next) && event["event"] == format!("payment.{next}"))
        };
        let fits = event["sequence"] == place + 1 && event["previousStatus"] == status.as_str() && follows;
        if !fits {
            verdict.violation(format!("{id}: event {} does not follow from {status}: {event}", place + 1));
        }
        status = next.unwrap_or(status);
    }
    // All have the same format, so they can be compared as text.
    let times = ["createdAt", "paidAt", "refundedAt"].map(|name| text(&stored.record[name]));
    let told: Vec<_> = times.iter().filter(|time| !time.is_empty()).collect();
    if !told.is_sorted() {
        verdict.violation(format!("{id}: its times run backwards: {}", stored.record));
    }
    if stored.record["status"] != status.as_str() {
        verdict.violation(format!("{id}: its events end with {status}: {}", stored.record));
    }
}

fn is_about_refund(event: &Value) -> bool {
    event["event"] == "payment.refund_succeeded" || event["event"] == "payment.refund_failed"
}

/// Checks that every stored event was received and confirmed.
pub(super) fn check_receiver(world: &World, verdict: &mut Verdict, id: &str, stored: &Stored) {
    let ledger = world.receiver.ledger.borrow();
    let nothing = BTreeMap::new();
    let received = ledger.get(id).unwrap_or(&nothing);
    if received.len() > stored.events.len() {
        verdict.violation(format!("{id}: more events were received than are stored: {received:?}"));
    }
    let mut ids = BTreeSet::new();
    let mut version = 0;
    for event in &stored.events {
        let sequence = event["sequence"].as_u64().unwrap_or(0);
        let Some(got) = received.get(&sequence) else {
            verdict.violation(format!("{id}: event {sequence} never came: {event}"));
            continue;
        };
        let same = event["event"] == got.event.as_str()
            && event["status"] == got.status.as_str()
            && event["previousStatus"] == got.previous.as_str();
        if !got.is_confirmed || !same || got.amount != text(&stored.record["amount"]) {
            verdict.violation(format!("{id}: event {sequence} came as {got:?}, stored is {event}"));
        }
        if got.version <= version || !ids.insert(got.webhook_id.clone()) {
            verdict.violation(format!(
                "{id}: event {sequence} has an old version or another's id: {received:?}"
            ));
        }
        version = got.version;
    }
    check_refunds(verdict, id, stored, received);
}

/// Checks that the end of every refund was reported once: in an event of its own, or by the status `refund` if it
/// returned the last money.
fn check_refunds(verdict: &mut Verdict, id: &str, stored: &Stored, received: &BTreeMap<u64, Received>) {
    let mut told: BTreeMap<&str, Vec<&Received>> = BTreeMap::new();
    for got in received.values().filter(|got| !got.refund.is_null()) {
        told.entry(got.refund["refundId"].as_str().unwrap_or_default()).or_default().push(got);
    }
    let mut by_status = stored.events.iter().filter(|event| event["event"] == "payment.refund").count();
    for refund in stored.record["refunds"].as_array().into_iter().flatten() {
        let events = told.remove(refund["refundId"].as_str().unwrap_or_default()).unwrap_or_default();
        let is_told = match events.as_slice() {
            [] if refund["status"] == "processing" => true,
            [] if refund["status"] == "succeeded" && by_status > 0 => {
                by_status -= 1;
                true
            }
            [got] => {
                let name = format!("payment.refund_{}", text(&refund["status"]));
                let fields = ["amount", "status", "failureReason"];
                got.event == name && fields.iter().all(|field| got.refund[field] == refund[field])
            }
            _ => false,
        };
        if !is_told {
            verdict.violation(format!("{id}: the end of {refund} was not told once: {events:?}"));
        }
    }
    if by_status > 0 || !told.is_empty() {
        verdict.violation(format!("{id}: refunds were told that are not stored: {received:?}"));
    }
}
