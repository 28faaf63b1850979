//! An acquirer that wants fewer calls gets fewer, whatever they are for, and no payment is lost or moved by that.

use quita_actors::{Denied, NoticeDenied};
use quita_domain::acquiring::{CallFailure, OperationAnswer};
use quita_domain::identity::TransactionId;
use quita_domain::operation::{OperationRequest, OperationState, RequestedOperation};
use quita_domain::payment::Payment;
use quita_domain::status::Status;

use crate::access::owner;
use crate::bank::{Answer, Call};
use crate::orders::{CENTS, card, id, keyed, operation_id, pix};
use crate::world::{Node, World, pass_ms};

fn cancel() -> OperationRequest {
    OperationRequest { id: operation_id(70), requested: RequestedOperation::Cancel, key: None }
}

fn throttled(after_ms: u64) -> OperationAnswer {
    OperationAnswer::Failed(CallFailure::Throttled { after_ms })
}

/// Has the first bank throttle a charge, whose payment is left to itself; tells until when.
async fn throttle(world: &World, node: &Node<'_>, number: u128, after_ms: u64) -> u64 {
    world.bank.next([Answer::Throttled(after_ms)]);
    drop(node.begin(pix(number)));
    pass_ms(10).await;
    world.bank.called_ms(Call::Charge).last().unwrap() + after_ms
}

/// Charges of a payment that its record holds, by acquirer.
fn charged(payment: &Payment) -> Vec<&str> {
    payment.state.attempts.iter().map(|attempt| attempt.acquirer.as_str()).collect()
}

/// Returns how each acquirer was considered: its name, and the reason.
fn considered(payment: &Payment) -> Vec<(&str, &str)> {
    payment.considered.iter().map(|one| (one.acquirer.as_str(), one.reason.as_ref())).collect()
}

/// Everything that is stored ended as it should.
fn all_are(world: &World, status: Status) -> bool {
    world.store.payments().iter().all(|payment| payment.status() == status)
}

#[test]
fn a_throttled_acquirer_is_called_for_nothing_until_its_time_is_over() {
    let world = World::new();
    world.live(async {
        let node = world.node();
        node.created(pix(1)).await;
        node.created(pix(2)).await;
        let made = world.bank.calls().len();
        let until_ms = throttle(&world, &node, 3, 3_000).await;
        let callers = [node.begin(pix(4)), node.begin(card(5, true))];
        let payments = node.payments.clone();
        let cancelling = actix::spawn(async move { payments.operate(id(1), owner(), cancel()).await });
        node.hear(&id(2).to_string()).await.unwrap();
        node.hear(&format!("bank-{}", id(2))).await.unwrap();
        for caller in callers {
            assert_ne!(caller.await.unwrap().unwrap().payment.status(), Status::Initial);
        }
        assert_eq!(cancelling.await.unwrap().unwrap().operation.state(), OperationState::Done);
        node.settle().await;
        let calls = world.bank.calls().split_off(made + 1);
        assert!(calls.iter().all(|(_, at_ms)| *at_ms >= until_ms), "{calls:?} before {until_ms}");
        for (call, times) in [(Call::Charge, 2), (Call::Operate, 1), (Call::Identify, 1)] {
            let after = calls.iter().filter(|(made, at_ms)| *made == call && *at_ms < until_ms + 50);
            assert_eq!(after.count(), times, "{call:?} leaves at once then: {calls:?}");
        }
        assert_eq!(world.store.kinds_of_exceptions(), Vec::<String>::new());
    });
}

#[test]
fn a_throttled_charge_that_was_taken_is_found_when_its_time_is_over() {
    let world = World::new().and_second_bank();
    world.live(async {
        let node = world.node();
        let until_ms = throttle(&world, &node, 1, 30_000).await;
        world.bank.takes_late(&node.stored(id(1)).query());
        node.settle().await;
        let payment = node.stored(id(1));
        assert_eq!((payment.status(), charged(&payment)), (Status::Pending, vec!["first"]));
        let asked_ms = world.bank.asked_ms();
        assert!(asked_ms.len() == 1 && (until_ms..until_ms + 500).contains(&asked_ms[0]), "{asked_ms:?}");
        assert_eq!(world.trace.charges(), 1);
    });
}

