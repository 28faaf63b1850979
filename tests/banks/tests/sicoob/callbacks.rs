use quita_banks::Counterparty as _;
use serde_json::{Value, json};

use crate::customer::{Customer, title};

const URL: &str = "https://pay.example/acquirers/sicoob/notifications/token";

fn webhook() -> Value {
    json!({"url": URL, "codigoTipoMovimento": 7, "codigoPeriodoMovimento": 1})
}

/// A bank with a webhook whose validation was answered with this status.
fn validated_by(status: Option<u16>) -> Customer {
    let mut customer = Customer::new();
    assert_eq!(customer.post("/webhooks", &webhook()).0, 201);
    let notices = customer.bank.notices(customer.now_ms);
    let [notice] = notices.as_slice() else { panic!("{notices:?}") };
    assert_eq!(notice.url.as_deref(), Some(URL));
    let body: Value = serde_json::from_slice(&notice.body).unwrap();
    assert_eq!(body["validacaoWebhook"], true);
    customer.bank.notified(notice, status, customer.now_ms);
    customer
}

fn state(customer: &mut Customer) -> Value {
    customer.get("/webhooks").1["resultado"][0]["codigoSituacao"].clone()
}

#[test]
fn an_address_is_good_once_it_answered_its_validation() {
    for (status, expected) in [
        (Some(200), 2),
        (Some(201), 2),
        (Some(204), 2),
        (Some(202), 3),
        (Some(302), 3),
        (Some(500), 3),
        (None, 3),
    ] {
        assert_eq!(state(&mut validated_by(status)), expected, "{status:?}");
    }
}

#[test]
fn a_validated_address_learns_of_payments() {
    let mut customer = validated_by(Some(200));
    customer.registered(&title());
    customer.control(json!({"do": "pay", "number": 7}));
    let notices = customer.bank.notices(customer.now_ms);
    let [notice] = notices.as_slice() else { panic!("{notices:?}") };
    assert_eq!(notice.url.as_deref(), Some(URL));
    let body: Value = serde_json::from_slice(&notice.body).unwrap();
    assert_eq!(body["tipoMovimento"], 7);
    let told = &body["dados"];
    assert_eq!((told["nossoNumero"].clone(), told["seuNumero"].clone()), (json!(7), json!("PEDIDO1")));
    assert_eq!(
        (told["valorPagamento"].clone(), told["cancelamentoBaixa"].clone()),
        (json!(100.0), json!(false))
    );
}

#[test]
fn another_address_must_be_validated_again_and_an_inactive_one_can_be_revived() {
    let mut customer = validated_by(Some(500));
    let id = customer.get("/webhooks").1["resultado"][0]["idWebhook"].clone();
    assert_eq!(customer.call("PATCH", &format!("/webhooks/{id}/reativar"), &json!({})).0, 204);
    assert_eq!((state(&mut customer), customer.told().len()), (json!(1), 1));
    let other = json!({"url": "https://other.example/x"});
    assert_eq!(customer.call("PATCH", &format!("/webhooks/{id}"), &other).0, 204);
    assert_eq!(customer.get("/webhooks").1["resultado"][0]["url"], other["url"]);
    assert_eq!(customer.call("DELETE", &format!("/webhooks/{id}"), &Value::Null).0, 204);
    assert_eq!(customer.get("/webhooks").0, 204);
}

#[test]
fn an_address_is_https_on_port_443_and_there_is_one() {
    let mut customer = Customer::new();
    for url in ["http://pay.example/x", "https://pay.example:8443/x", "https://", "pay.example"] {
        let mut body = webhook();
        body["url"] = json!(url);
        assert_eq!(customer.post("/webhooks", &body).0, 406, "{url}");
    }
    assert_eq!(customer.post("/webhooks", &webhook()).0, 201);
    assert_eq!(customer.post("/webhooks", &webhook()).0, 400);
}

#[test]
fn callbacks_are_lost_come_twice_or_are_forged() {
    for (lost, repeated, forged, expected) in [(1000, 0, 0, 0), (0, 1000, 0, 2), (0, 0, 1000, 2)] {
        let mut customer = Customer::with(|config| {
            config.callbacks.lost_permille = lost;
            config.callbacks.repeated_permille = repeated;
            config.callbacks.forged_permille = forged;
        });
        customer.registered(&title());
        customer.control(json!({"do": "pay", "number": 7}));
        assert_eq!(customer.told().len(), expected);
    }
}

#[test]
fn what_was_sent_is_told_by_day() {
    let mut customer = validated_by(Some(200));
    let id = customer.get("/webhooks").1["resultado"][0]["idWebhook"].clone();
    let sent = customer.get(&format!("/webhooks/{id}/solicitacoes?dataSolicitacao=2026-11-23")).1;
    assert_eq!(sent["resultado"][0]["webhookSolicitacoes"][0]["codigoSituacaoSolicitacao"], 3);
}
