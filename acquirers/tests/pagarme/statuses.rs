//! Every status of the facts, and what it means.

use quita_domain::acquiring::{CallFailure, ChargeAnswer, ChargeQuery, Fact, RemovedBy};
use quita_domain::method::Method;
use quita_domain::money::Money;
use serde_json::{Value, json};

use crate::payment::*;
use crate::scripted::{Scripted, json as answered};

fn order(method: &str, charge: &str, step: &str, more: &Value) -> Value {
    let mut last = json!({ "id": "tran_1", "transaction_type": method, "status": step, "gateway_response": {"code": "200"} });
    let mut written = json!({
        "id": "ch_1", "code": CODE, "amount": 10_000, "currency": "BRL", "payment_method": method, "status": charge,
    });
    for (name, value) in more.as_object().into_iter().flatten() {
        let place = if ["paid_amount", "canceled_amount"].contains(&name.as_str()) {
            &mut written
        } else {
            &mut last
        };
        place[name.as_str()] = value.clone();
    }
    written["last_transaction"] = last;
    json!({ "id": "or_1", "code": CODE, "status": "nonsense", "charges": [written] })
}

async fn read(query: &ChargeQuery, charge: &str, step: &str, more: &Value) -> ChargeAnswer {
    let method = match query.method {
        Method::CreditCard => "credit_card",
        Method::Pix => "pix",
        Method::Boleto => "boleto",
    };
    let listed = json!({ "data": [order(method, charge, step, more)] });
    let no_payables = json!({ "data": [], "paging": { "forward_cursor": null } });
    let exchange = Scripted::with([answered(200, &listed), answered(200, &no_payables)]);
    adapter(exchange.factory()).inquire(query).await
}

/// An answer in a few letters.
fn short(answer: &ChargeAnswer) -> String {
    match answer {
        ChargeAnswer::Known(statement) => statement.facts.iter().map(fact).collect::<Vec<_>>().join(" "),
        ChargeAnswer::Accepted(_) => "accepted".into(),
        ChargeAnswer::UnderReview(_) => "under review".into(),
        ChargeAnswer::WithoutCode(_) => "no code".into(),
        ChargeAnswer::NumberTaken(why) => format!("number taken: {why}"),
        ChargeAnswer::Refused(_) => "refused".into(),
        ChargeAnswer::NotFound => "not found".into(),
        ChargeAnswer::Mismatched(_) => "mismatched".into(),
        ChargeAnswer::Foreign(_) => "foreign".into(),
        ChargeAnswer::Failed(CallFailure::Unknown(_)) => "unclear".into(),
        ChargeAnswer::Failed(_) => "failed".into(),
    }
}

fn fact(fact: &Fact) -> String {
    match fact {
        Fact::Authorized(_) => "authorised".into(),
        Fact::Settled(settlement) => format!("settled:{}", settlement.amount.cents()),
        Fact::Declined(decline) => format!("declined:{}", decline.code),
        Fact::Expired => "expired".into(),
        Fact::Cancelled => "cancelled".into(),
        Fact::Removed { by: RemovedBy::Receiver } => "removed".into(),
        Fact::RefundedInTotal { total, .. } => format!("back:{}", total.cents()),
        Fact::ChargedBack { amount, .. } => format!("chargeback:{}", amount.unwrap_or_default().cents()),
        other => format!("{other:?}"),
    }
}

