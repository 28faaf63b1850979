//! One Pix that a bank states for two payments.

use futures_util::future::join_all;
use quita_domain::acquiring::{Fact, Settlement};
use quita_domain::identity::TransactionId;
use quita_domain::money::Money;
use quita_domain::status::Status;

use crate::bank::Call;
use crate::orders::{CENTS, id, pix};
use crate::store::{Fault, Op};
use crate::world::{Node, World, pass_ms};

const PIX: &str = "E1234567820261121120000000000001";
const OWN: &str = "E1234567820261121120000000000002";

fn came_by(pix: &str) -> Fact {
    Fact::Settled(Settlement {
        id: pix.into(),
        amount: Money::from_cents(CENTS),
        paid_on: None,
        end_to_end_id: Some(pix.into()),
        approval: None,
    })
}

async fn create_two(node: &Node<'_>) {
    for number in 1..=2 {
        node.created(pix(number)).await;
    }
}

async fn hint(node: &Node<'_>, id: TransactionId) {
    node.hear(&id.to_string()).await.unwrap();
    pass_ms(500).await;
}

#[test]
fn a_pix_pays_the_payment_that_is_stored_first_and_of_the_other_an_operator_hears() {
    let world = World::new();
    world.live(async {
        let node = world.node();
        for number in 1..=2 {
            node.created(pix(number)).await;
            world.bank.states(id(number), came_by(PIX));
        }
        hint(&node, id(1)).await;
        hint(&node, id(2)).await;
        let first = node.stored(id(1));
        let second = node.stored(id(2));
        assert_eq!((first.status(), second.status()), (Status::Paid, Status::Pending));
        assert_eq!(second.foreign_pix, [PIX]);
        assert_eq!(world.store.kinds_of_exceptions(), ["pix_taken"]);
        pass_ms(5_000).await;
        assert_eq!(node.stored(id(2)).status(), Status::Pending, "it was asked again, and says the same");
        world.bank.states(id(2), came_by(OWN));
        hint(&node, id(2)).await;
        pass_ms(5_000).await;
        let second = node.stored(id(2));
        assert_eq!((second.status(), second.state.end_to_end_id.as_deref()), (Status::Paid, Some(OWN)));
        node.settle().await;
        assert_eq!(world.store.kinds_of_exceptions(), ["pix_taken"], "once");
    });
}

#[test]
fn of_two_nodes_that_hear_of_one_pix_at_once_one_pays_by_it() {
    let world = World::new();
    world.live(async {
        let one = world.node();
        let two = world.node();
        for number in 1..=20 {
            one.created(pix(number)).await;
        }
        let told = (1..=20).map(|number| {
            let node = if number % 2 == 0 { &one } else { &two };
            node.payments.submit(node.notice(&format!("e{number}"), id(number), came_by(PIX)))
        });
        for taken in join_all(told).await {
            taken.unwrap();
        }
        pass_ms(2_000).await;
        let paid: Vec<_> =
            (1..=20).filter(|number| one.stored(id(*number)).status() == Status::Paid).collect();
        assert_eq!(paid.len(), 1, "{paid:?}");
        assert_eq!(world.store.kinds_of_exceptions(), vec!["pix_taken"; 19]);
        one.settle().await;
        two.settle().await;
    });
}

#[test]
fn a_payment_that_would_give_back_anothers_pix_gives_nothing_back() {
    let world = World::new();
    world.live(async {
        let node = world.node();
        create_two(&node).await;
        let declined = Fact::Declined(quita_domain::acquiring::Decline::of("x"));
        node.payments.submit(node.notice("d", id(2), declined)).await.unwrap();
        node.payments.submit(node.notice("p", id(1), came_by(PIX))).await.unwrap();
        node.payments.submit(node.notice("q", id(2), came_by(PIX))).await.unwrap();
        node.settle().await;
        assert!(world.bank.called_ms(Call::Operate).is_empty(), "the money is the first payment's");
        assert_eq!(node.stored(id(1)).status(), Status::Paid);
        assert_eq!(world.store.kinds_of_exceptions(), ["pix_taken"]);
    });
}

#[test]
fn a_store_that_can_not_say_whose_a_pix_is_is_asked_again() {
    let world = World::new();
    world.live(async {
        let node = world.node();
        for number in 1..=2 {
            node.created(pix(number)).await;
            world.bank.states(id(number), came_by(PIX));
        }
        hint(&node, id(1)).await;
        world.store.once(Op::PaymentOfPix, Fault::Unavailable);
        hint(&node, id(2)).await;
        node.settle().await;
        assert_eq!(node.stored(id(2)).foreign_pix, [PIX]);
        assert_eq!(world.store.kinds_of_exceptions(), ["pix_taken"]);
    });
}

#[test]
fn a_pix_of_another_payment_does_not_pay_a_paid_one_twice() {
    let world = World::new();
    world.live(async {
        let node = world.node();
        create_two(&node).await;
        node.payments.submit(node.notice("p", id(1), came_by(PIX))).await.unwrap();
        node.payments.submit(node.notice("o", id(2), came_by(OWN))).await.unwrap();
        world.store.once(Op::PaymentOfPix, Fault::Unavailable);
        node.payments.submit(node.notice("q", id(2), came_by(PIX))).await.unwrap();
        node.settle().await;
        let second = node.stored(id(2));
        assert_eq!((second.status(), second.foreign_pix.as_slice()), (Status::Paid, &[PIX.to_owned()][..]));
        assert_eq!(second.state.end_to_end_id.as_deref(), Some(OWN));
        assert_eq!(world.store.kinds_of_exceptions(), ["pix_taken"]);
    });
}

#[test]
fn a_pix_of_another_payment_is_no_wrong_amount_of_this_one() {
    let world = World::new();
    world.live(async {
        let node = world.node();
        create_two(&node).await;
        node.payments.submit(node.notice("p", id(1), came_by(PIX))).await.unwrap();
        let Fact::Settled(stated) = came_by(PIX) else { panic!("a settlement") };
        let odd = Fact::Settled(Settlement { amount: Money::from_cents(CENTS - 1), ..stated });
        node.payments.submit(node.notice("q", id(2), odd)).await.unwrap();
        node.settle().await;
        assert_eq!(
            (node.stored(id(2)).status(), node.stored(id(1)).status()),
            (Status::Pending, Status::Paid)
        );
        assert_eq!(world.store.kinds_of_exceptions(), ["pix_taken"]);
    });
}

#[test]
fn a_second_pix_that_pays_no_other_payment_is_paid_twice() {
    let world = World::new();
    world.live(async {
        let node = world.node();
        node.created(pix(1)).await;
        node.payments.submit(node.notice("o", id(1), came_by(OWN))).await.unwrap();
        node.payments.submit(node.notice("q", id(1), came_by(PIX))).await.unwrap();
        node.settle().await;
        assert_eq!(node.stored(id(1)).foreign_pix, [""; 0]);
        assert_eq!(world.store.kinds_of_exceptions(), ["paid_twice"]);
    });
}
