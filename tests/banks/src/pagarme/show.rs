//! Orders and charges as Pagar.me writes them. Fields and types: npm `@pagarme/pagarme-nodejs-sdk` 7.0.2, models.

use chrono::DateTime;
use serde_json::{Map, Value, json};

use super::Pagarme;
use super::charge::{Boleto, Card, Charge, Means, Order, Pix, Share, Status, Transaction};

/// Writes a timestamp in Pagar.me's format.
pub(super) fn moment(ms: i64) -> String {
    DateTime::from_timestamp_millis(ms).unwrap_or_default().format("%Y-%m-%dT%H:%M:%SZ").to_string()
}

/// Writes an order with its charges.
pub(super) fn order(pagarme: &Pagarme, order: &Order) -> Value {
    let charges: Vec<&Charge> = order.charges.iter().filter_map(|id| pagarme.charges.get(id)).collect();
    let mut written = head_of_order(order, charges.first().copied());
    let charges: Vec<Value> = charges.into_iter().map(|charge| bare_charge(charge).into()).collect();
    written.insert("charges".into(), charges.into());
    written.into()
}

/// Writes a charge with the order that it belongs to.
pub(super) fn charge(pagarme: &Pagarme, charge: &Charge) -> Value {
    let mut written = bare_charge(charge);
    if let Some(order) = pagarme.orders.get(&charge.order_id) {
        written.insert("order".into(), head_of_order(order, Some(charge)).into());
    }
    written.into()
}

/// Writes a list of orders.
pub(super) fn orders(pagarme: &Pagarme, all: &[&Order], total: usize) -> Value {
    let written: Vec<Value> = all.iter().map(|one| order(pagarme, one)).collect();
    json!({ "data": written, "paging": { "total": total } })
}

fn head_of_order(order: &Order, charge: Option<&Charge>) -> Map<String, Value> {
    let status = match charge.map(|charge| charge.status) {
        Some(Status::Paid | Status::Overpaid | Status::Underpaid | Status::ChargedBack) => "paid",
        Some(Status::Canceled) => "canceled",
        Some(Status::Failed) => "failed",
        Some(Status::Processing) => "processing",
        Some(Status::Pending) | None => "pending",
    };
    fields(json!({
        "id": order.id,
        "code": order.code,
        "amount": order.amount_cents,
        "currency": "BRL",
        "closed": true,
        "items": order.items,
        "customer": order.customer,
        "status": status,
        "created_at": moment(order.created_ms),
        "updated_at": moment(charge.map_or(order.created_ms, |charge| charge.updated_ms)),
        "closed_at": moment(order.created_ms),
    }))
}

fn bare_charge(charge: &Charge) -> Map<String, Value> {
    let mut written = fields(json!({
        "id": charge.id,
        "code": charge.code,
        "gateway_id": charge.id.trim_start_matches("ch_"),
        "amount": charge.amount_cents,
        "status": charge.status.as_str(),
        "currency": "BRL",
        "payment_method": charge.means.method(),
        "created_at": moment(charge.created_ms),
        "updated_at": moment(charge.updated_ms),
    }));
    if charge.paid_cents > 0 {
        written.insert("paid_amount".into(), charge.paid_cents.into());
    }
    if charge.canceled_cents > 0 {
        written.insert("canceled_amount".into(), charge.canceled_cents.into());
    }
    if let Some(at) = charge.paid_ms {
        written.insert("paid_at".into(), moment(at).into());
    }
    if let Some(at) = charge.canceled_ms {
        written.insert("canceled_at".into(), moment(at).into());
    }
    if let Means::Boleto(boleto) = &charge.means {
        written.insert("due_at".into(), end_of(boleto).into());
        let more = charge.paid_cents.saturating_sub(charge.amount_cents);
        if more > 0 {
            written.insert("interest_and_fine_paid".into(), more.into());
        }
    }
    if let Some(last) = charge.last() {
        written.insert("last_transaction".into(), transaction(charge, last));
    }
    written
}

/// Writes one step of a charge.
pub(super) fn transaction(charge: &Charge, step: &Transaction) -> Value {
    let errors: Vec<Value> = step.gateway.1.iter().map(|message| json!({ "message": message })).collect();
    let mut written = fields(json!({
        "id": step.id,
        "transaction_type": charge.means.method(),
        "gateway_id": step.id.trim_start_matches("tran_"),
        "amount": step.amount_cents,
        "status": step.status,
        "success": step.success,
        "created_at": moment(step.at_ms),
        "updated_at": moment(step.at_ms),
        "gateway_response": { "code": step.gateway.0, "errors": errors },
        "antifraud_response": step.antifraud.map_or_else(|| json!({}), |status| json!({
            "status": status, "return_code": "10", "provider_name": "pagarme",
        })),
        "metadata": {},
    }));
    if charge.shares.len() > 1 {
        written.insert("split".into(), charge.shares.iter().map(share).collect());
    }
    match &charge.means {
        Means::Card(card) => of_card(card, step, &mut written),
        Means::Pix(pix) => of_pix(pix, &mut written),
        Means::Boleto(boleto) => of_boleto(charge, boleto, &mut written),
    }
    written.into()
}

