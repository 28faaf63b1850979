//! Rules that both stores keep.

use quita_domain::figures::PAID_WITHIN_MS;
use quita_domain::time::DAY_MS;
use quita_ports::StoreError;
use uuid::Uuid;

/// Time for which a finished notice is kept, so that a repetition of it is known.
pub const KEEP_FINISHED_MS: u64 = 30 * DAY_MS;

/// Time for which a node that is no longer seen is kept, unless an operator removes it.
pub const KEEP_UNSEEN_NODE_MS: u64 = 30 * DAY_MS;

/// The class of a time from creation to payment.
pub fn paid_within(ms: u64) -> u8 {
    u8::try_from(PAID_WITHIN_MS.partition_point(|bound| *bound < ms)).unwrap_or(u8::MAX)
}

/// End of the ids of statement lines that begin so: the least text above all of them. The beginning ends with a colon.
pub fn end_of_lines(beginning: &str) -> String {
    let name = beginning.strip_suffix(':').unwrap_or(beginning);
    // The semicolon is the next character of ASCII.
    format!("{name};")
}

/// A payment has a method or a status that this version does not know.
pub fn unknown_word(field: &str) -> StoreError {
    StoreError::Unreadable(format!("a payment has an unknown {field}"))
}

/// A new audit entry has the id of another one. Its random id makes that a defect of its maker.
pub fn entry_exists(id: Uuid) -> StoreError {
    StoreError::Unavailable(format!("there is another audit entry with the id {id} already"))
}

/// A new key has the id of another one. Its random id makes that a defect of its maker.
pub fn key_exists(id: &str) -> StoreError {
    StoreError::Unavailable(format!("there is an API key with the id {id} already"))
}
