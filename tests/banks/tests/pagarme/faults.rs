use quita_banks::Reply;
use quita_banks::faults::Fault;
use quita_banks::pagarme::{Config, Pagarme, Status};
use serde_json::{Value, json};

use crate::shop::{Shop, card, held};

fn struck(fault: Fault) -> (Shop, Reply) {
    let mut shop = Shop::open();
    shop.pagarme = Pagarme::new(Config::default(), Box::new(move |_| Some(fault)));
    let reply = shop.reply("POST", "/orders", &card("c1"));
    (shop, reply)
}

#[test]
fn a_fault_before_the_call_leaves_nothing_done() {
    for fault in [
        Fault::ResetBefore,
        Fault::SilenceBefore,
        Fault::ErrorBefore(503),
        Fault::Throttled { retry_after_s: 2 },
        Fault::TokenRefused,
    ] {
        assert!(struck(fault).0.pagarme.books().is_empty(), "{fault:?}");
    }
}

#[test]
fn a_fault_after_the_call_leaves_it_done() {
    for fault in [
        Fault::ResetAfter,
        Fault::SilenceAfter,
        Fault::ErrorAfter(500),
        Fault::Unreadable,
        Fault::Slow { ms: 50 },
    ] {
        assert_eq!(struck(fault).0.entry("c1").status, Status::Paid, "{fault:?}");
    }
}

#[test]
fn who_is_throttled_may_be_told_for_how_long() {
    let headers = |retry_after_s| match struck(Fault::Throttled { retry_after_s }).1 {
        Reply::Answer { response, .. } => response.headers,
        Reply::Reset | Reply::Silence => panic!("no answer"),
    };
    assert_eq!(headers(7), [("retry-after".to_owned(), "7".to_owned())]);
    assert!(headers(0).is_empty());
}

#[test]
fn a_capture_and_a_refund_are_done_although_their_answers_are_lost() {
    let mut shop = Shop::open();
    let id = shop.ordered(&held("c1"));
    let lost = json!({ "do": "faults", "always": { "fault": "reset-after" } });
    assert_eq!(shop.control(lost), json!({ "ok": true }));
    assert_eq!(
        shop.reply("POST", &format!("/charges/{id}/capture"), &json!({ "amount": 5_000 })),
        Reply::Reset
    );
    assert_eq!(shop.reply("DELETE", &format!("/charges/{id}"), &json!({ "amount": 1_000 })), Reply::Reset);
    let entry = shop.entry("c1");
    assert_eq!((entry.paid_cents, entry.canceled_cents), (5_000, 1_000));
}

#[test]
fn the_same_seed_makes_the_same_pagarme() {
    let live = || {
        let mut shop = Shop::open();
        (0..20).map(|_| shop.order(&card("c1")).body).collect::<Vec<Value>>()
    };
    assert_eq!(live(), live());
}
