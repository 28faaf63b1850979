//! Indexed properties of a payment, computed in one place for both stores.

use quita_domain::delivery::DeliveryState;
use quita_domain::payment::Payment;
use quita_domain::reconciliation::{SlipNumber, slip_numbers_of};
use uuid::Uuid;

use crate::signed;

/// The indexed fields of a payment. Times are milliseconds since the Unix epoch.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PaymentRow<'a> {
    /// Its id.
    pub id: Uuid,
    /// The guard of the next write.
    pub revision: i64,
    /// Id of the write that produced its current state.
    pub last_op: Uuid,
    /// Merchant whose payment it is.
    pub merchant: &'a str,
    /// `test` or `live`.
    pub mode: &'static str,
    /// `PIX`, `BOLETO` or `CREDIT_CARD`.
    pub method: &'static str,
    /// The payer's CPF or CNPJ, bare; absent once the payer was erased, so that nobody finds it.
    pub document: Option<&'a str>,
    /// The payer's e-mail address as it was sent; absent once the payer was erased.
    pub email: Option<&'a str>,
    /// The merchant's own id.
    pub external_reference: Option<&'a str>,
    /// The payment link through which it was created.
    pub link: Option<Uuid>,
    /// Identifies the card that pays it; removed once its tries no longer count.
    pub card: Option<&'a str>,
    /// Mark of the card's token that it used; no other payment has it.
    pub used_token: Option<&'a str>,
    /// Time of its creation.
    pub created_at: i64,
    /// Requested amount, in cents.
    pub amount: i64,
    /// Due date, as `YYYY-MM-DD`.
    pub due_on: Option<String>,
    /// Current status. This field and the following ones may change. The ones above never change, except the guard, and
    /// except when the payer is erased.
    pub status: &'static str,
    /// Time at which it was first paid.
    pub paid_at: Option<i64>,
    /// Time at which the timer must look at it.
    pub due_at: Option<i64>,
    /// Time at which its next delivery may be tried.
    pub outbox_at: Option<i64>,
    /// Receiver of that delivery; see [`quita_domain::delivery::address_of`].
    pub outbox_to: Option<String>,
    /// The states of its deliveries, each listed once.
    pub delivery_states: Vec<DeliveryState>,
    /// The bank's number of a boleto, bare.
    pub our_number: Option<SlipNumber>,
    /// Time since which it has been at rest, so that its payer may be erased one day.
    pub rests_since: Option<i64>,
    /// Beneficiary's number on the slip, bare. It changes only with the merchant's own id.
    pub document_number: Option<SlipNumber>,
}

impl<'a> PaymentRow<'a> {
    /// Returns the row of a payment.
    pub fn of(payment: &'a Payment) -> Self {
        let owner = &payment.owner;
        let order = &payment.order;
        let is_held = |state: &DeliveryState| payment.outbox.iter().any(|delivery| delivery.state == *state);
        let outbox_at = payment.outbox_at();
        let (our_number, document_number) = slip_numbers_of(payment);
        let outbox_to = outbox_at.and_then(|_| payment.receiver()).map(|receiver| receiver.address);
        // The masked values of an erased payer can't be searched for: all erased payments would share them.
        let payer = (!payment.is_erased()).then_some(&order.payer);
        Self {
            id: payment.id.uuid(),
            revision: signed(payment.revision),
            last_op: payment.last_op,
            merchant: owner.merchant.as_str(),
            mode: owner.mode.as_str(),
            method: order.method.as_str(),
            document: payer.map(|payer| payer.document.as_str()),
            email: payer.map(|payer| payer.email.as_str()),
            external_reference: order.external_reference.as_deref(),
            link: payment.link.map(|link| link.uuid()),
            card: payment.card_fingerprint.as_ref().map(|card| card.as_str()),
            used_token: payment.used_token.as_ref().map(|token| token.as_str()),
            created_at: payment.created_at.millis(),
            amount: signed(order.amount.cents()),
            due_on: order.terms.due().map(|due| due.due_date.to_string()),
            status: payment.status().as_str(),
            paid_at: payment.state.paid_at.map(|at| at.millis()),
            due_at: payment.due_at().map(|at| at.millis()),
            outbox_at: outbox_at.map(|at| at.millis()),
            outbox_to,
            delivery_states: DeliveryState::ALL.into_iter().filter(is_held).collect(),
            our_number,
            rests_since: payment.rests_since().map(|at| at.millis()),
            document_number,
        }
    }
}
