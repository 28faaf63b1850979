//! The rules of the creation request: each is reported with its field, and all of them at once.

use serde_json::{Value, json};

use crate::support::{Client, Edit, TestApp, boleto, card, pix};

/// Sends a request that breaks one rule and expects exactly that to be reported.
#[track_caller]
fn check_broken(client: &Client, request: &Value, field: &str) {
    let answer = client.post("/pay/payments", request);
    answer.expect_error(422, "validation_failed");
    let fields: Vec<_> = answer.violations().into_iter().map(|(field, _)| field).collect();
    assert_eq!(fields, [field], "{answer}");
}

#[test]
fn all_violations_are_reported_at_once() {
    let app = TestApp::new();
    let request = pix(0)
        .with("currency", json!("USD"))
        .with("paymentDetails.document", json!("52998224724"))
        .with("paymentDetails.email", json!("nobody"))
        .with("paymentDetails.phoneNumber", json!("123"))
        .with("paymentDetails.address.state", json!("XX"))
        .with("items", json!([{"name": "a", "quantity": 0, "price": -1}]))
        .with("expiresIn", json!(59));
    let answer = app.client().post("/pay/payments", &request);
    answer.expect_error(422, "validation_failed");
    let mut fields: Vec<_> = answer.violations().into_iter().map(|(field, _)| field).collect();
    fields.sort();
    let expected = [
        "amount",
        "currency",
        "expiresIn",
        "items[0].price",
        "items[0].quantity",
        "paymentDetails.address.state",
        "paymentDetails.document",
        "paymentDetails.email",
        "paymentDetails.phoneNumber",
    ];
    assert_eq!(fields, expected, "{answer}");
    let document = ("paymentDetails.document".to_owned(), "check_digit".to_owned());
    assert!(answer.violations().contains(&document), "{answer}");
}

#[test]
fn shape_comes_before_rules() {
    let app = TestApp::new();
    let request = pix(0).with("paymentDetails.firstName", json!(7)).without("currency");
    let answer = app.client().post("/pay/payments", &request);
    assert_eq!(answer.status, 400, "{answer}");
    let mut fields: Vec<_> = answer.violations().into_iter().map(|(field, _)| field).collect();
    fields.sort();
    assert_eq!(fields, ["currency", "paymentDetails.firstName"], "the amount is a rule: {answer}");
}

#[test]
fn each_rule_of_every_request_is_kept() {
    let app = TestApp::new();
    let client = app.client();
    let long = "x".repeat(61);
    for (field, value) in [
        ("paymentMethod", json!("cash")),
        ("amount", json!(0)),
        ("amount", json!(-1)),
        ("amount", json!(10_000_000_000_u64)),
        ("currency", json!("brl")),
        ("paymentDetails.firstName", json!("")),
        ("paymentDetails.firstName", json!("   ")),
        ("paymentDetails.lastName", json!(long)),
        ("paymentDetails.document", json!("529.982.247-25")),
        ("paymentDetails.document", json!("11111111111")),
        ("paymentDetails.documentType", json!("RG")),
        ("paymentDetails.documentType", json!("CNPJ")),
        ("paymentDetails.email", json!("maria@")),
        ("paymentDetails.phoneNumber", json!("+5511987654321")),
        ("paymentDetails.address.zipCode", json!("01304-000")),
        ("paymentDetails.address.country", json!("AR")),
        ("shipping", json!({"fee": -1})),
        ("items", json!([{"name": "a", "quantity": 1, "price": 1, "id": "7"}])),
        ("postbackUrl", json!("not a url")),
        ("postbackUrl", json!("ftp://example.com/")),
        ("UTMTerm", json!("x".repeat(256))),
        ("externalReference", json!("x".repeat(101))),
        ("expiresIn", json!(2_592_001)),
    ] {
        let answer = client.post("/pay/payments", &pix(10_000).with(field, value.clone()));
        assert_eq!(answer.status, 422, "{field} {value}: {answer}");
        let told = answer.violations();
        let is_told = told.iter().all(|(told, _)| told.starts_with(field)) && told.len() == 1;
        assert!(is_told, "{field} {value}: {answer}");
    }
}

