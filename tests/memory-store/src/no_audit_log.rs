use async_trait::async_trait;
use quita_domain::audit::AuditErasure;
use quita_ports::{AuditEraser, StoreError};

/// An audit log without personal data, for tests of payments.
pub struct NoAuditLog;

#[async_trait]
impl AuditEraser for NoAuditLog {
    async fn erase(&self, _what: &AuditErasure) -> Result<u64, StoreError> {
        Ok(0)
    }
}
