use quita_domain::acquiring::OperationAnswer;
use quita_domain::method::Method;
use quita_domain::money::Money;
use quita_domain::order::{Share, Split};
use quita_ports::AcquirerFactory as _;
use serde_json::json;

use crate::payment::*;
use crate::there::{There, known};

fn shared(capture: bool, recipient: &str, share: Share) -> quita_domain::acquiring::Charge {
    let split = Split { recipient_id: recipient.to_owned(), share };
    let mut charge = changed(Method::CreditCard, 9_999, |order| order.splits = vec![split]);
    charge.query.captures_at_once = capture;
    charge
}

fn amounts(there: &There) -> Vec<(String, u64)> {
    there.only().shares.iter().map(|share| (share.recipient.clone(), share.amount_cents)).collect()
}

#[tokio::test(start_paused = true)]
async fn splits_go_to_pagarme_as_flat_cents_and_the_recipient_is_shown() {
    let there = There::open();
    let stated = statement(there.adapter().charge(&shared(true, "loja-a", Share::BasisPoints(3_333))).await);
    assert_eq!(amounts(&there), [(A.to_owned(), 3_332), (OWN.to_owned(), 6_667)]);
    assert_eq!(stated.reference.recipient(0), Some(A));
    assert_eq!(stated.reference.recipient(1), None);
    let rules = there.last_body()["payments"][0]["split"].clone();
    let options = json!({ "liable": true, "charge_processing_fee": true, "charge_remainder_fee": true });
    assert_eq!(rules[1], json!({ "recipient_id": OWN, "type": "flat", "amount": 6_667, "options": options }));
}

#[tokio::test(start_paused = true)]
async fn a_capture_of_a_part_sends_the_rules_again_in_proportion() {
    let there = There::open();
    let charge = shared(false, "loja-a", Share::Amount(Money::from_cents(3_333)));
    let query = known(&charge.query, there.adapter().charge(&charge).await);
    assert_eq!(there.adapter().operate(&query, &capture(5_000)).await, OperationAnswer::Done);
    assert_eq!(amounts(&there), [(A.to_owned(), 1_666), (OWN.to_owned(), 3_334)]);
}

#[tokio::test(start_paused = true)]
async fn a_recipient_without_an_entry_is_no_payment_for_this_acquirer() {
    let there = There::open();
    let charge = shared(true, "loja-b", Share::BasisPoints(5_000));
    assert_eq!(factory(settings(), there.factory()).objection(&charge.order), Some("recipient_unknown"));
}
