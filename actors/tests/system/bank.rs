//! Acquirers that answer as they are told, and keep a ledger of what they really hold.

mod calls;
mod notices;

use std::collections::{BTreeMap, VecDeque};
use std::num::NonZeroU32;
use std::rc::Rc;
use std::sync::atomic::{AtomicBool, AtomicU32, AtomicU64, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use async_trait::async_trait;
use quita_domain::acquiring::{
    Approval, CallFailure, Charge, ChargeAnswer, ChargeQuery, Decline, DeclineKind, Fact, Identified, Issued,
    OperationAnswer, Reference, Settlement,
};
use quita_domain::boleto::NumberDigit;
use quita_domain::identity::{AcquirerName, Mode, OperationId, TransactionId};
use quita_domain::method::Method;
use quita_domain::money::Money;
use quita_domain::operation::Operation;
use quita_domain::order::Order;
use quita_domain::payment::Command;
use quita_domain::routing::DueDates;
use quita_ports::{
    Acquirer, AcquirerFactory, AcquirerSpec, ListReader, LocalIssue, NoticeReader, NoticeSink, NumberRange,
    Preparation, call_time,
};
use tokio::time::{Instant, sleep, sleep_until};

use self::calls::Calls;
use crate::chance::TestClock;
use crate::trace::{Mark, Trace};

pub(crate) use self::calls::Call;

/// Longest time that a bank may take for an answer, in milliseconds.
pub(crate) const TIME_OUT_MS: u64 = 5_000;

/// Reaction of a bank to a call.
#[derive(Debug, Clone)]
pub(crate) enum Answer {
    /// It takes the charge and says so.
    Takes,
    /// It takes the charge, which is paid at once.
    Pays,
    /// It refuses for good.
    Declines,
    /// It declines, and says so of whether that may change.
    DeclinesAs(Option<DeclineKind>),
    /// It has somebody else's slip under the number.
    NumberTaken,
    /// It can't be reached.
    Unreachable,
    /// It answers nonsense, and has done nothing.
    Nonsense,
    /// It does not know the charge.
    Missing,
    /// It wants no calls for this many milliseconds, and has done nothing.
    Throttled(u64),
    /// It takes the charge, but its answer never comes.
    TakesSilently,
    /// It never hears of it, and no answer comes.
    Silence,
    /// The adapter panics before anything was sent.
    Panic,
    /// It answers late.
    After(Duration, Box<Answer>),
    /// The adapter waits before it sends anything, if it may wait for so long.
    Waits(Duration, Box<Answer>),
}

impl Answer {
    pub(crate) fn after_ms(ms: u64, answer: Self) -> Self {
        Self::After(Duration::from_millis(ms), Box::new(answer))
    }

    pub(crate) fn waits_ms(ms: u64, answer: Self) -> Self {
        Self::Waits(Duration::from_millis(ms), Box::new(answer))
    }
}

/// One acquirer.
pub(crate) struct Bank {
    spec: AcquirerSpec,
    name: &'static str,
    is_local: bool,
    operates_in_turn: bool,
    numbers: Option<NumberRange>,
    refunds: bool,
    /// It has slips under all numbers up to this one.
    numbered_to: AtomicU32,
    /// Numbers of the slips that were charged.
    charged: Mutex<Vec<Option<u32>>>,
    charges: Mutex<VecDeque<Answer>>,
    usual: Mutex<Answer>,
    finds: Mutex<VecDeque<Answer>>,
    operations: Mutex<VecDeque<OperationAnswer>>,
    operation_inquiries: Mutex<VecDeque<OperationAnswer>>,
    /// Last answer to each operation.
    operated: Mutex<BTreeMap<OperationId, OperationAnswer>>,
    held: Mutex<BTreeMap<TransactionId, Fact>>,
    /// Time that an answer to a question takes, in milliseconds.
    finds_take_ms: AtomicU64,
    /// True if nobody gets an answer.
    is_away: AtomicBool,
    /// Time from which calls can have what they need, if they need anything.
    /// The flag is true if that time is known beforehand.
    ready_at: Mutex<Option<(Instant, bool)>>,
    /// Charges under way: now, and at most.
    under_way: Mutex<(usize, usize)>,
    calls: Calls,
    trace: Trace,
}

impl Bank {
    pub(crate) fn new(
        name: &'static str,
        priority: u32,
        is_local: bool,
        clock: Arc<TestClock>,
        trace: Trace,
    ) -> Self {
        let spec = AcquirerSpec {
            name: AcquirerName::new(name),
            mode: Mode::Test,
            methods: vec![Method::Pix, Method::CreditCard],
            priority,
            weight: 1,
            min_amount: Money::from_cents(1),
            max_amount: Money::from_cents(100_000_000),
            concurrency: 2_000,
            time_out_ms: TIME_OUT_MS,
            rate: None,
            max_expiry_s: None,
            due_dates: DueDates::ALL,
            hint_gap_ms: 2_000,
        };
        Self {
            spec,
            name,
            is_local,
            operates_in_turn: false,
            numbers: None,
            refunds: true,
            charged: Mutex::default(),
            charges: Mutex::default(),
            usual: Mutex::new(Answer::Takes),
            finds: Mutex::default(),
            operations: Mutex::default(),
            operation_inquiries: Mutex::default(),
            operated: Mutex::default(),
            held: Mutex::default(),
            finds_take_ms: AtomicU64::new(0),
            numbered_to: AtomicU32::new(0),
            is_away: AtomicBool::new(false),
            ready_at: Mutex::default(),
            under_way: Mutex::default(),
            calls: Calls::new(clock),
            trace,
        }
    }

    /// It gives nothing back.
    pub(crate) const fn keep_money(&mut self) {
        self.refunds = false;
    }

    /// It leaves these numbers of slips to us.
    pub(crate) fn leave_numbers(&mut self, first: u32, last: u32) {
        self.numbers = Some(NumberRange { key: self.name.into(), first, last, digit: None });
    }

    /// It wants a check digit after each of the numbers that it leaves to us.
    pub(crate) fn want_digits(&mut self) {
        let digit = NumberDigit::sicoob(1, 19).ok();
        self.numbers = self.numbers.take().map(|range| NumberRange { digit, ..range });
    }

    /// It has slips of others under all numbers up to this one.
    pub(crate) fn has_numbers_to(&self, last: u32) {
        self.numbered_to.store(last, Ordering::SeqCst);
    }

    /// The numbers of the slips that were charged, in order.
    pub(crate) fn charged_numbers(&self) -> Vec<Option<u32>> {
        self.charged.lock().unwrap().clone()
    }

    /// It may take so long for an answer.
    pub(crate) const fn answers_within_ms(&mut self, time_out_ms: u64) {
        self.spec.time_out_ms = time_out_ms;
    }

    /// It takes this many calls at once.
    pub(crate) const fn limit_calls(&mut self, concurrency: usize) {
        self.spec.concurrency = concurrency;
    }

    /// It allows this many calls a second.
    pub(crate) const fn limit_rate(&mut self, per_second: u32) {
        self.spec.rate = NonZeroU32::new(per_second);
    }

    /// It takes so long for each answer to a question.
    pub(crate) fn finds_take_ms(&self, ms: u64) {
        self.finds_take_ms.store(ms, Ordering::SeqCst);
    }

    /// From now on, or until now, nobody gets an answer.
    pub(crate) fn is_away(&self, is_away: bool) {
        self.is_away.store(is_away, Ordering::SeqCst);
    }

    /// The token, or whatever calls need, can't be had for so long; it may be known how long that is.
    pub(crate) fn lacks_for_ms(&self, ms: u64, is_known: bool) {
        let at = Instant::now() + Duration::from_millis(ms);
        *self.ready_at.lock().unwrap() = Some((at, is_known));
    }

    /// It knows operations by its sums alone.
    pub(crate) const fn operate_in_turn(&mut self) {
        self.operates_in_turn = true;
    }

    /// The most charges that were under way at once.
    pub(crate) fn most_under_way(&self) -> usize {
        self.under_way.lock().unwrap().1
    }

    /// The next charges are answered so, then as usual.
    pub(crate) fn next(&self, answers: impl IntoIterator<Item = Answer>) {
        self.charges.lock().unwrap().extend(answers);
    }

    /// Every charge that nothing else was planned for is answered so.
    pub(crate) fn usually(&self, answer: Answer) {
        *self.usual.lock().unwrap() = answer;
    }

    /// The next questions are answered so, then with the truth.
    pub(crate) fn next_finds(&self, answers: impl IntoIterator<Item = Answer>) {
        self.finds.lock().unwrap().extend(answers);
    }

    /// The next operations are answered so, then done.
    pub(crate) fn next_operations(&self, answers: impl IntoIterator<Item = OperationAnswer>) {
        self.operations.lock().unwrap().extend(answers);
    }

    /// The next questions about operations are answered so, then with the truth.
    pub(crate) fn next_operation_inquiries(&self, answers: impl IntoIterator<Item = OperationAnswer>) {
        self.operation_inquiries.lock().unwrap().extend(answers);
    }

    /// Returns true if the bank holds the charge.
    pub(crate) fn holds(&self, id: TransactionId) -> bool {
        self.held.lock().unwrap().contains_key(&id)
    }

    /// Returns when the bank was asked what became of a charge, in milliseconds since the world began.
    pub(crate) fn asked_ms(&self) -> Vec<u64> {
        self.called_ms(Call::Inquire)
    }

    /// Returns when the bank was called for this, in milliseconds since the world began.
    pub(crate) fn called_ms(&self, call: Call) -> Vec<u64> {
        self.calls().into_iter().filter(|(made, _)| *made == call).map(|(_, at_ms)| at_ms).collect()
    }

    /// Every call that it got, with the milliseconds since the world began.
    pub(crate) fn calls(&self) -> Vec<(Call, u64)> {
        self.calls.made()
    }

    /// Every operation as it was sent.
    pub(crate) fn sent_operations(&self) -> Vec<Operation> {
        self.calls.operations()
    }

    /// It takes a charge whose call was cut long ago.
    pub(crate) fn takes_late(&self, query: &ChargeQuery) {
        self.take(query);
    }

    /// Has the bank hold from now on that the payer paid.
    pub(crate) fn is_paid(&self, id: TransactionId, cents: u64) {
        self.states(id, settled(id, cents));
    }

    /// Sets what the bank states of the charge from now on.
    pub(crate) fn states(&self, id: TransactionId, fact: Fact) {
        self.held.lock().unwrap().insert(id, fact);
    }

    async fn answer(&self, mut answer: Answer, query: &ChargeQuery) -> ChargeAnswer {
        loop {
            if let Answer::After(wait, then) = answer {
                sleep(wait).await;
                answer = *then;
            } else if let Answer::Waits(wait, then) = answer {
                if call_time::waiting(sleep(wait)).await.is_err() {
                    return ChargeAnswer::Failed(CallFailure::Withheld);
                }
                answer = *then;
            } else {
                break;
            }
        }
        let unknown = |why: &str| ChargeAnswer::Failed(CallFailure::Unknown(why.into()));
        match answer {
            Answer::Takes => ChargeAnswer::known(self.take(query)),
            Answer::Pays => {
                let fact = paid(query);
                self.held.lock().unwrap().insert(query.id, fact.clone());
                ChargeAnswer::known(fact)
            }
            Answer::Declines => ChargeAnswer::known(Fact::Declined(Decline::of("insufficient_funds"))),
            Answer::DeclinesAs(kind) => {
                let decline = Decline { kind, ..Decline::of("insufficient_funds") };
                ChargeAnswer::known(Fact::Declined(decline))
            }
            Answer::NumberTaken => ChargeAnswer::NumberTaken("another program's".into()),
            Answer::Unreachable => ChargeAnswer::Failed(CallFailure::NotDelivered("no connection".into())),
            Answer::Nonsense => unknown("not JSON"),
            Answer::Missing => ChargeAnswer::NotFound,
            Answer::Throttled(after_ms) => ChargeAnswer::Failed(CallFailure::Throttled { after_ms }),
            Answer::TakesSilently => {
                self.take(query);
                std::future::pending().await
            }
            Answer::Silence => std::future::pending().await,
            Answer::Panic => panic!("the adapter of {} panics", self.name),
            Answer::After(..) | Answer::Waits(..) => unreachable!("waited for above"),
        }
    }

    fn take(&self, query: &ChargeQuery) -> Fact {
        let expires_at = query.created_at.plus_ms(3_600_000);
        let txid = query.id.uuid().simple().to_string();
        let pending =
            Fact::Pending { issued: Issued::Pix { txid, code: "code".into(), expires_at }, news_at: None };
        let fact = match query.method {
            Method::CreditCard => paid(query),
            Method::Pix | Method::Boleto => pending,
        };
        self.held.lock().unwrap().entry(query.id).or_insert(fact).clone()
    }
}

/// The money came in with the answer; a card's approval comes in the same one.
fn paid(query: &ChargeQuery) -> Fact {
    let approval = query.card.is_some().then(|| Approval { authorization_code: "123456".into() });
    settled_with(query.id, query.amount.cents(), approval)
}

/// A notice of the first bank.
pub(crate) fn notified(fact: Fact) -> Command {
    Command::Notified { acquirer: AcquirerName::new("first"), fact }
}

/// The money came in.
pub(crate) fn settled(id: TransactionId, cents: u64) -> Fact {
    settled_with(id, cents, None)
}

fn settled_with(id: TransactionId, cents: u64, approval: Option<Approval>) -> Fact {
    let id = format!("settlement-{id}");
    let amount = Money::from_cents(cents);
    Fact::Settled(Settlement { id, amount, paid_on: None, end_to_end_id: None, approval })
}

/// Makes the bank's adapter.
pub(crate) struct BankFactory(pub(crate) Arc<Bank>);

impl AcquirerFactory for BankFactory {
    fn spec(&self) -> &AcquirerSpec {
        &self.0.spec
    }

    fn account(&self) -> String {
        String::new()
    }

    fn charge_account(&self) -> Option<String> {
        None
    }

    fn build(&self) -> Rc<dyn Acquirer> {
        Rc::new(Teller(Arc::clone(&self.0)))
    }

    fn preparation(&self) -> Option<&dyn Preparation> {
        self.0.ready_at.lock().unwrap().is_some().then_some(self)
    }

    fn notices(&self) -> Option<&dyn NoticeReader> {
        Some(self)
    }

    fn operates_in_turn(&self) -> bool {
        self.0.operates_in_turn
    }

    fn charge_name(&self) -> Option<&'static str> {
        None
    }

    fn refunds(&self, _: Method) -> bool {
        self.0.refunds
    }

    fn looks_at_paid(&self, _: Method) -> bool {
        false
    }

    fn states_cost(&self) -> bool {
        false
    }

    fn refund_shows_after_ms(&self, _: Method) -> u64 {
        0
    }

    fn objection(&self, _: &Order) -> Option<&'static str> {
        None
    }

    fn numbers(&self) -> Option<&NumberRange> {
        self.0.numbers.as_ref()
    }

    fn lists(&self) -> Option<Rc<dyn ListReader>> {
        None
    }

    fn local_issue(&self) -> Option<&dyn LocalIssue> {
        self.0.is_local.then_some(self)
    }
}

