//! Payables: the share of each recipient in each instalment, and amounts that are taken back.

use std::collections::BTreeSet;

use chrono::{DateTime, NaiveDate};
use serde_json::{Value, json};

use super::Pagarme;
use super::answer::{self, Answer};
use super::charge::{Charge, Means};
use super::config::PagesEnd;
use super::query::Query;
use super::show::moment;

const DAY_MS: i64 = 24 * 60 * 60 * 1_000;

/// Age up to which payables are listed: 24 months.
const HISTORY_MS: i64 = 730 * DAY_MS;

/// One payable.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Payable {
    pub(crate) id: String,
    pub(crate) kind: &'static str,
    pub(crate) charge_id: Option<String>,
    pub(crate) recipient: String,
    pub(crate) amount_cents: i64,
    pub(crate) fee_cents: i64,
    pub(crate) anticipation_fee_cents: i64,
    pub(crate) instalment: Option<u64>,
    pub(crate) method: Option<&'static str>,
    pub(crate) created_ms: i64,
    pub(crate) payment_ms: i64,
    pub(crate) originator: Option<&'static str>,
}

impl Pagarme {
    /// Books incoming money: a line for each instalment and recipient. The recipient with the fee pays it in
    /// instalments.
    pub(super) fn book_credit(&mut self, id: &str, now_ms: i64) {
        let Some(charge) = self.charges.get(id).cloned() else { return };
        let instalments = charge.card().map_or(1, |card| card.instalments.max(1));
        let fee = self.fee(&charge);
        let extra = charge.paid_cents.saturating_sub(charge.amount_cents);
        for share in &charge.shares {
            let whole =
                if share.pays_fee { share.amount_cents.saturating_add(extra) } else { share.amount_cents };
            let whole = whole.min(charge.paid_cents);
            for (place, part) in parts(whole, instalments).into_iter().enumerate() {
                let number = u64::try_from(place).unwrap_or(0).saturating_add(1);
                let fees = parts(fee, instalments).get(place).copied().unwrap_or(0);
                let paid_after = i64::try_from(number).unwrap_or(1).saturating_mul(30);
                let paid_after = if charge.card().is_some() { paid_after } else { 1 };
                let payable = Payable {
                    id: format!("{}", 5_000_000_000 + self.chance.below(4_000_000_000)),
                    kind: "credit",
                    charge_id: Some(id.to_owned()),
                    recipient: share.recipient.clone(),
                    amount_cents: signed(part),
                    fee_cents: if share.pays_fee { signed(fees) } else { 0 },
                    anticipation_fee_cents: 0,
                    instalment: Some(number),
                    method: Some(charge.means.method()),
                    created_ms: now_ms.saturating_add(self.config.payables_lag_ms),
                    payment_ms: now_ms.saturating_add(paid_after.saturating_mul(DAY_MS)),
                    originator: None,
                };
                self.payables.push(payable);
            }
        }
    }

    /// Books returned money, from each recipient in proportion; the account's own recipient pays the remainder.
    pub(super) fn book_back(&mut self, id: &str, kind: &'static str, amount_cents: u64, now_ms: i64) {
        let Some(charge) = self.charges.get(id).cloned() else { return };
        let sign = if kind == "chargeback_refund" { 1 } else { -1 };
        let whole = charge.paid_cents.max(1);
        let others = charge.shares.iter().filter(|share| share.recipient != self.config.own_recipient);
        let mut parts: Vec<(String, u64)> = others
            .map(|share| {
                let part = u128::from(amount_cents) * u128::from(share.amount_cents) / u128::from(whole);
                (share.recipient.clone(), u64::try_from(part).unwrap_or(0))
            })
            .collect();
        let given: u64 = parts.iter().map(|(_, part)| part).sum();
        parts.push((self.config.own_recipient.clone(), amount_cents.saturating_sub(given)));
        for (recipient, part) in parts.into_iter().filter(|(_, part)| *part > 0) {
            let payable = Payable {
                id: format!("{}", 5_000_000_000 + self.chance.below(4_000_000_000)),
                kind,
                charge_id: Some(id.to_owned()),
                recipient,
                amount_cents: sign * signed(part),
                fee_cents: 0,
                anticipation_fee_cents: 0,
                instalment: Some(1),
                method: Some(charge.means.method()),
                created_ms: now_ms.saturating_add(self.config.payables_lag_ms),
                payment_ms: now_ms,
                originator: None,
            };
            self.payables.push(payable);
        }
    }

    /// Books a line that belongs to no charge.
    pub(super) fn book_adjustment(&mut self, amount_cents: i64, now_ms: i64) {
        let id = format!("{}", 5_000_000_000 + self.chance.below(4_000_000_000));
        self.payables.push(Payable {
            id,
            kind: "credit",
            charge_id: None,
            recipient: self.config.own_recipient.clone(),
            amount_cents,
            fee_cents: 0,
            anticipation_fee_cents: 0,
            instalment: None,
            method: None,
            created_ms: now_ms,
            payment_ms: now_ms,
            originator: Some("financial_adjustment"),
        });
    }

    /// Anticipates the open payables of a charge: they are paid now, for a fee.
    pub(super) fn anticipate(&mut self, id: &str, fee_cents: i64, now_ms: i64) {
        let own = &self.config.own_recipient;
        let of_charge = self.payables.iter_mut().filter(|payable| payable.charge_id.as_deref() == Some(id));
        for payable in of_charge.filter(|payable| payable.recipient == *own && payable.kind == "credit") {
            if payable.payment_ms > now_ms {
                payable.payment_ms = now_ms;
                payable.anticipation_fee_cents = fee_cents;
            }
        }
    }

