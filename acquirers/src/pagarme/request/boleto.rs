//! A boleto, with the terms that Pagar.me offers: whole percentages and a fixed fine, but no discounts.

use quita_domain::acquiring::ChargeQuery;
use quita_domain::due_terms::{DueTerms, Interest, Portion};
use quita_domain::order::Payer;
use serde::Serialize;

use super::Unsendable;
use super::customer::Address;
use crate::pagarme::code;
use crate::pagarme::settings::PagarmeSettings;

/// Maximum number of characters of the texts for payer and cashier together.
const MAX_INSTRUCTIONS: usize = 256;

/// Reason against this acquirer: it has no such terms. Routing knows this beforehand.
const TERMS_UNSUPPORTED: Unsendable = Unsendable::Refused("terms_unsupported");

#[derive(Serialize)]
pub(super) struct Boleto<'a> {
    #[serde(skip_serializing_if = "Option::is_none")]
    bank: Option<&'a str>,
    #[serde(skip_serializing_if = "String::is_empty")]
    instructions: String,
    due_at: String,
    document_number: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    billing_address: Option<Address>,
    #[serde(skip_serializing_if = "Option::is_none")]
    fine: Option<Surcharge>,
    #[serde(skip_serializing_if = "Option::is_none")]
    interest: Option<Surcharge>,
    #[serde(skip_serializing_if = "Option::is_none")]
    max_days_to_pay_past_due: Option<i64>,
}

/// Fine, or interest for each month, from this many days after the due date.
#[derive(Serialize)]
struct Surcharge {
    days: u8,
    r#type: &'static str,
    amount: u64,
}

impl Surcharge {
    const fn new(r#type: &'static str, amount: u64) -> Self {
        Self { days: 1, r#type, amount }
    }

    /// Creates a surcharge from hundredths of a percent.
    fn percentage(points: u32) -> Result<Self, Unsendable> {
        let whole = points.checked_div(100).filter(|_| points.is_multiple_of(100));
        whole.map(|percent| Self::new("percentage", u64::from(percent))).ok_or(TERMS_UNSUPPORTED)
    }
}

impl<'a> Boleto<'a> {
    pub(super) fn new(
        query: &ChargeQuery,
        due: &DueTerms,
        payer: &Payer,
        settings: &'a PagarmeSettings,
    ) -> Result<Self, Unsendable> {
        let fine = due.fine.map(|fine| match fine {
            Portion::Amount(amount) => Ok(Surcharge::new("flat", amount.cents())),
            Portion::BasisPoints(points) => Surcharge::percentage(points),
        });
        let interest = due.interest.map(|interest| match interest {
            Interest::AmountPerDay(_) => Err(TERMS_UNSUPPORTED),
            Interest::BasisPointsPerMonth(points) => Surcharge::percentage(points),
        });
        if !due.discounts.is_empty() {
            return Err(TERMS_UNSUPPORTED);
        }
        let is_payable_later = due.payable_after_due_days > 0;
        let days = due.payable_until().signed_duration_since(due.due_date).num_days();
        let texts = settings.boleto.instructions.iter().chain(&due.instructions).map(String::as_str);
        let instructions = texts.collect::<Vec<_>>().join("\n");
        Ok(Self {
            bank: settings.boleto.bank.as_deref(),
            instructions: instructions.chars().take(MAX_INSTRUCTIONS).collect(),
            // The end of the day in Brasília.
            due_at: format!("{}T23:59:59-03:00", due.due_date),
            document_number: code::document_number(query.id),
            billing_address: payer.address.as_ref().map(Address::of),
            fine: fine.transpose()?,
            interest: interest.transpose()?,
            max_days_to_pay_past_due: is_payable_later.then_some(days),
        })
    }
}