fn of_card(card: &Card, step: &Transaction, written: &mut Map<String, Value>) {
    written.extend(fields(json!({
        "operation_type": if card.captures_at_once { "auth_and_capture" } else { "auth_only" },
        "installments": card.instalments,
        "statement_descriptor": card.statement_descriptor,
        "card": {
            "id": format!("card_{}{}", card.first_six, card.last_four),
            "first_six_digits": card.first_six,
            "last_four_digits": card.last_four,
            "brand": card.brand,
            "holder_name": card.holder,
            "exp_month": card.expires.0,
            "exp_year": card.expires.1,
            "status": "active",
            "type": "credit",
        },
        "funding_source": "credit",
    })));
    let Some(given) = &step.authorisation else { return };
    written.extend(fields(json!({
        "acquirer_name": "pagarme",
        "acquirer_tid": given.tid,
        "acquirer_nsu": given.nsu,
        "acquirer_auth_code": given.code,
        "acquirer_message": given.message,
        "acquirer_return_code": given.return_code,
    })));
    if let Some(code) = &given.brand_failure {
        let info = json!({ "brand_failure_return_code": code, "transaction_limit": null, "transaction_date_limit": null });
        written.insert("retry_info".into(), info);
    }
}

fn of_pix(pix: &Pix, written: &mut Map<String, Value>) {
    written.extend(fields(json!({
        "pix_provider_tid": pix.provider_tid,
        "expires_at": moment(pix.expires_ms),
        "qr_code_url": "https://api.pagarme.example/core/v5/transactions/qrcode",
    })));
    if let Some(code) = &pix.code {
        written.insert("qr_code".into(), code.clone().into());
    }
    if let Some(id) = &pix.end_to_end_id {
        written.insert("end_to_end_id".into(), id.clone().into());
        let payer = json!({ "name": "Pagador", "document": "***", "document_type": "CPF" });
        written.insert("payer".into(), payer);
    }
}

fn of_boleto(charge: &Charge, boleto: &Boleto, written: &mut Map<String, Value>) {
    written.extend(fields(json!({
        "url": "https://api.pagarme.example/core/v5/transactions/boleto",
        "pdf": "https://api.pagarme.example/core/v5/transactions/boleto/pdf",
        "barcode": "https://api.pagarme.example/core/v5/transactions/boleto/barcode",
        "qr_code": "https://api.pagarme.example/core/v5/transactions/boleto/qrcode",
        "nosso_numero": boleto.number,
        "bank": boleto.bank,
        "document_number": boleto.document_number,
        "instructions": boleto.instructions,
        "due_at": end_of(boleto),
    })));
    if let Some(line) = &boleto.line {
        let digits: String = line.chars().filter(char::is_ascii_digit).collect();
        written.insert("line".into(), digits.into());
    }
    if charge.paid_cents > 0 {
        written.insert("paid_amount".into(), charge.paid_cents.to_string().into());
        written.insert("paid_at".into(), moment(charge.paid_ms.unwrap_or_default()).into());
        written.insert("credit_at".into(), moment(charge.paid_ms.unwrap_or_default()).into());
    }
}

fn end_of(boleto: &Boleto) -> String {
    format!("{}T02:59:59Z", boleto.due.succ_opt().unwrap_or(boleto.due))
}

fn share(share: &Share) -> Value {
    json!({
        "type": "flat", "amount": share.amount_cents, "recipient": { "id": share.recipient },
        "options": { "liable": share.pays_fee, "charge_processing_fee": share.pays_fee },
    })
}

fn fields(value: Value) -> Map<String, Value> {
    match value {
        Value::Object(fields) => fields,
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) | Value::Array(_) => Map::new(),
    }
}

/// Spells all statuses in camel case.
pub(super) fn in_camel_case(value: &mut Value) {
    match value {
        Value::Object(fields) => {
            for (name, value) in fields {
                if let (Value::String(text), "status") = (&mut *value, name.as_str()) {
                    *text = camel_case(text);
                } else {
                    in_camel_case(value);
                }
            }
        }
        Value::Array(all) => all.iter_mut().for_each(in_camel_case),
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => {}
    }
}

fn camel_case(text: &str) -> String {
    let mut camel = String::new();
    let mut is_next_upper = false;
    for character in text.chars() {
        if character == '_' {
            is_next_upper = true;
        } else if is_next_upper {
            camel.push(character.to_ascii_uppercase());
            is_next_upper = false;
        } else {
            camel.push(character);
        }
    }
    camel
}
