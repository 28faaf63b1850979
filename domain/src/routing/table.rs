//! Everything that the configuration says of routes.

use std::collections::BTreeMap;
use std::fmt;

use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};

use super::{CostLine, Rule};
use crate::identity::AcquirerName;
use crate::text::hex;

/// Rules, costs and preferences: all that decides about a route besides the payment, the acquirers' health and chance.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize)]
pub struct RoutingTable {
    /// In their order.
    pub rules: Vec<Rule>,
    /// In their order.
    pub costs: Vec<CostLine>,
    /// What decides among acquirers of equal priority that no rule names.
    pub prefer: Preference,
    /// Whether the same payer meets the same acquirer, where weights decide.
    pub sticky: bool,
    /// The place of every acquirer among the others.
    pub standings: BTreeMap<AcquirerName, Standing>,
}

impl RoutingTable {
    /// Which one it is: the same for the same rules, costs and standings, however they were written.
    pub fn version(&self) -> Version {
        let written = serde_json::to_vec(self).unwrap_or_default();
        let hash = Sha256::digest(&written);
        Version(hex(hash.get(..6).unwrap_or_default()))
    }

    /// The place of an acquirer.
    pub fn standing(&self, acquirer: &AcquirerName) -> Standing {
        self.standings.get(acquirer).copied().unwrap_or_default()
    }

    /// Whether a rule sends declined cards to a further acquirer, so that tries of a card are counted.
    pub fn retries_declines(&self) -> bool {
        self.rules.iter().any(|rule| rule.retry_declines)
    }
}

/// Which configuration of routes decided: twelve hexadecimal digits.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Version(String);

impl Version {
    /// The digits.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl fmt::Display for Version {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

/// An acquirer's place among the others. May change while the service runs.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
pub struct Standing {
    /// Lower is tried first.
    pub priority: u32,
    /// Share among those of equal priority, from 1.
    pub weight: u32,
}

impl Default for Standing {
    fn default() -> Self {
        Self { priority: 1, weight: 1 }
    }
}

/// What decides among acquirers of equal priority.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Preference {
    /// Their weights.
    #[default]
    Priority,
    /// What they are expected to bring: approval × (amount − cost).
    Net,
}

impl Preference {
    /// Both.
    pub const ALL: [Self; 2] = [Self::Priority, Self::Net];

    /// As the configuration spells it.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Priority => "priority",
            Self::Net => "net",
        }
    }

    /// Reads it.
    pub fn parse(text: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|preference| preference.as_str() == text)
    }
}
