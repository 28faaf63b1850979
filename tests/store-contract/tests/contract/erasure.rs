//! Erased payers: nobody finds them, and their payments are found by the time for which they have been at rest.

use std::sync::Arc;

use quita_domain::identity::TransactionId;
use quita_domain::listing::PaymentFilter;
use quita_domain::payment::{Erasure, Payment};
use quita_domain::status::Status;
use quita_domain::time::Timestamp;
use quita_ports::{RestingPlace, WholeStore, WriteError};
use uuid::Uuid;

use crate::listing::everything;
use quita_store_contract::samples::{CPF, Sample, answered, insert, paid, pending, refunded, replace};

const EMAIL: &str = "zuleika@marca.example";
/// The document, the e-mail address, and the other parts of a sample that identify the payer.
pub const TRACES: [&str; 6] = [CPF, EMAIL, "Ávila", "11987654321", "São Paulo", "01001000"];

/// Returns a paid payment whose payer can also be found by a reference.
pub fn of_somebody(at: i64) -> Payment {
    of_somebody_under(TransactionId::new(Uuid::now_v7()), at)
}

/// Returns the same payment with this id.
pub fn of_somebody_under(id: TransactionId, at: i64) -> Payment {
    let reference = Some("cliente-52998224725");
    let opened = Sample { id, at, email: EMAIL, reference, ..Sample::default() }.open();
    answered(&paid(&pending(&opened, at + 1), at + 2), 0, 200, at + 3)
}

/// Returns the payment after its payer was erased.
pub fn erased(payment: &Payment, at: i64) -> Payment {
    let now = Timestamp::from_millis(at);
    match payment.erase_payer(now, now, Uuid::now_v7()) {
        Erasure::Erased(erased) => *erased,
        other @ (Erasure::ErasedBefore | Erasure::NotFinished) => panic!("{other:?}"),
    }
}

/// Stores a payment in its current state, whatever its history.
pub async fn store_as_it_is(store: &dyn WholeStore, payment: &Payment) {
    assert_eq!(store.commit(&[insert(payment)]).await, [Ok(())]);
}

async fn found(store: &dyn WholeStore, filter: PaymentFilter) -> usize {
    store.list(&filter, None, 10).await.unwrap().len()
}

pub async fn whoever_was_erased_is_found_by_nothing_and_the_payment_by_its_id(store: Arc<dyn WholeStore>) {
    let text = |text: &str| Some(String::from(text));
    let mine = of_somebody(1_000);
    let other = of_somebody(2_000);
    store_as_it_is(&*store, &mine).await;
    store_as_it_is(&*store, &other).await;
    let searches = || {
        [
            PaymentFilter { document: text(CPF), ..everything() },
            PaymentFilter { email: text(EMAIL), ..everything() },
            PaymentFilter { external_reference: text("cliente-52998224725"), ..everything() },
        ]
    };
    for search in searches() {
        assert_eq!(found(&*store, search).await, 2);
    }
    let after = erased(&mine, 9_000);
    assert_eq!(store.commit(&[replace(&after)]).await, [Ok(())]);
    assert_eq!(store.load(&[mine.id]).await, Ok(vec![after.clone()]));
    for search in searches() {
        assert_eq!(found(&*store, search).await, 1);
    }
    let masks = PaymentFilter { document: text(after.order.payer.document.as_str()), ..everything() };
    assert_eq!(found(&*store, masks).await, 0, "nobody is found by a mask");
    assert_eq!(found(&*store, PaymentFilter { id: Some(mine.id), ..everything() }).await, 1);
    assert_eq!(found(&*store, PaymentFilter { statuses: vec![Status::Paid], ..everything() }).await, 2);
    let late = refunded(&after, 100, quita_domain::acquiring::OperationAnswer::Done, 10_000);
    let late = Payment { revision: after.revision + 1, ..late };
    assert_eq!(store.commit(&[replace(&late)]).await, [Ok(())]);
    assert_eq!(store.load(&[mine.id]).await, Ok(vec![late]), "it goes on");
    assert_eq!(found(&*store, PaymentFilter { document: text(CPF), ..everything() }).await, 1);
}

