use quita_banks::Reply;
use quita_banks::cielo::{Cielo, Config, Status};
use quita_banks::faults::Fault;
use serde_json::{Value, json};

use crate::shop::{Shop, card, with};

fn struck(fault: Fault) -> (Shop, Reply) {
    let mut shop = Shop::open();
    shop.cielo = Cielo::new(Config::default(), Box::new(move |_| Some(fault)));
    let reply = shop.reply("POST", "/1/sales", &card("A1", 1));
    (shop, reply)
}

#[test]
fn a_fault_before_the_call_leaves_nothing_done() {
    let faults = [
        Fault::ResetBefore,
        Fault::SilenceBefore,
        Fault::ErrorBefore(503),
        Fault::Throttled { retry_after_s: 2 },
        Fault::TokenRefused,
    ];
    for fault in faults {
        assert!(struck(fault).0.cielo.books().is_empty(), "{fault:?}");
    }
}

#[test]
fn a_fault_after_the_call_leaves_it_done() {
    let faults = [
        Fault::ResetAfter,
        Fault::SilenceAfter,
        Fault::ErrorAfter(500),
        Fault::Unreadable,
        Fault::Slow { ms: 50 },
    ];
    for fault in faults {
        assert_eq!(struck(fault).0.status("A1"), Status::Authorized, "{fault:?}");
    }
}

#[test]
fn a_fault_shows_as_what_it_is() {
    let status = |reply: Reply| match reply {
        Reply::Answer { response, after_ms } => (response.status, after_ms),
        Reply::Reset | Reply::Silence => (0, 0),
    };
    assert_eq!(struck(Fault::ResetAfter).1, Reply::Reset);
    assert_eq!(struck(Fault::SilenceAfter).1, Reply::Silence);
    assert_eq!(status(struck(Fault::ErrorAfter(502)).1), (502, 0));
    assert_eq!(status(struck(Fault::TokenRefused).1), (401, 0));
    assert_eq!(status(struck(Fault::Slow { ms: 50 }).1), (201, 50));
}

#[test]
fn who_is_throttled_is_told_for_how_long() {
    let Reply::Answer { response, .. } = struck(Fault::Throttled { retry_after_s: 7 }).1 else { panic!() };
    assert_eq!((response.status, response.headers), (429, vec![("retry-after".to_owned(), "7".to_owned())]));
}

#[test]
fn an_unreadable_answer_is_half_of_one() {
    let Reply::Answer { response, .. } = struck(Fault::Unreadable).1 else { panic!() };
    assert!(!response.body.is_empty() && serde_json::from_slice::<Value>(&response.body).is_err());
}

#[test]
fn a_capture_and_a_void_are_done_although_their_answers_are_lost() {
    let mut shop = Shop::open();
    let id = shop.sold(&with(card("A1", 1), "Capture", json!(false)));
    let lost = json!({ "do": "faults", "always": { "fault": "reset-after" } });
    assert_eq!(shop.control(lost), json!({ "ok": true }));
    assert_eq!(shop.reply("PUT", &format!("/1/sales/{id}/capture?amount=5000"), &Value::Null), Reply::Reset);
    assert_eq!(shop.reply("PUT", &format!("/1/sales/{id}/void?amount=1000"), &Value::Null), Reply::Reset);
    let entry = shop.entry("A1");
    assert_eq!((entry.captured_cents, entry.voided_cents), (5_000, 1_000));
}

#[test]
fn the_same_seed_makes_the_same_cielo() {
    let live = || {
        let mut shop = Shop::open();
        (0..20).map(|_| shop.sell(&card("A1", 9)).body).collect::<Vec<_>>()
    };
    assert_eq!(live(), live());
}
