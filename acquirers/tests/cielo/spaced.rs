//! Calls about one sale are five seconds apart, whoever makes them.

use std::time::Duration;

use quita_domain::acquiring::{CallFailure, ChargeAnswer, OperationAnswer, Reference};
use quita_domain::identity::Mode;
use quita_domain::method::Method;
use quita_ports::AcquirerFactory;
use tokio::time::Instant;

use crate::bank::{Bank, Fault};
use crate::payment::*;

const GAP: Duration = Duration::from_secs(5);

/// Returns when each call left, in seconds since `begun`.
fn seconds(bank: &Bank, begun: Instant) -> Vec<u64> {
    bank.books(|books| books.calls.iter().map(|(at, _)| (*at - begun).as_secs()).collect())
}

#[tokio::test(start_paused = true)]
async fn from_the_charge_on_every_call_about_a_sale_waits_its_turn() {
    let bank = Bank::default();
    let begun = Instant::now();
    let factory = factory(settings(), Mode::Live, bank.factory());
    let cards = factory.build();
    let others = factory.build();
    let reference = statement(cards.charge(&uncaptured(10_000)).await).reference;
    let query =
        quita_domain::acquiring::ChargeQuery { reference: reference.clone(), ..uncaptured(10_000).query };
    assert_eq!(cards.operate(&query, &capture(10_000)).await, OperationAnswer::Done);
    others.inquire(&query).await;
    assert_eq!(seconds(&bank, begun), [0, 5, 10]);
}

#[tokio::test(start_paused = true)]
async fn whose_sale_a_notification_names_is_asked_for_only_where_it_was_not_seen() {
    let bank = Bank::default();
    let begun = Instant::now();
    let here = factory(settings(), Mode::Live, bank.factory());
    let reference = statement(here.build().charge(&uncaptured(10_000)).await).reference;
    let ours = quita_domain::acquiring::Identified::Payment(uncaptured(10_000).query.id);
    assert_eq!(here.build().identify(&reference).await, ours);
    assert_eq!(seconds(&bank, begun), [0]);
    let there = factory(settings(), Mode::Live, bank.factory());
    for _ in 0..2 {
        assert_eq!(there.build().identify(&reference).await, ours);
    }
    assert_eq!(seconds(&bank, begun), [0, 0]);
}

#[tokio::test(start_paused = true)]
async fn what_waits_its_turn_does_not_leave_once_cielo_wants_fewer_calls() {
    let bank = Bank::default();
    let begun = Instant::now();
    let cielo = adapter(bank.factory());
    let reference = statement(cielo.charge(&uncaptured(10_000)).await).reference;
    bank.faults([Fault::Answers(429)]);
    let query = quita_domain::acquiring::ChargeQuery { reference, ..uncaptured(10_000).query };
    let mut other = charge(Method::Pix, 10_000);
    other.query.id = quita_domain::identity::TransactionId::new(uuid::Uuid::from_u128(2));
    let throttled = async {
        tokio::time::sleep(Duration::from_secs(3)).await;
        cielo.charge(&other).await
    };
    let waits = capture(10_000);
    let (answer, throttled) = tokio::join!(cielo.operate(&query, &waits), throttled);
    assert!(matches!(throttled, ChargeAnswer::Failed(CallFailure::Throttled { after_ms: 5_000 })));
    assert_eq!(answer, OperationAnswer::Failed(CallFailure::Throttled { after_ms: 3_000 }));
    assert_eq!(seconds(&bank, begun), [0, 3]);
}

#[tokio::test(start_paused = true)]
async fn a_lost_charge_is_found_by_one_question_five_seconds_later() {
    let bank = Bank::default();
    let begun = Instant::now();
    bank.faults([Fault::After]);
    let cielo = adapter(bank.factory());
    cielo.charge(&charge(Method::CreditCard, 10_000)).await;
    let found = cielo.inquire(&query(Method::CreditCard, 10_000)).await;
    assert!(matches!(found, ChargeAnswer::Known(_)), "{found:?}");
    assert_eq!(seconds(&bank, begun), [0, 5, 5]);
}

