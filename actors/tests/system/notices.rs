//! Notices of acquirers: once, twice, too early, about strangers, while the store is away.

use futures_util::future::join_all;
use quita_domain::acquiring::{Approval, Fact, Notice, OperationAnswer};
use quita_domain::identity::AcquirerName;
use quita_domain::operation::OperationKind;
use quita_domain::status::Status;
use quita_ports::SinkError;

use crate::bank::{Answer, settled};
use crate::orders::{CENTS, card, id, pix, pix_for};
use crate::store::{Fault, Op};
use crate::world::{World, pass_ms};

#[test]
fn a_notice_that_repeats_is_worked_once() {
    let world = World::new();
    world.live(async {
        let node = world.node();
        node.created(pix(1)).await;
        let paid = || node.notice("e1", id(1), settled(id(1), CENTS));
        for taken in join_all((0..10).map(|_| node.payments.submit(paid()))).await {
            taken.unwrap();
        }
        node.settle().await;
        let stored = world.trace.stored();
        node.payments.submit(paid()).await.unwrap();
        node.payments.submit(node.notice("e2", id(1), settled(id(1), CENTS))).await.unwrap();
        node.settle().await;
        assert_eq!((node.stored(id(1)).history.len(), world.trace.stored()), (2, stored));
        assert_eq!(world.store.kinds_of_exceptions(), Vec::<String>::new());
    });
}

#[test]
fn a_notice_ahead_of_the_answer_pays_and_the_answer_still_brings_the_code() {
    let world = World::new();
    world.live(async {
        let node = world.node();
        world.bank.next([Answer::after_ms(1_000, Answer::Takes)]);
        let caller = node.begin(pix(1));
        pass_ms(100).await;
        node.payments.submit(node.notice("e1", id(1), settled(id(1), CENTS))).await.unwrap();
        pass_ms(100).await;
        assert_eq!(node.stored(id(1)).status(), Status::Paid, "the notice does not wait for the answer");
        let told = caller.await.unwrap().unwrap().payment;
        assert!(told.status() == Status::Paid && told.state.issued.is_some(), "{told:#?}");
        node.settle().await;
    });
}

#[test]
fn a_notice_instead_of_the_answer_is_told_to_the_caller_when_the_time_for_the_answer_is_over() {
    let world = World::new().with_bank_time_out(1_000);
    world.live(async {
        let node = world.node();
        world.bank.next([Answer::TakesSilently]);
        let caller = node.begin(pix(1));
        pass_ms(100).await;
        node.payments.submit(node.notice("e1", id(1), settled(id(1), CENTS))).await.unwrap();
        assert_eq!(caller.await.unwrap().unwrap().payment.status(), Status::Paid);
        let waited_ms = world.clock.elapsed_ms();
        assert!((1_000..1_500).contains(&waited_ms), "{waited_ms}");
        node.settle().await;
    });
}

#[test]
fn a_caller_may_wait_for_what_a_notice_changes() {
    let world = World::new();
    world.live(async {
        let node = world.node();
        let payment = node.created(pix(1)).await;
        let notice = node.notice("e1", id(1), settled(id(1), CENTS));
        let paid = node.payments.submit_and_await(notice, &payment).await.unwrap();
        assert_eq!(paid.status(), Status::Paid);
        node.settle().await;
    });
}

#[test]
fn a_notice_for_a_stranger_is_tried_for_minutes_and_then_shown_to_an_operator() {
    let world = World::new();
    world.live(async {
        let node = world.node();
        node.payments.submit(node.notice("e1", id(9), settled(id(9), CENTS))).await.unwrap();
        pass_ms(330_000).await;
        assert_eq!((world.store.open_notices(), world.store.kinds_of_exceptions().len()), (1, 0));
        pass_ms(30_000).await;
        assert_eq!(world.store.kinds_of_exceptions(), ["unknown_payment"]);
    });
}

#[test]
fn a_notice_that_overtakes_its_payment_is_learnt_when_that_is_there() {
    let world = World::new();
    world.live(async {
        let node = world.node();
        node.payments.submit(node.notice("e1", id(1), settled(id(1), CENTS))).await.unwrap();
        pass_ms(4_000).await;
        node.created(pix(1)).await;
        node.settle().await;
        assert_eq!(node.stored(id(1)).status(), Status::Paid);
        assert_eq!(world.store.kinds_of_exceptions(), Vec::<String>::new());
    });
}

