//! Body of `POST /pay/tokens`, and `creditCard.token` of a creation.

use super::fields::{Fields, Findings};
use super::json::{JsonNode, Object};
use super::violation::{Broken, Rejection, code};
use super::{CARD_DATA, card, json, sent_card_number, unknown_names, wordings};
use crate::card::CardData;
use crate::card::token::{CardTokens, MAX_TOKEN_NAME_BYTES, TokenContents};
use crate::request::UnknownName;
use crate::time::Timestamp;

/// A card for which a token is requested.
#[derive(Debug)]
pub struct CardToTokenize {
    /// The card.
    pub card: CardData,
    /// Unknown names in the body.
    pub unknown: Vec<UnknownName>,
}

/// Reads the body of `POST /pay/tokens`. The rules of the card are those of a creation at this time.
///
/// # Errors
/// As [`super::parse`] and [`super::ParsedRequest::into_purchase`].
pub fn parse(body: &[u8], now: Timestamp) -> Result<CardToTokenize, Rejection> {
    let object = json::read(body)?;
    let findings = Findings::with_card_number(sent_card_number(&object));
    let root = Fields::of_body(&object, &findings);
    let card = root.required("creditCard").object().and_then(|fields| {
        let card = card::read(&fields, now)?;
        let is_short = card.holder_name.len() <= MAX_TOKEN_NAME_BYTES;
        fields.keep("holderName", is_short.then_some(card).ok_or_else(name_too_long))
    });
    root.refuse_card_numbers(&CARD_DATA);
    let unknown = unknown_names::find(&object, &unknown_names::TOKEN);
    let with_unknown = |rejection: Rejection| rejection.with_unknown(unknown.clone());
    let (card, clock_violations) = findings.conclude(card).map_err(with_unknown)?;
    if clock_violations.is_empty() {
        return Ok(CardToTokenize { card, unknown });
    }
    Err(with_unknown(Rejection::unprocessable(clock_violations)))
}

fn name_too_long() -> Broken {
    Broken::new(code::LENGTH, wordings::long_holder_name())
}

/// Token of a body.
pub(super) enum SentToken {
    Opened(TokenContents),
    Unknown,
    /// A value that is not a text.
    NoText,
}

impl SentToken {
    /// Opens the token of a body; `None` if it has none.
    pub(super) fn find(object: &Object<'_>, tokens: &dyn CardTokens) -> Option<Self> {
        let Some(JsonNode::Object(card)) = object.get("creditCard") else { return None };
        match card.get("token")? {
            JsonNode::Null => None,
            JsonNode::Text(token) => Some(tokens.open(token).map_or(Self::Unknown, Self::Opened)),
            JsonNode::Bool(_) | JsonNode::Number(_) | JsonNode::List(_) | JsonNode::Object(_) => {
                Some(Self::NoText)
            }
        }
    }

    /// Returns the number of its card, which no text may contain.
    pub(super) fn number(&self) -> Option<&str> {
        match self {
            Self::Opened(contents) => Some(contents.card.number.expose()),
            Self::Unknown | Self::NoText => None,
        }
    }

    /// Returns its card. Reports fields in addition to the token, and a token that is unknown or expired.
    pub(super) fn read(&self, card: &Fields<'_>, now: Timestamp) -> Option<CardData> {
        if card::FIELDS.iter().any(|name| card.optional(name).is_present()) {
            card.refuse("token", Broken::new(code::NOT_APPLICABLE, wordings::token_beside_card()));
            return None;
        }
        let contents = match self {
            Self::Opened(contents) => contents,
            Self::Unknown => {
                card.refuse("token", Broken::new(code::TOKEN_UNKNOWN, wordings::token_unknown()));
                return None;
            }
            Self::NoText => {
                card.optional("token").text();
                return None;
            }
        };
        if contents.is_expired(now) {
            card.refuse_today("token", Broken::new(code::TOKEN_EXPIRED, wordings::token_expired()));
        }
        if !contents.card.expiry.is_valid_on(now.sao_paulo_date()) {
            card.refuse_today("token", Broken::new(code::EXPIRED, wordings::card_expired()));
        }
        Some(contents.card.clone())
    }
}
