//! A boleto, within the field sizes of the bank that issues it.

use chrono::NaiveDate;
use quita_domain::acquiring::ChargeQuery;
use quita_domain::order::Address as PayerAddress;
use quita_domain::text::fold_ascii;
use serde::Serialize;

use super::type_of;
use crate::cielo::settings::BoletoSettings;

/// Limits of a bank's fields: the number of characters, and their case.
///
/// Source: E-commerce API 3.0, "Boleto", the tables of Bradesco and Banco do Brasil.
#[derive(Debug, Clone, Copy)]
pub(super) struct Rules {
    /// Maximum length of the payer's name.
    pub(super) name: usize,
    city: usize,
    street: usize,
    number: usize,
    complement: usize,
    district: usize,
    /// Maximum length of street, number, complement and district together.
    together: usize,
    in_capitals: bool,
}

impl Rules {
    /// Returns the rules of a provider. Bradesco's apply to every other bank too: except for the total length, they are
    /// the stricter ones.
    pub(super) fn of(provider: &str) -> Self {
        let bradesco = Self {
            name: 34,
            city: 50,
            street: 70,
            number: 10,
            complement: 20,
            district: 50,
            together: 150,
            in_capitals: false,
        };
        match provider {
            "BancoDoBrasil2" | "BancoDoBrasil3" => {
                Self { name: 60, city: 18, together: 60, in_capitals: true, ..bradesco }
            }
            _ => bradesco,
        }
    }

    /// Returns the text in the required case.
    pub(super) fn cased(self, text: String) -> String {
        if self.in_capitals { text.to_ascii_uppercase() } else { text }
    }
}

#[derive(Serialize)]
#[serde(rename_all = "PascalCase")]
pub(super) struct Address {
    street: String,
    number: String,
    complement: String,
    zip_code: String,
    district: String,
    city: String,
    state: &'static str,
    country: &'static str,
}

/// Minimum room left for the district beside a long street.
const LEAST_DISTRICT: usize = 15;

/// Returns the payer's address. If all parts together are too long, the complement is shortened first, then the street,
/// then the district. The number and the postal code suffice to find the house.
pub(super) fn address(given: &PayerAddress, rules: Rules) -> Address {
    let part = |text: &str, max: usize| rules.cased(fold_ascii(text, max));
    let number = part(&given.number, rules.number);
    let left = rules.together.saturating_sub(number.len());
    let district = part(&given.neighborhood, rules.district);
    let street =
        part(&given.street, rules.street.min(left.saturating_sub(district.len().min(LEAST_DISTRICT))));
    let left = left.saturating_sub(street.len());
    let district = part(&district, left);
    let left = left.saturating_sub(district.len());
    let complement = part(given.complement.as_deref().unwrap_or_default(), rules.complement.min(left));
    Address {
        street,
        number,
        complement,
        zip_code: given.zip_code.as_str().to_owned(),
        district,
        city: part(&given.city, rules.city),
        state: given.state.as_str(),
        country: "BRA",
    }
}

#[derive(Serialize)]
#[serde(rename_all = "PascalCase")]
pub(super) struct BoletoPayment<'a> {
    r#type: &'static str,
    provider: &'a str,
    #[serde(skip_serializing_if = "Option::is_none")]
    address: Option<&'a str>,
    amount: u64,
    assignor: &'a str,
    expiration_date: String,
    identification: &'a str,
    instructions: &'a str,
}

impl<'a> BoletoPayment<'a> {
    pub(super) fn new(query: &ChargeQuery, due_date: NaiveDate, boleto: &'a BoletoSettings) -> Self {
        Self {
            r#type: type_of(query),
            provider: &boleto.provider,
            address: boleto.address.as_deref(),
            amount: query.amount.cents(),
            assignor: &boleto.assignor,
            expiration_date: due_date.format("%Y-%m-%d").to_string(),
            identification: &boleto.identification,
            instructions: &boleto.instructions,
        }
    }
}
