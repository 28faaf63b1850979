//! The chain of the audit log: each entry carries keyed hashes of itself, of its place, and of the entry before.
//!
//! Without the key nobody can make an entry that fits. What an entry says of people is covered by salted hashes alone, so
//! that erasing it with its salt leaves the chain whole. The end is guarded by a sealed head. Who puts the whole store back
//! to an earlier state is found only by whoever kept a later place of the log elsewhere.

mod check;
mod entry;
mod head;
mod key;

pub use check::{ChainCheck, ChainFault};
pub use entry::{ChainedEntry, Content, Initiator, Links, NewAuditEntry, Person, SALT_BYTES, Salts};
pub use head::{ChainHead, ChainPlace};
pub use key::{AuditKey, CHAIN_KEY_BYTES, ChainKey};
