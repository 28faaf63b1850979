//! Rules that both stores keep.

use quita_domain::figures::PAID_WITHIN_MS;
use quita_domain::time::DAY_MS;
use quita_ports::StoreError;
use uuid::Uuid;

/// Time for which a finished notice is kept, so that its repetition is recognised.
pub const KEEP_FINISHED_MS: u64 = 30 * DAY_MS;

/// Time for which a node is kept after it was last seen, unless an operator removes it.
pub const KEEP_UNSEEN_NODE_MS: u64 = 30 * DAY_MS;

/// Returns the class of a time from creation to payment.
pub fn paid_within(ms: u64) -> u8 {
    u8::try_from(PAID_WITHIN_MS.partition_point(|bound| *bound < ms)).unwrap_or(u8::MAX)
}

/// Returns the upper bound of the ids of statement lines with this prefix: the smallest text above all of them. The
/// prefix ends with a colon.
pub fn end_of_lines(beginning: &str) -> String {
    let name = beginning.strip_suffix(':').unwrap_or(beginning);
    // In ASCII, the semicolon is the character after the colon.
    format!("{name};")
}

/// Returns the error for a payment whose method or status this version does not know.
pub fn unknown_word(field: &str) -> StoreError {
    StoreError::Unreadable(format!("a payment has an unknown {field}"))
}

/// Returns the error for a new audit entry with the id of another one. The id is random, so this is a defect of the
/// caller.
pub fn entry_exists(id: Uuid) -> StoreError {
    StoreError::Unavailable(format!("there is another audit entry with the id {id} already"))
}

/// Returns the error for a new key with the id of another one. The id is random, so this is a defect of the caller.
pub fn key_exists(id: &str) -> StoreError {
    StoreError::Unavailable(format!("there is an API key with the id {id} already"))
}
