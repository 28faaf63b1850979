//! Samples that the tests of payments begin with.

use std::collections::BTreeMap;

use quita_domain::document::{Document, DocumentType};
use quita_domain::identity::{ApplicationName, MerchantId, Mode, Owner};
use quita_domain::method::Method;
use quita_domain::money::Money;
use quita_domain::order::{Address, Order, Payer, Terms, Utm};
use quita_domain::payment::Context;
use quita_domain::phone::Phone;
use quita_domain::postal::{Cep, Uf};
use quita_domain::time::Timestamp;
use uuid::Uuid;

/// Time at which every test begins.
pub(crate) const START: Timestamp = Timestamp::from_millis(1_795_262_400_000);

/// Returns the context of a decision this many milliseconds after [`START`].
pub(crate) fn at(ms: u64) -> Context {
    let now = START.plus_ms(ms);
    Context { dice: 20, ..Context::plain(now, Uuid::from_u128(u128::from(ms) + 1)) }
}

/// A PIX of 100.00, with webhooks.
pub(crate) fn pix_order() -> Order {
    Order {
        method: Method::Pix,
        amount: Money::from_cents(10_000),
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
        postback_url: Some("http://127.0.0.1:1/".into()),
        external_reference: None,
        metadata: BTreeMap::new(),
        terms: Terms::Pix { expires_in_s: 3_600 },
    }
}

/// Returns the owner of the payments.
pub(crate) fn owner() -> Owner {
    Owner {
        merchant: MerchantId::new("demo"),
        application: ApplicationName::new("default"),
        mode: Mode::Test,
    }
}
