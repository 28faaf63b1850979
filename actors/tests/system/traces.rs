//! Traces: everything that one call causes is one trace, however many actors and tasks it passes.

use std::sync::Arc;
use std::time::Duration;

use futures_util::future::join_all;
use quita_domain::acquiring::Notice;
use quita_ports::trace::{Parent, Span, SpanContext, TraceId, Tracer, within};

use crate::bank::{Answer, settled};
use crate::orders::{CENTS, SHOP, id, pix, pix_for};
use crate::receivers::Reply;
use crate::spans::{Recorder, is_linked, lasted_ms, told};
use crate::world::{World, pass_ms};

/// A call from outside, as the edge would begin its trace.
fn call(recorder: &Arc<Recorder>) -> Span {
    let tracer: Arc<dyn Tracer> = recorder.clone();
    Span::begin(Some(&tracer), || "call".into())
}

fn place(call: &Span) -> Option<SpanContext> {
    call.context().cloned()
}

fn trace_of(recorder: &Recorder, place: usize) -> TraceId {
    recorder.named("call")[place].position.trace
}

#[test]
fn a_creation_with_its_charge_and_its_webhook_is_one_trace() {
    let world = World::new();
    let recorder = world.recorder();
    world.live(async {
        let node = world.node();
        let call = call(&recorder);
        within(place(&call), node.created(pix(1))).await;
        drop(call);
        node.settle().await;
    });
    let expected = "\
call
  front create
    transaction create
      journal commit
      acquirer charge
        call charge
      front execute
        transaction execute
          journal commit
          webhook_pool deliver
            webhook_worker send
              webhook
            front execute
              transaction execute
  front await
    transaction await
";
    assert_eq!(recorder.tree(trace_of(&recorder, 0)), expected);
    let commands: Vec<_> =
        recorder.named("transaction execute").iter().map(|span| told(span, "command").unwrap()).collect();
    assert_eq!(commands, ["charge_answered", "delivery_answered"]);
    let webhook = &recorder.named("webhook")[0];
    let host = SHOP.split('/').nth(2).unwrap();
    for (name, value) in [
        ("server.address", host),
        ("http.response.status_code", "200"),
        ("attempt", "1"),
        ("event", "payment.pending"),
    ] {
        assert_eq!(told(webhook, name).as_deref(), Some(value), "{name}");
    }
    let charge = &recorder.named("call charge")[0];
    for (name, value) in [("acquirer", "first"), ("method", "pix"), ("outcome", "answered")] {
        assert_eq!(told(charge, name).as_deref(), Some(value), "{name}");
    }
    for span in recorder.named("transaction create") {
        assert_eq!(told(&span, "transaction.id"), Some(id(1).to_string()));
        assert_eq!(told(&span, "payment.status").as_deref(), Some("initial"));
    }
}

#[test]
fn a_span_lasts_as_long_as_its_own_work_and_not_as_what_it_began() {
    let world = World::new();
    let recorder = world.recorder();
    world.live(async {
        let node = world.node();
        world.bank.next([Answer::after_ms(300, Answer::Takes)]);
        world.receivers.next(SHOP, [Reply::Slow(Duration::from_secs(2), 200)]);
        let call = call(&recorder);
        within(place(&call), node.created(pix(1))).await;
        drop(call);
        node.settle().await;
    });
    let lasted = |name: &str| recorder.named(name).iter().map(lasted_ms).max().unwrap();
    assert!(lasted("front create") <= 1, "{}", lasted("front create"));
    assert!(lasted("transaction create") < 200, "the charge is a task of its own");
    assert!((300..400).contains(&lasted("call charge")), "{}", lasted("call charge"));
    assert!((300..1_000).contains(&lasted("call")), "{}", lasted("call"));
    assert!((2_000..2_100).contains(&lasted("webhook")), "{}", lasted("webhook"));
}

