//! Deliberate mistakes, which show that each such defect would be found.
//!
//! Each is made at a port, where the outside sees exactly what a service with this mistake would do. The code of the
//! service has no switch for it. A mistake is caught when any world of a campaign fails because of it.

use std::borrow::Cow;
use std::collections::BTreeMap;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, mpsc};

use quita_acquirers::exchange::{Failure, Request, Response, Verb};
use quita_domain::acquiring::{
    CallFailure, ChargeAnswer, ChargeQuery, Decline, DeclineKind, Fact, HintSubject, Issued, Notice,
    NoticeContent, OperationAnswer, Reference, Settlement, Statement,
};
use quita_domain::delivery::{Delivery, DeliveryState};
use quita_domain::identity::{AcquirerName, OperationId, TransactionId};
use quita_domain::link::holds_a_use;
use quita_domain::money::Money;
use quita_domain::operation::Operation;
use quita_domain::payment::Payment;
use quita_domain::pix::amount;
use quita_domain::routing::{RoutingTable, Then};
use quita_domain::time::Timestamp;
use quita_memory_store::Records;
use quita_ports::{ListPage, NoticeRefused, RawNotice, StoreError, Write, WriteError};
use quita_services::reconciliation::last_day;
use uuid::Uuid;

use crate::life;
use crate::provider::{FOREIGN_KEY, OUR_KEY, Provider};
use crate::reconciling::NIGHT;
use crate::routes::Routes;
use crate::world::World;

