//! Notices over HTTP that say that something changed and not what: the acquirer is asked, and only its answer counts.

use quita_actors::{Denied, NoticeDenied};
use quita_domain::acquiring::{Decline, Fact};
use quita_domain::control::RouteDirective;
use quita_domain::identity::AcquirerName;
use quita_domain::method::Method;
use quita_domain::money::Money;
use quita_domain::operation::OperationKind;
use quita_domain::status::Status;
use quita_ports::RawNotice;
use std::time::Duration;
use tokio::task::JoinHandle;

use crate::bank::{Answer, Call, settled};
use crate::orders::{CENTS, card, id, pix};
use crate::store::{Fault, Op};
use crate::world::{Node, World, pass_ms};

/// The outcomes that notices are counted by.
const OUTCOMES: [&str; 5] = ["taken", "repeated", "unknown", "unreadable", "refused"];

/// Returns the number of notices by outcome, in the order of [`OUTCOMES`].
fn counted(node: &Node<'_>) -> [i64; 5] {
    OUTCOMES.map(|outcome| node.noticed(outcome))
}

/// A hint about the payment with this number, by our id.
async fn hint(node: &Node<'_>, number: u128) {
    node.hear(&id(number).to_string()).await.unwrap();
}

/// Sends the same while the test goes on.
fn send_hint(node: &Node<'_>, number: u128) -> JoinHandle<Result<(), NoticeDenied>> {
    let payments = node.payments.clone();
    actix::spawn(async move {
        let headers = [("x-bank", "first")];
        let body = id(number).to_string();
        let notice = RawNotice { path_tail: "", headers: &headers, body: body.as_bytes() };
        payments.take_notice("first", &notice).await
    })
}

/// The time between each two.
fn gaps(at_ms: &[u64]) -> Vec<u64> {
    at_ms.windows(2).map(|pair| pair[1] - pair[0]).collect()
}

#[test]
fn a_hint_by_our_id_has_the_acquirer_asked_and_its_answer_is_learnt() {
    let world = World::new();
    world.live(async {
        let node = world.node();
        node.created(pix(1)).await;
        world.bank.is_paid(id(1), CENTS);
        hint(&node, 1).await;
        pass_ms(500).await;
        assert_eq!((node.stored(id(1)).status(), world.trace.asked()), (Status::Paid, 1));
        assert!(world.bank.called_ms(Call::Identify).is_empty(), "nobody had to be asked whose it is");
        assert_eq!(counted(&node), [1, 0, 0, 0, 0]);
        node.settle().await;
        assert_eq!(node.stored(id(1)).due_at(), None, "and the hint is done with");
    });
}

#[test]
fn a_hint_by_the_providers_reference_has_it_asked_whose_charge_that_is() {
    let world = World::new();
    world.live(async {
        let node = world.node();
        for number in 1..=2 {
            node.created(pix(number)).await;
        }
        world.bank.is_paid(id(2), CENTS);
        node.hear(&format!("bank-{}", id(2))).await.unwrap();
        pass_ms(500).await;
        assert_eq!(world.bank.called_ms(Call::Identify).len(), 1);
        assert_eq!((node.stored(id(2)).status(), world.trace.asked()), (Status::Paid, 1));
        assert_eq!(counted(&node), [1, 0, 0, 0, 0]);
        node.settle().await;
    });
}

#[test]
fn one_request_may_hold_several_hints() {
    let world = World::new();
    world.live(async {
        let node = world.node();
        for number in 1..=2 {
            node.created(pix(number)).await;
            world.bank.is_paid(id(number), CENTS);
        }
        node.hear(&format!("{},nobody,bank-{}", id(1), id(2))).await.unwrap();
        pass_ms(500).await;
        assert!((1..=2).all(|number| node.stored(id(number)).status() == Status::Paid));
        assert_eq!(counted(&node), [2, 0, 1, 0, 0]);
        node.settle().await;
    });
}

#[test]
fn a_hint_alone_changes_nothing_that_anybody_sees() {
    let world = World::new();
    world.live(async {
        let node = world.node();
        let before = node.created(pix(1)).await;
        hint(&node, 1).await;
        pass_ms(500).await;
        let stored = node.stored(id(1));
        assert_eq!(world.trace.asked(), 1);
        assert_eq!((stored.status(), stored.state.version), (Status::Pending, before.state.version));
        pass_ms(60_000).await;
        assert_eq!(world.trace.asked(), 3, "once more for the hint, then the schedule goes on as without it");
        node.settle().await;
    });
}

