//! Operators' directives: paused acquirers get nothing new, drained ones get nothing at all.
//! Nothing is lost.

use quita_actors::{Denied, RouteState};
use quita_domain::acquiring::{Fact, OperationAnswer};
use quita_domain::control::{RouteControl, RouteDirective};
use quita_domain::identity::AcquirerName;
use quita_domain::method::Method;
use quita_domain::operation::{OperationRequest, OperationState, RequestedOperation};
use quita_domain::status::Status;
use quita_domain::time::Timestamp;
use std::time::Duration;

use crate::access::owner;
use crate::bank::{Answer, settled};
use crate::orders::{CENTS, card, id, keyed, operation_id, pix};
use crate::store::{Fault, Op};
use crate::trace::Mark;
use crate::world::{Node, World, pass_ms};

/// Orders something for a bank's PIX.
async fn order(node: &Node<'_>, bank: &str, order: RouteDirective) {
    let ordered = node.operators.direct(&AcquirerName::new(bank), Method::Pix, order).await;
    assert_eq!(ordered.unwrap().unwrap().directive, order);
}

/// Returns the state of a bank's PIX route.
fn state(node: &Node<'_>, bank: &str) -> RouteState {
    let routes = node.operators.routes();
    let route = routes.iter().find(|route| route.acquirer.as_str() == bank && route.method == Method::Pix);
    route.unwrap().state
}

fn requested(requested: RequestedOperation, number: u128) -> OperationRequest {
    OperationRequest { id: operation_id(number), requested, key: None }
}

/// Charges that a bank got of a payment.
fn charges(world: &World, bank: &'static str, number: u128) -> usize {
    let charged = Mark::Charged(bank, id(number));
    world.trace.of(id(number)).into_iter().filter(|mark| *mark == charged).count()
}

#[test]
fn a_paused_acquirer_gets_no_new_payment_and_keeps_those_that_it_has() {
    let world = World::new().and_second_bank();
    world.live(async {
        let node = world.node();
        node.created(pix(1)).await;
        order(&node, "first", RouteDirective::Paused).await;
        let moved = node.created(pix(2)).await;
        assert_eq!(moved.acquirer().unwrap().as_str(), "second");
        let reasons: Vec<_> =
            moved.considered.iter().map(|one| (one.acquirer.as_str(), one.reason.as_ref())).collect();
        assert_eq!(reasons, [("second", "eligible"), ("first", "paused")]);
        let cancelled =
            node.payments.operate(id(1), owner(), requested(RequestedOperation::Cancel, 70)).await.unwrap();
        assert_eq!(cancelled.payment.status(), Status::Cancelled, "what it has goes on");
        let by_card = node.created(card(3, true)).await;
        assert_eq!(by_card.acquirer().unwrap().as_str(), "first", "another method is another route");
        order(&node, "first", RouteDirective::Open).await;
        assert_eq!(node.created(pix(4)).await.acquirer().unwrap().as_str(), "first");
        node.settle().await;
    });
}

#[test]
fn with_every_acquirer_paused_nothing_is_written_and_a_known_key_still_gets_its_payment() {
    let world = World::new();
    world.live(async {
        let node = world.node();
        node.created(keyed(1, "f")).await;
        for ordered in [RouteDirective::Paused, RouteDirective::Drained] {
            order(&node, "first", ordered).await;
            assert_eq!(node.create(keyed(2, "g")).await.unwrap_err(), Denied::NoRoute);
            assert!(node.create(keyed(1, "f")).await.unwrap().is_replay);
            assert_eq!(world.store.payments().len(), 1);
        }
        order(&node, "first", RouteDirective::Open).await;
        assert!(!node.create(keyed(2, "g")).await.unwrap().is_replay);
        node.settle().await;
    });
}

