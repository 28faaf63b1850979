//! Refunds and cancellations that acquirers take their time for, or answer unclearly: asked for, never done twice.

use quita_actors::{Denied, Operated};
use quita_domain::acquiring::{Approval, CallFailure, Fact, OperationAnswer};
use quita_domain::identity::{AcquirerName, OperationId};
use quita_domain::method::Method;
use quita_domain::money::Money;
use quita_domain::numbering::AttemptNumber;
use quita_domain::operation::{
    Operation, OperationKind, OperationRequest, OperationState, RequestedOperation, Verdict,
};
use quita_domain::outbound_call::Progress;
use quita_domain::payment::Refusal;
use quita_domain::state::RefundStatus;
use quita_domain::status::Status;

use crate::access::owner;
use crate::bank::{Answer, Call};
use crate::orders::{CENTS, card, id, operation_id, pix};
use crate::trace::Mark::{Charged, Operated as Sent};
use crate::world::{Node, World, pass_ms};

fn cents(cents: u64) -> Money {
    Money::from_cents(cents)
}

/// Asks for a refund of the first payment.
async fn refund(node: &Node<'_>, number: u128, amount: Option<u64>) -> Operated {
    let requested = RequestedOperation::Refund(amount.map(cents));
    let request = OperationRequest { id: operation_id(number), requested, key: None };
    node.payments.operate(id(1), owner(), request).await.unwrap()
}

/// A card payment that is paid.
async fn paid(node: &Node<'_>) {
    assert_eq!(node.created(card(1, true)).await.status(), Status::Paid);
    node.settle().await;
}

/// Returns the status of a refund in the record of the first payment.
fn refund_status(node: &Node<'_>, number: u128) -> RefundStatus {
    let state = node.stored(id(1)).state;
    state.refunds.iter().find(|refund| refund.id == operation_id(number).to_string()).unwrap().status
}

/// The events of the first payment, by name.
fn events(node: &Node<'_>) -> Vec<String> {
    node.stored(id(1)).history.iter().map(|event| event.name()).collect()
}

/// Returns how often the shop got an event.
fn told(world: &World, event: &str) -> usize {
    let name = format!("\"{event}\"");
    world.receivers.received().iter().filter(|request| request.body.contains(&name)).count()
}

/// Returns the operations that were sent, each with the cents that had been given back before.
fn sent(world: &World) -> Vec<(OperationId, u64)> {
    let of = |operation: &Operation| (operation.id, operation.before.cents());
    world.bank.sent_operations().iter().map(of).collect()
}

fn unclear() -> OperationAnswer {
    OperationAnswer::Failed(CallFailure::Unknown("502".into()))
}

#[test]
fn a_refund_that_was_accepted_is_asked_for_until_it_is_done_and_told_of_once() {
    let world = World::new();
    world.live(async {
        let node = world.node();
        paid(&node).await;
        world.bank.next_operations([OperationAnswer::Accepted]);
        world.bank.next_operation_inquiries([OperationAnswer::Accepted, unclear(), OperationAnswer::Done]);
        let began_ms = world.clock.elapsed_ms();
        let answered = refund(&node, 70, Some(3_000)).await;
        assert!(world.clock.elapsed_ms() < began_ms + 1_000, "nobody waits for a bank's working day");
        assert!(answered.operation.call.is_taken());
        assert_eq!(refund_status(&node, 70), RefundStatus::Processing);
        pass_ms(200_000).await;
        assert_eq!(refund_status(&node, 70), RefundStatus::Processing);
        assert_eq!(told(&world, "payment.refund_succeeded"), 0);
        node.settle().await;
        let mut asked_ms = world.bank.called_ms(Call::InquireOperation);
        asked_ms.insert(0, began_ms);
        let waits: Vec<_> = asked_ms.windows(2).map(|pair| pair[1] - pair[0]).collect();
        assert_eq!(waits.len(), 3, "{waits:?}");
        for (wait, step) in waits.iter().zip([10_000, 60_000, 180_000]) {
            assert!((step..step + 600).contains(wait), "{wait} instead of {step}");
        }
        assert_eq!(refund_status(&node, 70), RefundStatus::Succeeded);
        let refunded = Fact::Refunded { refund_id: operation_id(70).to_string(), amount: Some(cents(3_000)) };
        node.payments.submit(node.notice("e1", id(1), refunded)).await.unwrap();
        node.settle().await;
        assert_eq!(events(&node).last().unwrap(), "payment.refund_succeeded");
        assert_eq!(told(&world, "payment.refund_succeeded"), 1, "once, although a notice tells it too");
        assert_eq!((sent(&world).len(), node.stored(id(1)).status()), (1, Status::Paid));
        assert_eq!(world.store.kinds_of_exceptions(), Vec::<String>::new());
    });
}

