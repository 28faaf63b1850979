//! Invariants of a quiet world: three ledgers agree with the store.

use std::collections::BTreeMap;
use std::sync::Arc;

use quita_domain::acquiring::RemovedBy;
use quita_domain::delivery::{DeliveryState, webhook_id};
use quita_domain::exception::Exception;
use quita_domain::identity::{AcquirerName, TransactionId};
use quita_domain::money::Money;
use quita_domain::operation::{Operation, OperationKind, OperationState, Verdict};
use quita_domain::order::Terms;
use quita_domain::outbound_call::Progress;
use quita_domain::payment::Payment;
use quita_domain::routing::Attempt;
use quita_domain::state::{Refund, RefundStatus};
use quita_domain::status::Status;

use crate::account::{Account, Beside};
use crate::bank::Holding;
use crate::chance::Fault;
use crate::installation;
use crate::links;
use crate::merchant::read_everywhere;
use crate::reconciling;
use crate::routes;
use crate::world::World;

/// Returns true if nothing is left to do except to let time pass.
pub(crate) fn is_quiet(world: &World) -> bool {
    let content = world.store.lock();
    !world.has_errands()
        && content.notices.values().all(|stored| stored.is_done)
        && content.payments.values().all(|payment| unrest(world, payment).is_none())
}

/// Returns true if the outcome of any refund is unknown. The monotonic clock then runs for longer, as the acquirer may
/// not show the refund yet. Meanwhile the wall clock is moved forward by hours.
pub(crate) fn is_a_refund_unknown(world: &World) -> bool {
    let is_unknown = |operation: &Operation| {
        let is_refund = matches!(operation.kind, OperationKind::Refund(_));
        is_refund && operation.call.progress == Progress::Unknown
    };
    world.store.lock().payments.values().any(|payment| payment.operations.iter().any(is_unknown))
}

/// Returns what is left to do for a payment, if anything.
fn unrest(world: &World, payment: &Payment) -> Option<&'static str> {
    // What a bank has under its name is somebody else's, until a person sees to it.
    let is_open = |last: &Attempt| last.call.is_open() && !is_foreign(world, payment);
    if payment.state.attempts.last().is_none_or(is_open) {
        return Some("an open attempt");
    }
    if payment.operations.iter().any(Operation::is_processing) {
        return Some("an open operation");
    }
    if !payment.reports.is_empty() {
        return Some("a report that no operator has");
    }
    payment.outbox.iter().any(|one| one.state == DeliveryState::Pending).then_some("an open delivery")
}

/// Returns true if a bank has another charge under the payment's name. Only a person can then end the payment.
pub(crate) fn is_foreign(world: &World, payment: &Payment) -> bool {
    let mut accounts = world.banks.iter().filter_map(|bank| bank.account(world, payment.id));
    is_of_another_day(world, payment) || accounts.any(|account| account.is_foreign)
}

/// Returns true if the store forgot the payment, and it was requested again on another day. The bank's slip from the
/// first time then has another due date.
fn is_of_another_day(world: &World, payment: &Payment) -> bool {
    let has_another_slip = payment.mismatches > 0 && payment.status() == Status::Initial;
    has_another_slip && world.installation.was_set_back(payment.id)
}

/// Describes what keeps the world from being quiet.
pub(crate) fn unrests(world: &World) -> String {
    let content = world.store.lock();
    let payments = content.payments.values();
    let open: Vec<_> =
        payments.filter_map(|one| Some(format!("{} has {}", one.id, unrest(world, one)?))).collect();
    let notices = content.notices.values().filter(|stored| !stored.is_done).count();
    format!("{notices} notices; errands: {}; {}", world.has_errands(), open.join("; "))
}

/// Checks everything that must hold whenever all is quiet.
pub(crate) async fn check(world: &Arc<World>) {
    for payment in world.store.payments() {
        world.banks.iter().for_each(|bank| bank.learn_counted(&payment));
        check_history(world, &payment);
        check_refunds(world, &payment);
        check_deliveries(world, &payment);
        check_books(world, &payment);
    }
    check_pix(world);
    for id in world.acknowledged() {
        if world.store.payment(id).is_none() {
            world.violation(format!("{id} was acknowledged and is lost"));
        }
        read_everywhere(world, id).await;
    }
    for (id, operation) in world.acknowledged_operations() {
        let payment = world.store.payment(id);
        let found =
            payment.as_ref().and_then(|one| one.operations.iter().find(|known| known.id == operation));
        if found.is_none() {
            world.violation(format!("{id}: the acknowledged operation {operation} is lost"));
        }
    }
    check_strays(world);
    check_exceptions(world);
    routes::check(world);
    reconciling::check(world);
    installation::check_erased(world);
    links::check(world);
}