#[test]
fn a_payment_does_not_move_to_an_acquirer_that_was_paused_meanwhile() {
    let world = World::new().and_second_bank();
    world.live(async {
        let node = world.node();
        world.bank.next([Answer::after_ms(500, Answer::Unreachable)]);
        let caller = node.begin(pix(1));
        pass_ms(100).await;
        order(&node, "second", RouteDirective::Paused).await;
        let created = caller.await.unwrap().unwrap();
        assert_eq!(created.payment.status(), Status::Declined);
        assert_eq!(created.payment.state.status_reason.as_deref(), Some("no_acquirer_available"));
        assert_eq!(charges(&world, "second", 1), 0);
        node.settle().await;
    });
}

#[test]
fn a_paused_acquirer_is_asked_for_unknown_outcomes_and_gets_a_charge_again_that_it_never_saw() {
    let world = World::new();
    world.live(async {
        let node = world.node();
        world.bank.next([Answer::Silence]);
        let caller = node.begin(pix(1));
        pass_ms(100).await;
        order(&node, "first", RouteDirective::Paused).await;
        assert_eq!(caller.await.unwrap().unwrap().payment.status(), Status::Initial);
        node.settle().await;
        assert_eq!((node.stored(id(1)).status(), charges(&world, "first", 1)), (Status::Pending, 2));
    });
}

#[test]
fn a_drained_acquirer_ends_what_is_under_way_and_gets_nothing_more() {
    let world = World::new().with_bank_concurrency(2).and_second_bank();
    world.live(async {
        let node = world.node();
        world.bank.usually(Answer::after_ms(2_000, Answer::Takes));
        let callers: Vec<_> = (1..=6).map(|number| node.begin(pix(number))).collect();
        pass_ms(100).await;
        order(&node, "first", RouteDirective::Drained).await;
        assert_eq!(state(&node, "first"), RouteState::Draining);
        let view = node.operators.routes().remove(0);
        assert_eq!((view.under_way, view.waiting), (2, 4));
        assert_eq!(node.created(pix(7)).await.acquirer().unwrap().as_str(), "second");
        pass_ms(2_000).await;
        assert_eq!(state(&node, "first"), RouteState::Drained);
        for caller in callers {
            assert_eq!(caller.await.unwrap().unwrap().payment.status(), Status::Pending);
        }
        let charged = (1..=6).map(|number| charges(&world, "first", number)).sum::<usize>();
        let moved = (1..=6).map(|number| charges(&world, "second", number)).sum::<usize>();
        assert_eq!((charged, moved), (2, 4), "what had only waited went to the other one");
        node.settle().await;
    });
}

#[test]
fn a_refund_at_a_drained_acquirer_is_processing_and_is_done_soon_after_it_is_opened() {
    let world = World::new();
    world.live(async {
        let node = world.node();
        node.created(pix(1)).await;
        node.payments.submit(node.notice("e1", id(1), settled(id(1), CENTS))).await.unwrap();
        node.settle().await;
        order(&node, "first", RouteDirective::Drained).await;
        let asked = node
            .payments
            .operate(id(1), owner(), requested(RequestedOperation::Refund(None), 70))
            .await
            .unwrap();
        assert_eq!(asked.operation.state(), OperationState::Processing);
        pass_ms(600_000).await;
        let operated = Mark::Operated("first", id(1));
        assert!(!world.trace.of(id(1)).contains(&operated), "nothing was sent");
        assert_eq!(node.stored(id(1)).status(), Status::Paid);
        order(&node, "first", RouteDirective::Open).await;
        pass_ms(31_000).await;
        assert_eq!(node.stored(id(1)).status(), Status::Refund);
        assert_eq!(world.store.kinds_of_exceptions(), Vec::<String>::new());
        node.settle().await;
    });
}

/// Has something asked of the first payment at an acquirer that is drained.
async fn asked_while_drained(node: &Node<'_>, wanted: RequestedOperation) {
    order(node, "first", RouteDirective::Drained).await;
    let asked = node.payments.operate(id(1), owner(), requested(wanted, 70)).await.unwrap();
    assert_eq!(asked.operation.state(), OperationState::Processing);
}

