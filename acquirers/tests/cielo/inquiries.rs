//! After anything unclear: the order is asked for, then its sale.

use quita_domain::acquiring::{CallFailure, ChargeAnswer, ChargeQuery, Fact, Holding, Identified, Reference};
use quita_domain::identity::TransactionId;
use quita_domain::method::Method;
use quita_domain::money::Money;
use serde_json::json;
use uuid::Uuid;

use crate::bank::{Bank, Booked, Fault};
use crate::payment::*;
use crate::scripted::{Scripted, json, raw};

fn is_unknown(answer: &ChargeAnswer) -> bool {
    matches!(answer, ChargeAnswer::Failed(CallFailure::Unknown(_)))
}

#[tokio::test(start_paused = true)]
async fn a_charge_whose_answer_was_lost_is_found_by_its_order() {
    for fault in [Fault::After, Fault::Answers(500), Fault::Answers(200), Fault::Answers(504)] {
        for method in Method::ALL {
            let bank = Bank::default();
            bank.faults([fault]);
            let cielo = adapter(bank.factory());
            let answer = cielo.charge(&charge(method, 15_700)).await;
            assert!(is_unknown(&answer), "{fault:?} {answer:?}");
            let found = statement(cielo.inquire(&query(method, 15_700)).await);
            let payment_id = bank.only_sale().payment_id;
            assert_eq!(found.reference.get("paymentId"), Some(payment_id.as_str()));
            let calls =
                bank.books(|books| books.calls.iter().map(|(_, call)| call.clone()).collect::<Vec<_>>());
            let order = if method == Method::Boleto { BOLETO_ORDER } else { ORDER };
            let expected = [
                "POST sales/".to_owned(),
                format!("GET sales?merchantOrderId={order}"),
                format!("GET sales/{payment_id}"),
            ];
            assert_eq!(calls, expected);
        }
    }
}

#[tokio::test(start_paused = true)]
async fn a_charge_that_never_arrived_is_not_found() {
    let bank = Bank::default();
    bank.faults([Fault::Before]);
    let cielo = adapter(bank.factory());
    assert!(is_unknown(&cielo.charge(&charge(Method::CreditCard, 15_700)).await));
    assert_eq!(cielo.inquire(&query(Method::CreditCard, 15_700)).await, ChargeAnswer::NotFound);
}

#[tokio::test(start_paused = true)]
async fn an_empty_list_is_not_found_and_one_that_is_none_is_unclear() {
    for empty in [json!({"Payments": []}), json!({"Payment": []}), json!({"payments": null}), json!([])] {
        let exchange = Scripted::with([json(200, &empty)]);
        let answer = adapter(exchange.factory()).inquire(&query(Method::Pix, 1)).await;
        assert_eq!(answer, ChargeAnswer::NotFound, "{empty}");
    }
    for odd in [
        "",
        "null",
        "{}",
        "\"no\"",
        "{\"Payments\":7}",
        "{\"Payments\":[{}]}",
        "{\"Payments\":[{\"PaymentId\":\"../x\"}]}",
        "<html>",
    ] {
        let exchange = Scripted::with([raw(200, odd.as_bytes())]);
        let answer = adapter(exchange.factory()).inquire(&query(Method::Pix, 1)).await;
        assert!(is_unknown(&answer), "{odd}: {answer:?}");
    }
}

#[tokio::test(start_paused = true)]
async fn the_list_is_met_under_two_names_and_as_one_object() {
    let sale = json!({"MerchantOrderId": ORDER, "Payment": {"PaymentId": SALE, "Amount": 1, "Status": 1}});
    for list in [
        json!({"Payment": [{"PaymentId": SALE, "ReceveidDate": "2026-11-21"}]}),
        json!({"Payments": [{"Paymentid": SALE.to_uppercase()}]}),
        json!({"Payment": {"PaymentId": SALE}}),
    ] {
        let exchange = Scripted::with([json(200, &list), json(200, &sale)]);
        let answer = adapter(exchange.factory()).inquire(&query(Method::CreditCard, 1)).await;
        assert!(matches!(answer, ChargeAnswer::Known(_)), "{list}: {answer:?}");
        assert_eq!(exchange.urls()[1], format!("GET {QUERY}/1/sales/{SALE}"));
    }
}

