//! Calls whose outcome is unknown: asked for until it is known, and never sent elsewhere before that.

use std::time::Duration;

use quita_domain::acquiring::{CallFailure, OperationAnswer};
use quita_domain::operation::{OperationRequest, OperationState, RequestedOperation};
use quita_domain::status::Status;

use crate::access::owner;
use crate::bank::{Answer, TIME_OUT_MS};
use crate::orders::{card, id, operation_id, pix};
use crate::trace::Mark::{Asked, Charged, Operated, Stored};
use crate::world::{World, pass_ms};

/// The waits before questions: 1 s, 2 s, 5 s, 15 s, 1 min, 5 min, 15 min, then every hour.
const STEPS_MS: [u64; 9] = [1_000, 2_000, 5_000, 15_000, 60_000, 300_000, 900_000, 3_600_000, 3_600_000];

#[test]
fn a_charge_that_timed_out_is_asked_for_and_found() {
    let world = World::new().and_second_bank();
    world.live(async {
        let node = world.node();
        world.bank.next([Answer::TakesSilently]);
        let payment = node.created(pix(1)).await;
        assert_eq!(payment.status(), Status::Pending, "the answer came while the caller waited");
        let first_ms = TIME_OUT_MS + STEPS_MS[0];
        assert!((first_ms..first_ms + 500).contains(&world.clock.elapsed_ms()), "not asked at once");
        assert_eq!(node.stored(id(1)).state.attempts.len(), 1);
        let expected = [
            Stored(id(1), 1, Status::Initial),
            Charged("first", id(1)),
            Stored(id(1), 2, Status::Initial),
            Stored(id(1), 3, Status::Initial),
            Asked("first", id(1)),
            Stored(id(1), 4, Status::Pending),
        ];
        assert_eq!(world.trace.of_outside(id(1)), expected);
        node.settle().await;
    });
}

#[test]
fn a_charge_that_timed_out_and_is_not_there_is_sent_to_the_same_acquirer_again() {
    let world = World::new().and_second_bank();
    world.live(async {
        let node = world.node();
        world.bank.next([Answer::Silence]);
        assert_eq!(node.created(pix(1)).await.status(), Status::Initial, "nothing is certain yet");
        let expected = [
            Charged("first", id(1)),
            Asked("first", id(1)),
            Asked("first", id(1)),
            Asked("first", id(1)),
            Asked("first", id(1)),
            Charged("first", id(1)),
        ];
        let sent_again_ms = TIME_OUT_MS + STEPS_MS[0] + 20_000;
        pass_ms(sent_again_ms + 1_500 - world.clock.elapsed_ms()).await;
        let calls = world.trace.of_outside(id(1)).into_iter().filter(|mark| !matches!(mark, Stored(..)));
        assert_eq!(calls.collect::<Vec<_>>(), expected);
        assert!(*world.bank.asked_ms().last().unwrap() >= sent_again_ms);
        assert_eq!(node.stored(id(1)).status(), Status::Pending);
        node.settle().await;
    });
}

#[test]
fn a_request_that_is_still_under_way_behind_the_acquirers_door_is_found_and_not_sent_again() {
    let world = World::new();
    world.live(async {
        let node = world.node();
        // The bank takes the charge nine seconds after the call was cut, and knows nothing of it before.
        world.bank.next([Answer::Silence]);
        node.created(pix(1)).await;
        pass_ms(TIME_OUT_MS + 9_000 - world.clock.elapsed_ms()).await;
        assert!(world.bank.asked_ms().len() >= 3, "and was asked more than once");
        world.bank.takes_late(&node.stored(id(1)).query());
        node.settle().await;
        assert_eq!(node.stored(id(1)).status(), Status::Pending);
        assert_eq!(world.trace.charges(), 1);
    });
}

