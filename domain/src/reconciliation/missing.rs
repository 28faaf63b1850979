//! Lines that a list should contain.

use chrono::NaiveDate;

use super::charge_line::{ChargeLine, Movement};
use super::line::{LineKind, LineSubject, Source, StatementLine, transferred_at};
use crate::acquiring::{Issued, Reference};
use crate::boleto::business_day;
use crate::identity::AcquirerName;
use crate::method::Method;
use crate::money::Money;
use crate::payment::Payment;
use crate::state::RefundStatus;
use crate::time::Timestamp;

/// Tolerance, in milliseconds, between the time in a transfer's id, its receipt, and our learning of it. A list is read
/// for this much more than its day. Changes within it are not expected in the list yet.
pub const MARGIN_MS: u64 = 10 * 60_000;

/// Returns the line that an acquirer's list of this day should have because this payment was paid. None if no Pix there
/// paid it, or on another day, or so shortly before the list was read that it may be missing.
pub fn expected_pix(
    payment: &Payment,
    acquirer: &AcquirerName,
    day: NaiveDate,
    read_at: Timestamp,
) -> Option<StatementLine> {
    let state = &payment.state;
    let end_to_end_id = state.end_to_end_id.as_ref()?;
    let gross = state.captured_amount?;
    let is_there = payment.method() == Method::Pix && payment.acquirer() == Some(acquirer);
    let paid_at = state.paid_at?;
    // The bank lists a transfer on its own day, even if it became known here after midnight.
    let day_of_transfer = transferred_at(end_to_end_id).unwrap_or(paid_at).sao_paulo_date();
    if !is_there || day_of_transfer != day || paid_at.plus_ms(MARGIN_MS) > read_at {
        return None;
    }
    let source = Source::list_of(acquirer);
    let subject = LineSubject::Pix { transaction_id: Some(payment.id), end_to_end_id: end_to_end_id.clone() };
    Some(StatementLine {
        id: StatementLine::pix_id(&source, end_to_end_id),
        source,
        day,
        kind: LineKind::Pix,
        reference: Some(end_to_end_id.clone()),
        subject,
        gross,
        fee: None,
        net: None,
        on: day,
        place: StatementLine::EXPECTED.into(),
        other_key: None,
    })
}

/// Digits of the bank in a bar code.
const BANK_DIGITS: usize = 3;

/// Time after a payment within which its movements may not be listed yet, in milliseconds.
const LISTED_WITHIN_MS: u64 = 60 * 60_000;

/// Returns the line that an acquirer's list of charges should have because this payment was paid on this day. None if no
/// charge there paid it, or so shortly before the list was read that it may be missing. `name` is the name under which
/// references have the acquirer's name of a charge.
pub fn expected_charge(
    payment: &Payment,
    acquirer: &AcquirerName,
    name: &str,
    day: NaiveDate,
    read_at: Timestamp,
) -> Option<StatementLine> {
    let state = &payment.state;
    let attempt = state.attempts.last().filter(|attempt| attempt.acquirer == *acquirer)?;
    let charge = attempt.reference.get(name)?;
    let gross = state.captured_amount?;
    let paid_at = state.paid_at?;
    if paid_at.sao_paulo_date() != day || paid_at.plus_ms(LISTED_WITHIN_MS) > read_at {
        return None;
    }
    let source = Source::list_of(acquirer);
    let movement = Movement::Credit;
    let subject = ChargeLine {
        transaction_id: Some(payment.id),
        charge: Reference::none().with(name, charge),
        movement,
        is_taken: false,
        is_own: true,
        instalment: None,
        paid_out_on: None,
        expected_on: None,
    };
    let beginning = StatementLine::beginning_of_movement(&source, charge, movement);
    Some(StatementLine {
        id: format!("{beginning}{}", StatementLine::EXPECTED),
        source,
        day,
        kind: movement.kind(),
        reference: Some(charge.to_owned()),
        subject: LineSubject::Charge(Box::new(subject)),
        gross,
        fee: None,
        net: None,
        on: day,
        place: StatementLine::EXPECTED.into(),
        other_key: None,
    })
}

/// Returns the line that an acquirer's list of this day should have because this boleto was paid. None if no boleto there
/// was paid, or on another day, or so shortly before the list was read that it may be missing. Banks settle nothing on a
/// weekend or holiday: what was paid then is expected on the next business day.
pub fn expected_boleto(
    payment: &Payment,
    acquirer: &AcquirerName,
    day: NaiveDate,
    read_at: Timestamp,
) -> Option<StatementLine> {
    let state = &payment.state;
    let attempt = state.attempts.last().filter(|attempt| attempt.acquirer == *acquirer)?;
    let our_number = attempt.reference.get(Reference::OUR_NUMBER)?;
    let bank: String = match state.issued.as_deref()? {
        Issued::Boleto(slip) => slip.barcode.chars().take(BANK_DIGITS).collect(),
        Issued::Pix { .. } => return None,
    };
    let captured = state.captured_amount?;
    let paid_at = state.paid_at?;
    let known_on = paid_at.sao_paulo_date();
    // A bank may date a settlement after the day on which it is known.
    let settled_on = business_day::roll(state.paid_on.map_or(known_on, |paid_on| paid_on.min(known_on)));
    if settled_on != day || paid_at.plus_ms(LISTED_WITHIN_MS) > read_at {
        return None;
    }
    let source = Source::list_of(acquirer);
    let beginning = StatementLine::beginning_of_slip(&source, Some(our_number), None)?;
    Some(StatementLine {
        id: format!("{beginning}{}", StatementLine::EXPECTED),
        source,
        day,
        kind: LineKind::Boleto,
        reference: Some(our_number.to_owned()),
        subject: LineSubject::Boleto {
            bank,
            our_number: Some(our_number.to_owned()),
            document_number: None,
            interest: Money::ZERO,
            credited_on: None,
        },
        gross: state.paid_amount.unwrap_or(captured),
        fee: None,
        net: None,
        on: day,
        place: StatementLine::EXPECTED.into(),
        other_key: None,
    })
}

/// Returns the lines of refunds that a list should have with the Pix of this line: all that the payment has. None if it
/// changed shortly before the list was read.
pub fn expected_refunds(pix: &StatementLine, payment: &Payment, read_at: Timestamp) -> Vec<StatementLine> {
    let LineSubject::Pix { end_to_end_id, .. } = &pix.subject else { return Vec::new() };
    let is_of_payment = payment.state.end_to_end_id.as_ref() == Some(end_to_end_id);
    if !is_of_payment || payment.state.updated_at.plus_ms(MARGIN_MS) > read_at {
        return Vec::new();
    }
    let done = payment.state.refunds.iter().filter(|refund| refund.status == RefundStatus::Succeeded);
    let expected = done.map(|refund| StatementLine {
        id: StatementLine::refund_id(&pix.source, end_to_end_id, &refund.id),
        source: pix.source.clone(),
        day: pix.day,
        kind: LineKind::Refund,
        reference: Some(refund.id.clone()),
        subject: LineSubject::Refund {
            transaction_id: Some(payment.id),
            end_to_end_id: end_to_end_id.clone(),
            refund_id: refund.id.clone(),
            is_chargeback: false,
        },
        gross: refund.amount,
        fee: None,
        net: None,
        on: refund.created_at.sao_paulo_date(),
        place: StatementLine::EXPECTED.into(),
        other_key: None,
    });
    expected.collect()
}
