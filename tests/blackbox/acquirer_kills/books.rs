//! The books of all providers against what the service says.

use std::collections::{BTreeMap, BTreeSet};

use quita_banks::api_pix::Account;
use quita_banks::{cielo, pagarme, sicoob};
use serde_json::{Value, json};

use super::clients::{Answered, Shop};
use crate::support::Received;

/// All books: by the payment's id without hyphens, and those of boletos by their numbers.
struct Books {
    sicoob: BTreeMap<u64, sicoob::Account>,
    bank: BTreeMap<String, Account>,
    cards: BTreeMap<String, Vec<Sale>>,
}

/// A sale of a card, in cents, at Cielo or at Pagar.me.
#[derive(Debug)]
struct Sale {
    authorised: u64,
    captured: u64,
    given_back: u64,
    refunding: u64,
    is_held: bool,
}

impl From<cielo::Entry> for Sale {
    fn from(entry: cielo::Entry) -> Self {
        Self {
            authorised: entry.authorised_cents,
            captured: entry.captured_cents,
            given_back: entry.voided_cents,
            refunding: entry.refunding_cents,
            is_held: entry.status == cielo::Status::Authorized,
        }
    }
}

impl From<pagarme::Entry> for Sale {
    fn from(entry: pagarme::Entry) -> Self {
        Self {
            authorised: entry.authorised_cents,
            captured: entry.paid_cents,
            given_back: entry.canceled_cents,
            refunding: entry.refunding_cents,
            is_held: entry.holds_limit(),
        }
    }
}

