//! Pix that belong to one payment.

use std::sync::Arc;

use quita_domain::acquiring::{Fact, Settlement};
use quita_domain::identity::{AcquirerName, Mode};
use quita_domain::money::Money;
use quita_domain::payment::{Command, Payment};
use quita_ports::{Store, WriteError};

use quita_store_contract::samples::{Sample, context, insert, pending, replace};

const PIX: &str = "E1234567820261121120000000000001";
const OTHER: &str = "E1234567820261121120000000000002";
const TAKEN: Result<(), WriteError> = Err(WriteError::PixTaken);

/// Stores a payment of this mode that waits for its payer.
async fn waiting(store: &Arc<dyn Store>, mode: Mode) -> Payment {
    let opened = Sample { mode, ..Sample::default() }.open();
    assert_eq!(store.commit(&[insert(&opened)]).await, [Ok(())]);
    let waiting = pending(&opened, 1_500);
    assert_eq!(store.commit(&[replace(&waiting)]).await, [Ok(())]);
    waiting
}

/// Returns the payment after this Pix paid it.
fn paid_by(payment: &Payment, pix: &str) -> Payment {
    let settlement = Settlement {
        id: pix.into(),
        amount: Money::from_cents(10_000),
        paid_on: None,
        end_to_end_id: Some(pix.into()),
        approval: None,
    };
    let command =
        Command::Notified { acquirer: AcquirerName::new("sandbox"), fact: Fact::Settled(settlement) };
    payment.decide(command, &context(2_000)).unwrap().next.unwrap()
}

pub async fn a_pix_belongs_to_one_payment_of_a_mode(store: Arc<dyn Store>) {
    let [one, other, live] = [
        waiting(&store, Mode::Test).await,
        waiting(&store, Mode::Test).await,
        waiting(&store, Mode::Live).await,
    ];
    assert_eq!(store.payment_of_pix(Mode::Test, PIX).await, Ok(None));
    let batch = [&one, &other, &live].map(|payment| replace(&paid_by(payment, PIX)));
    let outcomes = store.commit(&batch).await;
    // Within one batch either may come first: archived payments are written after the others.
    let (holder, loser) = if outcomes[0].is_ok() { (one, other) } else { (other, one) };
    assert_eq!(outcomes.iter().filter(|outcome| outcome.is_ok()).count(), 2, "{outcomes:?}");
    assert!(outcomes[2].is_ok() && outcomes.contains(&TAKEN), "{outcomes:?}");
    let paid = paid_by(&holder, PIX);
    assert_eq!(store.payment_of_pix(Mode::Test, PIX).await, Ok(Some(holder.id)));
    assert_eq!(store.payment_of_pix(Mode::Live, PIX).await, Ok(Some(live.id)));
    assert_eq!(store.commit(&[replace(&paid_by(&loser, PIX))]).await, [TAKEN]);
    assert_eq!(store.commit(&[replace(&paid_by(&loser, OTHER))]).await, [Ok(())]);
    let woken = Payment { revision: paid.revision + 1, last_op: uuid::Uuid::now_v7(), ..paid };
    assert_eq!(store.commit(&[replace(&woken)]).await, [Ok(())], "its own Pix is no hindrance");
    assert_eq!(store.payment_of_pix(Mode::Test, &PIX.to_lowercase()).await, Ok(None));
}

pub async fn of_many_payments_with_one_pix_one_is_stored(store: Arc<dyn Store>) {
    let mut payments = Vec::new();
    for _ in 0..8 {
        payments.push(waiting(&store, Mode::Live).await);
    }
    let writes: Vec<_> = payments
        .iter()
        .map(|payment| {
            let store = Arc::clone(&store);
            let paid = paid_by(payment, PIX);
            tokio::spawn(async move { store.commit(&[replace(&paid)]).await.remove(0) })
        })
        .collect();
    let mut outcomes = Vec::new();
    for write in writes {
        outcomes.push(write.await.unwrap());
    }
    let holder = outcomes.iter().position(Result::is_ok).map(|place| payments[place].id);
    assert_eq!(store.payment_of_pix(Mode::Live, PIX).await, Ok(holder));
    let refused = outcomes.iter().filter(|outcome| **outcome == TAKEN).count();
    assert_eq!(refused, 7, "{outcomes:?}");
}

pub async fn a_refused_pix_leaves_the_payment_as_it_was(store: Arc<dyn Store>) {
    let first = waiting(&store, Mode::Live).await;
    let second = waiting(&store, Mode::Live).await;
    let stale = paid_by(&first, PIX);
    let stale = Payment { revision: stale.revision + 5, ..stale };
    let refused = store.commit(&[replace(&stale)]).await;
    assert_eq!(refused, [Err(WriteError::Conflict)]);
    assert_eq!(store.payment_of_pix(Mode::Live, PIX).await, Ok(None), "a write that lost binds nothing");
    assert_eq!(store.commit(&[replace(&paid_by(&first, PIX))]).await, [Ok(())]);
    assert_eq!(store.commit(&[replace(&paid_by(&second, PIX))]).await, [TAKEN]);
    assert_eq!(store.load(&[second.id]).await, Ok(vec![second]));
}
