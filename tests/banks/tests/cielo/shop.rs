//! A merchant who speaks to a Cielo.

use quita_banks::cielo::{Cielo, Config, Entry, Status};
use quita_banks::{Counterparty, Reply, Request, faults};
use serde_json::{Value, json};

/// Noon of 2026-11-22 in Brasília.
pub(crate) const NOON_MS: i64 = 1_795_359_600_000;
pub(crate) const DAY_MS: i64 = 24 * 60 * 60 * 1_000;

pub(crate) struct Shop {
    pub(crate) cielo: Cielo,
    pub(crate) now_ms: i64,
    pub(crate) headers: Vec<(String, String)>,
}

/// An answer that came.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Got {
    pub(crate) status: u16,
    pub(crate) body: Value,
    pub(crate) after_ms: u64,
}

impl Got {
    /// The codes of a refusal.
    pub(crate) fn codes(&self) -> Vec<Value> {
        self.body.as_array().into_iter().flatten().map(|line| line["Code"].clone()).collect()
    }

    pub(crate) fn payment_id(&self) -> String {
        self.body["Payment"]["PaymentId"].as_str().unwrap().to_owned()
    }
}

impl Shop {
    pub(crate) fn at(config: Config) -> Self {
        let headers = [("merchantid", &config.merchant_id), ("merchantkey", &config.merchant_key)]
            .map(|(name, value)| (name.to_owned(), value.clone()))
            .to_vec();
        Self { cielo: Cielo::new(config, faults::none()), now_ms: NOON_MS, headers }
    }

    pub(crate) fn open() -> Self {
        Self::at(Config::default())
    }

    pub(crate) fn request(&self, method: &str, target: &str, body: &Value) -> Request {
        let (path, query) = target.split_once('?').unwrap_or((target, ""));
        Request {
            method: method.to_owned(),
            path: path.to_owned(),
            query: query.to_owned(),
            headers: self.headers.clone(),
            body: if body.is_null() { Vec::new() } else { body.to_string().into_bytes() },
            certificate: None,
        }
    }

    pub(crate) fn reply(&mut self, method: &str, target: &str, body: &Value) -> Reply {
        let request = self.request(method, target, body);
        self.cielo.handle(&request, self.now_ms)
    }

    pub(crate) fn call(&mut self, method: &str, target: &str, body: &Value) -> Got {
        match self.reply(method, target, body) {
            Reply::Answer { response, after_ms } => Got {
                status: response.status,
                body: serde_json::from_slice(&response.body).unwrap_or_default(),
                after_ms,
            },
            Reply::Reset | Reply::Silence => panic!("no answer"),
        }
    }

    pub(crate) fn get(&mut self, target: &str) -> Got {
        self.call("GET", target, &Value::Null)
    }

    pub(crate) fn put(&mut self, target: &str) -> Got {
        self.call("PUT", target, &Value::Null)
    }

    pub(crate) fn sell(&mut self, sale: &Value) -> Got {
        self.call("POST", "/1/sales/", sale)
    }

    /// Sells, and tells the `PaymentId`.
    pub(crate) fn sold(&mut self, sale: &Value) -> String {
        let got = self.sell(sale);
        assert_eq!(got.status, 201, "{got:?}");
        got.payment_id()
    }

    /// The payment as the query host shows it.
    pub(crate) fn read(&mut self, payment_id: &str) -> Value {
        let got = self.get(&format!("/1/sales/{payment_id}"));
        assert_eq!(got.status, 200, "{got:?}");
        got.body["Payment"].clone()
    }

    /// The only sale of an order in the books.
    pub(crate) fn entry(&self, order: &str) -> Entry {
        let books = self.cielo.books();
        let [entry] = books[order].as_slice() else { panic!("{books:?}") };
        entry.clone()
    }

    pub(crate) fn status(&self, order: &str) -> Status {
        self.entry(order).status
    }

    pub(crate) fn control(&mut self, command: Value) -> Value {
        self.cielo.control(&command, self.now_ms)
    }

    /// The `PaymentId` and `ChangeType` of each notice by now.
    pub(crate) fn told(&mut self) -> Vec<(String, u64)> {
        let read = |body: &[u8]| serde_json::from_slice::<Value>(body).unwrap_or_default();
        let told = self.cielo.notices(self.now_ms).into_iter().map(|notice| read(&notice.body));
        told.map(|body| {
            let id = body["PaymentId"].as_str().unwrap_or_default().to_owned();
            (id, body["ChangeType"].as_u64().unwrap_or_default())
        })
        .collect()
    }
}

/// A card sale of 157.00 whose number ends in this digit.
pub(crate) fn card(order: &str, last_digit: u8) -> Value {
    json!({
        "MerchantOrderId": order,
        "Customer": { "Name": "Fulano de Tal", "Identity": "11144477735", "IdentityType": "CPF" },
        "Payment": {
            "Type": "CreditCard", "Amount": 15_700, "Currency": "BRL", "Country": "BRA", "Installments": 1,
            "Interest": "ByMerchant", "Capture": false, "SoftDescriptor": "LOJAEXEMPLO",
            "CreditCard": {
                "CardNumber": format!("411111111111111{last_digit}"), "Holder": "FULANO DE TAL",
                "ExpirationDate": "12/2030", "SecurityCode": "123", "Brand": "Visa",
            },
        },
    })
}

/// A PIX of 100.00.
pub(crate) fn pix(order: &str) -> Value {
    json!({
        "MerchantOrderId": order,
        "Customer": { "Name": "Fulano de Tal", "Identity": "11144477735", "IdentityType": "CPF" },
        "Payment": { "Type": "Pix", "Provider": "Cielo2", "Amount": 10_000, "QrCode": { "Expiration": 3_600 } },
    })
}

/// A boleto of 100.00, due in nine days.
pub(crate) fn boleto(order: &str) -> Value {
    json!({
        "MerchantOrderId": order,
        "Customer": {
            "Name": "Fulano de Tal", "Identity": "11144477735",
            "Address": {
                "Street": "Rua Um", "Number": "10", "Complement": "", "ZipCode": "01310100", "District": "Centro",
                "City": "Sao Paulo", "State": "SP", "Country": "BRA",
            },
        },
        "Payment": {
            "Type": "Boleto", "Provider": "Bradesco2", "Amount": 10_000, "BoletoNumber": "123",
            "Assignor": "Loja Exemplo", "ExpirationDate": "2026-12-01", "Identification": "11222333000181",
            "Instructions": "Nao receber apos o vencimento",
        },
    })
}

/// The same with one field of `Payment` otherwise.
pub(crate) fn with(mut sale: Value, name: &str, value: Value) -> Value {
    sale["Payment"][name] = value;
    sale
}

/// The same with one field of the card otherwise.
pub(crate) fn with_card(mut sale: Value, name: &str, value: Value) -> Value {
    sale["Payment"]["CreditCard"][name] = value;
    sale
}