#[test]
fn a_throttled_charge_that_was_not_taken_is_sent_to_the_same_acquirer_again() {
    let world = World::new().and_second_bank();
    world.live(async {
        let node = world.node();
        let until_ms = throttle(&world, &node, 1, 5_000).await;
        node.settle().await;
        let payment = node.stored(id(1));
        assert_eq!((payment.status(), charged(&payment)), (Status::Pending, vec!["first", "first"]));
        assert!(world.bank.asked_ms().iter().all(|at_ms| *at_ms >= until_ms));
        assert!(world.bank.called_ms(Call::Charge)[1] >= until_ms + 20_000, "twice not found in 20 s");
        assert!(world.second.as_ref().unwrap().calls().is_empty());
    });
}

#[test]
fn a_charge_that_has_to_be_sent_again_to_a_throttled_acquirer_waits_and_is_not_declined() {
    let world = World::new();
    world.live(async {
        let node = world.node();
        world.bank.next([Answer::Silence]);
        let slowly = Answer::after_ms(2_000, Answer::Missing);
        world.bank.next_finds([Answer::Missing, Answer::Missing, Answer::Missing, slowly]);
        node.created(pix(1)).await;
        pass_ms(27_500 - world.clock.elapsed_ms()).await;
        assert_eq!(world.trace.asked(), 4, "the last answer is on the way");
        let until_ms = throttle(&world, &node, 2, 60_000).await;
        node.settle().await;
        assert_eq!(node.stored(id(1)).status(), Status::Pending);
        assert!(world.bank.called_ms(Call::Charge)[2..].iter().all(|at_ms| *at_ms >= until_ms));
        assert!(all_are(&world, Status::Pending));
    });
}

#[test]
fn a_throttled_inquiry_is_made_again_when_its_time_is_over_and_does_not_count() {
    let world = World::new();
    world.live(async {
        let node = world.node();
        world.bank.next([Answer::TakesSilently]);
        let many = 8;
        world.bank.next_finds(std::iter::repeat_n(Answer::Throttled(20_000), many));
        node.created(pix(1)).await;
        node.settle().await;
        let asked_ms = world.bank.asked_ms();
        assert_eq!(asked_ms.len(), many + 1);
        for pair in asked_ms.windows(2) {
            assert!((20_000..20_500).contains(&(pair[1] - pair[0])), "{asked_ms:?}");
        }
        assert_eq!(node.stored(id(1)).status(), Status::Pending);
        assert_eq!(world.store.kinds_of_exceptions(), Vec::<String>::new(), "nobody failed");
    });
}

#[test]
fn a_new_payment_goes_past_a_throttled_acquirer_which_stays_the_last_resort() {
    let world = World::new().and_second_bank();
    world.live(async {
        let node = world.node();
        let second = world.second.as_ref().unwrap();
        let until_ms = throttle(&world, &node, 1, 4_000).await;
        let moved = node.created(pix(2)).await;
        assert_eq!((moved.status(), charged(&moved)), (Status::Pending, vec!["second"]));
        assert_eq!(considered(&moved), [("second", "eligible"), ("first", "throttled")]);
        second.next([Answer::Unreachable]);
        let back = node.created(pix(3)).await;
        assert_eq!((back.status(), charged(&back)), (Status::Pending, vec!["second", "first"]));
        assert!(world.clock.elapsed_ms() >= until_ms, "and waited for its turn there");
        assert_eq!(charged(&*node.created(pix(4)).await), ["first"], "then all is as before");
        node.settle().await;
        assert_eq!(charged(&node.stored(id(1))), ["first", "first"], "the throttled one never moved");
    });
}

#[test]
fn a_payment_whose_only_acquirer_is_throttled_for_long_is_refused_and_not_stored() {
    let world = World::new();
    world.live(async {
        let node = world.node();
        node.created(keyed(1, "f")).await;
        throttle(&world, &node, 2, 60_000).await;
        let stored = world.store.payments().len();
        let calls = world.bank.calls().len();
        assert_eq!(node.create(pix(3)).await.unwrap_err(), Denied::NoRoute);
        assert_eq!(node.create(card(4, true)).await.unwrap_err(), Denied::NoRoute, "over all methods");
        assert!(node.create(keyed(1, "f")).await.unwrap().is_replay);
        assert_eq!((world.store.payments().len(), world.bank.calls().len()), (stored, calls));
        pass_ms(53_000).await;
        assert_eq!(node.created(pix(3)).await.status(), Status::Pending, "it waits for no longer than 8 s");
        node.settle().await;
        assert!(all_are(&world, Status::Pending));
    });
}