#[async_trait(?Send)]
impl Preparation for BankFactory {
    fn held_for(&self) -> Option<Duration> {
        let ready_at = *self.0.ready_at.lock().unwrap();
        let (at, _) = ready_at.filter(|(at, is_known)| *is_known && *at > Instant::now())?;
        Some(at.saturating_duration_since(Instant::now()))
    }

    fn is_ready(&self) -> bool {
        self.0.ready_at.lock().unwrap().is_none_or(|(at, _)| at <= Instant::now())
    }

    async fn prepare(&self, latest: Instant) -> bool {
        let ready_at = self.0.ready_at.lock().unwrap().map_or_else(Instant::now, |(at, _)| at);
        sleep_until(ready_at.min(latest)).await;
        self.is_ready()
    }
}

impl LocalIssue for BankFactory {
    fn connect(&self, _: Arc<dyn NoticeSink>) {}

    fn issue(&self, query: &ChargeQuery) -> Option<Fact> {
        (query.method == Method::Pix).then(|| {
            self.0.trace.note(Mark::Charged(self.0.name, query.id));
            self.0.take(query)
        })
    }

    fn stored(&self, query: &ChargeQuery) {
        self.0.trace.note(Mark::Begun(self.0.name, query.id));
    }
}

struct Teller(Arc<Bank>);

