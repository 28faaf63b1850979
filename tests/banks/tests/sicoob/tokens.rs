use quita_banks::{Counterparty as _, Reply};
use serde_json::Value;

use crate::customer::{Customer, title};

/// Asks for a token with this form, and shows it from then on.
fn token(customer: &mut Customer, form: &str, certificate: Option<&str>) -> u16 {
    let mut request = customer.request("POST", "/token", &Value::Null);
    request.headers = vec![("content-type".to_owned(), "application/x-www-form-urlencoded".to_owned())];
    request.body = form.as_bytes().to_vec();
    request.certificate = certificate.map(str::to_owned);
    let Reply::Answer { response, .. } = customer.bank.handle(&request, customer.now_ms) else { panic!() };
    let body: Value = serde_json::from_slice(&response.body).unwrap();
    if let Some(token) = body["access_token"].as_str() {
        customer.headers[0].1 = format!("Bearer {token}");
    }
    response.status
}

const FORM: &str = "grant_type=client_credentials&client_id=id";

#[test]
fn a_token_needs_no_secret_and_is_for_its_scopes() {
    let mut customer = Customer::new();
    assert_eq!(token(&mut customer, &format!("{FORM}&scope=boletos_consulta"), None), 200);
    assert_eq!(customer.post("/boletos", &title()).0, 403);
    assert_eq!(token(&mut customer, &format!("{FORM}&scope=boletos_inclusao+boletos_consulta"), None), 200);
    assert_eq!(customer.post("/boletos", &title()).0, 200);
}

#[test]
fn a_token_is_for_the_certificate_that_asked_for_it_and_ends() {
    let mut customer = Customer::new();
    token(&mut customer, FORM, Some("abc"));
    assert_eq!(customer.post("/boletos", &title()).0, 401);
    token(&mut customer, FORM, None);
    assert_eq!(customer.post("/boletos", &title()).0, 200);
    customer.now_ms += 301_000;
    assert_eq!(customer.get("/webhooks").0, 401);
}

#[test]
fn every_call_names_the_client() {
    let mut customer = Customer::new();
    customer.headers.pop();
    assert_eq!(customer.post("/boletos", &title()).0, 401);
    assert_eq!(token(&mut customer, "grant_type=client_credentials&client_id=other", None), 401);
    assert_eq!(token(&mut customer, &format!("{FORM}&client_secret=x"), None), 401);
}
