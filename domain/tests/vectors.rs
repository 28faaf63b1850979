//! The public vectors of Brazil's payment rails, one table a test.
#![allow(clippy::unwrap_used, clippy::panic, reason = "tests")]

use std::path::Path;

use chrono::NaiveDate;
use quita_domain::boleto::interleaved::{Width, modules};
use quita_domain::boleto::{Barcode, CollectionAccount, due_factor};
use quita_domain::card::number::passes_luhn;
use quita_domain::card::{Brand, CardNumber, Expiry};
use quita_domain::document::{Document, DocumentType};
use quita_domain::phone::Phone;
use quita_domain::pix::br_code::{BrCode, DynamicBrCode, PointOfInitiation, StaticBrCode};
use quita_domain::pix::key::PixKey;
use quita_domain::pix::txid::{DynamicTxid, EndToEndId, RefundId, StaticTxid};
use quita_domain::pix::{amount, crc16};
use quita_domain::postal::{Cep, Uf};
use quita_domain::text::fold_ascii;
use serde_json::{Value, json};

/// Runs every vector of a file; what is absent from an answer counts as null.
///
/// Vectors of class `policy` show a debatable choice and are information only.
fn check(file: &str, run: impl Fn(&Value) -> Value) {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/vectors").join(format!("{file}.json"));
    let vectors: Vec<Value> = serde_json::from_slice(&std::fs::read(path).unwrap()).unwrap();
    let mut compared = 0;
    for vector in vectors.iter().filter(|vector| vector.get("class").is_none_or(|class| class != "policy")) {
        let input = vector.get("input").unwrap();
        let answer = run(input);
        for (field, expected) in vector.get("expected").unwrap().as_object().unwrap() {
            let found = answer.get(field).unwrap_or(&Value::Null);
            assert_eq!(
                found,
                expected,
                "{file}: {field} of {input}, {}",
                vector.get("note").unwrap_or(&Value::Null)
            );
            compared += 1;
        }
    }
    assert!(compared > 0, "{file} compared nothing");
}

fn text<'a>(input: &'a Value, field: &str) -> &'a str {
    input.get(field).and_then(Value::as_str).unwrap_or_else(|| panic!("{field} of {input}"))
}

fn optional<'a>(input: &'a Value, field: &str) -> Option<&'a str> {
    input.get(field).and_then(Value::as_str)
}

fn date(input: &Value, field: &str) -> NaiveDate {
    text(input, field).parse().unwrap()
}

fn refused() -> Value {
    json!({ "valid": false })
}

#[test]
fn documents_are_accepted_and_refused() {
    check("documents", |input| {
        let parse = |kind| match text(input, "form") {
            "raw" => Document::parse(text(input, "value"), kind),
            _ => Document::parse_formatted(text(input, "value"), kind),
        };
        let Ok(document) = parse(DocumentType::Cpf).or_else(|_| parse(DocumentType::Cnpj)) else {
            return refused();
        };
        json!({
            "valid": true,
            "type": document.kind().as_str(),
            "normalized": document.as_str(),
            "formatted": document.formatted(),
            "alphanumeric": document.is_alphanumeric(),
        })
    });
}

#[test]
fn phones_are_accepted_and_refused() {
    check("phones", |input| {
        let Ok(phone) = Phone::parse(text(input, "phone")) else { return refused() };
        let kind = phone.kind().as_str();
        let national = phone.national();
        let e164 = phone.e164();
        json!({ "valid": true, "kind": kind, "national": national, "e164": e164 })
    });
}

#[test]
fn places_are_accepted_and_refused() {
    check("cep_uf", |input| match optional(input, "cep") {
        Some(cep) => json!({ "valid": Cep::parse(cep).is_ok() }),
        None => json!({ "valid": Uf::parse(text(input, "uf")).is_ok() }),
    });
}

#[test]
fn text_is_folded() {
    check("text_ascii", |input| {
        let max = usize::try_from(input.get("max").and_then(Value::as_u64).unwrap()).unwrap();
        json!({ "text_upper": fold_ascii(text(input, "text"), max).to_uppercase() })
    });
}

#[test]
fn card_numbers_are_accepted_and_refused() {
    check("cards", |input| {
        let digits = text(input, "number");
        let brand = Brand::of(digits);
        let mut answer = json!({
            "valid": false,
            "luhn": passes_luhn(digits),
            "brand": brand,
            "cvv_length": brand.map(Brand::cvv_length),
        });
        if let Ok(number) = CardNumber::parse(digits) {
            let more = json!({
                "valid": true,
                "first6": number.first6(),
                "last4": number.last4(),
                "masked": number.masked(),
            });
            answer.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
        }
        answer
    });
}

#[test]
fn cards_expire_with_their_month() {
    check("card_expiry", |input| {
        let expiry = Expiry::parse(text(input, "expiry"));
        json!({ "valid": expiry.is_ok_and(|expiry| expiry.is_valid_on(date(input, "today"))) })
    });
}

#[test]
fn pix_keys_have_their_kind() {
    check("pix_keys", |input| match PixKey::parse(text(input, "key")) {
        Ok(key) => json!({ "valid": true, "kind": key.kind().as_str() }),
        Err(_) => refused(),
    });
}