#[test]
fn a_batch_is_a_trace_of_its_own_with_links_to_those_it_serves() {
    let world = World::new();
    let recorder = world.recorder();
    world.live(async {
        let node = world.node();
        let calls: Vec<_> = (0..3).map(|_| call(&recorder)).collect();
        let created = (1..)
            .zip(&calls)
            .map(|(number, call)| within(place(call), node.payments.create(pix_for(number, None))));
        let untraced = (11..=50).map(|number| node.payments.create(pix_for(number, None)));
        let (traced, untraced) = tokio::join!(join_all(created), join_all(untraced));
        assert!(traced.iter().chain(&untraced).all(Result::is_ok));
        drop(calls);
        node.settle().await;
    });
    let batches = recorder.named("store commit");
    let members = recorder.named("journal commit");
    assert_eq!(members.len(), 6, "of each traced payment the intent and the answer");
    for member in &members {
        let batch = batches.iter().find(|batch| is_linked(member, batch.position)).unwrap();
        assert!(is_linked(batch, member.position));
        assert_ne!(batch.position.trace, member.position.trace);
        assert!(batch.began >= member.began && batch.ended <= member.ended);
    }
    assert!(batches.iter().all(|batch| batch.parent == Parent::None));
    let largest = batches.iter().map(|batch| told(batch, "batch.size").unwrap()).max_by_key(String::len);
    assert!(largest.unwrap().parse::<usize>().unwrap() > 3, "the others went along");
}

#[test]
fn a_notice_in_process_stays_in_the_trace_that_it_came_with() {
    let world = World::new();
    let recorder = world.recorder();
    world.live(async {
        let node = world.node();
        node.created(pix_for(1, None)).await;
        assert_eq!(recorder.count(), 0, "nobody asked for a trace");
        let call = call(&recorder);
        let notice: Notice = node.notice("e1", id(1), settled(id(1), CENTS));
        within(place(&call), node.payments.submit(notice)).await.unwrap();
        drop(call);
        node.settle().await;
    });
    let expected = "\
call
  front execute
    transaction execute
      journal commit
";
    assert_eq!(recorder.tree(trace_of(&recorder, 0)), expected);
}

#[test]
fn what_the_store_says_is_due_begins_a_trace_of_its_own() {
    let world = World::new();
    let recorder = world.recorder();
    world.live(async {
        let node = world.node();
        world.receivers.next(SHOP, [Reply::Status(500)]);
        node.created(pix(1)).await;
        pass_ms(1_000).await;
        assert_eq!(recorder.count(), 0);
        node.settle().await;
    });
    let claims = recorder.named("deliver").into_iter().filter(|span| span.parent == Parent::None);
    let delivering = claims.filter(|span| recorder.tree(span.position.trace).contains("webhook\n"));
    let claims: Vec<_> = delivering.collect();
    assert_eq!(claims.len(), 1, "for the second attempt");
    assert_eq!(told(&claims[0], "transaction.id"), Some(id(1).to_string()));
    assert_eq!(told(&recorder.named("webhook")[0], "attempt").as_deref(), Some("2"));
}

#[test]
fn what_is_not_recorded_leaves_no_span_anywhere() {
    let world = World::new();
    let recorder = world.recorder();
    recorder.take_no_more();
    world.live(async {
        let node = world.node();
        let call = call(&recorder);
        within(place(&call), node.created(pix(1))).await;
        node.payments.submit(node.notice("e1", id(1), settled(id(1), CENTS))).await.unwrap();
        node.settle().await;
    });
    assert_eq!(recorder.count(), 0);
}

#[test]
fn an_actor_that_dies_ends_its_span_as_a_failure() {
    let world = World::new();
    let recorder = world.recorder();
    world.live(async {
        let node = world.node();
        world.bank.next([Answer::Panic]);
        let call = call(&recorder);
        let created = within(place(&call), node.create(pix(1))).await;
        assert!(created.is_ok());
        drop(call);
        node.settle().await;
    });
    let failures: Vec<_> = recorder.named("call charge").iter().map(|span| span.failure).collect();
    assert_eq!(failures, [Some("panicked"), None], "it is asked for, and then charged again");
}
