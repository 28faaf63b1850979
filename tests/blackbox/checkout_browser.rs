//! A payer with a card, in a real browser.

use serde_json::{Value, json};

use crate::checkout::{link, make};
use crate::support::{Browser, Edit, PATIENCE, TestApp, eventually};

/// Opens the page of a new link on a narrow phone, with the card chosen.
fn at_card(browser: &Browser, app: &TestApp, request: &Value) -> Value {
    let made = make(app, request);
    browser.become_narrow();
    browser.go_to(made["url"].as_str().unwrap());
    browser.wait_for("#cc-number");
    browser.click("#method-credit_card");
    made
}

fn fill_in(browser: &Browser, number: &str) {
    for (field, text) in [
        ("#name", "Maria da Silva"),
        ("#document", "529.982.247-25"),
        ("#email", "maria@example.com"),
        ("#tel", "11 98765-4321"),
        ("#postal-code", "01304-000"),
        ("#street", "Rua Augusta"),
        ("#number", "100"),
        ("#neighborhood", "Consolação"),
        ("#city", "São Paulo"),
        ("#state", "SP"),
    ] {
        browser.enter(field, text);
    }
    enter_card(browser, number);
}

fn enter_card(browser: &Browser, number: &str) {
    for (field, text) in
        [("#cc-number", number), ("#cc-name", "MARIA DA SILVA"), ("#cc-exp", "1249"), ("#cc-csc", "737")]
    {
        browser.enter(field, text);
    }
}

fn status(browser: &Browser) -> Value {
    browser.script("return document.querySelector('main').dataset.status")
}

const SUBMIT: &str = "main form button.primary";

#[test]
fn a_payer_is_told_mistakes_and_a_decline_and_pays_with_another_card() {
    let app = TestApp::new();
    let Some(browser) = Browser::open(&app) else { return };
    let request = link().with("amount", json!(10_000)).with("maxInstallments", json!(3));
    let made = at_card(&browser, &app, &request);
    browser.check_fits("a card at 320 pixels");
    browser.check_accessible("a link with cards");
    let names =
        "return [...document.querySelectorAll('#cc-number, #cc-exp, #cc-csc')].map((field) => field.name)";
    assert_eq!(browser.script(names), json!(["", "", ""]), "no form sends them");
    assert!(browser.is_displayed("#address") && browser.text(SUBMIT).contains("Pay by card"));
    let plans = browser.texts("#installments option");
    assert_eq!(plans[2], "3× interest-free (first of R$33.34, 2 of R$33.33)");

    browser.enter("#cc-number", "4000000000009995");
    assert_eq!(browser.value("#cc-number"), "4000 0000 0000 9995");
    assert_eq!(browser.script("return document.querySelector('[data-brand]').dataset.brand"), json!("visa"));
    browser.enter("#cc-exp", "1249");
    assert_eq!(browser.value("#cc-exp"), "12/49");
    browser.click(SUBMIT);
    browser.wait_for("#mistakes");
    assert_eq!(browser.script("return document.activeElement.id"), json!("mistakes"));
    assert_eq!(browser.value("#cc-number"), "4000 0000 0000 9995", "nothing typed is lost");
    let code = "const field = document.getElementById('cc-csc'); return [field.getAttribute('aria-invalid'), \
        document.getElementById(field.getAttribute('aria-describedby')).textContent.slice(0, 24)]";
    assert_eq!(browser.script(code), json!(["true", "Enter the code: 3 digits"]));
    browser.check_accessible("mistakes in a card");

    fill_in(&browser, "4000000000009995");
    browser.choose("#installments", "3");
    browser.click(SUBMIT);
    browser.wait_for_text(".state", "No limit or balance left: use another card or PIX.");
    assert_eq!(status(&browser), json!("declined"));
    assert_eq!(browser.value("#cc-number"), "4000 0000 0000 9995");
    assert_eq!((browser.value("#cc-csc"), browser.value("#installments")), (String::new(), "3".into()));
    browser.check_accessible("a declined card");
    let html = browser.script("return document.documentElement.outerHTML");
    assert!(!html.as_str().unwrap().contains("0000 9995"), "the number is in its field alone");

    enter_card(&browser, "378282246310005");
    assert_eq!(browser.value("#cc-number"), "3782 822463 10005");
    browser.enter("#cc-csc", "7373");
    browser.click(SUBMIT);
    browser.wait_for_text(".badge", "Paid");
    browser.check_accessible("a card payment that is paid");
    let id = browser.script("return document.querySelector('main').dataset.transactionId");
    let record = app.client().payment(id.as_str().unwrap());
    assert_eq!((&record["linkId"], &record["installments"]), (&made["linkId"], &json!(3)));
}

