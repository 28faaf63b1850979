use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use quita_domain::acquiring::{HintSubject, Identified, NoticeContent, Reference};
use quita_domain::identity::TransactionId;
use quita_domain::method::Method;
use quita_ports::{AcquirerFactory as _, NoticeRefused, RawNotice};
use serde_json::{Value, json};
use uuid::Uuid;

use crate::payment::*;
use crate::scripted::Scripted;
use crate::there::There;

fn read(authorization: Option<&str>, body: &str) -> Result<Vec<NoticeContent>, NoticeRefused> {
    let headers: Vec<(&str, &str)> =
        authorization.map(|given| ("authorization", given)).into_iter().collect();
    let factory = factory(settings(), Scripted::with([]).factory());
    let notice = RawNotice { path_tail: "", headers: &headers, body: body.as_bytes() };
    factory.notices().unwrap().read(&notice, created_at())
}

fn basic(credentials: &str) -> String {
    format!("Basic {}", STANDARD.encode(credentials))
}

fn body(data: &Value) -> String {
    json!({ "id": "hook_1", "account": { "id": "acc_1" }, "type": "charge.paid", "data": data }).to_string()
}

#[test]
fn a_callback_is_a_hint_about_the_payment_of_its_code_with_the_name_of_the_charge_and_nothing_more() {
    let id = TransactionId::new(Uuid::from_u128(ID));
    let named = || HintSubject::Charge(id, Reference::none().with("chargeId", "ch_1"));
    for (data, subject) in [
        (json!({ "id": "or_1", "code": CODE, "status": "paid" }), HintSubject::Payment(id)),
        (json!({ "id": "ch_1", "code": CODE, "status": "paid", "paid_amount": 1 }), named()),
        (json!({ "id": "ch_1", "order": { "id": "or_1", "code": CODE } }), named()),
    ] {
        let ours = Ok(vec![NoticeContent::Hint(subject)]);
        assert_eq!(read(Some(&basic("quita:callback-password")), &body(&data)), ours, "{data}");
    }
}

#[test]
fn what_is_none_of_ours_is_unrelated_and_what_has_no_code_is_asked_for() {
    let read = |data: Value| read(Some(&basic("quita:callback-password")), &body(&data));
    assert_eq!(read(json!({ "id": "ch_1", "code": "PEDIDO-7" })), Ok(vec![NoticeContent::Unrelated]));
    let hint = |name: &str, id: &str| {
        Ok(vec![NoticeContent::Hint(HintSubject::Reference(Reference::none().with(name, id)))])
    };
    assert_eq!(read(json!({ "id": "ch_1" })), hint("chargeId", "ch_1"));
    assert_eq!(read(json!({ "id": "or_1" })), hint("orderId", "or_1"));
    for data in [json!({}), json!({ "id": "ch_1/../x" }), json!(null)] {
        assert!(matches!(read(data.clone()), Err(NoticeRefused::Unreadable(_))), "{data}");
    }
}

#[test]
fn without_the_password_nothing_is_read() {
    let body = body(&json!({ "id": "or_1", "code": CODE }));
    for given in [
        None,
        Some(basic("quita:")),
        Some(basic("quita:callback-passwor")),
        Some(basic("other:callback-password")),
        Some("Basic ???".to_owned()),
        Some("Bearer callback-password".to_owned()),
        Some(basic("quita:callback-password").replace("Basic ", "Basic")),
    ] {
        assert_eq!(read(given.as_deref(), &body), Err(NoticeRefused::NotAuthentic), "{given:?}");
    }
    let headers = [("authorization", basic("quita:callback-password"))];
    let headers: Vec<(&str, &str)> = headers.iter().map(|(name, value)| (*name, value.as_str())).collect();
    let factory = factory(settings(), Scripted::with([]).factory());
    let notice = RawNotice { path_tail: "/pix", headers: &headers, body: body.as_bytes() };
    let refused = factory.notices().unwrap().read(&notice, created_at());
    assert_eq!(refused, Err(NoticeRefused::NoSuchAddress));
}

#[tokio::test(start_paused = true)]
async fn a_charge_is_identified_by_asking() {
    let there = There::open();
    let query = there.made(&charge(Method::Pix, 10_000)).await;
    let payment = Identified::Payment(query.id);
    for name in ["chargeId", "orderId"] {
        let reference = Reference::none().with(name, query.reference.get(name).unwrap());
        assert_eq!(there.adapter().identify(&reference).await, payment);
        let other = Reference::none().with(name, "ch_none");
        assert_eq!(there.adapter().identify(&other).await, Identified::NotFound);
    }
    assert_eq!(there.adapter().identify(&Reference::none()).await, Identified::Unknown);
}
