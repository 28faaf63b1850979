//! Orders of merchants in these tests.

use std::collections::BTreeMap;
use std::sync::Arc;

use quita_actors::CreatePayment;
use quita_domain::card::{CardData, CardNumber, Cvv, Expiry};
use quita_domain::document::{Document, DocumentType};
use quita_domain::identity::{OperationId, TransactionId};
use quita_domain::method::Method;
use quita_domain::money::Money;
use quita_domain::order::{Address, Order, Payer, Purchase, Terms, Utm};
use quita_domain::phone::Phone;
use quita_domain::postal::{Cep, Uf};
use uuid::Uuid;

use crate::access::owner;

/// Price of every order, in cents.
pub(crate) const CENTS: u64 = 10_000;
/// URL of the merchant's webhooks.
pub(crate) const SHOP: &str = "https://shop.example/hook";

/// The id of the payment with this number.
pub(crate) fn id(number: u128) -> TransactionId {
    TransactionId::new(Uuid::from_u128(number))
}

/// The id of the operation with this number.
pub(crate) fn operation_id(number: u128) -> OperationId {
    OperationId::new(Uuid::from_u128(number))
}

/// A PIX payment that tells the shop.
pub(crate) fn pix(number: u128) -> CreatePayment {
    pix_for(number, Some(SHOP))
}

/// A PIX payment with this address for its webhooks.
pub(crate) fn pix_for(number: u128, postback_url: Option<&str>) -> CreatePayment {
    let purchase = Purchase { order: Arc::new(order(postback_url)), card: None };
    CreatePayment {
        id: id(number),
        owner: owner(),
        purchase,
        fingerprint: None,
        card_fingerprint: None,
        other_card_fingerprints: Vec::new(),
        used_token: None,
        page_token: format!("token-{number}"),
        link: None,
    }
}

/// A PIX payment under an idempotency key.
pub(crate) fn keyed(number: u128, fingerprint: &str) -> CreatePayment {
    CreatePayment { fingerprint: Some(fingerprint.to_owned()), ..pix(number) }
}

/// A card payment; `capture` says whether it is charged at once.
pub(crate) fn card(number: u128, capture: bool) -> CreatePayment {
    let card_number = CardNumber::parse("4242424242424242").unwrap();
    let cvv = Cvv::parse("123", card_number.brand()).unwrap();
    let expiry = Expiry::new(12, 2030).unwrap();
    let card = CardData { number: card_number, holder_name: "MARIA SILVA".into(), expiry, cvv };
    let mut order = order(Some(SHOP));
    order.method = Method::CreditCard;
    order.terms = Terms::CreditCard { card: card.masked(), installments: 1, capture };
    CreatePayment { purchase: Purchase { order: Arc::new(order), card: Some(card) }, ..pix(number) }
}

fn order(postback_url: Option<&str>) -> Order {
    Order {
        method: Method::Pix,
        amount: Money::from_cents(CENTS),
        payer: Payer {
            first_name: "Maria".into(),
            last_name: "Silva".into(),
            document: Document::parse("52998224725", DocumentType::Cpf).unwrap(),
            email: "maria@example.com".into(),
            phone: Phone::parse("11987654321").unwrap(),
            address: Some(Address {
                street: "Rua Augusta".into(),
                number: "100".into(),
                complement: None,
                neighborhood: "Centro".into(),
                city: "São Paulo".into(),
                state: Uf::parse("SP").unwrap(),
                zip_code: Cep::parse("01304000").unwrap(),
            }),
        },
        items: Vec::new(),
        shipping_fee: None,
        splits: Vec::new(),
        utm: Utm::default(),
        postback_url: postback_url.map(String::from),
        external_reference: None,
        metadata: BTreeMap::new(),
        terms: Terms::Pix { expires_in_s: 3_600 },
    }
}
