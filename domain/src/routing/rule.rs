//! Rules: conditions, and the acquirers that get the payment.

use serde::Serialize;

use super::{Criteria, RouteInputs};
use crate::identity::AcquirerName;

/// One rule. The first of several that matches a payment decides.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Rule {
    /// Its name, which is shown with the payment.
    pub name: String,
    /// Its conditions.
    pub when: Criteria,
    /// Acquirers that are tried first. If none is named, the order is the same as without a rule.
    pub uses: Vec<Use>,
    /// Acquirers that are tried after them.
    pub then: Then,
    /// True if one further acquirer is tried after a reversible decline.
    pub retry_declines: bool,
}

/// An acquirer that a rule names.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Use {
    /// The acquirer.
    pub acquirer: AcquirerName,
    /// Its share among those of the rule. With 0 it is tried after the others.
    pub weight: u32,
}

/// Acquirers that are tried after those that a rule names.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Then {
    /// The other acquirers, by priority and weight.
    Next,
    /// None.
    Stop,
}

impl Then {
    /// Both.
    pub const ALL: [Self; 2] = [Self::Next, Self::Stop];

    /// Returns the spelling of the configuration.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Next => "next",
            Self::Stop => "stop",
        }
    }

    /// Reads the spelling of the configuration.
    pub fn parse(text: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|then| then.as_str() == text)
    }
}

impl Rule {
    /// Returns the share of an acquirer, if the rule names it.
    pub(super) fn weight_of(&self, acquirer: &AcquirerName) -> Option<u32> {
        self.uses.iter().find(|named| named.acquirer == *acquirer).map(|named| named.weight)
    }

    /// Returns true if it decides about a payment that these acquirers may take. A rule that names only acquirers of
    /// the other mode, or of another method, leaves the payment to the next rule.
    pub(super) fn matches<'a>(
        &self,
        inputs: &RouteInputs<'_>,
        mut acquirers: impl Iterator<Item = &'a AcquirerName>,
    ) -> bool {
        self.when.hold(inputs)
            && (self.uses.is_empty() || acquirers.any(|acquirer| self.weight_of(acquirer).is_some()))
    }
}
