//! Lists of payments and of deliveries.

use std::sync::Arc;

use chrono::NaiveDate;
use quita_domain::acquiring::OperationAnswer;
use quita_domain::delivery::DeliveryState;
use quita_domain::due_terms::DueTerms;
use quita_domain::identity::{MerchantId, Mode, TransactionId};
use quita_domain::listing::{Cursor, DeliveryFilter, PaymentFilter};
use quita_domain::method::Method;
use quita_domain::money::Money;
use quita_domain::order::Terms;
use quita_domain::payment::Payment;
use quita_domain::status::Status;
use quita_domain::time::Timestamp;
use quita_ports::{Listed, Store, Unreadable, WholeStore, place_of};

use quita_store_contract::samples::{
    OTHER_CPF, Sample, answered, created_at, insert, paid, pending, refunded, replace,
};

pub fn everything() -> PaymentFilter {
    PaymentFilter::all_of(MerchantId::new("loja"), Mode::Test)
}

#[allow(clippy::unnecessary_wraps, reason = "as the filter wants it")]
const fn cents(amount: u64) -> Option<Money> {
    Some(Money::from_cents(amount))
}

fn deliveries(state: Option<DeliveryState>) -> DeliveryFilter {
    DeliveryFilter { merchant: MerchantId::new("loja"), mode: Mode::Test, transaction_id: None, state }
}

/// Returns one filter of each kind.
pub fn filters() -> Vec<PaymentFilter> {
    let text = || Some(String::from("x"));
    vec![
        everything(),
        PaymentFilter { created_from: Some(Timestamp::from_millis(1)), ..everything() },
        PaymentFilter { statuses: vec![Status::Paid], ..everything() },
        PaymentFilter { statuses: Status::ALL.to_vec(), ..everything() },
        PaymentFilter { document: text(), statuses: vec![Status::Paid], ..everything() },
        PaymentFilter { email: text(), ..everything() },
        PaymentFilter { external_reference: text(), method: Some(Method::Pix), ..everything() },
        PaymentFilter { id: Some(created_at(1).id), statuses: vec![Status::Paid], ..everything() },
        PaymentFilter { amount: cents(10_000), ..everything() },
        PaymentFilter { amount: cents(10_000), method: Some(Method::Pix), ..everything() },
        PaymentFilter { amount: cents(10_000), statuses: vec![Status::Paid], ..everything() },
        PaymentFilter { amount: cents(10_000), statuses: Status::ALL.to_vec(), ..everything() },
        PaymentFilter { amount: cents(10_000), email: text(), ..everything() },
        PaymentFilter { due_to: Some(NaiveDate::MAX), statuses: vec![Status::Paid], ..everything() },
    ]
}

/// Returns one filter of each kind.
pub fn delivery_filters() -> Vec<DeliveryFilter> {
    let states = [None].into_iter().chain(DeliveryState::ALL.map(Some));
    let mut filters: Vec<_> = states.map(deliveries).collect();
    filters.push(DeliveryFilter { transaction_id: Some(created_at(1).id), ..deliveries(None) });
    filters
}

async fn store_all(store: &Arc<dyn Store>, payments: &[&Payment]) {
    let batch: Vec<_> = payments.iter().map(|payment| insert(payment)).collect();
    assert!(store.commit(&batch).await.iter().all(Result::is_ok));
}

fn ids(listed: &[Listed]) -> Vec<TransactionId> {
    listed.iter().map(|listed| listed.as_ref().unwrap().id).collect()
}

