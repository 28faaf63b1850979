//! Facts that a sale states about its payment: decided by its status, explained by its code.

use quita_domain::acquiring::{
    Approval, CallFailure, ChargeAnswer, ChargeQuery, Fact, Issued, Reference, RemovedBy, Settlement,
    Statement,
};
use quita_domain::method::Method;
use quita_domain::order::Terms;
use quita_domain::time::{DAY_MS, Timestamp};

use super::codes::{self, Issuer, NoCode};
use super::sale::{PaymentId, Sale, Status};
use super::{chargeback, order_id};
use crate::{decline, reason};

/// Milliseconds for which an issuer holds an uncaptured amount (E-commerce API 3.0, capture: at most 15 days).
const AUTHORISATION_LAPSES_MS: u64 = 15 * DAY_MS;

/// Reader of a payment's sale, with the issuer and the time of reading.
#[derive(Clone, Copy)]
pub(super) struct Reader<'a> {
    pub(super) issuer: Issuer<'a>,
    pub(super) now: Timestamp,
}

impl Reader<'_> {
    /// Returns the facts that the sale states. A sale of another payment states nothing.
    pub(super) fn answer(self, query: &ChargeQuery, sale: &Sale) -> ChargeAnswer {
        if let Some(what) = mismatch(query, sale) {
            return ChargeAnswer::Mismatched(what);
        }
        match query.method {
            Method::CreditCard => self.card(query, sale),
            Method::Pix => self.pix(query, sale),
            Method::Boleto => self.boleto(query, sale),
        }
    }

    fn pix(self, query: &ChargeQuery, sale: &Sale) -> ChargeAnswer {
        let was_paid =
            sale.captured.is_some() || query.paid_amount.is_some() || sale.pix.end_to_end_id.is_some();
        match sale.status {
            // A partly refunded PIX stays paid. The sums show the refunded amount.
            Status::Paid | Status::Refunded => known(query, sale, money(query, sale)),
            // A refund is under way.
            Status::Pending | Status::Voided if was_paid => known(query, sale, money(query, sale)),
            Status::Pending => self.waits(query, sale),
            Status::Voided | Status::Denied | Status::Aborted => self.withdrawn(query, sale),
            Status::NotFinished | Status::Authorized | Status::Other(_) => unclear(sale),
        }
    }

    fn boleto(self, query: &ChargeQuery, sale: &Sale) -> ChargeAnswer {
        let was_paid = sale.captured.is_some() || query.paid_amount.is_some();
        match sale.status {
            Status::Paid => known(query, sale, money(query, sale)),
            Status::Voided | Status::Refunded if was_paid => known(query, sale, money(query, sale)),
            // Cielo shows a registered boleto as authorised; it is paid only with status 2.
            Status::Authorized | Status::Pending => self.waits(query, sale),
            Status::Voided | Status::Refunded | Status::Denied | Status::Aborted => {
                self.withdrawn(query, sale)
            }
            Status::NotFinished | Status::Other(_) => unclear(sale),
        }
    }

    fn card(self, query: &ChargeQuery, sale: &Sale) -> ChargeAnswer {
        let was_captured = sale.captured.is_some() || query.paid_amount.is_some();
        match sale.status {
            Status::Authorized => known(query, sale, vec![Fact::Authorized(approval(sale))]),
            Status::Paid => known(query, sale, money(query, sale)),
            Status::Voided | Status::Refunded if was_captured => known(query, sale, money(query, sale)),
            Status::Voided | Status::Refunded => known(query, sale, vec![self.voided(query, sale)]),
            // The sale is refused and captured: neither can be believed.
            Status::Denied | Status::Aborted if was_captured => unclear(sale),
            Status::Denied | Status::Aborted => {
                let brand = query.card.as_ref().map(|card| card.brand);
                let decline = decline::decline(brand, sale.return_code.as_deref(), sale.advice.as_deref());
                known(query, sale, vec![Fact::Declined(decline)])
            }
            Status::NotFinished | Status::Pending | Status::Other(_) => unclear(sale),
        }
    }

    /// Returns the fact for an uncaptured authorisation that is gone. While an operation by this service is under way,
    /// it may be the cause, which the operation's own inquiry will show. Cielo shows a lapsed authorisation like a
    /// voided one.
    fn voided(self, query: &ChargeQuery, sale: &Sale) -> Fact {
        if query.operation_under_way {
            Fact::Authorized(approval(sale))
        } else if query.cancelled_at.is_some() {
            Fact::Cancelled
        } else if query.created_at.plus_ms(AUTHORISATION_LAPSES_MS) <= self.now {
            Fact::Expired
        } else {
            Fact::Removed { by: RemovedBy::Receiver }
        }
    }

    /// Returns the fact for a sale that waits for its payer, with a checked code. A code that was already shown stays.
    fn waits(self, query: &ChargeQuery, sale: &Sale) -> ChargeAnswer {
        let issued = match (&query.issued, codes::issued(query, sale, self.issuer)) {
            // A payer may already have the code, so a later answer can't replace it.
            (Some(issued), _) => Issued::clone(issued),
            (None, Ok(issued)) => issued,
            (None, Err(NoCode(why))) => {
                let transaction = query.id;
                let payment = &sale.payment_id;
                tracing::warn!(transaction.id = %transaction, cielo.payment_id = %payment, why, "no code to pay with");
                return ChargeAnswer::WithoutCode(reference(query, sale));
            }
        };
        known(query, sale, vec![Fact::Pending { issued, news_at: None }])
    }

    /// Returns the fact for a sale that can no longer be paid. If no code was handed out, it never could be, so another
    /// acquirer may take the payment.
    fn withdrawn(self, query: &ChargeQuery, sale: &Sale) -> ChargeAnswer {
        let failed = matches!(sale.status, Status::Denied | Status::Aborted);
        if failed && query.issued.is_none() {
            return ChargeAnswer::Refused(refusal(sale));
        }
        let fact = if query.cancelled_at.is_some() {
            Fact::Cancelled
        } else if self.time_is_over(query) {
            Fact::Expired
        } else {
            Fact::Removed { by: if failed { RemovedBy::Acquirer } else { RemovedBy::Receiver } }
        };
        known(query, sale, vec![fact])
    }

    /// Returns true if a PIX has now expired by itself. The expiry of a boleto is the service's own rule.
    fn time_is_over(self, query: &ChargeQuery) -> bool {
        match query.terms {
            Terms::Pix { expires_in_s } => {
                // Its lifetime starts with the request that created it, as the code shows it.
                query.sent_at.plus_ms(expires_in_s.saturating_mul(1000)) <= self.now
            }
            Terms::DuePix(_) | Terms::Boleto(_) | Terms::CreditCard { .. } => false,
        }
    }
}