#[test]
fn a_hint_about_a_payment_that_was_paid_finds_its_chargeback() {
    let world = World::new();
    world.live(async {
        let node = world.node();
        node.created(card(1, true)).await;
        node.settle().await;
        world.bank.states(id(1), Fact::ChargedBack { id: "c1".into(), amount: None });
        hint(&node, 1).await;
        pass_ms(500).await;
        assert_eq!((node.stored(id(1)).status(), world.trace.asked()), (Status::Chargeback, 1));
        node.settle().await;
        assert_eq!(world.store.kinds_of_exceptions(), Vec::<String>::new());
    });
}

#[test]
fn a_hint_of_an_acquirer_that_a_charge_left_has_it_asked_about_that_charge() {
    let world = World::new().and_second_bank();
    world.live(async {
        let node = world.node();
        world.bank.next([Answer::Unreachable]);
        assert_eq!(node.created(pix(1)).await.acquirer().unwrap().as_str(), "second");
        node.settle().await;
        world.bank.is_paid(id(1), CENTS);
        hint(&node, 1).await;
        hint(&node, 1).await;
        pass_ms(500).await;
        // The second one is remembered: the first inquiry may have been answered before it.
        assert_eq!((world.bank.asked_ms().len(), counted(&node)), (1, [2, 0, 0, 0, 0]));
        assert_eq!(node.stored(id(1)).status(), Status::Pending, "it binds no charge but its own");
        assert_eq!(world.store.kinds_of_exceptions(), ["second_charge"]);
        let sent = world.bank.sent_operations();
        assert_eq!(sent.len(), 1, "{sent:?}");
        assert_eq!(sent[0].kind, OperationKind::Refund(Money::from_cents(CENTS)), "it is given back there");
    });
}

#[test]
fn a_hint_by_reference_finds_its_payment_while_another_method_of_the_acquirer_is_drained() {
    let world = World::new();
    world.live(async {
        let node = world.node();
        node.created(card(1, true)).await;
        node.settle().await;
        let first = AcquirerName::new("first");
        node.operators.direct(&first, Method::Pix, RouteDirective::Drained).await.unwrap();
        world.bank.states(id(1), Fact::ChargedBack { id: "c1".into(), amount: None });
        node.hear(&format!("bank-{}", id(1))).await.unwrap();
        pass_ms(500).await;
        assert_eq!(node.stored(id(1)).status(), Status::Chargeback);
        node.operators.direct(&first, Method::CreditCard, RouteDirective::Drained).await.unwrap();
        let refused = node.hear(&format!("bank-{}", id(2))).await;
        assert_eq!(refused, Err(NoticeDenied::NotTaken(Denied::Interrupted)), "nothing is sent at all");
        node.settle().await;
    });
}

#[test]
fn what_is_not_as_the_acquirer_sends_it_is_refused_and_counted_by_why() {
    let world = World::new();
    world.live(async {
        let node = world.node();
        node.created(pix(1)).await;
        let own = id(1).to_string();
        let own = own.as_bytes();
        let genuine = [("x-bank", "first")];
        let forged = [("x-bank", "second")];
        let taken = async |acquirer, path_tail, headers, body| {
            node.payments.take_notice(acquirer, &RawNotice { path_tail, headers, body }).await
        };
        assert_eq!(taken("first", "", &[], own).await, Err(NoticeDenied::NotAuthentic));
        assert_eq!(taken("first", "", &forged, own).await, Err(NoticeDenied::NotAuthentic));
        assert_eq!(counted(&node), [0, 0, 0, 0, 2]);
        assert_eq!(taken("first", "/elsewhere", &genuine, own).await, Err(NoticeDenied::NoSuchAddress));
        assert_eq!(counted(&node), [0, 0, 0, 0, 3]);
        assert_eq!(taken("nobody", "", &genuine, own).await, Err(NoticeDenied::NoSuchAddress));
        assert_eq!(counted(&node), [0, 0, 0, 0, 3], "there is nobody to count it for");
        let unreadable = taken("first", "", &genuine, &[0xff]).await;
        assert_eq!(unreadable, Ok(()), "the provider would only send it again");
        assert_eq!(counted(&node), [0, 0, 0, 1, 3]);
        pass_ms(5_000).await;
        assert_eq!(world.bank.calls().len(), 1, "nothing but the charge");
        node.settle().await;
    });
}

