//! Operators' decisions, and their view of the nodes.

use async_trait::async_trait;
use quita_domain::control::{Node, RouteControl};
use quita_domain::exception::{Exception, Resolution};
use quita_domain::time::Timestamp;
use uuid::Uuid;

use crate::store::StoreError;

/// Form in which a store keeps what it holds: schema, indexes and documents, by a number that rises.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct StoreForm {
    /// Number of the form that the store has. This program writes it, unless it does not know it.
    pub number: i64,
    /// Number of the newest form that this program reads and writes.
    pub known: i64,
    /// True while an upgrade rewrites what is stored in the form before.
    pub is_upgrading: bool,
}

impl StoreForm {
    /// The first form, in a store that has no other.
    pub const FIRST: Self = Self { number: 1, known: 1, is_upgrading: false };

    /// Returns true if the store was upgraded beyond what this program knows: nothing may be written any more.
    pub const fn is_too_new(self) -> bool {
        self.number > self.known
    }

    /// Returns true if the store can be upgraded by this program, or its upgrade was begun and is not done.
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
    /// when it is reported again.
    async fn resolve_exception(&self, id: &str, resolution: &Resolution) -> Result<bool, StoreError>;

    /// Returns resolved exceptions, the last resolved first, at most `limit`.
    async fn resolved_exceptions(&self, limit: usize) -> Result<Vec<Exception>, StoreError>;

    /// Stores that a node is alive; a node that was not seen for thirty days may be deleted.
    async fn put_node(&self, node: &Node) -> Result<(), StoreError>;

    /// Deletes a node; `false` if there is none with this id.
    async fn remove_node(&self, id: Uuid) -> Result<bool, StoreError>;

    /// Returns nodes that were seen at this time or later, the oldest start first.
    async fn nodes(&self, seen_since: Timestamp) -> Result<Vec<Node>, StoreError>;

    /// Returns the time by the clock of the store's server; `None` if the store is a part of this process.
    async fn server_now(&self) -> Result<Option<Timestamp>, StoreError>;

    /// Reads the form of the store, and writes in it from now on, if this program knows it.
    async fn follow_form(&self) -> Result<StoreForm, StoreError>;

    /// Returns the form as it was last read, or met in a write.
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
    /// True if nothing else is left in the form before.
    pub is_done: bool,
}

/// A store that can be brought into the newest form that this program knows, while others work on it.
///
/// Order of the calls: `announce_form`, `refuse_older_forms`, then `upgrade_some` until it is done. Each may be
/// repeated, and an upgrade that was interrupted begins again with the first one.
#[async_trait]
pub trait UpgradeStore: Send + Sync + 'static {
    /// Returns about how many payments an upgrade has still to read, quickly.
    async fn left_to_upgrade(&self) -> Result<u64, StoreError>;

    /// Gives the store the new number, so that programs that know it write in that form, and older ones do not start.
    async fn announce_form(&self) -> Result<(), StoreError>;

    /// Has the store itself refuse every write of a program that does not know the new form.
    async fn refuse_older_forms(&self) -> Result<(), StoreError>;

    /// Rewrites the next payments, at most so many.
    async fn upgrade_some(&self, limit: usize) -> Result<Upgraded, StoreError>;
}
