//! One further acquirer after a decline that need not be the last word, and what keeps from it.

use std::time::Duration;

use quita_actors::CreatePayment;
use quita_domain::acquiring::DeclineKind;
use quita_domain::card::CardFingerprint;
use quita_domain::identity::Mode;
use quita_domain::routing::{Criteria, RoutingTable, Rule, Then};
use quita_domain::status::Status;
use quita_domain::time::DAY_MS;

use crate::bank::Answer;
use crate::orders::{card, id, pix};
use crate::store::{Fault, Op};
use crate::trace::Mark::{Charged, Stored};
use crate::world::{Node, World, pass_ms};

const REVERSIBLE: Answer = Answer::DeclinesAs(Some(DeclineKind::Reversible));
const IRREVERSIBLE: Answer = Answer::DeclinesAs(Some(DeclineKind::Irreversible));

/// One rule for everything, which goes further or not.
fn table(retry_declines: bool) -> RoutingTable {
    let rule = Rule {
        name: "all".into(),
        when: Criteria::default(),
        uses: Vec::new(),
        then: Then::Next,
        retry_declines,
    };
    RoutingTable { rules: vec![rule], ..RoutingTable::default() }
}

/// A card payment as the edge passes it on.
fn by_card(number: u128) -> CreatePayment {
    let new = card(number, true);
    let number = &new.purchase.card.as_ref().unwrap().number;
    let card_fingerprint = Some(CardFingerprint::of(number, Mode::Test, b"key"));
    CreatePayment { card_fingerprint, ..new }
}

fn world() -> World {
    World::new().and_second_bank()
}

fn node(world: &World) -> Node<'_> {
    let node = world.node();
    node.operators.route_by(table(true));
    node
}

#[test]
fn a_reversible_decline_goes_on_to_the_second_acquirer() {
    let world = world();
    world.live(async {
        let node = node(&world);
        world.bank.next([REVERSIBLE]);
        let payment = node.created(by_card(1)).await;
        assert_eq!((payment.status(), payment.acquirer().unwrap().as_str()), (Status::Paid, "second"));
        let expected = [
            Stored(id(1), 1, Status::Initial),
            Charged("first", id(1)),
            Stored(id(1), 2, Status::Initial),
            Charged("second", id(1)),
            Stored(id(1), 3, Status::Paid),
        ];
        assert_eq!(world.trace.of_outside(id(1)), expected, "one write for the decline and the next charge");
        node.settle().await;
    });
}

#[test]
fn nobody_is_counted_but_before_a_further_try() {
    let world = world();
    world.live(async {
        let node = node(&world);
        assert_eq!(node.created(by_card(1)).await.status(), Status::Paid);
        world.bank.next([IRREVERSIBLE, Answer::DeclinesAs(None)]);
        assert_eq!(node.created(by_card(2)).await.status(), Status::Declined);
        assert_eq!(node.created(by_card(3)).await.status(), Status::Declined);
        assert_eq!(node.created(pix(4)).await.status(), Status::Pending);
        assert_eq!(world.store.called(Op::CardTries), 0);
        world.bank.next([REVERSIBLE]);
        assert_eq!(node.created(by_card(5)).await.status(), Status::Paid);
        assert_eq!(world.store.called(Op::CardTries), 1);
        node.settle().await;
    });
}

#[test]
fn a_store_that_can_t_count_leaves_the_decline_to_its_merchant() {
    let world = world();
    world.live(async {
        let node = node(&world);
        world.store.once(Op::CardTries, Fault::Unavailable);
        world.bank.next([REVERSIBLE]);
        assert_eq!(node.created(by_card(1)).await.status(), Status::Declined);
        assert_eq!(world.second.as_ref().unwrap().calls(), []);
        node.settle().await;
    });
}

#[test]
fn a_store_that_counts_too_slowly_leaves_the_decline_to_its_merchant() {
    let world = world();
    world.live(async {
        let node = node(&world);
        world.store.once(Op::CardTries, Fault::Slow(Duration::from_secs(20)));
        world.bank.next([REVERSIBLE]);
        let payment = node.created(by_card(1)).await;
        assert_eq!((payment.status(), payment.state.attempts.len()), (Status::Declined, 1));
        assert_eq!(payment.state.decline.as_ref().unwrap().code, "insufficient_funds");
        node.settle().await;
    });
}

