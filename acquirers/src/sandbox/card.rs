//! Scripts of the test cards.

use quita_domain::acquiring::{ChargeQuery, Decline, DeclineKind, Fact};
use quita_domain::card::MaskedCard;

use super::movement;
use super::script::Reception;

/// The first six digits of all test cards that are not simply approved.
const FIRST_DIGITS: &str = "400000";

/// Returns the issuer's answer. It only depends on the stored part of the number, so that a later inquiry gets the same
/// answer.
pub(super) fn verdict(query: &ChargeQuery, card: &MaskedCard) -> Fact {
    if let Some((code, kind)) = decline(card) {
        return Fact::Declined(Decline::of_kind(code, kind));
    }
    if query.captures_at_once && !refuses_capture(card) {
        Fact::Settled(movement::settlement(query, query.amount, query.created_at.sao_paulo_date()))
    } else {
        Fact::Authorized(movement::approval(query.id))
    }
}

/// Returns the reception of a charge of this card: one times out although the charge was made.
pub(super) fn reception(card: &MaskedCard) -> Reception {
    if special_digits(card) == Some("0119") { Reception::AnswerLost } else { Reception::Answered }
}

/// Returns true if the holder disputes the charge.
pub(super) fn is_disputed(card: &MaskedCard) -> bool {
    special_digits(card) == Some("0259")
}

/// Returns true if the card's limit is held but can't be captured.
pub(super) fn refuses_capture(card: &MaskedCard) -> bool {
    special_digits(card) == Some("0341")
}

fn decline(card: &MaskedCard) -> Option<(&'static str, DeclineKind)> {
    match special_digits(card)? {
        "0002" => Some(("generic_decline", DeclineKind::Reversible)),
        "9995" => Some(("insufficient_funds", DeclineKind::Reversible)),
        "9987" => Some(("lost_card", DeclineKind::Irreversible)),
        "0069" => Some(("expired_card", DeclineKind::Irreversible)),
        "0127" => Some(("incorrect_cvc", DeclineKind::Irreversible)),
        _ => None,
    }
}

fn special_digits(card: &MaskedCard) -> Option<&str> {
    (card.first_digits == FIRST_DIGITS).then_some(card.last_digits.as_str())
}
