//! Cielo as a counterparty.

use std::collections::BTreeMap;
use std::sync::Arc;

use quita_acquirers::cielo::CieloFactory;
use quita_acquirers::cielo::settings::{BoletoSettings, CieloSettings};
use quita_acquirers::exchange::{ExchangeFactory, Request, Verb};
use quita_banks::cielo::{Cielo, Config, Entry, Failure, Notifications, Outcome, Plan, Status, Trap};
use quita_banks::{Counterparty, Notice};
use quita_domain::identity::TransactionId;
use quita_domain::method::Method;
use quita_domain::money::Money;
use quita_domain::order::Terms;
use quita_domain::routing::DueDates;
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

/// Time-out of calls. Calls about one sale keep a distance, so a call may wait for its turn.
const TIME_OUT_MS: u64 = 20_000;
const NOTICE_HEADER: &str = "x-quita-secret";
const NOTICE_SECRET: &str = "a-secret-that-nobody-guesses";
/// Time for which the query host does not know some sales, in milliseconds.
const LAG_MS: i64 = 8_000;
/// Time for which a refund of a PIX is under way, if refunds take time, in milliseconds.
const PIX_REFUND_TAKES_MS: i64 = 60_000;
/// Time after which such a refund is certain to be shown, in milliseconds.
pub(super) const PIX_REFUND_SHOWS_AFTER_MS: u64 = 70_000;
/// Longest time in milliseconds of invisible sales, and of requests under way, where Cielo is blind. The rule for "not
/// found" is seconds, and the second look follows ten minutes later.
const BLIND_MS: u64 = 300_000;
/// Codes with which a capture or void fails. None of them says for certain whether it was done.
const FAILURES: [&str; 12] = ["5", "57", "97", "98", "99", "10", "223", "475", "504", "101", "102", "ZZ"];
/// Cards in a thousand whose approval or decline is never reported, where that happens.
const NEVER_FINISHED: u64 = 60;

/// Behaviour of a Cielo.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(crate) struct Ways {
    /// Queries do not know some new sales for a few seconds.
    pub(crate) lags: bool,
    /// A PIX is refunded minutes after the request.
    pub(crate) takes_time_for_refunds: bool,
    /// Some fields are sometimes spelt and typed differently from the manual.
    pub(crate) bends_its_manual: bool,
    /// Time for which queries do not know some new sales, and sales may be under way. It is 0 or minutes, in
    /// milliseconds.
    pub(crate) blind_ms: u64,
    /// A second sale of one order is refused.
    pub(crate) refuses_same_order: bool,
    /// The approval or decline of some cards is never reported.
    pub(crate) never_finishes: bool,
}

impl Ways {
    pub(crate) fn by(chance: &Chance) -> Self {
        Self {
            lags: chance.per_mille(500),
            takes_time_for_refunds: chance.per_mille(300),
            bends_its_manual: chance.per_mille(300),
            blind_ms: if chance.per_mille(400) { chance.between(20_000, BLIND_MS) } else { 0 },
            refuses_same_order: chance.per_mille(150),
            never_finishes: chance.per_mille(300),
        }
    }
}

/// Cielo in this world.
pub(super) struct CieloTill {
    cielo: Cielo,
    settings: Config,
    ways: Ways,
    /// Name that Cielo gave the sale that counts for the service, by payment.
    counted: BTreeMap<TransactionId, String>,
    /// Request for each payment's first sale.
    asked: BTreeMap<TransactionId, Asked>,
    /// Payment of each sale, by Cielo's name for the sale.
    sales: BTreeMap<String, TransactionId>,
    /// Fine and interest that came in beside the requested amount.
    interest: BTreeMap<TransactionId, Money>,
    cases: u64,
}

/// Request for a payment's first sale.
struct Asked {
    order: String,
    amount: Money,
    is_boleto: bool,
    expires_at: Timestamp,
}