#[async_trait(?Send)]
impl Acquirer for Teller {
    async fn charge(&self, charge: &Charge) -> ChargeAnswer {
        let bank = &self.0;
        bank.trace.note(Mark::Charged(bank.name, charge.query.id));
        bank.calls.note(Call::Charge);
        bank.charged.lock().unwrap().push(charge.query.our_number);
        let planned = bank.charges.lock().unwrap().pop_front();
        let answer = planned.unwrap_or_else(|| bank.usual.lock().unwrap().clone());
        {
            let mut under_way = bank.under_way.lock().unwrap();
            under_way.0 += 1;
            under_way.1 = under_way.1.max(under_way.0);
        }
        let answered = bank.answer(answer, &charge.query).await;
        bank.under_way.lock().unwrap().0 -= 1;
        answered
    }

    async fn inquire(&self, query: &ChargeQuery) -> ChargeAnswer {
        let bank = &self.0;
        bank.trace.note(Mark::Asked(bank.name, query.id));
        bank.calls.note(Call::Inquire);
        if bank.is_away.load(Ordering::SeqCst) {
            return std::future::pending().await;
        }
        match bank.finds_take_ms.load(Ordering::SeqCst) {
            0 => {}
            ms => sleep(Duration::from_millis(ms)).await,
        }
        let planned = bank.finds.lock().unwrap().pop_front();
        match planned {
            Some(answer) => bank.answer(answer, query).await,
            None => {
                let held = bank.held.lock().unwrap().get(&query.id).cloned();
                held.map_or(ChargeAnswer::NotFound, ChargeAnswer::known)
            }
        }
    }

