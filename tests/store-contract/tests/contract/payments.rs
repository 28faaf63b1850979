//! Writes and lookups.

use std::sync::Arc;

use quita_domain::identity::{Owner, TransactionId};
use quita_domain::listing::PaymentFilter;
use quita_domain::payment::Payment;
use quita_ports::{Store, Write, WriteError};
use uuid::Uuid;

use crate::listing::everything;
use quita_store_contract::samples::{Sample, answered, created_at, insert, paid, pending, replace};

const CONFLICT: Result<(), WriteError> = Err(WriteError::Conflict);

async fn load(store: &Arc<dyn Store>, payment: &Payment) -> Payment {
    store.load(&[payment.id]).await.unwrap().pop().expect("it is stored")
}

pub async fn a_stored_payment_reads_back_as_it_was(store: Arc<dyn Store>) {
    let opened = Sample { reference: Some("pedido-1"), ..Sample::default() }.open();
    assert_eq!(store.commit(&[insert(&opened)]).await, [Ok(())]);
    assert_eq!(load(&store, &opened).await, opened);
    let mut last = opened;
    for step in [
        |it: &Payment| pending(it, 2_000),
        |it: &Payment| paid(it, 3_000),
        |it: &Payment| answered(it, 0, 200, 3_500),
    ] {
        let next = step(&last);
        assert_eq!(store.commit(&[replace(&next)]).await, [Ok(())]);
        assert_eq!(load(&store, &next).await, next);
        last = next;
    }
}

pub async fn every_field_of_a_payment_reads_back(store: Arc<dyn Store>) {
    for mut payment in crate::complete::payments() {
        for write in [insert, replace] {
            assert_eq!(store.commit(&[write(&payment)]).await, [Ok(())]);
            assert_eq!(load(&store, &payment).await, payment);
            payment.revision += 1;
        }
    }
}

pub async fn a_replacement_leaves_nothing_of_what_it_replaces(store: Arc<dyn Store>) {
    let mut last = created_at(1);
    let id = last.id;
    let owner = last.owner.clone();
    let waiting = pending(&last, 2);
    let plain = [last.clone(), paid(&waiting, 3), waiting];
    let all: Vec<_> = plain.into_iter().chain(crate::complete::payments()).collect();
    assert_eq!(store.commit(&[insert(&last)]).await, [Ok(())]);
    // Any state of a payment may follow any other one.
    let pairs: Vec<_> = (0..all.len()).flat_map(|from| (0..all.len()).map(move |to| [from, to])).collect();
    for wanted in pairs.into_iter().flatten() {
        let revision = last.revision + 1;
        let last_op = Uuid::now_v7();
        let next = Payment { id, owner: owner.clone(), revision, last_op, ..all[wanted].clone() };
        assert_eq!(store.commit(&[replace(&next)]).await, [Ok(())]);
        assert_eq!(load(&store, &next).await, next);
        last = next;
    }
    // The indexed values have changed, too.
    let Owner { merchant, mode, .. } = owner;
    let filter = PaymentFilter { merchant, mode, statuses: vec![last.status()], ..everything() };
    assert_eq!(store.list(&filter, None, 10).await.unwrap(), [Ok(last)]);
}

pub async fn an_id_can_be_taken_once(store: Arc<dyn Store>) {
    let first = created_at(1);
    let second = Sample { id: first.id, email: "bia@example.com", ..Sample::default() }.open();
    assert_eq!(store.commit(&[insert(&first)]).await, [Ok(())]);
    assert_eq!(store.commit(&[insert(&second)]).await, [CONFLICT]);
    assert_eq!(load(&store, &first).await, first);
}

pub async fn a_replacement_needs_the_stored_revision(store: Arc<dyn Store>) {
    let opened = created_at(1);
    let waiting = pending(&opened, 2);
    store.commit(&[insert(&opened)]).await;
    assert_eq!(store.commit(&[replace(&paid(&waiting, 3))]).await, [CONFLICT], "too new");
    assert_eq!(store.commit(&[replace(&waiting)]).await, [Ok(())]);
    assert_eq!(store.commit(&[replace(&pending(&opened, 4))]).await, [CONFLICT], "stale");
    assert_eq!(store.commit(&[replace(&pending(&opened, 4))]).await, [CONFLICT], "stale");
    let unknown = created_at(5);
    assert_eq!(store.commit(&[replace(&pending(&unknown, 6))]).await, [CONFLICT], "not there");
    assert_eq!(store.load(&[unknown.id]).await.unwrap(), []);
    assert_eq!(load(&store, &opened).await, waiting);
}

