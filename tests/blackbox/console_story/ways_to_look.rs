//! In both languages, on a phone, and with the operators' eyes shut: how the pages look to whom.

use serde_json::json;

use crate::support::{Account, Browser, Edit, PATIENCE, TestApp, TestReceiver, boleto, card, pix};

/// Words that are the other language's.
const ENGLISH: [&str; 5] = ["Payments", "Deliveries", "Received", "Sign in", "Your account"];
const PORTUGUESE: [&str; 5] = ["Pagamentos", "Entregas", "Recebido", "Entrar", "Sua conta"];

/// A shop with something on every page; gives its owner, and the pages.
fn shop(app: &TestApp, receiver: &TestReceiver) -> (Account, Vec<String>) {
    let owner =
        Account::create(app, "shop", "ana.maria.de.albuquerque@uma-loja-com-nome-comprido.example", "owner");
    Account::create(app, "shop", "dora@shop.example", "developer");
    let client = app.client();
    let long = "um-pedido-com-um-nome-que-nao-quebra-em-lugar-nenhum-".repeat(2);
    let furnished = |request: serde_json::Value| {
        request
            .with("postbackUrl", json!(format!("{}/{}", receiver.url(), "a".repeat(200))))
            .with("externalReference", json!(long[..100]))
            .with("metadata", json!({"anotacao": "x".repeat(300)}))
            .with("items", json!([{"name": "Livro de capa dura", "quantity": 2, "price": 1_999_999_999}]))
    };
    let id = client.create(&furnished(pix(9_999_999_900)))["transactionId"].as_str().unwrap().to_owned();
    client.create(&furnished(boleto(10_027)));
    client.create(&furnished(card("4000000000009995", 10_000)));
    receiver.wait_for_events(&id, 2, PATIENCE);
    client.post(&format!("/pay/payments/{id}/refunds"), &json!({"amount": 1})).expect(201);
    client.post_empty(&format!("/sandbox/payments/{id}/chargeback")).expect(200);
    let link = json!({
        "amount": 9_999_999_900_i64, "currency": "BRL", "title": long[..100], "uses": 10_000,
        "description": "x".repeat(500), "externalReference": long[..100], "customer": {"firstName": "Ana"},
    });
    let link = client.post("/pay/links", &link).expect(201)["linkId"].as_str().unwrap().to_owned();
    let pages = [
        "",
        "/payments",
        "/payments?q=x&method=PIX&amount=1&from=2026-01-01&status=paid",
        &format!("/payments/{id}"),
        &format!("/payments/{id}/refund"),
        "/refunds",
        "/disputes?status=open&from=2026-01-01",
        "/links",
        "/links/new",
        &format!("/links/{link}"),
        &format!("/links/{link}/close"),
        "/deliveries?state=delivered",
        "/deliveries/redeliver",
        "/applications",
        "/applications/default",
        "/applications/default/secret/rotate",
        "/people",
        "/people/dora%40shop.example/remove",
        "/audit",
        "/account",
    ]
    .map(|page| format!("{}/console/test{page}", app.url()));
    (owner, pages.into())
}

#[test]
fn the_pages_fit_a_phone_in_both_languages() {
    let app = TestApp::new();
    let Some(browser) = Browser::open(&app) else { return };
    let receiver = TestReceiver::start();
    let (owner, pages) = shop(&app, &receiver);
    browser.become_a_phone();
    browser.go_to(&format!("{}/console/", app.url()));
    browser.check_fits("sign-in");
    browser.click("button[name=\"language\"][value=\"pt-BR\"]");
    browser.wait_for_text("h1", "Entrar");
    browser.click("button[name=\"language\"][value=\"en\"]");
    browser.wait_for_text("h1", "Sign in");
    owner.sign_in(&app, &browser);
    for (language, others) in [("en", PORTUGUESE), ("pt-BR", ENGLISH)] {
        browser.go_to(pages.last().unwrap());
        if browser.script("return document.documentElement.lang") != json!(language) {
            browser.choose("#language", language);
            browser.click("form[action$=\"/language\"] .button");
        }
        browser.wait_for(&format!("html[lang=\"{language}\"]"));
        for (place, page) in pages.iter().enumerate() {
            browser.go_to(page);
            browser.check_fits(&format!("phone-{language}-{place}"));
            let text = browser.text("body");
            assert!(others.iter().all(|word| !text.contains(word)), "{page} speaks two languages: {text}");
        }
    }
}
