//! The body of a sandbox payment that is paid by hand: `{"on", "amount", "by"}`, or nothing.

use chrono::NaiveDate;

use super::due::read_date;
use super::fields::{Fields, Findings};
use super::violation::{Broken, code};
use super::{Rejection, UnknownName, json, unknown_names, wordings};
use crate::method::Method;
use crate::money::Money;
use crate::payment::Payment;
use crate::time::Timestamp;

/// Circumstances of a payment by hand.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct PayByHand {
    /// Day of the payment; today if absent.
    pub on: Option<NaiveDate>,
    /// Amount. If absent, the amount owed on that day.
    pub amount: Option<Money>,
    /// Code of the boleto that is used.
    pub by: PaidBy,
    /// Unknown names in the body.
    pub unknown: Vec<UnknownName>,
}

/// Code of a boleto.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum PaidBy {
    /// Its bar code.
    #[default]
    Barcode,
    /// Its PIX code.
    Pix,
}

impl PaidBy {
    /// Reads the API's spelling.
    pub fn parse(text: &str) -> Option<Self> {
        match text {
            "barcode" => Some(Self::Barcode),
            "pix" => Some(Self::Pix),
            _ => None,
        }
    }

    /// Returns the code by which a boleto was paid.
    pub fn of_paid(payment: &Payment) -> Self {
        if payment.state.end_to_end_id.is_some() { Self::Pix } else { Self::Barcode }
    }
}

/// Reads the body. An empty one counts as `{}`.
///
/// # Errors
/// A [`Rejection`], as for the creation request: `on` is from today to the last day on which the charge may be paid.
pub fn parse(body: &[u8], payment: &Payment, now: Timestamp) -> Result<PayByHand, Rejection> {
    if body.trim_ascii().is_empty() {
        return Ok(PayByHand::default());
    }
    let object = json::read(body)?;
    let findings = Findings::default();
    let root = Fields::of_body(&object, &findings);
    let on = root.optional("on").parsed(read_date);
    let amount = root.optional("amount").cents_from(1);
    let unknown_code = || Broken::new(code::UNKNOWN_VALUE, wordings::unknown_paid_by());
    let by = root.optional("by").parsed(|text| PaidBy::parse(text).ok_or_else(unknown_code));
    root.refuse_card_numbers(&[]);
    match (on, payment.order.terms.due()) {
        (Some(on), Some(due)) if !(now.sao_paulo_date()..=due.payable_until()).contains(&on) => {
            root.refuse("on", Broken::new(code::RANGE, wordings::on_out_of_range()));
        }
        (Some(_), None) => root.refuse("on", Broken::new(code::NOT_APPLICABLE, wordings::needs_due_date())),
        (Some(_), Some(_)) | (None, _) => {}
    }
    if by.is_some() && payment.method() != Method::Boleto {
        let message = wordings::belongs_to(Method::Boleto.label());
        root.refuse("by", Broken::new(code::NOT_APPLICABLE, message));
    }
    let unknown = unknown_names::find(&object, &unknown_names::BY_HAND);
    match findings.conclude(Some(())) {
        Ok(_) => Ok(PayByHand { on, amount, by: by.unwrap_or_default(), unknown }),
        Err(rejection) => Err(rejection.with_unknown(unknown)),
    }
}
