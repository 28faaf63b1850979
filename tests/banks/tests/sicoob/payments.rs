use quita_banks::sicoob::Status;
use serde_json::{Value, json};

use crate::customer::{Customer, DAY_MS, title, title_with};

fn settlements(title: &Value) -> Vec<&str> {
    let lines = title["listaHistorico"].as_array().unwrap().iter();
    lines
        .filter(|line| line["tipoHistorico"] == 6)
        .map(|line| line["descricaoHistorico"].as_str().unwrap())
        .collect()
}

#[test]
fn a_paid_title_says_its_amount_in_words_and_its_fee_beside_it() {
    let mut customer = Customer::new();
    customer.registered(&title_with(json!({"valor": 1234.56})));
    customer.control(json!({"do": "pay", "number": 7}));
    let title = customer.read(7);
    assert_eq!(title["situacaoBoleto"], "Liquidado");
    assert_eq!(settlements(&title), ["LIQUIDAÇÃO - COMPENSAÇÃO - R$ 1.234,56"]);
    let fee = title["listaHistorico"].as_array().unwrap().last().unwrap();
    assert_eq!(
        (fee["tipoHistorico"].clone(), fee["descricaoHistorico"].clone()),
        (json!(1), json!("TARIFA - LIQUIDAÇÃO - R$ 0,75"))
    );
}

#[test]
fn a_payment_settles_later_and_is_told_at_once() {
    let mut customer = Customer::with(|config| config.settles_after_ms = DAY_MS);
    customer.registered(&title());
    customer.control(json!({"do": "pay", "number": 7}));
    assert_eq!(customer.told().len(), 1);
    assert_eq!(customer.read(7)["situacaoBoleto"], "Em Aberto");
    customer.now_ms += DAY_MS;
    assert_eq!(customer.read(7)["situacaoBoleto"], "Liquidado");
}

#[test]
fn what_is_owed_follows_from_the_terms() {
    let terms = json!({
        "tipoMulta": 2, "dataMulta": "2026-11-29", "valorMulta": 2.0,
        "tipoJurosMora": 2, "dataJurosMora": "2026-11-29", "valorJurosMora": 1.0,
        "tipoDesconto": 1, "dataPrimeiroDesconto": "2026-11-25", "valorPrimeiroDesconto": 5.0,
    });
    // The due date is a Saturday: it can be paid as it is on Monday.
    for (on, cents) in
        [("2026-11-25", 9_500), ("2026-11-26", 10_000), ("2026-11-30", 10_000), ("2026-12-08", 10_233)]
    {
        let mut customer = Customer::new();
        customer.registered(&title_with(terms.clone()));
        customer.control(json!({"do": "pay", "number": 7, "on": on}));
        assert_eq!(customer.bank.account(7, customer.now_ms).unwrap().paid_cents, [cents], "{on}");
    }
}

#[test]
fn a_title_is_paid_once_within_its_time_unless_a_payment_was_under_way() {
    let mut customer = Customer::new();
    customer.registered(&title());
    assert!(customer.control(json!({"do": "pay", "number": 7, "on": "2026-12-31"})).get("error").is_some());
    customer.control(json!({"do": "pay", "number": 7, "by": "pix"}));
    assert!(customer.control(json!({"do": "pay", "number": 7})).get("error").is_some());
    customer.control(json!({"do": "pay_anyway", "number": 7}));
    assert_eq!(settlements(&customer.read(7)).len(), 2);
}

#[test]
fn a_payment_may_be_taken_back_before_it_settles() {
    let mut customer = Customer::with(|config| config.settles_after_ms = DAY_MS);
    customer.registered(&title());
    customer.control(json!({"do": "pay", "number": 7}));
    customer.control(json!({"do": "cancel_payment", "number": 7, "motive": 11}));
    let told = customer.told();
    let cancelled = &told[1]["dados"];
    assert_eq!(
        (cancelled["cancelamentoBaixa"].clone(), cancelled["codigoMotivoCancelamento"].clone()),
        (json!(true), json!(11))
    );
    customer.now_ms += DAY_MS;
    assert_eq!(customer.read(7)["situacaoBoleto"], "Em Aberto");
}

#[test]
fn a_withdrawn_title_is_settled_by_a_payment_that_was_under_way() {
    let mut customer = Customer::new();
    customer.registered(&title());
    customer.control(json!({"do": "write_off", "number": 7}));
    assert!(customer.control(json!({"do": "pay", "number": 7})).get("error").is_some());
    customer.control(json!({"do": "pay_anyway", "number": 7}));
    assert_eq!(customer.bank.account(7, customer.now_ms).unwrap().status, Status::Settled);
}

#[test]
fn a_title_is_meant_by_its_number_or_by_the_customers_name_for_it() {
    let mut customer = Customer::new();
    customer.registered(&title());
    assert!(customer.control(json!({"do": "pay", "txid": "PEDIDO1"})).get("error").is_none());
    assert!(customer.control(json!({"do": "pay", "txid": "PEDIDO2"})).get("error").is_some());
    let books = customer.control(json!({"do": "books"}));
    let expected = json!({
        "yourNumber": "PEDIDO1", "amountCents": 10_000, "status": "Liquidado", "paidCents": [10_000],
    });
    assert_eq!(books["7"], expected);
}

#[test]
fn kinds_of_lines_are_text_where_they_are_meant_to_be_and_amounts_may_be_missing() {
    let mut customer = Customer::with(|config| {
        config.history_as_number = false;
        config.history_without_amount = true;
    });
    customer.registered(&title());
    customer.control(json!({"do": "pay", "number": 7}));
    let title = customer.read(7);
    let line = &title["listaHistorico"][1];
    assert_eq!(
        (line["tipoHistorico"].clone(), line["descricaoHistorico"].clone()),
        (json!("6"), json!("LIQUIDAÇÃO - COMPENSAÇÃO"))
    );
}