#[test]
fn a_refund_of_everything_that_was_accepted_makes_a_refund_of_the_payment_when_it_is_done() {
    let world = World::new();
    world.live(async {
        let node = world.node();
        paid(&node).await;
        world.bank.next_operations([OperationAnswer::Accepted]);
        world.bank.next_operation_inquiries([OperationAnswer::Done]);
        refund(&node, 70, None).await;
        assert_eq!(node.stored(id(1)).status(), Status::Paid);
        node.settle().await;
        assert_eq!(node.stored(id(1)).status(), Status::Refund);
        assert_eq!((told(&world, "payment.refund"), told(&world, "payment.refund_succeeded")), (1, 0));
    });
}

#[test]
fn a_refund_that_was_accepted_and_then_refused_is_told_of_and_the_charge_is_asked_for() {
    let world = World::new();
    world.live(async {
        let node = world.node();
        paid(&node).await;
        world.bank.next_operations([OperationAnswer::Accepted]);
        world.bank.next_operation_inquiries([OperationAnswer::Refused("no balance".into())]);
        refund(&node, 70, None).await;
        assert_eq!(world.trace.asked(), 0);
        node.settle().await;
        assert_eq!(refund_status(&node, 70), RefundStatus::Failed);
        assert_eq!(events(&node).last().unwrap(), "payment.refund_failed");
        assert_eq!(told(&world, "payment.refund_failed"), 1);
        let body = world.receivers.received().pop().unwrap().body;
        assert!(body.contains("no balance"), "{body}");
        assert_eq!((world.trace.asked(), node.stored(id(1)).status()), (1, Status::Paid));
        assert_eq!(
            refund(&node, 71, None).await.operation.state(),
            OperationState::Done,
            "it may be tried again"
        );
        node.settle().await;
        assert_eq!(node.stored(id(1)).status(), Status::Refund);
    });
}

#[test]
fn a_refund_that_was_refused_because_another_one_came_first_finds_that_one() {
    let world = World::new();
    world.live(async {
        let node = world.node();
        paid(&node).await;
        world.bank.next_operations([OperationAnswer::Refused("nothing is left".into())]);
        world.bank.states(id(1), Fact::Refunded { refund_id: "at the desk".into(), amount: None });
        assert_eq!(refund(&node, 70, Some(3_000)).await.operation.state(), OperationState::Refused);
        node.settle().await;
        let stored = node.stored(id(1));
        assert_eq!((stored.status(), stored.state.refunded_amount()), (Status::Refund, cents(CENTS)));
        let expected = ["payment.approved", "payment.paid", "payment.refund_failed", "payment.refund"];
        assert_eq!(events(&node), expected);
        assert_eq!(world.store.kinds_of_exceptions(), Vec::<String>::new());
    });
}

#[test]
fn an_unclear_operation_is_asked_about_by_the_next_life_and_not_sent_again() {
    let world = World::new();
    world.live(async {
        let node = world.node();
        paid(&node).await;
        world.bank.next_operations([unclear()]);
        let payments = node.payments.clone();
        let requested = RequestedOperation::Refund(None);
        let request = OperationRequest { id: operation_id(70), requested, key: None };
        drop(actix::spawn(async move { payments.operate(id(1), owner(), request).await }));
        pass_ms(500).await;
        assert_eq!(node.stored(id(1)).operations[0].call.progress, Progress::Unknown);
    });
    assert!(world.bank.called_ms(Call::InquireOperation).is_empty(), "the first life ended before");
    world.bank.next_operation_inquiries([unclear(), OperationAnswer::Done]);
    world.live(async {
        let node = world.node();
        node.settle().await;
        assert_eq!(node.stored(id(1)).status(), Status::Refund);
        assert_eq!(world.bank.called_ms(Call::InquireOperation).len(), 2);
        assert_eq!(sent(&world), [(operation_id(70), 0)]);
    });
}

