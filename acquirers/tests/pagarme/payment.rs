//! Payments as the service asks for them, and the adapter that is asked.

use std::collections::BTreeMap;
use std::rc::Rc;
use std::sync::Arc;

use quita_acquirers::exchange::ExchangeFactory;
use quita_acquirers::pagarme::PagarmeFactory;
use quita_acquirers::pagarme::settings::{BoletoSettings, PagarmeSettings};
use quita_domain::acquiring::{Charge, ChargeAnswer, ChargeQuery, Fact, Reference, Statement};
use quita_domain::card::{CardData, CardNumber, Cvv, Expiry};
use quita_domain::document::{Document, DocumentType};
use quita_domain::due_terms::DueTerms;
use quita_domain::identity::{AcquirerName, Mode, OperationId, TransactionId};
use quita_domain::method::Method;
use quita_domain::money::Money;
use quita_domain::numbering::AttemptNumber;
use quita_domain::operation::{Operation, OperationKind, Verdict};
use quita_domain::order::{Address, Order, Payer, Terms, Utm};
use quita_domain::outbound_call::{OutboundCall, Progress};
use quita_domain::phone::Phone;
use quita_domain::postal::{Cep, Uf};
use quita_domain::routing::{DueDates, DueTermsTaken};
use quita_domain::secret::Secret;
use quita_domain::time::Timestamp;
use quita_ports::{Acquirer, AcquirerFactory as _, AcquirerSpec, Clock};
use tokio::time::Instant;
use uuid::Uuid;

pub(crate) const ID: u128 = 0x0193_5a1b_7c00_7abc_8def_0123_4567_89ab;
pub(crate) const CODE: &str = "01935a1b7c007abc8def0123456789ab";
pub(crate) const KEY: &str = "sk_test_4Jb1Qm9Zx7Ky2Wv5";
pub(crate) const VISA: &str = "4000000000000010";
pub(crate) const MASTERCARD: &str = "5555555555554444";
pub(crate) const BASE: &str = "https://pagarme.example/core/v5";
pub(crate) const OWN: &str = "re_own00000000000000000000000";
pub(crate) const A: &str = "re_a000000000000000000000000";

pub(crate) struct TestClock(Instant);

impl TestClock {
    pub(crate) fn started() -> Self {
        Self(Instant::now())
    }
}

impl Clock for TestClock {
    fn now(&self) -> Timestamp {
        let elapsed = u64::try_from(self.0.elapsed().as_millis()).unwrap();
        created_at().plus_ms(elapsed)
    }
}

pub(crate) fn created_at() -> Timestamp {
    Timestamp::parse("2026-11-21T12:00:00Z").unwrap()
}

pub(crate) fn settings() -> PagarmeSettings {
    PagarmeSettings {
        base_url: BASE.into(),
        secret_key: Secret::new(KEY.into()),
        notification_user: "quita".into(),
        notification_password: Secret::new("callback-password".into()),
        soft_descriptor: Some("LOJA EXEMPLO".into()),
        antifraud: None,
        recipient: Some(OWN.into()),
        recipients: BTreeMap::from([("loja-a".to_owned(), A.to_owned())]),
        boleto: BoletoSettings { instructions: Some("Pague no banco".into()), ..BoletoSettings::default() },
        lists: true,
    }
}

pub(crate) fn factory(settings: PagarmeSettings, exchange: Arc<dyn ExchangeFactory>) -> PagarmeFactory {
    let spec = AcquirerSpec {
        name: AcquirerName::new("pagarme"),
        mode: Mode::Test,
        methods: Method::ALL.to_vec(),
        priority: 1,
        weight: 1,
        min_amount: Money::from_cents(1),
        max_amount: Money::MAX,
        concurrency: 8,
        time_out_ms: 20_000,
        rate: None,
        max_expiry_s: None,
        due_dates: DueDates { of_pix: false, terms: DueTermsTaken::WholePercentages },
        hint_gap_ms: 2_000,
    };
    PagarmeFactory::new(spec, settings, exchange, Arc::new(TestClock::started()))
}

pub(crate) fn adapter(exchange: Arc<dyn ExchangeFactory>) -> Rc<dyn Acquirer> {
    factory(settings(), exchange).build()
}

pub(crate) fn due_date() -> chrono::NaiveDate {
    "2026-12-01".parse().unwrap()
}

fn card(number: &str) -> CardData {
    let number = CardNumber::parse(number).unwrap();
    let digits = if number.brand().cvv_length() == 4 { "1231" } else { "123" };
    let cvv = Cvv::parse(digits, number.brand()).unwrap();
    CardData { number, holder_name: "João D'Ávila".into(), expiry: Expiry::new(3, 2030).unwrap(), cvv }
}

