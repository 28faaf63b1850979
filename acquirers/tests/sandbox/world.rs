//! A small service around the sandbox: it stores one payment, decides, and wakes when something is due.

use std::collections::BTreeMap;
use std::rc::Rc;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use async_trait::async_trait;
use quita_acquirers::sandbox::{SandboxFactory, SandboxSettings};
use quita_domain::acquiring::{CallFailure, Charge, ChargeAnswer, Notice};
use quita_domain::card::{CardData, CardNumber, Cvv, Expiry};
use quita_domain::document::{Document, DocumentType};
use quita_domain::due_terms::DueTerms;
use quita_domain::identity::{AcquirerName, ApplicationName, MerchantId, Mode, Owner, TransactionId};
use quita_domain::method::Method;
use quita_domain::money::Money;
use quita_domain::numbering::AttemptNumber;
use quita_domain::order::{Address, Order, Payer, Terms, Utm};
use quita_domain::payment::{
    Command, Context, Decision, DiscrepancyKind, Effect, Inquiring, NewPayment, Payment, Report,
};
use quita_domain::phone::Phone;
use quita_domain::postal::{Cep, Uf};
use quita_domain::routing::{Considered, DueDates, Routed};
use quita_domain::status::Status;
use quita_domain::time::Timestamp;
use quita_domain::webhook::signature::WebhookSecret;
use quita_ports::{Acquirer, AcquirerFactory, AcquirerSpec, Clock, LocalIssue, NoticeSink, SinkError};
use tokio::time::{Instant, sleep, timeout};
use uuid::Uuid;

pub(crate) const TIME_OUT_MS: u64 = 10_000;
pub(crate) const ID: u128 = 0x0193_5a1b_7c00_7abc_8def_0123_4567_89ab;

/// A wall clock that goes with the runtime's paused one.
pub(crate) struct TestClock {
    begun: Instant,
}

impl TestClock {
    pub(crate) fn start() -> Arc<Self> {
        Arc::new(Self { begun: Instant::now() })
    }

    pub(crate) fn elapsed_ms(&self) -> u64 {
        u64::try_from(self.begun.elapsed().as_millis()).unwrap()
    }
}

impl Clock for TestClock {
    fn now(&self) -> Timestamp {
        Timestamp::parse("2026-11-21T12:00:00Z").unwrap().plus_ms(self.elapsed_ms())
    }
}

/// Keeps what it is given, with the time; refuses as often as it is told to.
pub(crate) struct RecordingSink {
    clock: Arc<TestClock>,
    pub(crate) taken: Mutex<Vec<(u64, Notice)>>,
    pub(crate) refusals: Mutex<u32>,
}

impl RecordingSink {
    pub(crate) fn new(clock: &Arc<TestClock>) -> Arc<Self> {
        let clock = Arc::clone(clock);
        Arc::new(Self { clock, taken: Mutex::default(), refusals: Mutex::default() })
    }

    /// Returns when each notice came, in milliseconds, with the last part of its id.
    pub(crate) fn seen(&self) -> Vec<(u64, String)> {
        let taken = self.taken.lock().unwrap();
        taken.iter().map(|(at, notice)| (*at, notice.id.rsplit(':').next().unwrap().to_owned())).collect()
    }
}

#[async_trait]
impl NoticeSink for RecordingSink {
    async fn submit(&self, notice: Notice) -> Result<bool, SinkError> {
        let mut refusals = self.refusals.lock().unwrap();
        if *refusals > 0 {
            *refusals -= 1;
            return Err(SinkError::Busy);
        }
        self.taken.lock().unwrap().push((self.clock.elapsed_ms(), notice));
        Ok(true)
    }
}

/// A factory as the development configuration makes it, connected to this sink.
pub(crate) fn factory(name: &str, clock: &Arc<TestClock>, sink: &Arc<RecordingSink>) -> SandboxFactory {
    let spec = AcquirerSpec {
        name: AcquirerName::new(name),
        mode: Mode::Test,
        methods: Method::ALL.to_vec(),
        priority: 1,
        weight: 1,
        min_amount: Money::from_cents(1),
        max_amount: Money::MAX,
        concurrency: 8,
        time_out_ms: TIME_OUT_MS,
        rate: None,
        max_expiry_s: None,
        due_dates: DueDates::ALL,
        hint_gap_ms: 2_000,
    };
    let clock: Arc<dyn Clock> = Arc::<TestClock>::clone(clock);
    let secret = WebhookSecret::from_bytes(vec![7; WebhookSecret::BYTES]);
    let factory = SandboxFactory::new(spec, SandboxSettings::default(), vec![secret], clock);
    factory.local_issue().unwrap().connect(Arc::<RecordingSink>::clone(sink));
    factory
}

