//! The same actors on threads of their own, in real time.

use futures_util::future::join_all;
use prometheus::Registry;
use quita_actors::{ActorSystem, Denied, Placement};
use quita_domain::status::Status;

use crate::orders::{id, pix};
use crate::world::{World, identity};

#[test]
fn payments_are_made_on_many_threads_and_everything_stops_when_it_is_told_to() {
    let world = World::with_local_bank();
    actix::System::new().block_on(async {
        world.clock.begin();
        let limits = world.limits.clone();
        let placement = Placement::Threads(3);
        let system =
            ActorSystem::start(world.ports(), limits, placement, identity(), &Registry::new()).unwrap();
        let payments = system.payments();
        let created = join_all((1..=200).map(|number| payments.create(pix(number)))).await;
        for created in created {
            assert_eq!(created.unwrap().payment.status(), Status::Pending);
        }
        let read = payments.read(id(200)).await.unwrap();
        assert_eq!(read.as_ref().map(|read| read.id), Some(id(200)));
        assert!(payments.takes_messages());
        system.stop().await;
        assert!(!payments.takes_messages());
        assert_eq!(payments.create(pix(201)).await.unwrap_err(), Denied::Interrupted);
    });
    assert_eq!(world.trace.charges(), 200);
}