#[test]
fn an_unknown_outcome_is_shown_as_such_and_turns_by_itself() {
    let app = TestApp::builder().arg("--sandbox-time-out", "10s").start();
    let Some(browser) = Browser::open(&app) else { return };
    at_card(&browser, &app, &link());
    fill_in(&browser, "4000000000000119");
    browser.click(SUBMIT);
    browser.wait_for_text(".badge", "Checking");
    assert_eq!((status(&browser), browser.count("form")), (json!("initial"), 0));
    // The outcome is a second away, and then the page loads again.
    app.signal("STOP");
    browser.check_accessible("a card payment that is checked");
    app.signal("CONT");
    browser.wait_for_text(".badge", "Paid");
}

#[test]
fn a_page_that_is_loaded_again_before_the_answer_came_begins_no_second_payment() {
    let app = TestApp::builder().arg("--sandbox-time-out", "10s").start();
    let Some(browser) = Browser::open(&app) else { return };
    let made = at_card(&browser, &app, &link().with("uses", json!(3)));
    fill_in(&browser, "4000000000000119");
    browser.click(SUBMIT);
    let of_link = format!("/pay/payments?linkId={}", made["linkId"].as_str().unwrap());
    let payments = || app.client().get(&of_link).expect(200)["data"].as_array().unwrap().clone();
    eventually(PATIENCE, "the card was sent", || (!payments().is_empty()).then_some(()));
    browser.go_to(made["url"].as_str().unwrap());
    browser.wait_for_text("#mistakes", "No answer arrived.");
    browser.check_accessible("an answer that was lost");
    browser.click("#method-credit_card");
    fill_in(&browser, "4242424242424242");
    browser.click(SUBMIT);
    browser.wait_for_text(".badge", "Paid");
    assert_eq!(payments().len(), 1, "{:?}", payments());
    browser.go_to(made["url"].as_str().unwrap());
    browser.wait_for("#cc-number");
    assert_eq!(browser.count("#mistakes"), 0, "the next payment is another one");
}

#[test]
fn a_decline_whose_answer_was_lost_is_told_by_the_page_and_the_next_card_is_tried() {
    let app = TestApp::new();
    let Some(browser) = Browser::open(&app) else { return };
    let made = at_card(&browser, &app, &link());
    browser.script(
        "const real = window.fetch; \
         window.fetch = async (...request) => { await real(...request); throw new TypeError('lost'); };",
    );
    fill_in(&browser, "4000000000000002");
    browser.click(SUBMIT);
    browser.wait_for_text("#mistakes", "No answer arrived.");
    browser.go_to(made["url"].as_str().unwrap());
    browser.wait_for_text("#mistakes", "Not authorised by the bank");
    browser.click("#method-credit_card");
    fill_in(&browser, "4242424242424242");
    browser.click(SUBMIT);
    browser.wait_for_text(".badge", "Paid");
    let of_link = format!("/pay/payments?linkId={}", made["linkId"].as_str().unwrap());
    let payments = app.client().get(&of_link).expect(200)["data"].as_array().unwrap().clone();
    let statuses: Vec<_> = payments.iter().map(|payment| payment["status"].as_str().unwrap()).collect();
    assert_eq!(statuses, ["paid", "declined"], "newest first");
}

#[test]
fn too_many_cards_say_so_and_leave_pix_open() {
    let app = TestApp::builder().arg("--checkout-tries-per-link", "1").start();
    let Some(browser) = Browser::open(&app) else { return };
    at_card(&browser, &app, &link());
    browser.in_the_dark();
    fill_in(&browser, "4000000000000002");
    browser.click(SUBMIT);
    browser.wait_for_text(".state", "Not authorised by the bank");
    browser.enter("#cc-csc", "737");
    browser.click(SUBMIT);
    browser.wait_for_text("#mistakes", "Too many cards were tried.");
    browser.check_accessible("too many cards, in the dark");
    browser.click("#method-pix");
    assert!(!browser.is_displayed("#card"));
    browser.click(SUBMIT);
    browser.wait_for_text(".badge", "Waiting for payment");
}

#[test]
fn without_scripts_the_card_says_that_it_needs_them() {
    let app = TestApp::new();
    let Some(browser) = Browser::open(&app) else { return };
    let made = make(&app, &link());
    browser.run_scripts(false);
    browser.go_to(made["url"].as_str().unwrap());
    browser.wait_for_text("noscript", "enable JavaScript");
    assert_eq!(browser.count("#cc-number"), 0);
    assert!(!browser.is_displayed("#card"));
}