/// Checks that one Pix pays one payment, and that every other payment it was stated with was reported to an operator.
fn check_pix(world: &World) {
    let mut paid = BTreeMap::new();
    for payment in world.store.payments() {
        if let Some(pix) = &payment.state.end_to_end_id
            && let Some(other) = paid.insert(pix.clone(), payment.id)
        {
            world.violation(format!("{pix} pays two payments: {other} and {}", payment.id));
        }
        if !payment.foreign_pix.is_empty() && !world.installation.was_set_back(payment.id) {
            check_reported(world, payment.id, "pix_taken");
        }
    }
}

fn check_history(world: &World, payment: &Payment) {
    let mut status = Status::Initial;
    let mut last = payment.created_at;
    for (place, event) in payment.history.iter().enumerate() {
        let is_next = usize::try_from(event.sequence.get()).unwrap() == place + 1;
        let is_refund = event.refund.is_some() && event.status == status;
        let is_edge = event.previous_status == status && (is_refund || status.allows(event.status));
        let is_sane = payment.as_of(event).status == event.status && event.occurred_at >= last;
        if !(is_next && is_edge && is_sane) {
            world.violation(format!("{}: event {} does not follow", payment.id, event.sequence));
        }
        (status, last) = (event.status, event.occurred_at);
    }
    if payment.status() != status {
        world.violation(format!("{}: the status is not its last event's", payment.id));
    }
    check_its_time(world, payment);
}

/// Largest error of a bank's clock that is believed.
const BELIEVED_MS: u64 = 10 * 60_000;

/// Checks that a PIX ends when its requested time is over by our own clock, and not before.
fn check_its_time(world: &World, payment: &Payment) {
    let Terms::Pix { expires_in_s } = payment.order.terms else { return };
    let ends = payment.created_at.plus_ms(expires_in_s * 1_000).minus_ms(BELIEVED_MS);
    let is_early =
        payment.history.iter().any(|event| event.status == Status::Expired && event.occurred_at < ends);
    if is_early && !world.faults.has_struck(Fault::ClockJumps) {
        world.violation(format!("{} expired before its time", payment.id));
    }
}

/// Checks that the end of each refund is exactly one event. It is an event of its own, or the change of the status to
/// `refund`. A refund that was done after it had failed is reported twice, once as each.
fn check_refunds(world: &World, payment: &Payment) {
    let told = |refund: &Refund, status| {
        let of_refunds = payment.history.iter().filter_map(|event| event.refund.as_ref());
        of_refunds.filter(|told| told.refund_id == refund.id && told.status == status).count()
    };
    let mut untold = 0;
    for refund in &payment.state.refunds {
        let ends = (told(refund, RefundStatus::Failed), told(refund, RefundStatus::Succeeded));
        let is_right = match (refund.status, ends) {
            (RefundStatus::Processing, (0, 0)) | (RefundStatus::Failed, (1, 0)) => true,
            (RefundStatus::Succeeded, (0 | 1, 0)) => {
                untold += 1;
                true
            }
            (RefundStatus::Succeeded, (0 | 1, 1)) => true,
            _ => false,
        };
        if !is_right {
            world.violation(format!("{}: {refund:?} was told {ends:?} times", payment.id));
        }
    }
    let by_status =
        payment.history.iter().filter(|event| event.status == Status::Refund && event.refund.is_none());
    if untold != by_status.count() || untold > 1 {
        world.violation(format!("{}: {untold} refunds that succeeded were not told", payment.id));
    }
}

/// Checks that each event has one delivery, in order, and that what counts as delivered was confirmed.
fn check_deliveries(world: &World, payment: &Payment) {
    let events: Vec<_> = match payment.order.postback_url {
        Some(_) => payment.history.iter().map(|event| event.sequence).collect(),
        None => Vec::new(),
    };
    let of_events = payment.outbox.iter().filter(|one| one.repeats.is_none());
    let sequences: Vec<_> = of_events.clone().map(|one| one.sequence).collect();
    if sequences != events {
        world.violation(format!("{}: events {events:?}, deliveries {sequences:?}", payment.id));
    }
    for delivery in of_events.filter(|one| one.state == DeliveryState::Delivered) {
        let id = webhook_id(payment.id, delivery.sequence);
        if !world.receivers.has_confirmed(&id) {
            world.violation(format!("{id} counts as delivered, but nobody confirmed it"));
        }
    }
}