#[tokio::test(start_paused = true)]
async fn a_sale_whose_name_is_known_is_asked_for_by_it() {
    let exchange = Scripted::with([json(404, &json!(null))]);
    let cielo = adapter(exchange.factory());
    let answer = cielo.inquire(&named(query(Method::CreditCard, 1), SALE)).await;
    assert_eq!(answer, ChargeAnswer::NotFound);
    assert_eq!(exchange.urls(), [format!("GET {QUERY}/1/sales/{SALE}")]);
}

#[tokio::test(start_paused = true)]
async fn an_answer_about_another_sale_is_no_answer() {
    let other =
        json!({"MerchantOrderId": ORDER, "Payment": {"PaymentId": SECOND_SALE, "Amount": 1, "Status": 2}});
    let exchange = Scripted::with([json(200, &other)]);
    let answer = adapter(exchange.factory()).inquire(&named(query(Method::CreditCard, 1), SALE)).await;
    assert!(matches!(answer, ChargeAnswer::Mismatched(_)), "{answer:?}");
}

fn booked(payment_id: &str, status: u64, captured: u64) -> Booked {
    Booked {
        order_id: ORDER.into(),
        payment_id: payment_id.into(),
        kind: "CreditCard".into(),
        amount: 15_700,
        captured,
        voided: 0,
        status,
        return_code: "51".into(),
    }
}

#[tokio::test(start_paused = true)]
async fn of_several_sales_the_one_that_holds_money_speaks_whatever_their_order() {
    for places in [[0, 1], [1, 0]] {
        let bank = Bank::default();
        let sales = [booked(SALE, 3, 0), booked(SECOND_SALE, 2, 15_700)];
        bank.books(|books| books.sales = places.map(|place| sales[place].clone()).to_vec());
        let found = statement(adapter(bank.factory()).inquire(&query(Method::CreditCard, 15_700)).await);
        assert!(
            matches!(&found.facts[..], [Fact::Settled(one)] if one.id == SECOND_SALE),
            "{:?}",
            found.facts
        );
        assert_eq!(found.reference.get("paymentId"), Some(SECOND_SALE));
    }
}

/// The sale that each second charge is, with what it holds.
fn second(fact: &Fact) -> Option<(&str, Holding)> {
    let Fact::SecondCharge(second) = fact else { return None };
    assert_eq!(second.reference.get("paymentId"), Some(second.id.as_str()));
    Some((&second.id, second.holds))
}

fn money(taken: u64, given_back: u64) -> Holding {
    Holding::Money { taken: Money::from_cents(taken), given_back: Money::from_cents(given_back) }
}

#[tokio::test(start_paused = true)]
async fn what_a_second_sale_holds_is_stated_with_its_own_name() {
    for (status, captured, voided, holds) in [
        (1, 0, 0, Some(Holding::Limit)),
        (2, 15_700, 0, Some(money(15_700, 0))),
        (2, 15_700, 700, Some(money(15_700, 700))),
        (10, 15_700, 15_700, None),
        (10, 0, 15_700, None),
        (3, 0, 0, None),
        (0, 0, 0, None),
        (20, 0, 0, None),
    ] {
        for places in [[0, 1], [1, 0]] {
            let bank = Bank::default();
            let other = Booked { voided, ..booked(SECOND_SALE, status, captured) };
            let sales = [booked(SALE, 2, 15_700), other];
            bank.books(|books| books.sales = places.map(|place| sales[place].clone()).to_vec());
            let query = ChargeQuery {
                may_have_others: true,
                paid_amount: Some(Money::from_cents(15_700)),
                ..named(query(Method::CreditCard, 15_700), SALE)
            };
            let found = statement(adapter(bank.factory()).inquire(&query).await);
            assert_eq!(found.reference.get("paymentId"), Some(SALE), "the one that counts");
            let stated: Vec<_> = found.facts.iter().filter_map(second).collect();
            let expected: Vec<_> = holds.into_iter().map(|holds| (SECOND_SALE, holds)).collect();
            assert_eq!(stated, expected, "{status} {captured} {voided}");
        }
    }
}