fn order(method: Method, cents: u64, card: Option<&CardData>) -> Order {
    let terms = match method {
        Method::Pix => Terms::Pix { expires_in_s: 3_600 },
        Method::Boleto => Terms::Boleto(DueTerms::plain(due_date())),
        Method::CreditCard => {
            Terms::CreditCard { card: card.unwrap().masked(), installments: 3, capture: true }
        }
    };
    let address = Address {
        street: "Rua da Consolação, fundos".into(),
        number: "10".into(),
        complement: Some("apto 7".into()),
        neighborhood: "Centro".into(),
        city: "São Paulo".into(),
        state: Uf::parse("SP").unwrap(),
        zip_code: Cep::parse("01310100").unwrap(),
    };
    let payer = Payer {
        first_name: "Fulâno".into(),
        last_name: "de Tal".into(),
        document: Document::parse("11144477735", DocumentType::Cpf).unwrap(),
        email: "fulano@example.com".into(),
        phone: Phone::parse("11987654321").unwrap(),
        address: Some(address),
    };
    Order {
        method,
        amount: Money::from_cents(cents),
        payer,
        items: Vec::new(),
        shipping_fee: None,
        splits: Vec::new(),
        utm: Utm::default(),
        postback_url: None,
        external_reference: None,
        metadata: BTreeMap::new(),
        terms,
    }
}

/// A charge that was never sent.
pub(crate) fn charge(method: Method, cents: u64) -> Charge {
    charge_with(method, cents, VISA)
}

pub(crate) fn charge_with(method: Method, cents: u64, number: &str) -> Charge {
    let card = (method == Method::CreditCard).then(|| card(number));
    charge_of(order(method, cents, card.as_ref()), card)
}

/// The charge of an order that a test has changed.
pub(crate) fn changed(method: Method, cents: u64, change: impl FnOnce(&mut Order)) -> Charge {
    let card = (method == Method::CreditCard).then(|| card(VISA));
    let mut order = order(method, cents, card.as_ref());
    change(&mut order);
    charge_of(order, card)
}

fn charge_of(order: Order, card: Option<CardData>) -> Charge {
    let query = ChargeQuery {
        id: TransactionId::new(Uuid::from_u128(ID)),
        method: order.method,
        amount: order.amount,
        paid_amount: None,
        refunded_amount: Money::ZERO,
        created_at: created_at(),
        sent_at: created_at(),
        expired_at: None,
        cancelled_at: None,
        attempt: AttemptNumber::FIRST,
        card: card.as_ref().map(CardData::masked),
        issued: None,
        captures_at_once: true,
        terms: order.terms.clone(),
        splits: order.splits.clone(),
        reference: Reference::none(),
        others: Vec::new(),
        our_number: None,
        may_have_others: false,
        foreign_pix: Vec::new(),
        operation_under_way: false,
    };
    Charge { query, order: Arc::new(order), card }
}

/// A card charge that is not captured at once.
pub(crate) fn uncaptured(cents: u64) -> Charge {
    let mut charge = charge(Method::CreditCard, cents);
    charge.query.captures_at_once = false;
    charge
}

pub(crate) fn query(method: Method, cents: u64) -> ChargeQuery {
    charge(method, cents).query
}

pub(crate) fn operation(kind: OperationKind) -> Operation {
    let at = created_at();
    Operation {
        sent: 1,
        call: OutboundCall::sent(at),
        ..Operation::ready(OperationId::new(Uuid::from_u128(7)), kind, at)
    }
}

/// Returns the operation with its call in this progress.
pub(crate) fn in_progress(progress: Progress<Verdict>, mut operation: Operation) -> Operation {
    operation.call.progress = progress;
    operation
}

pub(crate) fn cancel() -> Operation {
    operation(OperationKind::Cancel)
}

pub(crate) fn capture(cents: u64) -> Operation {
    operation(OperationKind::Capture(Money::from_cents(cents)))
}

/// A refund after so much was given back.
pub(crate) fn refund(cents: u64, before: u64) -> Operation {
    let before = Money::from_cents(before);
    Operation { before, ..operation(OperationKind::Refund(Money::from_cents(cents))) }
}

#[track_caller]
pub(crate) fn statement(answer: ChargeAnswer) -> Statement {
    let ChargeAnswer::Known(statement) = answer else { panic!("{answer:?}") };
    statement
}

#[track_caller]
pub(crate) fn facts(answer: ChargeAnswer) -> Vec<Fact> {
    statement(answer).facts
}

/// Returns the sums that were settled and that went back.
pub(crate) fn sums(facts: &[Fact]) -> (u64, u64) {
    let settled = facts.iter().find_map(|fact| match fact {
        Fact::Settled(settlement) => Some(settlement.amount.cents()),
        _ => None,
    });
    let back = facts.iter().find_map(|fact| match fact {
        Fact::RefundedInTotal { total, .. } => Some(total.cents()),
        _ => None,
    });
    (settled.unwrap_or(0), back.unwrap_or(0))
}
