//! Payments as the service asks for them, and the adapter that is asked.

use std::collections::BTreeMap;
use std::rc::Rc;
use std::sync::Arc;
use std::time::Duration;

use quita_acquirers::cielo::CieloFactory;
use quita_acquirers::cielo::settings::{BoletoSettings, CieloSettings};
use quita_acquirers::exchange::ExchangeFactory;
use quita_domain::acquiring::{Charge, ChargeAnswer, ChargeQuery, Fact, Reference, Statement};
use quita_domain::boleto::{Barcode, CollectionAccount};
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
use quita_domain::pix::br_code::DynamicBrCode;
use quita_domain::pix::crc16;
use quita_domain::postal::{Cep, Uf};
use quita_domain::routing::DueDates;
use quita_domain::secret::Secret;
use quita_domain::time::Timestamp;
use quita_ports::{Acquirer, AcquirerSpec, Clock};
use tokio::time::Instant;
use uuid::Uuid;

pub(crate) const ID: u128 = 0x0193_5a1b_7c00_7abc_8def_0123_4567_89ab;
pub(crate) const ORDER: &str = "01935a1b7c007abc8def0123456789ab";
pub(crate) const BOLETO_ORDER: &str = "03cw0tyhmozg7z8uqjkjobmaz";
pub(crate) const SALE: &str = "2f6d1b1e-7c55-4a57-9f0b-3a0f6f7d2c11";
pub(crate) const SECOND_SALE: &str = "3f6d1b1e-7c55-4a57-9f0b-3a0f6f7d2c12";
pub(crate) const KEY: &str = "0123456789ABCDEFGHIJ0123456789ABCDEFGHIJ";
pub(crate) const VISA: &str = "4111111111111111";
pub(crate) const MASTERCARD: &str = "5555555555554444";
pub(crate) const BASE: &str = "https://cielo.example";
pub(crate) const QUERY: &str = "https://query.cielo.example";

struct TestClock(Instant);

impl Clock for TestClock {
    fn now(&self) -> Timestamp {
        let elapsed = u64::try_from(self.0.elapsed().as_millis()).unwrap();
        created_at().plus_ms(elapsed)
    }
}

pub(crate) fn created_at() -> Timestamp {
    Timestamp::parse("2026-11-21T12:00:00Z").unwrap()
}

pub(crate) fn settings() -> CieloSettings {
    CieloSettings {
        base_url: BASE.into(),
        query_base_url: QUERY.into(),
        merchant_id: "8d2f8b1e-0000-4a57-9f0b-3a0f6f7d2c11".into(),
        merchant_key: Secret::new(KEY.into()),
        notification_header: "x-quita-secret".into(),
        notification_secret: Secret::new("unguessable".into()),
        soft_descriptor: Some("LOJAEXEMPLO".into()),
        pix_provider: Some("Cielo2".into()),
        boleto: Some(BoletoSettings {
            provider: "Bradesco2".into(),
            assignor: "Loja Exemplo".into(),
            identification: "11222333000181".into(),
            address: Some("Rua Um, 10".into()),
            instructions: "Nao receber apos o vencimento".into(),
        }),
    }
}

pub(crate) fn factory(
    settings: CieloSettings,
    mode: Mode,
    exchange: Arc<dyn ExchangeFactory>,
) -> CieloFactory {
    made(settings, mode, 20_000, exchange)
}

/// One whose requests have this time-out.
pub(crate) fn factory_within(time_out: Duration, exchange: Arc<dyn ExchangeFactory>) -> CieloFactory {
    made(settings(), Mode::Live, u64::try_from(time_out.as_millis()).unwrap(), exchange)
}

