//! Request bodies: valid payments that the sandbox pays.

use uuid::Uuid;

use super::plan::{Method, Mix};

/// Payer of every payment.
const PAYER: &str = concat!(
    r#""currency":"BRL","paymentDetails":{"firstName":"Maria","lastName":"Silva","document":"52998224725","#,
    r#""documentType":"CPF","email":"maria@example.com","phoneNumber":"11987654321","address":{"#,
    r#""street":"Rua Augusta","number":"100","neighborhood":"Consolação","city":"São Paulo","state":"SP","#,
    r#""zipCode":"01304000"}}"#
);

/// Card that the sandbox approves.
const CARD: &str = concat!(
    r#""installments":1,"creditCard":{"number":"4242424242424242","holderName":"MARIA SILVA","#,
    r#""expirationMonth":12,"expirationYear":2049,"cvv":"123"},"#
);

/// Maximum amount of a payment in reais.
const MAX_REAIS: u64 = 9_999;

/// Generator of the requests of one run.
#[derive(Debug, Clone)]
pub(super) struct Purchases {
    /// Id of this run.
    pub(super) run: Uuid,
    /// Share of each payment method.
    pub(super) mix: Mix,
    /// Address to which events are sent.
    pub(super) postback_url: String,
}

/// Request for one payment.
#[derive(Debug)]
pub(super) struct Purchase {
    /// Method of payment.
    pub(super) method: Method,
    /// Idempotency key, also used as external reference.
    pub(super) key: String,
    /// Body of the request.
    pub(super) body: String,
}

impl Purchases {
    /// Returns the request with this number. Its amount ends in 00, so the sandbox pays it.
    pub(super) fn purchase(&self, number: u64) -> Purchase {
        let key = format!("load-{}-{number}", self.run);
        let method = self.mix.method(number);
        let (name, details) = match method {
            Method::Pix => ("pix", ""),
            Method::Boleto => ("boleto", ""),
            Method::Card => ("credit_card", CARD),
        };
        let reais = 1 + number % MAX_REAIS;
        let url = &self.postback_url;
        let body = format!(
            r#"{{"paymentMethod":"{name}",{details}"amount":{reais}00,"externalReference":"{key}","postbackUrl":"{url}",{PAYER}}}"#
        );
        Purchase { method, key, body }
    }
}

#[cfg(test)]
mod tests {
    use serde_json::Value;

    use super::*;

    #[test]
    fn bodies_are_json_with_a_round_amount_and_a_reference_of_their_own() {
        let mix = Mix::parse("pix=1,boleto=1,card=1").unwrap();
        let purchases = Purchases { run: Uuid::nil(), mix, postback_url: "http://127.0.0.1:1/".into() };
        let mut references = std::collections::HashSet::new();
        for number in [0, 1, 2, 9_998, 9_999] {
            let purchase = purchases.purchase(number);
            let body: Value = serde_json::from_str(&purchase.body).unwrap();
            assert_eq!(body["amount"].as_u64().unwrap() % 100, 0);
            assert_eq!(body["externalReference"], purchase.key.as_str());
            assert_eq!(body["creditCard"].is_object(), body["paymentMethod"] == "credit_card");
            assert!(references.insert(purchase.key));
        }
    }
}