#[test]
fn a_hint_about_what_its_acquirer_does_not_show_yet_has_to_be_sent_again() {
    let world = World::new();
    world.live(async {
        let node = world.node();
        node.created(pix(1)).await;
        node.settle().await;
        for _ in 0..2 {
            let answer = node.hear("bank-later").await;
            assert_eq!(answer, Err(NoticeDenied::NotTaken(Denied::Interrupted)));
        }
        assert_eq!(counted(&node), [0, 0, 2, 0, 0], "and nothing is kept of it");
    });
}

#[test]
fn a_hint_about_what_nobody_knows_is_counted_and_nothing_is_kept_of_it() {
    let world = World::new().and_second_bank();
    world.live(async {
        let node = world.node();
        world.bank.next([Answer::Unreachable]);
        let elsewhere = node.created(pix(1)).await;
        assert_eq!(elsewhere.acquirer().unwrap().as_str(), "second");
        node.created(pix(2)).await;
        node.settle().await;
        let stored = world.trace.stored();
        for nobodys in [id(9).to_string(), format!("bank-{}", id(9)), "bank-9".into(), String::new()] {
            node.hear(&nobodys).await.unwrap();
        }
        assert_eq!(counted(&node), [0, 0, 4, 0, 0]);
        let headers = [("x-bank", "second")];
        let body = id(2).to_string();
        let foreign = RawNotice { path_tail: "", headers: &headers, body: body.as_bytes() };
        node.payments.take_notice("second", &foreign).await.unwrap();
        let labels = [("acquirer", "second"), ("outcome", "unknown")];
        assert_eq!(node.number("quita_notices_total", &labels), 1, "it never had that charge");
        pass_ms(5_000).await;
        assert_eq!((world.trace.asked(), world.trace.stored()), (0, stored));
        assert_eq!(world.store.open_notices(), 0);
        assert_eq!(world.store.kinds_of_exceptions(), Vec::<String>::new());
        node.settle().await;
    });
}

#[test]
fn made_up_names_do_not_have_the_bank_asked_without_end() {
    let world = World::new();
    world.live(async {
        let node = world.node();
        node.created(pix(1)).await;
        let names = |round: u32| (0..1_000).map(|name| format!("made-up-{round}-{name}")).collect::<Vec<_>>();
        let began_ms = world.clock.elapsed_ms();
        let asked = || world.bank.called_ms(Call::Identify).len();
        for round in 0..3 {
            node.hear(&names(round).join(",")).await.unwrap();
            node.hear(&names(round).join(",")).await.unwrap();
        }
        let seconds = (world.clock.elapsed_ms() - began_ms) / 1_000;
        let most = 5 + 5 * (usize::try_from(seconds).unwrap() + 1);
        assert!((5..=most).contains(&asked()), "{} within {seconds} s", asked());
        assert_eq!(counted(&node), [0, 0, 6_000, 0, 0]);
        // Of a payment of ours it is asked again a moment later, and once.
        pass_ms(1_000).await;
        world.bank.is_paid(id(1), CENTS);
        let before = asked();
        for _ in 0..10 {
            node.hear(&format!("bank-{}", id(1))).await.unwrap();
        }
        pass_ms(500).await;
        assert_eq!((asked(), node.stored(id(1)).status()), (before + 1, Status::Paid));
        node.settle().await;
    });
}

#[test]
fn a_fact_that_comes_over_http_twice_is_counted_as_repeated() {
    let world = World::new();
    world.live(async {
        let node = world.node();
        node.created(pix(1)).await;
        let paid = format!("paid:{}", id(1));
        node.hear(&paid).await.unwrap();
        assert_eq!(counted(&node), [1, 0, 0, 0, 0]);
        node.hear(&paid).await.unwrap();
        assert_eq!(counted(&node), [1, 1, 0, 0, 0]);
        node.settle().await;
        let stored = node.stored(id(1));
        assert_eq!((stored.status(), stored.history.len()), (Status::Paid, 2));
        assert_eq!(world.trace.asked(), 0, "a fact is believed without asking");
    });
}

