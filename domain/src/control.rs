//! Operators' control: directives on the use of acquirers, and the nodes that operators see.

use serde::{Deserialize, Serialize};
use uuid::Uuid;

use crate::identity::AcquirerName;
use crate::method::Method;
use crate::routing::Version as RoutingVersion;
use crate::time::Timestamp;

/// Directive on the use of an acquirer for a method.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum RouteDirective {
    /// It is used normally.
    #[default]
    Open,
    /// It gets no new payments; payments that it has continue.
    Paused,
    /// It is sent nothing at all: calls under way finish, and everything else waits.
    Drained,
}

impl RouteDirective {
    /// Every directive.
    pub const ALL: [Self; 3] = [Self::Open, Self::Paused, Self::Drained];

    /// Returns the spelling of the store and the forms.
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

/// An operator's directive for one acquirer and one method. It is valid on every node, and survives restarts.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct RouteControl {
    /// The acquirer.
    pub acquirer: AcquirerName,
    /// The method.
    pub method: Method,
    /// The directive.
    pub directive: RouteDirective,
    /// Time of the directive.
    pub at: Timestamp,
}

/// A process that serves payments on this store.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Node {
    /// Id, fresh at every start.
    pub id: Uuid,
    /// Address at which merchants are served, as configured on the node itself.
    pub address: String,
    /// The version of the program.
    pub version: String,
    /// Version of the table of routes that it uses. Absent on a node whose version predates such tables.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub routing: Option<RoutingVersion>,
    /// Version of the addresses and accounts that its acquirers have. Absent on a node of an earlier version.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub accounts: Option<RoutingVersion>,
    /// Reason for the failure of its comparison of acquirers' lists, in words, until one succeeds again.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub comparison_failure: Option<String>,
    /// Number of the newest stored form that it knows.
    #[serde(default = "first_form")]
    pub knows_form: i64,
    /// Number of the stored form that it writes.
    #[serde(default = "first_form")]
    pub writes_form: i64,
    /// Time of the start.
    pub started_at: Timestamp,
    /// Time at which it was last seen alive, by its own clock.
    pub seen_at: Timestamp,
}

/// Stored form of nodes that predate upgrades of forms.
const fn first_form() -> i64 {
    1
}
