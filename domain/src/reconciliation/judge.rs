//! Comparison of one line with its payment.

use super::charge_line::{ChargeLine, Movement};
use super::line::{LineKind, LineSubject, StatementLine};
use super::verdict::{Difference, DifferingField, LineFinding, StoredLine};
use crate::money::{Money, SignedMoney};
use crate::payment::Payment;
use crate::state::RefundStatus;
use crate::status::Status;
use crate::time::Timestamp;

/// Value that a payment has for an unknown movement.
const NOTHING: &str = "nothing";

/// Compares a line with the payment that it names. Without a payment the line is unknown here. `added_up` is the sum of
/// the lines that [`StatementLine::added_up_with`] names, this one included.
pub fn judge(line: &StatementLine, payment: Option<&Payment>, added_up: SignedMoney) -> LineFinding {
    let Some(payment) = payment else { return without_payment(line) };
    match &line.subject {
        LineSubject::Pix { end_to_end_id, .. } => of_pix(line, end_to_end_id, payment),
        LineSubject::Refund { end_to_end_id, refund_id, is_chargeback, .. } => {
            of_refund(line, end_to_end_id, refund_id, *is_chargeback, payment)
        }
        LineSubject::Boleto { interest, .. } => of_boleto(line, *interest, payment),
        LineSubject::Charge(charge) => of_charge(charge, payment, added_up.magnitude()),
    }
}

/// Judges a line without a payment. A bank's fee that names no boleto needs none, nor does a movement of the account.
fn without_payment(line: &StatementLine) -> LineFinding {
    let needs_none = match &line.subject {
        LineSubject::Boleto { our_number, document_number, .. } => {
            line.kind == LineKind::Fee && our_number.is_none() && document_number.is_none()
        }
        LineSubject::Charge(charge) => charge.movement == Movement::Account,
        LineSubject::Pix { .. } | LineSubject::Refund { .. } => false,
    };
    if needs_none { LineFinding::Matched } else { LineFinding::UnknownHere }
}

/// Compares a movement of a charge, of which `moved` is the sum over instalments and recipients.
fn of_charge(line: &ChargeLine, payment: &Payment, moved: Money) -> LineFinding {
    // A charge besides the one that counts is given back in full.
    let mut surplus = payment.operations.iter().filter_map(|operation| operation.surplus.as_ref());
    let is_given_back = surplus.any(|surplus| surplus.reference.contains(&line.charge));
    if is_given_back || payment.others.iter().any(|other| other.contains(&line.charge)) {
        return LineFinding::Matched;
    }
    let state = &payment.state;
    let status = payment.status().as_str();
    let counted = state.attempts.last().map(|attempt| &attempt.reference);
    if !counted.is_some_and(|counted| counted.contains(&line.charge)) {
        let known = line.charge.iter().next().and_then(|(name, _)| counted?.get(name));
        return different(
            DifferingField::Reference,
            known.unwrap_or(NOTHING),
            line.name().unwrap_or_default(),
        );
    }
    match line.movement {
        Movement::Credit => match state.captured_amount {
            None => different(DifferingField::Status, status, Status::Paid.as_str()),
            // The paid amount of a boleto includes fine and interest; the captured amount does not.
            Some(captured) => of_amount(state.paid_amount.unwrap_or(captured), moved),
        },
        Movement::Refund => of_amount(state.refunded_amount(), moved),
        Movement::Chargeback if payment.chargebacks.is_empty() => {
            different(DifferingField::Status, NOTHING, Status::Chargeback.as_str())
        }
        Movement::Chargeback => {
            // A chargeback for which the acquirer named no amount takes all that is left.
            let left = state.captured_amount.unwrap_or_default().minus(state.refunded_amount());
            let known = payment.chargebacks.iter().map(|known| known.amount.unwrap_or(left)).sum();
            of_amount(known, moved)
        }
        Movement::DisputeWon if payment.open_chargebacks().next().is_some() => {
            different(DifferingField::Status, Status::Chargeback.as_str(), Status::Paid.as_str())
        }
        Movement::DisputeWon | Movement::RefundReversal | Movement::Account => LineFinding::Matched,
    }
}

fn of_pix(line: &StatementLine, end_to_end_id: &str, payment: &Payment) -> LineFinding {
    let state = &payment.state;
    let (Some(known), Some(captured)) = (&state.end_to_end_id, state.captured_amount) else {
        return different(DifferingField::Status, payment.status().as_str(), Status::Paid.as_str());
    };
    if known != end_to_end_id {
        return different(DifferingField::Reference, known, end_to_end_id);
    }
    of_amount(captured, line.gross)
}