#[test]
fn an_operation_whose_node_died_while_it_was_under_way_is_asked_about_when_its_lease_is_over() {
    let world = World::new();
    world.live(async {
        let node = world.node();
        paid(&node).await;
        let payments = node.payments.clone();
        let requested = RequestedOperation::Refund(None);
        let request = OperationRequest { id: operation_id(70), requested, key: None };
        drop(actix::spawn(async move { payments.operate(id(1), owner(), request).await }));
        pass_ms(8).await;
        assert!(world.trace.of(id(1)).contains(&Sent("first", id(1))));
        assert_eq!(node.stored(id(1)).operations[0].call.progress, Progress::Sent);
    });
    world.bank.next_operation_inquiries([OperationAnswer::Done]);
    world.live(async {
        let node = world.node();
        node.settle().await;
        assert_eq!(node.stored(id(1)).status(), Status::Refund);
        let sent_ms = world.bank.called_ms(Call::Operate);
        let asked_ms = world.bank.called_ms(Call::InquireOperation);
        assert_eq!((sent_ms.len(), asked_ms.len()), (1, 1), "done once");
        assert!(asked_ms[0] >= sent_ms[0] + 29_900, "{sent_ms:?}, {asked_ms:?}");
    });
}

/// Two refunds that are asked for at the same time, of which the first is accepted and takes its time.
async fn two_refunds(world: &World, node: &Node<'_>) {
    paid(node).await;
    world.bank.next_operations([OperationAnswer::Accepted]);
    world.bank.next_operation_inquiries([OperationAnswer::Done]);
    refund(node, 70, Some(3_000)).await;
    refund(node, 71, Some(2_000)).await;
}

#[test]
fn refunds_at_an_acquirer_that_knows_them_by_its_sums_are_sent_one_after_the_other() {
    let world = World::new().with_bank_that_operates_in_turn();
    world.live(async {
        let node = world.node();
        two_refunds(&world, &node).await;
        let waiting = &node.stored(id(1)).operations[1];
        assert_eq!(
            (waiting.state(), waiting.sent, waiting.call.next_at),
            (OperationState::Processing, 0, None)
        );
        assert_eq!(sent(&world), [(operation_id(70), 0)]);
        node.settle().await;
        assert_eq!(sent(&world), [(operation_id(70), 0), (operation_id(71), 3_000)]);
        let done_ms = world.bank.called_ms(Call::InquireOperation)[0];
        assert!(world.bank.called_ms(Call::Operate)[1] >= done_ms, "after the one before it was done");
        assert_eq!(node.stored(id(1)).state.refunded_amount(), cents(5_000));
        assert_eq!(told(&world, "payment.refund_succeeded"), 2);
    });
}

#[test]
fn refunds_at_an_acquirer_that_has_ids_for_them_do_not_wait_for_each_other() {
    let world = World::new();
    world.live(async {
        let node = world.node();
        two_refunds(&world, &node).await;
        assert_eq!(sent(&world), [(operation_id(70), 0), (operation_id(71), 0)]);
        assert_eq!(refund_status(&node, 71), RefundStatus::Succeeded, "while the first is at the bank");
        node.settle().await;
        assert_eq!(node.stored(id(1)).state.refunded_amount(), cents(5_000));
    });
}

#[test]
fn a_refund_that_waits_for_its_turn_is_sent_when_the_one_before_it_is_refused_by_another_life() {
    let world = World::new().with_bank_that_operates_in_turn();
    world.live(async {
        let node = world.node();
        paid(&node).await;
        world.bank.next_operations([OperationAnswer::Accepted]);
        refund(&node, 70, Some(3_000)).await;
        refund(&node, 71, Some(2_000)).await;
        assert_eq!(sent(&world), [(operation_id(70), 0)]);
    });
    world.bank.next_operation_inquiries([OperationAnswer::Refused("no balance".into())]);
    world.live(async {
        let node = world.node();
        node.settle().await;
        assert_eq!(
            sent(&world),
            [(operation_id(70), 0), (operation_id(71), 0)],
            "nothing had been given back"
        );
        assert_eq!(refund_status(&node, 70), RefundStatus::Failed);
        assert_eq!(refund_status(&node, 71), RefundStatus::Succeeded);
        assert_eq!(node.stored(id(1)).state.refunded_amount(), cents(2_000));
    });
}

