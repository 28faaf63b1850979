//! A payment, the adapter that charges it, and the bank behind that, without a network.

use std::collections::BTreeMap;
use std::rc::Rc;
use std::sync::{Arc, Mutex};

use async_trait::async_trait;
use chrono::NaiveDate;
use quita_acquirers::api_pix::settings::{CallbackRegistration, TokenForm, TokenSettings, WebhookSettings};
use quita_acquirers::exchange::{Exchange, ExchangeFactory, Failure, Request, Response};
use quita_acquirers::sicoob::SicoobFactory;
use quita_acquirers::sicoob::settings::{Beneficiary, SicoobSettings};
use quita_banks::sicoob::{Account, Config, SicoobBank};
use quita_banks::{Counterparty as _, Reply};
use quita_domain::acquiring::{CallFailure, Charge, ChargeAnswer, ChargeQuery, Fact, Reference, Statement};
use quita_domain::document::{Document, DocumentType};
use quita_domain::due_terms::DueTerms;
use quita_domain::identity::{AcquirerName, Mode, OperationId, TransactionId};
use quita_domain::method::Method;
use quita_domain::money::Money;
use quita_domain::numbering::AttemptNumber;
use quita_domain::operation::{Operation, OperationKind};
use quita_domain::order::{Address, Order, Payer, Terms, Utm};
use quita_domain::outbound_call::OutboundCall;
use quita_domain::phone::Phone;
use quita_domain::postal::{Cep, Uf};
use quita_domain::routing::{DueDates, DueTermsTaken};
use quita_domain::secret::Secret;
use quita_domain::time::Timestamp;
use quita_ports::{Acquirer, AcquirerFactory as _, AcquirerSpec, Clock};
use serde_json::{Value, json};
use uuid::Uuid;

pub(crate) const ID: u128 = 0x0193_5a1b_7c00_7abc_8def_0123_4567_89ab;
pub(crate) const NUMBER: u32 = 4_242;
pub(crate) const TOKEN: &str = "unguessable-token-0123456789";
const HOST: &str = "https://sicoob.example";

/// A wall clock that a test moves.
#[derive(Clone)]
pub(crate) struct TestClock(Arc<Mutex<Timestamp>>);

impl Clock for TestClock {
    fn now(&self) -> Timestamp {
        *self.0.lock().unwrap()
    }
}

/// A bank, and what was sent to it.
#[derive(Clone)]
pub(crate) struct World {
    bank: Arc<Mutex<SicoobBank>>,
    pub(crate) clock: TestClock,
    sent: Arc<Mutex<Vec<(String, Value)>>>,
}

pub(crate) fn created_at() -> Timestamp {
    Timestamp::parse("2026-11-23T15:00:00Z").unwrap()
}

pub(crate) fn due_date() -> NaiveDate {
    "2026-12-01".parse().unwrap()
}

impl World {
    pub(crate) fn open() -> Self {
        Self::with(json!({}))
    }

    /// A bank whose ways are changed so.
    pub(crate) fn with(changes: Value) -> Self {
        let config = Config::default().changed(&changes).unwrap();
        let bank = Arc::new(Mutex::new(SicoobBank::new(config)));
        let clock = TestClock(Arc::new(Mutex::new(created_at())));
        Self { bank, clock, sent: Arc::default() }
    }

    pub(crate) fn factory(&self) -> SicoobFactory {
        self.factory_with(|_| {})
    }

    pub(crate) fn factory_with(&self, change: impl FnOnce(&mut SicoobSettings)) -> SicoobFactory {
        let mut settings = settings();
        change(&mut settings);
        SicoobFactory::new(spec(), settings, Arc::new(self.clone()), Arc::new(self.clock.clone()))
    }

    pub(crate) fn adapter(&self) -> Rc<dyn Acquirer> {
        self.factory().build()
    }

    pub(crate) fn pass_ms(&self, ms: u64) {
        let mut now = self.clock.0.lock().unwrap();
        *now = now.plus_ms(ms);
    }

    #[track_caller]
    pub(crate) fn tell(&self, command: Value) {
        let told = self.bank.lock().unwrap().control(&command, self.now_ms());
        assert!(told.get("error").is_none(), "{command}: {told}");
    }

    /// Answers what the bank sends us with an error.
    pub(crate) fn refuse_notices(&self) {
        let mut bank = self.bank.lock().unwrap();
        let now_ms = self.now_ms();
        let notices = bank.notices(now_ms);
        assert!(!notices.is_empty());
        notices.iter().for_each(|notice| bank.notified(notice, Some(500), now_ms));
    }