#[test]
fn a_notice_that_comes_too_early_is_learnt_later() {
    let world = World::new();
    world.live(async {
        let node = world.node();
        node.created(pix(1)).await;
        node.payments
            .submit(node.notice("e2", id(1), Fact::ChargedBack { id: "c1".into(), amount: None }))
            .await
            .unwrap();
        pass_ms(10_000).await;
        assert_eq!(node.stored(id(1)).status(), Status::Pending);
        node.payments.submit(node.notice("e1", id(1), settled(id(1), CENTS))).await.unwrap();
        node.settle().await;
        assert_eq!(node.stored(id(1)).status(), Status::Chargeback);
        assert_eq!(world.store.kinds_of_exceptions(), Vec::<String>::new());
    });
}

#[test]
fn a_notice_that_stays_too_early_is_shown_to_an_operator_and_still_tried() {
    let world = World::new().for_hours();
    world.live(async {
        let node = world.node();
        node.created(pix(1)).await;
        node.payments
            .submit(node.notice("e2", id(1), Fact::ChargedBack { id: "c1".into(), amount: None }))
            .await
            .unwrap();
        pass_ms(350_000).await;
        assert_eq!(world.store.kinds_of_exceptions(), ["too_early"]);
        node.payments.submit(node.notice("e1", id(1), settled(id(1), CENTS))).await.unwrap();
        pass_ms(3_650_000).await;
        assert_eq!(node.stored(id(1)).status(), Status::Chargeback);
        node.settle().await;
    });
}

#[test]
fn what_a_notice_and_a_look_at_the_acquirer_both_tell_is_one_exception() {
    let world = World::new();
    world.live(async {
        let node = world.node();
        node.created(pix(1)).await;
        world.bank.is_paid(id(1), CENTS - 1);
        node.payments.submit(node.notice("e1", id(1), settled(id(1), CENTS - 1))).await.unwrap();
        // The acquirer is asked after a minute.
        pass_ms(70_000).await;
        assert_eq!(world.trace.asked(), 1);
        assert_eq!(world.store.kinds_of_exceptions(), ["amount_mismatch"]);
    });
}

#[test]
fn a_notice_that_the_table_refuses_is_an_exception_that_survives_the_stores_trouble() {
    let world = World::new();
    world.live(async {
        let node = world.node();
        node.created(pix(1)).await;
        world.store.always(Op::PutException, Fault::Unavailable);
        node.payments.submit(node.notice("e1", id(1), settled(id(1), CENTS - 1))).await.unwrap();
        pass_ms(20_000).await;
        assert_eq!(world.store.open_notices(), 1);
        world.store.heal();
        node.settle().await;
        assert_eq!(world.store.kinds_of_exceptions(), ["amount_mismatch"]);
        assert_eq!(node.stored(id(1)).status(), Status::Pending);
    });
}

#[test]
fn a_notice_that_could_not_be_worked_stays_due() {
    let world = World::new();
    world.live(async {
        let node = world.node();
        node.created(pix(1)).await;
        node.settle().await;
        world.store.always(Op::Commit, Fault::Unavailable);
        node.payments.submit(node.notice("e1", id(1), settled(id(1), CENTS))).await.unwrap();
        pass_ms(600_000).await;
        assert_eq!(world.store.open_notices(), 1);
        assert_eq!(world.store.put_off(), 0, "an outage is none of its tries");
        world.store.heal();
        pass_ms(6_000).await;
        assert_eq!(node.stored(id(1)).status(), Status::Paid, "and it does not wait for long afterwards");
        node.settle().await;
        assert_eq!(node.stored(id(1)).status(), Status::Paid);
        assert_eq!(world.store.kinds_of_exceptions(), Vec::<String>::new());
    });
}