#[test]
fn refunds_that_are_asked_for_while_their_acquirer_is_gone_are_sent_one_after_the_other_when_it_is_back() {
    let world = World::new().with_bank_that_operates_in_turn();
    world.live(async {
        paid(&world.node()).await;
    });
    world.live(async {
        let node = world.node_without_acquirers();
        refund(&node, 70, Some(3_000)).await;
        refund(&node, 71, Some(2_000)).await;
        let waiting = &node.stored(id(1)).operations[1];
        assert_eq!((waiting.state(), waiting.sent), (OperationState::Processing, 0), "it has its turn");
        let missing = (AcquirerName::new("first"), Method::CreditCard);
        assert_eq!(node.payments.missing_routes(), [missing]);
        let labels = [("acquirer", "first"), ("method", "credit_card")];
        assert_eq!(node.number("quita_route_missing", &labels), 1);
    });
    world.live(async {
        let node = world.node();
        node.settle().await;
        assert_eq!(node.payments.missing_routes(), []);
        assert_eq!(
            node.number("quita_route_missing", &[("acquirer", "first"), ("method", "credit_card")]),
            0
        );
        assert_eq!(sent(&world), [(operation_id(70), 0), (operation_id(71), 3_000)]);
    });
}

#[test]
fn a_card_that_is_approved_while_its_acquirer_is_gone_is_read_when_it_is_back() {
    let world = World::new().for_hours();
    let authorised = || Fact::Authorized(Approval { authorization_code: "123456".into() });
    world.bank.next([Answer::TakesSilently]);
    world.live(async {
        drop(world.node().begin(card(1, false)));
        pass_ms(100).await;
    });
    world.bank.states(id(1), authorised());
    world.live(async {
        let node = world.node_without_acquirers();
        node.payments.submit(node.notice("e1", id(1), authorised())).await.unwrap();
        pass_ms(5_000).await;
        assert_eq!(node.stored(id(1)).status(), Status::Approved);
    });
    world.live(async {
        let node = world.node();
        pass_ms(3_700_000).await;
        assert_eq!(node.stored(id(1)).status(), Status::Approved, "its charge is known again");
        world.bank.states(id(1), Fact::Expired);
        pass_ms(8 * 3_600_000).await;
        let gone = node.stored(id(1)).state;
        let end = (gone.status, gone.status_reason.as_deref());
        assert_eq!(end, (Status::Declined, Some("authorization_expired")));
    });
}

#[test]
fn a_charge_that_was_issued_in_this_process_waits_for_its_payer_at_once_and_is_never_sent() {
    let world = World::with_local_bank();
    world.live(async {
        let node = world.node();
        world.bank.usually(Answer::Declines);
        let payment = node.created(pix(1)).await;
        assert_eq!((payment.status(), world.trace.stored()), (Status::Pending, 1));
        assert!(payment.state.issued.is_some());
        assert!(world.trace.of(id(1)).contains(&Charged("first", id(1))), "it was issued");
        node.settle().await;
        assert_eq!(world.bank.called_ms(Call::Charge), Vec::<u64>::new());
        assert_eq!(
            node.created(card(2, true)).await.status(),
            Status::Declined,
            "what it can't issue is sent"
        );
        assert_eq!(world.bank.called_ms(Call::Charge).len(), 1);
        node.settle().await;
    });
}