    /// Strikes the next calls with these faults.
    #[track_caller]
    pub(crate) fn strike(&self, next: Value) {
        self.tell(json!({ "do": "faults", "next": next }));
    }

    pub(crate) fn accounts(&self) -> BTreeMap<u64, Account> {
        self.bank.lock().unwrap().books(self.now_ms())
    }

    /// Requests in short, but those for tokens.
    pub(crate) fn sent(&self) -> Vec<String> {
        let sent = self.sent.lock().unwrap();
        sent.iter().map(|(what, _)| what.clone()).filter(|what| what != "POST /token").collect()
    }

    pub(crate) fn last_body(&self) -> Value {
        self.sent.lock().unwrap().last().unwrap().1.clone()
    }

    /// Registers a title, and returns the query that follows from the answer.
    pub(crate) async fn registered(&self) -> ChargeQuery {
        let charge = charge();
        let answer = self.adapter().charge(&charge).await;
        known(&charge.query, answer)
    }

    pub(crate) async fn inquire(&self, query: &ChargeQuery) -> ChargeAnswer {
        self.adapter().inquire(query).await
    }

    fn now_ms(&self) -> i64 {
        self.clock.now().millis()
    }
}

impl ExchangeFactory for World {
    fn open(&self) -> Rc<dyn Exchange> {
        Rc::new(self.clone())
    }
}

#[async_trait(?Send)]
impl Exchange for World {
    async fn send(&self, request: Request) -> Result<Response, Failure> {
        let address = request.url.strip_prefix(HOST).unwrap().to_owned();
        let (path, query) = address.split_once('?').unwrap_or((&address, ""));
        let what = format!("{} {}", request.verb.as_str(), path.trim_start_matches("/cobranca-bancaria/v3"));
        let body = serde_json::from_slice(&request.body).unwrap_or_default();
        self.sent.lock().unwrap().push((what, body));
        let headers = request.headers.iter();
        let asked = quita_banks::Request {
            method: request.verb.as_str().to_owned(),
            path: path.to_owned(),
            query: query.to_owned(),
            headers: headers.map(|(name, value)| (name.to_ascii_lowercase(), value.clone())).collect(),
            body: request.body.to_vec(),
            certificate: None,
        };
        match self.bank.lock().unwrap().handle(&asked, self.now_ms()) {
            Reply::Answer { response, .. } => {
                Ok(Response { status: response.status, headers: response.headers, body: response.body })
            }
            Reply::Reset | Reply::Silence => Err(Failure::Unknown("the connection broke".into())),
        }
    }
}

pub(crate) fn spec() -> AcquirerSpec {
    AcquirerSpec {
        name: AcquirerName::new("sicoob"),
        mode: Mode::Live,
        methods: vec![Method::Boleto],
        priority: 1,
        weight: 1,
        min_amount: Money::from_cents(1),
        max_amount: Money::MAX,
        concurrency: 8,
        time_out_ms: 20_000,
        rate: None,
        max_expiry_s: None,
        due_dates: DueDates { of_pix: false, terms: DueTermsTaken::All },
        hint_gap_ms: 2_000,
    }
}

pub(crate) fn settings() -> SicoobSettings {
    let address = format!("https://q.example/acquirers/sicoob/notifications/{TOKEN}");
    SicoobSettings {
        base_url: format!("{HOST}/cobranca-bancaria/v3"),
        token: TokenSettings::ClientCredentials {
            url: format!("{HOST}/token"),
            form: TokenForm::FormNoSecret,
            client_id: "id".into(),
            client_secret: None,
            scope: "boletos_inclusao boletos_consulta boletos_alteracao boletos_webhook".into(),
        },
        client_id: "id".into(),
        customer: 25_546_454,
        account: 123_456,
        portfolio: 1,
        document_kind: "DM".into(),
        has_pix: true,
        our_numbers: (1, 9_999_999),
        number_digit: None,
        beneficiary: Beneficiary { name: "LOJA".into(), ..Beneficiary::default() },
        webhook: WebhookSettings {
            registration: CallbackRegistration::Register,
            address: Some(Secret::new(address)),
            token: Secret::new(TOKEN.into()),
            other_tokens: vec![Secret::new("older-token".into())],
            headers: Vec::new(),
        },
        lists: true,
        name_keys: vec![Secret::new("name-key".into()), Secret::new("older-name-key".into())],
    }
}

