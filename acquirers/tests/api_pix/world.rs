//! A payment, the adapter that charges it, and the bank behind that.

use std::collections::BTreeMap;
use std::rc::Rc;
use std::sync::Arc;

use quita_acquirers::api_pix::ApiPixFactory;
use quita_acquirers::api_pix::settings::{
    ApiPixSettings, CallbackRegistration, Receiver, TokenForm, TokenSettings, WebhookSettings,
};
use quita_domain::acquiring::{CallFailure, Charge, ChargeAnswer, ChargeQuery, Fact, Reference, Statement};
use quita_domain::document::{Document, DocumentType};
use quita_domain::identity::{AcquirerName, Mode, OperationId, TransactionId};
use quita_domain::method::Method;
use quita_domain::money::Money;
use quita_domain::numbering::AttemptNumber;
use quita_domain::operation::{Operation, OperationKind};
use quita_domain::order::{Address, Order, Payer, Terms, Utm};
use quita_domain::outbound_call::OutboundCall;
use quita_domain::phone::Phone;
use quita_domain::postal::{Cep, Uf};
use quita_domain::routing::DueDates;
use quita_domain::secret::Secret;
use quita_domain::time::Timestamp;
use quita_ports::{Acquirer, AcquirerFactory, AcquirerSpec, Clock, Preparation};
use serde_json::{Value, json};
use tokio::time::Instant;
use uuid::Uuid;

use crate::bank::{Bank, Door, E2E, KEY, Reply};

pub(crate) const ID: u128 = 0x0193_5a1b_7c00_7abc_8def_0123_4567_89ab;
pub(crate) const TXID: &str = "01935a1b7c007abc8def0123456789ab";
pub(crate) const REFUND: u128 = 0x0193_5a1b_7c00_7abc_8def_0000_0000_0001;
pub(crate) const REFUND_ID: &str = "01935a1b7c007abc8def000000000001";
pub(crate) const REFUND_UUID: &str = "01935a1b-7c00-7abc-8def-000000000001";
pub(crate) const NOTICE_TOKEN: &str = "unguessable-token-0123456789";

/// A wall clock that goes with the runtime's paused one.
struct TestClock(Instant);

impl Clock for TestClock {
    fn now(&self) -> Timestamp {
        let elapsed = u64::try_from(self.0.elapsed().as_millis()).unwrap();
        Timestamp::parse("2026-11-21T12:00:00Z").unwrap().plus_ms(elapsed)
    }
}

pub(crate) fn clock() -> Arc<dyn Clock> {
    Arc::new(TestClock(Instant::now()))
}

pub(crate) fn spec() -> AcquirerSpec {
    AcquirerSpec {
        name: AcquirerName::new("bank"),
        mode: Mode::Live,
        methods: vec![Method::Pix],
        priority: 1,
        weight: 1,
        min_amount: Money::from_cents(1),
        max_amount: Money::MAX,
        concurrency: 8,
        time_out_ms: 10_000,
        rate: None,
        max_expiry_s: None,
        due_dates: DueDates::ALL,
        hint_gap_ms: 2_000,
    }
}

pub(crate) fn settings() -> ApiPixSettings {
    let address = format!("https://q.example/acquirers/bank/notifications/{NOTICE_TOKEN}");
    ApiPixSettings {
        base_url: "https://pix.bank.example/v2".into(),
        revision_base_url: "https://pix.bank.example/v2".into(),
        token: TokenSettings::ClientCredentials {
            url: "https://pix.bank.example/oauth/token".into(),
            form: TokenForm::BasicForm,
            client_id: "quita-client".into(),
            client_secret: Some(Secret::new("very-secret-secret".into())),
            scope: "cob.write cob.read".into(),
        },
        pix_key: KEY.into(),
        receiver: Some(Receiver { name: "LOJA EXEMPLO".into(), city: "SAO PAULO".into() }),
        headers: vec![],
        query: vec![],
        code_fields: vec!["pixCopiaECola".into()],
        ignores_txid_of_answer: false,
        webhook: WebhookSettings {
            registration: CallbackRegistration::Register,
            address: Some(Secret::new(address)),
            token: Secret::new(NOTICE_TOKEN.into()),
            other_tokens: Vec::new(),
            headers: vec![],
        },
        lists: true,
    }
}

