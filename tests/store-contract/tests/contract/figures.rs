//! Figures of many payments.

use std::sync::Arc;

use quita_domain::figures::{Figure, FiguresFilter, PAID_WITHIN_MS};
use quita_domain::identity::{MerchantId, Mode};
use quita_domain::method::Method;
use quita_domain::payment::Payment;
use quita_domain::status::Status;
use quita_domain::time::Timestamp;
use quita_ports::WholeStore;

use quita_store_contract::samples::{Sample, created_at, insert, paid, pending, replace};

pub fn between(from: i64, to: i64) -> FiguresFilter {
    FiguresFilter {
        merchant: MerchantId::new("loja"),
        mode: Mode::Test,
        from: Timestamp::from_millis(from),
        to: Timestamp::from_millis(to),
    }
}

fn figure(status: Status, paid_within: Option<u8>, count: u64) -> Figure {
    Figure { method: Method::Pix, status, paid_within, count, amount_cents: count * 10_000 }
}

async fn store_all(store: &Arc<dyn WholeStore>, payments: &[Payment]) {
    let batch: Vec<_> = payments.iter().map(insert).collect();
    assert!(store.commit(&batch).await.iter().all(Result::is_ok));
}

/// Returns a payment that was paid this long after its creation, as if it had been written at once.
fn paid_after(ms: i64) -> Payment {
    let mut payment = paid(&pending(&created_at(1_000), 1_000), 1_000 + ms);
    payment.revision = 1;
    payment
}

async fn check(store: &Arc<dyn WholeStore>, filter: &FiguresFilter, expected: &[Figure]) {
    let mut seen = store.figures(filter).await.unwrap();
    seen.sort_by_key(|figure| (figure.method, figure.status, figure.paid_within));
    assert_eq!(seen, expected, "{filter:?}");
}

pub async fn each_kind_of_payment_is_counted_and_summed(store: Arc<dyn WholeStore>) {
    check(&store, &between(0, 10_000), &[]).await;
    let boleto = |amount| Sample { method: Method::Boleto, amount, ..Sample::default() }.open();
    let dear = Sample { amount: 9_999_999_999, ..Sample::default() }.open();
    store_all(&store, &[created_at(1), created_at(2), boleto(5), boleto(7), dear, paid_after(2_500)]).await;
    let expected = [
        Figure { amount_cents: 10_000_019_999, ..figure(Status::Initial, None, 3) },
        figure(Status::Paid, Some(2), 1),
        Figure { method: Method::Boleto, amount_cents: 12, ..figure(Status::Initial, None, 2) },
    ];
    check(&store, &between(0, 10_000), &expected).await;
}

pub async fn the_time_to_be_paid_falls_into_its_class(store: Arc<dyn WholeStore>) {
    let bounds = PAID_WITHIN_MS.map(|bound| i64::try_from(bound).unwrap());
    let payments: Vec<_> = [0]
        .into_iter()
        .chain(bounds.into_iter().flat_map(|bound| [bound, bound + 1]))
        .map(paid_after)
        .collect();
    store_all(&store, &payments).await;
    // Each class but the last contains its own bound, and the time just above the previous bound.
    let last = u8::try_from(bounds.len()).unwrap();
    let mut expected: Vec<_> = (0..last).map(|class| figure(Status::Paid, Some(class), 2)).collect();
    expected.push(figure(Status::Paid, Some(last), 1));
    check(&store, &between(1_000, 1_001), &expected).await;
}

pub async fn a_payment_is_counted_as_what_it_is_now(store: Arc<dyn WholeStore>) {
    let opened = created_at(1_000);
    let waiting = pending(&opened, 1_500);
    let done = paid(&waiting, 2_500);
    for (write, expected) in [
        (insert(&opened), figure(Status::Initial, None, 1)),
        (replace(&waiting), figure(Status::Pending, None, 1)),
        (replace(&done), figure(Status::Paid, Some(1), 1)),
    ] {
        assert_eq!(store.commit(&[write]).await, [Ok(())]);
        check(&store, &between(0, 10_000), &[expected]).await;
    }
}

pub async fn figures_are_of_one_merchant_in_one_mode_and_a_time(store: Arc<dyn WholeStore>) {
    let live = Sample { mode: Mode::Live, ..Sample::default() }.open();
    let other = Sample { merchant: "outra", ..Sample::default() }.open();
    store_all(&store, &[created_at(10), created_at(20), created_at(30), live, other]).await;
    let count = |count| [figure(Status::Initial, None, count)];
    check(&store, &between(20, 31), &count(2)).await;
    check(&store, &between(20, 30), &count(1)).await;
    check(&store, &between(21, 30), &[]).await;
    check(&store, &between(30, 20), &[]).await;
    check(&store, &FiguresFilter { mode: Mode::Live, ..between(0, 2_000) }, &count(1)).await;
    let merchant = MerchantId::new("outra");
    check(&store, &FiguresFilter { merchant, ..between(0, 2_000) }, &count(1)).await;
    let merchant = MerchantId::new("o");
    check(&store, &FiguresFilter { merchant, ..between(0, 2_000) }, &[]).await;
}
