//! The plan: the acquirers that a payment may take, in order, and the reasons against the others.

use super::approvals::Net;
use super::lots::Lots;
use super::{
    Approvals, Considered, CostLine, Preference, RouteInputs, Routed, RoutingTable, Rule, Saw, Standing,
    Then, Version,
};
use crate::document::Document;
use crate::due_terms::{DueTerms, Interest, Portion};
use crate::identity::AcquirerName;
use crate::method::Method;
use crate::money::Money;

/// An acquirer that takes the payment's method in its mode, with its current condition.
#[derive(Debug, Clone)]
pub struct Candidate<'a> {
    /// The acquirer.
    pub acquirer: &'a AcquirerName,
    /// Smallest amount that it takes.
    pub min_amount: Money,
    /// Largest amount that it takes.
    pub max_amount: Money,
    /// Longest time, in seconds, for which it keeps a PIX payable; none if there is no limit.
    pub max_expiry_s: Option<u64>,
    /// Charges with a due date that it takes.
    pub due_dates: DueDates,
    /// Reason why it can never take this order, such as `recipient_unknown`.
    pub objection: Option<&'static str>,
    /// Its condition.
    pub condition: Condition,
    /// Its recent approvals of such payments.
    pub approvals: Approvals,
}

/// Charges with a due date that an acquirer takes. Every boleto has a due date.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct DueDates {
    /// True if it takes a PIX with a due date.
    pub of_pix: bool,
    /// Terms that it takes with a due date.
    pub terms: DueTermsTaken,
}

/// Terms that an acquirer takes with a due date.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum DueTermsTaken {
    /// No fine, interest or discount, and nothing after the due date.
    None,
    /// A fine, and interest by percentage; percentages are whole. No discount.
    WholePercentages,
    /// All.
    All,
}

impl DueDates {
    /// Boletos without further terms.
    pub const PLAIN: Self = Self { of_pix: false, terms: DueTermsTaken::None };
    /// Everything.
    pub const ALL: Self = Self { of_pix: true, terms: DueTermsTaken::All };

    /// Returns the reason against an acquirer that does not take these terms.
    fn objection(self, method: Method, due: &DueTerms) -> Option<&'static str> {
        if method == Method::Pix && !self.of_pix {
            return Some(DUE_DATE_UNSUPPORTED);
        }
        (!self.terms.include(due)).then_some(TERMS_UNSUPPORTED)
    }
}

impl DueTermsTaken {
    fn include(self, due: &DueTerms) -> bool {
        match self {
            Self::None => !due.changes_the_amount() && due.payable_after_due_days == 0,
            Self::WholePercentages => {
                let is_whole = |points: u32| points.is_multiple_of(100);
                let fine = match due.fine {
                    Some(Portion::BasisPoints(points)) => is_whole(points),
                    Some(Portion::Amount(_)) | None => true,
                };
                let interest = match due.interest {
                    Some(Interest::BasisPointsPerMonth(points)) => is_whole(points),
                    Some(Interest::AmountPerDay(_)) => false,
                    None => true,
                };
                fine && interest && due.discounts.is_empty()
            }
            Self::All => true,
        }
    }
}

/// Condition of an acquirer, as far as it matters to a new payment.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Condition {
    /// It is tried in the normal order.
    Healthy,
    /// It failed too often recently: it is tried last.
    Failing,
    /// It asks for fewer calls, for no longer than a merchant waits: it is tried last.
    Throttled,
    /// It asks for fewer calls, for longer than a merchant waits.
    ThrottledForLong,
    /// Too many calls wait for it.
    Busy,
    /// An operator has directed that it gets no new payments.
    Paused,
}

/// Reason why no acquirer can be tried.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum NoRoute {
    /// No acquirer takes this method in this mode, or none takes such terms.
    MethodUnavailable,
    /// None of the payment's possible acquirers takes this amount; a rule that stops allows only those that it names.
    AmountNotAccepted,
    /// None of those that take the amount keeps a PIX payable for this long.
    ExpiryNotAccepted,
    /// Those that could take it are paused, busy or throttled.
    NoneEligible,
}

impl NoRoute {
    /// Every reason.
    pub const ALL: [Self; 4] =
        [Self::MethodUnavailable, Self::AmountNotAccepted, Self::ExpiryNotAccepted, Self::NoneEligible];

