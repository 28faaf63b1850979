//! Archived payments: callers notice no difference, whatever happens to the payments meanwhile.

use std::sync::Arc;

use futures_util::future::{join, join_all};
use quita_domain::identity::{MerchantId, Mode, TransactionId};
use quita_domain::listing::{Cursor, PaymentFilter};
use quita_domain::payment::Payment;
use quita_domain::status::Status;
use quita_domain::time::Timestamp;
use quita_ports::{WholeStore, WriteError, place_of};

use crate::listing::everything;
use quita_store_contract::samples::{Sample, answered, created_at, insert, paid, pending, replace};

async fn store_all(store: &dyn WholeStore, payments: &[Payment]) {
    let stored = store.commit(&payments.iter().map(insert).collect::<Vec<_>>()).await;
    assert!(stored.iter().all(Result::is_ok), "{stored:?}");
}

/// Returns a payment that was paid at this time.
fn paid_at(at: i64) -> Payment {
    paid(&pending(&created_at(at), at + 1), at + 2)
}

async fn unarchived(
    store: &dyn WholeStore,
    until: i64,
    after: Option<Cursor>,
    limit: usize,
) -> Vec<TransactionId> {
    let payee = (MerchantId::new("loja"), Mode::Test);
    let found = store.unarchived(&payee, Timestamp::from_millis(until), after, limit).await.unwrap();
    found.iter().map(|listed| place_of(listed).id).collect()
}

pub async fn an_archived_payment_reads_back_and_its_id_stays_taken(store: Arc<dyn WholeStore>) {
    let payment = paid_at(1_000);
    store_all(&*store, std::slice::from_ref(&payment)).await;
    assert_eq!(store.count_archived().await, Ok(0));
    assert_eq!(store.archive(std::slice::from_ref(&payment)).await, Ok(1));
    assert_eq!(store.archive(std::slice::from_ref(&payment)).await, Ok(0), "once");
    assert_eq!(store.archive(&[]).await, Ok(0));
    assert_eq!(store.count_archived().await, Ok(1));
    assert_eq!(store.load(&[payment.id]).await, Ok(vec![payment.clone()]));
    let again = Sample { id: payment.id, at: 9_000, ..Sample::default() }.open();
    assert_eq!(store.commit(&[insert(&again)]).await, [Err(WriteError::Conflict)]);
    let told = answered(&payment, 0, 200, 9_000);
    assert_eq!(store.commit(&[replace(&told)]).await, [Ok(())]);
    assert_eq!(store.commit(&[replace(&told)]).await, [Err(WriteError::Conflict)]);
    assert_eq!(store.load(&[payment.id]).await, Ok(vec![told]));
    assert_eq!(store.complete_archiving().await, Ok(()));
    assert_eq!(store.count_archived().await, Ok(1));
}

pub async fn a_payment_that_was_written_since_stays_where_it_is(store: Arc<dyn WholeStore>) {
    let before = paid_at(1_000);
    store_all(&*store, std::slice::from_ref(&before)).await;
    let told = answered(&before, 0, 200, 9_000);
    assert_eq!(store.commit(&[replace(&told)]).await, [Ok(())]);
    let absent = paid_at(2_000);
    assert_eq!(store.archive(&[before, absent.clone()]).await, Ok(0));
    assert_eq!(store.load(&[told.id, absent.id]).await, Ok(vec![told.clone()]));
    assert_eq!(unarchived(&*store, 9_000, None, 9).await, [told.id]);
    let listed = store.list(&everything(), None, 9).await.unwrap();
    assert_eq!(listed, [Ok(told.clone())], "its copy is no second one");
    assert_eq!(store.complete_archiving().await, Ok(()));
    assert_eq!(
        store.archive(std::slice::from_ref(&told)).await,
        Ok(1),
        "and it can be archived as it is now"
    );
    assert_eq!(store.list(&everything(), None, 9).await, Ok(vec![Ok(told)]));
}