#[test]
fn pix_identifiers_are_accepted_and_refused() {
    check("pix_ids", |input| {
        let value = text(input, "value");
        let valid = match text(input, "kind") {
            "txid_static" => StaticTxid::parse(value).is_ok(),
            "txid_dynamic" => DynamicTxid::parse(value).is_ok(),
            "devolucao_id" => RefundId::parse(value).is_ok(),
            "e2eid" => EndToEndId::parse(value).is_ok(),
            "valor" => amount::from_text(value).is_some(),
            kind => panic!("unknown kind {kind}"),
        };
        json!({ "valid": valid })
    });
}

#[test]
fn checksums_are_right() {
    check("crc16", |input| json!({ "crc": crc16::checksum_text(text(input, "ascii")) }));
}

#[test]
fn br_codes_are_written_to_the_character() {
    check("brcode_build", |input| {
        let name = text(input, "merchant_name").to_owned();
        let city = text(input, "merchant_city").to_owned();
        let payload = match optional(input, "url") {
            Some(url) => DynamicBrCode::new(url.to_owned(), name, city).build(),
            None => StaticBrCode {
                amount_cents: input.get("amount_cents").and_then(Value::as_u64),
                txid: optional(input, "txid").map(|txid| StaticTxid::parse(txid).unwrap()),
                info: optional(input, "info").map(str::to_owned),
                ..StaticBrCode::new(PixKey::parse(text(input, "key")).unwrap(), name, city)
            }
            .build(),
        };
        json!({ "payload": payload.unwrap() })
    });
}

#[test]
fn br_codes_are_read_and_refused() {
    check("brcode_parse", |input| match BrCode::parse(text(input, "payload")) {
        Ok(BrCode::Static(code)) => json!({
            "valid": true,
            "type": "static",
            "key": code.key.as_str(),
            "key_kind": code.key.kind().as_str(),
            "merchant_name": code.merchant_name,
            "merchant_city": code.merchant_city,
            "amount": code.amount_cents.and_then(amount::to_text),
            "txid": code.txid,
            "info": code.info,
            "point_of_initiation": code.point_of_initiation.map(PointOfInitiation::as_str),
        }),
        Ok(BrCode::Dynamic(code)) => json!({
            "valid": true,
            "type": "dynamic",
            "url": code.url,
            "merchant_name": code.merchant_name,
            "merchant_city": code.merchant_city,
            "point_of_initiation": code.point_of_initiation.map(PointOfInitiation::as_str),
        }),
        Ok(BrCode::Recurrence(_)) => json!({ "valid": true, "type": "recurrence" }),
        Err(_) => refused(),
    });
}

#[test]
fn due_dates_have_their_factor() {
    check(
        "boleto_factor",
        |input| json!({ "factor": due_factor::factor(date(input, "due")).unwrap().to_string() }),
    );
}

#[test]
fn factors_have_their_due_date() {
    check("boleto_due", |input| {
        let factor = text(input, "factor").parse().unwrap();
        json!({ "due": due_factor::due_date(factor, date(input, "reference_date")) .map(|due| due.to_string()) })
    });
}

#[test]
fn slips_are_composed_to_the_digit() {
    check("boleto_generate", |input| {
        let bank = text(input, "bank");
        let wallet = text(input, "carteira");
        let account = match bank {
            "341" => CollectionAccount::itau(text(input, "agencia"), text(input, "conta"), wallet),
            "001" => CollectionAccount::banco_do_brasil(text(input, "convenio"), wallet),
            "237" => CollectionAccount::bradesco(text(input, "agencia"), text(input, "conta"), wallet),
            "033" => CollectionAccount::santander(text(input, "convenio"), wallet),
            _ => panic!("unknown bank {bank}"),
        };
        let field = account.unwrap().free_field(text(input, "nosso_numero").parse().unwrap()).unwrap();
        let due = optional(input, "due").map(|due| due.parse().unwrap());
        let cents = input.get("amount_cents").and_then(Value::as_u64).unwrap();
        let barcode = Barcode::compose(due, cents, &field).unwrap();
        json!({
            "free_field": field.as_str(),
            "our_number": field.our_number(),
            "our_number_dv": field.our_number_digit().map(String::from).unwrap_or_default(),
            "barcode": barcode.as_str(),
            "line": barcode.line().as_str(),
            "line_formatted": barcode.line().formatted(),
        })
    });
}

#[test]
fn slips_are_read_and_refused() {
    check("boleto_validate", |input| {
        let Ok(barcode) = quita_domain::boleto::parse(text(input, "code")) else { return refused() };
        json!({
            "valid": true,
            "barcode": barcode.as_str(),
            "line": barcode.line().as_str(),
            "bank": barcode.bank(),
            "amount_cents": barcode.amount_cents(),
            "due": barcode.due_date(date(input, "reference_date")).map(|due| due.to_string()),
        })
    });
}

#[test]
fn symbols_have_their_widths() {
    check("itf", |input| {
        let widths = modules(text(input, "digits")).unwrap();
        let letter = |width: &Width| match width {
            Width::Narrow => 'n',
            Width::Wide => 'w',
        };
        json!({ "modules": widths.iter().map(letter).collect::<String>(), "element_count": widths.len() })
    });
}