/// Checks the payment against the banks' books, which are authoritative.
fn check_books(world: &World, payment: &Payment) {
    let id = payment.id;
    if world.installation.was_set_back(id) {
        return installation::check_set_back(world, payment);
    }
    let mut accounts = Vec::new();
    let mut left = Vec::new();
    for bank in world.banks.iter() {
        let Some(account) = bank.account(world, id) else { continue };
        if account.is_blind && was_left_in_doubt(payment, bank.name()) {
            left.push(account);
        } else {
            accounts.push(account);
        }
    }
    let authorised: u32 = accounts.iter().map(|account| account.authorised).sum();
    if authorised > 1 {
        world.violation(format!("{id}: the card was charged {authorised} times"));
    }
    if payment.check.is_some() || payment.second_look.is_some() {
        // It is looked at again until nothing more can come; what a lost notice would have told is found then.
        return;
    }
    for account in &accounts {
        account.others.iter().for_each(|other| check_beside(world, payment, account, other));
    }
    for account in &left {
        let charges = account.counted.iter().chain(&account.others);
        charges.for_each(|charge| check_beside(world, payment, account, charge));
    }
    let captured: Vec<_> = accounts.iter().filter(|account| account.holding == Holding::Captured).collect();
    if captured.len() > 1 {
        world.violation(format!("{id}: paid {} times", captured.len()));
    }
    let holds_card = accounts.iter().any(|account| account.holding == Holding::Authorised);
    let must_be_voided_there = holds_card && is_told_of(world, id, &[NOT_VOIDED]);
    if holds_card != (payment.status() == Status::Approved) && !must_be_voided_there {
        world.violation(format!("{id} is {}, but a card is held: {holds_card}", payment.status()));
    }
    if payment.status() == Status::Cancelled {
        check_who_withdrew(world, payment, &accounts);
    }
    // A card that was captured at the desk may never be read as authorised: it is judged below as money that came in.
    // One that was voided there before it was read, or that its issuer declined, holds nothing to report.
    let is_held_late = |account: &&Account| {
        let was_held = account.authorised > 0 || account.is_never_told;
        account.is_late && was_held && account.holding != Holding::Captured && account.removed_by.is_none()
    };
    for account in accounts.iter().filter(is_held_late) {
        // Of a sale that never ends nobody can say more: it is asked about until that is given up.
        let kind = if account.is_never_told { "unknown_outcome" } else { "late_authorization" };
        check_reported(world, id, kind);
    }
    match captured.first() {
        Some(account) if account.is_listed_alone => {}
        Some(account) if account.is_odd => check_told_to_operator(world, id),
        Some(account) if may_be_paid_after_decline(account) && payment.status() == Status::Declined => {
            check_given_back(world, id, account);
        }
        // Captured at the desk and withdrawn here before anybody could read of it: the void gave all of it back.
        Some(account)
            if account.is_blind
                && payment.status() == Status::Cancelled
                && account.given_back == account.captured => {}
        Some(account) => {
            if account.paid_unasked_interest {
                check_reported(world, id, "overpaid");
            }
            check_captured(world, payment, account);
        }
        None => {
            if matches!(payment.status(), Status::Paid | Status::Refund | Status::Chargeback) {
                world.violation(format!("{id} is {}, but no bank has the money", payment.status()));
            }
        }
    }
}

/// Returns true if the payment was sent to this bank more than once and then went on to another. A charge may turn up
/// there, beside the one that counts.
fn was_left_in_doubt(payment: &Payment, bank: &AcquirerName) -> bool {
    let sent = payment.state.attempts.iter().filter(|attempt| attempt.acquirer == *bank);
    payment.acquirer() != Some(bank) && sent.count() > 1
}

/// Checks a charge beside the one that counts. Its money or held limit was given back, or a person has to give it back.
/// It was reported to an operator by name.
fn check_beside(world: &World, payment: &Payment, account: &Account, other: &Beside) {
    let id = payment.id;
    let name = other.name.as_str();
    if !account.is_blind {
        world.violation(format!("{id}: {name} is a second charge"));
    }
    if account.is_odd || account.sums_moved {
        return;
    }
    if other.held && !is_told_of(world, id, &[name]) {
        world.violation(format!("{id}: of the second charge {name} no operator was told"));
    }
    // Nothing is given back while it is open which charge counts; a person, who was told of both, ends that.
    let is_open = payment.status() == Status::Initial;
    if other.holds && !is_open && !is_told_of(world, id, &[name, NOT_GIVEN_BACK]) {
        world.violation(format!("{id}: the second charge {name} was not given back"));
    }
}

