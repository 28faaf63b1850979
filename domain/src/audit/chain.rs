//! The chain of the audit log: each entry has keyed hashes of itself, of its index, and of the entry before.
//!
//! Without the key nobody can create an entry that fits. The data about people is covered only by salted hashes, so
//! erasing it with its salt leaves the chain intact. Each erasure is an entry that names the erased parts. A sealed
//! head guards the end. Restoring log and head to an earlier state is detected by anyone who keeps a later position
//! elsewhere.

mod check;
mod entry;
mod erased;
mod head;
mod key;

pub use check::{ChainCheck, ChainFault};
pub use entry::{ChainedEntry, Content, Initiator, Links, NewAuditEntry, Person, SALT_BYTES, Salts};
pub use erased::{EntryPart, ErasedParts};
pub use head::{ChainHead, ChainPlace};
pub use key::{AuditKey, CHAIN_KEY_BYTES, ChainKey};
