//! A service that is told to stop stores what waits, before it ends.

use std::time::Duration;

use quita_domain::delivery::DeliveryState;

use crate::orders::{SHOP, id, pix};
use crate::receivers::Reply;
use crate::store::{Fault, Op};
use crate::world::{World, pass_ms};

#[test]
fn every_confirmation_that_waits_is_stored_however_many_there_are() {
    const PAYMENTS: u128 = 200;
    let world = World::new().with_limits(|limits| {
        limits.journal_mailbox = 32;
        limits.journal_batch = 16;
    });
    world.live(async {
        let node = world.node();
        for number in 1..=PAYMENTS {
            node.created(pix(number)).await;
        }
        pass_ms(100).await;
        let delivered = || {
            let is_delivered = |number| node.stored(id(number)).outbox[0].state == DeliveryState::Delivered;
            (1..=PAYMENTS).filter(|number| is_delivered(*number)).count()
        };
        assert_eq!((world.receivers.received().len(), delivered()), (200, 0));
        node.stop().await;
        assert_eq!(delivered(), 200);
    });
}

#[test]
fn what_is_confirmed_meanwhile_does_not_wait_any_more() {
    let world = World::new();
    world.live(async {
        let node = world.node();
        node.created(pix(1)).await;
        pass_ms(100).await;
        world.receivers.next(SHOP, [Reply::Slow(Duration::from_millis(300), 200)]);
        node.created(pix(2)).await;
        world.store.once(Op::Commit, Fault::Slow(Duration::from_secs(1)));
        node.stop().await;
        let states = [1, 2].map(|number| node.stored(id(number)).outbox[0].state);
        assert_eq!(states, [DeliveryState::Delivered; 2]);
        assert_eq!(world.receivers.received().len(), 2);
    });
}

#[test]
fn how_many_could_not_be_stored_is_logged() {
    for fault in [Fault::Unavailable, Fault::Slow(Duration::from_secs(20))] {
        let world = World::new();
        world.live(async {
            let node = world.node();
            for number in 1..=3 {
                node.created(pix(number)).await;
            }
            pass_ms(100).await;
            world.store.always(Op::Commit, fault);
            let before_ms = world.clock.elapsed_ms();
            node.stop().await;
            let took_ms = world.clock.elapsed_ms() - before_ms;
            assert!(took_ms < 3_500, "it took {took_ms} ms");
        });
        let warnings = world.logs.warnings();
        let is_it = |line: &String| line.contains("count=3") && line.contains("sent again");
        assert!(warnings.iter().any(is_it), "{warnings:?}");
    }
}