/// Opens the acquirer: nothing of what waited is sent, and it has ended as refused.
async fn opened_too_late(world: &World, node: &Node<'_>) {
    order(node, "first", RouteDirective::Open).await;
    node.settle().await;
    assert!(!world.trace.of(id(1)).contains(&Mark::Operated("first", id(1))), "it must not be sent any more");
    assert_eq!(node.stored(id(1)).operations[0].call.refusal.as_deref(), Some("status_changed"));
    assert_eq!(world.store.kinds_of_exceptions(), Vec::<String>::new());
}

#[test]
fn a_refund_at_a_drained_acquirer_is_not_sent_after_a_chargeback() {
    let world = World::new();
    world.live(async {
        let node = world.node();
        node.created(pix(1)).await;
        node.payments.submit(node.notice("e1", id(1), settled(id(1), CENTS))).await.unwrap();
        node.settle().await;
        asked_while_drained(&node, RequestedOperation::Refund(None)).await;
        let disputed = Fact::ChargedBack { id: "c1".into(), amount: None };
        node.payments.submit(node.notice("e2", id(1), disputed)).await.unwrap();
        opened_too_late(&world, &node).await;
        let stored = node.stored(id(1));
        assert_eq!(stored.status(), Status::Chargeback);
        assert_eq!(stored.state.refunds[0].failure_reason.as_deref(), Some("status_changed"));
        assert_eq!(stored.history.last().unwrap().name(), "payment.refund_failed");
    });
}

#[test]
fn a_cancellation_at_a_drained_acquirer_is_not_sent_after_the_payment_was_paid() {
    let world = World::new();
    world.live(async {
        let node = world.node();
        node.created(pix(1)).await;
        asked_while_drained(&node, RequestedOperation::Cancel).await;
        node.payments.submit(node.notice("e1", id(1), settled(id(1), CENTS))).await.unwrap();
        opened_too_late(&world, &node).await;
        assert_eq!(node.stored(id(1)).status(), Status::Paid);
    });
}

#[test]
fn an_unknown_outcome_waits_while_its_acquirer_is_drained_and_is_asked_for_soon_afterwards() {
    let world = World::new();
    world.live(async {
        let node = world.node();
        world.bank.next([Answer::TakesSilently]);
        let caller = node.begin(pix(1));
        pass_ms(100).await;
        order(&node, "first", RouteDirective::Drained).await;
        assert_eq!(caller.await.unwrap().unwrap().payment.status(), Status::Initial);
        pass_ms(600_000).await;
        assert_eq!((world.trace.asked(), node.stored(id(1)).status()), (0, Status::Initial));
        order(&node, "first", RouteDirective::Open).await;
        pass_ms(31_000).await;
        assert_eq!((world.trace.asked(), world.trace.charges()), (1, 1));
        let found = node.stored(id(1));
        assert_eq!(found.state.attempts[0].call.progress.as_str(), "accepted");
        assert_eq!(world.store.kinds_of_exceptions(), Vec::<String>::new());
        node.settle().await;
    });
}

#[test]
fn a_charge_that_has_to_be_sent_again_to_a_drained_acquirer_waits_and_is_not_declined() {
    let world = World::new();
    world.live(async {
        let node = world.node();
        world.bank.next([Answer::Silence]);
        drop(node.begin(pix(1)));
        pass_ms(20_000).await;
        let asked = world.trace.asked();
        assert!(asked >= 2, "the next answer is believed");
        // The order comes between that answer and the charge.
        world.store.always(Op::Commit, Fault::Slow(Duration::from_secs(1)));
        while world.trace.asked() == asked {
            pass_ms(100).await;
        }
        order(&node, "first", RouteDirective::Drained).await;
        world.store.heal();
        pass_ms(600_000).await;
        let waits = node.stored(id(1));
        assert_eq!((waits.status(), waits.state.attempts.len()), (Status::Initial, 2));
        assert_eq!((charges(&world, "first", 1), world.trace.asked()), (1, asked + 1));
        order(&node, "first", RouteDirective::Open).await;
        node.settle().await;
        assert_eq!((node.stored(id(1)).status(), charges(&world, "first", 1)), (Status::Pending, 2));
    });
}

