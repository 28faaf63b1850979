//! Views of operators: samples, causes of deaths, single transactions, nodes.

use std::time::Duration;

use quita_actors::{ActorKind, NodeState, Sample};
use quita_domain::control::Node as StoredNode;
use quita_domain::status::Status;
use quita_domain::time::Timestamp;
use quita_ports::Clock;
use uuid::Uuid;

use crate::bank::Answer;
use crate::orders::{SHOP, card, id, keyed, pix};
use crate::receivers::Reply;
use crate::store::{Fault, Op};
use crate::world::{Node, World, pass_ms};

/// A world in which samples are taken as in real ones.
fn sampled() -> World {
    World::new().with_limits(|limits| limits.sample_interval = Duration::from_secs(1))
}

fn thousandths(node: &Node<'_>, of: impl Fn(&Sample) -> u64) -> u64 {
    of(&node.operators.sample())
}

#[test]
fn a_sample_tells_of_the_last_second() {
    let world = sampled();
    world.live(async {
        let node = world.node();
        pass_ms(1_500).await;
        assert_eq!(thousandths(&node, |sample| sample.payments.per_second.get()), 0);
        for number in 1..=5 {
            node.created(pix(number)).await;
        }
        pass_ms(1_000).await;
        let sample = node.operators.sample();
        let transaction = &sample.kinds[&ActorKind::Transaction];
        assert_eq!((transaction.live, transaction.depth, transaction.restarts), (5, 0, 0));
        assert_eq!(sample.payments.per_second.get(), 5_000);
        assert_eq!(sample.payments.events_per_second.get(), 5_000, "each became pending");
        assert_eq!(sample.webhooks.delivered_per_second.get(), 5_000);
        assert!(transaction.per_second.get() >= 10_000, "a creation and an answer each");
        assert!(transaction.handle_p99_ms.unwrap().get() >= 1_000, "the store takes 2 ms");
        assert!(transaction.wait_median_ms.is_some());
        assert_eq!(sample.store.batch_median.unwrap().get(), 1_000);
        assert!(sample.store.commit_median_ms.unwrap().get() >= 1_000);
        assert!(sample.webhooks.lag_p99_ms.is_some());
        pass_ms(1_000).await;
        let quiet = node.operators.sample();
        let transaction = &quiet.kinds[&ActorKind::Transaction];
        assert_eq!((transaction.live, transaction.per_second.get()), (5, 0));
        assert_eq!((transaction.handle_median_ms, quiet.store.batch_median), (None, None));
        assert_eq!(quiet.at.ms_since(sample.at), 1_000);
        node.settle().await;
    });
}

#[test]
fn a_follower_gets_every_sample_once_it_is_taken() {
    let world = sampled();
    world.live(async {
        let node = world.node();
        let mut samples = node.operators.samples();
        pass_ms(10).await;
        samples.mark_unchanged();
        let mut seen = Vec::new();
        for _ in 0..5 {
            samples.changed().await.unwrap();
            seen.push(samples.borrow_and_update().at);
        }
        assert!(seen.windows(2).all(|two| two[1].ms_since(two[0]) == 1_000), "{seen:?}");
    });
}

#[test]
fn fifteen_minutes_are_kept_in_samples_of_five_seconds() {
    let world = sampled().with_limits(|limits| {
        limits.supervision_interval = Duration::from_secs(5);
        limits.timer_interval = Duration::from_secs(5);
        limits.webhooks.interval = limits.timer_interval;
    });
    world.live(async {
        let node = world.node();
        pass_ms(61_000).await;
        for number in 1..=10 {
            node.created(pix(number)).await;
        }
        pass_ms(6_000).await;
        let history = node.operators.history();
        assert_eq!(history.len(), 13);
        let rates: Vec<_> = history.iter().map(|sample| sample.payments.per_second.get()).collect();
        assert_eq!(rates.iter().sum::<u64>(), 2_000, "ten within five seconds: {rates:?}");
        pass_ms(1_200_000).await;
        let history = node.operators.history();
        assert_eq!(history.len(), 180);
        assert!(history.windows(2).all(|two| two[1].at.ms_since(two[0].at) == 5_000));
    });
}

