//! Notices from acquirers.

use std::sync::Arc;

use quita_domain::time::{DAY_MS, Timestamp};
use quita_ports::Store;

use quita_store_contract::samples::notice;

const fn at(millis: i64) -> Timestamp {
    Timestamp::from_millis(millis)
}

async fn due(store: &Arc<dyn Store>, now: i64) -> Vec<(String, u32)> {
    let found = store.due_notices(at(now), 10).await.unwrap();
    found.into_iter().map(|(notice, tries)| (notice.id, tries)).collect()
}

fn found(expected: &[(&str, u32)]) -> Vec<(String, u32)> {
    expected.iter().map(|(id, tries)| ((*id).to_owned(), *tries)).collect()
}

pub async fn a_repeated_notice_is_known(store: Arc<dyn Store>) {
    let first = notice("a:1", 1);
    let second = notice("a:2", 2);
    assert_eq!(store.put_notices(std::slice::from_ref(&first)).await, Ok(vec![true]));
    let again = [notice("a:1", 9), second.clone(), notice("a:2", 9)];
    assert_eq!(store.put_notices(&again).await, Ok(vec![false, true, false]));
    assert_eq!(store.due_notices(at(10), 10).await, Ok(vec![(first, 0), (second, 0)]));
    assert_eq!(store.put_notices(&[]).await, Ok(Vec::new()));
}

pub async fn notices_come_the_longest_waiting_first(store: Arc<dyn Store>) {
    store.put_notices(&[notice("a:3", 30), notice("a:1", 10), notice("a:2", 20)]).await.unwrap();
    assert_eq!(due(&store, 20).await, found(&[("a:1", 0), ("a:2", 0)]));
    let first = store.due_notices(at(100), 1).await.unwrap();
    assert_eq!(first, [(notice("a:1", 10), 0)]);
}

pub async fn a_postponed_notice_comes_back_and_counts_its_tries(store: Arc<dyn Store>) {
    store.put_notices(&[notice("a:1", 1)]).await.unwrap();
    store.postpone_notice("a:1", 0, at(100)).await.unwrap();
    assert_eq!(due(&store, 99).await, found(&[]));
    assert_eq!(due(&store, 100).await, found(&[("a:1", 1)]));
    store.postpone_notice("a:1", 0, at(300)).await.unwrap();
    assert_eq!(due(&store, 100).await, found(&[("a:1", 1)]), "another node was faster");
    store.postpone_notice("a:1", 1, at(200)).await.unwrap();
    assert_eq!(due(&store, 200).await, found(&[("a:1", 2)]));
    store.postpone_notice("unheard of", 0, at(1)).await.unwrap();
    assert_eq!(due(&store, 200).await.len(), 1);
}

pub async fn a_finished_notice_is_gone_and_still_known(store: Arc<dyn Store>) {
    let now = Timestamp::parse("2026-11-21T12:00:00.000Z").unwrap();
    let long_after = now.plus_ms(DAY_MS).millis();
    store.put_notices(&[notice("a:1", 1), notice("a:2", 2), notice("a:3", 3)]).await.unwrap();
    store.finish_notices(&[String::from("a:1"), String::from("a:3")], now).await.unwrap();
    assert_eq!(due(&store, long_after).await, found(&[("a:2", 0)]));
    let asked_for = ["a:1", "a:2", "never stored"].map(String::from);
    assert_eq!(store.waiting_notices(&asked_for).await, Ok(vec![String::from("a:2")]));
    assert_eq!(store.waiting_notices(&[]).await, Ok(Vec::new()));
    store.postpone_notice("a:1", 0, at(5)).await.unwrap();
    assert_eq!(due(&store, long_after).await, found(&[("a:2", 0)]), "it does not come back");
    assert_eq!(store.put_notices(&[notice("a:1", 9)]).await, Ok(vec![false]));
    store.finish_notices(&[], now).await.unwrap();
}