#[test]
fn many_hints_within_two_seconds_cause_one_inquiry_and_the_last_one_is_not_lost() {
    let world = World::new();
    world.live(async {
        let node = world.node();
        node.created(pix(1)).await;
        let began_ms = world.clock.elapsed_ms();
        for _ in 0..20 {
            hint(&node, 1).await;
            pass_ms(100).await;
        }
        let asked_ms = world.bank.asked_ms();
        let within = asked_ms.iter().filter(|at_ms| **at_ms < began_ms + 2_000).count();
        assert_eq!(within, 1, "{asked_ms:?}");
        // Only the last hints tell of it.
        world.bank.is_paid(id(1), CENTS);
        pass_ms(3_000).await;
        let asked_ms = world.bank.asked_ms();
        assert_eq!(asked_ms.len(), 2, "{asked_ms:?}");
        assert!((2_000..2_500).contains(&gaps(&asked_ms)[0]), "{asked_ms:?}");
        assert_eq!(node.stored(id(1)).status(), Status::Paid);
        assert_eq!(counted(&node), [1, 19, 0, 0, 0]);
        node.settle().await;
    });
}

#[test]
fn a_hint_whose_inquiry_is_not_answered_is_asked_about_again() {
    let world = World::new();
    world.live(async {
        let node = world.node();
        node.created(pix(1)).await;
        world.bank.is_paid(id(1), CENTS);
        world.bank.next_finds([Answer::Nonsense, Answer::Unreachable, Answer::Nonsense, Answer::Silence]);
        hint(&node, 1).await;
        pass_ms(14_000).await;
        let gaps = gaps(&world.bank.asked_ms());
        assert_eq!(gaps.len(), 4, "{gaps:?}");
        for (gap, expected) in gaps.iter().zip([2_000, 2_000, 2_000, 5_000]) {
            assert!((expected..expected + 500).contains(gap), "{gap} instead of {expected}");
        }
        assert_eq!(node.stored(id(1)).status(), Status::Paid);
        node.settle().await;
        assert_eq!(world.bank.asked_ms().len(), 5, "until it was answered");
    });
}

#[test]
fn a_hint_is_asked_about_by_the_next_life_too() {
    let world = World::new();
    world.live(async {
        let node = world.node();
        node.created(pix(1)).await;
        node.settle().await;
        world.bank.is_paid(id(1), CENTS);
        world.bank.finds_take_ms(5_000);
        let began_ms = world.clock.elapsed_ms();
        hint(&node, 1).await;
        let waited_ms = world.clock.elapsed_ms() - began_ms;
        assert!((2_000..2_100).contains(&waited_ms), "the provider waited {waited_ms} ms");
        assert_eq!((node.stored(id(1)).status(), world.trace.asked()), (Status::Pending, 1));
    });
    world.bank.finds_take_ms(0);
    world.live(async {
        let node = world.node();
        pass_ms(1_000).await;
        assert_eq!((node.stored(id(1)).status(), world.trace.asked()), (Status::Paid, 2));
        node.settle().await;
    });
}

#[test]
fn a_hint_is_not_taken_before_its_answer_is_stored() {
    let world = World::new();
    world.live(async {
        let node = world.node();
        node.created(pix(1)).await;
        node.settle().await;
        world.bank.is_paid(id(1), CENTS);
        world.bank.finds_take_ms(300);
        world.store.once(Op::Commit, Fault::Slow(Duration::from_millis(500)));
        let began_ms = world.clock.elapsed_ms();
        hint(&node, 1).await;
        let waited_ms = world.clock.elapsed_ms() - began_ms;
        assert!((800..900).contains(&waited_ms), "the provider waited {waited_ms} ms");
        assert_eq!(node.stored(id(1)).status(), Status::Paid);
        node.settle().await;
    });
}

#[test]
fn a_hint_that_dies_with_its_process_was_not_taken_and_comes_again() {
    let world = World::new();
    let stored = world.live(async {
        let node = world.node();
        node.created(pix(1)).await;
        node.settle().await;
        world.bank.is_paid(id(1), CENTS);
        world.bank.finds_take_ms(1_000);
        let taken = send_hint(&node, 1);
        pass_ms(500).await;
        assert!(!taken.is_finished() && world.trace.asked() == 1);
        world.trace.stored()
    });
    assert_eq!(world.trace.stored(), stored, "nothing of it is stored");
    world.live(async {
        let node = world.node();
        hint(&node, 1).await;
        assert_eq!(node.stored(id(1)).status(), Status::Paid);
        node.settle().await;
    });
}