#[test]
fn the_messages_of_a_kind_are_told_by_name_for_the_last_minute() {
    let world = sampled();
    world.live(async {
        let node = world.node();
        pass_ms(500).await;
        for number in 1..=6 {
            node.created(pix(number)).await;
        }
        pass_ms(59_000).await;
        let messages = node.operators.messages(ActorKind::Transaction);
        let names: Vec<_> = messages.iter().map(|message| message.name.as_str()).collect();
        assert_eq!(names, ["await", "create", "execute"]);
        let create = &messages[1];
        assert!((90..=120).contains(&create.per_second.get()), "6 a minute: {create:?}");
        assert!(create.handle_p99_ms.unwrap().get() >= 1_000);
        pass_ms(60_000).await;
        let create = &node.operators.messages(ActorKind::Transaction)[1];
        assert_eq!((create.per_second.get(), create.handle_median_ms), (0, None));
    });
}

/// Why actors of this kind died last, as the newest sample tells.
fn cause(node: &Node<'_>, kind: ActorKind) -> quita_actors::CrashCause {
    let sample = node.operators.sample();
    sample.kinds[&kind].last_cause.as_deref().expect("a cause").clone()
}

#[test]
fn a_transaction_that_dies_tells_why_where_and_whose_it_was() {
    let world = sampled();
    world.live(async {
        let node = world.node();
        pass_ms(3_000).await;
        assert!(node.operators.sample().kinds[&ActorKind::Transaction].last_cause.is_none());
        world.ids.die_once();
        node.create(keyed(7, "f")).await.unwrap_err();
        node.create(keyed(7, "f")).await.unwrap();
        pass_ms(1_000).await;
        let cause = cause(&node, ActorKind::Transaction);
        assert_eq!((cause.what.as_str(), cause.message), ("no id today", Some("create")));
        assert_eq!((cause.transaction_id, cause.at.ms_since(crate::chance::START)), (Some(id(7)), 3_000));
        assert!(cause.place.starts_with("actors/tests/system/chance.rs:"), "{}", cause.place);
        assert_eq!(node.operators.sample().kinds[&ActorKind::Transaction].restarts, 1);
        assert_eq!(world.store.payments().len(), 1);
        node.settle().await;
    });
}

#[test]
fn every_kind_that_dies_tells_why() {
    let world = sampled();
    world.live(async {
        let node = world.node();
        node.created(pix(1)).await;
        world.store.once(Op::Load, Fault::Panic);
        node.payments.read(id(1)).await.unwrap_err();
        world.store.once(Op::Commit, Fault::Panic);
        world.bank.next([Answer::Panic]);
        node.create(keyed(2, "f")).await.unwrap_err();
        pass_ms(200).await;
        node.create(keyed(2, "f")).await.unwrap();
        world.receivers.next(SHOP, [Reply::Panic]);
        node.created(pix(3)).await;
        pass_ms(2_000).await;
        assert_eq!(cause(&node, ActorKind::Reader).what, "the store's adapter panics at load");
        assert_eq!(cause(&node, ActorKind::Journal).what, "the store's adapter panics at commit");
        assert_eq!(cause(&node, ActorKind::Acquirer).what, "the adapter of first panics");
        let worker = cause(&node, ActorKind::WebhookWorker);
        assert_eq!((worker.message, worker.transaction_id), (Some("send"), None));
        assert!(node.operators.sample().kinds[&ActorKind::Front].last_cause.is_none());
        node.settle().await;
    });
}

#[test]
fn a_transaction_in_memory_can_be_looked_at_and_is_not_kept_there_by_it() {
    let world = World::new();
    world.live(async {
        let node = world.node();
        assert_eq!(node.operators.inspect(id(1)).await.unwrap(), None);
        world.bank.next([Answer::after_ms(500, Answer::Takes)]);
        let begun = world.clock.elapsed_ms();
        let caller = node.begin(pix(1));
        pass_ms(300).await;
        let view = node.operators.inspect(id(1)).await.unwrap().unwrap();
        assert_eq!((view.transaction_id, view.is_alive, view.holds_card), (id(1), true, false));
        assert_eq!((view.waiting, view.handling), (0, 0), "the acquirer is at work, the actor is not");
        let names: Vec<_> = view.messages.iter().map(|message| message.name).collect();
        assert_eq!(names, ["await", "create"], "the newest first");
        assert_eq!(view.since.ms_since(crate::chance::START), begun);
        let create = &view.messages[1];
        assert!(create.took_ms.unwrap().get() >= 2_000 && create.at >= view.since);
        caller.await.unwrap().unwrap();
        let view = node.operators.inspect(id(1)).await.unwrap().unwrap();
        let is_answer = |message: &quita_actors::MessageView| message.name == "execute charge_answered";
        assert!(view.messages.iter().any(is_answer), "the command is told: {:?}", view.messages);
        pass_ms(250).await;
        let view = node.operators.inspect(id(1)).await.unwrap().unwrap();
        assert!(!view.holds_card, "it holds a receiver's confirmation");
        for _ in 0..70 {
            pass_ms(250).await;
            node.operators.inspect(id(1)).await.unwrap();
        }
        assert_eq!(node.operators.inspect(id(1)).await.unwrap(), None, "it was idle and left");
        node.settle().await;
    });
}

