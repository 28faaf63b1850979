//! Lists of payments with refunds and disputes.

use std::sync::Arc;

use quita_domain::acquiring::OperationAnswer;
use quita_domain::identity::{MerchantId, Mode, TransactionId};
use quita_domain::listing::{MovementFilter, Movements};
use quita_domain::payment::{DisputeStatus, Payment};
use quita_domain::state::RefundStatus;
use quita_domain::status::Status;
use quita_domain::time::Timestamp;
use quita_ports::{Store, WholeStore, place_of};

use crate::erasure::{erased, of_somebody};
use quita_store_contract::samples::{
    Sample, charged_back, created_at, dispute_won, insert, operation_answered, paid, pending, refund_asked,
    refunded, replace,
};

/// Returns the filter for refunds in this status; all refunds if it is absent.
pub fn refunds(status: Option<RefundStatus>) -> MovementFilter {
    of(Movements::Refunds(status.into_iter().collect()))
}

/// Returns the filter for disputes in this status; all disputes if it is absent.
pub fn disputes(status: Option<DisputeStatus>) -> MovementFilter {
    of(Movements::Disputes(status.into_iter().collect()))
}

fn of(movements: Movements) -> MovementFilter {
    let merchant = MerchantId::new("loja");
    let mode = Mode::Test;
    MovementFilter { merchant, mode, movements, created_from: None, created_to: None }
}

/// Returns one filter of each kind.
pub fn filters() -> Vec<MovementFilter> {
    let at = |at| Some(Timestamp::from_millis(at));
    let several = Movements::Refunds(vec![RefundStatus::Processing, RefundStatus::Succeeded]);
    let refunds = [None].into_iter().chain(RefundStatus::ALL.map(Some)).map(refunds);
    let disputes = [None].into_iter().chain(DisputeStatus::ALL.map(Some)).map(disputes);
    let all = refunds.chain(disputes).chain([of(several)]);
    all.flat_map(|filter| {
        let bounded = MovementFilter { created_from: at(1), created_to: at(9), ..filter.clone() };
        [filter, bounded]
    })
    .collect()
}

fn paid_at(at: i64) -> Payment {
    paid(&pending(&created_at(at), at + 1), at + 2)
}

/// Stores payments whose first write already has their current state.
async fn store_all(store: &Arc<dyn Store>, payments: &[&Payment]) {
    for payment in payments {
        assert_eq!(store.commit(&[insert(payment)]).await, [Ok(())]);
    }
}

async fn found(store: &Arc<dyn Store>, filter: &MovementFilter) -> Vec<TransactionId> {
    let listed = store.list_with_movements(filter, None, 100).await.unwrap();
    listed.iter().map(|listed| listed.as_ref().unwrap().id).collect()
}

async fn check(store: &Arc<dyn Store>, filter: MovementFilter, expected: &[&Payment]) {
    let expected: Vec<_> = expected.iter().map(|payment| payment.id).collect();
    assert_eq!(found(store, &filter).await, expected, "{filter:?}");
}

/// Replaces a stored payment with its later state, however many steps led to it.
async fn become_next(store: &Arc<dyn Store>, before: &Payment, after: Payment) -> Payment {
    let after = Payment { revision: before.revision + 1, ..after };
    assert_eq!(store.commit(&[replace(&after)]).await, [Ok(())]);
    after
}

