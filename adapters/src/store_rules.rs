//! What both stores keep to, said once.

use quita_domain::time::DAY_MS;
use quita_ports::StoreError;

/// How long a finished notice is kept, so that a repetition of it is known.
pub(crate) const KEEP_FINISHED_MS: u64 = 30 * DAY_MS;

/// A new key has the id of another one. Its random id makes that a defect of whoever made it.
pub(crate) fn key_exists(id: &str) -> StoreError {
    StoreError::Unavailable(format!("there is an API key with the id {id} already"))
}
