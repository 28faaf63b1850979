//! Judge of whether comparisons found every difference and nothing else. Uses the money that came in at the bank, and
//! the errors of its list. Knows nothing of how the service compares.

use std::collections::BTreeMap;
use std::sync::Arc;

use chrono::{NaiveDate, NaiveDateTime};
use quita_domain::exception::Exception;
use quita_domain::identity::TransactionId;
use quita_domain::payment::Payment;
use quita_domain::reconciliation::{ASKED_FOR_MS, LineSubject, LineVerdict, MARGIN_MS, Source, StoredLine};
use quita_domain::state::RefundStatus;
use quita_domain::time::Timestamp;

use super::{EXCEPTION, turn_of};
use crate::chance::Fault;
use crate::party::Party;
use crate::provider::{Received, Returned, Slip};
use crate::world::World;

/// Largest difference between the clocks of two nodes, in milliseconds.
const CLOCKS_MS: u64 = 2 * 3_600_000;
/// Longest time in milliseconds until a missing Pix counts as missed, including the comparison.
const MISSED_AFTER_MS: u64 = MARGIN_MS + 5 * 60_000;

/// Returns the day in Brasília on which a transfer with this id was made.
pub(super) fn day_of(end_to_end_id: &str) -> NaiveDate {
    let minute = NaiveDateTime::parse_from_str(end_to_end_id.get(9..21).unwrap(), "%Y%m%d%H%M").unwrap();
    Timestamp::from_millis(minute.and_utc().timestamp_millis()).sao_paulo_date()
}

/// Checks every line of every bank that has lists.
pub(crate) fn check(world: &World) {
    for bank in &world.banks {
        let Some(received) = bank.received(world) else { continue };
        let mut lines = lines_of(world, bank);
        let begins = first_day(world, bank);
        for one in &received {
            let of_it = lines.remove(&one.end_to_end_id).unwrap_or_default();
            // A list that was never compared begins with the last day. So does one whose bank was gone until then. An
            // operator's comparison of an earlier day is the operator's own. If it failed or could not settle all
            // lines, it reports that, and asks to be run again.
            let is_unsettled =
                of_it.iter().all(|stored| stored.judged.as_ref().is_none_or(|one| !one.is_final));
            let is_before = is_unsettled && begins.is_some_and(|first| day_of(&one.end_to_end_id) < first);
            if !is_before && !one.id.is_some_and(|id| world.installation.was_set_back(id)) {
                check_pix(world, bank, one, &of_it);
            }
        }
        for end_to_end_id in lines.keys() {
            world.violation(format!("{} never received {end_to_end_id}, which is compared", bank.name()));
        }
    }
    check_exceptions(world);
}

/// Returns the first day for which a bank's list was ever compared at night.
fn first_day(world: &World, bank: &Party) -> Option<NaiveDate> {
    let source = Source::list_of(bank.name());
    let records = world.store.lock();
    records.runs.keys().filter(|(of, _)| *of == source).map(|(_, day)| *day).min()
}

/// Returns the lines of a bank, by the Pix that they are about.
fn lines_of(world: &World, bank: &Party) -> BTreeMap<String, Vec<StoredLine>> {
    let mut lines: BTreeMap<_, Vec<_>> = BTreeMap::new();
    for stored in world.store.lock().lines.values() {
        if stored.line.source.as_str() != bank.name().as_str() {
            continue;
        }
        let (LineSubject::Pix { end_to_end_id, .. } | LineSubject::Refund { end_to_end_id, .. }) =
            &stored.line.subject
        else {
            continue;
        };
        lines.entry(end_to_end_id.clone()).or_default().push(stored.clone());
    }
    lines
}