/// Words of an exception saying that a person has to give something back.
const NOT_GIVEN_BACK: &str = "could not be given back";

/// Words of an exception saying that a person has to void an authorisation.
const NOT_VOIDED: &str = "its void was refused";

/// Checks that the money of a declined payment went back, or that a person has to see to it.
fn check_given_back(world: &World, id: TransactionId, account: &Account) {
    // A charge that was reported by its name while another one counted is not reported again once that one expires.
    let is_told_by_name = |charge: &Beside| is_told_of(world, id, &[&charge.name]);
    if !account.counted.as_ref().is_some_and(is_told_by_name) {
        check_reported(world, id, "paid_after_decline");
    }
    if account.given_back != account.captured && !is_told_of(world, id, &[NOT_GIVEN_BACK]) {
        world.violation(format!("{id} is declined, and {} was not given back", account.captured));
    }
}

/// Returns true if an exception with these words was reported about a payment.
fn is_told_of(world: &World, id: TransactionId, words: &[&str]) -> bool {
    let content = world.store.lock();
    let mut details = content
        .exceptions
        .iter()
        .filter(|exception| exception.transaction_id == Some(id))
        .map(|exception| &exception.detail);
    details.any(|detail| words.iter().all(|word| detail.contains(word)))
}

/// Checks that the party reported to have withdrawn a charge did so.
fn check_who_withdrew(world: &World, payment: &Payment, accounts: &[Account]) {
    let said = match payment.state.status_reason.as_deref() {
        Some("removed_at_bank") => Some(RemovedBy::Receiver),
        Some("removed_by_psp") => Some(RemovedBy::Acquirer),
        Some(_) | None => return,
    };
    // By a clock that is ahead a payment is younger than its sale, which lapses by its own time.
    let is_out_of_step = world.faults.has_struck(Fault::ClockJumps);
    if !is_out_of_step && accounts.iter().all(|account| account.removed_by != said) {
        world.violation(format!("{} counts as withdrawn by {said:?}, which it was not", payment.id));
    }
}

fn check_captured(world: &World, payment: &Payment, account: &Account) {
    let id = payment.id;
    let status = payment.status();
    if !matches!(status, Status::Paid | Status::Refund | Status::Chargeback) {
        world.violation(format!("{id} is {status}, but a bank has the money"));
        return;
    }
    if payment.state.captured_amount != Some(account.captured) {
        world.violation(format!("{id}: a bank has {}", account.captured));
    }
    if account.tells_by_sums && !account.sums_moved {
        check_whose_refunds(world, payment);
    }
    if payment.state.refunded_amount() != account.given_back {
        let ours = payment.state.refunded_amount();
        world.violation(format!("{id}: {ours} is refunded, a bank gave back {}", account.given_back));
    }
    let was_closed = payment.history.iter().any(|event| event.status == Status::Expired);
    if account.came_after_its_time && was_closed && !world.faults.has_struck(Fault::ClockJumps) {
        world.violation(format!("{id} expired although it was paid in time"));
    }
    let is_all_back = account.given_back == account.captured && account.captured > Money::ZERO;
    // A card that is refunded whole is looked at no more: a chargeback of before that nobody told of stays unknown.
    let may_be_unknown = is_all_back && account.tells_by_sums && world.faults.has_struck(Fault::NoticeLost);
    // Where a sale is invisible for minutes an operator was told so, and a person looks.
    let was_invisible =
        account.is_blind && is_told_of(world, id, &["the acquirer does not know the payment"]);
    if account.is_charged_back && account.given_back > Money::ZERO && !may_be_unknown && !was_invisible {
        check_reported(world, id, "refunded_and_charged_back");
    }
    let expected = match (is_all_back, account.is_charged_back) {
        (true, _) => Status::Refund,
        (false, true) => Status::Chargeback,
        (false, false) => Status::Paid,
    };
    // A dispute that was won before its chargeback was reported waits in the store. An earlier backup does not have it.
    let is_forgotten_win = status == Status::Chargeback
        && expected == Status::Paid
        && account.chargebacks > 0
        && world.installation.was_restored();
    if status != expected && !is_forgotten_win {
        world.violation(format!("{id} is {status}, by a bank's books it is {expected}"));
    }
}

