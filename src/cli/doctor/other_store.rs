//! Comparison of the configured store with the store of the running service.
//!
//! The first hash of each store's audit log is its own, and each later one depends on it. So the end of the log that the
//! service shows in its metrics is in no other store, unless that is a copy.

use quita_domain::audit::chain::ChainHead;
use quita_ports::{StoreError, WholeStore};
use quita_services::audit::shown_hash;
use quita_services::secret_keys::Strongbox;

use super::finding::Finding;
use super::running::RunningService;

/// Metric with the number of the last entry.
const END: &str = "quita_audit_log_end";
/// Metric with the hash of that entry.
const HASH: &str = "quita_audit_log_end_hash";

/// End of the audit log, as the metrics of a service show it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct ShownEnd {
    sequence: u64,
    hash: i64,
}

impl ShownEnd {
    /// Reads the end from the metrics. `None` if they do not have it.
    pub(super) fn of_metrics(text: &str) -> Option<Self> {
        let value = |name| {
            let series =
                |line: &str| line.split_once(' ').filter(|(series, _)| *series == name)?.1.parse().ok();
            text.lines().find_map(series)
        };
        let sequence = u64::try_from(value(END)?).ok()?;
        Some(Self { sequence, hash: value(HASH)? })
    }
}

/// Warns if the running service uses another store. Returns nothing if that can't be determined.
pub(super) async fn check(
    running: &RunningService,
    store: &dyn WholeStore,
    strongbox: &Strongbox,
    shown_url: &str,
) -> Option<Finding> {
    let end = running.audit_end?;
    let hash = hash_at(end.sequence, store, strongbox).await.ok()?;
    if hash.is_some_and(|hash| shown_hash(&hash) == end.hash) {
        return None;
    }
    let url = &running.url;
    let text = format!("the service at {url} uses another store than {shown_url}");
    let mend = "commands work on this one: name the service's store in the configuration file, not in a variable that only \
                the service has";
    Some(Finding::warn("store", text, mend))
}

/// Returns the hash of the entry at this position, or of the beginning for 0. `None` if the store has no such entry.
///
/// # Errors
/// Fails if the hash can't be read.
async fn hash_at(
    sequence: u64,
    store: &dyn WholeStore,
    strongbox: &Strongbox,
) -> Result<Option<String>, StoreError> {
    let unreadable = |why: &dyn ToString| StoreError::Unreadable(why.to_string());
    let Some(before) = sequence.checked_sub(1) else {
        let key = strongbox.audit_key().await.map_err(|error| unreadable(&error))?;
        return Ok(key.map(|key| ChainHead::beginning(&key.key).hash));
    };
    let page = store.chained_audit(before, 1).await?;
    let found = page.into_iter().find(|(place, _)| *place == sequence);
    found.map(|(_, entry)| entry.map(|entry| entry.links.hash)).transpose()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_end_is_read_from_its_two_metrics() {
        let text = "# TYPE quita_audit_log_end gauge\nquita_audit_log_end 7\nquita_audit_log_end_hash 278476122535186\n";
        assert_eq!(ShownEnd::of_metrics(text), Some(ShownEnd { sequence: 7, hash: 278_476_122_535_186 }));
        for lacking in ["", "quita_audit_log_end 7\n", "quita_audit_log_end -1\nquita_audit_log_end_hash 2\n"]
        {
            assert_eq!(ShownEnd::of_metrics(lacking), None, "{lacking}");
        }
    }
}