fn check_pix(world: &World, bank: &Party, received: &Received, lines: &[StoredLine]) {
    let payment = received.id.and_then(|id| world.store.payment(id));
    let about = |stored: &&StoredLine| matches!(stored.line.subject, LineSubject::Pix { .. });
    let (own, refunds): (Vec<_>, Vec<_>) = lines.iter().partition(about);
    let found: Vec<_> = own.iter().map(|stored| stored.verdict()).collect();
    let is_listed = received.slip != Some(Slip::LeftOut);
    let expected = expected_of_pix(world, bank, received, payment.as_ref());
    let is_right = match (is_listed, expected) {
        // A charge that its bank concluded without any money differs until the bank shows the money, and was reported
        // as such. So does a line whose bank had half a day for an answer, even if all nodes were down for most of it.
        (_, Some(LineVerdict::Matched)) if found == [Some(LineVerdict::Different)] => {
            received.id.is_some_and(|id| was_concluded_without_money(world, id))
                || payment.as_ref().is_some_and(|payment| was_given_up(world, own[0], payment))
        }
        (_, Some(expected)) => found == [Some(expected)],
        // It will be missed soon, or it is never missed.
        (false, None) => found.is_empty() || found == [Some(LineVerdict::MissingThere)],
        (true, None) => false,
    };
    if !is_right {
        let id = &received.end_to_end_id;
        world.violation(format!("{id} of {:?} is {found:?}, not {expected:?}", received.id));
    }
    check_returned(world, bank, received, payment.as_ref(), &refunds);
    if let Some(open) = lines.iter().find(|stored| stored.judged.as_ref().is_none_or(|one| !one.is_final)) {
        world.violation(format!("{} is not settled", open.line.id));
    }
}

/// Returns true if operators have a report that the bank takes no more money for a charge. The bank shows none.
fn was_concluded_without_money(world: &World, id: TransactionId) -> bool {
    let told = format!("{id}:amount_mismatch:concluded");
    world.store.lock().exceptions.iter().any(|exception| exception.id.starts_with(&told))
}

/// Returns true if a difference was reported when the time for asking its bank was over, and the payment was paid only
/// after that. A difference to a payment that was paid already is never right.
fn was_given_up(world: &World, stored: &StoredLine, payment: &Payment) -> bool {
    let Some(told) = stored.exception(Timestamp::default()) else { return false };
    let given_up_at = stored.imported_at.plus_ms(ASKED_FOR_MS);
    let paid_at = payment.state.paid_at;
    let is_it = |known: &Exception| {
        known.id == told.id && known.reported_at >= given_up_at && paid_at > Some(known.reported_at)
    };
    world.store.lock().exceptions.iter().any(is_it)
}

/// Returns the verdict that must be there, or `None` if none is certain.
fn expected_of_pix(
    world: &World,
    bank: &Party,
    received: &Received,
    payment: Option<&Arc<Payment>>,
) -> Option<LineVerdict> {
    let Some(payment) = payment else {
        return (received.slip != Some(Slip::LeftOut)).then_some(LineVerdict::UnknownHere);
    };
    let pays = payment.state.end_to_end_id.as_ref() == Some(&received.end_to_end_id);
    match received.slip {
        Some(Slip::LeftOut) => (pays && is_missed(world, bank, payment)).then_some(LineVerdict::MissingThere),
        Some(Slip::OtherAmount) => Some(LineVerdict::Different),
        Some(Slip::Repeated | Slip::RefundsHidden) | None => {
            let is_odd = bank.account(world, payment.id).is_some_and(|account| account.is_odd);
            Some(if is_odd && !pays { LineVerdict::Different } else { LineVerdict::Matched })
        }
    }
}

/// Returns true if a Pix that paid this payment must have been missed by now.
fn is_missed(world: &World, bank: &Party, payment: &Payment) -> bool {
    let paid_at = payment.state.paid_at.unwrap();
    let transferred = payment.state.end_to_end_id.as_deref().map(day_of).unwrap();
    // Its day is compared once, in its own night.
    let latest = turn_of(transferred).unwrap();
    // By a clock that is ahead, its day is compared before it has ended, perhaps before it was paid.
    let is_told = paid_at.plus_ms(CLOCKS_MS) < latest && !world.faults.has_struck(Fault::ClockJumps);
    is_told && payment.acquirer() == Some(bank.name()) && paid_at.plus_ms(MISSED_AFTER_MS) < world.clock.now()
}

