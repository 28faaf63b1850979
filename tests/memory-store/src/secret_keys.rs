//! The secret key that the store works with, and all sealed values.

use async_trait::async_trait;
use quita_domain::access::Application;
use quita_domain::secret_key::{KeyRecord, SealedSecret};
use quita_ports::{ApplicationPlace, SecretKeyStore, StoreError};

use crate::MemoryStore;
use crate::connection::Connection;

#[async_trait]
impl<C: Connection> SecretKeyStore for MemoryStore<C> {
    async fn key_record(&self) -> Result<Option<KeyRecord>, StoreError> {
        self.0.read("key_record", |records| Ok(records.key_record.clone())).await
    }

    async fn replace_key_record(
        &self,
        before: Option<&KeyRecord>,
        after: &KeyRecord,
    ) -> Result<bool, StoreError> {
        self.0
            .change("replace_key_record", |records| {
                let is_same = records.key_record.as_ref() == before;
                if is_same {
                    records.key_record = Some(after.clone());
                }
                Ok(is_same)
            })
            .await
    }

    async fn audit_key(&self) -> Result<Option<SealedSecret>, StoreError> {
        self.0.read("audit_key", |records| Ok(records.audit_key.clone())).await
    }

    async fn replace_audit_key(
        &self,
        before: Option<&SealedSecret>,
        after: &SealedSecret,
    ) -> Result<bool, StoreError> {
        self.0
            .change("replace_audit_key", |records| {
                let is_same = records.audit_key.as_ref() == before;
                if is_same {
                    records.audit_key = Some(after.clone());
                }
                Ok(is_same)
            })
            .await
    }

    async fn applications_after(
        &self,
        after: Option<&ApplicationPlace>,
        limit: usize,
    ) -> Result<Vec<Application>, StoreError> {
        self.0
            .read("applications_after", |records| {
                let all = records.applications.iter();
                let later = all.filter(|(place, _)| after.is_none_or(|after| *place > after));
                Ok(later.take(limit).map(|(_, application)| application.clone()).collect())
            })
            .await
    }

    async fn forget_replaced(&self) -> Result<(), StoreError> {
        Ok(())
    }
}