pub(super) fn open(place: usize, ways: Ways) -> (AcquirerSpec, Box<dyn Till>) {
    let settings = Config {
        seed: place as u64,
        hosts_apart: true,
        query_lag_ms: match i64::try_from(ways.blind_ms).unwrap() {
            0 if ways.lags => LAG_MS,
            blind_ms => blind_ms,
        },
        refuses_same_order: ways.refuses_same_order,
        query_lag_permille: 200,
        pix_refund_takes_ms: if ways.takes_time_for_refunds { PIX_REFUND_TAKES_MS } else { 0 },
        traps: if ways.bends_its_manual { Trap::all() } else { Default::default() },
        traps_permille: 200,
        least_instalment_cents: 1,
        notices: Notifications {
            headers: BTreeMap::from([(NOTICE_HEADER.to_owned(), NOTICE_SECRET.to_owned())]),
            ..Notifications::default()
        },
        ..Config::default()
    };
    let till = CieloTill {
        cielo: Cielo::new(settings.clone(), quita_banks::faults::none()),
        settings,
        ways,
        counted: BTreeMap::new(),
        asked: BTreeMap::new(),
        sales: BTreeMap::new(),
        interest: BTreeMap::new(),
        cases: 0,
    };
    let mut spec = spec(format!("cielo{place}"), Method::ALL.to_vec(), TIME_OUT_MS);
    (spec.max_expiry_s, spec.hint_gap_ms) = (Some(86_400), 5_000);
    spec.due_dates = DueDates::PLAIN;
    (spec, Box::new(till))
}

/// Returns the adapter's factory for one node.
pub(super) fn factory(
    spec: &AcquirerSpec,
    exchanges: Arc<dyn ExchangeFactory>,
    clock: Arc<dyn Clock>,
) -> Arc<dyn AcquirerFactory> {
    let known = Config::default();
    let settings = CieloSettings {
        base_url: "https://api.cielo.example".to_owned(),
        query_base_url: "https://apiquery.cielo.example".to_owned(),
        merchant_id: known.merchant_id,
        merchant_key: Secret::new(known.merchant_key),
        notification_header: NOTICE_HEADER.to_owned(),
        notification_secret: Secret::new(NOTICE_SECRET.to_owned()),
        soft_descriptor: None,
        pix_provider: None,
        boleto: Some(BoletoSettings {
            provider: "Bradesco2".to_owned(),
            assignor: "Loja Exemplo Ltda".to_owned(),
            identification: "11222333000181".to_owned(),
            address: None,
            instructions: "Pagar ate o vencimento".to_owned(),
        }),
    };
    Arc::new(CieloFactory::new(spec.clone(), settings, exchanges, clock))
}

/// Parses an order's text as the id of its payment: in hexadecimal, or in base 36 for a boleto.
fn read_order(text: &str) -> Option<TransactionId> {
    let radix = if text.len() == 32 { 16 } else { 36 };
    u128::from_str_radix(text, radix).ok().map(|id| TransactionId::new(Uuid::from_u128(id)))
}

fn holds_limit(entry: &Entry) -> bool {
    entry.method == "CreditCard" && entry.status == Status::Authorized
}

fn beside(entry: &Entry) -> Beside {
    Beside {
        name: entry.payment_id.clone(),
        held: entry.captured_cents > 0 || entry.method == "CreditCard" && entry.authorised_cents > 0,
        holds: entry.kept_cents() > 0 || holds_limit(entry),
    }
}

/// Returns true if the payment's outcome is never reported. A sale that never finishes takes precedence over one that
/// was declined.
fn is_never_told(entries: &[Entry]) -> bool {
    let speaks_first = |entry: &Entry| {
        entry.captured_cents > 0 || matches!(entry.status, Status::Authorized | Status::Pending)
    };
    let is_unfinished = entries.iter().any(|entry| entry.status == Status::NotFinished);
    is_unfinished && !entries.iter().any(speaks_first)
}

fn is_sale(request: &Request) -> bool {
    let path = wire::path(request);
    request.verb == Verb::Post && path.trim_end_matches('/') == "/1/sales"
}