pub async fn due_dates_are_filtered_by_day_and_only_what_has_one_matches(store: Arc<dyn Store>) {
    let due = |created: i64, day: &str| {
        let mut payment = created_at(created);
        let order = Arc::make_mut(&mut payment.order);
        (order.method, order.terms) = (Method::Boleto, Terms::Boleto(DueTerms::plain(day.parse().unwrap())));
        payment
    };
    let pix = created_at(1);
    let early = due(2, "2026-12-01");
    let late = due(3, "2026-12-31");
    store_all(&store, &[&pix, &early, &late]).await;
    let day = |text: &str| Some(text.parse().unwrap());
    check(&store, PaymentFilter { due_from: day("2026-12-01"), ..everything() }, &[&late, &early]).await;
    check(&store, PaymentFilter { due_from: day("2026-12-02"), ..everything() }, &[&late]).await;
    check(&store, PaymentFilter { due_to: day("2026-12-30"), ..everything() }, &[&early]).await;
    let boletos = PaymentFilter { method: Some(Method::Boleto), due_to: day("2026-12-31"), ..everything() };
    check(&store, boletos, &[&late, &early]).await;
    let paid = PaymentFilter { statuses: vec![Status::Paid], due_to: day("2026-12-31"), ..everything() };
    check(&store, paid, &[]).await;
}

/// Returns the position right after this payment.
pub fn place(payment: &Payment) -> Cursor {
    Cursor { created_at: payment.created_at, id: payment.id }
}

async fn check(store: &Arc<dyn Store>, filter: PaymentFilter, expected: &[&Payment]) {
    let found = store.list(&filter, None, 100).await.unwrap();
    let expected: Vec<_> = expected.iter().map(|payment| payment.id).collect();
    assert_eq!(ids(&found), expected, "{filter:?}");
}

pub async fn the_newest_come_first_and_pages_neither_skip_nor_repeat(store: Arc<dyn Store>) {
    // Three payments have the same time, so that the id decides at the edges of pages.
    let mut payments: Vec<_> = (0..30).map(|index| created_at(index / 3)).collect();
    store_all(&store, &payments.iter().collect::<Vec<_>>()).await;
    payments.sort_by_key(|payment| std::cmp::Reverse((payment.created_at, payment.id)));
    let mut seen = Vec::new();
    let mut after = None;
    loop {
        let page = store.list(&everything(), after, 4).await.unwrap();
        assert!(page.len() <= 4);
        let Some(last) = page.last() else { break };
        after = Some(place_of(last));
        seen.extend(page.into_iter().map(Result::unwrap));
    }
    assert_eq!(seen, payments);
}

pub async fn a_list_shows_one_merchant_in_one_mode(store: Arc<dyn Store>) {
    let ours = created_at(1);
    let live = Sample { mode: Mode::Live, ..Sample::default() }.open();
    let other = Sample { merchant: "outra", ..Sample::default() }.open();
    store_all(&store, &[&ours, &live, &other]).await;
    check(&store, everything(), &[&ours]).await;
    check(&store, PaymentFilter { mode: Mode::Live, ..everything() }, &[&live]).await;
    let merchant = MerchantId::new("outra");
    check(&store, PaymentFilter { merchant, ..everything() }, &[&other]).await;
}

pub async fn each_filter_narrows_the_list(store: Arc<dyn Store>) {
    let plain = Sample { at: 1, ..Sample::default() }.open();
    let document = Sample { at: 2, document: OTHER_CPF, ..Sample::default() }.open();
    let email = Sample { at: 3, email: "bia@example.com", ..Sample::default() }.open();
    let reference = Sample { at: 4, reference: Some("pedido-7"), ..Sample::default() }.open();
    let boleto = Sample { at: 5, method: Method::Boleto, ..Sample::default() }.open();
    store_all(&store, &[&plain, &document, &email, &reference, &boleto]).await;
    let all = everything;
    check(&store, PaymentFilter { document: Some(OTHER_CPF.into()), ..all() }, &[&document]).await;
    check(&store, PaymentFilter { email: Some("bia@example.com".into()), ..all() }, &[&email]).await;
    let external_reference = Some(String::from("pedido-7"));
    check(&store, PaymentFilter { external_reference, ..all() }, &[&reference]).await;
    check(&store, PaymentFilter { method: Some(Method::Boleto), ..all() }, &[&boleto]).await;
    let both = PaymentFilter {
        document: Some(OTHER_CPF.into()),
        statuses: vec![Status::Initial, Status::Paid],
        ..all()
    };
    check(&store, both, &[&document]).await;
    let none = PaymentFilter { document: Some(OTHER_CPF.into()), statuses: vec![Status::Paid], ..all() };
    check(&store, none, &[]).await;
}

