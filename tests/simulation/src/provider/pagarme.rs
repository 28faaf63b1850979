//! Pagar.me as a counterparty.

use std::collections::BTreeMap;
use std::sync::Arc;

use quita_acquirers::exchange::{ExchangeFactory, Request, Verb};
use quita_acquirers::pagarme::PagarmeFactory;
use quita_acquirers::pagarme::settings::{BoletoSettings, PagarmeSettings};
use quita_banks::pagarme::{Config, Entry, Failure, Outcome, Pagarme, Plan, Status};
use quita_banks::{Counterparty, Notice};
use quita_domain::acquiring::RemovedBy;
use quita_domain::identity::TransactionId;
use quita_domain::method::Method;
use quita_domain::money::Money;
use quita_domain::order::Terms;
use quita_domain::routing::{DueDates, DueTermsTaken};
use quita_domain::secret::Secret;
use quita_domain::time::Timestamp;
use quita_ports::{AcquirerFactory, AcquirerSpec, Clock};
use serde_json::{Value, json};
use uuid::Uuid;

use super::courier::Letter;
use super::till::{Act, Till};
use super::{spec, wire};
use crate::account::{Account, Beside};
use crate::bank::Holding;
use crate::chance::{Chance, Fault};
use crate::world::World;

const BASE: &str = "https://api.pagarme.example/core/v5";
/// Time-out of calls. A call is followed by an inquiry within that time.
const TIME_OUT_MS: u64 = 20_000;
/// Time for which lists may not show an order, in milliseconds.
const LAG_MS: i64 = 8_000;
/// Time for which a refund may be pending, in milliseconds.
const REFUND_TAKES_MS: i64 = 50_000;
/// Basic authentication of `quita` and [`PASSWORD`].
const AUTHORIZATION: &str = "Basic cXVpdGE6Y2FsbGJhY2stcGFzc3dvcmQ=";
const PASSWORD: &str = "callback-password";

/// Behaviour of Pagar.me.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(crate) struct Ways {
    /// Lists do not show some new orders for a few seconds.
    pub(crate) lags: bool,
    /// A refund is pending for most of a minute.
    pub(crate) takes_time_for_refunds: bool,
    /// Some statuses are sometimes in camel case.
    pub(crate) bends_its_manual: bool,
}

impl Ways {
    pub(crate) fn by(chance: &Chance) -> Self {
        Self {
            lags: chance.per_mille(500),
            takes_time_for_refunds: chance.per_mille(300),
            bends_its_manual: chance.per_mille(500),
        }
    }
}

/// Pagar.me in this world.
pub(super) struct PagarmeTill {
    pagarme: Pagarme,
    ways: Ways,
    /// Amount and end of the time to pay, for each payment.
    asked: BTreeMap<TransactionId, Asked>,
}

/// Amount of an order, and the end of its time to pay.
struct Asked {
    amount: Money,
    expires_at: Timestamp,
}

pub(super) fn open(place: usize, ways: Ways) -> (AcquirerSpec, Box<dyn Till>) {
    let config = Config {
        seed: place as u64,
        list_lag_ms: if ways.lags { LAG_MS } else { 0 },
        list_lag_permille: 200,
        refund_takes_ms: if ways.takes_time_for_refunds { REFUND_TAKES_MS } else { 0 },
        camel_case_permille: if ways.bends_its_manual { 300 } else { 0 },
        ..Config::default()
    };
    let pagarme = Pagarme::new(config, quita_banks::faults::none());
    let till = PagarmeTill { pagarme, ways, asked: BTreeMap::new() };
    let mut spec = spec(format!("pagarme{place}"), Method::ALL.to_vec(), TIME_OUT_MS);
    spec.due_dates = DueDates { of_pix: false, terms: DueTermsTaken::WholePercentages };
    (spec, Box::new(till))
}

/// Returns the adapter's factory for one node.
pub(super) fn factory(
    spec: &AcquirerSpec,
    exchanges: Arc<dyn ExchangeFactory>,
    clock: Arc<dyn Clock>,
) -> Arc<dyn AcquirerFactory> {
    let known = Config::default();
    let settings = PagarmeSettings {
        base_url: BASE.to_owned(),
        secret_key: Secret::new(known.secret_key),
        notification_user: known.notices.user,
        notification_password: Secret::new(PASSWORD.to_owned()),
        soft_descriptor: None,
        antifraud: None,
        recipient: None,
        recipients: BTreeMap::new(),
        boleto: BoletoSettings::default(),
        lists: false,
    };
    Arc::new(PagarmeFactory::new(spec.clone(), settings, exchanges, clock))
}

fn code(id: TransactionId) -> String {
    id.uuid().simple().to_string()
}

