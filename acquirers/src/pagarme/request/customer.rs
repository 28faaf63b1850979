//! The payer, in the form that Pagar.me accepts.

use quita_domain::document::DocumentType;
use quita_domain::order::{Address as Given, Payer};
use quita_domain::phone::{Phone, PhoneKind};
use serde::Serialize;

use super::Unsendable;

/// Maximum number of characters of name and e-mail.
const MAX_NAME: usize = 64;
const MAX_EMAIL: usize = 64;

/// Maximum number of characters of the parts of an address.
const MAX_NUMBER: usize = 15;
const MAX_PART: usize = 64;

/// Reason against this acquirer: it accepts no e-mail address of this length, and a truncated one would be someone
/// else's.
const EMAIL_TOO_LONG: &str = "email_too_long";

/// Returns the reason why an e-mail address can't be sent, if there is one.
pub(in crate::pagarme) fn is_too_long(payer: &Payer) -> Option<&'static str> {
    (payer.email.chars().count() > MAX_EMAIL).then_some(EMAIL_TOO_LONG)
}

#[derive(Serialize)]
pub(super) struct Customer<'a> {
    name: String,
    email: &'a str,
    r#type: &'static str,
    document: &'a str,
    document_type: &'static str,
    phones: Phones<'a>,
    #[serde(skip_serializing_if = "Option::is_none")]
    address: Option<Address>,
}

#[derive(Serialize)]
struct Phones<'a> {
    #[serde(skip_serializing_if = "Option::is_none")]
    mobile_phone: Option<Number<'a>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    home_phone: Option<Number<'a>>,
}

#[derive(Serialize)]
struct Number<'a> {
    country_code: &'static str,
    area_code: &'a str,
    number: &'a str,
}

/// An address in Pagar.me's lines: "number, street, neighbourhood", and the complement.
#[derive(Serialize)]
pub(super) struct Address {
    line_1: String,
    #[serde(skip_serializing_if = "String::is_empty")]
    line_2: String,
    zip_code: String,
    city: String,
    state: &'static str,
    country: &'static str,
}

impl<'a> Customer<'a> {
    pub(super) fn of(payer: &'a Payer) -> Result<Self, Unsendable> {
        if let Some(reason) = is_too_long(payer) {
            return Err(Unsendable::Refused(reason));
        }
        let document_type = payer.document.kind();
        Ok(Self {
            name: cut(&payer.full_name(), MAX_NAME),
            email: &payer.email,
            r#type: match document_type {
                DocumentType::Cpf => "individual",
                DocumentType::Cnpj => "company",
            },
            document: payer.document.as_str(),
            document_type: document_type.as_str(),
            phones: Phones::of(&payer.phone),
            address: payer.address.as_ref().map(Address::of),
        })
    }
}

impl<'a> Phones<'a> {
    fn of(phone: &'a Phone) -> Self {
        let (area_code, number) = phone.national().split_at_checked(2).unwrap_or_default();
        let number = Some(Number { country_code: "55", area_code, number });
        match phone.kind() {
            PhoneKind::Mobile => Self { mobile_phone: number, home_phone: None },
            PhoneKind::Landline => Self { mobile_phone: None, home_phone: number },
        }
    }
}

impl Address {
    pub(super) fn of(given: &Given) -> Self {
        // Commas separate the parts.
        let part = |text: &str, longest| cut(&text.replace(',', " "), longest);
        let parts = [
            part(&given.number, MAX_NUMBER),
            part(&given.street, MAX_PART),
            part(&given.neighborhood, MAX_PART),
        ];
        Self {
            line_1: parts.join(", "),
            line_2: cut(given.complement.as_deref().unwrap_or_default(), MAX_PART),
            zip_code: given.zip_code.as_str().to_owned(),
            city: cut(&given.city, MAX_PART),
            state: given.state.as_str(),
            country: "BR",
        }
    }
}

/// Cuts a text, and keeps its accents.
fn cut(text: &str, longest: usize) -> String {
    text.trim().chars().take(longest).collect::<String>().trim_end().to_owned()
}
