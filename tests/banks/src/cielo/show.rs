//! Sales in Cielo's answers.

use serde_json::{Map, Value, json};

use super::books::method;
use super::local_time;
use super::sale::{Boleto, Card, Means, Pix, Sale, Status};

/// A valid picture of one white pixel. A client that shows a QR code creates it from the text.
const IMAGE: &str =
    "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAAAAAA6fptVAAAACklEQVR4nGP4DwABAQEAG7buVgAAAABJRU5ErkJggg==";

/// Returns the answer to a creation.
pub(crate) fn created(sale: &Sale) -> Value {
    json!({ "MerchantOrderId": sale.order_id, "Customer": sale.customer, "Payment": payment(sale) })
}

/// Returns the answer to a query by `PaymentId`: the sale with its later changes.
pub(crate) fn read(sale: &Sale) -> Value {
    let mut payment = payment(sale);
    if let Some(fields) = payment.as_object_mut() {
        if sale.voided_cents > 0 {
            fields.insert("VoidedAmount".into(), sale.voided_cents.into());
        }
        if let Some(at) = sale.voided_ms {
            fields.insert("VoidedDate".into(), local_time::date_and_time(at).into());
        }
        if !sale.chargebacks.is_empty() {
            fields.insert("Chargebacks".into(), sale.chargebacks.iter().map(chargeback).collect());
        }
    }
    json!({ "MerchantOrderId": sale.order_id, "Customer": sale.customer, "Payment": payment })
}

/// Returns the answer to a query by `MerchantOrderId`.
pub(crate) fn list<'a>(sales: impl Iterator<Item = &'a Sale>) -> Value {
    let line = |sale: &Sale| {
        json!({
            "PaymentId": sale.payment_id,
            "ServiceTaxAmount": 0,
            "ReceveidDate": local_time::date_and_time(sale.received_ms),
        })
    };
    json!({ "ReasonCode": 0, "ReasonMessage": "Successful", "Payments": sales.map(line).collect::<Vec<_>>() })
}

/// Returns the answer to a capture or void.
pub(crate) fn operated(sale: &Sale, status: Status, code: &str, message: &str) -> Value {
    let is_done = ["0", "6", "9"].contains(&code);
    let mut answer = fields(json!({
        "Status": status.number(),
        "ReasonCode": if is_done { 0 } else { 9 },
        "ReasonMessage": if is_done { "Successful" } else { "Unsuccessful" },
        "ProviderReturnCode": code,
        "ProviderReturnMessage": message,
        "ReturnCode": code,
        "ReturnMessage": message,
        "Links": links(sale),
    }));
    if let Some(card) = sale.card() {
        answer.insert("Tid".into(), sale.tid.clone().into());
        answer.insert("ProofOfSale".into(), sale.proof_of_sale.clone().into());
        answer.insert("AuthorizationCode".into(), card.authorization_code.clone().into());
    }
    answer.into()
}

fn payment(sale: &Sale) -> Value {
    let mut shown = match &sale.means {
        Means::Card(card) => of_card(sale, card),
        Means::Pix(pix) => of_pix(sale, pix),
        Means::Boleto(boleto) => of_boleto(boleto),
    };
    shown.extend(fields(json!({
        "PaymentId": sale.payment_id,
        "Type": method(&sale.means),
        "Amount": sale.amount_cents,
        "ReceivedDate": local_time::date_and_time(sale.received_ms),
        "Currency": "BRL",
        "Country": "BRA",
        "Status": sale.status.number(),
        "IsSplitted": false,
        "Links": links(sale),
    })));
    if !sale.return_code.is_empty() {
        shown.insert("ReturnCode".into(), sale.return_code.clone().into());
        shown.insert("ReturnMessage".into(), sale.return_message.clone().into());
    }
    if sale.captured_cents > 0 {
        shown.insert("CapturedAmount".into(), sale.captured_cents.into());
    }
    if let Some(at) = sale.captured_ms {
        shown.insert("CapturedDate".into(), local_time::date_and_time(at).into());
    }
    shown.into()
}