pub async fn what_is_not_archived_comes_the_oldest_first(store: Arc<dyn WholeStore>) {
    let payments: Vec<_> = [3_000, 1_000, 2_000, 4_000, 2_000].map(paid_at).into();
    let other = Sample { merchant: "outra", ..Sample::default() }.open();
    store_all(&*store, &payments).await;
    store_all(&*store, &[other]).await;
    let mut sorted: Vec<_> = payments.iter().map(|payment| (payment.created_at, payment.id)).collect();
    sorted.sort_unstable();
    let ids: Vec<_> = sorted.iter().map(|(_, id)| *id).collect();
    let place = |number: usize| Some(Cursor { created_at: sorted[number].0, id: sorted[number].1 });
    assert_eq!(unarchived(&*store, 9_000, None, 9).await, ids);
    assert_eq!(unarchived(&*store, 3_000, None, 9).await, ids[..4]);
    assert_eq!(unarchived(&*store, 9_000, None, 2).await, ids[..2]);
    assert_eq!(unarchived(&*store, 9_000, place(1), 2).await, ids[2..4]);
    assert_eq!(unarchived(&*store, 9_000, place(4), 2).await, []);
    assert_eq!(unarchived(&*store, 9_000, None, 0).await, []);
    let oldest = payments.iter().find(|payment| payment.id == ids[0]).unwrap();
    assert_eq!(store.archive(std::slice::from_ref(oldest)).await, Ok(1));
    assert_eq!(unarchived(&*store, 9_000, None, 9).await, ids[1..]);
    assert_eq!(store.list(&everything(), None, 9).await.unwrap().len(), 5);
}

/// Checks that each write is made once, wherever the payment is.
pub async fn whatever_is_archived_while_it_is_written_is_there_once(store: Arc<dyn WholeStore>) {
    let payments: Vec<_> = (0..8).map(|number| paid_at(1_000 + number)).collect();
    store_all(&*store, &payments).await;
    let write = async |payment: &Payment| {
        let mut known = payment.clone();
        for status in [500, 500, 200] {
            known = answered(&known, 0, status, 9_000);
            loop {
                match store.commit(&[replace(&known)]).await.remove(0) {
                    Ok(()) => break,
                    // The stub may not be on a majority yet.
                    Err(WriteError::Conflict) => {
                        assert_eq!(store.load(&[known.id]).await.unwrap()[0].revision, known.revision - 1);
                    }
                    Err(error) => panic!("{error}"),
                }
            }
        }
        known
    };
    let archive = async || {
        for _ in 0..2 {
            for payment in store.load(&payments.iter().map(|one| one.id).collect::<Vec<_>>()).await.unwrap() {
                store.archive(&[payment]).await.unwrap();
            }
        }
    };
    let (expected, _) = join(join_all(payments.iter().map(write)), join(archive(), archive())).await;
    let listed = store.list(&everything(), None, 99).await.unwrap();
    let newest_first: Vec<_> = expected.iter().rev().cloned().map(Ok).collect();
    assert_eq!(listed, newest_first);
    assert_eq!(store.complete_archiving().await, Ok(()));
    let left = store.load(&payments.iter().map(|one| one.id).collect::<Vec<_>>()).await.unwrap();
    store.archive(&left).await.unwrap();
    assert_eq!(store.count_archived().await, Ok(8));
    let ids: Vec<_> = payments.iter().map(|one| one.id).collect();
    let mut loaded = store.load(&ids).await.unwrap();
    loaded.sort_by_key(|payment| payment.created_at);
    assert_eq!(loaded, expected);
}

pub async fn a_list_misses_nothing_that_is_archived_meanwhile(store: Arc<dyn WholeStore>) {
    let payments: Vec<_> = (0..40).map(|number| paid_at(1_000 + number)).collect();
    store_all(&*store, &payments).await;
    let filter = PaymentFilter { statuses: vec![Status::Paid], ..everything() };
    let archive = async {
        for some in payments.chunks(3) {
            assert_eq!(store.archive(some).await, Ok(u64::try_from(some.len()).unwrap()));
        }
    };
    let look = async {
        let mut after = None;
        for _ in 0..30 {
            let found = store.list(&filter, after, 7).await.unwrap();
            let place = |listed| place_of(listed).created_at.millis();
            let times: Vec<_> = found.iter().map(place).collect();
            let from = after.map_or(1_040, |after: Cursor| after.created_at.millis());
            let expected: Vec<_> = (1_000..from).rev().take(7).collect();
            assert_eq!(times, expected);
            after = found.last().map(place_of).filter(|last| last.created_at.millis() > 1_000);
            let ids: Vec<_> = payments.iter().map(|payment| payment.id).collect();
            assert_eq!(store.load(&ids).await.unwrap().len(), 40);
        }
    };
    join(archive, look).await;
    assert_eq!(store.count_archived().await, Ok(40));
}