pub async fn an_erasure_meets_the_guard_of_every_write(store: Arc<dyn WholeStore>) {
    let before = of_somebody(1_000);
    store_as_it_is(&*store, &before).await;
    let first = erased(&before, 9_000);
    let second = erased(&before, 9_001);
    assert_eq!(store.commit(&[replace(&first)]).await, [Ok(())]);
    assert_eq!(store.commit(&[replace(&second)]).await, [Err(WriteError::Conflict)]);
    // A writer with the payment in memory can't restore the payer.
    let stale = answered(&before, 1, 500, 9_002);
    assert_eq!(store.commit(&[replace(&stale)]).await, [Err(WriteError::Conflict)]);
    assert_eq!(store.load(&[before.id]).await, Ok(vec![first]));
}

pub async fn payments_that_rest_come_by_status_the_longest_first(store: Arc<dyn WholeStore>) {
    let paid: Vec<_> = [3_000, 1_000, 2_000].map(of_somebody).into();
    for payment in &paid {
        store_as_it_is(&*store, payment).await;
    }
    store_as_it_is(&*store, &Sample::default().open()).await;
    let place = |payment: &Payment| RestingPlace { since: payment.state.updated_at, id: payment.id };
    let expected = [&paid[1], &paid[2], &paid[0]].map(place);
    assert!(expected.is_sorted());
    let resting = async |until, after, limit| {
        store.resting(Status::Paid, Timestamp::from_millis(until), after, limit).await.unwrap()
    };
    assert_eq!(resting(i64::MAX, None, 10).await, expected);
    assert_eq!(resting(expected[1].since.millis(), None, 10).await, expected[..2]);
    assert_eq!(resting(i64::MAX, None, 1).await, expected[..1]);
    assert_eq!(resting(i64::MAX, Some(expected[0]), 1).await, expected[1..2]);
    assert_eq!(resting(i64::MAX, Some(expected[2]), 10).await, []);
    assert_eq!(resting(i64::MAX, None, 0).await, []);
    for status in [Status::Initial, Status::Declined] {
        assert_eq!(store.resting(status, Timestamp::from_millis(i64::MAX), None, 10).await, Ok(Vec::new()));
    }
    assert_eq!(store.commit(&[replace(&erased(&paid[1], 9_000))]).await, [Ok(())]);
    assert_eq!(resting(i64::MAX, None, 10).await, expected[1..], "what was erased does not rest");
}

/// Checks that each erasure is reported once, for a store whose process relies on payments in memory.
pub async fn what_was_erased_is_told_in_its_order(store: Arc<dyn WholeStore>) {
    if !store.is_sole_writer() {
        assert_eq!(store.last_erasure().await, Ok(0));
        assert_eq!(store.erased_after(0, 10).await, Ok(Vec::new()));
        return;
    }
    assert_eq!(store.last_erasure().await, Ok(0));
    let all = [3_000, 1_000, 2_000].map(of_somebody);
    for payment in &all {
        store_as_it_is(&*store, payment).await;
        assert_eq!(store.commit(&[replace(&erased(payment, 9_000))]).await, [Ok(())]);
    }
    let late = erased(&all[0], 9_000);
    let late = Payment { revision: late.revision + 1, ..late };
    assert_eq!(store.commit(&[replace(&late)]).await, [Ok(())], "and not by a later write");
    let numbered = [(1, all[0].id), (2, all[1].id), (3, all[2].id)];
    assert_eq!(store.erased_after(0, 10).await, Ok(numbered.to_vec()));
    assert_eq!(store.erased_after(1, 1).await, Ok(vec![numbered[1]]));
    assert_eq!(store.erased_after(3, 10).await, Ok(Vec::new()));
    assert_eq!(store.last_erasure().await, Ok(3));
}
