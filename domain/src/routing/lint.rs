//! Checks of a table of routes for mistakes, and for rules without effect.

use std::fmt;

#[cfg(test)]
use super::Criteria;
use super::{CostLine, RoutingTable, Rule};
use crate::identity::{AcquirerName, Mode};
use crate::method::Method;

/// An acquirer of the configuration, reduced to what rules depend on.
#[derive(Debug, Clone)]
pub struct Capability {
    /// The acquirer.
    pub acquirer: AcquirerName,
    /// Its mode: test or live.
    pub mode: Mode,
    /// Methods that it takes.
    pub methods: Vec<Method>,
}

/// A finding for a person to look at.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RoutingFinding {
    /// Its subject: `route "elo over 100"`, `cost 2`.
    pub place: String,
    /// Its kind.
    pub kind: FindingKind,
}

impl RoutingFinding {
    /// Returns the gravity: the service refuses to start with a wrong one.
    pub const fn gravity(&self) -> Gravity {
        match self.kind {
            FindingKind::UnknownAcquirer(_)
            | FindingKind::NoShares
            | FindingKind::Contradiction(_)
            | FindingKind::SameName
            | FindingKind::NamedTwice(_) => Gravity::Wrong,
            FindingKind::Covered(_) | FindingKind::NobodyTakes(_) | FindingKind::NotTakenBy { .. } => {
                Gravity::Doubtful
            }
        }
    }
}

impl fmt::Display for RoutingFinding {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}", self.place, self.kind)
    }
}

/// Gravity of a finding.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Gravity {
    /// It works, but probably not as intended.
    Doubtful,
    /// It is refused.
    Wrong,
}

/// Kind of finding.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum FindingKind {
    /// It names an acquirer that is not configured.
    UnknownAcquirer(AcquirerName),
    /// It names acquirers, but none of them has a share.
    NoShares,
    /// Its conditions can never hold together.
    Contradiction(String),
    /// Another rule has its name.
    SameName,
    /// It names an acquirer twice.
    NamedTwice(AcquirerName),
    /// The earlier rule with this name decides about all of its payments.
    Covered(String),
    /// It is limited to these methods, and none of its acquirers takes any of them.
    NobodyTakes(Vec<Method>),
    /// An acquirer that it names takes none of its methods.
    NotTakenBy {
        /// The acquirer.
        acquirer: AcquirerName,
        /// The methods.
        methods: Vec<Method>,
    },
}

impl fmt::Display for FindingKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::UnknownAcquirer(name) => {
                write!(f, "there is no acquirer {name}; write the name of an [[acquirer]]")
            }
            Self::NoShares => {
                f.write_str("its shares add to nothing; give at least one acquirer a weight from 1")
            }
            Self::Contradiction(why) => write!(f, "it can never match: {why}"),
            Self::SameName => f.write_str(
                "another route has this name; the payments would not tell which of the two it was",
            ),
            Self::NamedTwice(name) => write!(f, "it names {name} twice; add up the weights"),
            Self::Covered(by) => {
                write!(f, "it can never match: {by} matches everything that it would; put it before")
            }
            Self::NobodyTakes(methods) => {
                write!(f, "no acquirer that it may send payments to takes {}", labels(methods))
            }
            Self::NotTakenBy { acquirer, methods } => {
                write!(f, "{acquirer} does not take {}", labels(methods))
            }
        }
    }
}

fn labels(methods: &[Method]) -> String {
    methods.iter().map(|method| method.label()).collect::<Vec<_>>().join(" or ")
}

/// Returns all findings, in the order of the table.
pub fn lint(table: &RoutingTable, acquirers: &[Capability]) -> Vec<RoutingFinding> {
    let mut findings = Vec::new();
    for (place, rule) in table.rules.iter().enumerate() {
        let before = table.rules.get(..place).unwrap_or_default();
        let about = format!("route {:?}", rule.name);
        let found = of_rule(rule, before, acquirers).into_iter();
        findings.extend(found.map(|kind| RoutingFinding { place: about.clone(), kind }));
    }
    for (place, line) in table.costs.iter().enumerate() {
        let before = table.costs.get(..place).unwrap_or_default();
        let about = format!("cost {}", place.saturating_add(1));
        let found = of_cost(line, before, acquirers).into_iter();
        findings.extend(found.map(|kind| RoutingFinding { place: about.clone(), kind }));
    }
    findings
}