#[test]
fn what_a_transaction_is_doing_is_seen_while_it_does_it() {
    let world = World::new();
    world.live(async {
        let node = world.node();
        pass_ms(10).await;
        world.store.once(Op::Commit, Fault::Slow(Duration::from_secs(3)));
        let callers: Vec<_> = (0..3).map(|_| node.begin(keyed(1, "f"))).collect();
        pass_ms(1_000).await;
        let view = node.operators.inspect(id(1)).await.unwrap().unwrap();
        assert_eq!((view.waiting, view.handling), (2, 1));
        assert_eq!(
            (view.messages.len(), view.messages[0].name, view.messages[0].took_ms),
            (1, "create", None)
        );
        for caller in callers {
            caller.await.unwrap().unwrap();
        }
        let view = node.operators.inspect(id(1)).await.unwrap().unwrap();
        assert!(view.messages.iter().any(|message| message.waited_ms.get() >= 3_000_000), "{view:?}");
        node.settle().await;
    });
}

#[test]
fn a_held_card_is_told_of_and_never_shown() {
    let world = World::new();
    world.live(async {
        let node = world.node();
        world.bank.next([Answer::after_ms(500, Answer::Pays)]);
        let caller = node.begin(card(1, true));
        pass_ms(100).await;
        let view = node.operators.inspect(id(1)).await.unwrap().unwrap();
        assert!(view.holds_card);
        assert!(!serde_json::to_string(&view).unwrap().contains("4242"));
        assert_eq!(caller.await.unwrap().unwrap().payment.status(), Status::Paid);
        assert!(!node.operators.inspect(id(1)).await.unwrap().unwrap().holds_card);
        node.settle().await;
    });
}

#[test]
fn the_busiest_transactions_are_listed_first_and_no_more_than_a_bounded_number() {
    let world = World::new().with_limits(|limits| {
        limits.transactions_shown = 5;
        limits.transactions_looked_at = 30;
    });
    world.live(async {
        let node = world.node();
        for number in 1..=20 {
            node.created(pix(number)).await;
        }
        world.store.once(Op::Commit, Fault::Slow(Duration::from_secs(2)));
        let callers: Vec<_> = (0..4).map(|_| node.begin(keyed(21, "f"))).collect();
        pass_ms(500).await;
        let shards = node.operators.busiest().await.unwrap();
        assert_eq!(shards.len(), 1);
        let shard = &shards[0];
        assert_eq!((shard.live, shard.looked_at, shard.transactions.len()), (21, 21, 5));
        assert_eq!((shard.transactions[0].transaction_id, shard.transactions[0].load), (id(21), 4));
        let rank = |one: &quita_actors::LiveView| (one.load, one.last_used_at);
        assert!(shard.transactions.is_sorted_by(|one, next| rank(one) >= rank(next)));
        for caller in callers {
            caller.await.unwrap().unwrap();
        }
        for number in 22..=60 {
            node.created(pix(number)).await;
        }
        let shards = node.operators.busiest().await.unwrap();
        assert_eq!((shards[0].looked_at, shards[0].transactions.len()), (30, 5));
        node.settle().await;
    });
}