#[test]
fn an_operation_at_an_acquirer_that_is_throttled_for_long_is_sent_later() {
    let world = World::new();
    world.live(async {
        let node = world.node();
        node.created(pix(1)).await;
        let until_ms = throttle(&world, &node, 2, 60_000).await;
        let operated = node.payments.operate(id(1), owner(), cancel()).await.unwrap();
        assert_eq!(operated.operation.state(), OperationState::Processing);
        node.settle().await;
        let sent_ms = world.bank.called_ms(Call::Operate);
        assert!(sent_ms.len() == 1 && sent_ms[0] >= until_ms, "{sent_ms:?}, {until_ms}");
        let stored = node.stored(id(1));
        assert_eq!(
            (stored.status(), stored.operations[0].sent),
            (Status::Cancelled, 1),
            "the others never left"
        );
        assert_eq!(world.store.kinds_of_exceptions(), Vec::<String>::new());
    });
}

#[test]
fn a_throttled_operation_is_asked_about_when_its_time_is_over_and_sent_again_if_it_is_not_there() {
    let world = World::new();
    world.live(async {
        let node = world.node();
        node.created(pix(1)).await;
        world.bank.next_operations([throttled(10_000)]);
        let operated = node.payments.operate(id(1), owner(), cancel()).await.unwrap();
        assert_eq!(operated.operation.state(), OperationState::Processing);
        node.settle().await;
        let sent_ms = world.bank.called_ms(Call::Operate);
        let asked_ms = world.bank.called_ms(Call::InquireOperation);
        assert!(asked_ms[0] >= sent_ms[0] + 10_000, "{sent_ms:?}, {asked_ms:?}");
        assert!(sent_ms.len() == 2 && sent_ms[1] >= asked_ms[0] + 20_000, "{sent_ms:?}, {asked_ms:?}");
        assert_eq!(node.stored(id(1)).status(), Status::Cancelled);
        assert_eq!(world.store.kinds_of_exceptions(), Vec::<String>::new());
    });
}

#[test]
fn a_hint_whose_charge_a_throttled_acquirer_can_not_tell_is_not_taken() {
    let world = World::new();
    world.live(async {
        let node = world.node();
        node.created(pix(1)).await;
        throttle(&world, &node, 2, 20_000).await;
        let by_reference = format!("bank-{}", id(1));
        assert_eq!(node.hear(&by_reference).await, Err(NoticeDenied::NotTaken(Denied::Interrupted)));
        assert!(world.bank.called_ms(Call::Identify).is_empty());
        world.bank.is_paid(id(1), CENTS);
        pass_ms(20_000).await;
        node.hear(&by_reference).await.unwrap();
        pass_ms(500).await;
        assert_eq!(node.stored(id(1)).status(), Status::Paid, "when the provider sends it again, it is");
        node.settle().await;
    });
}

#[test]
fn a_hint_at_an_acquirer_that_is_throttled_for_long_is_asked_about_when_its_time_is_over() {
    let world = World::new();
    world.live(async {
        let node = world.node();
        node.created(pix(1)).await;
        let until_ms = throttle(&world, &node, 2, 50_000).await;
        world.bank.is_paid(id(1), CENTS);
        node.hear(&id(1).to_string()).await.unwrap();
        pass_ms(51_000).await;
        assert!(world.bank.asked_ms().iter().all(|at_ms| *at_ms >= until_ms));
        assert_eq!(node.stored(id(1)).status(), Status::Paid, "before the schedule has it checked");
        node.settle().await;
        assert_eq!(world.store.kinds_of_exceptions(), Vec::<String>::new());
    });
}

/// Three charges: one that is throttled late, one that is throttled at once and for two seconds, and one that waits for
/// these two seconds to be over. Returns when the second throttle is over.
async fn throttled_twice(world: &World, node: &Node<'_>, later_ms: u64) -> u64 {
    world.bank.next([Answer::after_ms(1_500, Answer::Throttled(later_ms))]);
    drop(node.begin(pix(1)));
    pass_ms(10).await;
    throttle(world, node, 2, 2_000).await;
    drop(node.begin(pix(3)));
    pass_ms(10).await;
    world.bank.called_ms(Call::Charge)[0] + 1_500 + later_ms
}

/// Returns when the charge that waited left; it is the first one after the two that were throttled.
fn third_charge_ms(world: &World) -> Option<u64> {
    world.bank.called_ms(Call::Charge).get(2).copied()
}

