//! Audit log, page by page.

use quita_domain::audit::chain::ChainedEntry;
use quita_domain::audit::{AuditCursor, AuditEntry, AuditScope};
use quita_ports::AuditStore;
use serde::Deserialize;

use super::page_error::PageError;
use quita_services::audit::Initiator;

/// Number of entries per page.
const PAGE: usize = 50;

/// Entry with its sequence number.
pub(crate) struct LogLine {
    pub(crate) sequence: u64,
    pub(crate) entry: AuditEntry,
}

impl LogLine {
    fn of(chained: &ChainedEntry) -> Self {
        Self { sequence: chained.sequence, entry: chained.entry() }
    }

    /// Returns true if the entry was written by a command of this program.
    pub(crate) fn is_of_command_line(&self) -> bool {
        self.entry.who == Initiator::COMMAND_LINE
    }
}

/// Page of the log.
pub(crate) struct LogPart {
    pub(crate) lines: Vec<LogLine>,
    pub(crate) older: Option<String>,
    pub(crate) is_first: bool,
}

impl LogPart {
    /// Reads the page after this cursor.
    pub(crate) async fn read(
        store: &(impl AuditStore + ?Sized),
        scope: &AuditScope,
        cursor: &str,
    ) -> Result<Self, PageError> {
        let after = AuditCursor::parse(cursor);
        let mut entries = store.audit(scope, after, PAGE.saturating_add(1)).await?;
        let has_more = entries.len() > PAGE;
        entries.truncate(PAGE);
        let last = entries.last().filter(|_| has_more);
        let older = last.map(|last| AuditCursor { at: last.at, id: last.id }.to_string());
        let lines = entries.iter().map(LogLine::of).collect();
        Ok(Self { lines, older, is_first: after.is_none() })
    }
}

/// Query parameters of the audit log page.
#[derive(Deserialize)]
pub(crate) struct AuditQuery {
    #[serde(default)]
    pub(crate) cursor: String,
}
