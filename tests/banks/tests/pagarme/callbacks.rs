use quita_banks::pagarme::{Config, Forgery, Notifications};
use quita_banks::{Counterparty as _, Notice};
use serde_json::{Value, json};

use crate::shop::{NOON_MS, Shop, card, pix};

fn body(notice: &Notice) -> Value {
    serde_json::from_slice(&notice.body).unwrap_or_default()
}

fn credentials(notice: &Notice) -> Option<&str> {
    notice.headers.iter().find(|(name, _)| name == "authorization").map(|(_, value)| value.as_str())
}

#[test]
fn each_change_is_told_with_basic_authentication() {
    let mut shop = Shop::open();
    shop.ordered(&pix("p1"));
    shop.control(json!({ "do": "pay", "charge": "p1" }));
    let told = shop.pagarme.notices(NOON_MS);
    let kinds: Vec<Value> = told.iter().map(|notice| body(notice)["type"].clone()).collect();
    assert_eq!(kinds, ["charge.pending", "charge.paid"]);
    assert_eq!(body(&told[1])["data"]["order"]["code"], "p1");
    assert_eq!(body(&told[1])["data"]["code"], "p1");
    assert_ne!(body(&told[0])["id"], body(&told[1])["id"]);
    // quita:callback-password
    assert!(told.iter().all(|notice| credentials(notice) == Some("Basic cXVpdGE6Y2FsbGJhY2stcGFzc3dvcmQ=")));
}

#[test]
fn callbacks_are_lost_late_and_repeated_as_configured() {
    let told = |notices: Notifications, after_ms: i64| {
        let mut shop = Shop::at(Config { notices, ..Config::default() });
        shop.ordered(&card("c1"));
        shop.pagarme.notices(NOON_MS + after_ms)
    };
    let base = Notifications::default;
    assert!(told(Notifications { lost_permille: 1_000, ..base() }, 0).is_empty());
    assert!(told(Notifications { delay_ms: (500, 500), ..base() }, 499).is_empty());
    let twice = told(Notifications { repeated_permille: 1_000, ..base() }, 0);
    assert_eq!((twice.len(), &twice[0].body), (2, &twice[1].body));
}

#[test]
fn forgeries_are_what_they_claim() {
    let mut shop = Shop::open();
    shop.ordered(&pix("p1"));
    shop.pagarme.notices(NOON_MS);
    for forgery in Forgery::ALL {
        shop.pagarme.forge("p1", forgery, NOON_MS).unwrap();
    }
    let forged = shop.pagarme.notices(NOON_MS);
    assert_ne!(credentials(&forged[0]), credentials(&forged[2]));
    assert_eq!(credentials(&forged[1]), None);
    assert_ne!(body(&forged[2])["data"]["code"], "p1");
    assert_eq!(body(&forged[3]), Value::Null);
    assert_eq!(body(&forged[4])["data"]["status"], "paid");
    assert_eq!(shop.entry("p1").paid_cents, 0);
}
