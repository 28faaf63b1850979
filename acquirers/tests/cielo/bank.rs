//! A small Cielo with books of its own: sales, captures, voids, queries, and faults before and after the effect.

use std::collections::VecDeque;
use std::rc::Rc;
use std::sync::{Arc, Mutex};

use async_trait::async_trait;
use quita_acquirers::exchange::{Exchange, ExchangeFactory, Failure, Request, Response, Verb};
use serde_json::{Value, json};
use tokio::time::Instant;
use uuid::Uuid;

use crate::payment::{barcode, br_code};

/// Fault of a call.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Fault {
    /// It is lost before Cielo has it.
    Before,
    /// It has its effect, and its answer is lost.
    After,
    /// It has its effect, and the answer is this status.
    Answers(u16),
}

#[derive(Debug, Clone)]
pub(crate) struct Booked {
    pub(crate) order_id: String,
    pub(crate) payment_id: String,
    pub(crate) kind: String,
    pub(crate) amount: u64,
    pub(crate) captured: u64,
    pub(crate) voided: u64,
    pub(crate) status: u64,
    pub(crate) return_code: String,
}

#[derive(Default)]
pub(crate) struct Books {
    pub(crate) sales: Vec<Booked>,
    pub(crate) faults: VecDeque<Fault>,
    pub(crate) declines: VecDeque<&'static str>,
    pub(crate) calls: Vec<(Instant, String)>,
    made: u128,
}

#[derive(Clone, Default)]
pub(crate) struct Bank(Arc<Mutex<Books>>);

impl Bank {
    pub(crate) fn books<T>(&self, look: impl FnOnce(&mut Books) -> T) -> T {
        look(&mut self.0.lock().unwrap())
    }

    pub(crate) fn faults(&self, faults: impl IntoIterator<Item = Fault>) {
        self.books(|books| books.faults.extend(faults));
    }

    pub(crate) fn factory(&self) -> Arc<dyn ExchangeFactory> {
        Arc::new(self.clone())
    }

    /// The only sale in the books.
    #[track_caller]
    pub(crate) fn only_sale(&self) -> Booked {
        self.books(|books| {
            assert_eq!(books.sales.len(), 1, "{:?}", books.sales);
            books.sales[0].clone()
        })
    }
}

impl ExchangeFactory for Bank {
    fn open(&self) -> Rc<dyn Exchange> {
        Rc::new(self.clone())
    }
}

#[async_trait(?Send)]
impl Exchange for Bank {
    async fn send(&self, request: Request) -> Result<Response, Failure> {
        self.books(|books| {
            let url = request.url.split_once("/1/").unwrap().1.to_owned();
            books.calls.push((Instant::now(), format!("{} {url}", request.verb.as_str())));
            let fault = books.faults.pop_front();
            let lost = || Err(Failure::Unknown("the connection broke".into()));
            if fault == Some(Fault::Before) {
                return lost();
            }
            let (status, body) = books.take(request.verb, &url, &request.body);
            match fault {
                Some(Fault::After) => lost(),
                Some(Fault::Answers(status)) => Ok(Response { status, headers: vec![], body: vec![] }),
                Some(Fault::Before) | None => {
                    Ok(Response { status, headers: vec![], body: body.to_string().into_bytes() })
                }
            }
        })
    }
}

impl Books {
    fn take(&mut self, verb: Verb, url: &str, body: &[u8]) -> (u16, Value) {
        match (verb, url.trim_start_matches("sales")) {
            (Verb::Post, "/") => self.create(&serde_json::from_slice(body).unwrap()),
            (Verb::Get, query) if query.starts_with("?merchantOrderId=") => {
                let order_id = query.trim_start_matches("?merchantOrderId=");
                let of_order = self.sales.iter().filter(|sale| sale.order_id == order_id);
                let listed: Vec<Value> = of_order
                    .map(|sale| json!({"PaymentId": sale.payment_id, "ReceveidDate": "2026-11-21T09:00:00"}))
                    .collect();
                if listed.is_empty() { (404, json!(null)) } else { (200, json!({ "Payments": listed })) }
            }
            (Verb::Get, path) => match self.find(path.trim_start_matches('/')) {
                Some(sale) => (200, sale.json()),
                None => (404, json!(null)),
            },
            (Verb::Put, path) => {
                let (path, amount) = path.split_once("?amount=").unwrap();
                let (payment_id, what) = path.trim_start_matches('/').split_once('/').unwrap();
                let amount: u64 = amount.parse().unwrap();
                match (self.find(payment_id), what) {
                    (None, _) => (404, json!(null)),
                    (Some(sale), "capture") => sale.capture(amount),
                    (Some(sale), "void") => sale.void(amount),
                    (Some(_), what) => panic!("{what}"),
                }
            }
            (Verb::Post | Verb::Patch | Verb::Delete, path) => panic!("{path}"),
        }
    }