fn made(
    settings: CieloSettings,
    mode: Mode,
    time_out_ms: u64,
    exchange: Arc<dyn ExchangeFactory>,
) -> CieloFactory {
    let spec = AcquirerSpec {
        name: AcquirerName::new("cielo"),
        mode,
        methods: Method::ALL.to_vec(),
        priority: 1,
        weight: 1,
        min_amount: Money::from_cents(1),
        max_amount: Money::MAX,
        concurrency: 8,
        time_out_ms,
        rate: None,
        max_expiry_s: Some(86_400),
        due_dates: DueDates::PLAIN,
        hint_gap_ms: 5_000,
    };
    CieloFactory::new(spec, settings, exchange, Arc::new(TestClock(Instant::now())))
}

pub(crate) fn adapter(exchange: Arc<dyn ExchangeFactory>) -> Rc<dyn Acquirer> {
    use quita_ports::AcquirerFactory;
    factory(settings(), Mode::Live, exchange).build()
}

pub(crate) fn due_date() -> chrono::NaiveDate {
    "2026-12-01".parse().unwrap()
}

fn card(number: &str) -> CardData {
    let number = CardNumber::parse(number).unwrap();
    let digits = if number.brand().cvv_length() == 4 { "7391" } else { "739" };
    let cvv = Cvv::parse(digits, number.brand()).unwrap();
    CardData { number, holder_name: "João D'Ávila".into(), expiry: Expiry::new(3, 2030).unwrap(), cvv }
}

fn order(method: Method, cents: u64, card: Option<&CardData>) -> Order {
    let terms = match method {
        Method::Pix => Terms::Pix { expires_in_s: 3600 },
        Method::Boleto => Terms::Boleto(DueTerms::plain(due_date())),
        Method::CreditCard => {
            Terms::CreditCard { card: card.unwrap().masked(), installments: 3, capture: true }
        }
    };
    let address = Address {
        street: "Rua da Consolação".into(),
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
    let order = order(method, cents, card.as_ref());
    let query = ChargeQuery {
        id: TransactionId::new(Uuid::from_u128(ID)),
        method,
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
        splits: Vec::new(),
        reference: Reference::none(),
        others: Vec::new(),
        our_number: None,
        may_have_others: false,
        foreign_pix: Vec::new(),
        operation_under_way: false,
    };
    Charge { query, order: Arc::new(order), card }
}

/// The same card charge, but not captured at once.
pub(crate) fn uncaptured(cents: u64) -> Charge {
    let mut charge = charge(Method::CreditCard, cents);
    charge.query.captures_at_once = false;
    charge
}

pub(crate) fn query(method: Method, cents: u64) -> ChargeQuery {
    charge(method, cents).query
}

/// With the name of its sale.
pub(crate) fn named(query: ChargeQuery, payment_id: &str) -> ChargeQuery {
    ChargeQuery { reference: Reference::none().with("paymentId", payment_id), ..query }
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

pub(crate) fn capture(cents: u64) -> Operation {
    operation(OperationKind::Capture(Money::from_cents(cents)))
}

pub(crate) fn refund(cents: u64) -> Operation {
    operation(OperationKind::Refund(Money::from_cents(cents)))
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

/// A BR Code with a location, and with an amount if there is one.
pub(crate) fn br_code(amount: Option<&str>) -> String {
    let location = "pix.cielo.example/v2/2f6d1b1e7c554a579f0b3a0f6f7d2c11".to_owned();
    let code = DynamicBrCode::new(location, "LOJA EXEMPLO".into(), "SAO PAULO".into()).build().unwrap();
    let Some(amount) = amount else { return code };
    let with_amount = code.replacen("5802BR", &format!("54{:02}{amount}5802BR", amount.len()), 1);
    let (covered, _) = with_amount.split_at(with_amount.len() - 4);
    format!("{covered}{}", crc16::checksum_text(covered))
}

pub(crate) fn barcode(cents: u64, due: &str) -> Barcode {
    let account = CollectionAccount::bradesco("1234", "0012345", "09").unwrap();
    Barcode::compose(Some(due.parse().unwrap()), cents, &account.free_field(233).unwrap()).unwrap()
}
