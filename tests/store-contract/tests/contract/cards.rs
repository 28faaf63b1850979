//! Counts of the tries of one card.

use std::sync::Arc;

use quita_domain::acquiring::{CallFailure, ChargeAnswer};
use quita_domain::card::token::UsedToken;
use quita_domain::card::{CardFingerprint, CardNumber};
use quita_domain::identity::Mode;
use quita_domain::numbering::AttemptNumber;
use quita_domain::payment::{Command, Payment};
use quita_domain::routing::{CardTries, TRIES_ARE_COUNTED_FOR_MS};
use quita_domain::time::{DAY_MS, Timestamp};
use quita_ports::{Store, WriteError};

use quita_store_contract::samples::{Sample, context, insert, replace};

const NOW: Timestamp = Timestamp::from_millis(100 * 86_400_000);

fn card(number: &str) -> CardFingerprint {
    CardFingerprint::of(&CardNumber::parse(number).unwrap(), Mode::Live, b"key")
}

fn visa() -> CardFingerprint {
    card("4242424242424242")
}

fn other() -> CardFingerprint {
    card("4111111111111111")
}

/// Returns a payment by this card, created this long ago; its only charge was sent then.
fn tried(card: &CardFingerprint, ago_ms: u64, merchant: &'static str) -> Payment {
    let opened = Sample { at: NOW.minus_ms(ago_ms).millis(), merchant, ..Sample::default() }.open();
    Payment { card_fingerprint: Some(card.clone()), ..opened }
}

async fn tries(store: &Arc<dyn Store>, card: &CardFingerprint) -> (u32, u32) {
    let CardTries { in_a_day, in_30_days } = store.card_tries(card, NOW).await.unwrap();
    (in_a_day, in_30_days)
}

pub async fn tries_of_a_card_are_counted_in_windows_that_roll_and_of_every_merchant(store: Arc<dyn Store>) {
    assert_eq!(tries(&store, &visa()).await, (0, 0));
    let month = TRIES_ARE_COUNTED_FOR_MS;
    let payments = [
        tried(&visa(), 0, "loja"),
        tried(&visa(), DAY_MS - 1, "outra"),
        tried(&visa(), DAY_MS, "loja"),
        tried(&visa(), month - 1, "loja"),
        tried(&visa(), month, "loja"),
        tried(&other(), 1, "loja"),
        Sample { at: NOW.millis(), ..Sample::default() }.open(),
    ];
    store.commit(&payments.iter().map(insert).collect::<Vec<_>>()).await;
    assert_eq!(tries(&store, &visa()).await, (2, 4));
    assert_eq!(tries(&store, &other()).await, (1, 1));
    assert_eq!(tries(&store, &card("5555555555554444")).await, (0, 0));
}

/// Returns a payment that uses the token with this mark.
fn with_token(mark: &[u8]) -> Payment {
    Payment { used_token: Some(UsedToken::of(mark, b"key")), ..Sample::default().open() }
}

pub async fn a_token_is_used_by_one_payment(store: Arc<dyn Store>) {
    let first = with_token(b"one");
    let second = with_token(b"one");
    let other = with_token(b"two");
    let without = [Sample::default().open(), Sample::default().open()];
    let batch = [insert(&first), insert(&second), insert(&other), insert(&without[0]), insert(&without[1])];
    let expected = [Ok(()), Err(WriteError::TokenUsed), Ok(()), Ok(()), Ok(())];
    assert_eq!(store.commit(&batch).await, expected);
    assert_eq!(store.commit(&[insert(&second)]).await, [Err(WriteError::TokenUsed)]);
    assert_eq!(store.load(&[second.id]).await, Ok(Vec::new()), "nothing of it is stored");
    assert_eq!(store.load(&[first.id]).await, Ok(vec![first.clone()]));
    let again = store.commit(&[insert(&first)]).await;
    assert!(matches!(again[..], [Err(WriteError::Conflict | WriteError::TokenUsed)]), "{again:?}");
}

pub async fn of_many_payments_with_one_token_one_is_stored(store: Arc<dyn Store>) {
    let writes: Vec<_> = (0..8)
        .map(|_| {
            let store = Arc::clone(&store);
            tokio::spawn(async move { store.commit(&[insert(&with_token(b"one"))]).await.remove(0) })
        })
        .collect();
    let mut stored = 0;
    for write in writes {
        match write.await.unwrap() {
            Ok(()) => stored += 1,
            refused => assert_eq!(refused, Err(WriteError::TokenUsed)),
        }
    }
    assert_eq!(stored, 1);
}

pub async fn every_charge_of_a_payment_is_a_try(store: Arc<dyn Store>) {
    let opened = tried(&visa(), 1_000, "loja");
    let failed = ChargeAnswer::Failed(CallFailure::Unknown("time-out".into()));
    let answered = Command::ChargeAnswered { attempt: AttemptNumber::FIRST, answer: failed };
    let mut next = opened.decide(answered, &context(NOW.millis())).unwrap().next.unwrap();
    let state = Arc::make_mut(&mut next.state);
    state.attempts.push(state.attempts[0].clone());
    assert_eq!(store.commit(&[insert(&opened)]).await, [Ok(())]);
    assert_eq!(tries(&store, &visa()).await, (1, 1));
    assert_eq!(store.commit(&[replace(&next)]).await, [Ok(())]);
    assert_eq!(tries(&store, &visa()).await, (2, 2));
}

pub async fn a_card_that_is_forgotten_counts_no_more(store: Arc<dyn Store>) {
    let opened = tried(&visa(), 1_000, "loja");
    assert_eq!(store.commit(&[insert(&opened)]).await, [Ok(())]);
    let over = opened.created_at.plus_ms(TRIES_ARE_COUNTED_FOR_MS);
    let woken = opened.decide(Command::Wake, &context(over.millis())).unwrap().next.unwrap();
    assert_eq!(woken.card_fingerprint, None);
    assert_eq!(store.commit(&[replace(&woken)]).await, [Ok(())]);
    assert_eq!(tries(&store, &visa()).await, (0, 0));
}

pub async fn a_card_that_was_tried_more_often_than_any_brand_allows_is_counted_to_there(
    store: Arc<dyn Store>,
) {
    let payments: Vec<_> = (0..100).map(|minutes| tried(&visa(), minutes * 60_000, "loja")).collect();
    store.commit(&payments.iter().map(insert).collect::<Vec<_>>()).await;
    let (in_a_day, in_30_days) = tries(&store, &visa()).await;
    assert!((36..=100).contains(&in_a_day) && in_a_day == in_30_days, "{in_a_day} {in_30_days}");
}
