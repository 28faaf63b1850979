use std::io::{Cursor, Read as _};

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use serde_json::{Value, json};

use crate::customer::{Customer, DAY_MS, title, title_with};

fn order(from: &str, until: &str) -> Value {
    json!({"numeroCliente": 25_546_454, "tipoMovimento": 5, "dataInicial": from, "dataFinal": until})
}

fn ordered(customer: &mut Customer, from: &str, until: &str) -> Value {
    let (status, body) = customer.post("/boletos/movimentacoes", &order(from, until));
    assert_eq!(status, 201, "{body}");
    body["resultado"]["codigoSolicitacao"].clone()
}

fn list(customer: &mut Customer, id: &Value) -> (u16, Value) {
    customer.get(&format!("/boletos/movimentacoes?numeroCliente=25546454&codigoSolicitacao={id}"))
}

fn file(customer: &mut Customer, id: &Value, file: u64) -> Vec<Value> {
    let target = format!(
        "/boletos/movimentacoes/download?numeroCliente=25546454&codigoSolicitacao={id}&idArquivo={file}"
    );
    let (status, body) = customer.get(&target);
    assert_eq!(status, 200, "{body}");
    let zipped = STANDARD.decode(body["resultado"]["arquivo"].as_str().unwrap()).unwrap();
    let mut archive = zip::ZipArchive::new(Cursor::new(zipped)).unwrap();
    let mut text = String::new();
    archive.by_index(0).unwrap().read_to_string(&mut text).unwrap();
    serde_json::from_str(&text).unwrap()
}

#[test]
fn a_days_settlements_have_gross_fee_net_and_the_day_of_credit() {
    let mut customer = Customer::new();
    customer.registered(&title());
    customer.registered(&title_with(json!({"nossoNumero": 8})));
    customer.control(json!({"do": "pay", "number": 7, "cents": 10_250}));
    let id = ordered(&mut customer, "2026-11-23", "2026-11-24");
    let (status, told) = list(&mut customer, &id);
    assert_eq!((status, told["resultado"]["idArquivos"].clone()), (200, json!([1])));
    let records = file(&mut customer, &id, 1);
    let [record] = records.as_slice() else { panic!("{records:?}") };
    for (name, expected) in [
        ("siglaMovimento", json!("LIQUI")),
        ("numeroTitulo", json!(7)),
        ("seuNumero", json!("PEDIDO1")),
        ("valorTitulo", json!(100.0)),
        ("valorMora", json!(2.5)),
        ("valorTarifaMovimento", json!(0.75)),
        ("valorLiquido", json!(101.75)),
        ("dataPrevisaoCredito", json!("2026-11-24T00:00:00-03:00")),
    ] {
        assert_eq!(record[name], expected, "{name}");
    }
}

#[test]
fn a_list_is_not_ready_at_once() {
    let mut customer = Customer::with(|config| config.movements_after_ms = 5_000);
    let id = ordered(&mut customer, "2026-11-23", "2026-11-23");
    assert_eq!(list(&mut customer, &id).0, 204);
    customer.now_ms += 5_000;
    assert_eq!(list(&mut customer, &id).0, 200);
}

#[test]
fn a_long_list_has_several_files() {
    let mut customer = Customer::with(|config| config.records_in_file = 2);
    for number in 1..=3 {
        customer.registered(&title_with(json!({"nossoNumero": number})));
        customer.control(json!({"do": "pay", "number": number}));
    }
    let id = ordered(&mut customer, "2026-11-23", "2026-11-23");
    assert_eq!(list(&mut customer, &id).1["resultado"]["idArquivos"], json!([1, 2]));
    assert_eq!((file(&mut customer, &id, 1).len(), file(&mut customer, &id, 2).len()), (2, 1));
}

#[test]
fn a_period_has_two_days_at_most_and_other_days_are_not_in_it() {
    let mut customer = Customer::new();
    assert_eq!(customer.post("/boletos/movimentacoes", &order("2026-11-22", "2026-11-24")).0, 400);
    customer.registered(&title());
    customer.now_ms += DAY_MS;
    customer.control(json!({"do": "pay", "number": 7}));
    let id = ordered(&mut customer, "2026-11-23", "2026-11-23");
    assert_eq!(list(&mut customer, &id).1["resultado"]["quantidadeTotalRegistros"], "0");
}
