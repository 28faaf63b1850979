//! A store whose calls all end in time, whatever the underlying store does.
//!
//! An adapter may wait for a server that hangs, and an actor that waits for it would be stuck for good. So the time is
//! limited here, in one place for every actor. The result of each call is reported to the store's state.

use std::future::Future;
use std::sync::Arc;
use std::time::Duration;

use async_trait::async_trait;
use quita_domain::access::{ApiKey, Application};
use quita_domain::acquiring::Notice;
use quita_domain::card::CardFingerprint;
use quita_domain::control::{Node, RouteControl};
use quita_domain::exception::{Exception, Resolution};
use quita_domain::identity::{ApplicationName, MerchantId, Mode, TransactionId};
use quita_domain::listing::{Cursor, DeliveryFilter, MovementFilter, PaymentFilter};
use quita_domain::payment::Payment;
use quita_domain::routing::CardTries;
use quita_domain::time::Timestamp;
use quita_ports::{
    AccessStore, Backlog, DueDelivery, ExceptionStore, InboxStore, Listed, NumberBlock, NumberRange,
    NumberStore, OperatorStore, OutboxPlace, PaymentStore, Store, StoreError, StoreForm, Write, WriteError,
};
use tokio::time::timeout;
use uuid::Uuid;

use crate::store::queries::{explained, shared_queries};
use crate::store::state::{StoreCall, StoreState};

/// Time-out of one call. Afterwards its outcome counts as unknown.
const TIME_OUT: Duration = Duration::from_secs(30);

/// Ends calls that take too long.
pub(crate) struct TimeLimitedStore {
    pub(crate) store: Arc<dyn Store>,
    pub(crate) state: Arc<StoreState>,
}

impl TimeLimitedStore {
    async fn in_time<T>(
        &self,
        kind: StoreCall,
        call: impl Future<Output = Result<T, StoreError>> + Send,
    ) -> Result<T, StoreError> {
        let in_time = async { timeout(TIME_OUT, call).await.unwrap_or_else(|_| Err(no_answer())) };
        self.state.watch(kind, in_time).await
    }
}

fn no_answer() -> StoreError {
    StoreError::Unavailable("the store does not answer".into())
}

/// Implements a trait of the store with time-limited calls: each query is given as its kind and signature. Items
/// written separately are passed through unchanged.
macro_rules! in_time {
    (
        $trait:ident {
            $($kind:ident fn $name:ident($($argument:ident: $type:ty),*) -> $answer:ty;)*
        }
        $($apart:item)?
    ) => {
        #[async_trait]
        impl $trait for TimeLimitedStore {
            $(
                async fn $name(&self, $($argument: $type),*) -> Result<$answer, StoreError> {
                    let call = async { explained(&*self.store, self.store.$name($($argument),*).await).await };
                    self.in_time(StoreCall::$kind, call).await
                }
            )*
            $($apart)?
        }
    };
}

shared_queries! {
    in_time,
    async fn commit(&self, batch: &[Write]) -> Vec<Result<(), WriteError>> {
        let in_time = async {
            match timeout(TIME_OUT, self.store.commit(batch)).await {
                Ok(results) => results,
                // The batch may still land, and each of its writes with it.
                Err(_) => batch.iter().map(|_| Err(WriteError::Unknown(no_answer()))).collect(),
            }
        };
        self.state.watch_batch(in_time).await
    }
}
