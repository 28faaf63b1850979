//! Outcome of a capture, a void or a refund, read from the charge's sums, which every answer has.

use quita_domain::acquiring::{CallFailure, ChargeQuery, OperationAnswer};
use quita_domain::method::Method;
use quita_domain::money::Money;
use quita_domain::operation::{Operation, OperationKind};
use quita_domain::time::Timestamp;

use super::order::Charge;
use super::status::{ChargeStatus, GivenBack, Step};

/// Time for which a refund may not show after its call, in milliseconds. A `DELETE` whose answer was lost may still be
/// under way at Pagar.me.
pub(super) const REFUND_SHOWS_AFTER_MS: u64 = 60_000;

/// Reads an operation's outcome from a charge's sums. A difference of exactly its amount means that it was done, no
/// difference that it was not. Any other difference means that something else changed them.
pub(super) fn by_sums(query: &ChargeQuery, operation: &Operation, charge: &Charge) -> OperationAnswer {
    match operation.kind {
        OperationKind::Capture(amount) => capture(operation, amount, charge),
        OperationKind::Cancel => cancellation(query, charge),
        OperationKind::Refund(amount) => refund(operation, amount, charge),
    }
}

/// Reads from a charge the outcome of an operation that was sent, and may still be under way.
pub(super) fn known_by_now(
    query: &ChargeQuery,
    operation: &Operation,
    charge: &Charge,
    now: Timestamp,
) -> OperationAnswer {
    let may_arrive = |at: Option<Timestamp>| at.is_some_and(|at| now.ms_since(at) < REFUND_SHOWS_AFTER_MS);
    match (by_sums(query, operation, charge), operation.kind) {
        // It was sent before the charge was paid, and would refund the money.
        (OperationAnswer::Refused(_), OperationKind::Cancel) if may_arrive(charge.updated_at) => {
            unclear("the charge was paid just now, and the withdrawal may still arrive")
        }
        // The failure may be that of an earlier refund.
        (OperationAnswer::Refused(_), OperationKind::Refund(_))
            if !operation.call.is_taken() && may_arrive(charge.last.at) =>
        {
            OperationAnswer::NotFound
        }
        (answer, _) => answer,
    }
}

/// Returns the answer to an operation that the charge, as just read, makes unnecessary or impossible; `None` if it has
/// to be sent.
pub(super) fn before_sending(
    query: &ChargeQuery,
    operation: &Operation,
    charge: &Charge,
    now: Timestamp,
) -> Option<OperationAnswer> {
    let was_sent = operation.sent > 1;
    let answer = if was_sent {
        known_by_now(query, operation, charge, now)
    } else {
        by_sums(query, operation, charge)
    };
    // A withdrawal has no sum: its goal may already be reached.
    if operation.kind == OperationKind::Cancel {
        return Some(answer).filter(|answer| *answer != OperationAnswer::NotFound);
    }
    match answer {
        OperationAnswer::NotFound => None,
        // It was never sent, so it caused none of the changes. A withdrawal that the payer overtook returns everything.
        OperationAnswer::Done | OperationAnswer::Contradicted(_)
            if !was_sent && operation.is_own() && is_more_than_left(operation, charge) =>
        {
            Some(OperationAnswer::Refused("less than that is left of the charge at Pagar.me".to_owned()))
        }
        // The sums were right although we sent nothing: somebody moved the same amount at Pagar.me.
        OperationAnswer::Done if !was_sent => Some(OperationAnswer::Contradicted(
            "the charge's sums moved by this amount before it was asked for".to_owned(),
        )),
        answer @ (OperationAnswer::Done | OperationAnswer::Contradicted(_)) => Some(answer),
        // A refund by others is under way, and the two could not be told apart.
        OperationAnswer::Accepted if !was_sent => Some(OperationAnswer::Failed(CallFailure::NotDelivered(
            "another refund of the charge is under way".to_owned(),
        ))),
        answer @ OperationAnswer::Accepted => Some(answer),
        OperationAnswer::Refused(_) | OperationAnswer::RefusedPerhaps(_) | OperationAnswer::Failed(_) => None,
    }
}

/// Returns true if a refund exceeds the remaining amount of the charge.
fn is_more_than_left(operation: &Operation, charge: &Charge) -> bool {
    match operation.kind {
        OperationKind::Refund(amount) => amount > charge.taken().minus(charge.given_back()),
        OperationKind::Cancel | OperationKind::Capture(_) => false,
    }
}

