//! Audit log entries for changes made by commands.

use super::output;
use quita_services::audit::{Audit, AuditDraft, Initiator};

/// Appends an entry to the audit log. If that fails, prints the entry for the user to keep, because a command has no
/// log.
pub(super) async fn note(audit: &Audit, draft: AuditDraft) {
    if let Err((entry, error)) = audit.append(&Initiator::command_line(), draft).await {
        output::note(&format!(
            "The change is done, but could not be recorded in the audit log ({error}). Keep this: {} {} {}",
            entry.at,
            entry.action.as_str(),
            output::printable(&entry.subject),
        ));
    }
}
