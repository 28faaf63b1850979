//! The audit log.

use async_trait::async_trait;
use quita_domain::audit::{AuditCursor, AuditEntry, AuditScope};
use quita_ports::{AuditStore, StoreError};

use crate::MemoryStore;
use crate::connection::Connection;
use crate::records::{last_by, taken};

#[async_trait]
impl<C: Connection> AuditStore for MemoryStore<C> {
    async fn append_audit(&self, entry: &AuditEntry) -> Result<(), StoreError> {
        self.0
            .change("append_audit", |records| {
                // The same one is appended again when the answer was lost.
                match records.audit.entry(entry.id).or_insert_with(|| entry.clone()) == entry {
                    true => Ok(()),
                    false => Err(taken(entry.id)),
                }
            })
            .await
    }

    async fn audit(
        &self,
        scope: &AuditScope,
        after: Option<AuditCursor>,
        limit: usize,
    ) -> Result<Vec<AuditEntry>, StoreError> {
        let is_shown = |entry: &AuditEntry| match scope {
            AuditScope::Merchant(merchant) => entry.merchant.as_ref() == Some(merchant),
            AuditScope::Everything => true,
        };
        let is_after =
            |entry: &AuditEntry| after.is_none_or(|last| (entry.at, entry.id) < (last.at, last.id));
        self.0
            .read("audit", |records| {
                let found = records.audit.values().filter(|entry| is_shown(entry) && is_after(entry));
                Ok(last_by(found, |entry| (entry.at, entry.id), limit))
            })
            .await
    }
}