#[test]
fn an_operation_under_way_at_an_acquirer_that_is_drained_ends() {
    let world = World::new();
    world.live(async {
        let node = world.node();
        node.created(pix(1)).await;
        world.bank.next_operations([OperationAnswer::Done]);
        let payments = node.payments.clone();
        let cancelling = actix::spawn(async move {
            payments.operate(id(1), owner(), requested(RequestedOperation::Cancel, 70)).await
        });
        pass_ms(5).await;
        order(&node, "first", RouteDirective::Drained).await;
        assert_eq!(cancelling.await.unwrap().unwrap().payment.status(), Status::Cancelled);
        node.settle().await;
    });
}

#[test]
fn orders_hold_after_a_restart_before_the_first_payment_is_routed() {
    let world = World::new().and_second_bank();
    world.live(async { order(&world.node(), "first", RouteDirective::Paused).await });
    world.live(async {
        let node = world.node();
        assert_eq!(node.created(pix(1)).await.acquirer().unwrap().as_str(), "second");
        let view = node.operators.routes().remove(0);
        assert_eq!((view.state, view.directive), (RouteState::Paused, RouteDirective::Paused));
        assert!(view.directed_at.unwrap() < world.store.payment(id(1)).unwrap().created_at);
        node.settle().await;
    });
}

#[test]
fn every_other_node_follows_within_two_seconds() {
    let world = World::new().and_second_bank();
    world.live(async {
        let one = world.node();
        let two = world.node();
        two.created(pix(1)).await;
        order(&one, "first", RouteDirective::Drained).await;
        pass_ms(2_000).await;
        assert_eq!(state(&two, "first"), RouteState::Drained);
        assert_eq!(two.created(pix(2)).await.acquirer().unwrap().as_str(), "second");
        order(&two, "first", RouteDirective::Open).await;
        pass_ms(2_000).await;
        assert_eq!(one.created(pix(3)).await.acquirer().unwrap().as_str(), "first");
        one.settle().await;
    });
}

#[test]
fn the_last_orders_hold_while_the_store_does_not_tell_them() {
    let world = World::new().and_second_bank();
    world.live(async {
        let node = world.node();
        node.created(pix(2)).await;
        order(&node, "first", RouteDirective::Paused).await;
        world.store.always(Op::RouteControls, Fault::Unavailable);
        pass_ms(60_000).await;
        assert_eq!(node.created(pix(1)).await.acquirer().unwrap().as_str(), "second");
        node.settle().await;
    });
}

#[test]
fn nothing_is_routed_before_the_orders_were_read_once() {
    let world = World::new();
    world.store.always(Op::RouteControls, Fault::Unavailable);
    world.live(async {
        let node = world.node();
        assert!(matches!(node.create(keyed(1, "f")).await, Err(Denied::StoreUnavailable(_))));
        assert_eq!((world.trace.charges(), world.store.payments().len()), (0, 0));
        let waiting = node.begin(keyed(1, "f"));
        pass_ms(1_000).await;
        world.store.heal();
        assert_eq!(waiting.await.unwrap().unwrap().payment.status(), Status::Pending);
        node.settle().await;
    });
}

#[test]
fn an_order_that_is_not_stored_does_not_hold() {
    let world = World::new();
    world.live(async {
        let node = world.node();
        node.created(pix(1)).await;
        world.store.once(Op::PutRouteControl, Fault::Unavailable);
        let ordered =
            node.operators.direct(&AcquirerName::new("first"), Method::Pix, RouteDirective::Drained).await;
        assert!(matches!(ordered, Err(Denied::StoreUnavailable(_))));
        pass_ms(2_000).await;
        assert_eq!(state(&node, "first"), RouteState::Healthy);
        node.settle().await;
    });
}