impl Shop<'_> {
    /// Returns what does not fit, or is not settled.
    pub(super) fn violations(&self) -> Vec<String> {
        let books = self.books();
        let answered = self.answered.lock().unwrap().clone();
        let listed = self.listed();
        let told = by_payment(&self.receiver.received());
        let lost = answered.keys().filter(|id| !listed.contains(*id));
        let mut violations: Vec<String> = lost.map(|id| format!("{id}: answered, and not listed")).collect();
        let known: BTreeSet<String> = listed.iter().map(|id| id.replace('-', "")).collect();
        let strangers = books.bank.keys().chain(books.cards.keys()).filter(|name| !known.contains(*name));
        violations.extend(strangers.map(|name| format!("{name}: in the books, and unknown here")));
        let mut slips: BTreeMap<String, Vec<(u64, sicoob::Account)>> = BTreeMap::new();
        for (number, title) in &books.sicoob {
            slips.entry(title.your_number.clone()).or_default().push((*number, title.clone()));
        }
        for id in &listed {
            let record = self.payment(id);
            let answered = answered.get(id).cloned().unwrap_or_default();
            let mut found = of_answers(&record, &answered);
            found.extend(match record["paymentMethod"].as_str() {
                Some("PIX") => of_pix(&record, books.bank.get(&id.replace('-', ""))),
                Some("BOLETO") => {
                    let name = record["acquirerReference"]["yourNumber"].as_str().unwrap_or_default();
                    of_boleto(&record, &slips.remove(name).unwrap_or_default())
                }
                _ => of_card(&record, books.cards.get(&id.replace('-', "")).map_or(&[][..], Vec::as_slice)),
            });
            found.extend(self.of_events(id, told.get(id).map_or(&[][..], Vec::as_slice)));
            let about = |what: String| {
                let facts = ["status", "statusReason", "capturedAmount", "refundedAmount", "refunds"];
                let facts: Value = facts.iter().map(|name| (*name, record[name].clone())).collect();
                format!("{id}: {what}; {facts}")
            };
            violations.extend(found.into_iter().map(about));
        }
        violations
            .extend(slips.into_iter().map(|(name, titles)| format!("{name}: nobody's titles {titles:?}")));
        violations
    }

    /// Has the bank tell of every charge once more: a callback may have met a dead process.
    pub(super) fn hint(&self) {
        for txid in self.books().bank.keys() {
            drop(self.acquirers.tell_bank(&json!({"do": "forge", "txid": txid})));
        }
        for number in self.books().sicoob.keys() {
            drop(self.acquirers.tell_sicoob(&json!({"do": "forge", "number": number})));
        }
    }

    /// Returns a line that says what was done.
    pub(super) fn summary(&self) -> String {
        let mut counts: BTreeMap<String, usize> = BTreeMap::new();
        let mut refunds = 0;
        let listed = self.listed();
        for id in &listed {
            let record = self.payment(id);
            let text = |name: &str| record[name].as_str().unwrap_or_default().to_owned();
            *counts.entry(format!("{} {}", text("paymentMethod"), text("status"))).or_default() += 1;
            refunds += record["refunds"].as_array().unwrap().len();
        }
        let of_bank = self.acquirers.bank.with(|bank| (bank.calls, bank.failed));
        let of_cielo = self.acquirers.cielo.with(|cielo| (cielo.calls, cielo.failed));
        let of_pagarme = self.acquirers.pagarme.as_ref();
        let of_pagarme = of_pagarme
            .map(|pagarme| pagarme.with(|pagarme| (pagarme.calls, pagarme.failed)))
            .unwrap_or_default();
        let of_sicoob = self.acquirers.sicoob.as_ref();
        let of_sicoob = of_sicoob.map(|bank| bank.with(|bank| (bank.calls, bank.failed))).unwrap_or_default();
        format!(
            "{} payments {counts:?}, {refunds} refunds, {} webhooks; {} calls to the bank, {} of them struck, {} to \
             Cielo, {} struck, {} to Pagar.me, {} struck, {} to Sicoob, {} struck",
            listed.len(),
            self.receiver.received().len(),
            of_bank.0,
            of_bank.1,
            of_cielo.0,
            of_cielo.1,
            of_pagarme.0,
            of_pagarme.1,
            of_sicoob.0,
            of_sicoob.1,
        )
    }

    fn books(&self) -> Books {
        let now_ms = self.acquirers.bank.now_ms();
        let mut cards: BTreeMap<String, Vec<Sale>> = BTreeMap::new();
        for (id, sales) in self.acquirers.cielo.with(|cielo| cielo.provider.books()) {
            cards.entry(id).or_default().extend(sales.into_iter().map(Sale::from));
        }
        let of_pagarme = self.acquirers.pagarme.as_ref();
        for (id, charges) in
            of_pagarme.map(|pagarme| pagarme.with(|pagarme| pagarme.provider.books())).unwrap_or_default()
        {
            cards.entry(id).or_default().extend(charges.into_iter().map(Sale::from));
        }
        let sicoob = self.acquirers.sicoob.as_ref();
        Books {
            sicoob: sicoob.map(|bank| bank.with(|bank| bank.provider.books(now_ms))).unwrap_or_default(),
            bank: self.acquirers.bank.with(|bank| bank.provider.books(now_ms)),
            cards,
        }
    }

    /// The id of every payment that there is.
    fn listed(&self) -> BTreeSet<String> {
        let mut all = BTreeSet::new();
        let mut after = String::new();
        loop {
            let page = self.get(&format!("/pay/payments?limit=100{after}"));
            let ids = page["data"].as_array().unwrap().iter();
            all.extend(ids.map(|record| record["transactionId"].as_str().unwrap().to_owned()));
            let Some(cursor) = page["nextCursor"].as_str() else { return all };
            after = format!("&cursor={cursor}");
        }
    }

    /// Every change was told, under an id of its own and in order.
    fn of_events(&self, id: &str, told: &[(String, u64)]) -> Vec<String> {
        let events = self.get(&format!("/pay/payments/{id}/events"));
        let events = events["data"].as_array().unwrap().iter();
        let expected: Vec<u64> = events.map(|event| event["sequence"].as_u64().unwrap()).collect();
        let mut ids = BTreeSet::new();
        let mut sequences = Vec::new();
        for (webhook_id, sequence) in told {
            if ids.insert(webhook_id) {
                sequences.push(*sequence);
            }
        }
        let is_good = sequences == expected;
        (!is_good).then(|| format!("events {expected:?} were told as {sequences:?}")).into_iter().collect()
    }
}

/// Returns the contradictions to what was answered, which must stay true.
fn of_answers(record: &Value, answered: &Answered) -> Vec<String> {
    let mut found = Vec::new();
    let refunds: Vec<&str> = record["refunds"]
        .as_array()
        .unwrap()
        .iter()
        .map(|refund| refund["refundId"].as_str().unwrap())
        .collect();
    let (shown, asked) =
        (sorted(&refunds), sorted(&answered.refunds.iter().map(String::as_str).collect::<Vec<_>>()));
    if shown != asked {
        found.push(format!("refunds {shown:?}, and answered were {asked:?}"));
    }
    if answered.captured_cents.is_some_and(|captured| captured != cents(&record["capturedAmount"])) {
        found.push(format!("{:?} was captured by the answer", answered.captured_cents));
    }
    let is_final = ["cancelled", "paid", "refund"].contains(&status(record));
    if answered.is_cancelled && !is_final {
        found.push("cancelled by the answer".to_owned());
    }
    if status(record) == "initial" || of_status(record, "processing").count() > 0 {
        found.push("still open".to_owned());
    }
    found
}

