//! The request that creates an order, by method.
//!
//! Source: docs.pagar.me, "Criar pedido", and the sizes of the official plugins. Everything borrows from the charge, so
//! that a card's number is copied only into the body. The same charge always gives the same bytes: Pagar.me keeps the
//! first answer under the order's key.

mod boleto;
mod card;
mod customer;

use quita_domain::acquiring::Charge;
use quita_domain::order::Terms;
use serde::Serialize;
use zeroize::Zeroizing;

use super::code;
use super::settings::PagarmeSettings;
use super::splits::{self, SplitRule};
use customer::Customer;

pub(super) use customer::is_too_long as email_is_too_long;

/// Capacity of a body, so that it never moves while it grows and leaves no copy of a card's number behind.
const BODY_ROOM: usize = 8 * 1024;

/// Reason why a charge can't be sent.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Unsendable {
    /// Pagar.me would not accept it like this.
    Refused(&'static str),
    /// Something is missing on our side.
    NotReady(&'static str),
}

#[derive(Serialize)]
struct NewOrder<'a> {
    code: &'a str,
    closed: bool,
    #[serde(skip_serializing_if = "Option::is_none")]
    antifraud_enabled: Option<bool>,
    items: [Item<'a>; 1],
    customer: Customer<'a>,
    payments: [Payment<'a>; 1],
}

/// The whole order as one item: Pagar.me need not know what was bought.
#[derive(Serialize)]
struct Item<'a> {
    code: &'a str,
    description: &'static str,
    amount: u64,
    quantity: u8,
}

#[derive(Serialize)]
struct Payment<'a> {
    payment_method: &'static str,
    amount: u64,
    #[serde(skip_serializing_if = "Option::is_none")]
    credit_card: Option<card::CreditCard<'a>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pix: Option<Pix>,
    #[serde(skip_serializing_if = "Option::is_none")]
    boleto: Option<boleto::Boleto<'a>>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    split: Vec<SplitRule>,
}

#[derive(Serialize)]
struct Pix {
    expires_in: u64,
}

/// Returns the body of the request.
pub(super) fn body(charge: &Charge, settings: &PagarmeSettings) -> Result<Zeroizing<Vec<u8>>, Unsendable> {
    let query = &charge.query;
    let order = &charge.order;
    let code = code::write(query.id);
    let shares = splits::shares(&order.splits, query.amount, settings).map_err(Unsendable::Refused)?;
    let mut payment = Payment {
        payment_method: method(&query.terms),
        amount: query.amount.cents(),
        credit_card: None,
        pix: None,
        boleto: None,
        split: splits::rules(&shares, query.amount, settings).map_err(Unsendable::Refused)?,
    };
    match &query.terms {
        Terms::CreditCard { installments, .. } => {
            let card =
                charge.card.as_ref().ok_or(Unsendable::NotReady("the card's number is not at hand"))?;
            payment.credit_card = Some(card::CreditCard::new(charge, card, *installments, settings)?);
        }
        Terms::Pix { expires_in_s } => payment.pix = Some(Pix { expires_in: *expires_in_s }),
        Terms::Boleto(due) => {
            payment.boleto = Some(boleto::Boleto::new(query, due, &order.payer, settings)?);
        }
        Terms::DuePix(_) => return Err(Unsendable::Refused("due_date_unsupported")),
    }
    let amount = query.amount.cents();
    written(&NewOrder {
        code: &code,
        closed: true,
        antifraud_enabled: settings.antifraud,
        // An item without a code is answered with 200 and a failed charge ("The item Code is required.").
        items: [Item { code: &code, description: "Pedido", amount, quantity: 1 }],
        customer: Customer::of(&order.payer)?,
        payments: [payment],
    })
}

/// Returns `payment_method`.
pub(super) const fn method(terms: &Terms) -> &'static str {
    match terms {
        Terms::CreditCard { .. } => "credit_card",
        Terms::Pix { .. } | Terms::DuePix(_) => "pix",
        Terms::Boleto(_) => "boleto",
    }
}

fn written(order: &impl Serialize) -> Result<Zeroizing<Vec<u8>>, Unsendable> {
    let mut body = Zeroizing::new(Vec::with_capacity(BODY_ROOM));
    serde_json::to_writer(&mut *body, order)
        .map_err(|_| Unsendable::NotReady("the request can't be written"))?;
    Ok(body)
}