#[test]
fn nodes_that_live_are_seen_and_those_that_are_gone_are_not() {
    let world = World::new();
    world.live(async {
        drop(world.node_at("127.0.0.1:9999"));
        pass_ms(3_000).await;
    });
    world.live(async {
        let one = world.node();
        let two = world.node();
        pass_ms(6_000).await;
        let nodes = |node: &Node<'_>| -> Vec<_> {
            node.operators
                .nodes()
                .into_iter()
                .map(|view| (view.node, view.state == NodeState::Lost))
                .collect()
        };
        let lost = |node: &Node<'_>| nodes(node).iter().filter(|(_, is_lost)| *is_lost).count();
        assert_eq!((nodes(&one).len(), lost(&one)), (3, 0), "one has just gone");
        let seen: Vec<_> = nodes(&one).into_iter().map(|(node, _)| node).collect();
        assert!(
            seen.iter()
                .filter(|node| (node.address.as_str(), node.version.as_str()) == ("127.0.0.1:8080", "1.2.3"))
                .count()
                == 2
        );
        let routing = one.operators.routing_version();
        assert!(routing.is_some() && seen.iter().all(|node| node.routing == routing));
        pass_ms(60_000).await;
        let (seen, gone): (Vec<_>, Vec<_>) = nodes(&two).into_iter().partition(|(_, is_lost)| !is_lost);
        assert_eq!((seen.len(), gone.len()), (2, 1), "it stays until somebody takes it off");
        assert!(seen[0].0.id != seen[1].0.id && seen.iter().all(|(node, _)| node.seen_at > node.started_at));
        assert_eq!((one.number("quita_nodes_seen", &[]), one.number("quita_nodes_lost", &[])), (2, 1));
        let told: Vec<_> = world.logs.warnings();
        assert_eq!(told.iter().filter(|line| line.contains("another node was lost")).count(), 2, "{told:?}");
        assert_eq!(two.operators.take_off(seen[0].0.id).await, Ok(false), "it lives");
        assert_eq!(two.operators.take_off(gone[0].0.id).await, Ok(true));
        pass_ms(6_000).await;
        assert_eq!((nodes(&one).len(), lost(&one), one.number("quita_nodes_lost", &[])), (2, 0, 0));
        world.store.always(Op::PutNode, Fault::Unavailable);
        pass_ms(120_000).await;
        let mut states: Vec<_> =
            one.operators.nodes().into_iter().map(|view| (view.is_own, view.state)).collect();
        states.sort_by_key(|(is_own, _)| !is_own);
        assert_eq!(states, [(true, NodeState::Alive), (false, NodeState::Unknown)], "it may have died");
        let counted = ["quita_nodes_seen", "quita_nodes_lost", "quita_nodes_unknown"];
        assert_eq!(counted.map(|name| one.number(name, &[])), [1, 0, 1]);
        assert_eq!(one.created(pix(1)).await.status(), Status::Pending, "no payment depends on it");
        world.store.heal();
        pass_ms(90_000).await;
        assert_eq!((nodes(&one).len(), lost(&one), lost(&two)), (2, 0, 0), "nobody could be seen meanwhile");
        assert_eq!(counted.map(|name| one.number(name, &[])), [2, 0, 0]);
        let told = world.logs.warnings();
        assert_eq!(told.iter().filter(|line| line.contains("another node was lost")).count(), 2, "{told:?}");
    });
}

#[test]
fn a_comparison_that_failed_on_one_node_is_known_to_the_others_until_it_succeeds() {
    let world = World::new();
    world.live(async {
        let one = world.node();
        let two = world.node();
        let known = |node: &Node<'_>| {
            let failures = node.operators.nodes().into_iter().filter_map(|view| view.node.comparison_failure);
            failures.collect::<Vec<_>>()
        };
        one.operators.report_comparison(Some("bank, 2026-11-20: 503"));
        pass_ms(11_000).await;
        assert_eq!((known(&one), known(&two)), (vec!["bank, 2026-11-20: 503".into()], known(&one)));
        one.operators.report_comparison(None);
        pass_ms(11_000).await;
        assert_eq!((known(&one), known(&two)), (Vec::<String>::new(), Vec::new()));
        one.settle().await;
        two.settle().await;
    });
}