pub(crate) fn order(cents: u64) -> Order {
    let address = Address {
        street: "Rua".into(),
        number: "1".into(),
        complement: None,
        neighborhood: "Centro".into(),
        city: "São Paulo".into(),
        state: Uf::parse("SP").unwrap(),
        zip_code: Cep::parse("01310100").unwrap(),
    };
    let payer = Payer {
        first_name: "Fulano".into(),
        last_name: "de Tal".into(),
        document: Document::parse("11144477735", DocumentType::Cpf).unwrap(),
        email: "fulano@example.com".into(),
        phone: Phone::parse("11987654321").unwrap(),
        address: Some(address),
    };
    Order {
        method: Method::Pix,
        amount: Money::from_cents(cents),
        payer,
        items: Vec::new(),
        shipping_fee: None,
        splits: Vec::new(),
        utm: Utm::default(),
        postback_url: None,
        external_reference: Some("pedido 42".into()),
        metadata: BTreeMap::new(),
        terms: Terms::Pix { expires_in_s: 3_600 },
    }
}

pub(crate) fn query(cents: u64) -> ChargeQuery {
    ChargeQuery {
        id: TransactionId::new(Uuid::from_u128(ID)),
        method: Method::Pix,
        amount: Money::from_cents(cents),
        paid_amount: None,
        refunded_amount: Money::ZERO,
        created_at: Timestamp::parse("2026-11-21T12:00:00Z").unwrap(),
        sent_at: Timestamp::parse("2026-11-21T12:00:00Z").unwrap(),
        expired_at: None,
        cancelled_at: None,
        attempt: AttemptNumber::FIRST,
        card: None,
        issued: None,
        captures_at_once: true,
        terms: Terms::Pix { expires_in_s: 3_600 },
        splits: Vec::new(),
        reference: Reference::none(),
        others: Vec::new(),
        our_number: None,
        may_have_others: false,
        foreign_pix: Vec::new(),
        operation_under_way: false,
    }
}

pub(crate) fn charge(cents: u64) -> Charge {
    Charge { query: query(cents), order: Arc::new(order(cents)), card: None }
}

pub(crate) fn operation(kind: OperationKind) -> Operation {
    let at = Timestamp::parse("2026-11-21T12:30:00Z").unwrap();
    Operation {
        sent: 1,
        call: OutboundCall::sent(at),
        ..Operation::ready(OperationId::new(Uuid::from_u128(REFUND)), kind, at)
    }
}

/// The bank and the adapter of one thread.
pub(crate) struct World {
    pub(crate) bank: Arc<Bank>,
    pub(crate) factory: ApiPixFactory,
    pub(crate) adapter: Rc<dyn Acquirer>,
}

impl World {
    pub(crate) fn open() -> Self {
        Self::with(settings())
    }

    pub(crate) fn with(settings: ApiPixSettings) -> Self {
        let bank = Bank::open();
        let factory = ApiPixFactory::new(spec(), settings, Arc::new(Door(Arc::clone(&bank))), clock());
        let adapter = factory.build();
        Self { bank, factory, adapter }
    }

    /// One whose bank has a charge of 10.00.
    pub(crate) async fn charged() -> Self {
        let world = Self::open();
        assert!(matches!(world.charge().await, ChargeAnswer::Known(_)));
        world
    }

    /// And the money for it.
    pub(crate) async fn paid() -> Self {
        let world = Self::charged().await;
        world.pay(json!([pix(E2E, "10.00", "2026-11-21T12:01:00Z")]));
        world
    }

    pub(crate) fn pay(&self, pix: Value) {
        self.bank.change(TXID, |cob| {
            cob["status"] = json!("CONCLUIDA");
            cob["pix"] = pix;
        });
    }

    pub(crate) fn preparation(&self) -> &dyn Preparation {
        self.factory.preparation().unwrap()
    }

    pub(crate) async fn charge(&self) -> ChargeAnswer {
        self.adapter.charge(&charge(1_000)).await
    }

    pub(crate) async fn inquire(&self) -> ChargeAnswer {
        self.adapter.inquire(&query(1_000)).await
    }

    /// Returns the facts that an inquiry states.
    pub(crate) async fn facts(&self) -> Vec<Fact> {
        stated(self.inquire().await).facts
    }

    /// Answers the next inquiry as if the bank had this charge instead.
    pub(crate) fn next_inquiry(&self, cob: Value) -> &Self {
        self.bank.next(quita_acquirers::exchange::Verb::Get, "/cob/", Reply::Answer(200, cob));
        self
    }
}

pub(crate) fn pix(id: &str, amount: &str, at: &str) -> Value {
    json!({"endToEndId": id, "txid": TXID, "valor": amount, "chave": KEY, "horario": at})
}

pub(crate) fn stated(answer: ChargeAnswer) -> Statement {
    match answer {
        ChargeAnswer::Known(statement) => statement,
        other => panic!("{other:?}"),
    }
}

pub(crate) fn failure(answer: ChargeAnswer) -> CallFailure {
    match answer {
        ChargeAnswer::Failed(failure) => failure,
        other => panic!("{other:?}"),
    }
}