#[test]
fn a_notice_that_could_not_be_finished_is_worked_again_and_changes_nothing() {
    let world = World::new();
    world.live(async {
        let node = world.node();
        world.store.once(Op::FinishNotices, Fault::Unavailable);
        node.payments.submit(node.notice("e1", id(1), settled(id(1), CENTS))).await.unwrap();
        node.created(pix(1)).await;
        node.settle().await;
        assert_eq!(node.stored(id(1)).history.len(), 2);
    });
}

#[test]
fn a_fact_that_its_payment_can_learn_is_one_write_and_needs_no_inbox() {
    let world = World::new();
    world.live(async {
        let node = world.node();
        let created = node.created(pix_for(1, None)).await;
        let paid = || node.notice("e1", id(1), settled(id(1), CENTS));
        assert_eq!(node.payments.submit(paid()).await, Ok(true));
        let stored = node.stored(id(1));
        assert_eq!((stored.status(), stored.revision), (Status::Paid, created.revision + 1));
        assert_eq!(node.payments.submit(paid()).await, Ok(false), "it is known");
        assert_eq!(node.stored(id(1)).revision, stored.revision);
        assert_eq!(world.store.called(Op::PutNotices), 0);
        node.settle().await;
    });
}

#[test]
fn a_notice_that_was_not_stored_was_not_taken() {
    let world = World::new();
    world.live(async {
        let node = world.node();
        node.created(pix(1)).await;
        for op in [Op::Commit, Op::PutNotices] {
            world.store.once(op, Fault::Unavailable);
        }
        let paid = || node.notice("e1", id(1), settled(id(1), CENTS));
        assert!(matches!(node.payments.submit(paid()).await, Err(SinkError::Store(_))));
        pass_ms(10_000).await;
        assert_eq!(node.stored(id(1)).status(), Status::Pending);
        node.payments.submit(paid()).await.unwrap();
        node.settle().await;
        assert_eq!(node.stored(id(1)).status(), Status::Paid);
    });
}

#[test]
fn a_payment_nobody_pays_is_looked_at_and_expires() {
    let world = World::new().for_hours();
    world.live(async {
        let node = world.node();
        node.created(pix(1)).await;
        pass_ms(3_680_000).await;
        assert_eq!(
            node.stored(id(1)).status(),
            Status::Pending,
            "what was paid in time may not be known yet"
        );
        pass_ms(20_000).await;
        assert_eq!(node.stored(id(1)).status(), Status::Expired);
        node.payments.submit(node.notice("e1", id(1), settled(id(1), CENTS))).await.unwrap();
        node.settle().await;
        let paid = node.stored(id(1));
        assert_eq!(paid.state.status_reason.as_deref(), Some("late_settlement"));
    });
}

#[test]
fn money_that_was_paid_in_the_last_second_and_came_in_a_minute_later_is_not_late() {
    let world = World::new().for_hours();
    world.live(async {
        let node = world.node();
        node.created(pix(1)).await;
        pass_ms(3_660_000).await;
        node.payments.submit(node.notice("e1", id(1), settled(id(1), CENTS))).await.unwrap();
        node.settle().await;
        let paid = node.stored(id(1));
        assert_eq!((paid.status(), paid.state.status_reason.as_deref()), (Status::Paid, None));
    });
}

#[test]
fn an_authorisation_of_a_payment_that_was_given_up_is_voided_and_shown_to_an_operator() {
    let world = World::new();
    world.live(async {
        let node = world.node();
        world.bank.next([Answer::Unreachable]);
        assert_eq!(node.created(card(1, false)).await.status(), Status::Declined);
        world.bank.next_operations([OperationAnswer::Done]);
        let authorised = || Fact::Authorized(Approval { authorization_code: "123456".into() });
        for event in ["e1", "e2"] {
            node.payments.submit(node.notice(event, id(1), authorised())).await.unwrap();
            node.settle().await;
        }
        let voided = world.bank.sent_operations();
        assert_eq!(voided.iter().map(|one| one.kind).collect::<Vec<_>>(), [OperationKind::Cancel], "once");
        assert_eq!(node.stored(id(1)).status(), Status::Declined);
        assert_eq!(world.store.kinds_of_exceptions(), ["late_authorization"]);
    });
}