    async fn operate(&self, query: &ChargeQuery, operation: &Operation) -> OperationAnswer {
        let bank = &self.0;
        bank.trace.note(Mark::Operated(bank.name, query.id));
        bank.calls.note_operation(operation);
        sleep(Duration::from_millis(10)).await;
        let planned = bank.operations.lock().unwrap().pop_front();
        let answer = planned.unwrap_or(OperationAnswer::Done);
        bank.operated.lock().unwrap().insert(operation.id, answer.clone());
        answer
    }

    /// The truth: what failed was not done.
    async fn inquire_operation(&self, _: &ChargeQuery, operation: &Operation) -> OperationAnswer {
        self.0.calls.note(Call::InquireOperation);
        if let Some(planned) = self.0.operation_inquiries.lock().unwrap().pop_front() {
            return planned;
        }
        match self.0.operated.lock().unwrap().get(&operation.id) {
            Some(OperationAnswer::Failed(_)) | None => OperationAnswer::NotFound,
            Some(answer) => answer.clone(),
        }
    }

    /// Each charge is called what its payment is; some are not shown yet.
    async fn identify(&self, reference: &Reference) -> Identified {
        self.0.calls.note(Call::Identify);
        if let Some(number) =
            reference.get(Reference::OUR_NUMBER).and_then(|number| number.parse::<u32>().ok())
        {
            let is_known = number <= self.0.numbered_to.load(Ordering::SeqCst);
            return if is_known { Identified::Unknown } else { Identified::NotFound };
        }
        let id = reference.get("id").and_then(|id| TransactionId::parse(id.strip_prefix("bank-")?));
        let is_shown_later = reference.get("id").is_some_and(|id| id.starts_with("bank-later"));
        let nobodys = if is_shown_later { Identified::NotFound } else { Identified::Unknown };
        id.map_or(nobodys, Identified::Payment)
    }
}