#[test]
fn an_answer_that_comes_too_late_for_its_hint_is_stored_and_the_hint_is_asked_about_again() {
    let world = World::new();
    world.live(async {
        let node = world.node();
        node.created(pix(1)).await;
        world.bank.is_paid(id(1), CENTS);
        world.bank.finds_take_ms(2_100);
        hint(&node, 1).await;
        assert_eq!(node.stored(id(1)).status(), Status::Pending);
        pass_ms(150).await;
        assert_eq!(node.stored(id(1)).status(), Status::Paid);
        pass_ms(5_000).await;
        node.settle().await;
        assert_eq!(world.bank.asked_ms().len(), 2, "what was stored of the hint is ended by its own answer");
        assert_eq!(node.stored(id(1)).due_at(), None);
    });
}

#[test]
fn a_second_hint_while_the_first_is_asked_about_is_not_ended_by_that_answer() {
    let world = World::new();
    world.live(async {
        let node = world.node();
        node.created(card(1, true)).await;
        node.settle().await;
        world.bank.finds_take_ms(400);
        let first = send_hint(&node, 1);
        pass_ms(100).await;
        hint(&node, 1).await;
        // Its news can be read only after the first answer was on its way.
        assert!(first.await.unwrap().is_ok());
        world.bank.finds_take_ms(0);
        world.bank.states(id(1), Fact::ChargedBack { id: "c1".into(), amount: None });
        pass_ms(2_500).await;
        assert_eq!((node.stored(id(1)).status(), world.bank.asked_ms().len()), (Status::Chargeback, 2));
        node.settle().await;
    });
}

#[test]
fn a_hint_whose_news_can_be_read_a_moment_later_is_asked_about_again() {
    let world = World::new();
    world.live(async {
        let node = world.node();
        node.created(pix(1)).await;
        node.settle().await;
        hint(&node, 1).await;
        assert_eq!(world.trace.asked(), 1);
        world.bank.is_paid(id(1), CENTS);
        pass_ms(2_500).await;
        assert_eq!((node.stored(id(1)).status(), world.trace.asked()), (Status::Paid, 2));
        node.settle().await;
    });
}

#[test]
fn a_hint_that_comes_while_the_charge_is_under_way_is_asked_about_after_its_answer() {
    let world = World::new();
    world.live(async {
        let node = world.node();
        world.bank.next([Answer::after_ms(1_000, Answer::Takes)]);
        let caller = node.begin(pix(1));
        pass_ms(100).await;
        hint(&node, 1).await;
        pass_ms(500).await;
        assert_eq!(world.trace.asked(), 0, "its answer is on the way");
        assert_eq!(caller.await.unwrap().unwrap().payment.status(), Status::Pending);
        world.bank.is_paid(id(1), CENTS);
        pass_ms(500).await;
        assert_eq!((node.stored(id(1)).status(), world.trace.asked()), (Status::Paid, 1));
        node.settle().await;
    });
}

#[test]
fn a_hint_about_an_unknown_outcome_has_it_asked_about_before_the_schedule_would() {
    let world = World::new();
    world.live(async {
        let node = world.node();
        world.bank.next([Answer::TakesSilently]);
        world.bank.next_finds([Answer::Nonsense, Answer::Nonsense, Answer::Nonsense, Answer::Nonsense]);
        node.created(pix(1)).await;
        pass_ms(30_000).await;
        assert_eq!((node.stored(id(1)).status(), world.trace.asked()), (Status::Initial, 4));
        hint(&node, 1).await;
        pass_ms(500).await;
        assert_eq!((node.stored(id(1)).status(), world.trace.asked()), (Status::Pending, 5));
        node.settle().await;
    });
}