impl CieloTill {
    fn entries(&self, id: TransactionId) -> Vec<Entry> {
        self.asked.get(&id).map(|asked| self.cielo.sales_of(&asked.order)).unwrap_or_default()
    }

    /// Draws what Cielo will decide on its own about a new sale.
    fn plan(&self, world: &World, is_card: bool) -> Plan {
        let fails = |was_done: bool| Failure {
            code: world.chance.pick(&FAILURES).to_owned(),
            was_done,
            is_once: true,
        };
        let opens = |world: &World| world.strikes(Fault::BankErrorAfter);
        let decline = Outcome::Decline { code: "51".to_owned(), advice: None };
        let capture = if world.strikes(Fault::CaptureRefused) {
            Some(fails(false))
        } else {
            opens(world).then(|| fails(true))
        };
        let void = if world.strikes(Fault::RefundFails) {
            Some(fails(false))
        } else {
            opens(world).then(|| fails(true))
        };
        let outcome = if world.strikes(Fault::BankDeclines) {
            decline
        } else if is_card && self.ways.never_finishes && world.chance.per_mille(NEVER_FINISHED) {
            Outcome::NotFinish
        } else {
            Outcome::Approve
        };
        Plan {
            outcome: Some(outcome),
            capture,
            void,
            // Its sums never show that a promised refund of a PIX was not made: a person has to ask.
            refund_fails_later: false,
            wrong_code: None,
        }
    }

    /// Returns the sale that counts. This is the service's own one if it has money or no other one has; otherwise the
    /// one with the most.
    fn main<'a>(&self, id: TransactionId, entries: &'a [Entry]) -> Option<&'a Entry> {
        let counted = self.counted.get(&id);
        let counted = entries.iter().find(|entry| Some(&entry.payment_id) == counted);
        let by_what_it_has =
            || entries.iter().rev().max_by_key(|entry| (entry.kept_cents(), holds_limit(entry)));
        counted.filter(|entry| entry.captured_cents > 0 || holds_limit(entry)).or_else(|| {
            let most = by_what_it_has()?;
            let has_something = most.kept_cents() > 0 || holds_limit(most);
            if has_something { Some(most) } else { counted.or(Some(most)) }
        })
    }

    /// Returns the sale that a payer or the desk acts on.
    fn acted_on(&self, id: TransactionId, act: Act) -> Option<String> {
        let entries = self.entries(id);
        let waits = |entry: &&Entry| matches!(entry.status, Status::Pending | Status::Authorized);
        let sale = match act {
            // Payers see every code, and may pay any of them.
            Act::Pay { .. } if id.uuid().as_u128().is_multiple_of(2) => entries.iter().find(waits),
            Act::Pay { .. } => entries.iter().rfind(waits),
            Act::ChargeBack { .. }
            | Act::GiveBack { .. }
            | Act::Withdraw { .. }
            | Act::Void
            | Act::Capture { .. } => None,
        };
        sale.or_else(|| self.main(id, &entries)).map(|entry| entry.payment_id.clone())
    }
}

impl Till for CieloTill {
    fn counterparty(&mut self) -> &mut dyn Counterparty {
        &mut self.cielo
    }

    fn is_for_a_token(&self, _: &Request) -> bool {
        false
    }

    fn prepare(&mut self, world: &World, request: &Request) {
        if !is_sale(request) {
            return;
        }
        let Ok(body) = serde_json::from_slice::<Value>(&request.body) else { return };
        let Some(order) = body.get("MerchantOrderId").and_then(Value::as_str) else { return };
        let Some(id) = read_order(order) else { return };
        let Some(payment) = world.payment_sent(id).filter(|_| !self.asked.contains_key(&id)) else { return };
        let expires_at = match &payment.order.terms {
            Terms::Pix { expires_in_s } => world.clock.now().plus_ms(expires_in_s * 1_000),
            Terms::DuePix(due) | Terms::Boleto(due) => Timestamp::end_of_sao_paulo_day(due.moved_due_date()),
            Terms::CreditCard { .. } => Timestamp::from_millis(i64::MAX),
        };
        let is_card = payment.method() == Method::CreditCard;
        let amount = payment.order.amount;
        let is_boleto = payment.method() == Method::Boleto;
        self.asked.insert(id, Asked { order: order.to_owned(), amount, is_boleto, expires_at });
        let plan = self.plan(world, is_card);
        self.cielo.plan(order, plan);
    }