    fn find(&mut self, payment_id: &str) -> Option<&mut Booked> {
        self.sales.iter_mut().find(|sale| sale.payment_id == payment_id)
    }

    fn create(&mut self, request: &Value) -> (u16, Value) {
        self.made += 1;
        let payment = &request["Payment"];
        let kind = payment["Type"].as_str().unwrap();
        let amount = payment["Amount"].as_u64().unwrap();
        let decline = self.declines.pop_front();
        let captures = kind == "CreditCard" && payment["Capture"] == json!(true) && decline.is_none();
        let status = match (kind, decline) {
            (_, Some(_)) => 3,
            ("Pix", None) => 12,
            ("CreditCard", None) if captures => 2,
            (_, None) => 1,
        };
        let sale = Booked {
            order_id: request["MerchantOrderId"].as_str().unwrap().to_owned(),
            payment_id: Uuid::from_u128(0x2f6d_1b1e_7c55_4a57_9f0b_3a0f_6f7d_0000 + self.made).to_string(),
            kind: kind.to_owned(),
            amount,
            captured: if captures { amount } else { 0 },
            voided: 0,
            status,
            return_code: decline.unwrap_or(if captures { "6" } else { "4" }).to_owned(),
        };
        self.sales.push(sale.clone());
        (201, sale.json())
    }
}

impl Booked {
    fn json(&self) -> Value {
        let mut payment = json!({
            "Type": self.kind, "Amount": self.amount, "Currency": "BRL", "PaymentId": self.payment_id,
            "Status": self.status, "ReturnCode": self.return_code, "Tid": "0310031415926",
            "ProofOfSale": "271828", "AuthorizationCode": "161803",
        });
        if self.captured > 0 {
            payment["CapturedAmount"] = json!(self.captured);
        }
        if self.voided > 0 {
            payment["VoidedAmount"] = json!(self.voided);
        }
        match self.kind.as_str() {
            "Pix" => payment["QrCodeString"] = json!(br_code(None)),
            "Boleto" => payment["BarCodeNumber"] = json!(barcode(self.amount, "2026-12-01").as_str()),
            _ => {}
        }
        json!({"MerchantOrderId": self.order_id, "Customer": {"Name": "Fulano de Tal"}, "Payment": payment})
    }

    fn capture(&mut self, amount: u64) -> (u16, Value) {
        if self.status != 1 || amount > self.amount {
            return (400, json!([{"Code": 308, "Message": "Transaction not available to capture"}]));
        }
        (self.status, self.captured) = (2, amount);
        (200, json!({"Status": 2, "ReturnCode": "6", "ReturnMessage": "Operation Successful"}))
    }

    fn void(&mut self, amount: u64) -> (u16, Value) {
        match self.status {
            1 if amount == self.amount => (self.status, self.voided) = (10, amount),
            2 if self.voided + amount <= self.captured => {
                self.voided += amount;
                self.status = if self.voided == self.captured { 11 } else { 2 };
            }
            2 => return (200, json!({"Status": 2, "ReturnCode": "102", "ReturnMessage": "Above the sale"})),
            _ => return (400, json!([{"Code": 309, "Message": "Transaction not available to void"}])),
        }
        (
            200,
            json!({"Status": self.status, "ReturnCode": "0", "ReasonCode": 0, "ReasonMessage": "Successful"}),
        )
    }
}