#[test]
fn a_hint_that_could_not_be_kept_was_not_taken() {
    let world = World::new();
    world.live(async {
        let node = world.node();
        node.created(pix(1)).await;
        node.settle().await;
        world.bank.is_paid(id(1), CENTS);
        for op in [Op::Commit, Op::PutNotices] {
            world.store.always(op, Fault::Unavailable);
        }
        let refused = node.hear(&id(1).to_string()).await;
        assert!(matches!(refused, Err(NoticeDenied::NotTaken(Denied::StoreUnavailable(_)))), "{refused:?}");
        let refused = node.hear(&format!("paid:{}", id(1))).await;
        assert!(matches!(refused, Err(NoticeDenied::NotTaken(Denied::StoreUnavailable(_)))), "{refused:?}");
        assert_eq!(counted(&node), [0; 5]);
        pass_ms(15_000).await;
        world.store.heal();
        pass_ms(5_000).await;
        assert_eq!((node.stored(id(1)).status(), world.trace.asked()), (Status::Pending, 1));
        hint(&node, 1).await;
        assert_eq!(node.stored(id(1)).status(), Status::Paid);
        node.settle().await;
    });
}

#[test]
fn what_a_hint_finds_and_a_notice_tells_is_one_event() {
    let world = World::new();
    world.live(async {
        let node = world.node();
        node.created(pix(1)).await;
        world.bank.is_paid(id(1), CENTS);
        hint(&node, 1).await;
        node.payments.submit(node.notice("e1", id(1), settled(id(1), CENTS))).await.unwrap();
        node.settle().await;
        let stored = node.stored(id(1));
        assert_eq!((stored.status(), stored.history.len()), (Status::Paid, 2));
        assert_eq!(world.store.kinds_of_exceptions(), Vec::<String>::new());
    });
}

#[test]
fn what_contradicts_one_payment_in_several_ways_is_shown_in_each() {
    let world = World::new();
    world.live(async {
        let node = world.node();
        node.created(pix(1)).await;
        node.payments.submit(node.notice("e1", id(1), settled(id(1), CENTS))).await.unwrap();
        node.settle().await;
        for fact in [Fact::Cancelled, Fact::Declined(Decline::of("x")), Fact::Cancelled] {
            world.bank.states(id(1), fact);
            hint(&node, 1).await;
            node.settle().await;
        }
        assert_eq!(world.store.kinds_of_exceptions(), ["contradiction"; 2], "the same one once");
    });
}

/// A payment of which a part was given back at the bank's desk, and that was charged back, as an answer is about to tell.
async fn taken_back(world: &World, node: &Node<'_>) {
    node.created(pix(1)).await;
    let desk = Fact::Refunded { refund_id: "desk".into(), amount: Some(Money::from_cents(500)) };
    for (event, fact) in [("e1", settled(id(1), CENTS)), ("e2", desk)] {
        node.payments.submit(node.notice(event, id(1), fact)).await.unwrap();
        node.settle().await;
    }
    world.bank.states(id(1), Fact::ChargedBack { id: "c1".into(), amount: None });
    world.bank.finds_take_ms(500);
    drop(send_hint(node, 1));
    pass_ms(400).await;
    assert_eq!(world.trace.asked(), 1);
}

#[test]
fn what_an_operator_has_to_see_outlives_the_process_that_found_it() {
    let world = World::new();
    world.live(async {
        let node = world.node();
        taken_back(&world, &node).await;
        world.store.always(Op::PutException, Fault::Unavailable);
        pass_ms(1_000).await;
        assert_eq!(node.stored(id(1)).status(), Status::Chargeback);
        assert_eq!(world.store.kinds_of_exceptions(), Vec::<String>::new());
    });
    world.store.heal();
    world.live(async {
        let node = world.node();
        node.settle().await;
        assert_eq!(world.store.kinds_of_exceptions(), ["refunded_and_charged_back"]);
        let stored = node.stored(id(1));
        assert_eq!((stored.reports.len(), stored.due_at()), (0, None), "and is done with");
        assert_eq!(world.trace.asked(), 1, "nobody had to be asked again");
    });
}

#[test]
fn what_an_operator_has_to_see_outlives_a_write_whose_reply_was_lost() {
    let world = World::new();
    world.live(async {
        let node = world.node();
        taken_back(&world, &node).await;
        world.store.once(Op::Commit, Fault::LostReply);
        world.store.always(Op::Load, Fault::Unavailable);
        pass_ms(600).await;
        assert_eq!(node.stored(id(1)).status(), Status::Chargeback, "it was written, and nobody knew");
        pass_ms(5_000).await;
        world.store.heal();
        node.settle().await;
        assert_eq!(world.store.kinds_of_exceptions(), ["refunded_and_charged_back"]);
        assert_eq!(node.stored(id(1)).reports.len(), 0);
    });
}