#[test]
fn orders_for_acquirers_that_are_not_configured_are_ignored() {
    let world = World::new();
    world.live(async {
        let order = RouteDirective::Drained;
        let at = Timestamp::default();
        for (acquirer, method) in [("gone", Method::Pix), ("first", Method::Boleto)] {
            let acquirer = AcquirerName::new(acquirer);
            let control = RouteControl { acquirer: acquirer.clone(), method, directive: order, at };
            world.store.open().put_route_control(&control).await.unwrap();
        }
        let node = world.node();
        assert_eq!(node.created(pix(1)).await.status(), Status::Pending);
        let ordered = node.operators.direct(&AcquirerName::new("gone"), Method::Pix, order).await;
        assert_eq!(ordered.unwrap(), None);
        node.settle().await;
    });
}

#[test]
fn what_was_ordered_while_older_orders_were_on_their_way_is_not_undone_by_them() {
    let world = World::new();
    world.live(async {
        let node = world.node();
        node.created(pix(1)).await;
        world.store.always(Op::RouteControls, Fault::Slow(Duration::from_millis(300)));
        for _ in 0..200 {
            order(&node, "first", RouteDirective::Paused).await;
            pass_ms(7).await;
            assert_eq!(state(&node, "first"), RouteState::Paused);
            order(&node, "first", RouteDirective::Open).await;
            pass_ms(7).await;
            assert_eq!(state(&node, "first"), RouteState::Healthy);
        }
        world.store.heal();
        node.settle().await;
    });
}

#[test]
fn a_route_tells_how_its_calls_went_and_shows_its_state_as_a_metric() {
    let world = World::new().with_limits(|limits| limits.sample_interval = Duration::from_secs(1));
    world.live(async {
        let node = world.node();
        world.bank.next((0..9).map(|_| Answer::after_ms(30, Answer::Nonsense)));
        for number in 1..=10 {
            drop(node.begin(pix(number)));
        }
        pass_ms(200).await;
        let route = || node.operators.routes().into_iter().find(|route| route.method == Method::Pix).unwrap();
        assert_eq!((route().outcomes.unknown, route().outcomes.answered), (9, 1));
        let failure = route().last_failure.unwrap();
        assert_eq!((failure.what.as_str(), route().state), ("not JSON", RouteState::Healthy));
        world.bank.next((0..10).map(|_| Answer::after_ms(30, Answer::Nonsense)));
        for number in 11..=20 {
            drop(node.begin(pix(number)));
        }
        pass_ms(200).await;
        assert!(route().failures_in_a_row >= 10 && route().failing_until.is_some());
        assert_eq!(route().state, RouteState::Failing);
        assert!(route().p99_ms.unwrap().get() >= 25_000, "{:?}", route().p99_ms);
        pass_ms(1_000).await;
        let shown = |state| {
            let labels = [("acquirer", "first"), ("method", "pix"), ("state", state)];
            node.number("quita_route_state", &labels)
        };
        order(&node, "first", RouteDirective::Drained).await;
        pass_ms(2_000).await;
        assert_eq!((shown("drained"), shown("healthy"), shown("failing")), (1, 0, 0));
        order(&node, "first", RouteDirective::Open).await;
        node.settle().await;
        assert_eq!(route().state, RouteState::Healthy);
        assert!(route().last_answer_at.is_some() && route().failures_in_a_row == 0);
    });
}