fn of_refund(
    line: &StatementLine,
    end_to_end_id: &str,
    refund_id: &str,
    is_chargeback: bool,
    payment: &Payment,
) -> LineFinding {
    // Money given back from a Pix that did not pay the payment is no refund of it: that Pix has its own line.
    if payment.state.end_to_end_id.as_deref() != Some(end_to_end_id) {
        return LineFinding::Matched;
    }
    let there = RefundStatus::Succeeded.as_str();
    if is_chargeback {
        let known = payment.chargebacks.iter().find(|chargeback| chargeback.id == refund_id);
        let Some(known) = known else {
            return different(DifferingField::Status, NOTHING, Status::Chargeback.as_str());
        };
        let captured = payment.state.captured_amount.unwrap_or_default();
        return of_amount(known.amount.unwrap_or(captured), line.gross);
    }
    match payment.state.refunds.iter().find(|refund| refund.id == refund_id) {
        None => different(DifferingField::Status, NOTHING, there),
        Some(refund) if refund.status != RefundStatus::Succeeded => {
            different(DifferingField::Status, refund.status.as_str(), there)
        }
        Some(refund) => of_amount(refund.amount, line.gross),
    }
}

fn of_boleto(line: &StatementLine, interest: Money, payment: &Payment) -> LineFinding {
    let status = payment.status();
    let here = status.as_str();
    match line.kind {
        LineKind::Settled | LineKind::Boleto => of_settlement(line, interest, payment),
        // The boleto brought no money, and can't bring any.
        LineKind::WrittenOff if payment.state.paid_at.is_some() || may_be_paid(status) => {
            different(DifferingField::Status, here, LineKind::WrittenOff.as_str())
        }
        // It may be the boleto that was refused: then nobody can pay it.
        LineKind::Rejected if may_be_paid(status) => {
            different(DifferingField::Status, here, LineKind::Rejected.as_str())
        }
        LineKind::WrittenOff
        | LineKind::Rejected
        | LineKind::Registered
        | LineKind::Fee
        | LineKind::Other
        | LineKind::Pix
        | LineKind::Receivable
        | LineKind::Refund
        | LineKind::Chargeback => LineFinding::Matched,
    }
}

/// Compares a settlement. Banks state the paid sum with interest and fine, or without: both are the same money.
fn of_settlement(line: &StatementLine, interest: Money, payment: &Payment) -> LineFinding {
    let state = &payment.state;
    let Some(captured) = state.captured_amount else {
        return different(DifferingField::Status, payment.status().as_str(), Status::Paid.as_str());
    };
    let here = [Some(captured), state.paid_amount];
    let there = [line.gross, line.gross.minus(interest), line.gross.plus(interest)];
    if here.into_iter().flatten().any(|amount| there.contains(&amount)) {
        return LineFinding::Matched;
    }
    of_amount(state.paid_amount.unwrap_or(captured), line.gross)
}

/// Returns the difference of a boleto's settlement to one that was imported before it: the payer paid twice.
pub fn settled_before<'a>(
    stored: &StoredLine,
    others: impl IntoIterator<Item = &'a StoredLine>,
) -> Option<LineFinding> {
    fn order(stored: &StoredLine) -> (Timestamp, &str) {
        (stored.imported_at, &stored.line.id)
    }
    let payment = |stored: &StoredLine| stored.judged.as_ref()?.transaction_id;
    // An expected line was in no source, so it settles nothing.
    if stored.line.is_expected() {
        return None;
    }
    let is_earlier = |other: &&StoredLine| {
        other.line.kind.settles_boleto()
            && !other.line.is_expected()
            && payment(other) == payment(stored)
            && order(other) < order(stored)
            && is_another(&other.line, &stored.line)
    };
    let first = others.into_iter().filter(is_earlier).min_by_key(|other| order(other))?;
    let here = format!("settled on {}", first.line.on);
    Some(different(DifferingField::Reference, &here, &format!("settled again on {}", stored.line.on)))
}

/// Returns true if two settlements of one boleto are two payments. Banks also report one payment in two lines, with
/// another date of credit or another fee.
fn is_another(one: &StatementLine, other: &StatementLine) -> bool {
    let content = |line: &StatementLine| line.id.rsplit_once(':').map(|(content, _)| content.to_owned());
    let stands_twice_in_one_file = content(one) == content(other);
    one.on != other.on || one.gross != other.gross || stands_twice_in_one_file
}

fn of_amount(here: Money, there: Money) -> LineFinding {
    if here == there {
        return LineFinding::Matched;
    }
    different(DifferingField::Gross, &here.to_string(), &there.to_string())
}

fn different(field: DifferingField, here: &str, there: &str) -> LineFinding {
    LineFinding::Different(Difference { field, here: here.to_owned(), there: there.to_owned() })
}

/// Returns true if a payer may pay a charge in this status.
const fn may_be_paid(status: Status) -> bool {
    match status {
        Status::Initial | Status::Pending | Status::Approved => true,
        Status::Paid
        | Status::Refund
        | Status::Chargeback
        | Status::Declined
        | Status::Expired
        | Status::Cancelled => false,
    }
}