pub(crate) fn card(number: &str) -> CardData {
    let number = CardNumber::parse(number).unwrap();
    let cvv =
        Cvv::parse(if number.brand().cvv_length() == 4 { "7373" } else { "737" }, number.brand()).unwrap();
    CardData { number, holder_name: "FULANO DE TAL".into(), expiry: Expiry::new(12, 2030).unwrap(), cvv }
}

pub(crate) fn order(method: Method, cents: u64, card: Option<&CardData>, capture: bool) -> Order {
    let terms = match method {
        Method::Pix => Terms::Pix { expires_in_s: 3600 },
        Method::Boleto => Terms::Boleto(DueTerms::plain("2026-12-01".parse().unwrap())),
        Method::CreditCard => Terms::CreditCard { card: card.unwrap().masked(), installments: 1, capture },
    };
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

/// One payment and everything around it.
pub(crate) struct World {
    pub(crate) clock: Arc<TestClock>,
    pub(crate) sink: Arc<RecordingSink>,
    pub(crate) acquirers: Vec<SandboxFactory>,
    pub(crate) payment: Payment,
    /// Every status it had, and what an operator saw, except what only came too early.
    pub(crate) statuses: Vec<Status>,
    pub(crate) discrepancies: Vec<DiscrepancyKind>,
    card: Option<CardData>,
    effects: Vec<Effect>,
    /// Since when it is asked for a charge, by its number.
    asking_since_ms: BTreeMap<AttemptNumber, u64>,
    worked: Vec<String>,
}

impl World {
    /// Opens a payment that may go to these acquirers. The card's number is given for a card.
    pub(crate) fn open(
        names: &[&str],
        method: Method,
        cents: u64,
        number: Option<&str>,
        capture: bool,
    ) -> Self {
        let clock = TestClock::start();
        let sink = RecordingSink::new(&clock);
        let acquirers = names.iter().map(|name| factory(name, &clock, &sink)).collect();
        let card = number.map(card);
        let considered = |name: &&str| Considered {
            acquirer: AcquirerName::new(*name),
            eligible: true,
            reason: "preferred".into(),
        };
        let new = NewPayment {
            id: TransactionId::new(Uuid::from_u128(ID)),
            owner: Owner {
                merchant: MerchantId::new("demo"),
                application: ApplicationName::new("default"),
                mode: Mode::Test,
            },
            order: Arc::new(order(method, cents, card.as_ref(), capture)),
            fingerprint: None,
            card_fingerprint: None,
            used_token: None,
            page_token: "token".into(),
            link: None,
            considered: names.iter().map(considered).collect(),
            routed: Routed::default(),
        };
        let context = Context { card_at_hand: card.is_some(), ..context(clock.now(), Uuid::from_u128(1)) };
        let decision = Payment::open(new, &context);
        let payment = decision.next.unwrap();
        let statuses = vec![payment.status()];
        let effects = decision.effects;
        let discrepancies = Vec::new();
        let worked = Vec::new();
        let asking_since_ms = BTreeMap::new();
        Self {
            clock,
            sink,
            acquirers,
            payment,
            statuses,
            discrepancies,
            card,
            effects,
            worked,
            asking_since_ms,
        }
    }

    /// Lets the service work for this long.
    pub(crate) async fn run_for(&mut self, ms: u64) {
        let until = self.clock.elapsed_ms() + ms;
        while self.clock.elapsed_ms() < until {
            while !self.effects.is_empty() {
                let effect = self.effects.remove(0);
                self.perform(effect).await;
            }
            self.work_notices();
            if self.payment.due_at().is_some_and(|at| at <= self.clock.now()) {
                self.decide(Command::Wake);
            }
            sleep(Duration::from_millis(10)).await;
        }
    }

    async fn perform(&mut self, effect: Effect) {
        let query = self.payment.query();
        let attempt = query.attempt;
        let time_out = Duration::from_millis(TIME_OUT_MS);
        let cut = ChargeAnswer::Failed(CallFailure::Unknown("timeout".into()));
        match effect {
            Effect::Charge(name) => {
                let charge = Charge { query, order: self.payment.order.clone(), card: self.card.clone() };
                if let Some(fact) = self.local_issue(&name).issue(&charge.query) {
                    self.decide(Command::ChargeAnswered { attempt, answer: ChargeAnswer::known(fact) });
                    self.local_issue(&name).stored(&self.payment.query());
                    return;
                }
                let answer = timeout(time_out, self.acquirer(&name).charge(&charge)).await.unwrap_or(cut);
                self.work_notices();
                self.decide(Command::ChargeAnswered { attempt, answer });
            }
            Effect::Inquire(name, attempt) => {
                let now_ms = self.clock.elapsed_ms();
                let since_ms = *self.asking_since_ms.entry(attempt).or_insert(now_ms);
                let answer = timeout(time_out, self.acquirer(&name).inquire(&query)).await.unwrap_or(cut);
                self.decide(Command::Inquired {
                    attempt,
                    asked_at: None,
                    inquiring: asking_for(now_ms - since_ms),
                    answer,
                });
            }
            Effect::Operate(name, id) => {
                let operation = self.payment.operations.iter().find(|one| one.id == id).unwrap().clone();
                let answer = self.acquirer(&name).operate(&query, &operation).await;
                let sending = operation.sent;
                self.decide(Command::OperationAnswered { operation: id, sending, answer });
            }
            Effect::InquireOperation(name, id) => {
                let operation = self.payment.operations.iter().find(|one| one.id == id).unwrap().clone();
                let answer = self.acquirer(&name).inquire_operation(&query, &operation).await;
                let sending = operation.sending();
                let inquiring = asking_for(0);
                self.decide(Command::OperationInquired { operation: id, sending, inquiring, answer });
            }
            Effect::Report => {
                let keys = self.payment.reports.iter().map(Report::key).collect();
                self.decide(Command::Reported(keys));
            }
            Effect::Deliver(_) => {}
        }
    }

    pub(crate) fn acquirer(&self, name: &AcquirerName) -> Rc<dyn Acquirer> {
        self.factory(name).build()
    }

    fn factory(&self, name: &AcquirerName) -> &SandboxFactory {
        self.acquirers.iter().find(|factory| factory.spec().name == *name).unwrap()
    }

    fn local_issue(&self, name: &AcquirerName) -> &dyn LocalIssue {
        self.factory(name).local_issue().unwrap()
    }

    /// Works each notice once; one that comes too early is worked again later.
    fn work_notices(&mut self) {
        let taken: Vec<Notice> =
            self.sink.taken.lock().unwrap().iter().map(|(_, notice)| notice.clone()).collect();
        for notice in taken {
            let Notice { id, acquirer, fact, .. } = notice;
            if !self.worked.contains(&id) && self.decide(Command::Notified { acquirer, fact }) {
                self.worked.push(id);
            }
        }
    }

    /// Decides; whether it was not too early.
    pub(crate) fn decide(&mut self, command: Command) -> bool {
        let op = Uuid::from_u128(u128::from(self.payment.revision) + 2);
        let context = Context { card_at_hand: self.card.is_some(), ..context(self.clock.now(), op) };
        let Decision { next, effects, discrepancies, .. } = self.payment.decide(command, &context).unwrap();
        if let Some(next) = next {
            self.statuses
                .extend(next.history.iter().skip(self.payment.history.len()).map(|event| event.status));
            self.payment = next;
        }
        self.effects.extend(effects);
        let kinds: Vec<_> = discrepancies.into_iter().map(|discrepancy| discrepancy.kind).collect();
        let is_too_early = kinds.contains(&DiscrepancyKind::TooEarly);
        self.discrepancies.extend(kinds.into_iter().filter(|kind| *kind != DiscrepancyKind::TooEarly));
        self.discrepancies.dedup();
        !is_too_early
    }
}

const fn context(now: Timestamp, op: Uuid) -> Context {
    Context::plain(now, op)
}

/// Asked by one process, about calls that it heard the end of.
#[allow(clippy::unnecessary_wraps, reason = "as commands have it")]
const fn asking_for(for_ms: u64) -> Option<Inquiring> {
    Some(Inquiring { call_is_over: true, for_ms })
}
