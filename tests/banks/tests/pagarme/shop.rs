//! A merchant who speaks to a Pagar.me.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use quita_banks::pagarme::{Config, Entry, Pagarme};
use quita_banks::{Counterparty, Reply, Request, faults};
use serde_json::{Value, json};

/// Noon of 2026-11-22 in Brasília.
pub(crate) const NOON_MS: i64 = 1_795_359_600_000;
pub(crate) const DAY_MS: i64 = 24 * 60 * 60 * 1_000;
pub(crate) const A: &str = "re_a000000000000000000000000";
pub(crate) const OWN: &str = "re_own00000000000000000000000";

pub(crate) struct Shop {
    pub(crate) pagarme: Pagarme,
    pub(crate) now_ms: i64,
    pub(crate) key: String,
}

/// An answer that came.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Got {
    pub(crate) status: u16,
    pub(crate) body: Value,
}

impl Got {
    /// The charge of an order.
    pub(crate) fn charge(&self) -> &Value {
        &self.body["charges"][0]
    }

    pub(crate) fn charge_id(&self) -> String {
        self.charge()["id"].as_str().unwrap().to_owned()
    }

    /// Statuses of a charge and its newest step.
    pub(crate) fn statuses(&self) -> (String, String) {
        let charge = if self.charge().is_null() { &self.body } else { self.charge() };
        let text = |value: &Value| value.as_str().unwrap_or_default().to_owned();
        (text(&charge["status"]), text(&charge["last_transaction"]["status"]))
    }
}

pub(crate) fn are(charge: &str, step: &str) -> (String, String) {
    (charge.to_owned(), step.to_owned())
}

impl Shop {
    pub(crate) fn at(config: Config) -> Self {
        let key = config.secret_key.clone();
        Self { pagarme: Pagarme::new(config, faults::none()), now_ms: NOON_MS, key }
    }

    pub(crate) fn open() -> Self {
        Self::at(Config::default())
    }

    pub(crate) fn request(&self, method: &str, target: &str, body: &Value, key: Option<&str>) -> Request {
        let (path, query) = target.split_once('?').unwrap_or((target, ""));
        let basic = format!("Basic {}", STANDARD.encode(format!("{}:", self.key)));
        let key = key.map(|key| ("idempotency-key".to_owned(), key.to_owned()));
        Request {
            method: method.to_owned(),
            path: format!("/core/v5{path}"),
            query: query.to_owned(),
            headers: std::iter::once(("authorization".to_owned(), basic)).chain(key).collect(),
            body: if body.is_null() { Vec::new() } else { body.to_string().into_bytes() },
            certificate: None,
        }
    }

    pub(crate) fn reply(&mut self, method: &str, target: &str, body: &Value) -> Reply {
        let request = self.request(method, target, body, None);
        self.pagarme.handle(&request, self.now_ms)
    }

    pub(crate) fn keyed(&mut self, method: &str, target: &str, body: &Value, key: Option<&str>) -> Got {
        let request = self.request(method, target, body, key);
        match self.pagarme.handle(&request, self.now_ms) {
            Reply::Answer { response, .. } => Got {
                status: response.status,
                body: serde_json::from_slice(&response.body).unwrap_or_default(),
            },
            Reply::Reset | Reply::Silence => panic!("no answer"),
        }
    }

    pub(crate) fn call(&mut self, method: &str, target: &str, body: &Value) -> Got {
        self.keyed(method, target, body, None)
    }

    pub(crate) fn get(&mut self, target: &str) -> Got {
        self.call("GET", target, &Value::Null)
    }

    pub(crate) fn order(&mut self, order: &Value) -> Got {
        self.call("POST", "/orders", order)
    }

    /// Orders, and returns the charge's id.
    pub(crate) fn ordered(&mut self, order: &Value) -> String {
        let got = self.order(order);
        assert_eq!(got.status, 200, "{got:?}");
        got.charge_id()
    }

    pub(crate) fn capture(&mut self, charge: &str, body: &Value) -> Got {
        self.call("POST", &format!("/charges/{charge}/capture"), body)
    }

    pub(crate) fn cancel(&mut self, charge: &str, body: &Value) -> Got {
        self.call("DELETE", &format!("/charges/{charge}"), body)
    }

    pub(crate) fn payables(&mut self, query: &str) -> Vec<Value> {
        let got = self.get(&format!("/payables?{query}"));
        assert_eq!(got.status, 200, "{got:?}");
        got.body["data"].as_array().unwrap().clone()
    }

    /// The only charge of a code in the books.
    pub(crate) fn entry(&self, code: &str) -> Entry {
        let charges = self.pagarme.charges_of(code);
        let [entry] = charges.as_slice() else { panic!("{charges:?}") };
        entry.clone()
    }

    pub(crate) fn control(&mut self, command: Value) -> Value {
        self.pagarme.control(&command, self.now_ms)
    }
}

fn order(code: &str, payment: Value) -> Value {
    let address = json!({
        "line_1": "10, Rua Um, Centro", "line_2": "apto 7", "zip_code": "01310100", "city": "São Paulo",
        "state": "SP", "country": "BR",
    });
    json!({
        "code": code, "closed": true,
        "items": [{ "code": code, "description": "Pedido", "amount": payment["amount"], "quantity": 1 }],
        "customer": {
            "name": "Fulano de Tal", "email": "fulano@example.com", "type": "individual",
            "document": "11144477735", "document_type": "CPF", "address": address,
            "phones": { "mobile_phone": { "country_code": "55", "area_code": "11", "number": "987654321" } },
        },
        "payments": [payment],
    })
}

/// A card of 157.00 that is captured at once.
pub(crate) fn card(code: &str) -> Value {
    order(
        code,
        json!({
            "payment_method": "credit_card", "amount": 15_700,
            "credit_card": {
                "installments": 1, "statement_descriptor": "LOJAEXEMPLO", "operation_type": "auth_and_capture",
                "auto_recovery": false,
                "card": {
                    "number": "4000000000000010", "holder_name": "FULANO DE TAL", "exp_month": 12,
                    "exp_year": 2030, "cvv": "123",
                    "billing_address": {
                        "line_1": "10, Rua Um, Centro", "zip_code": "01310100", "city": "São Paulo",
                        "state": "SP", "country": "BR",
                    },
                },
            },
        }),
    )
}

/// The same, authorised only.
pub(crate) fn held(code: &str) -> Value {
    with(card(code), "credit_card/operation_type", json!("auth_only"))
}

/// A PIX of 100.00 that lives for an hour.
pub(crate) fn pix(code: &str) -> Value {
    order(code, json!({ "payment_method": "pix", "amount": 10_000, "pix": { "expires_in": 3_600 } }))
}

/// A boleto of 100.00, due in nine days.
pub(crate) fn boleto(code: &str) -> Value {
    let boleto = json!({ "due_at": "2026-12-01T23:59:59-03:00", "instructions": "Pague até o vencimento" });
    order(code, json!({ "payment_method": "boleto", "amount": 10_000, "boleto": boleto }))
}

/// The same order with one field of its payment otherwise.
pub(crate) fn with(mut order: Value, path: &str, value: Value) -> Value {
    let mut place = &mut order["payments"][0];
    for part in path.split('/') {
        place = &mut place[part];
    }
    *place = value;
    order
}

/// The rule of a flat share.
pub(crate) fn flat(recipient: &str, cents: u64, pays_fee: bool) -> Value {
    let options =
        json!({ "liable": pays_fee, "charge_processing_fee": pays_fee, "charge_remainder_fee": pays_fee });
    json!({ "recipient_id": recipient, "type": "flat", "amount": cents, "options": options })
}