/// Returns true if the sale names an order that is not the payment's.
pub(super) fn is_of_another_order(query: &ChargeQuery, sale: &Sale) -> bool {
    let ours = order_id::write(query.id, query.method);
    sale.order_id.as_deref().is_some_and(|theirs| !order_id::is_same(theirs, &ours))
}

/// Returns a description of the part of the answer that belongs to another order, or is for another amount.
pub(super) fn mismatch(query: &ChargeQuery, sale: &Sale) -> Option<String> {
    if is_of_another_order(query, sale) {
        return Some("the sale is of another order".to_owned());
    }
    if sale.amount != query.amount {
        return Some(format!("the sale is of {}, not of {}", sale.amount, query.amount));
    }
    if sale.currency.as_deref().is_some_and(|currency| !currency.eq_ignore_ascii_case("BRL")) {
        return Some("the sale has another currency".to_owned());
    }
    let kind = type_of(query.method);
    let is_other = sale.kind.as_deref().is_some_and(|given| !given.eq_ignore_ascii_case(kind));
    is_other.then(|| format!("the sale is no {kind}"))
}

/// Returns `Payment.Type`.
pub(super) const fn type_of(method: Method) -> &'static str {
    match method {
        Method::Pix => "Pix",
        Method::Boleto => "Boleto",
        Method::CreditCard => "CreditCard",
    }
}