#[test]
fn a_card_is_kept_only_where_tries_are_counted_and_only_so_long() {
    let world = world();
    world.live(async {
        let node = world.node();
        node.operators.route_by(table(false));
        node.created(by_card(1)).await;
        assert_eq!(node.stored(id(1)).card_fingerprint, None);
        node.operators.route_by(table(true));
        node.created(by_card(2)).await;
        assert!(node.stored(id(2)).card_fingerprint.is_some());
        node.settle().await;
    });
    world.clock.skip_ms(29 * DAY_MS);
    world.live(async {
        let node = world.node();
        pass_ms(10_000).await;
        assert!(node.stored(id(2)).card_fingerprint.is_some());
    });
    world.clock.skip_ms(DAY_MS);
    world.live(async {
        let node = world.node();
        pass_ms(10_000).await;
        let forgotten = node.stored(id(2));
        assert_eq!((forgotten.card_fingerprint.as_ref(), forgotten.due_at()), (None, None));
        assert_eq!(forgotten.status(), Status::Paid);
        node.settle().await;
    });
}

#[test]
fn a_card_that_was_tried_as_often_as_its_brand_allows_goes_no_further() {
    let world = world();
    world.live(async {
        let node = node(&world);
        // Visa's limit is 15 in 30 days; each payment here is a try.
        for number in 1..=14 {
            assert_eq!(node.created(by_card(number)).await.status(), Status::Paid);
        }
        world.bank.next([REVERSIBLE]);
        let barred = node.created(by_card(15)).await;
        assert_eq!((barred.status(), barred.state.attempts.len()), (Status::Declined, 1));
        node.settle().await;
    });
    world.clock.skip_ms(30 * DAY_MS);
    world.live(async {
        let node = node(&world);
        world.bank.next([REVERSIBLE]);
        assert_eq!(node.created(by_card(16)).await.status(), Status::Paid, "those are long ago");
        node.settle().await;
    });
}

#[test]
fn the_last_try_that_a_brand_allows_is_made() {
    let world = world();
    world.live(async {
        let node = node(&world);
        for number in 1..=13 {
            node.created(by_card(number)).await;
        }
        world.bank.next([REVERSIBLE]);
        let payment = node.created(by_card(14)).await;
        assert_eq!((payment.status(), payment.state.attempts.len()), (Status::Paid, 2), "the fifteenth");
        node.settle().await;
    });
}

#[test]
fn a_further_charge_whose_process_died_is_asked_for_at_the_further_acquirer() {
    let world = world();
    let second = world.second.as_ref().unwrap();
    world.live(async {
        let node = node(&world);
        world.bank.next([REVERSIBLE]);
        second.next([Answer::TakesSilently]);
        drop(node.begin(by_card(1)));
        pass_ms(1_000).await;
        assert_eq!(node.stored(id(1)).state.attempts.len(), 2);
    });
    world.live(async {
        let node = world.node();
        pass_ms(60_000).await;
        node.settle().await;
        assert_eq!(node.stored(id(1)).status(), Status::Paid);
        assert_eq!((world.bank.asked_ms().len(), second.calls().len()), (0, 2));
    });
}

#[test]
fn an_acquirer_that_approves_more_is_known_to() {
    let world = world();
    world.live(async {
        let node = node(&world);
        let approvals = |acquirer: &str| {
            let routes = node.operators.routes();
            let route = routes.iter().find(|route| {
                route.acquirer.as_str() == acquirer
                    && route.method == quita_domain::method::Method::CreditCard
            });
            route
                .unwrap()
                .approvals
                .iter()
                .map(|one| (one.brand, one.approved, one.tries))
                .collect::<Vec<_>>()
        };
        let visa = Some(quita_domain::card::Brand::Visa);
        assert_eq!(approvals("first"), []);
        world.bank.next([REVERSIBLE, IRREVERSIBLE, Answer::Unreachable, Answer::Takes]);
        for number in 1..=4 {
            node.created(by_card(number)).await;
        }
        assert_eq!(approvals("first"), [(visa, 1, 2)], "an irreversible decline is the issuer's");
        assert_eq!(approvals("second"), [(visa, 2, 2)]);
        node.settle().await;
    });
}
