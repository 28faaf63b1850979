//! Operators' decisions, and their view of the nodes.

use async_trait::async_trait;
use quita_domain::control::{Node, RouteControl};
use quita_domain::exception::{Exception, Resolution};
use quita_domain::time::Timestamp;
use uuid::Uuid;

use crate::store::StoreError;

/// Form of everything in a store (schema, indexes and documents), as a rising number.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct StoreForm {
    /// Number of the form that the store has. This program writes in it, unless it does not know it.
    pub number: i64,
    /// Number of the newest form that this program reads and writes.
    pub known: i64,
    /// True while an upgrade rewrites data that is stored in the previous form.
    pub is_upgrading: bool,
}

impl StoreForm {
    /// The first form, in a store that has no other.
    pub const FIRST: Self = Self { number: 1, known: 1, is_upgrading: false };

    /// Returns true if the store was upgraded beyond what this program knows. Then nothing more may be written.
    pub const fn is_too_new(self) -> bool {
        self.number > self.known
    }

    /// Returns true if this program can upgrade the store, or an upgrade was begun and is not finished.
    pub const fn is_to_upgrade(self) -> bool {
        self.number < self.known || self.is_upgrading
    }

    /// Returns true if everything in the store is in this form or a newer one.
    pub const fn has(self, needed: i64) -> bool {
        self.number > needed || (self.number == needed && !self.is_upgrading)
    }
}

/// Directives for acquirers, resolved exceptions, nodes, and the stored form that they agree on.
#[async_trait]
pub trait OperatorStore: Send + Sync + 'static {
    /// Stores a directive for one acquirer and method, replacing the one before.
    async fn put_route_control(&self, control: &RouteControl) -> Result<(), StoreError>;

    /// Returns all directives.
    async fn route_controls(&self) -> Result<Vec<RouteControl>, StoreError>;

    /// Returns the exception with this id, open or resolved.
    async fn exception(&self, id: &str) -> Result<Option<Exception>, StoreError>;

    /// Resolves an exception; `false` if there is no open one with this id. A resolved one keeps its resolution, even
    /// if it is reported again.
    async fn resolve_exception(&self, id: &str, resolution: &Resolution) -> Result<bool, StoreError>;

    /// Returns resolved exceptions, most recently resolved first, at most `limit`.
    async fn resolved_exceptions(&self, limit: usize) -> Result<Vec<Exception>, StoreError>;

    /// Stores that a node is alive; a node that was not seen for thirty days may be deleted.
    async fn put_node(&self, node: &Node) -> Result<(), StoreError>;

    /// Deletes a node; `false` if there is none with this id.
    async fn remove_node(&self, id: Uuid) -> Result<bool, StoreError>;

    /// Returns nodes that were seen at this time or later, the oldest start first.
    async fn nodes(&self, seen_since: Timestamp) -> Result<Vec<Node>, StoreError>;

    /// Returns the time by the clock of the store's server; `None` if the store is part of this process.
    async fn server_now(&self) -> Result<Option<Timestamp>, StoreError>;

    /// Reads the form of the store, and writes in it from now on, if this program knows it.
    async fn follow_form(&self) -> Result<StoreForm, StoreError>;

    /// Returns the form as last read, or as encountered in a write.
    fn form(&self) -> StoreForm;
}

/// Progress of an upgrade.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Upgraded {
    /// Number of payments that were read.
    pub read: u64,
    /// Number of payments among them that were written in the new form.
    pub rewritten: u64,
    /// Ids of payments among them that are damaged, and stay as they are.
    pub unreadable: Vec<String>,
    /// True if nothing is left in the previous form.
    pub is_done: bool,
}

/// A store that can be brought into the newest form that this program knows, while others work on it.
///
/// Order of the calls: `announce_form`, `refuse_older_forms`, then `upgrade_some` until it is done. Each may be
/// repeated, and an interrupted upgrade starts again with the first one.
#[async_trait]
pub trait UpgradeStore: Send + Sync + 'static {
    /// Returns the approximate number of payments that an upgrade still has to read, quickly.
    async fn left_to_upgrade(&self) -> Result<u64, StoreError>;

    /// Stores the number of the new form, so that programs that know it write in that form, and older ones do not
    /// start.
    async fn announce_form(&self) -> Result<(), StoreError>;

    /// Makes the store itself refuse every write of a program that does not know the new form.
    async fn refuse_older_forms(&self) -> Result<(), StoreError>;

    /// Rewrites the next payments, at most `limit`.
    async fn upgrade_some(&self, limit: usize) -> Result<Upgraded, StoreError>;
}
