//! A slow connection to the in-memory store, for tests of the actors in front of a store.

use std::sync::{Arc, Mutex};
use std::time::Duration;

use actix::{Actor, Context};
use prometheus::Registry;
use quita_domain::identity::TransactionId;
use quita_domain::payment::Payment;
use quita_domain::time::Timestamp;
use quita_memory_store::{Connection, MemoryStore, Records};
use quita_ports::{Clock, PaymentStore, StoreError, Write, WriteError};
use tokio::time::sleep;

use crate::actor::kind::ActorKind;
use crate::actor::mailbox::{Mailbox, leave_bound_to_mailbox};
use crate::actor::meter::Alive;
use crate::watch::meter::Meter;

/// Duration of every call.
pub(crate) const TAKES: Duration = Duration::from_millis(10);

/// Duration of a second look for payments that were not found.
pub(crate) const SECOND_LOOK_TAKES: Duration = Duration::from_secs(5);

/// A connection on which every call takes a while, and which records the calls.
#[derive(Default)]
pub(crate) struct SlowConnection {
    pub(crate) records: Mutex<Records>,
    /// The payments of each call.
    pub(crate) calls: Mutex<Vec<Vec<u128>>>,
    pub(crate) is_broken: Mutex<bool>,
    /// Payments that only the second look sees.
    pub(crate) hidden: Mutex<Records>,
    /// Payments of each second look.
    pub(crate) second_looks: Mutex<Vec<usize>>,
}

impl SlowConnection {
    async fn called(&self, ids: impl Iterator<Item = TransactionId>) {
        self.calls.lock().unwrap().push(ids.map(|id| id.uuid().as_u128()).collect());
        sleep(TAKES).await;
    }
}

impl Connection for SlowConnection {
    async fn read<T: Send>(
        &self,
        _: &'static str,
        query: impl FnOnce(&Records) -> Result<T, StoreError> + Send,
    ) -> Result<T, StoreError> {
        query(&self.records.lock().unwrap())
    }

    async fn change<T: Send>(
        &self,
        _: &'static str,
        change: impl FnOnce(&mut Records) -> Result<T, StoreError> + Send,
    ) -> Result<T, StoreError> {
        change(&mut self.records.lock().unwrap())
    }

    async fn commit(&self, batch: &[Write]) -> Vec<Result<(), WriteError>> {
        self.called(batch.iter().map(|write| write.payment.id)).await;
        if *self.is_broken.lock().unwrap() {
            let broken = WriteError::NotWritten(StoreError::Broken("no sync".into()));
            return vec![Err(broken); batch.len()];
        }
        let mut records = self.records.lock().unwrap();
        batch.iter().map(|write| records.write(write)).collect()
    }

    async fn load(&self, ids: &[TransactionId]) -> Result<Vec<Payment>, StoreError> {
        self.called(ids.iter().copied()).await;
        Ok(self.records.lock().unwrap().load(ids))
    }

    async fn load_missing(&self, ids: &[TransactionId]) -> Result<Vec<Payment>, StoreError> {
        self.second_looks.lock().unwrap().push(ids.len());
        sleep(SECOND_LOOK_TAKES).await;
        Ok(self.hidden.lock().unwrap().load(ids))
    }

    fn is_sole_writer(&self) -> bool {
        true
    }
}

/// Returns the store that this connection leads to.
pub(crate) fn store_over(connection: &Arc<SlowConnection>) -> Arc<dyn PaymentStore> {
    Arc::new(MemoryStore::over(Arc::clone(connection)))
}

struct Midnight;

impl Clock for Midnight {
    fn now(&self) -> Timestamp {
        Timestamp::from_millis(0)
    }
}

/// Returns the meter of a system without actors.
pub(crate) fn meter() -> Arc<Meter> {
    let clock: Arc<dyn Clock> = Arc::new(Midnight);
    Meter::new(&Registry::new(), &clock).unwrap()
}

/// Starts one actor alone.
pub(crate) fn start<A: Actor<Context = Context<A>>>(
    meter: &Meter,
    kind: ActorKind,
    actor: impl FnOnce(Alive) -> A,
) -> Mailbox<A> {
    let actor = actor(meter.of(kind).alive());
    let address = A::create(|context| {
        leave_bound_to_mailbox(context);
        actor
    });
    Mailbox::new(address, meter.of(kind), 100)
}
