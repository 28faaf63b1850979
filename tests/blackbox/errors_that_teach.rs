//! Help for a developer who got something wrong: the sentence itself, ignored names, the page of the code, the
//! language.

use serde_json::{Value, json};

use crate::support::{Answer, Edit, TestApp, card, pix};

fn message(answer: &Answer) -> String {
    answer.expect_error_shape()["message"].as_str().unwrap().to_owned()
}

#[test]
fn the_message_tells_the_first_violation_and_how_many_there_are() {
    let app = TestApp::new();
    let client = app.client();
    let request = pix(10_000).with("amount", json!("100.00"));
    let cents = "amount: must be an integer number of cents (10000 = R$ 100,00)";
    assert_eq!(message(&client.post("/pay/payments", &request)), cents);
    let request = request.without("currency").without("paymentDetails.email");
    assert_eq!(message(&client.post("/pay/payments", &request)), format!("{cents}; and 2 more"));
    let rules = pix(0).with("paymentDetails.address.zipCode", json!("01304-000"));
    let answer = client.post("/pay/payments", &rules);
    assert_eq!(
        message(&answer),
        "amount: must be from 1 to 9999999999 cents (10000 = R$ 100,00); and 1 more"
    );
    assert!(answer.text().contains("01310100, not 01310-100"), "{answer}");
    let empty = client.send("POST", "/pay/payments", &[("Content-Type", "application/json")], b"");
    assert_eq!(message(&empty), "the body is empty; send a JSON object");
}

#[test]
fn a_second_refund_of_everything_is_told_that_it_was_refunded_in_full() {
    let app = TestApp::new();
    let client = app.client();
    let record = client.create(&card("4242424242424242", 10_000));
    let refunds = format!("/pay/payments/{}/refunds", record["transactionId"].as_str().unwrap());
    client.post_empty(&refunds).expect(201);
    let again = client.post_empty(&refunds);
    again.expect_error(409, "status_conflict");
    assert!(message(&again).starts_with("already refunded in full: "), "{again}");
}

#[test]
fn names_that_were_ignored_are_told_with_a_test_key_only() {
    let app = TestApp::new();
    let client = app.client();
    let misspelled = pix(10_027)
        .with("postback_url", json!("https://shop.example.com/secret-of-the-value"))
        .with("paymentDetails.cep", json!("x"));
    let created = client.post("/pay/payments", &misspelled);
    assert_eq!(created.status, 201, "what nobody knows stays ignored: {created}");
    let told = created.header("quita-ignored").unwrap();
    assert_eq!(
        told, "postback_url; did you mean postbackUrl?, paymentDetails.cep",
        "what has a name of ours first"
    );
    let refused = client.post("/pay/payments", &pix(10_027).with("amout", json!(1)).without("amount"));
    assert_eq!(refused.header("quita-ignored"), Some("amout; did you mean amount?"), "{refused}");
    assert_eq!(message(&refused), "amount: is required; the request has amout, which is unknown");
    let id = created.json()["transactionId"].as_str().unwrap().to_owned();
    let refund = client.post(&format!("/pay/payments/{id}/refunds"), &json!({"value": 1}));
    assert_eq!(refund.header("quita-ignored"), Some("value; did you mean amount?"), "{refund}");
    let evaluated = client.post("/pay/routing/evaluate", &misspelled);
    assert_eq!(evaluated.header("quita-ignored"), Some(told), "{evaluated}");
    let cancelled = client.post(&format!("/pay/payments/{id}/cancel"), &json!({"reason": "x"}));
    assert_eq!(cancelled.header("quita-ignored"), Some("reason"), "{cancelled}");
    let keyed = client.post_with("/pay/payments", &[("X-Idempotency-Key", "q")], &pix(10_027));
    assert_eq!(
        keyed.header("quita-ignored"),
        Some("x-idempotency-key; did you mean Idempotency-Key?"),
        "{keyed}"
    );
    let in_body = pix(10_027).with("idempotencyKey", json!("q"));
    let told = |answer: &Answer| answer.header("quita-ignored").map(str::to_owned);
    assert_eq!(
        told(&client.post("/pay/payments", &in_body)).as_deref(),
        Some("idempotencyKey; send it as the header Idempotency-Key")
    );
    assert_eq!(told(&client.post_once("/pay/payments", "q", &in_body)).as_deref(), Some("idempotencyKey"));
    let nothing = client.post("/pay/payments", &pix(10_027).with("metadata", json!({"anything": "x"})));
    assert_eq!((nothing.status, nothing.header("quita-ignored")), (201, None), "{nothing}");
    let live = app.create_key(&["--merchant", "shop", "--mode", "live"]);
    let answer = app.client_with(&live).post("/pay/payments", &misspelled);
    assert_eq!(answer.header("quita-ignored"), None, "{answer}");
}