#[tokio::test(start_paused = true)]
async fn each_status_of_a_card_has_its_meaning_in_both_spellings() {
    let paid = json!({ "paid_amount": 10_000 });
    let part = json!({ "paid_amount": 10_000, "canceled_amount": 400 });
    let back = json!({ "paid_amount": 10_000, "canceled_amount": 10_000 });
    let nothing = json!({});
    for (charge, step, more, expected) in [
        ("pending", "authorized_pending_capture", &nothing, "authorised"),
        ("pending", "waiting_capture", &nothing, "authorised"),
        ("pending", "analyzing", &nothing, "under review"),
        ("pending", "pending_review", &nothing, "under review"),
        ("pending", "processing", &nothing, "accepted"),
        ("pending", "with_error", &nothing, "accepted"),
        ("pending", "captured", &nothing, "unclear"),
        ("pending", "not_authorized", &nothing, "unclear"),
        ("processing", "analyzing", &nothing, "under review"),
        ("processing", "pending_review", &nothing, "under review"),
        ("processing", "with_error", &nothing, "accepted"),
        ("processing", "authorized_pending_capture", &nothing, "accepted"),
        ("processing", "captured", &nothing, "unclear"),
        ("paid", "captured", &paid, "settled:10000"),
        ("paid", "partial_capture", &json!({ "paid_amount": 700 }), "settled:700"),
        ("paid", "paid", &paid, "settled:10000"),
        ("paid", "partial_void", &part, "settled:10000 back:400"),
        ("paid", "partial_refunded", &part, "settled:10000 back:400"),
        ("paid", "pending_refund", &paid, "settled:10000"),
        ("paid", "waiting_cancellation", &paid, "settled:10000"),
        ("paid", "error_on_voiding", &paid, "settled:10000"),
        ("paid", "error_on_refunding", &paid, "settled:10000"),
        ("paid", "with_error", &paid, "settled:10000"),
        ("paid", "not_authorized", &paid, "unclear"),
        ("paid", "authorized_pending_capture", &paid, "unclear"),
        ("paid", "failed", &paid, "unclear"),
        ("overpaid", "overpaid", &json!({ "paid_amount": 10_001 }), "settled:10001"),
        ("underpaid", "underpaid", &json!({ "paid_amount": 9_999 }), "settled:9999"),
        ("canceled", "voided", &json!({ "canceled_amount": 10_000 }), "removed"),
        ("canceled", "voided", &back, "settled:10000 back:10000"),
        ("canceled", "refunded", &back, "settled:10000 back:10000"),
        ("canceled", "captured", &nothing, "unclear"),
        ("failed", "not_authorized", &nothing, "declined:generic_decline"),
        ("failed", "not_authorized", &json!({ "acquirer_return_code": "51" }), "declined:insufficient_funds"),
        ("failed", "not_authorized", &paid, "unclear"),
        ("failed", "failed", &json!({ "gateway_response": { "code": "400" } }), "refused"),
        ("failed", "failed", &json!({ "gateway_response": { "code": "500" } }), "accepted"),
        ("failed", "with_error", &nothing, "accepted"),
        ("failed", "failed", &json!({ "acquirer_return_code": "57" }), "declined:not_permitted"),
        ("failed", "failed", &nothing, "unclear"),
        ("failed", "captured", &nothing, "unclear"),
        ("chargedback", "chargedback", &part, "settled:10000 back:400 chargeback:9600"),
        ("frozen", "captured", &paid, "unclear"),
        ("paid", "half_captured", &paid, "unclear"),
    ] {
        let query = query(Method::CreditCard, 10_000);
        let camel = camel_case(step);
        for step in [step, &camel] {
            let answer = read(&query, charge, step, more).await;
            assert_eq!(short(&answer), expected, "{charge} {step} {more}");
        }
    }
}

fn camel_case(text: &str) -> String {
    let mut parts = text.split('_');
    let first = parts.next().unwrap().to_owned();
    parts.fold(first, |all, part| all + &part[..1].to_uppercase() + &part[1..])
}