fn of_pix(record: &Value, account: Option<&Account>) -> Vec<String> {
    let mut found = Vec::new();
    let mut check = |is_good: bool, what: &str| {
        if !is_good {
            found.push(format!("{what}: {account:?}"));
        }
    };
    let received: Vec<i64> =
        account.map_or(Vec::new(), |account| account.received.iter().map(|pix| pix.1).collect());
    let refunded = account.map_or(&[][..], |account| account.refunded.as_slice());
    let is_paid = ["paid", "refund"].contains(&status(record));
    let expected = if is_paid { vec![i64::try_from(cents(&record["amount"])).unwrap()] } else { Vec::new() };
    check(received == expected, "received in the books");
    check(refunded.len() == of_status(record, "succeeded").count(), "number of refunds in the books");
    let sum = account.map_or(0, Account::refunded_cents);
    check(sum == i64::try_from(cents(&record["refundedAmount"])).unwrap(), "sum of refunds in the books");
    check(account.is_none_or(|account| account.processing_cents == 0), "refunds in the books under way");
    let is_payable = account.is_some_and(|account| account.status == "ATIVA");
    check(is_payable == (status(record) == "pending"), "a charge that can be paid");
    found
}

/// One title at most, which is what its payment is.
fn of_boleto(record: &Value, titles: &[(u64, sicoob::Account)]) -> Vec<String> {
    let mut found = Vec::new();
    if titles.len() > 1 {
        found.push(format!("{} titles: {titles:?}", titles.len()));
    }
    let mut check = |is_good: bool, what: &str| {
        if !is_good {
            found.push(format!("{what}: {titles:?}"));
        }
    };
    let title = titles.first().map(|(_, title)| title);
    let paid = title.map_or(&[][..], |title| title.paid_cents.as_slice());
    let is_paid = status(record) == "paid";
    let expected = if is_paid { vec![cents(&record["amount"])] } else { Vec::new() };
    check(paid == expected, "paid in the books");
    let is_open = title.is_some_and(|title| title.status == sicoob::Status::Open);
    check(is_open == (status(record) == "pending"), "a title that can be paid");
    found
}

fn of_card(record: &Value, sales: &[Sale]) -> Vec<String> {
    let mut found = Vec::new();
    let holding: Vec<&Sale> = sales.iter().filter(|sale| sale.authorised > 0 || sale.captured > 0).collect();
    if holding.len() > 1 {
        found.push(format!("{} sales hold or took money: {sales:?}", holding.len()));
    }
    let mut check = |is_good: bool, what: &str| {
        if !is_good {
            found.push(format!("{what}: {sales:?}"));
        }
    };
    let captured: u64 = sales.iter().map(|sale| sale.captured).sum();
    check(captured == cents(&record["capturedAmount"]), "captured in the books");
    let given_back: u64 = sales.iter().filter(|sale| sale.captured > 0).map(|sale| sale.given_back).sum();
    check(given_back == cents(&record["refundedAmount"]), "sum of refunds in the books");
    let refunding: u64 = sales.iter().map(|sale| sale.refunding).sum();
    check(refunding == 0, "refunds in the books under way");
    let is_held = sales.iter().any(|sale| sale.is_held);
    check(is_held == (status(record) == "approved"), "a limit that is held");
    check((captured > 0) == ["paid", "refund"].contains(&status(record)), "money in the books");
    found
}

/// Webhooks as they came, by payment: id and sequence.
fn by_payment(received: &[Received]) -> BTreeMap<String, Vec<(String, u64)>> {
    let mut all: BTreeMap<String, Vec<(String, u64)>> = BTreeMap::new();
    for request in received {
        let body = request.json();
        let told = (request.webhook_id(), body["sequence"].as_u64().unwrap());
        all.entry(body["transactionId"].as_str().unwrap().to_owned()).or_default().push(told);
    }
    all
}

fn status(record: &Value) -> &str {
    record["status"].as_str().unwrap()
}

fn of_status<'a>(record: &'a Value, status: &'a str) -> impl Iterator<Item = &'a Value> {
    record["refunds"].as_array().unwrap().iter().filter(move |refund| refund["status"] == status)
}

/// A decimal string in cents; none is nothing.
fn cents(amount: &Value) -> u64 {
    amount.as_str().map_or(0, |text| text.replace('.', "").parse().unwrap())
}

fn sorted<'a>(ids: &[&'a str]) -> Vec<&'a str> {
    let mut ids = ids.to_vec();
    ids.sort_unstable();
    ids
}
