//! Every payment, for a replay.

use std::sync::Arc;

use quita_domain::identity::{MerchantId, Mode, TransactionId};
use quita_domain::listing::Cursor;
use quita_domain::payment::Payment;
use quita_domain::routing::PastPayment;
use quita_domain::time::Timestamp;
use quita_ports::{PastFilter, PastPage, WholeStore};
use uuid::Uuid;

use crate::listing::place;
use quita_store_contract::samples::{Sample, created_at, insert, paid, pending, replace};

/// Returns the filter for sample payments from this time on.
pub fn since(at: i64) -> PastFilter {
    PastFilter { merchant: MerchantId::new("loja"), mode: Mode::Test, since: Timestamp::from_millis(at) }
}

fn of(payments: &[&Payment], next: Option<Cursor>) -> PastPage {
    PastPage { payments: payments.iter().copied().map(PastPayment::of).collect(), unreadable: 0, next }
}

async fn store_all(store: &Arc<dyn WholeStore>, payments: &[&Payment]) {
    let writes: Vec<_> = payments.iter().copied().map(insert).collect();
    assert!(store.commit(&writes).await.iter().all(Result::is_ok));
}

fn owned(merchant: &'static str, mode: Mode, at: i64) -> Payment {
    Sample { merchant, mode, at, ..Sample::default() }.open()
}

pub async fn everybody_who_has_payments_is_told_once_by_name(store: Arc<dyn WholeStore>) {
    assert_eq!(store.next_payee(None).await, Ok(None));
    let names = [
        ("loja", Mode::Test),
        ("ateliê", Mode::Test),
        ("loja", Mode::Live),
        ("loja 2", Mode::Live),
        ("Zebra", Mode::Test),
    ];
    let payments: Vec<_> = (0..3).flat_map(|at| names.map(|(name, mode)| owned(name, mode, at))).collect();
    store_all(&store, &payments.iter().collect::<Vec<_>>()).await;
    let mut told = Vec::new();
    let mut after = None;
    while let Some((merchant, mode)) = store.next_payee(after.as_ref()).await.unwrap() {
        told.push((merchant.as_str().to_owned(), mode));
        after = Some((merchant, mode));
    }
    let expected = [names[4], names[1], names[2], names[0], names[3]];
    assert_eq!(told, expected.map(|(name, mode)| (name.to_owned(), mode)));
    let between = (MerchantId::new("loja 1"), Mode::Test);
    let next = Some((MerchantId::new("loja 2"), Mode::Live));
    assert_eq!(store.next_payee(Some(&between)).await, Ok(next), "after somebody who has none");
}

pub async fn the_oldest_come_first_and_pages_of_the_past_neither_skip_nor_repeat(store: Arc<dyn WholeStore>) {
    // Many have the same time, so that only the id orders them.
    let mut payments: Vec<_> = [7, 5, 5, 5, 5, 6, 4, 3].map(created_at).into();
    store_all(&store, &payments.iter().collect::<Vec<_>>()).await;
    payments.sort_by_key(|payment| (payment.created_at, payment.id));
    for limit in [1, 2, 3, 7] {
        let mut seen = Vec::new();
        let mut after = None;
        loop {
            let page = store.past_payments(&since(4), after, limit).await.unwrap();
            assert!(page.payments.len() <= limit && page.unreadable == 0);
            seen.extend(page.payments);
            after = page.next;
            if after.is_none() {
                break;
            }
        }
        assert_eq!(seen, payments[1..].iter().map(PastPayment::of).collect::<Vec<_>>(), "{limit} at once");
    }
    let all = payments.iter().collect::<Vec<_>>();
    assert_eq!(store.past_payments(&since(0), None, 9).await, Ok(of(&all, None)));
    let next = Some(place(all[1]));
    assert_eq!(store.past_payments(&since(0), None, 2).await, Ok(of(&all[..2], next)));
    assert_eq!(store.past_payments(&since(8), None, 2).await, Ok(PastPage::default()));
    assert_eq!(store.past_payments(&since(0), None, 0).await, Ok(PastPage::default()));
}

pub async fn the_past_is_of_one_merchant_in_one_mode_from_a_time_on(store: Arc<dyn WholeStore>) {
    let own = owned("loja", Mode::Test, 5);
    let others = [
        owned("loja", Mode::Test, 4),
        owned("loja", Mode::Live, 5),
        owned("loja 2", Mode::Test, 5),
        owned("loj", Mode::Test, 5),
    ];
    store_all(&store, &[&own, &others[0], &others[1], &others[2], &others[3]]).await;
    assert_eq!(store.past_payments(&since(5), None, 10).await, Ok(of(&[&own], None)));
    let before = Cursor { created_at: Timestamp::from_millis(1), id: TransactionId::new(Uuid::nil()) };
    let found = store.past_payments(&since(5), Some(before), 10).await;
    assert_eq!(found, Ok(of(&[&own], None)), "a place before the time is as none");
}

pub async fn whatever_became_of_a_payment_its_route_reads_back_as_it_was(store: Arc<dyn WholeStore>) {
    let opened = created_at(500);
    store_all(&store, &[&opened]).await;
    let waiting = pending(&opened, 501);
    for next in [&waiting, &paid(&waiting, 502)] {
        assert_eq!(store.commit(&[replace(next)]).await, [Ok(())]);
    }
    let mut payments = crate::complete::payments();
    store_all(&store, &payments.iter().collect::<Vec<_>>()).await;
    payments.push(opened);
    payments.sort_by_key(|payment| (payment.created_at, payment.id));
    let all = payments.iter().collect::<Vec<_>>();
    assert_eq!(store.past_payments(&since(0), None, 10).await, Ok(of(&all, None)));
}

/// Checks that an unreadable payment is counted and does not end the list. The store decides how it is damaged.
pub async fn check_that_one_unreadable_is_counted<D: Future<Output = ()>>(
    store: Arc<dyn WholeStore>,
    damage: impl FnOnce(TransactionId) -> D,
) {
    let [first, second, third] = [created_at(1), created_at(2), created_at(3)];
    store_all(&store, &[&first, &second, &third]).await;
    damage(second.id).await;
    let page = store.past_payments(&since(0), None, 10).await;
    assert_eq!(page, Ok(PastPage { unreadable: 1, ..of(&[&first, &third], None) }));
    let page = store.past_payments(&since(0), Some(place(&first)), 1).await;
    assert_eq!(page, Ok(PastPage { unreadable: 1, ..of(&[], Some(place(&second))) }), "it has its place");
}