#[tokio::test(start_paused = true)]
async fn each_status_of_a_pix_or_boleto_has_its_meaning() {
    let paid = json!({ "paid_amount": 10_000 });
    let nothing = json!({});
    for (charge, step, more, expected) in [
        ("pending", "waiting_payment", &nothing, "no code"),
        ("pending", "generated", &nothing, "no code"),
        ("pending", "viewed", &nothing, "no code"),
        ("pending", "with_error", &nothing, "accepted"),
        ("processing", "processing", &nothing, "accepted"),
        ("pending", "authorized_pending_capture", &nothing, "unclear"),
        ("paid", "paid", &paid, "settled:10000 Concluded"),
        ("paid", "waiting_payment", &paid, "unclear"),
        ("overpaid", "paid", &json!({ "paid_amount": 10_250 }), "settled:10250 Concluded"),
        ("paid", "underpaid", &json!({ "paid_amount": 9_000 }), "settled:9000 Concluded"),
        ("paid", "pending_refund", &paid, "settled:10000 Concluded"),
        (
            "canceled",
            "refunded",
            &json!({ "paid_amount": 10_000, "canceled_amount": 10_000 }),
            "settled:10000 Concluded back:10000",
        ),
        ("canceled", "voided", &nothing, "removed"),
        ("failed", "failed", &nothing, "declined:acquirer_refused"),
        ("failed", "expired", &nothing, "expired"),
        ("failed", "failed", &json!({ "gateway_response": { "code": "412" } }), "refused"),
        ("failed", "failed", &json!({ "gateway_response": { "code": "503" } }), "accepted"),
        ("failed", "with_error", &nothing, "accepted"),
        ("frozen", "paid", &paid, "unclear"),
    ] {
        for method in [Method::Pix, Method::Boleto] {
            let answer = read(&query(method, 10_000), charge, step, more).await;
            assert_eq!(short(&answer), expected, "{method:?} {charge} {step} {more}");
        }
    }
}

#[tokio::test(start_paused = true)]
async fn what_failed_after_its_end_is_expired_and_what_we_cancelled_is_cancelled() {
    let over = ChargeQuery { sent_at: created_at().minus_ms(3_600_000), ..query(Method::Pix, 10_000) };
    assert_eq!(short(&read(&over, "failed", "failed", &json!({})).await), "expired");
    let ours = ChargeQuery { cancelled_at: Some(created_at()), ..query(Method::Pix, 10_000) };
    assert_eq!(short(&read(&ours, "canceled", "voided", &json!({})).await), "cancelled");
    let voiding = ChargeQuery { operation_under_way: true, ..query(Method::CreditCard, 10_000) };
    assert_eq!(short(&read(&voiding, "canceled", "voided", &json!({})).await), "authorised");
    let capturing = read(&voiding, "paid", "captured", &json!({ "paid_amount": 10_000 })).await;
    assert_eq!(short(&capturing), "authorised");
}

#[tokio::test(start_paused = true)]
async fn what_is_of_another_order_amount_or_method_is_not_believed() {
    let card = query(Method::CreditCard, 10_000);
    let right = order("credit_card", "paid", "captured", &json!({}));
    for (path, value) in
        [("amount", json!(10_001)), ("currency", json!("USD")), ("payment_method", json!("pix"))]
    {
        let mut other = right.clone();
        other["charges"][0][path] = value;
        let exchange = Scripted::with([answered(200, &json!({ "data": [other] }))]);
        assert_eq!(short(&adapter(exchange.factory()).inquire(&card).await), "mismatched", "{path}");
    }
    let mut other = right;
    other["code"] = json!(CODE.to_uppercase());
    let exchange = Scripted::with([answered(200, &json!({ "data": [other] }))]);
    assert_eq!(short(&adapter(exchange.factory()).inquire(&card).await), "not found");
}

#[tokio::test(start_paused = true)]
async fn what_can_not_be_read_is_unclear() {
    let page = |text: &str| {
        let body = text.as_bytes().to_vec();
        Ok(quita_acquirers::exchange::Response { status: 200, headers: vec![], body })
    };
    let mut half = order("credit_card", "paid", "captured", &json!({}));
    half["charges"][0]["amount"] = json!("R$ 100");
    let half = json!({ "data": [half] }).to_string();
    for text in ["<html>ok</html>", "{}", "{\"data\":{}}", "{\"data\":[{\"id\":\"or_1\"}]}", half.as_str()] {
        let exchange = Scripted::with([page(text)]);
        let answer = adapter(exchange.factory()).inquire(&query(Method::CreditCard, 10_000)).await;
        assert_eq!(short(&answer), "unclear", "{text}");
    }
    let known = Money::from_cents(10_000);
    let asked = ChargeQuery { paid_amount: Some(known), ..query(Method::CreditCard, 10_000) };
    let refused = read(&asked, "failed", "not_authorized", &json!({})).await;
    assert_eq!(short(&refused), "unclear", "it was paid");
}
