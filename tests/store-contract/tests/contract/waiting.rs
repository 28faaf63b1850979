//! Work that the timer and the webhook pool look for.

use std::sync::Arc;

use quita_domain::identity::TransactionId;
use quita_domain::payment::Payment;
use quita_domain::time::Timestamp;
use quita_ports::{Backlog, DueDelivery, OutboxPlace, Store};

use quita_store_contract::samples::{Sample, answered, created_at, insert, notice, pending, replace};

const LONG_AFTER: Timestamp = Timestamp::from_millis(1_000_000_000);

async fn stored(store: &Arc<dyn Store>, times: &[i64]) -> Vec<Payment> {
    let payments: Vec<_> = times.iter().map(|at| created_at(*at)).collect();
    store.commit(&payments.iter().map(insert).collect::<Vec<_>>()).await;
    payments
}

async fn made_pending(store: &Arc<dyn Store>, payments: &[Payment]) -> Vec<Payment> {
    let next: Vec<_> = payments.iter().map(|it| pending(it, it.created_at.millis() + 1)).collect();
    store.commit(&next.iter().map(replace).collect::<Vec<_>>()).await;
    next
}

/// Returns the position of its delivery in the outbox.
fn place(payment: &Payment) -> OutboxPlace {
    OutboxPlace { at: payment.outbox_at().unwrap(), id: payment.id }
}

fn ids<const N: usize>(payments: [&Payment; N]) -> Vec<TransactionId> {
    payments.iter().map(|payment| payment.id).collect()
}

pub async fn what_is_due_comes_in_the_order_of_its_time(store: Arc<dyn Store>) {
    let payments = stored(&store, &[300, 100, 200]).await;
    let [third, first, second] = [&payments[0], &payments[1], &payments[2]];
    assert_eq!(store.due(LONG_AFTER, 10).await, Ok(ids([first, second, third])));
    assert_eq!(store.due(LONG_AFTER, 2).await, Ok(ids([first, second])));
    let at = second.due_at().unwrap();
    assert_eq!(store.due(at, 10).await, Ok(ids([first, second])), "at its very time");
    let before = Timestamp::from_millis(first.due_at().unwrap().millis() - 1);
    assert_eq!(store.due(before, 10).await, Ok(Vec::new()));
    assert_eq!(store.outbox_due(None, LONG_AFTER, 10).await, Ok(Vec::new()));
}

pub async fn what_is_no_longer_due_is_gone(store: Arc<dyn Store>) {
    let opened = created_at(1);
    let waiting = pending(&opened, 2);
    let done = quita_store_contract::samples::paid(&waiting, 3);
    for (write, expected) in [(insert(&opened), 1), (replace(&waiting), 1), (replace(&done), 0)] {
        assert_eq!(store.commit(&[write]).await, [Ok(())]);
        assert_eq!(store.due(LONG_AFTER, 10).await.unwrap().len(), expected);
    }
}

pub async fn deliveries_wait_in_the_order_of_their_time(store: Arc<dyn Store>) {
    let opened = stored(&store, &[300, 100, 200]).await;
    let payments = made_pending(&store, &opened).await;
    let [third, first, second] = [&payments[0], &payments[1], &payments[2]];
    let read = async |after: Option<&Payment>, now, limit| {
        let after = after.map(place);
        let due = store.outbox_due(after, now, limit).await.unwrap();
        due.into_iter().map(|due| due.place.id).collect::<Vec<_>>()
    };
    assert_eq!(read(None, LONG_AFTER, 10).await, ids([first, second, third]));
    assert_eq!(read(None, LONG_AFTER, 1).await, ids([first]));
    assert_eq!(read(None, second.outbox_at().unwrap(), 10).await, ids([first, second]));
    assert_eq!(read(Some(first), LONG_AFTER, 1).await, ids([second]), "a page follows a page");
    assert_eq!(read(Some(third), LONG_AFTER, 1).await, ids([]));
    let expected = DueDelivery { place: place(first), receiver: first.receiver().unwrap() };
    assert_eq!(store.outbox_due(None, LONG_AFTER, 1).await, Ok(vec![expected]));
    store.commit(&[replace(&answered(first, 0, 204, 400))]).await;
    assert_eq!(read(None, LONG_AFTER, 10).await, ids([second, third]));
}

pub async fn deliveries_of_one_moment_are_read_page_by_page(store: Arc<dyn Store>) {
    let opened = stored(&store, &[100; 5]).await;
    let mut expected: Vec<_> = made_pending(&store, &opened).await.iter().map(place).collect();
    expected.sort_unstable();
    let mut found = Vec::new();
    let mut after = None;
    loop {
        let page = store.outbox_due(after, LONG_AFTER, 2).await.unwrap();
        let Some(last) = page.last() else { break };
        after = Some(last.place);
        found.extend(page.into_iter().map(|due| due.place));
    }
    assert_eq!(found, expected);
}

pub async fn the_backlog_counts_what_waits(store: Arc<dyn Store>) {
    let now = Timestamp::from_millis(500_000);
    assert_eq!(store.backlog(now, 100).await, Ok(Backlog::default()));
    let opened = stored(&store, &[1, 2, 499_999]).await;
    let silent = Sample { at: 3, postback: false, ..Sample::default() }.open();
    store.commit(&[insert(&silent)]).await;
    assert_eq!(store.backlog(now, 100).await, Ok(Backlog { webhooks: 0, due: 3, inbox: 0 }));
    made_pending(&store, &opened).await;
    store.put_notices(&[notice("a:1", 1), notice("a:2", 2)]).await.unwrap();
    store.finish_notices(&[String::from("a:1")], now).await.unwrap();
    assert_eq!(store.backlog(now, 100).await, Ok(Backlog { webhooks: 3, due: 3, inbox: 1 }));
}

pub async fn the_backlog_is_counted_as_far_as_it_is_asked_for(store: Arc<dyn Store>) {
    let now = Timestamp::from_millis(500_000);
    let opened = stored(&store, &[1, 2, 3, 499_997, 499_998, 499_999]).await;
    made_pending(&store, &opened).await;
    store.put_notices(&["a:1", "a:2", "a:3"].map(|id| notice(id, 1))).await.unwrap();
    let all = Backlog { webhooks: 6, due: 3, inbox: 3 };
    for limit in [0, 1, 2, 3, 5, 6, 7, u32::MAX] {
        let [webhooks, due, inbox] =
            [all.webhooks, all.due, all.inbox].map(|count| count.min(u64::from(limit)));
        assert_eq!(store.backlog(now, limit).await, Ok(Backlog { webhooks, due, inbox }), "{limit}");
    }
}

pub async fn the_store_answers_a_ping(store: Arc<dyn Store>) {
    assert_eq!(store.ping().await, Ok(()));
}
