use async_trait::async_trait;
use quita_domain::audit::AuditErasure;
use quita_ports::{AuditEraser, StoreError};

/// An audit log that says of nobody anything, for tests that are about payments.
pub struct NoAuditLog;

#[async_trait]
impl AuditEraser for NoAuditLog {
    async fn erase(&self, _what: &AuditErasure) -> Result<u64, StoreError> {
        Ok(0)
    }
}
