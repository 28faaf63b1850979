//! The request that creates a sale, by method.
//!
//! Source: E-commerce API 3.0, "Criando um pagamento", with the sizes of its tables. Everything borrows from the
//! charge, so that a card's number is copied only into the body.

mod boleto;
mod card;
mod pix;

use quita_domain::acquiring::Charge;
use quita_domain::due_terms::DueTerms;
use quita_domain::order::{Payer, Terms};
use quita_domain::text::fold_ascii;
use quita_domain::time::Timestamp;
use serde::Serialize;
use zeroize::Zeroizing;

use super::settings::CieloSettings;
use super::{order_id, statement};

/// Capacity of a body, so that it never moves while it grows and leaves no copy of a card's number behind.
const BODY_ROOM: usize = 4 * 1024;

/// Maximum number of characters of a name, if the bank has no lower limit.
const MAX_NAME: usize = 255;

/// Reasons why a charge can't be sent.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Unsendable {
    /// Cielo would not accept it like this.
    Refused(&'static str),
    /// Something is missing on our side.
    NotReady(&'static str),
}

/// Returns the body of the request.
pub(super) fn body(
    charge: &Charge,
    settings: &CieloSettings,
    now: Timestamp,
) -> Result<Zeroizing<Vec<u8>>, Unsendable> {
    let order_id = order_id::write(charge.query.id, charge.query.method);
    let payer = &charge.order.payer;
    match &charge.query.terms {
        Terms::CreditCard { installments, .. } => {
            let card =
                charge.card.as_ref().ok_or(Unsendable::NotReady("the card's number is not at hand"))?;
            let payment = card::CardPayment::new(charge, card, *installments, settings)?;
            let name = Some(fold_ascii(&payer.full_name(), MAX_NAME)).filter(|name| !name.is_empty());
            written(&NewSale { merchant_order_id: &order_id, customer: customer(payer, name), payment })
        }
        Terms::Pix { expires_in_s } => {
            let payment = pix::PixPayment::new(&charge.query, *expires_in_s, settings, now)?;
            let name = Some(needed_name(payer, MAX_NAME)?);
            written(&NewSale { merchant_order_id: &order_id, customer: customer(payer, name), payment })
        }
        Terms::DuePix(_) => Err(Unsendable::Refused("due_date_unsupported")),
        Terms::Boleto(DueTerms { due_date, .. }) => {
            let boleto =
                settings.boleto.as_ref().ok_or(Unsendable::NotReady("boletos are not configured"))?;
            let bank = boleto::Rules::of(&boleto.provider);
            let payment = boleto::BoletoPayment::new(&charge.query, *due_date, boleto);
            let given = payer.address.as_ref().ok_or(Unsendable::Refused("address_missing"))?;
            let customer = Customer {
                address: Some(boleto::address(given, bank)),
                ..customer(payer, Some(bank.cased(needed_name(payer, bank.name)?)))
            };
            written(&NewSale { merchant_order_id: &order_id, customer, payment })
        }
    }
}

#[derive(Serialize)]
#[serde(rename_all = "PascalCase")]
struct NewSale<'a, P> {
    merchant_order_id: &'a str,
    customer: Customer<'a>,
    payment: P,
}

#[derive(Serialize)]
#[serde(rename_all = "PascalCase")]
struct Customer<'a> {
    #[serde(skip_serializing_if = "Option::is_none")]
    name: Option<String>,
    identity: &'a str,
    identity_type: &'static str,
    #[serde(skip_serializing_if = "Option::is_none")]
    address: Option<boleto::Address>,
}

fn customer(payer: &Payer, name: Option<String>) -> Customer<'_> {
    let identity = payer.document.as_str();
    let identity_type = payer.document.kind().as_str();
    Customer { name, identity, identity_type, address: None }
}

/// Returns the payer's name in ASCII, where Cielo requires one.
fn needed_name(payer: &Payer, max: usize) -> Result<String, Unsendable> {
    let name = fold_ascii(&payer.full_name(), max);
    if name.is_empty() { Err(Unsendable::Refused("the payer's name has no Latin letters")) } else { Ok(name) }
}

fn written(sale: &impl Serialize) -> Result<Zeroizing<Vec<u8>>, Unsendable> {
    let mut body = Zeroizing::new(Vec::with_capacity(BODY_ROOM));
    serde_json::to_writer(&mut *body, sale)
        .map_err(|_| Unsendable::NotReady("the request can't be written"))?;
    Ok(body)
}

/// Returns `Payment.Type` of a charge.
const fn type_of(charge: &quita_domain::acquiring::ChargeQuery) -> &'static str {
    statement::type_of(charge.method)
}