fn read_code(text: &str) -> Option<TransactionId> {
    Uuid::try_parse(text).ok().map(TransactionId::new)
}

/// Returns the payment and the body of an order.
fn ordered(request: &Request) -> Option<(TransactionId, Value)> {
    if request.verb != Verb::Post || !wire::path(request).ends_with("/orders") {
        return None;
    }
    let body: Value = serde_json::from_slice(&request.body).ok()?;
    Some((read_code(body.get("code")?.as_str()?)?, body))
}

impl PagarmeTill {
    fn entries(&self, id: TransactionId) -> Vec<Entry> {
        self.pagarme.charges_of(&code(id))
    }

    /// Draws what Pagar.me will decide on its own about a new order.
    fn plan(&self, world: &World, is_card: bool) -> Plan {
        let fails = |was_done: bool| Failure { status: 412, was_done, is_once: true };
        let fails_by = |refuses: Fault| {
            if world.strikes(refuses) {
                Some(fails(false))
            } else {
                world.strikes(Fault::BankErrorAfter).then(|| fails(true))
            }
        };
        let is_declined = is_card && world.strikes(Fault::BankDeclines);
        let decline = || Outcome::Decline { code: "51".to_owned(), brand_code: None };
        Plan {
            outcome: is_declined.then(decline),
            capture: fails_by(Fault::CaptureRefused),
            cancel: world.strikes(Fault::BankErrorAfter).then(|| fails(true)),
            refund_fails_later: self.ways.takes_time_for_refunds && world.strikes(Fault::RefundFails),
            wrong_code: None,
        }
    }

    /// Returns the charge that counts: one that has money, or the first.
    fn main<'a>(&self, entries: &'a [Entry]) -> Option<&'a Entry> {
        let has_money = |entry: &&Entry| entry.paid_cents > 0 || entry.holds_limit();
        entries.iter().find(has_money).or_else(|| entries.first())
    }
}

fn beside(entry: &Entry) -> Beside {
    let held = entry.paid_cents > 0 || entry.authorised_cents > 0;
    Beside { name: entry.charge_id.clone(), held, holds: entry.kept_cents() > 0 || entry.holds_limit() }
}

impl Till for PagarmeTill {
    fn counterparty(&mut self) -> &mut dyn Counterparty {
        &mut self.pagarme
    }

    fn is_for_a_token(&self, _: &Request) -> bool {
        false
    }

    fn prepare(&mut self, world: &World, request: &Request) {
        let Some((id, _)) = ordered(request) else { return };
        let Some(payment) = world.payment_sent(id).filter(|_| !self.asked.contains_key(&id)) else { return };
        let expires_at = match &payment.order.terms {
            Terms::Pix { expires_in_s } => world.clock.now().plus_ms(expires_in_s * 1_000),
            Terms::DuePix(due) | Terms::Boleto(due) => Timestamp::end_of_sao_paulo_day(due.moved_due_date()),
            Terms::CreditCard { .. } => Timestamp::from_millis(i64::MAX),
        };
        self.asked.insert(id, Asked { amount: payment.order.amount, expires_at });
        let plan = self.plan(world, payment.method() == Method::CreditCard);
        self.pagarme.plan(&code(id), plan);
    }

    fn touched(&mut self, request: &Request) -> Option<TransactionId> {
        if let Some((id, _)) = ordered(request) {
            return Some(id);
        }
        let name = wire::path(request).split("/charges/").nth(1)?.split('/').next()?;
        let is_of = |id: &TransactionId| self.entries(*id).iter().any(|entry| entry.charge_id == name);
        self.asked.keys().copied().find(is_of)
    }

    fn only_authorises(&self, request: &Request) -> Option<TransactionId> {
        let (id, body) = ordered(request)?;
        let operation = body.pointer("/payments/0/credit_card/operation_type").and_then(Value::as_str);
        (operation == Some("auth_only")).then_some(id)
    }

