//! Creation requests that keep every rule, and how to bend them.

use std::time::{Duration, UNIX_EPOCH};

use chrono::{Days, NaiveDate};
use serde_json::{Value, json};

/// A PIX payment of this many cents.
pub(crate) fn pix(cents: u64) -> Value {
    json!({
        "paymentMethod": "pix",
        "amount": cents,
        "currency": "BRL",
        "paymentDetails": {
            "firstName": "Maria",
            "lastName": "da Silva",
            "document": "52998224725",
            "documentType": "CPF",
            "email": "maria.silva@example.com",
            "phoneNumber": "11987654321",
            "address": {
                "street": "Rua Augusta",
                "number": "100",
                "neighborhood": "Consolação",
                "city": "São Paulo",
                "state": "SP",
                "zipCode": "01304000",
            },
        },
    })
}

/// A boleto of this many cents.
pub(crate) fn boleto(cents: u64) -> Value {
    pix(cents).with("paymentMethod", json!("boleto"))
}

/// A card payment of this many cents, captured at once.
pub(crate) fn card(number: &str, cents: u64) -> Value {
    let cvv = if number.starts_with("37") { "1234" } else { "123" };
    pix(cents).with("paymentMethod", json!("credit_card")).with("installments", json!(1)).with(
        "creditCard",
        json!({
            "number": number,
            "holderName": "MARIA DA SILVA",
            "expirationMonth": 12,
            "expirationYear": 2049,
            "cvv": cvv,
        }),
    )
}

/// Changing a request in one place, named as in `paymentDetails.address.city`.
pub(crate) trait Edit {
    /// The request with another value there.
    fn with(self, path: &str, value: Value) -> Self;
    /// The request without that member.
    fn without(self, path: &str) -> Self;
}

impl Edit for Value {
    fn with(mut self, path: &str, value: Value) -> Self {
        let (object, name) = holder(&mut self, path);
        object[name] = value;
        self
    }

    fn without(mut self, path: &str) -> Self {
        let (object, name) = holder(&mut self, path);
        assert!(object.as_object_mut().unwrap().remove(name).is_some(), "there is no {path}");
        self
    }
}

fn holder<'a, 'p>(root: &'a mut Value, path: &'p str) -> (&'a mut Value, &'p str) {
    let (parents, name) = path.rsplit_once('.').map_or(("", path), |(parents, name)| (parents, name));
    let steps = parents.split('.').filter(|step| !step.is_empty());
    (steps.fold(root, |object, step| &mut object[step]), name)
}

/// Today in Brasília, which has been three hours behind UTC since 2019.
pub(crate) fn today() -> NaiveDate {
    let since_1970 = UNIX_EPOCH.elapsed().unwrap() - Duration::from_secs(3 * 3_600);
    NaiveDate::default() + Days::new(since_1970.as_secs() / 86_400)
}