#[test]
fn an_operation_that_stays_unclear_is_ended_by_a_person_and_the_merchant_hears_of_it_once() {
    let world = World::new().for_hours();
    world.live(async {
        let node = world.node();
        paid(&node).await;
        world.bank.next_operations([unclear()]);
        world.bank.next_operation_inquiries(std::iter::repeat_n(unclear(), 40));
        let payments = node.payments.clone();
        let requested = RequestedOperation::Refund(Some(cents(3_000)));
        let request = OperationRequest { id: operation_id(70), requested, key: None };
        drop(actix::spawn(async move { payments.operate(id(1), owner(), request).await }));
        pass_ms(60_000).await;
        let resolve = |verdict| node.operators.resolve_operation(id(1), operation_id(70), verdict);
        let early = resolve(Verdict::Refused).await;
        assert!(matches!(early, Err(Denied::Refused(Refusal::NotStuck))), "{early:?}");
        pass_ms(600_000).await;
        resolve(Verdict::Refused).await.unwrap();
        let again = resolve(Verdict::Done).await;
        assert!(matches!(again, Err(Denied::Refused(Refusal::NotStuck))), "it has ended: {again:?}");
        pass_ms(5_000).await;
        assert_eq!(refund_status(&node, 70), RefundStatus::Failed);
        assert_eq!(told(&world, "payment.refund_failed"), 1);
        let asked = world.bank.called_ms(Call::InquireOperation).len();
        pass_ms(7_200_000).await;
        assert_eq!(world.bank.called_ms(Call::InquireOperation).len(), asked, "nobody is asked any more");
        assert_eq!(refund(&node, 71, Some(CENTS)).await.operation.state(), OperationState::Done);
        node.settle().await;
        assert_eq!(node.stored(id(1)).status(), Status::Refund, "its amount was free again");
    });
}

#[test]
fn a_charge_that_nobody_answers_for_is_ended_by_a_person_and_what_comes_late_is_given_back() {
    let world = World::new().for_hours();
    world.live(async {
        let node = world.node();
        world.bank.next([Answer::Nonsense]);
        world.bank.next_finds(std::iter::repeat_n(Answer::Nonsense, 40));
        assert_eq!(node.created(card(1, true)).await.status(), Status::Initial);
        let resolve = |verdict| node.operators.resolve_charge(id(1), AttemptNumber::FIRST, verdict);
        let early = resolve(Verdict::Refused).await;
        assert!(matches!(early, Err(Denied::Refused(Refusal::NotStuck))), "{early:?}");
        pass_ms(600_000).await;
        let unknown = resolve(Verdict::Done).await;
        assert!(
            matches!(unknown, Err(Denied::Refused(Refusal::NotStuck))),
            "only it may say so: {unknown:?}"
        );
        resolve(Verdict::Refused).await.unwrap();
        let again = resolve(Verdict::Refused).await;
        assert!(matches!(again, Err(Denied::Refused(Refusal::NotStuck))), "it has ended: {again:?}");
        pass_ms(5_000).await;
        assert_eq!((node.stored(id(1)).status(), told(&world, "payment.declined")), (Status::Declined, 1));
        let asked = world.bank.asked_ms().len();
        pass_ms(7_200_000).await;
        assert_eq!(world.bank.asked_ms().len(), asked, "nobody is asked any more");
        let late = crate::bank::settled(id(1), CENTS);
        node.payments.submit(node.notice("late", id(1), late)).await.unwrap();
        pass_ms(5_000).await;
        let given_back = node.stored(id(1)).operations[0].clone();
        assert_eq!(
            (given_back.kind, given_back.state()),
            (OperationKind::Refund(cents(CENTS)), OperationState::Done)
        );
        assert!(world.store.kinds_of_exceptions().contains(&"paid_after_decline".to_owned()));
        node.settle().await;
    });
}

#[test]
fn a_refund_that_the_acquirer_never_does_is_refused_before_anything_is_stored() {
    let world = World::new().with_bank_that_keeps_money();
    world.live(async {
        let node = world.node();
        paid(&node).await;
        let before = node.stored(id(1));
        let requested = RequestedOperation::Refund(None);
        let request = OperationRequest { id: operation_id(7), requested, key: Some("key".into()) };
        for _ in 0..2 {
            let refused = node.payments.operate(id(1), owner(), request.clone()).await;
            assert_eq!(refused.unwrap_err(), Denied::Refused(Refusal::RefundUnsupported));
        }
        node.settle().await;
        assert_eq!(node.stored(id(1)), before);
        assert!(sent(&world).is_empty());
    });
}