pub async fn refunds_and_disputes_are_found_by_what_they_are_now(store: Arc<dyn Store>) {
    use RefundStatus::{Failed, Processing, Succeeded};

    let [done, refused, disputed, untouched] = [1_000, 2_000, 3_000, 4_000].map(paid_at);
    store_all(&store, &[&done, &refused, &disputed, &untouched]).await;
    check(&store, refunds(None), &[]).await;
    check(&store, disputes(None), &[]).await;

    let asked = refund_asked(&done, 100, 5_000);
    let operation = asked.operations[0].id;
    let asked = become_next(&store, &done, asked).await;
    let refused = become_next(
        &store,
        &refused,
        refunded(&refused, 100, OperationAnswer::Refused("sem saldo".into()), 5_000),
    )
    .await;
    check(&store, refunds(None), &[&refused, &asked]).await;
    check(&store, refunds(Some(Processing)), &[&asked]).await;
    check(&store, refunds(Some(Failed)), &[&refused]).await;
    check(&store, refunds(Some(Succeeded)), &[]).await;

    let ended = operation_answered(&asked, operation, OperationAnswer::Done, 6_000);
    let ended = become_next(&store, &asked, ended).await;
    check(&store, refunds(Some(Processing)), &[]).await;
    check(&store, refunds(Some(Succeeded)), &[&ended]).await;

    let open = become_next(&store, &disputed, charged_back(&disputed, "c-1", 5_000)).await;
    check(&store, disputes(None), &[&open]).await;
    check(&store, disputes(Some(DisputeStatus::Open)), &[&open]).await;
    check(&store, disputes(Some(DisputeStatus::Won)), &[]).await;
    let won = become_next(&store, &open, dispute_won(&open, "c-1", 6_000)).await;
    check(&store, disputes(Some(DisputeStatus::Open)), &[]).await;
    check(&store, disputes(Some(DisputeStatus::Won)), &[&won]).await;
    check(&store, refunds(None), &[&refused, &ended]).await;
    let page = store.list_with_movements(&disputes(None), None, 10).await;
    assert_eq!(page, Ok(vec![Ok(won)]), "whole, with the times at which it was learnt");
    assert_eq!(store.list_with_movements(&refunds(None), None, 0).await, Ok(vec![]));
}

pub async fn a_payment_with_several_comes_once(store: Arc<dyn Store>) {
    let paid = paid_at(1_000);
    let refused = refunded(&paid, 100, OperationAnswer::Refused("sem saldo".into()), 2_000);
    let done = refunded(&refused, 100, OperationAnswer::Done, 3_000);
    let twice = refunded(&done, 100, OperationAnswer::Done, 4_000);
    let both = charged_back(&charged_back(&refund_asked(&twice, 100, 5_000), "c-1", 6_000), "c-2", 7_000);
    let both = dispute_won(&both, "c-1", 8_000);
    let other = charged_back(&refunded(&paid_at(2_000), 1, OperationAnswer::Done, 3_000), "c-1", 4_000);
    store_all(&store, &[&both, &other]).await;
    for filter in filters().into_iter().filter(|filter| filter.created_to.is_none()) {
        let has = |payment: &&Payment| {
            payment.state.refunds.iter().any(|refund| filter.movements.have_refund(refund.status))
                || payment.chargebacks.iter().any(|one| filter.movements.have_dispute(one.status()))
        };
        let expected: Vec<_> = [&other, &both].into_iter().filter(has).collect();
        assert!(expected.contains(&&both), "{filter:?}");
        check(&store, filter, &expected).await;
    }
}

