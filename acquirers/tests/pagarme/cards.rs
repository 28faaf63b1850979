use quita_domain::acquiring::{ChargeAnswer, DeclineKind, Fact};
use quita_domain::method::Method;
use serde_json::json;

use crate::payment::*;
use crate::there::There;

#[tokio::test(start_paused = true)]
async fn a_card_is_sent_whole_and_captured_at_once() {
    let there = There::open();
    let stated = statement(there.adapter().charge(&charge(Method::CreditCard, 15_700)).await);
    assert_eq!(sums(&stated.facts), (15_700, 0));
    let names: Vec<&str> = stated.reference.shown().map(|(name, _)| name).collect();
    assert_eq!(names, ["chargeId", "nsu", "orderId", "tid", "transactionId"]);
    let body = there.last_body();
    let address = json!({
        "line_1": "10, Rua da Consolação  fundos, Centro", "line_2": "apto 7", "zip_code": "01310100",
        "city": "São Paulo", "state": "SP", "country": "BR",
    });
    let expected = json!({
        "code": CODE, "closed": true,
        "items": [{ "code": CODE, "description": "Pedido", "amount": 15_700, "quantity": 1 }],
        "customer": {
            "name": "Fulâno de Tal", "email": "fulano@example.com", "type": "individual", "document": "11144477735",
            "document_type": "CPF", "address": address,
            "phones": { "mobile_phone": { "country_code": "55", "area_code": "11", "number": "987654321" } },
        },
        "payments": [{
            "payment_method": "credit_card", "amount": 15_700,
            "credit_card": {
                "installments": 3, "statement_descriptor": "LOJA EXEMPLO", "operation_type": "auth_and_capture",
                "auto_recovery": false,
                "card": {
                    "number": VISA, "holder_name": "Joao DAvila", "exp_month": 3, "exp_year": 2030, "cvv": "123",
                    "billing_address": address,
                },
            },
        }],
    });
    assert_eq!(body, expected);
}

#[tokio::test(start_paused = true)]
async fn a_card_that_is_captured_later_is_authorised() {
    let there = There::open();
    let facts = facts(there.adapter().charge(&uncaptured(15_700)).await);
    assert!(
        matches!(&facts[..], [Fact::Authorized(approval)] if approval.authorization_code.len() == 6),
        "{facts:?}"
    );
    assert!(there.only().holds_limit());
}

#[tokio::test(start_paused = true)]
async fn a_decline_is_told_by_the_brands_code_where_that_is_told() {
    let reversible = Some(DeclineKind::Reversible);
    let irreversible = Some(DeclineKind::Irreversible);
    for (number, code, brand_code, expected) in [
        (VISA, "51", None, ("insufficient_funds", reversible, Some("51"))),
        (VISA, "14", None, ("incorrect_number", irreversible, Some("14"))),
        (VISA, "1016", Some("51"), ("insufficient_funds", reversible, Some("51"))),
        (VISA, "1016", None, ("generic_decline", None, None)),
        (VISA, "0000", None, ("generic_decline", None, None)),
        (VISA, "00", None, ("generic_decline", None, None)),
        (VISA, "5", None, ("generic_decline", None, None)),
        (MASTERCARD, "57", None, ("not_permitted", reversible, Some("57"))),
        ("378282246310005", "116", None, ("insufficient_funds", reversible, Some("116"))),
        ("378282246310005", "1160", None, ("generic_decline", None, None)),
    ] {
        let there = There::open();
        there.outcome(json!({ "decline": { "code": code, "brandCode": brand_code } }));
        let facts = facts(there.adapter().charge(&charge_with(Method::CreditCard, 15_700, number)).await);
        let [Fact::Declined(decline)] = &facts[..] else { panic!("{facts:?}") };
        let told = (decline.code.as_str(), decline.kind, decline.network_code.as_deref());
        assert_eq!(told, expected, "{code} {brand_code:?}");
    }
}

#[tokio::test(start_paused = true)]
async fn a_card_that_antifraud_refuses_is_declined_for_that_and_never_tried_elsewhere() {
    let there = There::open();
    there.outcome(json!("reprove"));
    let facts = facts(there.adapter().charge(&charge(Method::CreditCard, 15_700)).await);
    let [Fact::Declined(decline)] = &facts[..] else { panic!("{facts:?}") };
    assert_eq!(
        (decline.code.as_str(), decline.shown_code(), decline.kind),
        ("antifraud", "acquirer_refused", None)
    );
}

#[tokio::test(start_paused = true)]
async fn what_is_analysed_or_in_error_is_accepted_and_asked_for() {
    for (outcome, is_reviewed) in [("analyze", true), ("process", true), ("err", false)] {
        let there = There::open();
        there.outcome(json!(outcome));
        let charge = charge(Method::CreditCard, 15_700);
        let answer = there.adapter().charge(&charge).await;
        match answer {
            ChargeAnswer::UnderReview(_) => assert!(is_reviewed, "{outcome}"),
            ChargeAnswer::Accepted(_) => assert!(!is_reviewed, "{outcome}"),
            other => panic!("{outcome}: {other:?}"),
        }
        there.control(json!({ "do": "finish", "charge": CODE, "outcome": "approve" }));
        let answer = there.adapter().inquire(&charge.query).await;
        assert_eq!(sums(&facts(answer)), (15_700, 0));
    }
}

#[tokio::test(start_paused = true)]
async fn antifraud_is_demanded_only_where_it_is_configured() {
    let there = There::open();
    for (antifraud, sent) in [(None, json!(null)), (Some(true), json!(true)), (Some(false), json!(false))] {
        use quita_ports::AcquirerFactory as _;
        let settings = quita_acquirers::pagarme::settings::PagarmeSettings { antifraud, ..settings() };
        factory(settings, there.factory()).build().charge(&charge(Method::CreditCard, 15_700)).await;
        assert_eq!(there.last_body()["antifraud_enabled"], sent);
    }
}