    /// Returns the code with which the API refuses such a payment.
    pub const fn code(self) -> &'static str {
        match self {
            Self::MethodUnavailable => "method_unavailable",
            Self::AmountNotAccepted => "amount_not_accepted",
            Self::ExpiryNotAccepted => "expiry_not_accepted",
            Self::NoneEligible => "no_acquirer_available",
        }
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Rank {
    InTurn,
    LastResort,
    Refused,
}

/// Reason against an acquirer: the amount is too small or too large for it.
const OUT_OF_BOUNDS: &str = "amount_out_of_bounds";

/// Reason against an acquirer: it can't keep a PIX payable for the requested time.
const EXPIRY_TOO_LONG: &str = "expiry_too_long";

/// Reason against an acquirer: it has no PIX with a due date.
const DUE_DATE_UNSUPPORTED: &str = "due_date_unsupported";

/// Reason against an acquirer: it does not support the fine, the interest, the discounts or the last day.
const TERMS_UNSUPPORTED: &str = "terms_unsupported";

/// Reason against an acquirer: the payment's rule names others, and stops after them.
const NOT_IN_RULE: &str = "not_in_rule";

/// Reasons that are permanent.
const NEVER: [&str; 4] = [OUT_OF_BOUNDS, EXPIRY_TOO_LONG, DUE_DATE_UNSUPPORTED, TERMS_UNSUPPORTED];

/// Acquirers that were considered for a payment, and the reasons.
#[derive(Debug, Clone)]
pub struct Plan<'a> {
    /// The rule that decided.
    pub rule: Option<&'a Rule>,
    /// Choices: the eligible ones first, in the order in which they are tried.
    pub choices: Vec<Choice<'a>>,
}

/// Decision about one acquirer.
#[derive(Debug, Clone, Copy)]
pub struct Choice<'a> {
    /// The acquirer with its condition.
    pub candidate: &'a Candidate<'a>,
    /// True if it may take the payment.
    pub eligible: bool,
    /// Reason for that: see [`Considered::reason`].
    pub reason: &'static str,
    /// Its configured priority. Acquirers that a rule names come before all others.
    pub priority: u32,
    /// Its share: within the rule if the rule names it, otherwise among acquirers of equal priority.
    pub weight: u32,
}

impl Plan<'_> {
    /// Checks that an acquirer is eligible.
    ///
    /// # Errors
    /// The reason why none is eligible.
    pub fn is_possible(&self) -> Result<(), NoRoute> {
        // Ineligible ones are sorted to the end, so the first choice is representative.
        if self.choices.first().is_some_and(|choice| choice.eligible) {
            return Ok(());
        }
        // A rule matches only if one of its acquirers is a candidate, so that at least one choice is left here.
        let choices = || self.choices.iter().filter(|choice| choice.reason != NOT_IN_RULE);
        let reasons = || choices().map(|choice| choice.reason);
        let never_passes =
            |choice: &Choice<'_>| NEVER.contains(&choice.reason) || choice.candidate.objection.is_some();
        Err(if self.choices.is_empty() {
            NoRoute::MethodUnavailable
        } else if reasons().all(|reason| reason == OUT_OF_BOUNDS) {
            NoRoute::AmountNotAccepted
        } else if reasons().all(|reason| [OUT_OF_BOUNDS, EXPIRY_TOO_LONG].contains(&reason)) {
            NoRoute::ExpiryNotAccepted
        } else if choices().all(never_passes) {
            NoRoute::MethodUnavailable
        } else {
            NoRoute::NoneEligible
        })
    }

    /// Returns the acquirers as stored with the payment.
    pub fn considered(&self) -> Vec<Considered> {
        let keep = |choice: &Choice<'_>| Considered {
            acquirer: choice.candidate.acquirer.clone(),
            eligible: choice.eligible,
            reason: choice.reason.into(),
        };
        self.choices.iter().map(keep).collect()
    }

    /// Returns the record of the decision by this version of the table, as stored with the payment.
    pub fn routed(&self, version: Version) -> Routed {
        let seen = self.choices.iter().map(|choice| (choice.candidate.condition, choice.candidate.approvals));
        Routed {
            rule: self.rule.map(|rule| rule.name.clone()),
            version: Some(version),
            retries_declines: self.rule.is_some_and(|rule| rule.retry_declines),
            saw: Saw::of(seen),
        }
    }
}

/// Makes the plan of a payment.
///
/// The first rule that matches names the acquirers that are tried first. The others follow, lowest priority first,
/// unless the rule stops there. Among equal ones, each comes first in proportion to its weight, drawn by the dice, or
/// by the payer if the table is sticky. If the table prefers net amounts and no rule names them, the highest expected
/// net amount comes first. Failing and throttled ones come last.
///
/// The order of the candidates does not matter.
pub fn plan<'a>(
    inputs: &RouteInputs<'_>,
    candidates: &'a [Candidate<'a>],
    table: &'a RoutingTable,
    dice: u64,
) -> Plan<'a> {
    let rule =
        table.rules.iter().find(|rule| rule.matches(inputs, candidates.iter().map(|one| one.acquirer)));
    let mut placed: Vec<_> =
        candidates.iter().map(|candidate| Placed::of(candidate, rule, table, inputs)).collect();
    // Draws must not depend on the order of tables in the file, so candidates are sorted by name (decision 26).
    placed.sort_unstable_by_key(|one| (one.class, one.candidate.acquirer));
    let mut lots = Lots::new(if table.sticky { lot_of(inputs.payer) } else { dice });
    let mut ordered = Vec::with_capacity(placed.len());
    for equal in placed.chunk_by(|one, other| one.class == other.class) {
        ordered.extend(order(equal.to_vec(), table, inputs, &mut lots));
    }
    // Done last, so that a failing or paused acquirer does not change the order of the others.
    ordered.sort_by_key(|one| one.rank);
    Plan { rule, choices: ordered.into_iter().map(Placed::choice).collect() }
}