macro_rules! mistakes {
    ($($(#[doc = $doc:literal])* $name:ident),* $(,)?) => {
        /// Mistake that a service may make.
        #[derive(Debug, Clone, Copy, PartialEq, Eq)]
        pub(crate) enum Mistake { $($(#[doc = $doc])* $name),* }

        impl Mistake {
            const ALL: &'static [(Self, &'static str)] = &[$((Self::$name, concat!($($doc),*))),*];
        }
    };
}

mistakes! {
    /// A charge leaves before its intent is stored.
    SendBeforePersist,
    /// A write is acknowledged before it is durable.
    ReplyBeforePersist,
    /// A write does not check which revision it follows.
    DropTheGuard,
    /// A conflict counts as written.
    ConflictIsSuccess,
    /// A write whose reply was lost counts as written.
    UnknownIsWritten,
    /// A read sometimes shows the state before the last write.
    StaleRead,
    /// A failed fsync is tried again like any other failure.
    IgnoreFsync,
    /// Recorded times are the wall clock's.
    WallClockTimes,
    /// A charge that is sent has no time for its inquiry.
    ForgetCallLease,
    /// A claimed delivery has no time for its next attempt.
    ForgetDeliveryLease,
    /// An event is sometimes kept in memory and not stored with its status.
    LoseEvent,
    /// Deliveries lose their order.
    ReverseOutbox,
    /// A notice counts as processed when it is stored.
    FinishNoticeFirst,
    /// A notice that arrives too early is dropped.
    DropEarlyNotice,
    /// An exception that an operator must see is dropped.
    DropException,
    /// A charge without an answer counts as declined.
    TimeOutIsRefused,
    /// A charge without an answer counts as not delivered.
    TimeOutIsNotDelivered,
    /// A charge that is not found is sent again at once.
    NotFoundAtOnce,
    /// An operation that is sent again has another id.
    NewOperationId,
    /// An operation without an answer counts as not sent, and is sent again without an inquiry.
    UnknownOperationIsResent,
    /// An operation that is not found is sent again at once.
    OperationNotFoundAtOnce,
    /// A refund that its acquirer shows late counts as not found as early as any other.
    RefundShowsAtOnce,
    /// A refund that the acquirer accepted counts as done.
    AcceptedIsDone,
    /// Hints are dropped.
    DropHints,
    /// The acquirer's name for a charge is not used in inquiries.
    ForgetReference,
    /// Several chargebacks count as one.
    ChargebacksAreOne,
    /// A reported refund has no id by which a repetition is recognised.
    RefundHasNoId,
    /// Any answer of a receiver, or none, counts as a confirmation.
    AnyAnswerConfirms,
    /// Operators' directives are sometimes not found again.
    ForgetDirectives,
    /// A request that a provider did not answer is sent again at once, without an inquiry.
    RepeatUnasked,
    /// The body of a notice is believed.
    BelieveTheBody,
    /// Any sender of a notice is taken for the provider.
    BelieveTheSender,
    /// A charge whose money another key receives is taken for ours.
    AnyKeyIsOurs,
    /// A refund that was made at the provider's desk is not read.
    DropDeskRefunds,
    /// The first rule of the routes is ignored.
    IgnoreARule,
    /// Other acquirers are tried even where a rule stops.
    NeverStop,
    /// A card's tries are not counted.
    ForgetTries,
    /// A final decline counts as reversible.
    FinalIsReversible,
    /// Each node derives ids with the newest key of its own configuration, while the secret key is changed.
    DeriveByOwnConfiguration,
    /// A line that is imported twice is stored twice.
    ImportTwice,
    /// A truncated list counts as complete.
    CutIsWhole,
    /// A payment that differs from a list causes no inquiry.
    AskForNothing,
    /// A node that is told to stop drops what it had accepted.
    StopDropsAccepted,
    /// A node that is told to stop stores nothing that receivers confirmed.
    StopForgetsConfirmed,
    /// Routes that are read again are not used.
    IgnoreReload,
    /// Payments of an acquirer that is no longer configured count as declined.
    GoneIsDeclined,
    /// An erasure does not check which revision it follows.
    EraseUnguarded,
    /// Retention erases payers of payments that are not finished.
    EraseTheOpen,
    /// A charge beside the one that counts is not searched for.
    ForgetSecondCharge,
    /// A void or capture that is answered as failed counts as refused, and its sums are not inquired about.
    BelieveTheRefusal,
    /// A PIX ends by its bank's clock.
    BelieveTheBanksClock,
    /// A night that failed is forgotten when the next one is due.
    ForgetFailedNights,
    /// Money that is returned weeks after a payment is not looked for.
    ForgetWhatComesLater,
    /// The number of a boleto is stored after its call, and not before.
    NumberAfterTheCall,
    /// A Pix is bound to no payment.
    BindNoPix,
    /// A hint is acknowledged before the answer to it, or the hint itself, is stored.
    TakeHintsFirst,
    /// An inquiry without an answer counts as one that found nothing new.
    SilenceIsNoNews,
    /// A use of a link is given back twice.
    GiveUsesBackTwice,
    /// A use of a link is only counted, and not taken before its payment is stored.
    TakeNoUses,
    /// Uses of a link are counted in a copy of the store that lags.
    CountUsesInACopy,
}

/// Number of worlds within which a mistake must be caught.
const WORLDS: u64 = 5_000;

/// Worlds that caught a mistake which the first worlds do not catch. A change of the code changes the worlds. If a witness
/// no longer catches its mistake, all worlds are searched from the first on, and the world that does is printed to stand
/// here.
const WITNESSES: &[(Mistake, u64)] = &[
    (Mistake::AcceptedIsDone, 15),
    (Mistake::AnyKeyIsOurs, 30),
    (Mistake::AskForNothing, 138),
    (Mistake::BelieveTheBanksClock, 820),
    (Mistake::BelieveTheRefusal, 39),
    (Mistake::BelieveTheSender, 6),
    (Mistake::BindNoPix, 182),
    (Mistake::ChargebacksAreOne, 65),
    (Mistake::CountUsesInACopy, 6),
    (Mistake::CutIsWhole, 49),
    (Mistake::DropEarlyNotice, 8),
    (Mistake::DropHints, 1),
    (Mistake::EraseTheOpen, 7),
    (Mistake::EraseUnguarded, 72),
    (Mistake::FinalIsReversible, 37),
    (Mistake::FinishNoticeFirst, 5),
    (Mistake::ForgetDirectives, 13),
    (Mistake::ForgetFailedNights, 138),
    (Mistake::ForgetSecondCharge, 170),
    (Mistake::ForgetTries, 15),
    (Mistake::ForgetWhatComesLater, 62),
    (Mistake::GiveUsesBackTwice, 6),
    (Mistake::GoneIsDeclined, 9),
    (Mistake::IgnoreFsync, 14),
    (Mistake::IgnoreReload, 12),
    (Mistake::NewOperationId, 6),
    (Mistake::NotFoundAtOnce, 30),
    (Mistake::NumberAfterTheCall, 27),
    (Mistake::OperationNotFoundAtOnce, 142),
    (Mistake::RefundShowsAtOnce, 807),
    (Mistake::RepeatUnasked, 39),
    (Mistake::SilenceIsNoNews, 435),
    (Mistake::StopForgetsConfirmed, 30),
    (Mistake::TakeHintsFirst, 69),
    (Mistake::TakeNoUses, 6),
    (Mistake::UnknownOperationIsResent, 36),
];

/// Makes every mistake whose name contains this text, in worlds of its own. Returns true if each was caught.
pub(crate) fn run(only: &str, jobs: u64) -> bool {
    let meant = |(mistake, _): &&(Mistake, &str)| format!("{mistake:?}").contains(only);
    let mistakes: Vec<_> = Mistake::ALL.iter().filter(meant).collect();
    let next = AtomicUsize::new(0);
    let (sender, receiver) = mpsc::channel();
    let all_caught = std::thread::scope(|scope| {
        for _ in 0..jobs.max(1) {
            let sender = sender.clone();
            let next = &next;
            let mistakes = &mistakes;
            scope.spawn(move || {
                while let Some((mistake, meaning)) = mistakes.get(next.fetch_add(1, Ordering::Relaxed)) {
                    if sender.send((mistake, meaning, first_caught(*mistake))).is_err() {
                        break;
                    }
                }
            });
        }
        drop(sender);
        let mut all_caught = true;
        for (mistake, meaning, caught) in receiver {
            match caught {
                Some((seed, violation)) => {
                    println!("world {seed:>4} catches {mistake:?}:{meaning}");
                    println!("           {violation}");
                    if let Some(stale) = witness(*mistake).filter(|known| *known != seed) {
                        println!("           its witness {stale} no longer does: put {seed} into WITNESSES");
                    }
                }
                None => {
                    all_caught = false;
                    println!("NOT caught in {WORLDS} worlds: {mistake:?}:{meaning}");
                }
            }
        }
        all_caught
    });
    println!("{:>4} mistakes, all caught: {all_caught}", mistakes.len());
    all_caught && !mistakes.is_empty()
}

/// Returns the witness or the first world in which this mistake violates something, and the violation.
fn first_caught(mistake: Mistake) -> Option<(u64, String)> {
    witness(mistake).into_iter().chain(0..WORLDS).find_map(|seed| {
        let violations = life::seed_with(seed, false, Some(mistake)).violations;
        violations.into_iter().next().map(|violation| (seed, violation))
    })
}

fn witness(mistake: Mistake) -> Option<u64> {
    WITNESSES.iter().find(|(known, _)| *known == mistake).map(|(_, seed)| *seed)
}

/// Returns the write that is made. A mistake here leaves the decision right and makes its write wrong.
pub(crate) fn written(world: &World, place: usize, write: &Write) -> Write {
    let mut write = write.clone();
    let payment = Arc::make_mut(&mut write.payment);
    match world.mistake {
        Some(Mistake::WallClockTimes) => {
            Arc::make_mut(&mut payment.state).updated_at = world.skews[place].of(world.clock.now());
        }
        Some(Mistake::ForgetCallLease) => {
            if let Some(attempt) = Arc::make_mut(&mut payment.state).attempts.last_mut() {
                attempt.call.next_at = None;
            }
        }
        Some(Mistake::ForgetDeliveryLease) => {
            for delivery in &mut payment.outbox {
                delivery.next_attempt_at = None;
            }
        }
        Some(Mistake::LoseEvent) => {
            let known = world.store.payment(payment.id).map_or(0, |known| known.outbox.len());
            if payment.outbox.len() > known && world.chance.per_mille(300) {
                payment.outbox.pop();
            }
        }
        Some(Mistake::NumberAfterTheCall) => {
            for attempt in &mut Arc::make_mut(&mut payment.state).attempts {
                attempt.our_number =
                    attempt.reference.get(Reference::OUR_NUMBER).and_then(|number| number.parse().ok());
            }
        }
        Some(Mistake::BindNoPix) => payment.bound_pix.clear(),
        Some(Mistake::ReverseOutbox) => {
            let pending = |one: &&mut Delivery| one.state == DeliveryState::Pending;
            let mut pending: Vec<_> = payment.outbox.iter_mut().filter(pending).collect();
            if let [first, .., last] = pending.as_mut_slice() {
                std::mem::swap(*first, *last);
            }
        }
        Some(_) | None => {}
    }
    write
}

/// Turns the results of writes into those that the service receives.
pub(crate) fn heard(world: &World, results: Vec<Result<(), WriteError>>) -> Vec<Result<(), WriteError>> {
    let heard = |result: Result<(), WriteError>| match (world.mistake, &result) {
        (Some(Mistake::ConflictIsSuccess), Err(WriteError::Conflict))
        | (Some(Mistake::UnknownIsWritten), Err(WriteError::Unknown(_))) => Ok(()),
        (Some(Mistake::IgnoreFsync), Err(WriteError::NotWritten(StoreError::Broken(why)))) => {
            Err(WriteError::NotWritten(StoreError::Unavailable(why.clone())))
        }
        _ => result,
    };
    results.into_iter().map(heard).collect()
}

/// Turns the answer to a charge into the one that the service receives; `None` is a time-out.
pub(crate) fn charge_heard(world: &World, answer: Option<ChargeAnswer>) -> Option<ChargeAnswer> {
    let is_unknown = matches!(answer, None | Some(ChargeAnswer::Failed(CallFailure::Unknown(_))));
    match world.mistake {
        Some(Mistake::TimeOutIsRefused) if is_unknown => {
            Some(ChargeAnswer::known(Fact::Declined(Decline::of("time_out"))))
        }
        Some(Mistake::FinalIsReversible) => answer.map(decline_heard),
        Some(Mistake::TimeOutIsNotDelivered) if is_unknown => {
            Some(ChargeAnswer::Failed(CallFailure::NotDelivered("time-out".into())))
        }
        Some(_) | None => answer,
    }
}

/// Turns the times in an answer about a charge into those that the service relies on.
pub(crate) fn times_heard(world: &World, provider: &Provider, mut answer: ChargeAnswer) -> ChargeAnswer {
    if world.mistake != Some(Mistake::BelieveTheBanksClock) {
        return answer;
    }
    if let ChargeAnswer::Known(statement) = &mut answer {
        for fact in &mut statement.facts {
            if let Fact::Pending { issued: Issued::Pix { expires_at, .. }, .. } = fact {
                *expires_at = Timestamp::from_millis(expires_at.millis() + provider.view().clock_off_ms);
            }
        }
    }
    answer
}

/// Returns the nights known to a service that forgets failed ones: those of the last day.
pub(crate) fn nights_known(world: &World, records: &Records) -> Records {
    let last = last_day(world.clock.now(), NIGHT);
    let runs = records.runs.iter().filter(|((_, day), _)| *day >= last);
    Records { runs: runs.map(|(run, state)| (run.clone(), state.clone())).collect(), ..Records::default() }
}

/// Lag of the copy of the store, in milliseconds.
const COPY_BEHIND_MS: u64 = 3_000;

/// Returns the payments in which a service counts the uses of links.
pub(crate) fn uses_known<'a>(world: &World, records: &'a Records) -> Cow<'a, Records> {
    let with = |payments| Cow::Owned(Records { payments, ..Records::default() });
    match world.mistake {
        Some(Mistake::GiveUsesBackTwice) => {
            let mut given_back = BTreeMap::<_, usize>::new();
            for payment in records.payments.values().filter(|payment| !holds_a_use(payment.status())) {
                *given_back.entry(payment.link).or_default() += 1;
            }
            let mut is_given_back_again = |payment: &Payment| {
                let left = given_back.get_mut(&payment.link).filter(|left| **left > 0);
                left.map(|left| *left -= 1).is_some()
            };
            let held = records.payments.iter().filter(|(_, payment)| holds_a_use(payment.status()));
            let counted = held.filter(|(_, payment)| !is_given_back_again(payment));
            with(counted.map(|(id, payment)| (*id, payment.clone())).collect())
        }
        Some(Mistake::CountUsesInACopy) => {
            let until = world.clock.now().minus_ms(COPY_BEHIND_MS);
            let known = records.payments.iter().filter(|(_, payment)| payment.created_at <= until);
            with(known.map(|(id, payment)| (*id, payment.clone())).collect())
        }
        Some(_) | None => Cow::Borrowed(records),
    }
}

/// Changes what was written to links into what a service with the mistake writes.
pub(crate) fn links_written(world: &World, records: &mut Records) {
    if world.mistake == Some(Mistake::TakeNoUses) {
        records.links.values_mut().for_each(|link| link.taken.clear());
    }
}

/// Returns the routes as a node understands them.
pub(crate) fn table(mistake: Option<Mistake>, routes: &Routes, names: &[AcquirerName]) -> RoutingTable {
    let mut table = routes.table(names);
    match mistake {
        Some(Mistake::IgnoreARule) if !table.rules.is_empty() => {
            table.rules.remove(0);
        }
        Some(Mistake::NeverStop) => table.rules.iter_mut().for_each(|rule| rule.then = Then::Next),
        Some(_) | None => {}
    }
    table
}

/// Turns an issuer's decline into the one that the service receives.
fn decline_heard(answer: ChargeAnswer) -> ChargeAnswer {
    let ChargeAnswer::Known(mut statement) = answer else { return answer };
    for fact in &mut statement.facts {
        if let Fact::Declined(decline) = fact {
            decline.kind = decline.kind.map(|_| DeclineKind::Reversible);
        }
    }
    ChargeAnswer::Known(statement)
}

/// Turns the answer to an operation into the one that the service receives; `None` is a time-out.
pub(crate) fn operation_heard(world: &World, answer: Option<OperationAnswer>) -> Option<OperationAnswer> {
    let is_unknown = matches!(answer, None | Some(OperationAnswer::Failed(CallFailure::Unknown(_))));
    match (world.mistake, &answer) {
        (Some(Mistake::UnknownOperationIsResent), _) if is_unknown => {
            Some(OperationAnswer::Failed(CallFailure::NotDelivered("time-out".into())))
        }
        (Some(Mistake::AcceptedIsDone), Some(OperationAnswer::Accepted)) => Some(OperationAnswer::Done),
        _ => answer,
    }
}

/// Returns true if a request is sent again at once because its provider gave no certain answer.
pub(crate) fn repeats(world: &World, request: &Request, answer: &Result<Response, Failure>) -> bool {
    let is_unknown = match answer {
        Ok(response) => response.status >= 500,
        Err(Failure::Unknown(_)) => true,
        Err(Failure::NotSent(_)) => false,
    };
    world.mistake == Some(Mistake::RepeatUnasked) && is_unknown && request.verb != Verb::Get
}

/// Turns an answer into the one that the adapter reads.
pub(crate) fn response_heard(world: &World, mut response: Response) -> Response {
    match world.mistake {
        Some(Mistake::AnyKeyIsOurs) => {
            response.body = replaced(&response.body, FOREIGN_KEY, OUR_KEY);
        }
        Some(Mistake::DropDeskRefunds) => {
            response.body = replaced(&response.body, "\"devolucoes\"", "\"outras\"");
        }
        Some(_) | None => {}
    }
    response
}

fn replaced(body: &[u8], from: &str, to: &str) -> Vec<u8> {
    String::from_utf8_lossy(body).replace(from, to).into_bytes()
}

/// Turns the contents of a notice into those that the service reads.
pub(crate) fn contents_heard(
    world: &World,
    acquirer: &AcquirerName,
    notice: &RawNotice<'_>,
    read: Result<Vec<NoticeContent>, NoticeRefused>,
) -> Result<Vec<NoticeContent>, NoticeRefused> {
    match (world.mistake, read) {
        (Some(Mistake::DropHints), Ok(_)) => Ok(Vec::new()),
        (Some(Mistake::BelieveTheSender), Err(_)) => Ok(Vec::new()),
        (Some(Mistake::BelieveTheBody), Ok(contents)) => {
            Ok(believed(world, acquirer, notice).map_or(contents, |notice| vec![notice]))
        }
        (_, read) => read,
    }
}

/// Returns the payment that the body of a callback claims.
fn believed(world: &World, acquirer: &AcquirerName, notice: &RawNotice<'_>) -> Option<NoticeContent> {
    let body: serde_json::Value = serde_json::from_slice(notice.body).ok()?;
    let pix = body.get("pix").unwrap_or(&body).get(0)?;
    let text = |name: &str| pix.get(name).and_then(serde_json::Value::as_str);
    let id = TransactionId::new(Uuid::parse_str(text("txid")?).ok()?);
    let settlement = Settlement {
        id: text("endToEndId")?.to_owned(),
        amount: Money::from_cents(amount::from_text(text("valor")?)?),
        paid_on: None,
        end_to_end_id: None,
        approval: None,
    };
    let notice = Notice {
        id: format!("{acquirer}:{}", settlement.id),
        acquirer: acquirer.clone(),
        transaction_id: id,
        fact: Fact::Settled(settlement),
        received_at: world.clock.now(),
    };
    Some(NoticeContent::Fact(Box::new(notice)))
}

/// Turns a page of a list into the one that its reader sees.
pub(crate) fn page_heard(world: &World, mut page: ListPage) -> ListPage {
    match world.mistake {
        Some(Mistake::ImportTwice) => {
            for line in &mut page.lines {
                line.id = format!("{}:{}", line.id, world.fresh_id());
            }
        }
        Some(Mistake::CutIsWhole) => page.total = None,
        Some(_) | None => {}
    }
    page
}

/// Returns the subject of a hint as it is received; `None` if the hint is dropped.
pub(crate) fn hints(world: &World, subject: HintSubject) -> Option<HintSubject> {
    (world.mistake != Some(Mistake::DropHints)).then_some(subject)
}

/// Returns true if a counterparty is told that its hint is taken, whatever became of it.
pub(crate) fn takes_first(world: &World) -> bool {
    world.mistake == Some(Mistake::TakeHintsFirst)
}

/// Turns the answer to an inquiry into the one that the service receives.
pub(crate) fn inquiry_heard(world: &World, answer: ChargeAnswer) -> ChargeAnswer {
    let is_silence = matches!(answer, ChargeAnswer::Failed(_));
    if is_silence && world.mistake == Some(Mistake::SilenceIsNoNews) {
        return ChargeAnswer::Known(Statement { facts: Vec::new(), reference: Reference::none() });
    }
    answer
}

/// Returns a question about a charge as it is sent.
pub(crate) fn asked(world: &World, query: &ChargeQuery) -> ChargeQuery {
    let mut query = query.clone();
    match world.mistake {
        Some(Mistake::ForgetReference) => query.reference = Reference::none(),
        Some(Mistake::ForgetSecondCharge) => (query.others, query.may_have_others) = (Vec::new(), false),
        Some(_) | None => {}
    }
    query
}

/// Turns the answer to an operation into the one that the service receives. `failed` is true if its counterparty
/// answered that the operation failed.
pub(crate) fn failure_heard(
    world: &World,
    answer: Option<OperationAnswer>,
    failed: bool,
) -> Option<OperationAnswer> {
    if failed && world.mistake == Some(Mistake::BelieveTheRefusal) {
        return Some(OperationAnswer::Refused("it failed".into()));
    }
    answer
}

/// Returns an operation as it is sent.
pub(crate) fn sent(world: &World, operation: &Operation) -> Operation {
    let mut operation = operation.clone();
    if world.mistake == Some(Mistake::NewOperationId) && operation.sent > 1 {
        operation.id = OperationId::new(world.fresh_id());
    }
    operation
}

/// Returns a notice as it is taken.
pub(crate) fn taken(world: &World, mut notice: Notice) -> Notice {
    if let (Some(Mistake::RefundHasNoId), Fact::Refunded { refund_id, .. }) =
        (world.mistake, &mut notice.fact)
    {
        *refund_id = world.fresh_id().to_string();
    }
    if let (Some(Mistake::ChargebacksAreOne), Fact::ChargedBack { id, .. }) =
        (world.mistake, &mut notice.fact)
    {
        *id = "the chargeback".to_owned();
    }
    notice
}

/// Turns the status of an exchange with a receiver into the one that the service receives.
pub(crate) fn exchange_heard(world: &World, status: Option<u16>) -> Option<u16> {
    if world.mistake == Some(Mistake::AnyAnswerConfirms) { Some(200) } else { status }
}

/// Returns the charges that leave before these writes are stored, each with its acquirer.
pub(crate) fn sent_too_soon(world: &World, batch: &[Write]) -> Vec<(AcquirerName, ChargeQuery)> {
    if world.mistake != Some(Mistake::SendBeforePersist) {
        return Vec::new();
    }
    let charge = |write: &Write| Some((write.payment.acquirer()?.clone(), write.payment.query()));
    batch.iter().filter(|write| write.expected_revision == 0).filter_map(charge).collect()
}

/// Makes a node decide about open payments of an acquirer that is no longer configured.
pub(crate) fn decide_gone(world: &Arc<World>, place: usize, acquirer: &AcquirerName) {
    let Some(node) = world.node(place).filter(|_| world.mistake == Some(Mistake::GoneIsDeclined)) else {
        return;
    };
    for payment in world.store.payments() {
        if payment.acquirer() != Some(acquirer) || payment.rests_since().is_some() {
            continue;
        }
        let notice = Notice {
            id: format!("{acquirer}:gone-{}", payment.id),
            acquirer: acquirer.clone(),
            transaction_id: payment.id,
            fact: Fact::Declined(Decline::of("acquirer_gone")),
            received_at: world.clock.now(),
        };
        let node = node.clone();
        drop(actix::spawn(async move {
            drop(node.call(|payments| async move { payments.submit(notice).await }).await);
        }));
    }
}