    fn touched(&mut self, request: &Request) -> Option<TransactionId> {
        if is_sale(request) {
            let body: Value = serde_json::from_slice(&request.body).ok()?;
            let id = read_order(body.get("MerchantOrderId")?.as_str()?)?;
            for entry in self.entries(id) {
                self.sales.insert(entry.payment_id, id);
            }
            return Some(id);
        }
        let name = wire::path(request).strip_prefix("/1/sales/")?.split('/').next()?;
        self.sales.get(&name.to_ascii_lowercase()).copied()
    }

    fn only_authorises(&self, request: &Request) -> Option<TransactionId> {
        if !is_sale(request) {
            return None;
        }
        let body: Value = serde_json::from_slice(&request.body).ok()?;
        let is_card = body.pointer("/Payment/Type").and_then(Value::as_str) == Some("CreditCard");
        let captures = body.pointer("/Payment/Capture").and_then(Value::as_bool) == Some(true);
        read_order(body.get("MerchantOrderId")?.as_str()?).filter(|_| is_card && !captures)
    }

    fn arrives_within_ms(&self, request: &Request) -> Option<u64> {
        Some(self.ways.blind_ms).filter(|blind_ms| *blind_ms > 0 && is_sale(request))
    }

    fn count(&mut self, id: TransactionId, name: &str) {
        self.counted.insert(id, name.to_owned());
    }

    fn account(&mut self, id: TransactionId, now_ms: i64) -> Option<Account> {
        let entries = self.entries(id);
        let asked = self.asked.get(&id)?;
        let main = self.main(id, &entries)?;
        let has = |status| entries.iter().any(|entry| entry.status == status);
        let captured = Money::from_cents(main.captured_cents);
        let waits = if asked.is_boleto { has(Status::Authorized) } else { has(Status::Pending) };
        let is_card = main.method == "CreditCard";
        let holding = if captured > Money::ZERO {
            Holding::Captured
        } else if waits && asked.expires_at.millis() < now_ms {
            Holding::Expired
        } else if waits {
            Holding::Awaited
        } else if has(Status::Authorized) {
            Holding::Authorised
        } else if matches!(main.status, Status::Denied | Status::Aborted) {
            Holding::Declined
        } else {
            Holding::Cancelled
        };
        let given_back = if captured > Money::ZERO { main.voided_cents } else { 0 };
        let authorised = entries.iter().filter(|entry| is_card && entry.authorised_cents > 0).count();
        let is_blind = self.ways.blind_ms > 0;
        Some(Account {
            declined_as: None,
            holding,
            authorised: if is_blind { authorised.min(1) } else { authorised }.try_into().unwrap(),
            captured: captured.minus(self.interest.get(&id).copied().unwrap_or_default()),
            given_back: Money::from_cents(given_back),
            is_charged_back: !main.chargebacks.is_empty(),
            chargebacks: 0,
            is_odd: false,
            is_listed_alone: false,
            paid_unasked_interest: self.interest.contains_key(&id),
            is_foreign: false,
            removed_by: None,
            was_captured_at_the_desk: false,
            sums_moved: false,
            is_late: false,
            came_after_its_time: false,
            counted: Some(beside(main)),
            others: entries.iter().filter(|entry| entry.payment_id != main.payment_id).map(beside).collect(),
            is_blind,
            tells_by_sums: true,
            is_never_told: is_never_told(&entries),
            may_be_contradicted: self.settings.query_lag_ms > 0,
        })
    }