#[tokio::test(start_paused = true)]
async fn a_sale_that_was_named_is_read_although_the_list_does_not_have_it_yet() {
    let bank = Bank::default();
    bank.books(|books| books.sales = vec![booked(SALE, 2, 15_700)]);
    let hidden = Booked { order_id: "somebody else's".into(), ..booked(SECOND_SALE, 2, 15_700) };
    bank.books(|books| books.sales.push(hidden));
    let others = vec![Reference::none().with("paymentId", SECOND_SALE)];
    let query =
        ChargeQuery { others, may_have_others: true, ..named(query(Method::CreditCard, 15_700), SALE) };
    let strangers = facts(adapter(bank.factory()).inquire(&query).await);
    assert_eq!(strangers.iter().filter_map(second).count(), 0, "it is no sale of the payment");
    let urls = bank.books(|books| books.calls.iter().map(|(_, call)| call.clone()).collect::<Vec<_>>());
    assert!(urls.contains(&format!("GET sales/{SECOND_SALE}")), "{urls:?}");
    bank.books(|books| books.sales.retain(|sale| sale.payment_id == SALE));
    let answer = adapter(bank.factory()).inquire(&query).await;
    assert!(is_unknown(&answer), "one of them can't be read: {answer:?}");
}

#[tokio::test(start_paused = true)]
async fn an_unpaid_code_makes_way_for_the_sale_that_was_paid_until_it_is_paid_itself() {
    let pix =
        |payment_id, status, captured| Booked { kind: "Pix".into(), ..booked(payment_id, status, captured) };
    let query = ChargeQuery { may_have_others: true, ..named(query(Method::Pix, 15_700), SALE) };
    let bank = Bank::default();
    bank.books(|books| books.sales = vec![pix(SALE, 12, 0), pix(SECOND_SALE, 2, 15_700)]);
    let found = statement(adapter(bank.factory()).inquire(&query).await);
    assert_eq!(found.reference.get("paymentId"), Some(SECOND_SALE));
    assert!(matches!(&found.facts[..], [Fact::Settled(one)] if one.id == SECOND_SALE), "{:?}", found.facts);
    bank.books(|books| books.sales = vec![pix(SALE, 2, 15_700), pix(SECOND_SALE, 2, 15_700)]);
    let found = statement(adapter(bank.factory()).inquire(&query).await);
    assert_eq!(found.reference.get("paymentId"), Some(SALE));
    assert_eq!(found.facts.iter().filter_map(second).collect::<Vec<_>>(), [(SECOND_SALE, money(15_700, 0))]);
}

#[tokio::test(start_paused = true)]
async fn a_sale_of_another_method_or_amount_does_not_hide_the_payments_own() {
    let pix = Booked { kind: "Pix".into(), ..booked(SALE, 12, 0) };
    let pix_of_another_amount = Booked { kind: "Pix".into(), amount: 9_900, ..booked(SECOND_SALE, 2, 9_900) };
    for (other, told) in [
        (booked(SECOND_SALE, 2, 15_700), "the sale is no Pix, and sale SECOND holds 157.00"),
        (booked(SECOND_SALE, 1, 0), "the sale is no Pix, and sale SECOND holds the card's limit"),
        (pix_of_another_amount, "the sale is of 99.00, not of 157.00, and sale SECOND holds 99.00"),
    ] {
        for is_known in [false, true] {
            let bank = Bank::default();
            bank.books(|books| books.sales = vec![other.clone(), pix.clone()]);
            let query = ChargeQuery { may_have_others: true, ..query(Method::Pix, 15_700) };
            let query = if is_known { named(query, SALE) } else { query };
            let found = statement(adapter(bank.factory()).inquire(&query).await);
            assert_eq!(found.reference.get("paymentId"), Some(SALE));
            let unclear = found.facts.iter().find_map(|fact| {
                let Fact::Unclear { id, text } = fact else { return None };
                (id == SECOND_SALE).then(|| text.replace(SECOND_SALE, "SECOND"))
            });
            assert_eq!(unclear.as_deref(), Some(told));
            assert!(matches!(found.facts[0], Fact::Pending { .. }), "{:?}", found.facts);
        }
    }
}

