//! Notifications are hints, from whoever knows the secret.

use quita_domain::acquiring::{HintSubject, NoticeContent, Reference};
use quita_domain::identity::Mode;
use quita_ports::{AcquirerFactory, NoticeRefused, RawNotice};

use crate::payment::*;
use crate::scripted::Scripted;

const SECRET: (&str, &str) = ("x-quita-secret", "unguessable");

fn read(path_tail: &str, headers: &[(&str, &str)], body: &str) -> Result<Vec<NoticeContent>, NoticeRefused> {
    let factory = factory(settings(), Mode::Live, Scripted::with([]).factory());
    let notice = RawNotice { path_tail, headers, body: body.as_bytes() };
    factory.notices().unwrap().read(&notice, created_at())
}

fn hint() -> Vec<NoticeContent> {
    vec![NoticeContent::Hint(HintSubject::Reference(Reference::none().with("paymentId", SALE)))]
}

#[test]
fn a_notification_is_a_hint_about_its_sale_whatever_changed() {
    for change in ["1", "3", "5", "6", "7", "8", "99", "\"1\"", "null", "2", "4"] {
        let body = format!(r#"{{"PaymentId":"{SALE}","ChangeType":{change}}}"#);
        assert_eq!(read("", &[SECRET], &body), Ok(hint()), "{change}");
    }
    let shouted = SALE.to_uppercase();
    assert_eq!(read("", &[SECRET], &format!(r#"{{"paymentid":"{shouted}"}}"#)), Ok(hint()));
}

#[test]
fn a_recurrence_that_names_no_sale_is_none_of_ours() {
    let body = r#"{"RecurrentPaymentId":"2f6d1b1e-7c55-4a57-9f0b-3a0f6f7d2c11","ChangeType":4}"#;
    assert_eq!(read("", &[SECRET], body), Ok(Vec::new()));
}

#[test]
fn without_the_secret_nothing_is_read() {
    let body = format!(r#"{{"PaymentId":"{SALE}","ChangeType":1}}"#);
    for headers in [
        vec![("x-quita-secret", "")],
        vec![("x-quita-secret", "unguessabl")],
        vec![("x-quita-secret", "unguessable ")],
        vec![("x-quita-secret", "Unguessable")],
    ] {
        assert_eq!(read("", &headers, &body), Err(NoticeRefused::NotAuthentic), "{headers:?}");
        assert_eq!(read("", &headers, "{"), Err(NoticeRefused::NotAuthentic));
    }
    assert_eq!(read("/pix", &[SECRET], &body), Err(NoticeRefused::NoSuchAddress));
}

#[test]
fn without_the_header_nothing_shows_that_cielo_is_used() {
    let body = format!(r#"{{"PaymentId":"{SALE}","ChangeType":1}}"#);
    for headers in [vec![], vec![("x-other", "unguessable")]] {
        assert_eq!(read("", &headers, &body), Err(NoticeRefused::NoSuchAddress), "{headers:?}");
    }
    assert_eq!(read("/pix", &[("x-quita-secret", "x")], &body), Err(NoticeRefused::NoSuchAddress));
}

#[test]
fn what_can_not_be_read_is_told() {
    for body in [
        "",
        "{",
        "[]",
        "7",
        "null",
        "{}",
        r#"{"PaymentId":""}"#,
        r#"{"PaymentId":"../1"}"#,
        r#"{"PaymentId":{}}"#,
    ] {
        assert!(matches!(read("", &[SECRET], body), Err(NoticeRefused::Unreadable(_))), "{body}");
    }
}