#[test]
fn a_node_that_starts_at_the_address_of_one_that_died_takes_its_place() {
    let world = World::new();
    world.live(async {
        drop(world.node_at("10.0.0.1:8080"));
        drop(world.node_at("10.0.0.2:8080"));
        pass_ms(3_000).await;
    });
    world.live(async {
        let one = world.node_at("10.0.0.1:8080");
        let _two = world.node_at("10.0.0.3:8080");
        pass_ms(90_000).await;
        let mut seen: Vec<_> = one
            .operators
            .nodes()
            .into_iter()
            .map(|view| (view.node.address, view.state == NodeState::Lost))
            .collect();
        seen.sort();
        let expected = [("10.0.0.1:8080", false), ("10.0.0.2:8080", true), ("10.0.0.3:8080", false)];
        assert_eq!(seen, expected.map(|(address, is_lost)| (address.to_owned(), is_lost)));
        assert_eq!(world.store.nodes(), 3, "the one that was replaced is gone from the store");
    });
}

#[test]
fn a_node_whose_own_clock_differs_from_its_stores_server_shows_it_and_says_it_once() {
    let world = World::new();
    world.live(async {
        let node = world.node();
        let own = || node.operators.nodes().remove(0).clock_ahead_s;
        let told = |text: &str| world.logs.warnings().iter().filter(|line| line.contains(text)).count();
        let pass_with_server_behind_by = async |behind_s: i64| {
            for _ in 0..20 {
                let now_ms = world.clock.now().millis();
                world.store.tell_time(Timestamp::from_millis(now_ms - behind_s * 1_000));
                pass_ms(1_000).await;
            }
        };
        pass_with_server_behind_by(0).await;
        assert_eq!(own(), None);
        pass_with_server_behind_by(300).await;
        let is_near = |ahead_s: i64| (299..=302).contains(&ahead_s);
        assert!(own().is_some_and(is_near), "{:?}", own());
        let readiness = node.payments.readiness();
        assert!(readiness.clock_ahead_s.is_some_and(is_near) && readiness.is_ready(), "{readiness:?}");
        assert!(is_near(node.number("quita_node_clock_offset_seconds", &[])));
        assert_eq!(told("this node's clock differs from that of the store's server"), 1);
        pass_with_server_behind_by(0).await;
        assert_eq!((own(), node.number("quita_node_clock_offset_seconds", &[])), (None, 0));
        assert_eq!(node.payments.readiness().clock_ahead_s, None);
    });
}

#[test]
fn a_node_with_a_wrong_clock_is_shown_with_its_clock_and_is_lost_in_the_usual_time() {
    for offset_s in [600_i64, -300] {
        let world = World::new();
        world.live(async {
            let node = world.node();
            pass_ms(6_000).await;
            let own = node.operators.nodes().remove(0).node;
            let store = world.store.open_whole();
            let other = || {
                let nodes = node.operators.nodes();
                nodes.into_iter().find(|view| !view.is_own).unwrap()
            };
            let is_near = |ahead_s: i64| ahead_s.abs_diff(offset_s) <= 3;
            for beat in 0..24 {
                let seen_at = Timestamp::from_millis(world.clock.now().millis() + offset_s * 1_000);
                let id = Uuid::from_u128(7);
                let heartbeat = StoredNode { id, address: "10.0.0.7:8080".into(), seen_at, ..own.clone() };
                store.put_node(&heartbeat).await.unwrap();
                pass_ms(5_000).await;
                if beat > 1 {
                    assert_eq!(other().state, NodeState::Alive);
                    assert!(is_near(other().clock_ahead_s.unwrap()), "{:?}", other().clock_ahead_s);
                }
            }
            assert!(is_near(node.number("quita_node_clock_offset_seconds", &[])));
            assert_eq!((node.number("quita_nodes_seen", &[]), node.number("quita_nodes_lost", &[])), (2, 0));
            let told = |text: &str| world.logs.warnings().iter().filter(|line| line.contains(text)).count();
            assert_eq!(told("another node's clock differs"), 1, "{:?}", world.logs.warnings());
            pass_ms(50_000).await;
            assert_eq!(other().state, NodeState::Alive);
            pass_ms(20_000).await;
            assert_eq!((other().state, told("another node was lost")), (NodeState::Lost, 1));
            let seen_ms_ago = world.clock.now().ms_since(other().node.seen_at);
            assert!((60_000..75_000).contains(&seen_ms_ago), "by the clock of who shows it: {seen_ms_ago}");
            assert_eq!(node.number("quita_node_clock_offset_seconds", &[]), 0, "of live ones");
        });
    }
}