/// Makes all writes concurrently, one per call. Returns the successful ones, and the stored payment.
async fn race(store: &Arc<dyn Store>, writes: Vec<Write>) -> (Vec<Write>, Payment) {
    let tasks: Vec<_> = writes
        .into_iter()
        .map(|write| {
            let store = Arc::clone(store);
            tokio::spawn(async move { (store.commit(std::slice::from_ref(&write)).await, write) })
        })
        .collect();
    let mut winners = Vec::new();
    for task in tasks {
        let (outcome, write) = task.await.unwrap();
        match outcome.as_slice() {
            [Ok(())] => winners.push(write),
            other => assert_eq!(other, [CONFLICT]),
        }
    }
    let stored = load(store, &winners[0].payment).await;
    (winners, stored)
}

pub async fn of_many_writers_at_one_revision_one_wins(store: Arc<dyn Store>) {
    let mut current = created_at(1);
    store.commit(&[insert(&current)]).await;
    current = pending(&current, 2);
    store.commit(&[replace(&current)]).await;
    for round in 0..5_i64 {
        let rivals = (0..20).map(|_| replace(&answered(&current, 0, 500, 10 + round))).collect();
        let (winners, stored) = race(&store, rivals).await;
        assert_eq!(winners.len(), 1);
        assert_eq!(stored.last_op, winners[0].payment.last_op);
        current = stored;
    }
}

pub async fn of_many_inserts_of_one_id_one_wins(store: Arc<dyn Store>) {
    let id = TransactionId::new(Uuid::now_v7());
    let rivals = (0..20).map(|_| insert(&Sample { id, ..Sample::default() }.open())).collect();
    let (winners, stored) = race(&store, rivals).await;
    assert_eq!(winners.len(), 1);
    assert_eq!(stored, *winners[0].payment);
}

pub async fn a_mixed_batch_answers_each_write_in_order(store: Arc<dyn Store>) {
    let [kept, stale, taken] = [created_at(1), created_at(2), created_at(3)];
    store.commit(&[insert(&kept), insert(&stale), insert(&taken)]).await;
    let moved = pending(&stale, 4);
    store.commit(&[replace(&moved)]).await;
    let fresh = created_at(5);
    let next = pending(&kept, 6);
    let batch = [
        insert(&taken),
        insert(&fresh),
        replace(&pending(&stale, 7)),
        replace(&next),
        insert(&created_at(8)),
    ];
    assert_eq!(store.commit(&batch).await, [CONFLICT, Ok(()), CONFLICT, Ok(()), Ok(())]);
    assert_eq!(load(&store, &stale).await, moved);
    assert_eq!(load(&store, &fresh).await, fresh);
    assert_eq!(load(&store, &kept).await, next);
}

pub async fn a_large_batch_is_written_whole(store: Arc<dyn Store>) {
    let opened: Vec<_> = (0..400).map(created_at).collect();
    let inserts: Vec<_> = opened.iter().map(insert).collect();
    assert!(store.commit(&inserts).await.iter().all(Result::is_ok));
    let waiting: Vec<_> = opened.iter().map(|payment| pending(payment, 500)).collect();
    let replacements: Vec<_> = waiting.iter().map(replace).collect();
    assert!(store.commit(&replacements).await.iter().all(Result::is_ok));
    let ids: Vec<_> = waiting.iter().map(|payment| payment.id).collect();
    let mut stored = store.load(&ids).await.unwrap();
    stored.sort_by_key(|payment| payment.created_at);
    assert_eq!(stored, waiting);
}

pub async fn an_empty_batch_and_an_empty_lookup_are_nothing(store: Arc<dyn Store>) {
    assert_eq!(store.commit(&[]).await, []);
    assert_eq!(store.load(&[]).await, Ok(Vec::new()));
}

pub async fn absent_payments_are_left_out(store: Arc<dyn Store>) {
    let stored = created_at(1);
    let absent = created_at(2);
    store.commit(&[insert(&stored)]).await;
    assert_eq!(store.load(&[absent.id, stored.id]).await, Ok(vec![stored]));
}