fn of_card(sale: &Sale, card: &Card) -> Map<String, Value> {
    let mut shown = fields(json!({
        "ServiceTaxAmount": 0,
        "Installments": card.instalments,
        "Interest": if card.interest.eq_ignore_ascii_case("ByIssuer") { 1 } else { 0 },
        "Capture": card.captures_at_once,
        "Authenticate": false,
        "Recurrent": false,
        "Provider": "Simulado",
        "CreditCard": {
            "CardNumber": card.masked,
            "Holder": card.holder,
            "ExpirationDate": card.expires,
            "SaveCard": card.token.is_some(),
            "Brand": card.brand,
        },
    }));
    if let (Some(token), Some(Value::Object(inner))) = (&card.token, shown.get_mut("CreditCard")) {
        inner.insert("CardToken".into(), token.clone().into());
    }
    if sale.status != Status::NotFinished {
        shown.insert("Tid".into(), sale.tid.clone().into());
        shown.insert("ProofOfSale".into(), sale.proof_of_sale.clone().into());
    }
    let optional = [
        ("AuthorizationCode", &card.authorization_code),
        ("SoftDescriptor", &card.soft_descriptor),
        ("MerchantAdviceCode", &card.advice),
    ];
    for (name, value) in optional {
        if let Some(value) = value {
            shown.insert(name.into(), value.clone().into());
        }
    }
    shown
}

fn of_pix(sale: &Sale, pix: &Pix) -> Map<String, Value> {
    let mut shown =
        fields(json!({ "QrCodeBase64Image": IMAGE, "QrCode": { "Expiration": pix.expires_in_s } }));
    match &pix.provider {
        Some(provider) => {
            shown.insert("Provider".into(), provider.clone().into());
            shown.insert("SentOrderId".into(), pix.txid.clone().into());
            shown.insert("AcquirerOrderId".into(), pix.txid.clone().into());
        }
        None => {
            shown.insert("Provider".into(), "Cielo".into());
            shown.insert("AcquirerTransactionId".into(), pix.txid.clone().into());
            shown.insert("ProofOfSale".into(), sale.proof_of_sale.clone().into());
        }
    }
    if let Some(code) = &pix.code {
        shown.insert("QrCodeString".into(), code.clone().into());
    }
    if let Some(id) = &pix.end_to_end_id {
        shown.insert("EndToEndId".into(), id.clone().into());
    }
    shown
}

fn of_boleto(boleto: &Boleto) -> Map<String, Value> {
    let mut shown = fields(json!({
        "Provider": boleto.provider,
        "Url": format!("https://cielo.example/post/pagador/reenvia.asp/{}", boleto.number),
        "Number": boleto.number,
        "BoletoNumber": boleto.number,
        "ExpirationDate": boleto.due.to_string(),
        "Assignor": boleto.assignor,
        "Instructions": boleto.instructions,
        "Identification": boleto.identification,
    }));
    if let Some(bar_code) = &boleto.bar_code {
        shown.insert("BarCodeNumber".into(), bar_code.clone().into());
    }
    if let Some(line) = &boleto.line {
        shown.insert("DigitableLine".into(), line.clone().into());
    }
    shown
}

fn chargeback(case: &super::sale::Chargeback) -> Value {
    json!({
        "Amount": case.amount_cents,
        "CaseNumber": case.case,
        "Date": local_time::day(case.opened_ms).to_string(),
        "ReasonCode": "28",
        "ReasonMessage": "Consumidor nao reconhece a compra",
        "Status": case.status,
        "RawData": "",
    })
}

fn links(sale: &Sale) -> Value {
    let link = |method: &str, rel: &str, path: &str| json!({ "Method": method, "Rel": rel, "Href": format!("https://cielo.example/1/sales/{}{path}", sale.payment_id) });
    let mut links = vec![link("GET", "self", "")];
    let is_card = sale.card().is_some();
    if is_card && sale.status == Status::Authorized {
        links.push(link("PUT", "capture", "/capture"));
    }
    if sale.refundable_cents() > 0 || is_card && sale.status == Status::Authorized {
        links.push(link("PUT", "void", "/void"));
    }
    links.into()
}

fn fields(value: Value) -> Map<String, Value> {
    match value {
        Value::Object(fields) => fields,
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) | Value::Array(_) => Map::new(),
    }
}
