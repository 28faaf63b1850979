//! What becomes of a card.

use quita_domain::acquiring::{ChargeQuery, Fact};
use quita_domain::card::MaskedCard;

use super::movement;
use super::script::Reception;

/// The first six digits of all cards that are not simply approved.
const FIRST_DIGITS: &str = "400000";

/// The issuer's answer. Only what may be kept of the number decides, so that a later question gets the same.
pub(super) fn verdict(query: &ChargeQuery, card: &MaskedCard) -> Fact {
    if let Some(code) = decline_code(card) {
        return Fact::Declined { code: code.to_owned() };
    }
    if query.captures_at_once {
        Fact::Settled(movement::settlement(query, query.amount))
    } else {
        Fact::Authorized(movement::approval(query.id))
    }
}

/// How a charge of this card is received: one times out although it happened.
pub(super) fn reception(card: &MaskedCard) -> Reception {
    if special_digits(card) == Some("0119") { Reception::AnswerLost } else { Reception::Answered }
}

/// Whether the holder disputes the charge.
pub(super) fn is_disputed(card: &MaskedCard) -> bool {
    special_digits(card) == Some("0259")
}

fn decline_code(card: &MaskedCard) -> Option<&'static str> {
    match special_digits(card)? {
        "0002" => Some("generic_decline"),
        "9995" => Some("insufficient_funds"),
        "9987" => Some("lost_card"),
        "0069" => Some("expired_card"),
        "0127" => Some("incorrect_cvc"),
        _ => None,
    }
}

fn special_digits(card: &MaskedCard) -> Option<&str> {
    (card.first_digits == FIRST_DIGITS).then_some(card.last_digits.as_str())
}
