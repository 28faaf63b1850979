//! A card's authorisation.

use quita_domain::acquiring::Charge;
use quita_domain::card::CardData;
use quita_domain::text::fold_ascii;
use serde::{Serialize, Serializer};
use zeroize::Zeroizing;

use super::{Unsendable, type_of};
use crate::cielo::brand;
use crate::cielo::settings::CieloSettings;

/// Maximum number of characters of the holder's name.
const MAX_HOLDER: usize = 25;

#[derive(Serialize)]
#[serde(rename_all = "PascalCase")]
pub(super) struct CardPayment<'a> {
    r#type: &'static str,
    amount: u64,
    currency: &'static str,
    country: &'static str,
    installments: u8,
    interest: &'static str,
    capture: bool,
    authenticate: bool,
    #[serde(skip_serializing_if = "Option::is_none")]
    soft_descriptor: Option<&'a str>,
    credit_card: Card<'a>,
}

#[derive(Serialize)]
#[serde(rename_all = "PascalCase")]
struct Card<'a> {
    card_number: &'a str,
    #[serde(serialize_with = "plain")]
    holder: Zeroizing<String>,
    #[serde(serialize_with = "plain")]
    expiration_date: Zeroizing<String>,
    security_code: &'a str,
    save_card: bool,
    brand: &'static str,
}

impl<'a> CardPayment<'a> {
    pub(super) fn new(
        charge: &'a Charge,
        card: &'a CardData,
        installments: u8,
        settings: &'a CieloSettings,
    ) -> Result<Self, Unsendable> {
        let holder = holder(&card.holder_name);
        if holder.is_empty() {
            return Err(Unsendable::Refused("the holder's name has no Latin letters"));
        }
        let expiration_date = format!("{:02}/{:04}", card.expiry.month(), card.expiry.year());
        Ok(Self {
            r#type: type_of(&charge.query),
            amount: charge.query.amount.cents(),
            currency: "BRL",
            country: "BRA",
            installments,
            interest: "ByMerchant",
            capture: charge.query.captures_at_once,
            authenticate: false,
            soft_descriptor: settings.soft_descriptor.as_deref(),
            credit_card: Card {
                card_number: card.number.expose(),
                holder: Zeroizing::new(holder),
                expiration_date: Zeroizing::new(expiration_date),
                security_code: card.cvv.expose(),
                // Storing the card at Cielo would keep it longer than this payment needs it.
                save_card: false,
                brand: brand::spelling(card.number.brand()),
            },
        })
    }
}

/// Keeps letters and spaces; characters that join two names become spaces.
fn holder(name: &str) -> String {
    let folded = fold_ascii(name, name.len());
    let letters: String = folded
        .chars()
        .map(|one| if matches!(one, '-' | '.' | '/' | ',') { ' ' } else { one })
        .filter(|one| one.is_ascii_alphabetic() || *one == ' ')
        .collect();
    fold_ascii(&letters, MAX_HOLDER)
}

fn plain<S: Serializer>(text: &Zeroizing<String>, serializer: S) -> Result<S::Ok, S::Error> {
    serializer.serialize_str(text)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_holder_has_letters_and_blanks_at_most_25() {
        for (name, expected) in [
            ("João D'Ávila", "Joao DAvila"),
            ("ANA-MARIA  SOUZA 3", "ANA MARIA SOUZA"),
            ("Maximiliano Bartolomeu da Conceição", "Maximiliano Bartolomeu da"),
            ("漢字", ""),
        ] {
            assert_eq!(holder(name), expected);
        }
    }
}
