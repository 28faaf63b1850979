//! What operators direct: whether an acquirer is used; and the nodes that they see.

use serde::{Deserialize, Serialize};
use uuid::Uuid;

use crate::identity::AcquirerName;
use crate::method::Method;
use crate::routing::Version as RoutingVersion;
use crate::time::Timestamp;

/// Whether an acquirer is used for a method.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum RouteDirective {
    /// It is used in its turn.
    #[default]
    Open,
    /// It is given no new payment; what has to be done for those that it has goes on.
    Paused,
    /// It is sent nothing at all: what is under way ends, and everything else waits.
    Drained,
}

impl RouteDirective {
    /// Every directive.
    pub const ALL: [Self; 3] = [Self::Open, Self::Paused, Self::Drained];

    /// As the store and the forms spell it.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Open => "open",
            Self::Paused => "paused",
            Self::Drained => "drained",
        }
    }

    /// Reads that spelling.
    pub fn parse(text: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|directive| directive.as_str() == text)
    }
}

/// An operator's directive for one acquirer and one method. It holds on every node, and over restarts.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct RouteControl {
    /// The acquirer.
    pub acquirer: AcquirerName,
    /// The method.
    pub method: Method,
    /// What was directed.
    pub directive: RouteDirective,
    /// When.
    pub at: Timestamp,
}

/// A process that serves payments on this store.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Node {
    /// Fresh at every start.
    pub id: Uuid,
    /// Where merchants are served, as the node itself knows it.
    pub address: String,
    /// The version of the program.
    pub version: String,
    /// Which table of routes decides there; a node that does not tell is older than tables are.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub routing: Option<RoutingVersion>,
    /// When it started.
    pub started_at: Timestamp,
    /// When it was last seen alive, by its own clock.
    pub seen_at: Timestamp,
}
