//! Body of the creation request of a link's payment. The parser of merchants' requests reads it too.

use std::collections::BTreeMap;

use chrono::NaiveDate;
use serde::Serialize;

use super::card_input::CardBody;
use super::{CardInput, LEAST_TIME_TO_PAY_MS, Link};
use crate::document::DocumentType;
use crate::due_terms::{Discount, Interest, Portion};
use crate::method::Method;
use crate::order::{Address, Item, Share, Split};
use crate::record::wire::{Percentage, Printed};
use crate::time::Timestamp;

/// Default time for which a PIX may be paid, in seconds: on a link for one payment, and on other links.
const PIX_EXPIRES_IN_S: [u64; 2] = [3_600, 1_800];

/// Digits of a CPF; a CNPJ has more.
const CPF_DIGITS: usize = 11;

/// Parts of a payer as typed; empty if nothing was typed.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct PayerInput {
    /// Whole name.
    pub name: String,
    /// CPF or CNPJ, with or without punctuation.
    pub document: String,
    /// E-mail address.
    pub email: String,
    /// Telephone, with or without punctuation.
    pub phone: String,
    /// Street.
    pub street: String,
    /// House number.
    pub number: String,
    /// Flat, block.
    pub complement: String,
    /// Neighbourhood.
    pub neighborhood: String,
    /// City.
    pub city: String,
    /// State.
    pub state: String,
    /// CEP, with or without punctuation.
    pub zip_code: String,
    /// Card, if one was sent.
    pub card: Option<CardInput>,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct CreationBody<'a> {
    payment_method: &'static str,
    amount: u64,
    currency: &'static str,
    payment_details: PayerBody<'a>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    items: Vec<ItemBody<'a>>,
    shipping: Option<ShippingBody>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    splits: Vec<SplitBody<'a>>,
    #[serde(rename = "UTMSource")]
    utm_source: Option<&'a str>,
    #[serde(rename = "UTMMedium")]
    utm_medium: Option<&'a str>,
    #[serde(rename = "UTMCampaign")]
    utm_campaign: Option<&'a str>,
    #[serde(rename = "UTMTerm")]
    utm_term: Option<&'a str>,
    #[serde(rename = "UTMContent")]
    utm_content: Option<&'a str>,
    postback_url: Option<&'a str>,
    external_reference: Option<&'a str>,
    metadata: &'a BTreeMap<String, String>,
    expires_in: Option<u64>,
    due_date: Option<Printed<NaiveDate>>,
    payable_after_due_days: Option<u16>,
    fine: Option<PortionBody>,
    interest: Option<InterestBody>,
    discounts: Option<Vec<DiscountBody>>,
    instructions: Option<&'a [String]>,
    installments: Option<u8>,
    credit_card: Option<CardBody<'a>>,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct PayerBody<'a> {
    first_name: String,
    last_name: String,
    document: String,
    document_type: &'static str,
    email: &'a str,
    phone_number: String,
    address: Option<AddressBody>,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct AddressBody {
    street: String,
    number: String,
    complement: Option<String>,
    neighborhood: String,
    city: String,
    state: String,
    zip_code: String,
}

#[derive(Serialize)]
struct ItemBody<'a> {
    id: Option<String>,
    name: &'a str,
    quantity: u64,
    price: u64,
}

#[derive(Serialize)]
struct ShippingBody {
    fee: u64,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct SplitBody<'a> {
    recipient_id: &'a str,
    #[serde(flatten)]
    share: PortionBody,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
enum PortionBody {
    Amount(u64),
    Percentage(Percentage),
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
enum InterestBody {
    AmountPerDay(u64),
    PercentagePerMonth(Percentage),
}

#[derive(Serialize)]
struct DiscountBody {
    until: Printed<NaiveDate>,
    #[serde(flatten)]
    portion: PortionBody,
}

impl PortionBody {
    const fn of(portion: Portion) -> Self {
        match portion {
            Portion::Amount(amount) => Self::Amount(amount.cents()),
            Portion::BasisPoints(points) => Self::Percentage(Percentage(points)),
        }
    }
}

impl Link {
    /// Returns true if a payment of this method needs the payer's address.
    pub const fn needs_address(&self, method: Method) -> bool {
        match method {
            Method::Pix => self.offer.due.is_some(),
            Method::Boleto | Method::CreditCard => true,
        }
    }

    /// Returns the creation request of a payment that begins now, in the API's form. The merchant's data about the
    /// payer replaces what was typed.
    pub fn creation_body(&self, method: Method, typed: &PayerInput, now: Timestamp) -> Vec<u8> {
        let offer = &self.offer;
        let today = now.sao_paulo_date();
        let due = offer.due.filter(|_| method != Method::CreditCard);
        let terms = due.map(|_| &offer.terms);
        // A discount whose day has passed is omitted: it is not the payer's mistake.
        let discounts = terms.map(|terms| terms.discounts.iter().filter(|one| one.until >= today));
        let discounts: Option<Vec<_>> = discounts.map(|left| left.map(DiscountBody::of).collect());
        let card = typed.card.as_ref().filter(|_| method == Method::CreditCard);
        let utm = &offer.utm;
        let body = CreationBody {
            payment_method: method.label(),
            amount: offer.amount.cents(),
            currency: "BRL",
            payment_details: self.payer(method, typed),
            items: offer.items.iter().map(ItemBody::of).collect(),
            shipping: offer.shipping_fee.map(|fee| ShippingBody { fee: fee.cents() }),
            splits: offer.splits.iter().map(SplitBody::of).collect(),
            utm_source: utm.source.as_deref(),
            utm_medium: utm.medium.as_deref(),
            utm_campaign: utm.campaign.as_deref(),
            utm_term: utm.term.as_deref(),
            utm_content: utm.content.as_deref(),
            postback_url: offer.postback_url.as_deref(),
            external_reference: offer.external_reference.as_deref(),
            metadata: &offer.metadata,
            expires_in: self.expires_in(method, now),
            due_date: due.map(|due| Printed(due.date(today))),
            payable_after_due_days: terms.and_then(|terms| terms.payable_after_due_days),
            fine: terms.and_then(|terms| terms.fine).map(PortionBody::of),
            interest: terms.and_then(|terms| terms.interest).map(|interest| match interest {
                Interest::AmountPerDay(amount) => InterestBody::AmountPerDay(amount.cents()),
                Interest::BasisPointsPerMonth(points) => InterestBody::PercentagePerMonth(Percentage(points)),
            }),
            discounts: discounts.filter(|left| !left.is_empty()),
            instructions: terms
                .map(|terms| terms.instructions.as_slice())
                .filter(|texts| method == Method::Boleto && !texts.is_empty()),
            installments: card.map(|card| card.installments),
            credit_card: card.map(CardBody::of),
        };
        // Never fails: every name is a text.
        serde_json::to_vec(&body).unwrap_or_default()
    }