/// Checks that every refund is one of ours if nothing was given back at the desk. A refund that counts as a third
/// party's was taken for refused, and may have been requested again.
fn check_whose_refunds(world: &World, payment: &Payment) {
    let is_ours = |refund: &Refund| payment.operations.iter().any(|known| known.id.to_string() == refund.id);
    let strange = payment.state.refunds.iter().find(|refund| !is_ours(refund));
    let was_ended = payment.operations.iter().any(|operation| operation.resolved_by_operator);
    // A withdrawal that arrived after its payer gave the money back: it is refused, and its refund has no operation.
    let was_refused = |operation: &Operation| {
        operation.kind == OperationKind::Cancel
            && operation.call.progress == Progress::Ended(Verdict::Refused)
    };
    let was_withdrawn = payment.method().has_code() && payment.operations.iter().any(was_refused);
    let is_of_a_withdrawal =
        |refund: &Refund| was_withdrawn && Some(refund.amount) == payment.state.captured_amount;
    if let Some(refund) = strange.filter(|refund| !was_ended && !is_of_a_withdrawal(refund)) {
        world.violation(format!("{}: refund {} is nobody's", payment.id, refund.id));
    }
}

/// Returns true if a comparison found the exception. Comparisons have a judge of their own.
fn is_of_a_list(exception: &Exception) -> bool {
    exception.id.starts_with(reconciling::EXCEPTION)
}

/// Checks that an exception of this kind was reported. It survives any crash, panic and lost reply.
fn check_reported(world: &World, id: TransactionId, kind: &str) {
    let is_reported = world
        .store
        .lock()
        .exceptions
        .iter()
        .any(|exception| exception.transaction_id == Some(id) && exception.kind == kind);
    if !is_reported {
        world.violation(format!("{id}: {kind} was reported to no operator"));
    }
}

fn check_told_to_operator(world: &World, id: TransactionId) {
    let content = world.store.lock();
    let mut exceptions = content.exceptions.iter().filter(|exception| !is_of_a_list(exception));
    if exceptions.all(|exception| exception.transaction_id != Some(id)) {
        drop(content);
        world.violation(format!("{id}: odd money that was reported to no operator"));
    }
}

/// Checks for money and notices of payments that are not stored.
fn check_strays(world: &World) {
    for bank in &world.banks {
        for id in bank.paid(world) {
            if world.store.payment(id).is_none() && !world.installation.was_set_back(id) {
                world.violation(format!("{id}: a bank has money for a payment that is not stored"));
            }
        }
    }
    let content = world.store.lock();
    for stored in content.notices.values() {
        let id = stored.notice.transaction_id;
        let is_known = content.payments.contains_key(&id);
        if !is_known && content.exceptions.iter().all(|exception| exception.transaction_id != Some(id)) {
            world.violation(format!("{id}: a notice of an unknown payment that was reported to no operator"));
        }
    }
}