pub async fn a_payment_is_found_by_its_id_and_by_nobody_else(store: Arc<dyn Store>) {
    let ours = Sample { at: 1, ..Sample::default() }.open();
    let theirs = Sample { at: 2, merchant: "outra", ..Sample::default() }.open();
    let live = Sample { at: 3, mode: Mode::Live, ..Sample::default() }.open();
    store_all(&store, &[&ours, &theirs, &live, &created_at(4)]).await;
    let by = |payment: &Payment| PaymentFilter { id: Some(payment.id), ..everything() };
    check(&store, by(&ours), &[&ours]).await;
    check(&store, by(&theirs), &[]).await;
    check(&store, by(&live), &[]).await;
    check(&store, by(&created_at(5)), &[]).await;
    check(&store, PaymentFilter { mode: Mode::Live, ..by(&live) }, &[&live]).await;
    check(&store, PaymentFilter { method: Some(Method::Pix), amount: cents(10_000), ..by(&ours) }, &[&ours])
        .await;
    check(&store, PaymentFilter { statuses: vec![Status::Paid], ..by(&ours) }, &[]).await;
    check(&store, PaymentFilter { amount: cents(1), ..by(&ours) }, &[]).await;
    assert_eq!(store.list(&by(&ours), Some(place(&ours)), 10).await, Ok(Vec::new()));
}

pub async fn payments_are_found_by_their_amount(store: Arc<dyn Store>) {
    let [cheap, dear] = [5, 9_999_999_999].map(|amount| Sample { at: 9, amount, ..Sample::default() }.open());
    let boleto = Sample { at: 3, method: Method::Boleto, ..Sample::default() }.open();
    let bia = Sample { at: 4, email: "bia@example.com", ..Sample::default() }.open();
    let [first, waiting] = [created_at(1), created_at(2)];
    store_all(&store, &[&cheap, &dear, &boleto, &bia, &first, &waiting]).await;
    let waiting = pending(&waiting, 10);
    store.commit(&[replace(&waiting)]).await;
    let of = |amount| PaymentFilter { amount: cents(amount), ..everything() };
    check(&store, of(5), &[&cheap]).await;
    check(&store, of(9_999_999_999), &[&dear]).await;
    check(&store, of(6), &[]).await;
    check(&store, of(10_000), &[&bia, &boleto, &waiting, &first]).await;
    check(&store, PaymentFilter { method: Some(Method::Boleto), ..of(10_000) }, &[&boleto]).await;
    check(&store, PaymentFilter { email: Some("bia@example.com".into()), ..of(10_000) }, &[&bia]).await;
    check(&store, PaymentFilter { email: Some("bia@example.com".into()), ..of(5) }, &[]).await;
    check(&store, PaymentFilter { statuses: vec![Status::Pending], ..of(10_000) }, &[&waiting]).await;
    check(&store, PaymentFilter { statuses: vec![Status::Pending], ..of(5) }, &[]).await;
    let statuses = vec![Status::Pending, Status::Initial];
    check(&store, PaymentFilter { statuses, ..of(10_000) }, &[&bia, &boleto, &waiting, &first]).await;
    let created_to = Some(Timestamp::from_millis(3));
    check(&store, PaymentFilter { created_to, ..of(10_000) }, &[&waiting, &first]).await;
    let page = store.list(&of(10_000), Some(place(&boleto)), 1).await.unwrap();
    assert_eq!(ids(&page), [waiting.id]);
}

pub async fn time_bounds_include_the_start_and_not_the_end(store: Arc<dyn Store>) {
    let [first, second, third] = [created_at(10), created_at(20), created_at(30)];
    store_all(&store, &[&first, &second, &third]).await;
    let at = |millis| Some(Timestamp::from_millis(millis));
    check(&store, PaymentFilter { created_from: at(20), ..everything() }, &[&third, &second]).await;
    check(&store, PaymentFilter { created_to: at(20), ..everything() }, &[&first]).await;
    let both = PaymentFilter { created_from: at(20), created_to: at(30), ..everything() };
    check(&store, both, &[&second]).await;
}

