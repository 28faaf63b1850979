use quita_banks::Counterparty;
use quita_banks::cielo::{Config, Forgery, Notifications};
use serde_json::{Value, json};

use crate::shop::{Shop, card, pix};

fn shop(notices: Notifications) -> Shop {
    let headers = [("X-Quita-Secret".to_owned(), "secret".to_owned())].into();
    let url = Some("http://127.0.0.1:1/notifications".to_owned());
    Shop::at(Config { notices: Notifications { url, headers, ..notices }, ..Config::default() })
}

#[test]
fn a_notice_says_which_sale_and_what_kind_of_change_and_carries_the_header() {
    let mut shop = shop(Notifications::default());
    let id = shop.sold(&pix("A1"));
    let notices = shop.cielo.notices(shop.now_ms);
    let [notice] = notices.as_slice() else { panic!("{notices:?}") };
    assert_eq!(notice.url.as_deref(), Some("http://127.0.0.1:1/notifications"));
    assert!(notice.headers.contains(&("X-Quita-Secret".to_owned(), "secret".to_owned())));
    let body: Value = serde_json::from_slice(&notice.body).unwrap();
    assert_eq!(body, json!({ "PaymentId": id, "ChangeType": 1 }));
    assert!(shop.cielo.notices(shop.now_ms).is_empty());
}

#[test]
fn each_change_is_told() {
    let mut shop = shop(Notifications::default());
    let id = shop.sold(&card("A1", 1));
    shop.put(&format!("/1/sales/{id}/capture?amount=5000"));
    shop.put(&format!("/1/sales/{id}/void?amount=1000"));
    shop.cielo.chargeback("A1", "1", 1_000, "Received", shop.now_ms).unwrap();
    let changes: Vec<u64> = shop.told().into_iter().map(|(_, change)| change).collect();
    assert_eq!(changes, [1, 1, 1, 7]);
}

#[test]
fn notices_come_late() {
    let mut shop = shop(Notifications { delay_ms: (1_000, 3_000), ..Notifications::default() });
    shop.sold(&pix("A1"));
    assert!(shop.told().is_empty());
    let due = shop.cielo.next_ms().unwrap();
    assert!((shop.now_ms + 1_000..=shop.now_ms + 3_000).contains(&due), "{due}");
    shop.now_ms = due;
    assert_eq!(shop.told().len(), 1);
}

#[test]
fn notices_are_lost_or_come_twice() {
    for (lost_permille, repeated_permille, expected) in [(1_000, 0, 0), (0, 1_000, 2), (1_000, 1_000, 1)] {
        let mut shop = shop(Notifications { lost_permille, repeated_permille, ..Notifications::default() });
        shop.sold(&pix("A1"));
        assert_eq!(shop.told().len(), expected);
    }
}

#[test]
fn a_notice_may_come_before_the_answer() {
    let mut shop = shop(Notifications { early_permille: 1_000, ..Notifications::default() });
    let got = shop.sell(&pix("A1"));
    assert!(got.after_ms > 0);
    assert_eq!(shop.told(), [(got.payment_id(), 1)]);
}

#[test]
fn forged_notices_differ_from_genuine_ones_in_one_thing() {
    let mut shop = shop(Notifications::default());
    let id = shop.sold(&pix("A1"));
    let genuine = shop.cielo.notices(shop.now_ms).remove(0);
    for forgery in Forgery::ALL {
        shop.cielo.forge("A1", forgery, shop.now_ms);
        let forged = shop.cielo.notices(shop.now_ms).remove(0);
        let same_headers = forged.headers == genuine.headers;
        let same_body = forged.body == genuine.body;
        let is_header = matches!(forgery, Forgery::WrongHeader | Forgery::NoHeader);
        assert_eq!((same_headers, same_body), (!is_header, is_header), "{forgery:?}");
    }
    assert_eq!(shop.read(&id)["Status"], 12);
}

#[test]
fn forged_notices_come_beside_genuine_ones() {
    let mut shop = shop(Notifications { forged_permille: 1_000, ..Notifications::default() });
    shop.sold(&pix("A1"));
    assert_eq!(shop.cielo.notices(shop.now_ms).len(), 2);
}
