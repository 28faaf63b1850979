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
use quita_domain::control::{Node, RouteControl};
use quita_domain::exception::{Exception, Resolution};
use quita_domain::identity::{ApplicationName, MerchantId, TransactionId};
use quita_domain::listing::{Cursor, DeliveryFilter, PaymentFilter};
use quita_domain::payment::Payment;
use quita_domain::time::Timestamp;
use quita_ports::{
    AccessStore, Backlog, ExceptionStore, InboxStore, OperatorStore, PaymentStore, Store, StoreError, Write,
    WriteError,
};
use tokio::time::timeout;

/// How long one call may take. Whoever called counts its outcome as unknown afterwards.
const TIME_OUT: Duration = Duration::from_secs(30);

/// Ends calls that take too long.
pub(crate) struct PunctualStore(pub(crate) Arc<dyn Store>);

async fn in_time<T>(call: impl Future<Output = Result<T, StoreError>> + Send) -> Result<T, StoreError> {
    timeout(TIME_OUT, call).await.unwrap_or_else(|_| Err(no_answer()))
}

fn no_answer() -> StoreError {
    StoreError::Unavailable("the store does not answer".into())
}

#[async_trait]
impl PaymentStore for PunctualStore {
    async fn commit(&self, batch: &[Write]) -> Vec<Result<(), WriteError>> {
        match timeout(TIME_OUT, self.0.commit(batch)).await {
            Ok(results) => results,
            Err(_) => batch.iter().map(|_| Err(WriteError::Unknown(no_answer()))).collect(),
        }
    }

    async fn load(&self, ids: &[TransactionId]) -> Result<Vec<Payment>, StoreError> {
        in_time(self.0.load(ids)).await
    }

    async fn list(
        &self,
        filter: &PaymentFilter,
        after: Option<Cursor>,
        limit: usize,
    ) -> Result<Vec<Payment>, StoreError> {
        in_time(self.0.list(filter, after, limit)).await
    }

    async fn list_with_deliveries(
        &self,
        filter: &DeliveryFilter,
        after: Option<Cursor>,
        limit: usize,
    ) -> Result<Vec<Payment>, StoreError> {
        in_time(self.0.list_with_deliveries(filter, after, limit)).await
    }

    async fn due(&self, now: Timestamp, limit: usize) -> Result<Vec<TransactionId>, StoreError> {
        in_time(self.0.due(now, limit)).await
    }

    async fn outbox_due(&self, now: Timestamp, limit: usize) -> Result<Vec<TransactionId>, StoreError> {
        in_time(self.0.outbox_due(now, limit)).await
    }
}

#[async_trait]
impl InboxStore for PunctualStore {
    async fn put_notices(&self, notices: &[Notice]) -> Result<Vec<bool>, StoreError> {
        in_time(self.0.put_notices(notices)).await
    }

    async fn due_notices(&self, now: Timestamp, limit: usize) -> Result<Vec<(Notice, u32)>, StoreError> {
        in_time(self.0.due_notices(now, limit)).await
    }

    async fn finish_notices(&self, ids: &[String], now: Timestamp) -> Result<(), StoreError> {
        in_time(self.0.finish_notices(ids, now)).await
    }

    async fn postpone_notice(&self, id: &str, tried: u32, until: Timestamp) -> Result<(), StoreError> {
        in_time(self.0.postpone_notice(id, tried, until)).await
    }
}

#[async_trait]
impl ExceptionStore for PunctualStore {
    async fn put_exception(&self, exception: &Exception) -> Result<(), StoreError> {
        in_time(self.0.put_exception(exception)).await
    }

    async fn exceptions(&self, limit: usize) -> Result<Vec<Exception>, StoreError> {
        in_time(self.0.exceptions(limit)).await
    }
}

#[async_trait]
impl AccessStore for PunctualStore {
    async fn application(
        &self,
        merchant: &MerchantId,
        name: &ApplicationName,
    ) -> Result<Option<Application>, StoreError> {
        in_time(self.0.application(merchant, name)).await
    }

    async fn insert_application(&self, application: &Application) -> Result<bool, StoreError> {
        in_time(self.0.insert_application(application)).await
    }

    async fn replace_application(
        &self,
        before: &Application,
        after: &Application,
    ) -> Result<bool, StoreError> {
        in_time(self.0.replace_application(before, after)).await
    }

    async fn insert_key(&self, key: &ApiKey) -> Result<(), StoreError> {
        in_time(self.0.insert_key(key)).await
    }

    async fn key(&self, id: &str) -> Result<Option<ApiKey>, StoreError> {
        in_time(self.0.key(id)).await
    }

    async fn keys(&self) -> Result<Vec<ApiKey>, StoreError> {
        in_time(self.0.keys()).await
    }

    async fn revoke_key(&self, id: &str, now: Timestamp) -> Result<bool, StoreError> {
        in_time(self.0.revoke_key(id, now)).await
    }
}

#[async_trait]
impl OperatorStore for PunctualStore {
    async fn put_route_control(&self, control: &RouteControl) -> Result<(), StoreError> {
        in_time(self.0.put_route_control(control)).await
    }

    async fn route_controls(&self) -> Result<Vec<RouteControl>, StoreError> {
        in_time(self.0.route_controls()).await
    }

    async fn exception(&self, id: &str) -> Result<Option<Exception>, StoreError> {
        in_time(self.0.exception(id)).await
    }

    async fn resolve_exception(&self, id: &str, resolution: &Resolution) -> Result<bool, StoreError> {
        in_time(self.0.resolve_exception(id, resolution)).await
    }

    async fn resolved_exceptions(&self, limit: usize) -> Result<Vec<Exception>, StoreError> {
        in_time(self.0.resolved_exceptions(limit)).await
    }

    async fn put_node(&self, node: &Node) -> Result<(), StoreError> {
        in_time(self.0.put_node(node)).await
    }

    async fn nodes(&self, seen_since: Timestamp) -> Result<Vec<Node>, StoreError> {
        in_time(self.0.nodes(seen_since)).await
    }
}

#[async_trait]
impl Store for PunctualStore {
    async fn ping(&self) -> Result<(), StoreError> {
        in_time(self.0.ping()).await
    }

    async fn backlog(&self, now: Timestamp) -> Result<Backlog, StoreError> {
        in_time(self.0.backlog(now)).await
    }

    fn is_sole_writer(&self) -> bool {
        self.0.is_sole_writer()
    }
}
