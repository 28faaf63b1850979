//! Tasks that record in the background: the end of the audit log, and refused sign-ins.

use std::sync::Arc;
use std::time::Duration;

use actix_web::rt::task::JoinHandle;
use quita_services::audit::{AuditMetrics, AuditWatch};
use quita_services::refused_sign_ins::RefusedSignIns;
use tokio::sync::Notify;

use super::core::Core;
use super::resources::Resources;

/// Running tasks that write their pending data before they end.
pub(super) struct Recorders {
    refused: Arc<RefusedSignIns>,
    counting: JoinHandle<()>,
    watch_is_over: Arc<Notify>,
    watching: JoinHandle<()>,
}

impl Recorders {
    /// Reads the end of the audit log, from which [`Recorders::start`] continues.
    pub(super) async fn begin(resources: &Resources, core: &Core) -> anyhow::Result<AuditWatch> {
        let metrics = AuditMetrics::register(&resources.registry)?;
        Ok(AuditWatch::begin(core.audit.clone(), core.node.clone(), metrics).await?)
    }

    /// Starts the tasks.
    pub(super) fn start(watch: AuditWatch, core: &Core) -> Self {
        let refused = Arc::clone(&core.refused_sign_ins);
        let watch_is_over = watch.over();
        let watching = actix_web::rt::spawn(watch.run());
        let recorders = Arc::clone(&refused);
        let counting = actix_web::rt::spawn(async move { recorders.run().await });
        Self { refused, counting, watch_is_over, watching }
    }

    /// Ends the tasks, each within a time limit.
    pub(super) async fn stop(self, within: Duration) {
        // The task for refused sign-ins ends first: its last entry goes into the audit log, where the watch must still
        // see it.
        self.refused.stop();
        if tokio::time::timeout(within, self.counting).await.is_err() {
            tracing::warn!("refused sign-ins could not be recorded in time");
        }
        self.watch_is_over.notify_one();
        if tokio::time::timeout(within, self.watching).await.is_err() {
            tracing::warn!("the last entries of the audit log could not be logged in time");
        }
    }
}