#[test]
fn several_chargebacks_are_closed_one_by_one() {
    let world = World::new();
    world.live(async {
        let node = world.node();
        node.created(pix(1)).await;
        let disputed = |name: &str| Fact::ChargedBack { id: name.into(), amount: None };
        let won =
            |name: &str| Fact::DisputeWon { id: format!("won {name}"), chargeback_id: Some(name.into()) };
        // The second chargeback is told last.
        let facts = [settled(id(1), CENTS), disputed("c1"), won("c2"), won("c1"), disputed("c2")];
        let mut statuses = Vec::new();
        for (place, fact) in facts.into_iter().enumerate() {
            node.payments.submit(node.notice(&format!("e{place}"), id(1), fact)).await.unwrap();
            pass_ms(200).await;
            statuses.push(node.stored(id(1)).status());
        }
        let paid = Status::Paid;
        let disputed = Status::Chargeback;
        assert_eq!(statuses, [paid, disputed, disputed, paid, disputed]);
        node.settle().await;
        assert_eq!(node.stored(id(1)).status(), paid);
        assert_eq!(world.store.kinds_of_exceptions(), Vec::<String>::new());
    });
}

#[test]
fn a_settlement_whose_notice_never_came_is_found_by_looking() {
    let world = World::new();
    world.live(async {
        let node = world.node();
        node.created(pix(1)).await;
        world.bank.is_paid(id(1), CENTS);
        pass_ms(61_000).await;
        assert_eq!(node.stored(id(1)).status(), Status::Paid);
        node.settle().await;
    });
}

#[test]
fn an_acquirer_has_no_say_in_payments_that_were_never_sent_to_it() {
    let world = World::new().and_second_bank();
    world.live(async {
        let node = world.node();
        node.created(pix(1)).await;
        pass_ms(1_000).await;
        let forged = Notice {
            acquirer: AcquirerName::new("second"),
            ..node.notice("forged", id(1), settled(id(1), CENTS))
        };
        node.payments.submit(forged).await.unwrap();
        pass_ms(600_000).await;
        assert_eq!(node.stored(id(1)).status(), Status::Pending);
        assert_eq!(world.store.kinds_of_exceptions(), ["unknown_payment"]);
    });
}

#[test]
fn an_outage_brings_no_notice_nearer_to_being_an_exception() {
    let world = World::new().for_hours();
    world.live(async {
        let node = world.node();
        node.payments.submit(node.notice("e1", id(1), settled(id(1), CENTS))).await.unwrap();
        pass_ms(2_000).await;
        let put_off = world.store.put_off();
        world.store.always(Op::Load, Fault::Unavailable);
        pass_ms(3_600_000).await;
        assert_eq!(world.store.put_off(), put_off);
        world.store.heal();
        pass_ms(6_000).await;
        node.created(pix(1)).await;
        node.settle().await;
        assert_eq!(node.stored(id(1)).status(), Status::Paid);
        assert_eq!(world.store.kinds_of_exceptions(), Vec::<String>::new());
    });
}

#[test]
fn money_that_came_after_the_expiry_and_whose_notice_was_lost_is_found_within_days() {
    let world = World::new().for_hours().with_limits(|limits| {
        // Days go by here: what looks often would take the test's time.
        limits.directives_interval = std::time::Duration::from_secs(600);
        limits.supervision_interval = std::time::Duration::from_secs(300);
        limits.timer_interval = std::time::Duration::from_secs(60);
        limits.webhooks.interval = limits.timer_interval;
        limits.idle_after = std::time::Duration::from_secs(1_200);
    });
    world.live(async {
        let node = world.node();
        for number in 1..=2 {
            node.created(pix(number)).await;
        }
        pass_ms(3_800_000).await;
        assert_eq!(node.stored(id(1)).status(), Status::Expired);
        world.bank.is_paid(id(1), CENTS);
        let day_ms = 24 * 3_600_000;
        pass_ms(day_ms).await;
        let paid = node.stored(id(1));
        assert_eq!(
            (paid.status(), paid.state.status_reason.as_deref()),
            (Status::Paid, Some("late_settlement"))
        );
        pass_ms(2 * day_ms + 600_000).await;
        let unpaid = node.stored(id(2));
        assert_eq!((unpaid.status(), unpaid.due_at()), (Status::Expired, None), "nobody looks again");
    });
}
