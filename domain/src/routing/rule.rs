//! A rule: when it holds, who gets the payment.

use serde::Serialize;

use super::{Criteria, Wanted};
use crate::identity::AcquirerName;

/// One rule. Of several the first that matches a payment decides.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Rule {
    /// Its name, which the payment shows.
    pub name: String,
    /// When it matches.
    pub when: Criteria,
    /// Who is tried first. If nobody is named, the order is as without a rule.
    pub uses: Vec<Use>,
    /// Who else is tried.
    pub then: Then,
    /// Whether one further acquirer is tried after a decline that is reversible.
    pub retry_declines: bool,
}

/// An acquirer that a rule names.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Use {
    /// Which.
    pub acquirer: AcquirerName,
    /// Its share among those of the rule; with 0 it is tried after them.
    pub weight: u32,
}

/// Who is tried after those that a rule names.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Then {
    /// The other acquirers, by priority and weight.
    Next,
    /// Nobody.
    Stop,
}

impl Then {
    /// Both.
    pub const ALL: [Self; 2] = [Self::Next, Self::Stop];

    /// As the configuration spells it.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Next => "next",
            Self::Stop => "stop",
        }
    }

    /// Reads it.
    pub fn parse(text: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|then| then.as_str() == text)
    }
}

impl Rule {
    /// The share that it gives to an acquirer, if it names it.
    pub(super) fn weight_of(&self, acquirer: &AcquirerName) -> Option<u32> {
        self.uses.iter().find(|named| named.acquirer == *acquirer).map(|named| named.weight)
    }

    /// Whether it decides about a payment that these acquirers could be asked to take. A rule that names only acquirers of
    /// the other mode, or of another method, leaves the payment to the next rule.
    pub(super) fn matches<'a>(
        &self,
        wanted: &Wanted<'_>,
        mut acquirers: impl Iterator<Item = &'a AcquirerName>,
    ) -> bool {
        self.when.hold(wanted)
            && (self.uses.is_empty() || acquirers.any(|acquirer| self.weight_of(acquirer).is_some()))
    }
}
