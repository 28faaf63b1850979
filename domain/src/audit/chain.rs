//! The chain of the audit log: each entry carries keyed hashes of itself, of its place, and of the entry before.
//!
//! Without the key nobody can make an entry that fits. What an entry says of people is covered by salted hashes alone, so
//! that erasing it with its salt leaves the chain whole; each erasure is an entry that names the parts it took. The end is
//! guarded by a sealed head. Putting log and head back to an earlier state is found by whoever kept a later place elsewhere.

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