pub async fn a_list_follows_a_changed_status(store: Arc<dyn Store>) {
    let [opened, waiting, done] = [created_at(1), created_at(2), created_at(3)];
    store_all(&store, &[&opened, &waiting, &done]).await;
    let waiting = pending(&waiting, 10);
    let done = pending(&done, 10);
    store.commit(&[replace(&waiting), replace(&done)]).await;
    let done = paid(&done, 11);
    store.commit(&[replace(&done)]).await;
    let by = |statuses: &[Status]| PaymentFilter { statuses: statuses.to_vec(), ..everything() };
    check(&store, by(&[Status::Pending]), &[&waiting]).await;
    check(&store, by(&[Status::Paid]), &[&done]).await;
    check(&store, by(&[Status::Paid, Status::Initial]), &[&done, &opened]).await;
    check(&store, by(&Status::ALL), &[&done, &waiting, &opened]).await;
}

pub async fn deliveries_are_found_by_state_and_payment(store: Arc<dyn Store>) {
    let silent = Sample { at: 1, postback: false, ..Sample::default() }.open();
    let [delivered, gone, waits] = [created_at(2), created_at(3), created_at(4)];
    store_all(&store, &[&silent, &delivered, &gone, &waits]).await;
    let step: Vec<_> = [&silent, &delivered, &gone, &waits].map(|it| pending(it, 10)).into();
    store.commit(&step.iter().map(replace).collect::<Vec<_>>()).await;
    let delivered = answered(&step[1], 0, 200, 11);
    let gone = answered(&step[2], 0, 410, 11);
    store.commit(&[replace(&delivered), replace(&gone)]).await;
    let check = async |filter: DeliveryFilter, expected: &[&Payment]| {
        let found = store.list_with_deliveries(&filter, None, 10).await.unwrap();
        let expected: Vec<_> = expected.iter().map(|payment| payment.id).collect();
        assert_eq!(ids(&found), expected, "{filter:?}");
    };
    check(deliveries(None), &[&waits, &gone, &delivered]).await;
    check(deliveries(Some(DeliveryState::Pending)), &[&waits]).await;
    check(deliveries(Some(DeliveryState::Delivered)), &[&delivered]).await;
    check(deliveries(Some(DeliveryState::Exhausted)), &[&gone]).await;
    let of_one =
        |payment: &Payment, state| DeliveryFilter { transaction_id: Some(payment.id), ..deliveries(state) };
    check(of_one(&delivered, None), &[&delivered]).await;
    check(of_one(&delivered, Some(DeliveryState::Pending)), &[]).await;
    check(of_one(&silent, None), &[]).await;
    let page = store.list_with_deliveries(&deliveries(None), Some(place(&waits)), 1).await.unwrap();
    assert_eq!(ids(&page), [gone.id]);
}

/// Lists deliveries of many payments in every possible combination of states, page by page and in order.
pub async fn pages_of_deliveries_neither_skip_nor_repeat_whatever_their_states(store: Arc<dyn Store>) {
    let mut all = Vec::new();
    for index in 0..24_i64 {
        // Two payments have the same time, so that the id decides at the edges of pages.
        let opened = Sample { at: index / 2, postback: index % 8 != 7, ..Sample::default() }.open();
        let mut steps = vec![opened.clone(), pending(&opened, 100)];
        if index % 2 == 1 {
            let status = if index % 4 == 1 { 200 } else { 410 };
            steps.extend((index % 8 != 7).then(|| answered(&steps[1], 0, status, 101)));
        }
        if index % 3 == 0 {
            steps.extend(steps.last().map(|last| paid(last, 102)));
        }
        assert_eq!(store.commit(&[insert(&steps[0])]).await, [Ok(())]);
        for step in &steps[1..] {
            assert_eq!(store.commit(&[replace(step)]).await, [Ok(())]);
        }
        all.extend(steps.pop());
    }
    all.sort_by_key(|payment| std::cmp::Reverse((payment.created_at, payment.id)));
    for state in [None].into_iter().chain(DeliveryState::ALL.map(Some)) {
        let holds = |payment: &&Payment| {
            payment.outbox.iter().any(|delivery| state.is_none_or(|state| delivery.state == state))
        };
        let expected: Vec<_> = all.iter().filter(holds).map(|payment| payment.id).collect();
        assert!(expected.len() >= 3, "{state:?}");
        let mut seen = Vec::new();
        let mut after = None;
        loop {
            let page = store.list_with_deliveries(&deliveries(state), after, 3).await.unwrap();
            let Some(last) = page.last() else { break };
            after = Some(place_of(last));
            seen.extend(ids(&page));
        }
        assert_eq!(seen, expected, "{state:?}");
    }
}

