//! Rows of the lists of refunds and disputes.

use quita_domain::listing::Movements;
use quita_domain::method::Method;
use quita_domain::payment::{Chargeback, DisputeStatus, Payment};
use quita_domain::state::Refund;
use quita_domain::time::Timestamp;

use crate::console::kit::language::Language;
use crate::console::merchant::payment::tone_of_refund;

/// A refund or a dispute.
pub(super) struct MovementRow {
    pub(super) id: String,
    pub(super) payment_id: String,
    pub(super) reference: Option<String>,
    pub(super) method: Method,
    /// Colour class of the status, and its word.
    pub(super) status: (&'static str, &'static str),
    /// Reason for a failure: the acquirer's words, or ours with the code.
    pub(super) reason: Option<String>,
    pub(super) at: Option<Timestamp>,
    pub(super) won_at: Option<Timestamp>,
    pub(super) amount: String,
}

/// Returns the rows of a payment, newest first.
pub(super) fn rows_of(payment: &Payment, movements: &Movements, language: Language) -> Vec<MovementRow> {
    let refunds = payment.state.refunds.iter().rev().filter(|refund| movements.have_refund(refund.status));
    let disputes = payment.chargebacks.iter().rev().filter(|one| movements.have_dispute(one.status()));
    let refunds = refunds.map(|refund| of_refund(payment, refund, language));
    refunds.chain(disputes.map(|dispute| of_dispute(payment, dispute, language))).collect()
}

fn of_refund(payment: &Payment, refund: &Refund, language: Language) -> MovementRow {
    MovementRow {
        id: refund.id.clone(),
        payment_id: payment.id.to_string(),
        reference: payment.order.external_reference.clone(),
        method: payment.method(),
        status: (tone_of_refund(refund.status), language.refund_status(refund.status)),
        reason: refund.failure_reason.as_deref().map(|reason| language.reason_with_code(reason)),
        at: Some(refund.created_at),
        won_at: None,
        amount: language.money(refund.amount),
    }
}

fn of_dispute(payment: &Payment, chargeback: &Chargeback, language: Language) -> MovementRow {
    let tone = match chargeback.status() {
        DisputeStatus::Open => "tone-over",
        DisputeStatus::Won => "tone-done",
    };
    MovementRow {
        id: chargeback.id.clone(),
        payment_id: payment.id.to_string(),
        reference: payment.order.external_reference.clone(),
        method: payment.method(),
        status: (tone, language.dispute_status(chargeback.status())),
        reason: None,
        at: payment.time_of(chargeback),
        won_at: chargeback.won.as_ref().and_then(|won| won.learnt_at),
        amount: language.money(payment.amount_of(chargeback)),
    }
}
