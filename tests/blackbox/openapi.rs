//! The API's own documentation.

use serde_json::{Value, json};

use crate::support::{TestApp, card};

/// Every operation that the documentation names: method and path.
fn operations(document: &Value) -> Vec<(String, String)> {
    let paths = document["paths"].as_object().unwrap();
    let of_path = |(path, item): (&String, &Value)| {
        let methods =
            item.as_object().unwrap().keys().filter(|name| ["get", "post"].contains(&name.as_str()));
        methods.map(|method| (method.to_uppercase(), path.clone())).collect::<Vec<_>>()
    };
    paths.iter().flat_map(of_path).collect()
}

#[test]
fn every_documented_operation_is_served() {
    let app = TestApp::new();
    let document = app.client().get("/openapi.json").expect(200);
    let operations = operations(&document);
    assert!(operations.len() >= 15, "{operations:?}");
    for (method, path) in operations {
        let address = path.replace(['{', '}'], "");
        let answer = app.client().send(&method, &address, &[], b"");
        // A token that leads nowhere is answered like an address that is none.
        let takes_token = path.starts_with("/pix/") || path.starts_with("/boletos/");
        let is_nothing = answer.status == 404 && answer.text().contains("there is nothing at this address");
        assert!(answer.status != 405 && (takes_token || !is_nothing), "{method} {path}: {}", answer.status);
    }
}

/// The members that every object of a documented kind has.
fn required(document: &Value, schema: &str) -> Vec<String> {
    let names = document["components"]["schemas"][schema]["required"].as_array().unwrap();
    let mut names: Vec<_> = names.iter().map(|name| name.as_str().unwrap().to_owned()).collect();
    names.sort();
    names
}

fn names(object: &Value) -> Vec<String> {
    object.as_object().unwrap().keys().cloned().collect()
}

#[test]
fn what_is_answered_has_the_documented_members() {
    let app = TestApp::new();
    let client = app.client();
    let document = client.get("/openapi.json").expect(200);
    let id = client.create(&card("4242424242424242", 10_000))["transactionId"].as_str().unwrap().to_owned();
    let refund = client.post(&format!("/pay/payments/{id}/refunds"), &json!({"amount": 1})).expect(201);
    client.post_empty(&format!("/sandbox/payments/{id}/chargeback")).expect(200);
    let [refunds, disputes] =
        ["refunds", "disputes"].map(|list| client.get(&format!("/pay/{list}")).expect(200));
    let record = client.payment(&id);
    let events = client.events(&id);
    for (object, schema) in [
        (&record, "PaymentRecord"),
        (&record["creditCard"], "CardRecord"),
        (&record["refunds"][0], "Refund"),
        (&refund, "Refund"),
        (&refunds, "RefundPage"),
        (&refunds["data"][0], "ListedRefund"),
        (&disputes, "DisputePage"),
        (&disputes["data"][0], "Dispute"),
        (&record["routing"], "Routing"),
        (&events[0], "Event"),
    ] {
        assert_eq!(names(object), required(&document, schema), "{schema}");
    }
}

#[test]
fn the_page_is_there_with_its_script_and_style() {
    let app = TestApp::new();
    for (path, kind) in [("/docs", "text/html"), ("/docs.js", "text/javascript"), ("/docs.css", "text/css")] {
        let answer = app.client().get(path);
        assert_eq!(answer.status, 200, "{path}");
        assert!(answer.header("content-type").unwrap().starts_with(kind), "{path}");
    }
}