/// Checks that an unreadable payment keeps its position and hides no other. The store decides how it is damaged.
pub async fn check_that_one_unreadable_hides_no_other<D: Future<Output = ()>>(
    store: Arc<dyn Store>,
    damage: impl FnOnce(TransactionId) -> D,
) {
    let [first, second, third] = [created_at(1), created_at(2), created_at(3)];
    store_all(&store, &[&first, &second, &third]).await;
    let told: Vec<_> = [&first, &second, &third].map(|opened| pending(opened, 10)).into();
    store.commit(&told.iter().map(replace).collect::<Vec<_>>()).await;
    damage(second.id).await;
    let gap = || Err(Unreadable(place(&second)));
    let expected = Ok(vec![Ok(told[2].clone()), gap(), Ok(told[0].clone())]);
    assert_eq!(store.list(&everything(), None, 10).await, expected);
    assert_eq!(store.list_with_deliveries(&deliveries(None), None, 10).await, expected);
    assert_eq!(store.list(&everything(), Some(place(&third)), 1).await, Ok(vec![gap()]), "it has its place");
    let rest = store.list(&everything(), Some(place(&second)), 10).await;
    assert_eq!(rest, Ok(vec![Ok(told[0].clone())]), "and a list goes on after it");
    let of_it = PaymentFilter { id: Some(second.id), ..everything() };
    assert_eq!(store.list(&of_it, None, 10).await, Ok(vec![gap()]));
}

pub async fn an_ended_refund_is_told_and_leaves_the_payment_where_it_is_found(store: Arc<dyn WholeStore>) {
    let paid = paid(&pending(&created_at(1), 2), 3);
    let paid = answered(&answered(&paid, 0, 200, 4), 1, 200, 5);
    let done = refunded(&paid, 400, OperationAnswer::Done, 6);
    let failed = refunded(&done, 100, OperationAnswer::Refused("conta encerrada".into()), 7);
    let events: Vec<_> = failed.history.iter().map(quita_domain::event::Event::name).collect();
    assert_eq!(events[2..], ["payment.refund_succeeded", "payment.refund_failed"]);
    let told = answered(&answered(&failed, 2, 200, 8), 3, 410, 9);
    let mut figures = Vec::new();
    let states = [
        (paid, DeliveryState::Delivered),
        (done, DeliveryState::Pending),
        (failed, DeliveryState::Pending),
        (told, DeliveryState::Exhausted),
    ];
    for (revision, (mut payment, newest)) in (1..).zip(states) {
        payment.revision = revision;
        assert_eq!(
            store.commit(&[if revision == 1 { insert(&payment) } else { replace(&payment) }]).await,
            [Ok(())]
        );
        let by_status = PaymentFilter { statuses: vec![Status::Paid], ..everything() };
        assert_eq!(store.list(&by_status, None, 10).await, Ok(vec![Ok(payment.clone())]));
        for state in DeliveryState::ALL {
            let found = store.list_with_deliveries(&deliveries(Some(state)), None, 10).await.unwrap();
            let is_held = state == newest || state == DeliveryState::Delivered;
            assert_eq!(
                ids(&found),
                if is_held { vec![payment.id] } else { Vec::new() },
                "{state:?} {revision}"
            );
        }
        let waiting = store.outbox_due(None, Timestamp::from_millis(1_000_000), 10).await.unwrap();
        assert_eq!(!waiting.is_empty(), newest == DeliveryState::Pending, "{revision}");
        figures.push(store.figures(&crate::figures::between(0, 10)).await.unwrap());
    }
    assert_eq!(figures[0].len(), 1);
    assert!(figures.iter().all(|seen| *seen == figures[0]), "it was paid once: {figures:?}");
}
