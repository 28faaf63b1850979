//! Exceptions, as operators see and settle them, and what they may ask acquirers.

use quita_actors::{Asked, Denied};
use quita_domain::acquiring::{CallFailure, OperationAnswer};
use quita_domain::control::RouteDirective;
use quita_domain::exception::Resolution;
use quita_domain::identity::AcquirerName;
use quita_domain::method::Method;
use quita_domain::operation::{OperationRequest, RequestedOperation};
use quita_domain::status::Status;
use quita_domain::time::Timestamp;

use crate::access::owner;
use crate::bank::{Answer, settled};
use crate::orders::{CENTS, id, operation_id, pix};
use crate::trace::Mark::Operated;
use crate::world::{World, pass_ms};

fn resolution(ms: i64) -> Resolution {
    Resolution { at: Timestamp::from_millis(ms), by: "ana".into(), note: "refunded at the bank".into() }
}

#[test]
fn an_exception_is_open_until_a_person_resolves_it() {
    let world = World::new();
    world.live(async {
        let node = world.node();
        for number in 1..=2 {
            node.created(pix(number)).await;
            let event = format!("e{number}");
            node.payments
                .submit(node.notice(&event, id(number), settled(id(number), CENTS - 1)))
                .await
                .unwrap();
            pass_ms(100).await;
        }
        let open = node.operators.exceptions(10).await.unwrap();
        assert_eq!(open.iter().map(|one| one.transaction_id).collect::<Vec<_>>(), [Some(id(2)), Some(id(1))]);
        assert_eq!(node.operators.exceptions(1).await.unwrap().len(), 1);
        let first = &open[1].id;
        assert!(node.operators.resolve(first, &resolution(1)).await.unwrap());
        assert!(!node.operators.resolve(first, &resolution(2)).await.unwrap(), "once");
        assert!(!node.operators.resolve("nothing", &resolution(2)).await.unwrap());
        assert_eq!(node.operators.exceptions(10).await.unwrap(), open[..1]);
        let resolved = node.operators.resolved(10).await.unwrap();
        assert_eq!((resolved.len(), &resolved[0].resolution), (1, &Some(resolution(1))));
        assert_eq!(node.operators.exception(first).await.unwrap().unwrap(), resolved[0]);
        assert_eq!(node.stored(id(1)).status(), Status::Pending, "nothing else was changed");
        node.settle().await;
    });
}

#[test]
fn an_exception_that_is_found_again_is_counted_until_a_person_resolves_it() {
    let world = World::new();
    world.live(async {
        let node = world.node();
        node.created(pix(1)).await;
        let counted = || node.number("quita_exceptions_total", &[("kind", "amount_mismatch")]);
        for (event, after) in [("e1", 1), ("e2", 2), ("e3", 2), ("e4", 2)] {
            node.payments.submit(node.notice(event, id(1), settled(id(1), CENTS - 1))).await.unwrap();
            pass_ms(100).await;
            assert_eq!(counted(), after, "{event}");
            for open in node.operators.exceptions(10).await.unwrap() {
                // The second one finds it open, those after it resolved.
                if event == "e2" {
                    assert!(node.operators.resolve(&open.id, &resolution(1)).await.unwrap());
                }
            }
        }
        node.settle().await;
        assert_eq!((counted(), node.operators.exceptions(10).await.unwrap().len()), (2, 0));
    });
}

#[test]
fn an_operator_has_an_acquirer_asked_what_became_of_a_charge() {
    let world = World::new();
    world.live(async {
        let node = world.node();
        world.bank.next([Answer::TakesSilently]);
        let unknown = || Answer::Nonsense;
        world.bank.next_finds((0..7).map(|_| unknown()));
        node.created(pix(1)).await;
        pass_ms(500_000).await;
        assert_eq!(world.store.kinds_of_exceptions(), ["unknown_outcome"]);
        let asked = world.trace.asked();
        assert!(matches!(node.operators.ask_acquirer(id(1)).await.unwrap(), Asked::Asked(_)));
        pass_ms(100).await;
        assert_eq!((world.trace.asked(), node.stored(id(1)).status()), (asked + 1, Status::Initial));
        node.operators.ask_acquirer(id(1)).await.unwrap();
        pass_ms(100).await;
        assert_eq!(node.stored(id(1)).status(), Status::Pending);
        assert_eq!(world.store.kinds_of_exceptions(), ["unknown_outcome"], "reported once");
        node.settle().await;
    });
}

