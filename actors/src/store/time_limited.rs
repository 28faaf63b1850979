//! A store whose every call ends in time, whatever the one behind it does.
//!
//! An adapter may wait for a server that hangs, and an actor that waits with it would be stuck for good. So the time
//! is limited here, once, for everybody.

use std::future::Future;
use std::sync::Arc;
use std::time::Duration;

use async_trait::async_trait;
use quita_domain::access::{ApiKey, Application};
use quita_domain::acquiring::Notice;
use quita_domain::card::CardFingerprint;
use quita_domain::control::{Node, RouteControl};
use quita_domain::exception::{Exception, Resolution};
use quita_domain::identity::{ApplicationName, MerchantId, TransactionId};
use quita_domain::listing::{Cursor, DeliveryFilter, PaymentFilter};
use quita_domain::payment::Payment;
use quita_domain::routing::CardTries;
use quita_domain::time::Timestamp;
use quita_ports::{
    AccessStore, Backlog, DueDelivery, ExceptionStore, InboxStore, Listed, OperatorStore, OutboxPlace,
    PaymentStore, Store, StoreError, Write, WriteError,
};
use tokio::time::timeout;

/// How long one call may take. The caller counts its outcome as unknown afterwards.
const TIME_OUT: Duration = Duration::from_secs(30);

/// Ends calls that take too long.
pub(crate) struct TimeLimitedStore(pub(crate) Arc<dyn Store>);

async fn in_time<T>(call: impl Future<Output = Result<T, StoreError>> + Send) -> Result<T, StoreError> {
    timeout(TIME_OUT, call).await.unwrap_or_else(|_| Err(no_answer()))
}

fn no_answer() -> StoreError {
    StoreError::Unavailable("the store does not answer".into())
}

/// Implements a trait of the store by calls that end in time: each query is its signature. What is written apart is
/// passed as it is.
macro_rules! in_time {
    (
        $trait:ident {
            $(fn $name:ident($($argument:ident: $type:ty),*) -> $answer:ty;)*
        }
        $($apart:item)?
    ) => {
        #[async_trait]
        impl $trait for TimeLimitedStore {
            $(
                async fn $name(&self, $($argument: $type),*) -> Result<$answer, StoreError> {
                    in_time(self.0.$name($($argument),*)).await
                }
            )*
            $($apart)?
        }
    };
}

in_time! {
    PaymentStore {
        fn load(ids: &[TransactionId]) -> Vec<Payment>;
        fn list(filter: &PaymentFilter, after: Option<Cursor>, limit: usize) -> Vec<Listed>;
        fn list_with_deliveries(filter: &DeliveryFilter, after: Option<Cursor>, limit: usize) -> Vec<Listed>;
        fn due(now: Timestamp, limit: usize) -> Vec<TransactionId>;
        fn outbox_due(after: Option<OutboxPlace>, now: Timestamp, limit: usize) -> Vec<DueDelivery>;
        fn card_tries(card: &CardFingerprint, now: Timestamp) -> CardTries;
    }
    async fn commit(&self, batch: &[Write]) -> Vec<Result<(), WriteError>> {
        match timeout(TIME_OUT, self.0.commit(batch)).await {
            Ok(results) => results,
            Err(_) => batch.iter().map(|_| Err(WriteError::Unknown(no_answer()))).collect(),
        }
    }
}

in_time! {
    InboxStore {
        fn put_notices(notices: &[Notice]) -> Vec<bool>;
        fn due_notices(now: Timestamp, limit: usize) -> Vec<(Notice, u32)>;
        fn waiting_notices(ids: &[String]) -> Vec<String>;
        fn finish_notices(ids: &[String], now: Timestamp) -> ();
        fn postpone_notice(id: &str, tried: u32, until: Timestamp) -> ();
    }
}

in_time! {
    ExceptionStore {
        fn put_exception(exception: &Exception) -> ();
        fn exceptions(limit: usize) -> Vec<Exception>;
    }
}

in_time! {
    AccessStore {
        fn application(merchant: &MerchantId, name: &ApplicationName) -> Option<Application>;
        fn insert_application(application: &Application) -> bool;
        fn replace_application(before: &Application, after: &Application) -> bool;
        fn insert_key(key: &ApiKey) -> ();
        fn key(id: &str) -> Option<ApiKey>;
        fn keys() -> Vec<ApiKey>;
        fn revoke_key(id: &str, now: Timestamp) -> bool;
    }
}

in_time! {
    OperatorStore {
        fn put_route_control(control: &RouteControl) -> ();
        fn route_controls() -> Vec<RouteControl>;
        fn exception(id: &str) -> Option<Exception>;
        fn resolve_exception(id: &str, resolution: &Resolution) -> bool;
        fn resolved_exceptions(limit: usize) -> Vec<Exception>;
        fn put_node(node: &Node) -> ();
        fn nodes(seen_since: Timestamp) -> Vec<Node>;
    }
}

in_time! {
    Store {
        fn ping() -> ();
        fn backlog(now: Timestamp, limit: u32) -> Backlog;
    }
    fn is_sole_writer(&self) -> bool {
        self.0.is_sole_writer()
    }
}
