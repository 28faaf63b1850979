//! Exceptions, which need a person.

use std::sync::Arc;

use quita_domain::exception::Exception;
use quita_domain::identity::{AcquirerName, TransactionId};
use quita_domain::time::Timestamp;
use quita_ports::Store;
use uuid::Uuid;

pub fn exception(id: &str, at: i64) -> Exception {
    Exception {
        id: id.into(),
        kind: String::from("amount_mismatch"),
        transaction_id: Some(TransactionId::new(Uuid::from_u128(1))),
        acquirer: Some(AcquirerName::new("sandbox")),
        detail: String::from("99.00 came in for a payment of 100.00"),
        advice: String::from("ask the acquirer"),
        reported_at: Timestamp::from_millis(at),
        resolution: None,
    }
}

pub async fn an_exception_stays_as_it_was_first_reported(store: Arc<dyn Store>) {
    assert_eq!(store.put_exception(&exception("e-1", 1)).await, Ok(true));
    assert_eq!(store.put_exception(&exception("e-1", 2)).await, Ok(true), "it is open");
    assert_eq!(store.exceptions(10).await, Ok(vec![exception("e-1", 1)]));
}

pub async fn the_newest_exceptions_come_first(store: Arc<dyn Store>) {
    for (id, at) in [("e-2", 2), ("e-3", 3), ("e-1", 1)] {
        store.put_exception(&exception(id, at)).await.unwrap();
    }
    assert_eq!(store.exceptions(2).await, Ok(vec![exception("e-3", 3), exception("e-2", 2)]));
}