pub async fn pages_neither_skip_nor_repeat_whatever_the_statuses(store: Arc<dyn Store>) {
    let mut all = Vec::new();
    for index in 0..24_i64 {
        // Two payments have the same time, so that the id decides at the edges of pages.
        let mut payment = paid_at(index / 2);
        if index % 2 == 0 {
            payment = refunded(&payment, 1, OperationAnswer::Done, 100);
        }
        if index % 3 == 0 {
            payment = refunded(&payment, 1, OperationAnswer::Refused("sem saldo".into()), 101);
        }
        if index % 4 < 2 {
            payment = charged_back(&payment, "c-1", 102);
        }
        if index % 8 < 3 && index % 4 < 2 {
            payment = dispute_won(&payment, "c-1", 103);
        }
        if index % 5 == 0 && payment.status() == Status::Paid {
            payment = refund_asked(&payment, 1, 104);
        }
        store_all(&store, &[&payment]).await;
        all.push(payment);
    }
    all.sort_by_key(|payment| std::cmp::Reverse((payment.created_at, payment.id)));
    for filter in filters() {
        let matches = |payment: &&Payment| {
            filter.is_in_period(payment.created_at)
                && (payment.state.refunds.iter().any(|refund| filter.movements.have_refund(refund.status))
                    || payment.chargebacks.iter().any(|one| filter.movements.have_dispute(one.status())))
        };
        let expected: Vec<_> = all.iter().filter(matches).map(|payment| payment.id).collect();
        assert!(expected.len() > 1, "{filter:?}");
        for limit in [1, 3, 100] {
            let mut seen = Vec::new();
            let mut after = None;
            loop {
                let page = store.list_with_movements(&filter, after, limit).await.unwrap();
                let Some(last) = page.last() else { break };
                after = Some(place_of(last));
                seen.extend(page.iter().map(|listed| listed.as_ref().unwrap().id));
            }
            assert_eq!(seen, expected, "{filter:?} {limit}");
        }
    }
}

pub async fn their_period_is_that_of_their_payment_with_its_start_and_without_its_end(store: Arc<dyn Store>) {
    let [first, second, third] =
        [10, 20, 30].map(|at| charged_back(&refunded(&paid_at(at), 1, OperationAnswer::Done, 90), "c-1", 95));
    store_all(&store, &[&first, &second, &third]).await;
    let at = |at| Some(Timestamp::from_millis(at));
    for filter in [refunds(None), refunds(Some(RefundStatus::Succeeded)), disputes(None)] {
        let check = async |created_from, created_to, expected: &[&Payment]| {
            check(&store, MovementFilter { created_from, created_to, ..filter.clone() }, expected).await;
        };
        check(at(20), None, &[&third, &second]).await;
        check(None, at(20), &[&first]).await;
        check(at(10), at(30), &[&second, &first]).await;
        check(at(30), at(10), &[]).await;
    }
}

pub async fn a_merchant_in_one_mode_sees_its_own(store: Arc<dyn Store>) {
    let moved = |sample: Sample| {
        let paid = paid(&pending(&sample.open(), 1_001), 1_002);
        charged_back(&refunded(&paid, 1, OperationAnswer::Done, 2_000), "c-1", 3_000)
    };
    let mine = moved(Sample::default());
    let rival = moved(Sample { merchant: "rival", ..Sample::default() });
    let live = moved(Sample { mode: Mode::Live, ..Sample::default() });
    store_all(&store, &[&mine, &rival, &live]).await;
    for filter in [refunds(None), disputes(None), disputes(Some(DisputeStatus::Open))] {
        let merchant = MerchantId::new("rival");
        check(&store, filter.clone(), &[&mine]).await;
        check(&store, MovementFilter { merchant: merchant.clone(), ..filter.clone() }, &[&rival]).await;
        check(&store, MovementFilter { mode: Mode::Live, ..filter.clone() }, &[&live]).await;
        check(&store, MovementFilter { merchant, mode: Mode::Live, ..filter }, &[]).await;
    }
}

pub async fn what_moved_back_stays_listed_when_the_payer_is_erased(store: Arc<dyn WholeStore>) {
    let moved = refunded(&of_somebody(1_000), 100, OperationAnswer::Done, 2_000);
    let moved = dispute_won(&charged_back(&moved, "c-1", 3_000), "c-1", 4_000);
    assert_eq!(store.commit(&[insert(&moved)]).await, [Ok(())]);
    let gone = erased(&moved, 9_000);
    assert_eq!(store.commit(&[replace(&gone)]).await, [Ok(())]);
    for filter in [refunds(Some(RefundStatus::Succeeded)), disputes(Some(DisputeStatus::Won))] {
        assert_eq!(store.list_with_movements(&filter, None, 10).await, Ok(vec![Ok(gone.clone())]));
    }
}