/// Checks that each exception is explained by something that went wrong outside.
fn check_exceptions(world: &World) {
    let exceptions = world.store.lock().exceptions.clone();
    for exception in exceptions.iter().filter(|exception| !is_of_a_list(exception)) {
        let Some(id) = exception.transaction_id.filter(|id| !world.installation.was_set_back(*id)) else {
            continue;
        };
        let accounts: Vec<_> = world.banks.iter().filter_map(|bank| bank.account(world, id)).collect();
        let has = |is: fn(&Account) -> bool| accounts.iter().any(is);
        let is_odd = has(|account| account.is_odd);
        let is_strange = accounts.is_empty();
        let is_expected = match exception.kind.as_str() {
            "unknown_outcome" => true,
            // By a clock that is ahead a charge has shown no money for long enough.
            "amount_mismatch" => {
                is_odd
                    || has(|account| account.was_captured_at_the_desk)
                    || world.faults.has_struck(Fault::ClockJumps)
            }
            "foreign_charge" => is_odd || world.faults.has_struck(Fault::BankIsForeign),
            // By a clock that is ahead a notice has waited long enough; it is still tried. An acquirer that is drained
            // is not asked for what has to come first. A refund that crossed another one is in doubt for a while.
            "too_early" => {
                is_odd
                    || has(|account| account.sums_moved)
                    || world.faults.has_struck(Fault::ClockJumps)
                    || was_drained(world, id)
                    || world.installation.was_gone(world.store.payment(id).as_deref())
                    || was_crossed_by_refund(world, id)
            }
            "unknown_payment" => is_strange,
            "refunded_and_charged_back" => {
                has(|account| account.chargebacks > 0 && account.given_back > Money::ZERO)
            }
            "late_authorization" => has(|account| account.is_late) || has(is_doubled),
            "second_charge" => has(is_doubled),
            "paid_twice" => is_odd || has(is_doubled),
            "paid_after_decline" => is_odd || has(may_be_paid_after_decline),
            "contradiction" if exception.id.ends_with("an answer about another charge") => {
                world.faults.has_struck(Fault::BankMixesUp)
            }
            "contradiction" if exception.id.ends_with("sums that do not fit") => {
                world.faults.has_struck(Fault::SumsMove)
                    || has(|account| account.sums_moved)
                    || has(|account| account.tells_by_sums) && was_given_back_by_a_withdrawal(world, id)
            }
            "contradiction" => {
                is_odd || is_plausible(world, exception) || has(|account| account.may_be_contradicted)
            }
            // A store that is put back gives out numbers once more.
            "number_taken" => {
                world.faults.has_struck(Fault::ForeignCharge) || world.installation.was_restored()
            }
            "pix_taken" => world.faults.has_struck(Fault::AnothersPix),
            "overpaid" => is_odd || has(|account| account.paid_unasked_interest),
            _ => is_odd,
        };
        if !is_expected {
            world.violation(format!("{id}: {} {}", exception.kind, exception.detail));
        }
    }
}

/// Returns true if a charge may exist beside the one that counts, or after its payment was given up.
fn is_doubled(account: &Account) -> bool {
    account.is_blind
}

/// Returns true if money may have come in after the payment was given up. Either a charge turned up later, or the desk
/// captured a card that was authorised too late.
fn may_be_paid_after_decline(account: &Account) -> bool {
    is_doubled(account) || account.is_late && account.was_captured_at_the_desk
}

/// Returns true if calls about this payment may have been withheld.
fn was_drained(world: &World, id: TransactionId) -> bool {
    world.store.payment(id).is_some_and(|payment| {
        payment.acquirer().is_some_and(|acquirer| world.drained.was_ever(acquirer, payment.method()))
    })
}

/// Returns true if the bank had to refuse a refund because it had given the money back at its desk.
fn was_crossed_by_refund(world: &World, id: TransactionId) -> bool {
    world.faults.has_struck(Fault::DeskRefund)
        && world.store.payment(id).is_some_and(|payment| {
            payment.state.refunds.iter().any(|refund| refund.status == RefundStatus::Failed)
        })
}

/// Returns true if a withdrawal of ours arrived after the payer had paid, and gave all the money back. Where only sums
/// show the outcome of operations, a later refund with an unknown outcome cannot be distinguished from that.
fn was_given_back_by_a_withdrawal(world: &World, id: TransactionId) -> bool {
    world.store.payment(id).is_some_and(|payment| {
        let operations = &payment.operations;
        let is_refused_withdrawal = |operation: &Operation| {
            operation.kind == OperationKind::Cancel && operation.state() == OperationState::Refused
        };
        let is_ours = |refund: &Refund| operations.iter().any(|known| known.id.to_string() == refund.id);
        let is_all_of_it = |refund: &Refund| {
            refund.status == RefundStatus::Succeeded && Some(refund.amount) == payment.state.captured_amount
        };
        payment.method().has_code()
            && operations.iter().any(is_refused_withdrawal)
            && payment.state.refunds.iter().any(|refund| is_all_of_it(refund) && !is_ours(refund))
    })
}

/// Returns true if a contradiction deserves attention although the books turn out to be in order.
fn is_plausible(world: &World, exception: &Exception) -> bool {
    let payment = exception.transaction_id.and_then(|id| world.store.payment(id));
    let Some(payment) = payment else { return false };
    // The same charge found by a question from before it was sent once more.
    let was_sent_again = exception.detail.starts_with("charge ") && payment.state.attempts.len() > 1;
    // What its acquirer can't withdraw was cancelled here, and was paid before that was stored.
    let cancels = |operation: &Operation| operation.kind == OperationKind::Cancel;
    was_sent_again || exception.detail.starts_with("cancelled") && payment.operations.iter().any(cancels)
}
