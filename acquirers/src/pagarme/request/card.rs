//! A card's authorisation.

use quita_domain::acquiring::Charge;
use quita_domain::card::CardData;
use quita_domain::text::fold_ascii;
use serde::{Serialize, Serializer};
use zeroize::Zeroizing;

use super::Unsendable;
use super::customer::Address;
use crate::pagarme::settings::PagarmeSettings;

/// Maximum number of characters of the holder's name.
const MAX_HOLDER: usize = 64;

#[derive(Serialize)]
pub(super) struct CreditCard<'a> {
    installments: u8,
    #[serde(skip_serializing_if = "Option::is_none")]
    statement_descriptor: Option<&'a str>,
    operation_type: &'static str,
    /// Must be false: otherwise Pagar.me itself retries a refused card, after its merchant was told that it is
    /// declined.
    auto_recovery: bool,
    card: Card<'a>,
}

#[derive(Serialize)]
struct Card<'a> {
    number: &'a str,
    #[serde(serialize_with = "plain")]
    holder_name: Zeroizing<String>,
    exp_month: u32,
    exp_year: i32,
    cvv: &'a str,
    #[serde(skip_serializing_if = "Option::is_none")]
    billing_address: Option<Address>,
}

impl<'a> CreditCard<'a> {
    pub(super) fn new(
        charge: &'a Charge,
        card: &'a CardData,
        installments: u8,
        settings: &'a PagarmeSettings,
    ) -> Result<Self, Unsendable> {
        let holder = holder(&card.holder_name);
        if holder.is_empty() {
            return Err(Unsendable::Refused("the holder's name has no Latin letters"));
        }
        Ok(Self {
            installments,
            statement_descriptor: settings.soft_descriptor.as_deref(),
            operation_type: if charge.query.captures_at_once { "auth_and_capture" } else { "auth_only" },
            auto_recovery: false,
            card: Card {
                number: card.number.expose(),
                holder_name: Zeroizing::new(holder),
                exp_month: card.expiry.month(),
                exp_year: card.expiry.year(),
                cvv: card.cvv.expose(),
                billing_address: charge.order.payer.address.as_ref().map(Address::of),
            },
        })
    }
}

/// Returns letters and spaces; characters that join two names become spaces.
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
