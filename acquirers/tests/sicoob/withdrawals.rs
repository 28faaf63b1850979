//! Withdrawing a title. There are no refunds.

use quita_banks::sicoob::Status;
use quita_domain::acquiring::{CallFailure, OperationAnswer};
use quita_domain::money::Money;
use quita_domain::operation::OperationKind;
use serde_json::json;

use crate::world::{NUMBER, World, operation};

#[tokio::test]
async fn an_open_title_is_withdrawn_and_a_second_withdrawal_finds_it_done() {
    let world = World::open();
    let query = world.registered().await;
    let adapter = world.adapter();
    let cancel = operation(OperationKind::Cancel);
    assert_eq!(adapter.inquire_operation(&query, &cancel).await, OperationAnswer::NotFound);
    assert_eq!(adapter.operate(&query, &cancel).await, OperationAnswer::Done);
    assert_eq!(world.accounts()[&u64::from(NUMBER)].status, Status::WrittenOff);
    assert_eq!(adapter.operate(&query, &cancel).await, OperationAnswer::Done);
    assert_eq!(adapter.inquire_operation(&query, &cancel).await, OperationAnswer::Done);
}

#[tokio::test]
async fn a_paid_title_is_not_withdrawn() {
    let world = World::open();
    let query = world.registered().await;
    world.tell(json!({ "do": "pay", "number": NUMBER }));
    let answer = world.adapter().operate(&query, &operation(OperationKind::Cancel)).await;
    assert_eq!(answer, OperationAnswer::Refused("already_paid".into()));
}

#[tokio::test]
async fn a_lost_answer_is_asked_for() {
    let world = World::open();
    let query = world.registered().await;
    let adapter = world.adapter();
    let cancel = operation(OperationKind::Cancel);
    adapter.inquire(&query).await;
    world.strike(json!([{ "fault": "reset-after" }]));
    let answer = adapter.operate(&query, &cancel).await;
    assert!(matches!(answer, OperationAnswer::Failed(CallFailure::Unknown(_))), "{answer:?}");
    assert_eq!(adapter.inquire_operation(&query, &cancel).await, OperationAnswer::Done);
}

#[tokio::test]
async fn nothing_is_given_back_and_no_call_is_made_for_it() {
    let world = World::open();
    let query = world.registered().await;
    let calls = world.sent().len();
    let refund = operation(OperationKind::Refund(Money::from_cents(1)));
    let answer = world.adapter().operate(&query, &refund).await;
    assert_eq!(answer, OperationAnswer::Refused("refund_unsupported".into()));
    assert_eq!(world.sent().len(), calls);
}
