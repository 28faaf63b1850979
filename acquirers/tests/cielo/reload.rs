//! Another configuration holds from the next call on.

use quita_acquirers::cielo::settings::CieloSettings;
use quita_domain::acquiring::CallFailure;
use quita_domain::identity::Mode;
use quita_domain::method::Method;
use quita_domain::secret::Secret;
use quita_ports::{AcquirerFactory, NoticeRefused, RawNotice};
use serde_json::json;

use crate::bank::Bank;
use crate::payment::*;
use crate::scripted::{Scripted, json, raw};

#[tokio::test]
async fn new_secrets_and_exchanges_are_taken_without_a_new_adapter() {
    let before = Scripted::with([]);
    let after = Scripted::with([]);
    let factory = factory(settings(), Mode::Live, before.factory());
    let cielo = factory.build();
    cielo.charge(&charge(Method::Pix, 1)).await;
    let mut settings = settings();
    settings.merchant_key = Secret::new("another".into());
    settings.notification_secret = Secret::new("changed".into());
    settings.notification_header = "X-Changed".into();
    factory.reconfigure(settings, after.factory());
    tokio::time::pause();
    cielo.charge(&charge(Method::Pix, 1)).await;
    cielo.inquire(&named(query(Method::Pix, 1), SALE)).await;
    assert_eq!((before.urls().len(), after.urls().len()), (1, 2));
    assert_eq!((*before.opened.lock().unwrap(), *after.opened.lock().unwrap()), (1, 1), "one is kept");
    let sent = after.requests.lock().unwrap();
    assert!(sent.iter().all(|request| request.headers.contains(&("MerchantKey".into(), "another".into()))));
    let body = format!(r#"{{"PaymentId":"{SALE}"}}"#);
    let read = |headers: &[(&str, &str)]| {
        let notice = RawNotice { path_tail: "", headers, body: body.as_bytes() };
        factory.notices().unwrap().read(&notice, created_at())
    };
    assert_eq!(read(&[("x-quita-secret", "unguessable")]), Err(NoticeRefused::NoSuchAddress));
    assert_eq!(read(&[("x-changed", "unguessable")]), Err(NoticeRefused::NotAuthentic));
    assert!(read(&[("x-changed", "changed")]).is_ok());
}

#[test]
fn its_account_is_address_and_merchant_as_they_are_now() {
    let factory = factory(settings(), Mode::Live, Scripted::with([]).factory());
    let before = factory.account();
    let renewed = CieloSettings { merchant_key: Secret::new("another".into()), ..settings() };
    factory.reconfigure(renewed, Scripted::with([]).factory());
    assert_eq!(factory.account(), before, "a new key of the same merchant");
    for other in [
        CieloSettings { merchant_id: "another".into(), ..settings() },
        CieloSettings { base_url: "https://another.example".into(), ..settings() },
    ] {
        factory.reconfigure(other, Scripted::with([]).factory());
        assert_ne!(factory.account(), before);
    }
}

#[tokio::test]
async fn the_harmless_read_is_good_when_nobody_has_the_order() {
    let harmless =
        |exchange| async move { factory(settings(), Mode::Live, exchange).ask_something_unknown().await };
    let bank = Bank::default();
    assert_eq!(harmless(bank.factory()).await, Ok(()));
    assert_eq!(harmless(Scripted::with([json(200, &json!({"Payments": []}))]).factory()).await, Ok(()));
    let refused = harmless(Scripted::with([raw(401, b"")]).factory()).await;
    assert!(matches!(refused, Err(CallFailure::NotDelivered(_))), "{refused:?}");
    let down = harmless(Scripted::with([raw(502, b"")]).factory()).await;
    assert!(matches!(down, Err(CallFailure::Unknown(_))), "{down:?}");
    let listed = json!({"Payments": [{"PaymentId": SALE}]});
    assert!(harmless(Scripted::with([json(200, &listed)]).factory()).await.is_err());
}

#[test]
fn it_operates_in_turn_and_issues_nothing_by_itself() {
    let factory = factory(settings(), Mode::Live, Scripted::with([]).factory());
    assert!(factory.operates_in_turn());
    let shows_after_ms = Method::ALL.map(|method| factory.refund_shows_after_ms(method));
    assert_eq!(shows_after_ms, Method::ALL.map(|method| if method == Method::Pix { 3_600_000 } else { 0 }));
    assert!(factory.local_issue().is_none());
}