/// Checks that each refund and chargeback of a Pix has exactly one line.
fn check_returned(
    world: &World,
    bank: &Party,
    received: &Received,
    payment: Option<&Arc<Payment>>,
    lines: &[&StoredLine],
) {
    let mut found: Vec<_> = lines.iter().map(|stored| (told(stored), stored.verdict())).collect();
    found.sort_by_key(|(told, _)| *told);
    let with = |verdict: LineVerdict| {
        let mut all: Vec<_> = received.returned.iter().map(|one| (*one, Some(verdict))).collect();
        all.sort_by_key(|(told, _)| *told);
        all
    };
    let is_odd = payment.is_some_and(|one| bank.account(world, one.id).is_some_and(|account| account.is_odd));
    let is_right = match (received.slip, payment) {
        (Some(Slip::LeftOut), _) => found.is_empty(),
        (Some(Slip::RefundsHidden), None) => found.is_empty(),
        (Some(Slip::RefundsHidden), Some(payment)) => {
            let missing: Vec<_> =
                with(LineVerdict::MissingThere).into_iter().filter(|(one, _)| !one.is_disputed).collect();
            // Its day is compared once, in its own night.
            let night = turn_of(day_of(&received.end_to_end_id)).unwrap();
            let is_late = payment.state.updated_at.plus_ms(CLOCKS_MS) < night;
            found == missing || (found.is_empty() && !is_late) || is_odd
        }
        (Some(Slip::OtherAmount | Slip::Repeated) | None, None) => found == with(LineVerdict::UnknownHere),
        (Some(Slip::OtherAmount | Slip::Repeated) | None, Some(_)) => {
            found == with(LineVerdict::Matched) || (is_odd && found.len() == received.returned.len())
        }
    };
    if !is_right {
        let id = &received.end_to_end_id;
        let refunds = payment.map(|one| &one.state.refunds[..]).unwrap_or_default();
        let done = refunds.iter().filter(|refund| refund.status == RefundStatus::Succeeded).count();
        world.violation(format!(
            "{id} of {:?}: {:?} went back, {done} here, and compared was {found:?}",
            received.id, received.returned
        ));
    }
}

fn told(stored: &StoredLine) -> Returned {
    let is_disputed = match &stored.line.subject {
        LineSubject::Refund { is_chargeback, .. } => *is_chargeback,
        LineSubject::Pix { .. } | LineSubject::Boleto { .. } | LineSubject::Charge(_) => false,
    };
    Returned { amount: stored.line.gross, is_disputed }
}

/// Checks that every difference is reported once. No match is reported, unless its bank was silent for half a day. With
/// a clock that is behind, a list may be older than money paid before it was read.
fn check_exceptions(world: &World) {
    let records = world.store.lock();
    // A list with a lag lacks entries that it will have.
    let lists_lag = world.banks.iter().any(|bank| bank.view().lists_lag_ms > 0);
    let is_out_of_step = world.faults.has_struck(Fault::ClockJumps);
    let mut violations = Vec::new();
    for stored in records.lines.values() {
        let id = format!("{EXCEPTION}{}:", stored.line.id);
        let of_line = |exception: &&Exception| exception.id.strip_prefix(&id).is_some_and(is_digest);
        let reported = records.exceptions.iter().find(of_line);
        let told = stored.exception(Timestamp::default()).map(|exception| exception.id);
        let is_told = told.is_none_or(|told| records.exceptions.iter().any(|known| known.id == told));
        match (stored.verdict(), reported) {
            (Some(LineVerdict::Matched), Some(exception)) => {
                let given_up_at = stored.imported_at.plus_ms(ASKED_FOR_MS);
                // A forgotten payment was unknown until its merchant repeated the request.
                let was_forgotten = world.installation.was_restored();
                if !is_out_of_step && !lists_lag && !was_forgotten && exception.reported_at < given_up_at {
                    violations.push(format!("{id} is reported, and matches: {}", exception.detail));
                }
            }
            (Some(LineVerdict::Different | LineVerdict::MissingThere | LineVerdict::UnknownHere), _)
                if !is_told =>
            {
                violations.push(format!("{id} differs, and was reported to no operator"));
            }
            (Some(_) | None, _) => {}
        }
    }
    let of_lists = records.exceptions.iter().filter_map(|exception| exception.id.strip_prefix(EXCEPTION));
    let line_of = |id: &str| id.rsplit_once(':').map(|(line, _)| line.to_owned());
    let is_stray = |id: &&str| line_of(id).is_none_or(|line| !records.lines.contains_key(&line));
    for id in of_lists.filter(is_stray) {
        violations.push(format!("{id} is reported, and there is no such line"));
    }
    drop(records);
    violations.into_iter().for_each(|violation| world.violation(violation));
}

/// Returns true if a text is a digest, which distinguishes findings about one line.
fn is_digest(text: &str) -> bool {
    text.len() == 16 && text.bytes().all(|byte| byte.is_ascii_hexdigit())
}