fn order(due: DueTerms) -> Order {
    let payer = Payer {
        first_name: "Fulâno".into(),
        last_name: "de Tal".into(),
        document: Document::parse("11144477735", DocumentType::Cpf).unwrap(),
        email: "fulano@example.com".into(),
        phone: Phone::parse("11987654321").unwrap(),
        address: Some(Address {
            street: "Rua da Consolação".into(),
            number: "10".into(),
            complement: Some("apto 7".into()),
            neighborhood: "Centro".into(),
            city: "São Paulo".into(),
            state: Uf::parse("SP").unwrap(),
            zip_code: Cep::parse("01310100").unwrap(),
        }),
    };
    Order {
        method: Method::Boleto,
        amount: Money::from_cents(10_010),
        payer,
        items: Vec::new(),
        shipping_fee: None,
        splits: Vec::new(),
        utm: Utm::default(),
        postback_url: None,
        external_reference: None,
        metadata: BTreeMap::new(),
        terms: Terms::Boleto(due),
    }
}

/// A boleto of 100.10 that was never sent.
pub(crate) fn charge() -> Charge {
    charge_with(DueTerms::plain(due_date()))
}

pub(crate) fn charge_with(due: DueTerms) -> Charge {
    let order = order(due);
    let query = ChargeQuery {
        id: TransactionId::new(Uuid::from_u128(ID)),
        method: Method::Boleto,
        amount: order.amount,
        paid_amount: None,
        refunded_amount: Money::ZERO,
        created_at: created_at(),
        sent_at: created_at(),
        expired_at: None,
        cancelled_at: None,
        attempt: AttemptNumber::FIRST,
        card: None,
        issued: None,
        captures_at_once: true,
        terms: order.terms.clone(),
        splits: Vec::new(),
        reference: Reference::none(),
        our_number: Some(NUMBER),
        others: Vec::new(),
        may_have_others: false,
        foreign_pix: Vec::new(),
        operation_under_way: false,
    };
    Charge { query, order: Arc::new(order), card: None }
}

pub(crate) fn operation(kind: OperationKind) -> Operation {
    let at = created_at();
    Operation {
        sent: 1,
        call: OutboundCall::sent(at),
        ..Operation::ready(OperationId::new(Uuid::from_u128(7)), kind, at)
    }
}

#[track_caller]
pub(crate) fn statement(answer: ChargeAnswer) -> Statement {
    let ChargeAnswer::Known(statement) = answer else { panic!("{answer:?}") };
    statement
}

/// The query of a payment that has learnt this answer.
#[track_caller]
pub(crate) fn known(query: &ChargeQuery, answer: ChargeAnswer) -> ChargeQuery {
    let statement = statement(answer);
    let issued = statement.facts.iter().find_map(|fact| match fact {
        Fact::Pending { issued, .. } => Some(Arc::new(issued.clone())),
        _ => None,
    });
    ChargeQuery { reference: statement.reference, issued, ..query.clone() }
}

/// The facts of an answer in a few letters.
pub(crate) fn told(answer: ChargeAnswer) -> Vec<String> {
    let facts = match answer {
        ChargeAnswer::Known(statement) => statement.facts,
        ChargeAnswer::NotFound => return vec!["not found".into()],
        ChargeAnswer::Refused(_) => return vec!["refused".into()],
        ChargeAnswer::NumberTaken(_) => return vec!["number taken".into()],
        ChargeAnswer::Mismatched(why) => return vec![format!("mismatched: {why}")],
        ChargeAnswer::Failed(CallFailure::Unknown(_)) => return vec!["unknown".into()],
        ChargeAnswer::Failed(CallFailure::Throttled { after_ms }) => {
            return vec![format!("throttled {after_ms}")];
        }
        ChargeAnswer::Failed(CallFailure::NotDelivered(_)) => return vec!["not delivered".into()],
        other => panic!("{other:?}"),
    };
    let fact = |fact: &Fact| match fact {
        Fact::Pending { .. } => "pending".to_owned(),
        Fact::PixCodeMissing => "no pix code".to_owned(),
        Fact::AmountUnknown => "amount unknown".to_owned(),
        Fact::Settled(settlement) => {
            let on = settlement.paid_on.map(|day| format!(" on {day}")).unwrap_or_default();
            format!("settled {}{on}", settlement.amount.cents())
        }
        Fact::Removed { .. } => "removed".to_owned(),
        Fact::Expired => "expired".to_owned(),
        Fact::Concluded => "concluded".to_owned(),
        other => panic!("{other:?}"),
    };
    facts.iter().map(fact).collect()
}
