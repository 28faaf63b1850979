//! The body of a dry run: that of a creation, without most of the card and with optional time and dice.

use std::sync::Arc;

use super::fields::{Fields, Findings};
use super::terms::CardForm;
use super::token::SentToken;
use super::violation::{Broken, code};
use super::{
    CARD_DATA, NeedsAddress, ParsedRequest, Rejection, RequestLimits, UnknownName, json, read_body,
    sent_card_number, unknown_names, wordings,
};
use crate::card::token::{CardTokens, NoTokens};
use crate::order::Order;
use crate::time::Timestamp;

/// The field of the dice: any number from 0 to 2⁶⁴ − 1.
const DICE: &str = "dice";

/// A payment to be evaluated, with its time and dice.
#[derive(Debug)]
pub struct Evaluation {
    /// The order. It contains no more card data than any order.
    pub order: Arc<Order>,
    /// Time of the creation.
    pub at: Timestamp,
    /// The dice; absent if any value will do.
    pub dice: Option<u64>,
    /// Unknown names in the body.
    pub unknown: Vec<UnknownName>,
}

/// Reads the body of `POST /pay/routing/evaluate`. Every token of a card is unknown.
///
/// # Errors
/// As [`parse_with`].
pub fn parse(body: &[u8], now: Timestamp, limits: &RequestLimits) -> Result<Evaluation, Rejection> {
    parse_with(&NoTokens, body, now, limits)
}

/// Reads the body of `POST /pay/routing/evaluate`, with the tokens of the caller's merchant and mode. The rules are
/// those of a creation at that time.
///
/// # Errors
/// As [`super::parse_with`] and [`super::ParsedRequest::into_purchase`].
pub fn parse_with(
    tokens: &dyn CardTokens,
    body: &[u8],
    now: Timestamp,
    limits: &RequestLimits,
) -> Result<Evaluation, Rejection> {
    let object = json::read(body)?;
    let token = SentToken::find(&object, tokens);
    let number = token.as_ref().and_then(SentToken::number).or_else(|| sent_card_number(&object));
    let findings = Findings::with_card_number(number);
    let root = Fields::of_body(&object, &findings);
    let sent_at = at(&root);
    let dice = dice(&root);
    let at = sent_at.unwrap_or(now);
    let read = read_body(&root, at, limits, CardForm::ForRoute(token.as_ref()), NeedsAddress::Always);
    let [number, cvv] = CARD_DATA;
    root.refuse_card_numbers(&[number, cvv, DICE]);
    let unknown = unknown_names::find(&object, &unknown_names::EVALUATION);
    let with_unknown = |rejection: Rejection| rejection.with_unknown(unknown.clone());
    let (request, clock_violations) = findings.conclude(read).map_err(with_unknown)?;
    let request = ParsedRequest { clock_violations, ..request };
    let order = request.into_purchase().map_err(with_unknown)?.order;
    Ok(Evaluation { order, at, dice, unknown })
}

fn at(root: &Fields<'_>) -> Option<Timestamp> {
    let broken = || Broken::new(code::FORMAT, wordings::no_time());
    root.optional("at").parsed(|text| Timestamp::parse(text).ok_or_else(broken))
}

fn dice(root: &Fields<'_>) -> Option<u64> {
    let broken = || Broken::new(code::RANGE, wordings::no_dice());
    let read = |text: &str| crate::text::is_digits(text).then(|| text.parse().ok()).flatten();
    // A number of 16 digits may be a possible card number. It is never stored or returned.
    let text = root.optional(DICE).secret_text()?;
    root.keep(DICE, read(text).ok_or_else(broken))
}
