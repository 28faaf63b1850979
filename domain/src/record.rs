//! The payment record: the merchant's view of a payment.

pub mod link;
mod parts;
pub(crate) mod wire;

use std::collections::BTreeMap;

use serde::Serialize;

use crate::event::Event;
use crate::identity::{AcquirerName, LinkId, Mode, TransactionId};
use crate::method::Method;
use crate::money::Money;
use crate::order::Utm;
use crate::payment::Payment;
use crate::state::State;
use crate::status::Status;
use crate::time::Timestamp;

use parts::{
    Boleto, CreditCard, Customer, Pix, Product, Routing, Shipping, SplitRecord, TermsRecord, UtmRecord,
};
use wire::Printed;

pub use parts::RefundRecord;

/// A payment as the API and the webhooks show it (contract, section 1.2). Contains no card number.
///
/// Written directly as JSON text: in a `serde_json::Value` its decimal numbers would become floats.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct PaymentRecord<'a> {
    transaction_id: Printed<TransactionId>,
    mode: Mode,
    status: Status,
    amount: Printed<Money>,
    currency: &'static str,
    payment_method: Method,
    customer: Customer<'a>,
    pix: Option<Pix<'a>>,
    boleto: Option<Boleto<'a>>,
    products: Vec<Product<'a>>,
    utm: UtmRecord<'a>,
    created_at: Printed<Timestamp>,
    paid_at: Option<Printed<Timestamp>>,
    refunded_at: Option<Printed<Timestamp>>,
    chargeback_at: Option<Printed<Timestamp>>,
    credit_card: Option<CreditCard<'a>>,
    captured_amount: Option<Printed<Money>>,
    shipping: Option<Shipping>,
    splits: Vec<SplitRecord<'a>>,
    refunds: Vec<RefundRecord<'a>>,
    refunded_amount: Printed<Money>,
    cost: Option<Printed<Money>>,
    installments: Option<u8>,
    terms: Option<TermsRecord<'a>>,
    external_reference: Option<&'a str>,
    metadata: &'a BTreeMap<String, String>,
    postback_url: Option<&'a str>,
    link_id: Option<Printed<LinkId>>,
    status_reason: Option<&'a str>,
    acquirer: Option<&'a AcquirerName>,
    acquirer_reference: Option<BTreeMap<&'a str, &'a str>>,
    routing: Routing<'a>,
    cancelled_at: Option<Printed<Timestamp>>,
    expired_at: Option<Printed<Timestamp>>,
    updated_at: Printed<Timestamp>,
    version: u32,
}

impl<'a> PaymentRecord<'a> {
    /// Returns the current record of a payment. Its pages are at `public_url`, such as `https://pay.example.com`.
    pub fn now(payment: &'a Payment, public_url: &str) -> Self {
        Self::of(payment, &payment.state, public_url)
    }

    /// Returns the record of a payment right after an event.
    pub fn as_of(payment: &'a Payment, event: &'a Event, public_url: &str) -> Self {
        Self::of(payment, payment.as_of(event), public_url)
    }

    fn of(payment: &'a Payment, state: &'a State, public_url: &str) -> Self {
        let order = &payment.order;
        let attempt = state.attempts.last();
        let Utm { source, medium, campaign, term, content } = &order.utm;
        Self {
            transaction_id: Printed(payment.id),
            mode: payment.owner.mode,
            status: state.status,
            amount: Printed(order.amount),
            currency: "BRL",
            payment_method: order.method,
            customer: Customer::of(&order.payer),
            pix: Pix::of(payment, state, public_url),
            boleto: Boleto::of(payment, state, public_url),
            products: Product::all_of(payment),
            utm: UtmRecord { source, medium, campaign, term, content },
            created_at: Printed(payment.created_at),
            paid_at: state.paid_at.map(Printed),
            refunded_at: state.refunded_at.map(Printed),
            chargeback_at: state.chargeback_at.map(Printed),
            credit_card: CreditCard::of(&order.terms, state),
            captured_amount: state.captured_amount.map(Printed),
            shipping: order.shipping_fee.map(|fee| Shipping { fee: Printed(fee) }),
            splits: SplitRecord::all_of(&order.splits, attempt),
            refunds: state.refunds.iter().map(RefundRecord::of).collect(),
            refunded_amount: Printed(state.refunded_amount()),
            cost: state.cost.map(Printed),
            installments: order.installments(),
            terms: order.terms.due().map(TermsRecord::of),
            external_reference: order.external_reference.as_deref(),
            metadata: &order.metadata,
            postback_url: order.postback_url.as_deref(),
            link_id: payment.link.map(Printed),
            status_reason: state.status_reason.as_deref(),
            acquirer: attempt.map(|attempt| &attempt.acquirer),
            acquirer_reference: attempt
                .map(|attempt| attempt.reference.shown().collect::<BTreeMap<_, _>>())
                .filter(|shown| !shown.is_empty()),
            routing: Routing::of(payment, &state.attempts),
            cancelled_at: state.cancelled_at.map(Printed),
            expired_at: state.expired_at.map(Printed),
            updated_at: Printed(state.updated_at),
            version: state.version,
        }
    }
}
