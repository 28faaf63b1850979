//! A store in memory: every trait of the store, once, for all tests that need one.
//!
//! [`MemoryStore`] answers each call of the ports on [`Records`], which are plain maps. It reaches them through a
//! [`Connection`], and that is where a test decides what goes wrong: a connection sees four kinds of calls (commit,
//! load, read, change), so that every fault applies to a new query at once, and no test needs a line for it. The
//! contract of the stores, `tests/store-contract`, is run against this one too.

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
    /// The store that this connection leads to.
    pub const fn over(connection: Arc<C>) -> Self {
        Self(connection)
    }
}

impl Default for MemoryStore {
    /// An empty store, with which nothing goes wrong.
    fn default() -> Self {
        Self::over(Arc::default())
    }
}