    /// Returns the time for which a PIX may be paid: it ends with the link, but not before a minute has passed.
    fn expires_in(&self, method: Method, now: Timestamp) -> Option<u64> {
        if method != Method::Pix || self.offer.due.is_some() {
            return None;
        }
        let [of_one, of_many] = PIX_EXPIRES_IN_S;
        let own = if self.is_for_one() { of_one } else { of_many };
        Some(own.min(self.expires_at.ms_since(now).max(LEAST_TIME_TO_PAY_MS) / 1_000))
    }

    /// Returns the payer. Missing parts are empty texts, so that they are reported together with the wrong ones.
    fn payer<'a>(&'a self, method: Method, typed: &'a PayerInput) -> PayerBody<'a> {
        let known = self.offer.customer.as_ref();
        let known_document = known.and_then(|known| known.document.as_ref());
        let typed_document = without_punctuation(&typed.document);
        let document_type = match known_document {
            Some(document) => document.kind().as_str(),
            None if typed_document.len() > CPF_DIGITS => DocumentType::Cnpj.as_str(),
            None => DocumentType::Cpf.as_str(),
        };
        let (typed_first, typed_last) = split_name(&typed.name);
        // A partly known name is asked for in full, so its known part must not be mixed with what was typed.
        let (first_name, mut last_name) = self
            .customer_name()
            .map_or((typed_first, typed_last), |(first, last)| (first, last.unwrap_or_default()));
        // A company has only one name, which is used for both.
        if last_name.is_empty() && document_type == DocumentType::Cnpj.as_str() {
            last_name = first_name;
        }
        let phone = known.and_then(|known| known.phone.as_ref()).map(|phone| phone.as_str().to_owned());
        let known_address = known.and_then(|known| known.address.as_ref());
        let address = || known_address.map_or_else(|| AddressBody::typed(typed), AddressBody::of);
        PayerBody {
            first_name: first_name.to_owned(),
            last_name: last_name.to_owned(),
            document: known_document.map_or(typed_document, |document| document.as_str().to_owned()),
            document_type,
            email: known.and_then(|known| known.email.as_deref()).unwrap_or(typed.email.trim()),
            phone_number: phone.unwrap_or_else(|| without_punctuation(&typed.phone)),
            address: self.needs_address(method).then(address),
        }
    }
}

impl DiscountBody {
    const fn of(discount: &Discount) -> Self {
        Self { until: Printed(discount.until), portion: PortionBody::of(discount.portion) }
    }
}

impl<'a> ItemBody<'a> {
    fn of(item: &'a Item) -> Self {
        Self {
            id: item.id.map(|id| id.to_string()),
            name: &item.name,
            quantity: item.quantity,
            price: item.price.cents(),
        }
    }
}

impl<'a> SplitBody<'a> {
    fn of(split: &'a Split) -> Self {
        let share = match split.share {
            Share::Amount(amount) => PortionBody::Amount(amount.cents()),
            Share::BasisPoints(points) => PortionBody::Percentage(Percentage(points)),
        };
        Self { recipient_id: &split.recipient_id, share }
    }
}

impl AddressBody {
    fn of(known: &Address) -> Self {
        Self {
            street: known.street.clone(),
            number: known.number.clone(),
            complement: known.complement.clone(),
            neighborhood: known.neighborhood.clone(),
            city: known.city.clone(),
            state: known.state.as_str().to_owned(),
            zip_code: known.zip_code.as_str().to_owned(),
        }
    }

    fn typed(typed: &PayerInput) -> Self {
        let text = |text: &str| text.trim().to_owned();
        Self {
            street: text(&typed.street),
            number: text(&typed.number),
            complement: Some(text(&typed.complement)).filter(|text| !text.is_empty()),
            neighborhood: text(&typed.neighborhood),
            city: text(&typed.city),
            state: text(&typed.state).to_ascii_uppercase(),
            zip_code: without_punctuation(&typed.zip_code),
        }
    }
}

/// Splits a name at its first blank.
fn split_name(name: &str) -> (&str, &str) {
    let name = name.trim();
    let (first, last) = name.split_once(char::is_whitespace).unwrap_or((name, ""));
    (first.trim(), last.trim())
}

/// Removes the punctuation of documents, phones and postal codes. Anything else stays, and is refused by its rule.
fn without_punctuation(text: &str) -> String {
    let is_punctuation = |one: char| one.is_whitespace() || matches!(one, '.' | '-' | '/' | '(' | ')' | '+');
    text.chars().filter(|one| !is_punctuation(*one)).collect::<String>().to_ascii_uppercase()
}