#[test]
fn a_call_that_waits_when_its_acquirer_throttles_again_waits_on() {
    let world = World::new();
    world.live(async {
        let node = world.node();
        let until_ms = throttled_twice(&world, &node, 4_000).await;
        pass_ms(7_000).await;
        assert_eq!(node.stored(id(3)).status(), Status::Pending);
        let left_ms = third_charge_ms(&world).unwrap();
        assert!((until_ms..until_ms + 50).contains(&left_ms), "{left_ms} instead of {until_ms}");
        node.settle().await;
        assert!(all_are(&world, Status::Pending));
    });
}

#[test]
fn a_call_that_would_have_to_wait_for_too_long_by_then_never_leaves() {
    let world = World::new();
    world.live(async {
        let node = world.node();
        throttled_twice(&world, &node, 60_000).await;
        pass_ms(10_000).await;
        let payment = node.stored(id(3));
        assert_eq!(payment.status(), Status::Declined);
        assert_eq!(payment.state.status_reason.as_deref(), Some("no_acquirer_available"));
        assert_eq!(third_charge_ms(&world), None);
        node.settle().await;
    });
}

#[test]
fn calls_leave_at_the_rate_that_the_acquirer_allows_over_all_methods() {
    let world = World::new().with_bank_rate(4);
    world.live(async {
        let node = world.node();
        let pix_callers = (1..=4).map(|number| node.begin(pix(number)));
        let card_callers = (5..=8).map(|number| node.begin(card(number, true)));
        let callers: Vec<_> = pix_callers.chain(card_callers).collect();
        pass_ms(10).await;
        node.hear("bank-9").await.unwrap();
        for caller in callers {
            assert_ne!(caller.await.unwrap().unwrap().payment.status(), Status::Initial);
        }
        let calls = world.bank.calls();
        assert_eq!((calls.len(), calls[8].0), (9, Call::Identify), "in the order of their coming");
        for pair in calls.windows(2) {
            assert!((250..255).contains(&(pair[1].1 - pair[0].1)), "{calls:?}");
        }
        node.settle().await;
    });
}

#[test]
fn a_backlog_longer_than_a_merchant_waits_refuses_new_payments_without_storing_them() {
    let world = World::new().with_bank_rate(1);
    world.live(async {
        let node = world.node();
        for number in 1..=9 {
            drop(node.begin(pix(number)));
            pass_ms(10).await;
        }
        assert_eq!(node.create(pix(10)).await.unwrap_err(), Denied::NoRoute);
        assert_eq!(node.create(card(11, true)).await.unwrap_err(), Denied::NoRoute);
        let known: Vec<TransactionId> = world.store.payments().iter().map(|payment| payment.id).collect();
        assert_eq!(known, (1..=9).map(id).collect::<Vec<_>>());
        pass_ms(1_000).await;
        drop(node.begin(pix(10)));
        pass_ms(20_000).await;
        assert!(world.store.payments().len() == 10 && all_are(&world, Status::Pending));
        assert_eq!(world.trace.charges(), 10, "and each was sent once");
        node.settle().await;
    });
}

#[test]
fn a_backlog_that_a_throttled_acquirer_has_besides_refuses_new_payments_too() {
    let world = World::new().with_bank_rate(1);
    world.live(async {
        let node = world.node();
        throttle(&world, &node, 1, 5_000).await;
        // They leave after 5, 6, 7 and 8 seconds.
        for number in 2..=5 {
            drop(node.begin(pix(number)));
            pass_ms(10).await;
        }
        assert_eq!(node.create(pix(6)).await.unwrap_err(), Denied::NoRoute);
        assert_eq!(world.store.payments().len(), 5);
        node.settle().await;
        assert!(all_are(&world, Status::Pending), "and nothing that was stored is declined");
    });
}

#[test]
fn a_payment_goes_past_an_acquirer_with_a_long_backlog() {
    let world = World::new().with_bank_rate(1).and_second_bank();
    world.live(async {
        let node = world.node();
        for number in 1..=9 {
            drop(node.begin(pix(number)));
            pass_ms(10).await;
        }
        let moved = node.created(pix(10)).await;
        assert_eq!((moved.status(), charged(&moved)), (Status::Pending, vec!["second"]));
        assert_eq!(considered(&moved), [("second", "eligible"), ("first", "busy")]);
        node.settle().await;
    });
}
