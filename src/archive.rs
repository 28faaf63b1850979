//! The archive: payments that have long been at rest are stored separately, by one of the nodes.

use std::sync::Arc;
use std::time::Duration;

use prometheus::{IntCounter, Registry};
use quita_config::Config;
use quita_domain::time::millis_in;
use quita_machine::SystemIds;
use quita_ports::{Clock, WholeStore};
use quita_services::archive::Archive;

use crate::jobs::{JobName, JobOutcome, Rhythm};

/// Schedule of the search for payments that have long been at rest: it walks the old ones that are not archived.
pub(crate) const ARCHIVE: Rhythm = Rhythm {
    name: JobName::Archive,
    every: Duration::from_secs(3_600),
    first_after: Duration::from_secs(60),
};

/// Periodic archiving of payments of which no further change is expected.
pub(crate) struct ArchiveRunner {
    /// Absent if nothing is archived.
    archive: Option<Archive>,
    archived: IntCounter,
}

impl ArchiveRunner {
    /// Creates the archiving of this store, as configured.
    ///
    /// # Errors
    /// Fails if the metric is registered already.
    pub(crate) fn new(
        config: &Config,
        store: Arc<dyn WholeStore>,
        clock: Arc<dyn Clock>,
        registry: &Registry,
    ) -> prometheus::Result<Self> {
        let archived =
            IntCounter::new("quita_payments_archived_total", "Finished payments that this process archived")?;
        registry.register(Box::new(archived.clone()))?;
        let archive = config
            .archive_after
            .map(|after| Archive::new(store, clock, Arc::new(SystemIds), millis_in(after)));
        Ok(Self { archive, archived })
    }

    /// Returns true if payments are archived.
    pub(crate) const fn is_needed(&self) -> bool {
        self.archive.is_some()
    }

    /// Archives the payments that are due.
    pub(crate) async fn pass(&self) -> JobOutcome {
        let Some(archive) = &self.archive else { return Ok(()) };
        match archive.archive_due(|archived| self.archived.inc_by(archived)).await {
            Ok(0) => Ok(()),
            Ok(archived) => {
                tracing::info!(archived, "finished payments were archived");
                Ok(())
            }
            Err(error) => {
                tracing::warn!(%error, "finished payments could not be archived; this will be retried");
                Err(error.to_string())
            }
        }
    }
}
