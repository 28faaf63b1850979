//! Decisions of operators, and the nodes that they see.

use std::collections::BTreeMap;
use std::sync::Arc;

use quita_domain::control::{Node, RouteControl, RouteDirective};
use quita_domain::exception::{Exception, Resolution};
use quita_domain::identity::AcquirerName;
use quita_domain::method::Method;
use quita_domain::routing::{RoutingTable, Version};
use quita_domain::time::{DAY_MS, Timestamp};
use quita_ports::Store;
use uuid::Uuid;

use crate::exceptions::exception;

/// A time so late that no server deletes nodes for their age: 2100-01-01.
const NOW: Timestamp = Timestamp::from_millis(4_102_444_800_000);

pub fn control(acquirer: &str, method: Method, directive: RouteDirective) -> RouteControl {
    RouteControl { acquirer: AcquirerName::new(acquirer), method, directive, at: NOW }
}

pub fn resolution(at: i64) -> Resolution {
    Resolution {
        at: Timestamp::from_millis(at),
        by: String::from("operator"),
        note: String::from("gave it back"),
    }
}

fn resolved(id: &str, reported_at: i64, at: i64) -> Exception {
    Exception { resolution: Some(resolution(at)), ..exception(id, reported_at) }
}

pub fn node(number: u128, started_at: i64, seen_at: Timestamp) -> Node {
    Node {
        id: Uuid::from_u128(number),
        address: String::from("http://127.0.0.1:8080"),
        version: String::from("0.1.0"),
        routing: number.is_multiple_of(2).then(|| RoutingTable::default().version()),
        accounts: number.is_multiple_of(2).then(|| Version::of_accounts(&BTreeMap::new())),
        comparison_failure: (!number.is_multiple_of(2)).then(|| String::from("bank, 2026-11-22: 503")),
        knows_form: 2,
        writes_form: 1,
        started_at: Timestamp::from_millis(started_at),
        seen_at,
    }
}

pub async fn a_directive_takes_the_place_of_the_one_before(store: Arc<dyn Store>) {
    assert_eq!(store.route_controls().await, Ok(Vec::new()));
    let [paused, other, drained] = [
        control("sandbox", Method::Pix, RouteDirective::Paused),
        control("sandbox", Method::Boleto, RouteDirective::Paused),
        control("banco", Method::Pix, RouteDirective::Drained),
    ];
    for control in [&paused, &other, &drained] {
        store.put_route_control(control).await.unwrap();
    }
    let opened = RouteControl { directive: RouteDirective::Open, at: NOW.plus_ms(1), ..paused };
    store.put_route_control(&opened).await.unwrap();
    let mut seen = store.route_controls().await.unwrap();
    seen.sort_by_key(|control| (control.acquirer.clone(), control.method));
    assert_eq!(seen, [drained, opened, other]);
}

pub async fn a_resolved_exception_is_open_no_more_and_never_again(store: Arc<dyn Store>) {
    assert_eq!(store.resolve_exception("e-1", &resolution(9)).await, Ok(false), "there is none");
    assert_eq!(store.exception("e-1").await, Ok(None));
    store.put_exception(&exception("e-1", 1)).await.unwrap();
    store.put_exception(&exception("e-2", 2)).await.unwrap();
    assert_eq!(store.exception("e-1").await, Ok(Some(exception("e-1", 1))));
    assert_eq!(store.resolve_exception("e-1", &resolution(9)).await, Ok(true));
    assert_eq!(store.resolve_exception("e-1", &resolution(10)).await, Ok(false), "it is resolved");
    assert_eq!(store.put_exception(&exception("e-1", 3)).await, Ok(false), "it is resolved");
    assert_eq!(store.exception("e-1").await, Ok(Some(resolved("e-1", 1, 9))));
    assert_eq!(store.exceptions(10).await, Ok(vec![exception("e-2", 2)]));
    assert_eq!(store.resolved_exceptions(10).await, Ok(vec![resolved("e-1", 1, 9)]));
}

pub async fn of_many_who_resolve_an_exception_one_does(store: Arc<dyn Store>) {
    store.put_exception(&exception("e-1", 1)).await.unwrap();
    let tasks: Vec<_> = (0..10)
        .map(|at| {
            let store = Arc::clone(&store);
            tokio::spawn(async move {
                store.resolve_exception("e-1", &resolution(at)).await.unwrap().then_some(at)
            })
        })
        .collect();
    let mut winners = Vec::new();
    for task in tasks {
        winners.extend(task.await.unwrap());
    }
    let stored = store.exception("e-1").await.unwrap().unwrap();
    assert_eq!(winners.iter().map(|at| resolution(*at)).collect::<Vec<_>>(), [stored.resolution.unwrap()]);
}

pub async fn the_exceptions_that_were_resolved_last_come_first(store: Arc<dyn Store>) {
    for (id, reported_at, at) in [("e-1", 1, 30), ("e-2", 2, 10), ("e-3", 3, 20), ("e-4", 4, 20)] {
        store.put_exception(&exception(id, reported_at)).await.unwrap();
        assert_eq!(store.resolve_exception(id, &resolution(at)).await, Ok(true));
    }
    store.put_exception(&exception("e-5", 5)).await.unwrap();
    let expected = vec![resolved("e-1", 1, 30), resolved("e-4", 4, 20), resolved("e-3", 3, 20)];
    assert_eq!(store.resolved_exceptions(3).await, Ok(expected));
    assert_eq!(store.resolved_exceptions(0).await, Ok(Vec::new()));
    assert_eq!(store.exceptions(10).await, Ok(vec![exception("e-5", 5)]));
}

pub async fn nodes_that_are_alive_come_by_their_start(store: Arc<dyn Store>) {
    let [late, early, gone] = [node(1, 30, NOW), node(2, 10, NOW.plus_ms(5)), node(3, 20, NOW)];
    for node in [&late, &early, &gone] {
        store.put_node(node).await.unwrap();
    }
    let again = Node { seen_at: NOW.plus_ms(10), ..late };
    store.put_node(&again).await.unwrap();
    assert_eq!(store.nodes(NOW).await, Ok(vec![early.clone(), gone, again.clone()]));
    assert_eq!(store.nodes(NOW.plus_ms(5)).await, Ok(vec![early, again.clone()]));
    assert_eq!(store.nodes(NOW.plus_ms(6)).await, Ok(vec![again]));
    assert_eq!(store.nodes(NOW.plus_ms(11)).await, Ok(Vec::new()));
}

pub async fn a_node_that_is_removed_is_gone_until_it_is_seen_again(store: Arc<dyn Store>) {
    let [stays, goes] = [node(1, 10, NOW), node(2, 20, NOW)];
    for node in [&stays, &goes] {
        store.put_node(node).await.unwrap();
    }
    assert_eq!(store.remove_node(goes.id).await, Ok(true));
    assert_eq!(store.remove_node(goes.id).await, Ok(false));
    assert_eq!(store.nodes(NOW).await, Ok(vec![stays.clone()]));
    store.put_node(&goes).await.unwrap();
    assert_eq!(store.nodes(NOW).await, Ok(vec![stays, goes]));
}

pub async fn a_node_that_was_seen_this_month_is_not_forgotten(store: Arc<dyn Store>) {
    let quiet = node(1, 10, NOW);
    store.put_node(&quiet).await.unwrap();
    let other = node(2, 20, NOW.plus_ms(30 * DAY_MS));
    store.put_node(&other).await.unwrap();
    assert_eq!(store.nodes(NOW).await, Ok(vec![quiet, other]));
}