    fn paid(&mut self, _: i64) -> Vec<TransactionId> {
        let is_paid = |id: &TransactionId| self.entries(*id).iter().any(|entry| entry.captured_cents > 0);
        self.asked.keys().copied().filter(is_paid).collect()
    }

    fn asked(&self, id: TransactionId) -> Money {
        self.asked.get(&id).map_or(Money::ZERO, |asked| asked.amount)
    }

    fn left(&mut self, id: TransactionId, _: i64) -> Money {
        let entries = self.entries(id);
        let left = |entry: &Entry| entry.kept_cents().saturating_sub(entry.refunding_cents);
        let disputed: u64 =
            entries.iter().flat_map(|entry| &entry.chargebacks).map(|case| case.amount_cents).sum();
        Money::from_cents(entries.iter().map(left).sum::<u64>().saturating_sub(disputed))
    }

    fn expires_at(&self, id: TransactionId) -> Timestamp {
        self.asked.get(&id).map_or_else(Timestamp::default, |asked| asked.expires_at)
    }

    fn act(&mut self, id: TransactionId, act: Act, now_ms: i64) -> bool {
        let (Some(asked), Some(sale)) = (self.asked.get(&id), self.acted_on(id, act)) else { return false };
        let order = sale.as_str();
        let is_late = asked.expires_at.millis() < now_ms;
        let done = match act {
            Act::Pay { amount } if is_late && asked.is_boleto && amount == asked.amount => {
                // The fine is two per cent, so there is none on less than half a real.
                let interest = Money::from_cents(amount.cents() / 50);
                let paid = self.cielo.pay_other_amount(order, amount.plus(interest).cents(), now_ms);
                if paid.is_ok() && interest > Money::ZERO {
                    self.interest.insert(id, interest);
                }
                paid
            }
            Act::Pay { amount } => self.cielo.pay_other_amount(order, amount.cents(), now_ms),
            Act::ChargeBack { amount } => {
                self.cases += 1;
                let case = format!("CASE-{}", self.cases);
                self.cielo.chargeback(order, &case, amount.cents(), "Received", now_ms)
            }
            Act::GiveBack { amount } => self.cielo.void_at_desk(order, Some(amount.cents()), now_ms),
            Act::Void => self.cielo.void_at_desk(order, None, now_ms),
            Act::Capture { amount } => self.cielo.capture_at_desk(order, Some(amount.cents()), now_ms),
            Act::Withdraw { .. } => return false,
        };
        done.is_ok()
    }

    fn letter(&self, notice: Notice) -> Letter {
        Letter { path_tail: String::new(), headers: notice.headers, body: notice.body, is_authentic: true }
    }

    fn subject(&self, letter: &Letter) -> Option<TransactionId> {
        let body: Value = serde_json::from_slice(&letter.body).ok()?;
        self.sales.get(body.get("PaymentId")?.as_str()?).copied()
    }

    fn forged(&self, world: &World, about: Option<TransactionId>) -> Letter {
        let chance = &world.chance;
        let known = about.and_then(|id| self.entries(id).first().map(|entry| entry.payment_id.clone()));
        let stranger = Uuid::from_u128(u128::from(chance.any())).to_string();
        let name = known.filter(|_| chance.per_mille(700)).unwrap_or(stranger);
        let is_authentic = chance.per_mille(700);
        let headers = match chance.between(0, 1) {
            _ if is_authentic => vec![(NOTICE_HEADER.to_owned(), NOTICE_SECRET.to_owned())],
            0 => vec![(NOTICE_HEADER.to_owned(), format!("{NOTICE_SECRET}x"))],
            _ => Vec::new(),
        };
        let body = match chance.per_mille(200) {
            true => b"PaymentId=".to_vec(),
            false => json!({"PaymentId": name, "ChangeType": chance.between(1, 9)}).to_string().into(),
        };
        Letter { path_tail: String::new(), headers, body, is_authentic }
    }
}