#[test]
fn an_unknown_parameter_is_told_with_the_one_that_was_meant() {
    let app = TestApp::new();
    let answer = app.client().get("/pay/payments?created_from=2026-11-21T00:00:00Z");
    answer.expect_error(400, "unknown_parameter");
    assert!(message(&answer).contains("did you mean createdFrom?"), "{answer}");
}

#[test]
fn names_of_values_are_read_in_any_letter_case() {
    let app = TestApp::new();
    let client = app.client();
    let request = pix(10_027)
        .with("paymentMethod", json!("Pix"))
        .with("paymentDetails.documentType", json!("cpf"))
        .with("paymentDetails.address.state", json!("sp"))
        .with("paymentDetails.address.country", json!("br"));
    client.create(&request);
    let page = client.get("/pay/payments?status=PENDING&paymentMethod=Pix").expect(200);
    assert_eq!(page["data"].as_array().unwrap().len(), 1, "{page:#}");
    client.get("/pay/webhooks/deliveries?state=Pending").expect(200);
}

#[test]
fn an_address_that_is_nearly_one_is_told_which() {
    let app = TestApp::new();
    let client = app.client();
    for (path, meant) in [
        ("/pay/payments/", "/pay/payments, without the slash at the end?"),
        ("/v1/payments", "/pay/payments?"),
        ("/payments/0193b2c4-0000-7000-8000-000000000000/refund", "/pay/payments/{transactionId}/refunds?"),
        ("/doc", "/docs?"),
        ("/docs/errors/status_conflct", "/docs/errors/status_conflict?"),
    ] {
        let answer = client.get(path);
        answer.expect_error(404, "not_found");
        assert!(message(&answer).contains(&format!("did you mean {meant}")), "{answer}");
    }
    let nothing = client.get("/wp-login.php");
    assert!(!message(&nothing).contains("did you mean"), "{nothing}");
    assert!(message(&nothing).contains("/docs"), "{nothing}");
}

#[test]
fn every_code_has_a_page_to_which_its_errors_lead() {
    let app = TestApp::new();
    let client = app.client();
    let index = client.get("/docs/errors").text();
    let document: Value = client.get("/openapi.json").expect(200);
    let codes = document["components"]["schemas"]["Error"]["properties"]["code"]["enum"].as_array().unwrap();
    assert!(codes.len() > 30, "{codes:?}");
    for code in codes {
        let code = code.as_str().unwrap();
        assert!(index.contains(&format!("/docs/errors/{code}\"")), "{code}");
        let page = client.get(&format!("/docs/errors/{code}"));
        assert_eq!(page.status, 200, "{page}");
        assert!(page.text().contains("What to do"), "{page}");
    }
    let refused = client.post("/pay/payments", &json!({}));
    let page = client.get(refused.json()["docUrl"].as_str().unwrap());
    assert_eq!(page.status, 200, "{page}");
    assert!(page.text().contains("id=\"check_digit\""), "codes of violations are told: {page}");
    let head = client.send("HEAD", "/docs/errors/not_found", &[], b"");
    assert_eq!((head.status, head.body.len()), (200, 0), "{head}");
}

#[test]
fn errors_speak_the_language_that_is_asked_for() {
    let app = TestApp::new();
    let client = app.client();
    let ask =
        |language: &str| client.send("GET", "/pay/payments?limit=0", &[("Accept-Language", language)], b"");
    let english = "limit: must be from 1 to 100";
    let portuguese = "limit: deve estar entre 1 e 100";
    for (language, tag, expected) in [
        ("pt-BR", "pt-BR", portuguese),
        ("pt", "pt-BR", portuguese),
        ("en;q=0.4, pt-BR;q=0.9", "pt-BR", portuguese),
        ("en, pt;q=0.9", "en", english),
        ("pt;q=0, en;q=0.1", "en", english),
        ("de-DE, fr;q=0.5", "en", english),
        ("*", "en", english),
        ("nonsense;;q=x", "en", english),
    ] {
        let answer = ask(language);
        assert_eq!(message(&answer), expected, "{language}");
        assert_eq!(answer.header("content-language"), Some(tag), "{language}");
        assert!(answer.header("vary").is_some_and(|vary| vary.contains("Accept-Language")), "{answer}");
    }
    let silent = client.get("/pay/payments?limit=0");
    assert_eq!((message(&silent).as_str(), silent.header("content-language")), (english, Some("en")));
    let portuguese = [("Accept-Language", "pt-BR")];
    let stranger = app.client_without_key().send("GET", "/pay/payments", &portuguese, b"");
    assert!(message(&stranger).starts_with("chave de API ausente ou inválida: "), "{stranger}");
    let nobody = "/pay/payments/0193b2c4-0000-7000-8000-000000000000";
    assert_eq!(message(&client.send("GET", nobody, &portuguese, b"")), "transação não encontrada");
    let page = client.send("GET", "/docs/errors/not_found", &portuguese, b"");
    assert!(page.text().contains("O que fazer"), "{page}");
    assert_eq!(page.header("content-language"), Some("pt-BR"), "{page}");
}
