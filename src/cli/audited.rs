//! Notes in the audit log what a command changed.

use super::output;
use crate::audit::{Audit, Deed, Doer};

/// Notes what was done, or tells it to whoever did it: a command has no log.
pub(super) async fn note(audit: &Audit, deed: Deed) {
    if let Err((entry, error)) = audit.append(&Doer::command_line(), deed).await {
        output::note(&format!(
            "It is done, but the audit log does not have it ({error}). Keep this: {} {} {}",
            entry.at,
            entry.action.as_str(),
            output::printable(&entry.subject),
        ));
    }
}