#[test]
fn an_unknown_outcome_is_asked_for_by_the_schedule_for_hours_and_an_operator_is_told() {
    let world = World::new()
        .for_hours()
        .and_second_bank()
        .with_limits(|limits| limits.timer_interval = Duration::from_millis(250));
    world.live(async {
        let node = world.node();
        world.bank.next([Answer::TakesSilently]);
        world.bank.next_finds(std::iter::repeat_n(Answer::Nonsense, STEPS_MS.len() - 1));
        assert_eq!(node.created(card(1, true)).await.status(), Status::Initial);
        pass_ms(100_000).await;
        assert_eq!(world.store.kinds_of_exceptions(), Vec::<String>::new(), "not at once");
        node.settle().await;
        let mut asked_ms = world.bank.asked_ms();
        asked_ms.insert(0, TIME_OUT_MS);
        let waits: Vec<_> = asked_ms.windows(2).map(|pair| pair[1] - pair[0]).collect();
        assert_eq!(waits.len(), STEPS_MS.len(), "{waits:?}");
        for (wait, step) in waits.iter().zip(STEPS_MS) {
            assert!((step..step + 600).contains(wait), "{wait} instead of {step}");
        }
        assert_eq!(node.stored(id(1)).status(), Status::Paid, "the last question was answered");
        assert_eq!(world.store.kinds_of_exceptions(), ["unknown_outcome"], "told once");
        assert_eq!(world.trace.charges(), 1, "never sent again, and never elsewhere");
    });
}

#[test]
fn a_late_answer_to_a_charge_that_timed_out_is_not_needed() {
    let world = World::new();
    world.live(async {
        let node = world.node();
        world.bank.next([Answer::after_ms(TIME_OUT_MS * 2, Answer::Takes)]);
        node.created(pix(1)).await;
        pass_ms(60_000).await;
        node.settle().await;
        let stored = node.stored(id(1));
        assert_eq!((stored.status(), stored.history.len()), (Status::Pending, 1));
    });
}

#[test]
fn an_operation_without_an_answer_is_asked_about_and_sent_again_only_when_it_is_certainly_not_there() {
    let world = World::new();
    world.live(async {
        let node = world.node();
        node.created(card(1, false)).await;
        node.settle().await;
        let lost = || OperationAnswer::Failed(CallFailure::Unknown("502".into()));
        world.bank.next_operations([lost()]);
        world.bank.next_operation_inquiries([lost()]);
        let refund = |number| OperationRequest {
            id: operation_id(70),
            requested: RequestedOperation::Refund(None),
            key: Some(format!("key{number}")),
        };
        let sent =
            || world.trace.of(id(1)).into_iter().filter(|mark| *mark == Operated("first", id(1))).count();
        let operated = node.payments.operate(id(1), owner(), refund(1)).await.unwrap();
        assert_eq!(operated.operation.state(), OperationState::Processing, "the caller waited eight seconds");
        assert_eq!(sent(), 1, "nobody knows whether it was done");
        pass_ms(20_000).await;
        assert_eq!(sent(), 2, "twice not found, and asked for twenty seconds");
        node.settle().await;
        let stored = node.stored(id(1));
        assert_eq!((stored.status(), stored.state.refunds.len()), (Status::Refund, 1));
    });
}

#[test]
fn an_operation_that_an_inquiry_finds_done_is_answered_in_time_and_never_sent_again() {
    let world = World::new();
    world.live(async {
        let node = world.node();
        node.created(card(1, false)).await;
        node.settle().await;
        world.bank.next_operations([OperationAnswer::Failed(CallFailure::Unknown("502".into()))]);
        world.bank.next_operation_inquiries([OperationAnswer::Done]);
        let requested = RequestedOperation::Refund(None);
        let refund = OperationRequest { id: operation_id(70), requested, key: None };
        let operated = node.payments.operate(id(1), owner(), refund).await.unwrap();
        assert_eq!(operated.operation.state(), OperationState::Done, "the caller waited for it");
        let sent = world.trace.of(id(1)).into_iter().filter(|mark| *mark == Operated("first", id(1)));
        assert_eq!(sent.count(), 1);
        node.settle().await;
    });
}