fn capture(operation: &Operation, amount: Money, charge: &Charge) -> OperationAnswer {
    let captured = match (&charge.status, &charge.last.step) {
        (ChargeStatus::Paid | ChargeStatus::ChargedBack, _) => charge.taken(),
        (ChargeStatus::Pending, Step::Held) => Money::ZERO,
        (ChargeStatus::Canceled | ChargeStatus::Failed, _) => charge.paid.unwrap_or_default(),
        (ChargeStatus::Pending | ChargeStatus::Processing | ChargeStatus::Other(_), _) => {
            return unclear("the charge is not decided");
        }
    };
    let is_gone = matches!(charge.status, ChargeStatus::Canceled | ChargeStatus::Failed);
    if captured == operation.before.plus(amount) {
        OperationAnswer::Done
    } else if captured != operation.before {
        let before = operation.before;
        OperationAnswer::Contradicted(format!(
            "{captured} is captured; it was {before}, and {amount} was asked for"
        ))
    } else if is_gone {
        OperationAnswer::Refused("the authorisation is gone at Pagar.me".to_owned())
    } else {
        OperationAnswer::NotFound
    }
}

fn cancellation(query: &ChargeQuery, charge: &Charge) -> OperationAnswer {
    let taken = charge.paid.unwrap_or_default();
    match charge.status {
        ChargeStatus::Canceled if taken.is_zero() => OperationAnswer::Done,
        ChargeStatus::Failed if query.method != Method::CreditCard && taken.is_zero() => {
            OperationAnswer::Done
        }
        ChargeStatus::Pending => match charge.last.step {
            Step::Held | Step::Waiting => OperationAnswer::NotFound,
            Step::Missing
            | Step::Taken
            | Step::NotAuthorized
            | Step::GivenBack(_)
            | Step::Undecided(_)
            | Step::Failed
            | Step::Expired
            | Step::ChargedBack
            | Step::Other(_) => unclear("the charge is not decided"),
        },
        ChargeStatus::Processing | ChargeStatus::Other(_) => unclear("the charge is not decided"),
        // The payer was faster. A withdrawal that arrives later returns the money, which is a refund. Until that has
        // ended, another refund would be mistaken for it.
        ChargeStatus::Paid | ChargeStatus::ChargedBack | ChargeStatus::Canceled
            if query.method.has_code() && charge.last.step == Step::GivenBack(GivenBack::Pending) =>
        {
            unclear("the charge was paid before, and its money is being given back")
        }
        ChargeStatus::Paid | ChargeStatus::ChargedBack | ChargeStatus::Canceled
            if query.method.has_code() =>
        {
            OperationAnswer::Refused("the charge was paid at Pagar.me before".to_owned())
        }
        ChargeStatus::Paid | ChargeStatus::ChargedBack | ChargeStatus::Canceled => {
            OperationAnswer::Contradicted(format!(
                "of {} to be withdrawn {} came in",
                query.amount,
                charge.taken()
            ))
        }
        ChargeStatus::Failed => {
            OperationAnswer::Contradicted("what was to be voided is refused at Pagar.me".to_owned())
        }
    }
}

fn refund(operation: &Operation, amount: Money, charge: &Charge) -> OperationAnswer {
    match charge.status {
        ChargeStatus::Paid | ChargeStatus::Canceled | ChargeStatus::ChargedBack => {}
        ChargeStatus::Pending | ChargeStatus::Processing | ChargeStatus::Failed | ChargeStatus::Other(_) => {
            return unclear("the charge's status says nothing of a refund");
        }
    }
    let given_back = charge.given_back();
    if given_back == operation.before.plus(amount) {
        return OperationAnswer::Done;
    }
    if given_back != operation.before {
        let before = operation.before;
        return OperationAnswer::Contradicted(format!(
            "{given_back} is given back; it was {before}, and {amount} was asked for"
        ));
    }
    // If our clock was wrong at the time of the request, its failure would look like an earlier one's for ever.
    let is_sure = operation.call.is_taken() && operation.call.inquiries >= SURE_AFTER_INQUIRIES;
    let is_after_it =
        is_sure || charge.last.at.is_some_and(|at| at.plus_ms(CLOCK_TOLERANCE_MS) >= operation.requested_at);
    match charge.last.step {
        Step::GivenBack(GivenBack::Pending) => OperationAnswer::Accepted,
        Step::GivenBack(GivenBack::Failed) if is_after_it => {
            OperationAnswer::Refused("Pagar.me could not give it back".to_owned())
        }
        Step::GivenBack(GivenBack::Failed | GivenBack::Done)
        | Step::Missing
        | Step::Held
        | Step::Taken
        | Step::NotAuthorized
        | Step::Waiting
        | Step::Undecided(_)
        | Step::Failed
        | Step::Expired
        | Step::ChargedBack
        | Step::Other(_) => match operation.call.is_taken() {
            // An accepted refund is never sent again. It takes days, and the sum changes at its end.
            true => OperationAnswer::Accepted,
            false => OperationAnswer::NotFound,
        },
    }
}

/// Tolerated difference of clocks: a step from before the request belongs to another operation.
const CLOCK_TOLERANCE_MS: u64 = 5_000;

/// Number of inquiries about an accepted refund after which the newest step of its charge counts as its own: about a
/// day.
const SURE_AFTER_INQUIRIES: u32 = 30;

pub(super) fn unclear(why: &str) -> OperationAnswer {
    OperationAnswer::Failed(CallFailure::Unknown(why.to_owned()))
}
