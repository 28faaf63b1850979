//! The creation request: from bytes to domain types, with all violations reported at once.
//!
//! The rules are those in the contract's table of `POST /pay/payments`, with one file for each part.

mod basket;
pub mod by_hand;
mod card;
pub mod card_form;
mod due;
mod email;
pub mod evaluation;
mod fields;
mod fingerprint;
mod json;
pub mod link;
mod notes;
pub mod operation;
mod payer;
mod postback;
mod splits;
mod terms;
pub mod token;
mod unknown_names;
mod violation;
pub(crate) mod wordings;

use std::sync::Arc;

use crate::card::token::{CardTokens, NoTokens};
use crate::method::Method;
use crate::order::{Order, Purchase};
use crate::time::Timestamp;

use fields::{Fields, Findings};
use json::JsonNode;
use terms::{CardForm, SentDates};
use token::SentToken;
use violation::Broken;

pub(crate) use due::read_date;
pub(crate) use email::is_email;
pub use postback::PostbackPolicy;
pub use unknown_names::UnknownName;
pub use violation::{Rejection, RejectionKind, Violation, code};

/// Fields for card data. No other text may contain a card number.
const CARD_DATA: [&str; 2] = ["creditCard.number", "creditCard.cvv"];

/// Longest `externalReference`, in characters.
pub(crate) const MAX_EXTERNAL_REFERENCE: usize = 100;

/// A CNPJ has fewer digits than the shortest card number.
const SHORTEST_CARD_NUMBER: usize = 13;

/// Configured limits on creation requests.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct RequestLimits {
    /// Largest number of instalments of a card payment.
    pub max_installments: u8,
    /// Policy for the addresses of webhooks.
    pub postback: PostbackPolicy,
}

/// A request that breaks no rule, except perhaps those that depend on the time.
#[derive(Debug)]
pub struct ParsedRequest {
    /// The requested payment.
    pub purchase: Purchase,
    /// Rules that the request breaks only because of its time: the card has expired, or the due date is not in its
    /// window. A request with a known `Idempotency-Key` is answered in spite of them; a new payment is refused.
    pub clock_violations: Vec<Violation>,
    /// Unknown names in the body.
    pub unknown: Vec<UnknownName>,
    /// Dates that were sent, rather than derived from the time.
    sent_dates: SentDates,
}

impl ParsedRequest {
    /// Returns the payment to be created.
    ///
    /// # Errors
    /// A [`Rejection`] (422) if a rule that depends on the time is broken.
    pub fn into_purchase(self) -> Result<Purchase, Rejection> {
        if self.clock_violations.is_empty() {
            return Ok(self.purchase);
        }
        Err(Rejection::unprocessable(self.clock_violations))
    }
}

/// Reads the body of `POST /pay/payments`. Every token of a card is unknown.
///
/// # Errors
/// As [`parse_with`].
pub fn parse(body: &[u8], now: Timestamp, limits: &RequestLimits) -> Result<ParsedRequest, Rejection> {
    parse_with(&NoTokens, body, now, limits)
}

/// Reads the body of `POST /pay/payments`, with the tokens of the caller's merchant and mode.
///
/// # Errors
/// A [`Rejection`] with every violation of the shape or, if there is none, with every violation of a rule.
pub fn parse_with(
    tokens: &dyn CardTokens,
    body: &[u8],
    now: Timestamp,
    limits: &RequestLimits,
) -> Result<ParsedRequest, Rejection> {
    parse_for(tokens, body, now, limits, NeedsAddress::Always)
}

/// Reads the same body as built for a payment link, where a PIX without a due date needs no address.
///
/// # Errors
/// As [`parse_with`].
pub fn parse_of_link(
    body: &[u8],
    now: Timestamp,
    limits: &RequestLimits,
) -> Result<ParsedRequest, Rejection> {
    parse_for(&NoTokens, body, now, limits, NeedsAddress::UnlessPix)
}

fn parse_for(
    tokens: &dyn CardTokens,
    body: &[u8],
    now: Timestamp,
    limits: &RequestLimits,
    needs_address: NeedsAddress,
) -> Result<ParsedRequest, Rejection> {
    let object = json::read(body)?;
    let token = SentToken::find(&object, tokens);
    let number = token.as_ref().and_then(SentToken::number).or_else(|| sent_card_number(&object));
    let findings = Findings::with_card_number(number);
    let root = Fields::of_body(&object, &findings);
    let read = read_body(&root, now, limits, CardForm::ForCharge(token.as_ref()), needs_address);
    root.refuse_card_numbers(&CARD_DATA);
    let unknown = unknown_names::find(&object, &unknown_names::CREATION);
    match findings.conclude(read) {
        Ok((request, clock_violations)) => Ok(ParsedRequest { clock_violations, unknown, ..request }),
        Err(rejection) => Err(rejection.with_unknown(unknown)),
    }
}

/// Payments whose payer must have an address.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum NeedsAddress {
    /// All.
    Always,
    /// All but a PIX without a due date.
    UnlessPix,
}

fn read_body(
    root: &Fields<'_>,
    now: Timestamp,
    limits: &RequestLimits,
    card_form: CardForm<'_>,
    needs_address: NeedsAddress,
) -> Option<ParsedRequest> {
    let method = root.required("paymentMethod").parsed(|text| {
        let broken = || Broken::new(code::UNKNOWN_VALUE, wordings::unknown_method());
        Method::parse(text).ok_or_else(broken)
    });
    let amount = root.required("amount").cents_from(1);
    let currency = root.required("currency").parsed(|text| match text {
        "BRL" => Ok(()),
        _ => Err(Broken::new(code::UNKNOWN_VALUE, wordings::no_brl())),
    });
    let is_plain_pix = method == Some(Method::Pix) && !root.optional("dueDate").is_present();
    let needs_address = needs_address == NeedsAddress::Always || !is_plain_pix;
    let payer = root.required("paymentDetails").object().and_then(|payer| payer::read(&payer, needs_address));
    let shipping_fee = basket::shipping_fee(root);
    let items = basket::items(root);
    let postback_url = postback::read(root, limits.postback);
    let splits = splits::read(root, amount);
    let utm = notes::utm(root);
    let sent = terms::read(root, method, amount, now, limits.max_installments, card_form);
    if let (Some(amount), Some(due)) = (amount, sent.as_ref().and_then(|sent| sent.terms.due())) {
        splits::check_against_discount(root, &splits, amount, due.greatest_discount(amount));
    }
    let external_reference = root.optional("externalReference").text_of(0..=MAX_EXTERNAL_REFERENCE);
    let metadata = notes::metadata(root);

    // Nothing returns before this line, so that one answer contains all violations.
    currency?;
    let sent = sent?;
    let order = Arc::new(Order {
        method: method?,
        amount: amount?,
        payer: payer?,
        items,
        shipping_fee,
        splits,
        utm,
        postback_url,
        external_reference,
        metadata,
        terms: sent.terms,
    });
    let purchase = Purchase { order, card: sent.card };
    Some(ParsedRequest {
        purchase,
        clock_violations: Vec::new(),
        unknown: Vec::new(),
        sent_dates: sent.dates,
    })
}

/// Returns the card number as sent, if it looks like one.
fn sent_card_number<'a>(object: &'a json::Object<'_>) -> Option<&'a str> {
    let Some(JsonNode::Object(card)) = object.get("creditCard") else { return None };
    let Some(JsonNode::Text(number)) = card.get("number") else { return None };
    let is_number = crate::text::is_digits(number) && number.len() >= SHORTEST_CARD_NUMBER;
    is_number.then_some(number.as_ref())
}