#[tokio::test(start_paused = true)]
async fn what_others_hold_is_stated_beside_a_sale_of_which_nothing_is_known() {
    for status in [0, 20] {
        let bank = Bank::default();
        bank.books(|books| books.sales = vec![booked(SALE, status, 0), booked(SECOND_SALE, 2, 15_700)]);
        let query = ChargeQuery {
            may_have_others: true,
            paid_amount: Some(Money::from_cents(15_700)),
            ..named(query(Method::CreditCard, 15_700), SALE)
        };
        let stated = facts(adapter(bank.factory()).inquire(&query).await);
        assert!(
            matches!(&stated[..], [Fact::Unclear { id, .. }, Fact::SecondCharge(_)] if id == SALE),
            "{stated:?}"
        );
    }
}

#[tokio::test(start_paused = true)]
async fn a_refusal_is_not_believed_while_another_sale_is_not_finished() {
    let bank = Bank::default();
    bank.books(|books| books.sales = vec![booked(SALE, 3, 0), booked(SECOND_SALE, 0, 0)]);
    assert!(is_unknown(&adapter(bank.factory()).inquire(&query(Method::CreditCard, 15_700)).await));
}

#[tokio::test(start_paused = true)]
async fn a_listed_sale_that_can_not_be_read_is_unclear() {
    let list = json!({"Payments": [{ "PaymentId": SALE }]});
    let exchange = Scripted::with([json(200, &list), json(404, &json!(null))]);
    assert!(is_unknown(&adapter(exchange.factory()).inquire(&query(Method::CreditCard, 15_700)).await));
    let many: Vec<_> = (0..9_u128).map(|number| json!({"PaymentId": Uuid::from_u128(number)})).collect();
    let exchange = Scripted::with([json(200, &json!({ "Payments": many }))]);
    assert!(is_unknown(&adapter(exchange.factory()).inquire(&query(Method::CreditCard, 15_700)).await));
    assert_eq!(exchange.urls().len(), 1);
}

#[tokio::test(start_paused = true)]
async fn a_sale_is_known_as_ours_by_its_order() {
    let ours = TransactionId::new(Uuid::from_u128(ID));
    let reference = Reference::none().with("paymentId", SALE);
    for (order, expected) in [
        (json!(ORDER), Identified::Payment(ours)),
        (json!(ORDER.to_uppercase()), Identified::Payment(ours)),
        (json!(BOLETO_ORDER), Identified::Payment(ours)),
        (json!("A1B2C3"), Identified::Unknown),
        (json!(null), Identified::Unknown),
    ] {
        let sale =
            json!({"MerchantOrderId": order, "Payment": {"PaymentId": SALE, "Amount": 1, "Status": 2}});
        let exchange = Scripted::with([json(200, &sale)]);
        assert_eq!(adapter(exchange.factory()).identify(&reference).await, expected, "{order}");
    }
    let exchange = Scripted::with([json(404, &json!(null)), raw(500, b"")]);
    let cielo = adapter(exchange.factory());
    assert_eq!(cielo.identify(&reference).await, Identified::NotFound);
    assert!(matches!(cielo.identify(&reference).await, Identified::Failed(CallFailure::Unknown(_))));
    for stranger in [Reference::none(), Reference::none().with("paymentId", "../../1/sales")] {
        assert_eq!(cielo.identify(&stranger).await, Identified::Unknown);
    }
    assert_eq!(exchange.urls().len(), 2);
}
