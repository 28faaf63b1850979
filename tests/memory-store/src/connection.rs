//! Connection of a caller to the records, with its faults.

use std::future::{Future, ready};
use std::sync::{Mutex, MutexGuard, PoisonError};

use quita_domain::identity::TransactionId;
use quita_domain::payment::Payment;
use quita_ports::{StoreError, Write, WriteError};

use crate::records::Records;

/// A connection to the records. It may refuse, delay, lose or alter what passes; `call` is the name of the call in the
/// ports.
pub trait Connection: Send + Sync + 'static {
    /// Makes a call that changes nothing.
    fn read<T: Send>(
        &self,
        call: &'static str,
        query: impl FnOnce(&Records) -> Result<T, StoreError> + Send,
    ) -> impl Future<Output = Result<T, StoreError>> + Send;

    /// Makes a call that changes something other than payments, atomically.
    fn change<T: Send>(
        &self,
        call: &'static str,
        change: impl FnOnce(&mut Records) -> Result<T, StoreError> + Send,
    ) -> impl Future<Output = Result<T, StoreError>> + Send;

    /// Commits a batch of writes, each with [`Records::write`].
    fn commit(&self, batch: &[Write]) -> impl Future<Output = Vec<Result<(), WriteError>>> + Send;

    /// Loads payments by their ids. It is the only read that sees single payments.
    fn load(&self, ids: &[TransactionId]) -> impl Future<Output = Result<Vec<Payment>, StoreError>> + Send {
        self.read("load", |records| Ok(records.load(ids)))
    }

    /// Loads those of these payments that the previous load left out. Records have no other state than their newest.
    fn load_missing(
        &self,
        _: &[TransactionId],
    ) -> impl Future<Output = Result<Vec<Payment>, StoreError>> + Send {
        ready(Ok(Vec::new()))
    }

    /// Returns true if nobody else writes to these records.
    fn is_sole_writer(&self) -> bool;
}

/// A private set of records, without faults.
#[derive(Default)]
pub struct Direct(Mutex<Records>);

impl Direct {
    fn lock(&self) -> MutexGuard<'_, Records> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Connection for Direct {
    async fn read<T: Send>(
        &self,
        _: &'static str,
        query: impl FnOnce(&Records) -> Result<T, StoreError> + Send,
    ) -> Result<T, StoreError> {
        query(&self.lock())
    }

    async fn change<T: Send>(
        &self,
        _: &'static str,
        change: impl FnOnce(&mut Records) -> Result<T, StoreError> + Send,
    ) -> Result<T, StoreError> {
        change(&mut self.lock())
    }

    async fn commit(&self, batch: &[Write]) -> Vec<Result<(), WriteError>> {
        let mut records = self.lock();
        batch.iter().map(|write| records.write(write)).collect()
    }

    fn is_sole_writer(&self) -> bool {
        true
    }
}
