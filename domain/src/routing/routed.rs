//! Record of a payment's routing.

use serde::{Deserialize, Serialize};

use super::{Approvals, Condition, Version};

/// Rule and inputs of the decision. With the payment's dice the same plan can be reproduced.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Routed {
    /// Name of the rule that decided, if one did.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub rule: Option<String>,
    /// Version of the table; absent for payments that predate versions.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub version: Option<Version>,
    /// True if one further acquirer is tried after a reversible decline.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub retries_declines: bool,
    /// Conditions of the acquirers.
    #[serde(default, skip_serializing_if = "Saw::is_empty")]
    pub saw: Saw,
}

/// Condition of each considered acquirer, in their order. Only five characters each, since they are stored with every
/// payment: a letter for the condition, then approvals and tries in hexadecimal digits.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Saw(String);

/// Number of characters for one acquirer.
const LENGTH: usize = 5;

impl Saw {
    /// Encodes conditions and approvals.
    pub fn of(seen: impl Iterator<Item = (Condition, Approvals)>) -> Self {
        let mut text = String::new();
        for (condition, approvals) in seen {
            text.push(letter(condition));
            text.push_str(&crate::text::hex(&[approvals.approved, approvals.tries]));
        }
        Self(text)
    }

    /// Returns true if it is empty.
    pub const fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Returns the condition of the acquirer at this index among the considered ones.
    pub fn at(&self, place: usize) -> Option<(Condition, Approvals)> {
        let from = place.checked_mul(LENGTH)?;
        let text = self.0.get(from..from.checked_add(LENGTH)?)?;
        let number = |from, to| u8::from_str_radix(text.get(from..to)?, 16).ok();
        let condition = condition(text.chars().next()?)?;
        Some((condition, Approvals { approved: number(1, 3)?, tries: number(3, 5)? }))
    }
}

const fn letter(condition: Condition) -> char {
    match condition {
        Condition::Healthy => 'h',
        Condition::Failing => 'f',
        Condition::Throttled => 't',
        Condition::ThrottledForLong => 'l',
        Condition::Busy => 'b',
        Condition::Paused => 'p',
    }
}

const fn condition(letter: char) -> Option<Condition> {
    match letter {
        'h' => Some(Condition::Healthy),
        'f' => Some(Condition::Failing),
        't' => Some(Condition::Throttled),
        'l' => Some(Condition::ThrottledForLong),
        'b' => Some(Condition::Busy),
        'p' => Some(Condition::Paused),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_was_seen_is_read_back_and_what_was_not_is_unknown() {
        let conditions = [
            Condition::Healthy,
            Condition::Failing,
            Condition::Throttled,
            Condition::ThrottledForLong,
            Condition::Busy,
            Condition::Paused,
        ];
        let seen = |place: usize| {
            let approved = u8::try_from(place * 40).unwrap();
            (conditions[place], Approvals { approved, tries: 200 })
        };
        let saw = Saw::of((0..conditions.len()).map(seen));
        assert!((0..conditions.len()).all(|place| saw.at(place) == Some(seen(place))));
        assert_eq!(saw.at(conditions.len()), None);
        for text in ["x0000", "h00", "hé000", ""] {
            assert_eq!(Saw(text.into()).at(0), None, "{text}");
        }
    }
}
