//! A store in memory, which implements every trait of the store once for all tests.
//!
//! [`MemoryStore`] answers each call of the ports from [`Records`], which are plain maps. It reaches them through a
//! [`Connection`], where a test decides which faults occur. A connection sees four kinds of calls (commit, load, read,
//! change), so every fault also applies to new queries, without further code in a test. The contract of the stores,
//! `tests/store-contract`, also runs against this one.

mod access;
mod archive;
mod audit;
mod connection;
mod erasure;
mod figures;
mod hand_clock;
mod history;
mod inbox;
pub mod judge;
mod links;
mod no_audit_log;
mod numbers;
mod operator;
mod payments;
mod people;
mod reconciliation;
mod records;
mod samples;
mod secret_keys;
mod vault;

use std::sync::Arc;

pub use connection::{Connection, Direct};
pub use hand_clock::HandClock;
pub use no_audit_log::NoAuditLog;
pub use records::{Records, StoredNotice};
pub use samples::{sample_id, sample_payment};
pub use vault::TestVault;

/// A store on maps, reached through a connection; several stores may share one.
pub struct MemoryStore<C = Direct>(Arc<C>);

impl<C> MemoryStore<C> {
    /// Creates a store over this connection.
    pub const fn over(connection: Arc<C>) -> Self {
        Self(connection)
    }
}

impl Default for MemoryStore {
    /// Creates an empty store without faults.
    fn default() -> Self {
        Self::over(Arc::default())
    }
}