#[test]
fn an_operator_has_an_acquirer_asked_for_money_whose_notice_was_lost() {
    let world = World::new();
    world.live(async {
        let node = world.node();
        node.created(pix(1)).await;
        world.bank.is_paid(id(1), CENTS);
        assert!(matches!(node.operators.ask_acquirer(id(1)).await.unwrap(), Asked::Asked(_)));
        pass_ms(100).await;
        assert_eq!(node.stored(id(1)).status(), Status::Paid);
        let again = node.operators.ask_acquirer(id(1)).await.unwrap();
        assert!(matches!(&again, Asked::NothingToAsk(payment) if payment.status() == Status::Paid));
        assert_eq!(world.trace.asked(), 1);
        assert_eq!(node.operators.ask_acquirer(id(2)).await, Err(Denied::NotFound));
        node.settle().await;
    });
}

#[test]
fn a_charge_that_is_under_way_is_not_asked_for() {
    let world = World::new();
    world.live(async {
        let node = world.node();
        world.bank.next([Answer::after_ms(1_000, Answer::Takes)]);
        let caller = node.begin(pix(1));
        pass_ms(100).await;
        assert!(matches!(node.operators.ask_acquirer(id(1)).await.unwrap(), Asked::NothingToAsk(_)));
        assert_eq!(caller.await.unwrap().unwrap().payment.status(), Status::Pending);
        assert_eq!(world.trace.asked(), 0);
        node.settle().await;
    });
}

#[test]
fn nothing_is_asked_of_a_drained_acquirer_or_one_that_is_not_configured() {
    let world = World::new();
    world.live(async {
        let node = world.node();
        node.created(pix(1)).await;
        let first = AcquirerName::new("first");
        node.operators.direct(&first, Method::Pix, RouteDirective::Drained).await.unwrap();
        assert!(matches!(node.operators.ask_acquirer(id(1)).await.unwrap(), Asked::Withheld(_)));
        node.operators.direct(&first, Method::Pix, RouteDirective::Paused).await.unwrap();
        assert!(matches!(node.operators.ask_acquirer(id(1)).await.unwrap(), Asked::Asked(_)));
        let other = world.node_without_acquirers();
        pass_ms(100).await;
        assert!(matches!(other.operators.ask_acquirer(id(1)).await.unwrap(), Asked::Withheld(_)));
        assert_eq!(world.trace.asked(), 1);
    });
}

#[test]
fn an_operation_that_stays_unknown_is_reported_and_asked_about_when_an_operator_asks() {
    let world = World::new();
    world.live(async {
        let node = world.node();
        node.created(pix(1)).await;
        node.settle().await;
        let lost = || OperationAnswer::Failed(CallFailure::Unknown("502".into()));
        world.bank.next_operations([lost()]);
        world.bank.next_operation_inquiries((0..7).map(|_| lost()));
        let requested = RequestedOperation::Cancel;
        let cancel = OperationRequest { id: operation_id(70), requested, key: None };
        node.payments.operate(id(1), owner(), cancel).await.unwrap();
        pass_ms(1_400_000).await;
        assert_eq!(world.store.kinds_of_exceptions(), ["unknown_outcome"]);
        world.bank.next_operation_inquiries([OperationAnswer::Done]);
        assert!(matches!(node.operators.ask_acquirer(id(1)).await.unwrap(), Asked::Asked(_)));
        pass_ms(1_000).await;
        assert_eq!(node.stored(id(1)).status(), Status::Cancelled);
        assert_eq!(world.trace.of(id(1)).iter().filter(|mark| matches!(mark, Operated(..))).count(), 1);
        node.settle().await;
    });
}