fn of_rule(rule: &Rule, before: &[Rule], acquirers: &[Capability]) -> Vec<FindingKind> {
    let mut found = Vec::new();
    if before.iter().any(|other| other.name == rule.name) {
        found.push(FindingKind::SameName);
    }
    for (place, named) in rule.uses.iter().enumerate() {
        if !acquirers.iter().any(|known| known.acquirer == named.acquirer) {
            found.push(FindingKind::UnknownAcquirer(named.acquirer.clone()));
        }
        let mut earlier = rule.uses.iter().take(place);
        if earlier.any(|other| other.acquirer == named.acquirer) {
            found.push(FindingKind::NamedTwice(named.acquirer.clone()));
        }
    }
    if !rule.uses.is_empty() && rule.uses.iter().all(|named| named.weight == 0) {
        found.push(FindingKind::NoShares);
    }
    if let Some(why) = rule.when.contradiction() {
        found.push(FindingKind::Contradiction(why));
    } else if let Some(other) = before.iter().find(|other| is_decided_by(rule, other, acquirers)) {
        found.push(FindingKind::Covered(format!("route {:?}", other.name)));
    } else {
        found.extend(untaken(rule, acquirers));
    }
    found
}

/// Returns true if the other, earlier rule decides about all payments of this one. Whenever this rule has an acquirer
/// for a payment, the other has one too.
fn is_decided_by(rule: &Rule, other: &Rule, acquirers: &[Capability]) -> bool {
    let decides = |rule: &Rule, mode: Mode, method: Method| {
        let mut candidates =
            acquirers.iter().filter(|known| known.mode == mode && known.methods.contains(&method));
        rule.uses.is_empty() || candidates.any(|known| rule.weight_of(&known.acquirer).is_some())
    };
    let everywhere = rule.when.methods().into_iter().all(|method| {
        [Mode::Test, Mode::Live]
            .into_iter()
            .all(|mode| decides(other, mode, method) || !decides(rule, mode, method))
    });
    everywhere && other.when.cover(&rule.when)
}

/// Returns the acquirers of a rule that can't take its methods.
fn untaken(rule: &Rule, acquirers: &[Capability]) -> Vec<FindingKind> {
    let methods = rule.when.methods();
    let takes = |known: &&Capability| methods.iter().any(|method| known.methods.contains(method));
    let may_take = |known: &&Capability| {
        rule.uses.is_empty() || rule.then == super::Then::Next || rule.weight_of(&known.acquirer).is_some()
    };
    if !acquirers.iter().filter(may_take).any(|known| takes(&known)) {
        return vec![FindingKind::NobodyTakes(methods)];
    }
    let named = acquirers.iter().filter(|known| rule.weight_of(&known.acquirer).is_some());
    let idle = named.filter(|known| !takes(known));
    idle.map(|known| FindingKind::NotTakenBy { acquirer: known.acquirer.clone(), methods: methods.clone() })
        .collect()
}

fn of_cost(line: &CostLine, before: &[CostLine], acquirers: &[Capability]) -> Vec<FindingKind> {
    let Some(known) = acquirers.iter().find(|known| known.acquirer == line.acquirer) else {
        return vec![FindingKind::UnknownAcquirer(line.acquirer.clone())];
    };
    if let Some(why) = line.when.contradiction() {
        return vec![FindingKind::Contradiction(why)];
    }
    let covers = |other: &CostLine| other.acquirer == line.acquirer && other.when.cover(&line.when);
    if let Some(place) = before.iter().position(covers) {
        return vec![FindingKind::Covered(format!("cost {}", place.saturating_add(1)))];
    }
    let methods = line.when.methods();
    if methods.iter().any(|method| known.methods.contains(method)) {
        return Vec::new();
    }
    vec![FindingKind::NotTakenBy { acquirer: line.acquirer.clone(), methods }]
}

#[cfg(test)]
mod tests;
