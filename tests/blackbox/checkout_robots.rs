//! Robots that test cards on the pages of payment links.

use serde_json::{Value, json};

use crate::checkout::{Payer, link, make};
use crate::checkout_card::{APPROVED, DECLINED, as_it_is};
use crate::support::{Answer, Edit, PATIENCE, TestApp, eventually};

#[track_caller]
fn check_limited(answer: &Answer) {
    assert_eq!((answer.status, &answer.json()["code"]), (429, &json!("too_many_card_tries")), "{answer}");
    let wait: u64 = answer.header("retry-after").unwrap().parse().unwrap();
    assert!((3_500..=3_601).contains(&wait), "{wait}");
    let words = answer.json()["mistakes"][0]["words"].as_str().unwrap().to_owned();
    assert!(words.contains("escolha PIX ou boleto"), "{words}");
}

#[track_caller]
fn decline(payer: &Payer) {
    assert_eq!(payer.send_card(DECLINED, as_it_is).expect(200)["status"], "declined");
}

#[test]
fn a_link_for_one_payment_lets_five_cards_be_tried_and_pix_stays_open() {
    let app = TestApp::new();
    let payer = Payer::at(&app, &make(&app, &link()));
    let wrong = |body: Value| body.with("card.code", json!(""));
    for _ in 0..7 {
        assert_eq!(payer.send_card(DECLINED, wrong).status, 422, "a form with mistakes is no try");
    }
    let number = payer.number();
    for _ in 0..3 {
        let replayed = payer.send_card_in(&number, DECLINED, as_it_is);
        assert_eq!(replayed.expect(200)["status"], "declined", "a replay is no try");
    }
    (0..4).for_each(|_| decline(&payer));
    check_limited(&payer.send_card(APPROVED, as_it_is));
    assert_eq!(payer.begin("pix").status, 303);
    payer.check("pending");
    let metrics = app.ops().get("/metrics").text();
    for line in [
        "quita_checkout_tries_total{outcome=\"declined\"} 5",
        "quita_checkout_tries_total{outcome=\"limited\"} 1",
        "quita_checkout_tries_total{outcome=\"approved\"} 0",
    ] {
        assert!(metrics.contains(line), "{line}");
    }
}

#[test]
fn a_link_for_several_allows_one_more_for_each_card_that_was_approved() {
    let app = TestApp::new();
    let payer = Payer::at(&app, &make(&app, &link().with("uses", json!(20))));
    for _ in 0..2 {
        assert_eq!(payer.send_card(APPROVED, as_it_is).expect(200)["status"], "paid");
    }
    (0..7).for_each(|_| decline(&payer));
    check_limited(&payer.send_card(APPROVED, as_it_is));
    let other = Payer::at(&app, &make(&app, &link()));
    assert_eq!(other.send_card(APPROVED, as_it_is).expect(200)["status"], "paid", "another link is open");
}

#[test]
fn a_network_tries_ten_cards_at_all_links() {
    let app = TestApp::new();
    let links: Vec<_> = (0..3).map(|_| Payer::at(&app, &make(&app, &link()))).collect();
    for payer in links.iter().take(2) {
        (0..5).for_each(|_| decline(payer));
    }
    check_limited(&links[2].send_card(APPROVED, as_it_is));
    assert_eq!(links[2].begin("boleto").status, 303);
}

#[test]
fn the_limits_are_configured() {
    let app = TestApp::builder()
        .arg("--checkout-tries-per-link", "1")
        .arg("--checkout-tries-per-network", "2")
        .start();
    let links: Vec<_> = (0..3).map(|_| Payer::at(&app, &make(&app, &link()))).collect();
    for payer in links.iter().take(2) {
        decline(payer);
        check_limited(&payer.send_card(APPROVED, as_it_is));
    }
    check_limited(&links[2].send_card(APPROVED, as_it_is));
}

#[test]
fn twenty_declined_cards_of_a_link_are_one_exception() {
    let app = TestApp::builder()
        .arg("--checkout-tries-per-link", "1000")
        .arg("--checkout-tries-per-network", "1000")
        .start();
    let made = make(&app, &link());
    let payer = Payer::at(&app, &made);
    let exceptions = || app.ops().get("/ops/exceptions").expect(200)["data"].as_array().unwrap().clone();
    (0..19).for_each(|_| decline(&payer));
    assert_eq!(exceptions(), Vec::<Value>::new());
    (0..3).for_each(|_| decline(&payer));
    let found = eventually(PATIENCE, "the exception", || Some(exceptions()).filter(|all| !all.is_empty()));
    assert_eq!((found.len(), &found[0]["kind"]), (1, &json!("card_testing")), "{found:#?}");
    let detail = found[0]["detail"].as_str().unwrap();
    assert!(detail.contains(made["linkId"].as_str().unwrap()), "{detail}");
    let metrics = app.ops().get("/metrics").text();
    assert!(metrics.contains("quita_exceptions_total{kind=\"card_testing\"} 1"), "{metrics}");
}