#[tokio::test(start_paused = true)]
async fn other_sales_wait_for_nobody() {
    let bank = Bank::default();
    let begun = Instant::now();
    let cielo = adapter(bank.factory());
    for number in 1..=20_u128 {
        let mut charge = charge(Method::Pix, 10_000);
        charge.query.id = quita_domain::identity::TransactionId::new(uuid::Uuid::from_u128(number));
        cielo.charge(&charge).await;
    }
    assert_eq!(seconds(&bank, begun), [0; 20]);
}

#[tokio::test(start_paused = true)]
async fn a_call_that_could_not_leave_within_its_time_out_is_not_made() {
    let bank = Bank::default();
    let cielo = adapter(bank.factory());
    let reference = Reference::none().with("paymentId", SALE);
    let asked = futures(&cielo, &reference, 6).await;
    let not_sent = asked.iter().filter(|answer| {
        matches!(answer, quita_domain::acquiring::Identified::Failed(CallFailure::NotDelivered(_)))
    });
    assert_eq!(not_sent.count(), 3, "{asked:?}");
    let at: Vec<Instant> = bank.books(|books| books.calls.iter().map(|(at, _)| *at).collect());
    assert_eq!(at.len(), 3);
    assert!(at.windows(2).all(|pair| pair[1] - pair[0] >= GAP));
}

#[tokio::test(start_paused = true)]
async fn what_waits_for_its_turn_uses_up_nothing_of_a_short_time_out() {
    for seconds in [1, 2, 6] {
        let bank = Bank::default();
        let factory = factory_within(Duration::from_secs(seconds), bank.factory());
        let limit = Duration::from_millis(factory.spec().time_out_ms);
        let cielo = factory.build();
        let inquired = cielo.inquire(&uncaptured(10_000).query).await;
        assert_eq!(inquired, ChargeAnswer::NotFound);
        let sent_again = tokio::time::timeout(limit, cielo.charge(&uncaptured(10_000))).await.unwrap();
        let query = quita_domain::acquiring::ChargeQuery {
            reference: statement(sent_again).reference,
            ..uncaptured(10_000).query
        };
        let captured = tokio::time::timeout(limit, cielo.operate(&query, &capture(10_000))).await.unwrap();
        assert_eq!(captured, OperationAnswer::Done, "{seconds} s");
    }
}

#[tokio::test(start_paused = true)]
async fn a_request_without_an_answer_is_unknown_after_its_own_time_out() {
    let begun = Instant::now();
    let factory = factory_within(Duration::from_secs(2), std::sync::Arc::new(Silence));
    let answer = factory.build().charge(&uncaptured(10_000)).await;
    assert!(matches!(answer, ChargeAnswer::Failed(CallFailure::Unknown(_))), "{answer:?}");
    assert_eq!(begun.elapsed(), Duration::from_secs(2));
}

#[tokio::test]
async fn a_call_with_its_turns_ends_within_the_lease_of_a_call() {
    for (seconds, whole) in [(1, 11), (8, 18), (10, 20), (15, 20), (20, 20), (29, 29)] {
        let factory = factory_within(Duration::from_secs(seconds), Bank::default().factory());
        assert_eq!(factory.spec().time_out_ms, whole * 1_000);
    }
}

/// An exchange that answers nothing.
struct Silence;

impl quita_acquirers::exchange::ExchangeFactory for Silence {
    fn open(&self) -> std::rc::Rc<dyn quita_acquirers::exchange::Exchange> {
        std::rc::Rc::new(Self)
    }
}

#[async_trait::async_trait(?Send)]
impl quita_acquirers::exchange::Exchange for Silence {
    async fn send(
        &self,
        _: quita_acquirers::exchange::Request,
    ) -> Result<quita_acquirers::exchange::Response, quita_acquirers::exchange::Failure> {
        std::future::pending().await
    }
}

/// This many questions at once.
async fn futures(
    cielo: &std::rc::Rc<dyn quita_ports::Acquirer>,
    reference: &Reference,
    count: usize,
) -> Vec<quita_domain::acquiring::Identified> {
    let local = tokio::task::LocalSet::new();
    let tasks: Vec<_> = (0..count)
        .map(|_| {
            let cielo = std::rc::Rc::clone(cielo);
            let reference = reference.clone();
            local.spawn_local(async move { cielo.identify(&reference).await })
        })
        .collect();
    local.await;
    let mut answers = Vec::new();
    for task in tasks {
        answers.push(task.await.unwrap());
    }
    answers
}