    fn account(&mut self, id: TransactionId, now_ms: i64) -> Option<Account> {
        let entries = self.entries(id);
        let asked = self.asked.get(&id)?;
        let main = self.main(&entries)?;
        let captured = Money::from_cents(main.paid_cents);
        let is_card = main.method == "credit_card";
        let is_over = asked.expires_at.millis() < now_ms;
        let holding = match main.status {
            _ if main.paid_cents > 0 => Holding::Captured,
            Status::Pending if main.authorised_cents > 0 => Holding::Authorised,
            Status::Pending | Status::Failed if !is_card && is_over => Holding::Expired,
            Status::Pending | Status::Processing => Holding::Awaited,
            Status::Failed => Holding::Declined,
            Status::Canceled | Status::Paid | Status::Overpaid | Status::Underpaid | Status::ChargedBack => {
                Holding::Cancelled
            }
        };
        let authorised = entries.iter().filter(|entry| is_card && entry.authorised_cents > 0).count();
        Some(Account {
            declined_as: None,
            holding,
            authorised: authorised.try_into().unwrap(),
            captured,
            given_back: Money::from_cents(if main.paid_cents > 0 { main.canceled_cents } else { 0 }),
            is_charged_back: main.status == Status::ChargedBack,
            chargebacks: 0,
            is_odd: false,
            is_listed_alone: false,
            paid_unasked_interest: false,
            is_foreign: false,
            // A limit that lapsed and a void at the desk look alike.
            removed_by: (is_card && holding == Holding::Cancelled).then_some(RemovedBy::Receiver),
            was_captured_at_the_desk: false,
            sums_moved: false,
            is_late: false,
            came_after_its_time: false,
            counted: Some(beside(main)),
            others: entries.iter().filter(|entry| entry.charge_id != main.charge_id).map(beside).collect(),
            is_blind: false,
            tells_by_sums: true,
            is_never_told: false,
            may_be_contradicted: self.ways.lags,
        })
    }

    fn paid(&mut self, _: i64) -> Vec<TransactionId> {
        let is_paid = |id: &TransactionId| self.entries(*id).iter().any(|entry| entry.paid_cents > 0);
        self.asked.keys().copied().filter(is_paid).collect()
    }

    fn asked(&self, id: TransactionId) -> Money {
        self.asked.get(&id).map_or(Money::ZERO, |asked| asked.amount)
    }

    fn left(&mut self, id: TransactionId, _: i64) -> Money {
        let left = |entry: &Entry| {
            let gone = entry.refunding_cents + entry.charged_back_cents;
            entry.kept_cents().saturating_sub(gone)
        };
        Money::from_cents(self.entries(id).iter().map(left).sum())
    }

    fn expires_at(&self, id: TransactionId) -> Timestamp {
        self.asked.get(&id).map_or_else(Timestamp::default, |asked| asked.expires_at)
    }

    fn act(&mut self, id: TransactionId, act: Act, now_ms: i64) -> bool {
        let entries = self.entries(id);
        let Some(charge) = self.main(&entries).map(|entry| entry.charge_id.clone()) else { return false };
        let done = match act {
            Act::Pay { amount } => self.pagarme.pay_other_amount(&charge, amount.cents(), now_ms),
            Act::ChargeBack { amount } => self.pagarme.chargeback(&charge, Some(amount.cents()), now_ms),
            Act::GiveBack { amount } => self.pagarme.cancel_at_desk(&charge, Some(amount.cents()), now_ms),
            Act::Void | Act::Withdraw { by: RemovedBy::Receiver } => {
                self.pagarme.cancel_at_desk(&charge, None, now_ms)
            }
            Act::Capture { amount } => self.pagarme.capture_at_desk(&charge, Some(amount.cents()), now_ms),
            // Pagar.me does not report that it withdrew the charge itself.
            Act::Withdraw { by: RemovedBy::Acquirer } => return false,
        };
        done.is_ok()
    }

    fn letter(&self, notice: Notice) -> Letter {
        Letter { path_tail: String::new(), headers: notice.headers, body: notice.body, is_authentic: true }
    }

    fn subject(&self, letter: &Letter) -> Option<TransactionId> {
        let body: Value = serde_json::from_slice(&letter.body).ok()?;
        let id = read_code(body.pointer("/data/code")?.as_str()?)?;
        self.asked.contains_key(&id).then_some(id)
    }

    fn forged(&self, world: &World, about: Option<TransactionId>) -> Letter {
        let chance = &world.chance;
        let stranger = TransactionId::new(Uuid::from_u128(u128::from(chance.any())));
        let id = about.filter(|_| chance.per_mille(700)).unwrap_or(stranger);
        let is_authentic = chance.per_mille(700);
        let authorization = |text: &str| vec![("authorization".to_owned(), text.to_owned())];
        let headers = match chance.between(0, 1) {
            _ if is_authentic => authorization(AUTHORIZATION),
            0 => authorization("Basic cXVpdGE6Y2FsbGJhY2stcGFzc3dvcmR4"),
            _ => Vec::new(),
        };
        let data =
            json!({ "id": "ch_Forged0000000001", "code": code(id), "status": "paid", "paid_amount": 1 });
        let body = match chance.per_mille(200) {
            true => b"id=hook_".to_vec(),
            false => json!({ "id": "hook_Forged01", "type": "charge.paid", "data": data }).to_string().into(),
        };
        Letter { path_tail: String::new(), headers, body, is_authentic }
    }
}