#[test]
fn a_bank_that_answers_no_inquiry_is_shown_to_fail_by_the_log_too_until_it_answers_one() {
    let world = World::new().with_limits(|limits| limits.sample_interval = Duration::from_secs(1));
    world.live(async {
        let node = world.node();
        node.created(pix(1)).await;
        world.bank.is_away(true);
        world.bank.next([Answer::Silence, Answer::Silence]);
        drop(node.begin(pix(2)));
        drop(node.begin(pix(3)));
        // Two charges are lost, and the inquiries about them.
        pass_ms(20_000).await;
        let told = |text: &str| world.logs.warnings().iter().filter(|line| line.contains(text)).count();
        assert_eq!((state(&node, "first"), told("an acquirer is failing")), (RouteState::Healthy, 0));
        pass_ms(30_000).await;
        let route = || node.operators.routes().into_iter().find(|route| route.method == Method::Pix).unwrap();
        assert_eq!((route().state, told("an acquirer is failing")), (RouteState::Failing, 1));
        assert_eq!(told("and none has been answered since"), 1, "{:?}", world.logs.warnings());
        assert_eq!(
            (route().charges_lost_in_a_row, route().failing_until),
            (2, None),
            "routing takes no note"
        );
        let lost = route().outcomes.unknown + route().outcomes.not_delivered;
        assert_eq!(u64::from(route().failures_in_a_row), lost, "it counts what it says");
        world.bank.is_away(false);
        node.settle().await;
        assert_eq!((route().state, told("an acquirer is failing")), (RouteState::Healthy, 1));
        assert_eq!((route().failures_in_a_row, route().failing_since), (0, None));
    });
}

#[test]
fn a_route_that_begins_to_fail_by_the_passing_of_time_is_logged_without_another_call() {
    let world = World::new().with_limits(|limits| limits.sample_interval = Duration::from_secs(1));
    world.live(async {
        let node = world.node();
        node.created(card(1, true)).await;
        world.bank.next((0..3).map(|_| Answer::Unreachable));
        for number in 2..=4 {
            node.created(card(number, true)).await;
        }
        node.created(card(5, true)).await;
        pass_ms(61_000).await;
        let told =
            || world.logs.warnings().iter().filter(|line| line.contains("an acquirer is failing")).count();
        assert_eq!(told(), 0, "a card was answered since");
        world.bank.next((0..3).map(|_| Answer::Unreachable));
        for number in 6..=8 {
            drop(node.begin(card(number, true)));
        }
        pass_ms(58_000).await;
        assert_eq!(told(), 0);
        pass_ms(5_000).await;
        assert_eq!(told(), 1, "{:?}", world.logs.warnings());
        node.settle().await;
    });
}

#[test]
fn a_method_that_no_bank_can_take_is_told_once_with_what_to_do_and_so_is_its_end() {
    let world =
        World::new().and_second_bank().with_limits(|limits| limits.sample_interval = Duration::from_secs(1));
    let second = world.second.as_ref().unwrap();
    world.live(async {
        let node = world.node();
        node.created(pix(1)).await;
        let lines = |text: &str| -> Vec<_> {
            world.logs.lines().into_iter().filter(|line| line.contains(text)).collect()
        };
        let told = || lines("no acquirer can take PIX").len();
        world.bank.usually(Answer::Unreachable);
        for number in 2..=11 {
            node.created(pix(number)).await;
        }
        pass_ms(2_000).await;
        assert_eq!((state(&node, "first"), told()), (RouteState::Failing, 0), "the second takes payments");
        second.usually(Answer::Unreachable);
        for number in 12..=21 {
            node.created(pix(number)).await;
        }
        pass_ms(5_000).await;
        assert_eq!((state(&node, "second"), told()), (RouteState::Failing, 1));
        let line = lines("no acquirer can take PIX").remove(0);
        for part in ["acquirers=\"first, second\"", "no_acquirer_available", "QuitaMethodUnable"] {
            assert!(line.contains(part), "{part}: {line}");
        }
        second.usually(Answer::Takes);
        node.created(pix(22)).await;
        pass_ms(2_000).await;
        assert_eq!((told(), lines("an acquirer can take PIX again").len()), (1, 1));
        assert!(lines("an acquirer can take PIX again")[0].contains("after_ms="));
        world.bank.usually(Answer::Takes);
        node.settle().await;
    });
}