/// Returns the facts about money that came in, part of which may have been refunded.
fn money(query: &ChargeQuery, sale: &Sale) -> Vec<Fact> {
    // A captured card may be the effect of a capture by this service, whose answer is still to come and will state it.
    let may_be_our_capture =
        query.method == Method::CreditCard && query.operation_under_way && query.paid_amount.is_none();
    if may_be_our_capture {
        return vec![Fact::Authorized(approval(sale))];
    }
    let mut facts = vec![Fact::Settled(settlement(query.method, sale))];
    facts.extend(chargeback::facts(&sale.chargebacks));
    facts.extend(refund(query, sale));
    facts
}

/// Returns the fact for refunded money. The part that is not ours was refunded by somebody at Cielo. Its id is derived
/// from the sum, so that it is recorded once.
fn refund(query: &ChargeQuery, sale: &Sale) -> Option<Fact> {
    let given_back = sale.given_back();
    // While a refund by this service is under way, its effect on the sum would be reported as somebody else's.
    if query.operation_under_way || given_back.is_zero() {
        return None;
    }
    let refund_id = format!("{}-{}", sale.payment_id, given_back.cents());
    Some(Fact::RefundedInTotal { refund_id, total: given_back })
}

/// Returns the only movement of money of a sale; its id is the sale's.
pub(super) fn settlement(method: Method, sale: &Sale) -> Settlement {
    Settlement {
        id: sale.payment_id.to_string(),
        amount: sale.taken(),
        paid_on: sale.captured_on.filter(|_| method == Method::Boleto),
        end_to_end_id: sale.pix.end_to_end_id.clone().filter(|_| method == Method::Pix),
        approval: (method == Method::CreditCard).then(|| approval(sale)),
    }
}

fn approval(sale: &Sale) -> Approval {
    Approval { authorization_code: sale.authorization_code.clone().unwrap_or_default() }
}

/// Returns Cielo's explanation of a failed sale.
pub(super) fn refusal(sale: &Sale) -> String {
    let said = reason::explained(&sale.return_code, &sale.return_message).map(|said| reason::clean(&said));
    said.filter(|said| !said.is_empty()).unwrap_or_else(|| "the sale failed at Cielo".to_owned())
}

fn unclear(sale: &Sale) -> ChargeAnswer {
    let what = match sale.status {
        Status::NotFinished => "the sale is not finished".to_owned(),
        Status::Authorized
        | Status::Paid
        | Status::Denied
        | Status::Voided
        | Status::Refunded
        | Status::Pending
        | Status::Aborted => format!("the sale's status {:?} tells nothing for this method", sale.status),
        Status::Other(number) => format!("the sale's status {number} is not known"),
    };
    ChargeAnswer::Failed(CallFailure::Unknown(what))
}

fn known(query: &ChargeQuery, sale: &Sale, facts: Vec<Fact>) -> ChargeAnswer {
    ChargeAnswer::Known(Statement { facts, reference: reference(query, sale) })
}

/// Returns Cielo's names of the charge.
pub(super) fn reference(query: &ChargeQuery, sale: &Sale) -> Reference {
    let mut reference = Reference::none()
        .with(super::PAYMENT_ID, sale.payment_id.as_str())
        .with("orderId", &order_id::write(query.id, query.method));
    for (name, value) in [("tid", &sale.tid), ("proofOfSale", &sale.proof_of_sale)] {
        reference = reference.with(name, value.as_deref().unwrap_or_default());
    }
    match query.method {
        Method::Boleto => reference.with("ourNumber", &codes::reference_number(sale).unwrap_or_default()),
        Method::Pix | Method::CreditCard => reference,
    }
}

/// Returns the sale that a reference names.
pub(super) fn payment_id(reference: &Reference) -> Option<PaymentId> {
    reference.get(super::PAYMENT_ID).and_then(PaymentId::parse)
}
