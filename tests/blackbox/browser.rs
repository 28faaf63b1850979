//! A payer in a real browser.

use serde_json::json;

use crate::support::{Browser, Edit, TestApp, pix};

/// The page on which a payment is paid.
fn page_of(record: &serde_json::Value) -> String {
    record["pix"]["qrCode"].as_str().unwrap().trim_end_matches(".png").to_owned()
}

#[test]
fn the_pix_page_says_by_itself_that_it_is_paid() {
    let app = TestApp::new();
    let Some(browser) = Browser::open(&app) else { return };
    let client = app.client();
    let record = client.create(&pix(10_027));
    browser.go_to(&page_of(&record));
    assert!(browser.text("h1").contains("shop"));
    assert!(browser.text(".amount").contains("100,27"));
    browser.wait_for_text("#state-label", "Aguardando pagamento");
    let countdown = browser.text("#countdown");
    assert!(countdown.chars().any(|c| c.is_ascii_digit()), "{countdown}");
    assert_eq!(Some(browser.value("#code").as_str()), record["pix"]["code"].as_str());
    let id = record["transactionId"].as_str().unwrap();
    client.post_empty(&format!("/sandbox/payments/{id}/pay")).expect(200);
    browser.wait_for_text("#state-label", "Pago");
    assert!(!browser.is_displayed(".qr"), "nothing to pay is left");
}

#[test]
fn the_pix_page_says_by_itself_that_it_has_expired() {
    let app = TestApp::new();
    let Some(browser) = Browser::open(&app) else { return };
    let client = app.client();
    let record = client.create(&pix(10_027).with("expiresIn", json!(60)));
    browser.go_to(&page_of(&record));
    let id = record["transactionId"].as_str().unwrap();
    client.post_empty(&format!("/sandbox/payments/{id}/expire")).expect(200);
    browser.wait_for_text("#state-label", "Expirado");
}

#[test]
fn a_payer_pays_by_a_link_and_the_page_turns_by_itself() {
    let app = TestApp::new();
    let Some(browser) = Browser::open(&app) else { return };
    let client = app.client();
    let request = json!({"amount": 10_027, "currency": "BRL", "title": "Aula de violão"});
    let link = client.post("/pay/links", &request).expect(201);
    browser.become_a_phone();
    browser.go_to(link["url"].as_str().unwrap());
    browser.wait_for_text(".badge", "Choose how to pay");
    browser.check_fits("the form of a link");
    let unlabelled = browser.script(
        "return [...document.querySelectorAll('input:not([type=hidden])')]
            .filter((input) => input.labels.length === 0).map((input) => input.name)",
    );
    assert_eq!(unlabelled, json!([]));
    assert!(!browser.is_displayed("#address"), "a PIX needs no address");
    browser.enter("#name", "Maria");
    browser.click("form button.primary");
    browser.wait_for("#mistakes");
    let focused = browser.script("return document.activeElement.id");
    assert_eq!(focused, json!("mistakes"), "the summary takes the focus");
    assert_eq!(browser.value("#name"), "Maria");
    browser.enter("#name", "Maria da Silva");
    for (field, text) in
        [("#document", "529.982.247-25"), ("#email", "maria@example.com"), ("#tel", "11 98765-4321")]
    {
        browser.enter(field, text);
    }
    browser.click("form button.primary");
    browser.wait_for_text(".badge", "Waiting for payment");
    browser.check_fits("a PIX of a link");
    let id = browser.script("return document.querySelector('main').dataset.transactionId");
    let id = id.as_str().unwrap();
    assert_eq!(Some(browser.value("#code").as_str()), client.payment(id)["pix"]["code"].as_str());
    client.post_empty(&format!("/sandbox/payments/{id}/pay")).expect(200);
    browser.wait_for_text(".badge", "Paid");
}