/// Orders acquirers of one class.
fn order<'a>(
    equal: Vec<Placed<'a>>,
    table: &RoutingTable,
    inputs: &RouteInputs<'_>,
    lots: &mut Lots,
) -> Vec<Placed<'a>> {
    let is_by_rule = equal.first().is_some_and(|one| one.class == Class::Named);
    match table.prefer {
        // The shares of a rule are exact, whatever its acquirers cost: a rule of 70 and 30 yields 70 and 30 (decision
        // 26).
        Preference::Net if !is_by_rule => by_net(&equal, table, inputs, lots),
        Preference::Net | Preference::Priority => lots.order(equal, Placed::weight),
    }
}

/// Orders by the highest expected net amount; equal ones are drawn.
fn by_net<'a>(
    equal: &[Placed<'a>],
    table: &RoutingTable,
    inputs: &RouteInputs<'_>,
    lots: &mut Lots,
) -> Vec<Placed<'a>> {
    let net = |one: &Placed<'_>| {
        let cost = CostLine::cost(&table.costs, one.candidate.acquirer, inputs);
        Net::of(one.candidate.approvals, inputs.amount, cost)
    };
    let mut by_net: Vec<_> = equal.iter().map(|one| (net(one), *one)).collect();
    by_net.sort_by(|(one, _), (other, _)| other.compare(*one));
    let groups = by_net.chunk_by(|(one, _), (other, _)| one.compare(*other).is_eq());
    groups.flat_map(|group| lots.order(group.iter().map(|(_, one)| *one).collect(), Placed::weight)).collect()
}

/// Class of an acquirer in the order, before anything is drawn.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Class {
    /// The rule names it.
    Named,
    /// The rule does not name it, and this is its priority.
    Of(u32),
}

/// A candidate with its rank.
#[derive(Debug, Clone, Copy)]
struct Placed<'a> {
    candidate: &'a Candidate<'a>,
    standing: Standing,
    class: Class,
    rank: Rank,
    reason: &'static str,
}

impl<'a> Placed<'a> {
    fn of(
        candidate: &'a Candidate<'a>,
        rule: Option<&Rule>,
        table: &RoutingTable,
        inputs: &RouteInputs<'_>,
    ) -> Self {
        let mut standing = table.standing(candidate.acquirer);
        let named = rule.and_then(|rule| rule.weight_of(candidate.acquirer));
        let class = match named {
            Some(weight) => {
                standing.weight = weight;
                Class::Named
            }
            None => Class::Of(standing.priority),
        };
        let is_left_out =
            named.is_none() && rule.is_some_and(|rule| rule.then == Then::Stop && !rule.uses.is_empty());
        let (rank, reason) = if is_left_out { (Rank::Refused, NOT_IN_RULE) } else { candidate.judge(inputs) };
        Self { candidate, standing, class, rank, reason }
    }

    const fn weight(&self) -> u32 {
        self.standing.weight
    }

    fn choice(self) -> Choice<'a> {
        Choice {
            candidate: self.candidate,
            eligible: self.rank != Rank::Refused,
            reason: self.reason,
            priority: self.standing.priority,
            weight: self.standing.weight,
        }
    }
}

impl Candidate<'_> {
    /// Returns the reason why it can never take this payment, whatever its condition.
    pub fn lasting_objection(&self, inputs: &RouteInputs<'_>) -> Option<&'static str> {
        if inputs.amount < self.min_amount || inputs.amount > self.max_amount {
            return Some(OUT_OF_BOUNDS);
        }
        let is_too_long = |longest| inputs.expires_in_s.is_some_and(|seconds| seconds > longest);
        if self.max_expiry_s.is_some_and(is_too_long) {
            return Some(EXPIRY_TOO_LONG);
        }
        let of_terms = inputs.due.and_then(|due| self.due_dates.objection(inputs.method, due));
        of_terms.or(self.objection)
    }

    /// Returns the rank of an acquirer, with the reason.
    fn judge(&self, inputs: &RouteInputs<'_>) -> (Rank, &'static str) {
        if let Some(reason) = self.lasting_objection(inputs) {
            return (Rank::Refused, reason);
        }
        match self.condition {
            Condition::Healthy => (Rank::InTurn, "eligible"),
            Condition::Failing => (Rank::LastResort, "failing_lately"),
            Condition::Throttled => (Rank::LastResort, "throttled"),
            Condition::ThrottledForLong => (Rank::Refused, "throttled"),
            Condition::Busy => (Rank::Refused, "busy"),
            Condition::Paused => (Rank::Refused, "paused"),
        }
    }
}

/// Returns a number that is always the same for one payer (FNV-1a, 64 bits: Fowler, Noll, Vo).
fn lot_of(payer: &Document) -> u64 {
    // A hash with a fixed definition, because a replay in another process or release must draw the same lot.
    payer.as_str().bytes().fold(0xcbf2_9ce4_8422_2325, |hash, byte| {
        (hash ^ u64::from(byte)).wrapping_mul(0x0000_0100_0000_01b3)
    })
}

#[cfg(test)]
mod tests;