    /// Returns the fees that the account's own recipient pays for a charge.
    pub(super) fn fees_of(&self, id: &str) -> i64 {
        let of_charge = self.payables.iter().filter(|payable| payable.charge_id.as_deref() == Some(id));
        let own = of_charge.filter(|payable| payable.recipient == self.config.own_recipient);
        own.map(|payable| payable.fee_cents.saturating_add(payable.anticipation_fee_cents)).sum()
    }

    fn fee(&self, charge: &Charge) -> u64 {
        let share = |points: u64| charge.paid_cents.saturating_mul(points) / 10_000;
        match charge.means {
            Means::Card(_) => share(self.config.card_fee_basis_points),
            Means::Pix(_) => share(self.config.pix_fee_basis_points),
            Means::Boleto(_) => self.config.boleto_fee_cents.min(charge.paid_cents),
        }
    }

    /// Answers `GET /payables`.
    pub(super) fn list_payables(&self, query: &Query<'_>, now_ms: i64) -> Answer {
        let moment_of = |name: &str| match query.text(name) {
            None => Ok(None),
            Some(text) => at(&text).map(Some).ok_or(()),
        };
        let bounds = ["created_since", "created_until", "payment_date_since", "payment_date_until"];
        let Ok(bounds) = bounds.into_iter().map(moment_of).collect::<Result<Vec<_>, ()>>() else {
            return answer::unreadable();
        };
        let [created_since, created_until, paid_since, paid_until] = bounds.as_slice() else {
            return answer::unreadable();
        };
        let within = |at: i64, since: &Option<i64>, until: &Option<i64>| {
            since.is_none_or(|since| at >= since) && until.is_none_or(|until| at <= until)
        };
        let is = |name: &str, value: &str| query.text(name).is_none_or(|wanted| wanted == value);
        let kinds: BTreeSet<&str> =
            ["credit", "refund", "refund_reversal", "chargeback", "chargeback_refund"].into();
        if query.text("type").is_some_and(|kind| !kinds.contains(kind.as_str())) {
            return answer::unreadable();
        }
        let mut found: Vec<&Payable> = self
            .payables
            .iter()
            .filter(|one| one.created_ms <= now_ms && now_ms.saturating_sub(one.created_ms) <= HISTORY_MS)
            .filter(|one| one.charge_id.as_ref().is_none_or(|id| !self.unlisted.contains(id)))
            .filter(|one| within(one.created_ms, created_since, created_until))
            .filter(|one| within(one.payment_ms, paid_since, paid_until))
            .filter(|one| is("charge_id", one.charge_id.as_deref().unwrap_or_default()))
            .filter(|one| is("recipient_id", &one.recipient) && is("type", one.kind))
            .filter(|one| is("status", status(one, now_ms)))
            .collect();
        found.sort_by_key(|one| one.created_ms);
        let size = query.number("size").unwrap_or(30).clamp(1, self.config.page_size);
        let asked = query.text("cursor");
        let number = asked.as_deref().and_then(|cursor| cursor.strip_prefix('c')?.parse().ok());
        let from: usize = number.unwrap_or(0);
        let is_circle = self.config.payables_end == PagesEnd::Circle && !found.is_empty();
        let shown = if is_circle { from.rem_euclid(found.len()) } else { from };
        let page: Vec<Value> = found.iter().skip(shown).take(size).map(|one| json_of(one, now_ms)).collect();
        let next = from.saturating_add(size);
        let cursor = match self.config.payables_end {
            _ if next < found.len() => Some(format!("c{next}")),
            PagesEnd::Null => None,
            PagesEnd::Repeated => asked,
            PagesEnd::Circle => Some(format!("c{next}")),
        };
        Answer::ok(json!({ "data": page, "paging": { "forward_cursor": cursor } }))
    }
}

const fn status(payable: &Payable, now_ms: i64) -> &'static str {
    if payable.payment_ms <= now_ms { "paid" } else { "waiting_funds" }
}

fn json_of(payable: &Payable, now_ms: i64) -> Value {
    json!({
        "id": payable.id,
        "status": status(payable, now_ms),
        "amount": payable.amount_cents,
        "fee": payable.fee_cents,
        "anticipation_fee": payable.anticipation_fee_cents,
        "fraud_coverage_fee": 0,
        "installment": payable.instalment,
        "gateway_id": null,
        "charge_id": payable.charge_id,
        "split_id": null,
        "bulk_anticipation_id": null,
        "anticipation_id": null,
        "recipient_id": payable.recipient,
        "originator_model": payable.originator,
        "originator_model_id": payable.originator.map(|_| "fa_1"),
        "payment_date": moment(payable.payment_ms),
        "original_payment_date": moment(payable.payment_ms),
        "type": payable.kind,
        "payment_method": payable.method,
        "accrual_at": moment(payable.created_ms),
        "created_at": moment(payable.created_ms),
        "liquidation_arrangement_id": null,
        "settlement_id": null,
        "payment_profile_id": null,
    })
}

/// Divides an amount into parts; the first one gets the remainder.
fn parts(whole: u64, count: u64) -> Vec<u64> {
    let each = whole.checked_div(count).unwrap_or(whole);
    let rest = whole.saturating_sub(each.saturating_mul(count));
    (0..count).map(|place| if place == 0 { each.saturating_add(rest) } else { each }).collect()
}

fn signed(cents: u64) -> i64 {
    i64::try_from(cents).unwrap_or(i64::MAX)
}

/// Reads a date or a timestamp.
fn at(text: &str) -> Option<i64> {
    let moment = DateTime::parse_from_rfc3339(text).ok().map(|at| at.timestamp_millis());
    let day = || NaiveDate::parse_from_str(text, "%Y-%m-%d").ok()?.and_hms_opt(0, 0, 0);
    moment.or_else(|| day().map(|at| at.and_utc().timestamp_millis()))
}
