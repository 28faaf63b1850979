//! The table of routes: all configuration of routing.

use std::collections::BTreeMap;
use std::fmt;

use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};

use super::{CostLine, Rule};
use crate::identity::AcquirerName;
use crate::text::hex;

/// Rules, costs and preferences: all inputs of a route besides the payment, the acquirers' health and chance.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize)]
pub struct RoutingTable {
    /// Rules, in their order.
    pub rules: Vec<Rule>,
    /// Costs, in their order.
    pub costs: Vec<CostLine>,
    /// Preference among acquirers of equal priority that no rule names.
    pub prefer: Preference,
    /// True if weights always choose the same acquirer for the same payer.
    pub sticky: bool,
    /// Priority and weight of every acquirer.
    pub standings: BTreeMap<AcquirerName, Standing>,
}

impl RoutingTable {
    /// Returns the version: the same for the same rules, costs and standings, however they were written.
    pub fn version(&self) -> Version {
        let written = serde_json::to_vec(self).unwrap_or_default();
        Version::of(&written)
    }

    /// Returns priority and weight of an acquirer.
    pub fn standing(&self, acquirer: &AcquirerName) -> Standing {
        self.standings.get(acquirer).copied().unwrap_or_default()
    }

    /// Returns true if a rule sends declined cards to a further acquirer, so that tries of a card are counted.
    pub fn retries_declines(&self) -> bool {
        self.rules.iter().any(|rule| rule.retry_declines)
    }
}

/// Version of a table of routes, or of acquirers' accounts: twelve hexadecimal digits.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Version(String);

impl Version {
    /// Returns the version of the accounts through which acquirers are reached, independent of their order.
    pub fn of_accounts(accounts: &BTreeMap<AcquirerName, String>) -> Self {
        let written = serde_json::to_vec(accounts).unwrap_or_default();
        Self::of(&written)
    }

    fn of(written: &[u8]) -> Self {
        let hash = Sha256::digest(written);
        Self(hex(hash.get(..6).unwrap_or_default()))
    }

    /// Returns the digits.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl fmt::Display for Version {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

/// Priority and weight of an acquirer. May change while the service runs.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
pub struct Standing {
    /// Lower is tried first.
    pub priority: u32,
    /// Share among acquirers of equal priority, from 1.
    pub weight: u32,
}

impl Default for Standing {
    fn default() -> Self {
        Self { priority: 1, weight: 1 }
    }
}

/// Preference among acquirers of equal priority.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Preference {
    /// Their weights.
    #[default]
    Priority,
    /// Their expected net amounts: approval × (amount − cost).
    Net,
}

impl Preference {
    /// Both.
    pub const ALL: [Self; 2] = [Self::Priority, Self::Net];

    /// Returns the spelling of the configuration.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Priority => "priority",
            Self::Net => "net",
        }
    }

    /// Reads the spelling of the configuration.
    pub fn parse(text: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|preference| preference.as_str() == text)
    }
}
