//! Payments for tests that need any.
#![allow(clippy::unwrap_used, reason = "only tests use it")]

use std::sync::Arc;

use quita_domain::identity::{ApplicationName, MerchantId, Mode, Owner, TransactionId};
use quita_domain::payment::{Context as Circumstances, NewPayment, Payment};
use quita_domain::routing::Routed;
use quita_domain::time::Timestamp;
use serde_json::{from_value, json};
use uuid::Uuid;

/// Returns the id of the payment with this number.
pub fn sample_id(number: u128) -> TransactionId {
    TransactionId::new(Uuid::from_u128(number))
}

/// Returns a PIX of 100.00 that no acquirer accepted.
pub fn sample_payment(number: u128) -> Payment {
    let address = json!({
        "street": "Rua Augusta", "number": "100", "neighborhood": "Centro", "city": "São Paulo", "state": "SP",
        "zipCode": "01304000",
    });
    let payer = json!({
        "firstName": "Maria", "lastName": "Silva", "document": "52998224725", "email": "maria@example.com",
        "phone": "11987654321", "address": address,
    });
    let terms = json!({ "kind": "pix", "expiresInS": 3_600 });
    let order = json!({ "method": "PIX", "amount": 10_000, "payer": payer, "terms": terms });
    let new = NewPayment {
        id: sample_id(number),
        owner: Owner {
            merchant: MerchantId::new("demo"),
            application: ApplicationName::new("default"),
            mode: Mode::Test,
        },
        order: Arc::new(from_value(order).unwrap()),
        fingerprint: None,
        card_fingerprint: None,
        used_token: None,
        page_token: String::new(),
        link: None,
        considered: Vec::new(),
        routed: Routed::default(),
    };
    let circumstances = Circumstances::plain(Timestamp::from_millis(0), Uuid::from_u128(number));
    Payment::open(new, &circumstances).next.unwrap()
}
