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