#[test]
fn each_rule_of_a_card_is_kept() {
    let app = TestApp::new();
    let client = app.client();
    let good = card("4242424242424242", 10_000);
    for (field, value) in [
        ("creditCard.number", json!("4242424242424241")),
        ("creditCard.number", json!("4242 4242 4242 4242")),
        ("creditCard.holderName", json!("")),
        ("creditCard.expirationMonth", json!(13)),
        ("creditCard.expirationYear", json!(2020)),
        ("creditCard.cvv", json!("12")),
        ("creditCard.cvv", json!("12a")),
        ("installments", json!(0)),
        ("installments", json!(13)),
    ] {
        check_broken(&client, &good.clone().with(field, value), field);
    }
    let answer = client.post("/pay/payments", &good.clone().without("installments"));
    assert!([400, 422].contains(&answer.status), "{answer}");
    assert_eq!(answer.violations()[0].0, "installments");
    let answer = client.post("/pay/payments", &good.without("creditCard"));
    assert!([400, 422].contains(&answer.status), "{answer}");
    assert_eq!(answer.violations()[0].0, "creditCard");
}

#[test]
fn fields_of_another_method_are_refused() {
    let app = TestApp::new();
    let client = app.client();
    let card_fields = card("4242424242424242", 10_000)["creditCard"].clone();
    check_broken(&client, &pix(10_000).with("creditCard", card_fields), "creditCard");
    check_broken(&client, &pix(10_000).with("dueDate", json!("2049-01-01")), "dueDate");
    check_broken(&client, &pix(10_000).with("capture", json!(false)), "capture");
    check_broken(&client, &boleto(10_000).with("expiresIn", json!(3600)), "expiresIn");
    for date in ["2020-01-01", "2049-01-01", "tomorrow", "2026-02-30"] {
        check_broken(&client, &boleto(10_000).with("dueDate", json!(date)), "dueDate");
    }
}

#[test]
fn shares_may_not_exceed_the_amount_nor_be_mixed() {
    let app = TestApp::new();
    let client = app.client();
    let share = |amount: u64| json!({"recipientId": "a", "amount": amount});
    let part = |percentage: f64| json!({"recipientId": "a", "percentage": percentage});
    client.create(&pix(10_027).with("splits", json!([share(10_000), share(27)])));
    client.create(&pix(10_027).with("splits", json!([part(99.99), part(0.01)])));
    for splits in [
        json!([share(10_000), share(28)]),
        json!([part(99.99), part(0.02)]),
        json!([share(1), part(1.0)]),
        json!([part(33.333)]),
        json!(vec![share(1); 21]),
    ] {
        let answer = client.post("/pay/payments", &pix(10_027).with("splits", splits.clone()));
        assert_eq!(answer.status, 422, "{splits}: {answer}");
        assert!(answer.violations()[0].0.starts_with("splits"), "{answer}");
    }
}

#[test]
fn lists_and_metadata_have_limits() {
    let app = TestApp::new();
    let client = app.client();
    let item = json!({"name": "a", "quantity": 1, "price": 1});
    client.create(&pix(10_027).with("items", json!(vec![item.clone(); 100])));
    check_broken(&client, &pix(10_027).with("items", json!(vec![item; 101])), "items");
    let entries = |count: usize| {
        (0..count).map(|n| (format!("name{n}"), json!("v"))).collect::<serde_json::Map<_, _>>()
    };
    client.create(&pix(10_027).with("metadata", Value::Object(entries(20))));
    check_broken(&client, &pix(10_027).with("metadata", Value::Object(entries(21))), "metadata");
    let long = json!({"note": "x".repeat(501)});
    check_broken(&client, &pix(10_027).with("metadata", long), "metadata.note");
    let answer = client.post("/pay/payments", &pix(10_027).with("metadata", json!({"note": 7})));
    assert_eq!((answer.status, answer.violations()[0].0.as_str()), (400, "metadata.note"), "{answer}");
}

#[test]
fn nothing_is_created_from_a_request_that_is_refused() {
    let app = TestApp::new();
    let client = app.client();
    client.post_once("/pay/payments", "k", &pix(0)).expect_error(422, "validation_failed");
    let page = client.get("/pay/payments").expect(200);
    assert_eq!(page["data"], json!([]));
    assert_eq!(client.post_once("/pay/payments", "k", &pix(10_027)).status, 201, "its key is free");
}
