//! The plan: which acquirers a payment may take and in which order, and why not the others.
//!
//! A pure function of order, candidates and dice: service, dry run, replay and simulator make the same one.

use super::Considered;
use crate::identity::AcquirerName;
use crate::money::Money;
use crate::order::{Order, Terms};

/// What a payment wants of an acquirer, as far as its route depends on it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Wanted {
    /// What is to be paid.
    pub amount: Money,
    /// For how long a PIX is to be payable, in seconds.
    pub expires_in_s: Option<u64>,
}

impl Wanted {
    /// What this order wants.
    pub const fn of(order: &Order) -> Self {
        let expires_in_s = match order.terms {
            Terms::Pix { expires_in_s } => Some(expires_in_s),
            Terms::Boleto { .. } | Terms::CreditCard { .. } => None,
        };
        Self { amount: order.amount, expires_in_s }
    }
}

/// An acquirer that takes the payment's method in its mode, as it is now.
#[derive(Debug, Clone)]
pub struct Candidate<'a> {
    /// Which.
    pub acquirer: &'a AcquirerName,
    /// Lower is tried first.
    pub priority: u32,
    /// Its share among those of equal priority, from 1.
    pub weight: u32,
    /// The least it takes.
    pub min_amount: Money,
    /// The most it takes.
    pub max_amount: Money,
    /// The longest time, in seconds, for which it keeps a PIX payable; none if there is no limit.
    pub max_expiry_s: Option<u64>,
    /// How it is.
    pub condition: Condition,
}

/// How an acquirer is, as far as a new payment depends on it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Condition {
    /// It is tried in its turn.
    Healthy,
    /// It failed too often lately: it is tried last.
    Failing,
    /// It wants fewer calls, for no longer than a merchant waits: it is tried last.
    Throttled,
    /// It wants fewer calls for longer than a merchant waits.
    ThrottledForLong,
    /// More calls wait for it than it should be given.
    Busy,
    /// An operator directed that it gets no new payment.
    Paused,
}

/// Why no acquirer can be tried.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum NoRoute {
    /// No acquirer takes this method in this mode.
    MethodUnavailable,
    /// None of those that do takes this amount.
    AmountNotAccepted,
    /// None of those that take the amount keeps a PIX payable for so long.
    ExpiryNotAccepted,
    /// Those that do are paused, busy or throttled.
    NoneEligible,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Rank {
    InTurn,
    LastResort,
}

/// Why an acquirer may not take an amount that is too small or too large for it.
const OUT_OF_BOUNDS: &str = "amount_out_of_bounds";

/// Why an acquirer may not take a PIX that is to be payable for longer than it keeps one.
const EXPIRY_TOO_LONG: &str = "expiry_too_long";

/// The acquirers looked at for a payment: the eligible ones first, in the order in which they are tried.
///
/// Of equal ones each comes first in proportion to its weight, drawn for each payment by its dice; of those that are
/// left each comes second in proportion, and so on.
///
/// # Errors
/// When none is eligible.
pub fn plan(wanted: Wanted, candidates: &[Candidate<'_>], dice: u64) -> Result<Vec<Considered>, NoRoute> {
    let (mut eligible, mut refused) = (Vec::new(), Vec::new());
    for candidate in candidates {
        match candidate.judge(wanted) {
            Ok((rank, reason)) => eligible.push((rank, candidate, reason)),
            Err(reason) => refused.push((candidate, reason)),
        }
    }
    if eligible.is_empty() {
        let reasons = || refused.iter().map(|(_, reason)| *reason);
        return Err(if refused.is_empty() {
            NoRoute::MethodUnavailable
        } else if reasons().all(|reason| reason == OUT_OF_BOUNDS) {
            NoRoute::AmountNotAccepted
        } else if reasons().all(|reason| [OUT_OF_BOUNDS, EXPIRY_TOO_LONG].contains(&reason)) {
            NoRoute::ExpiryNotAccepted
        } else {
            NoRoute::NoneEligible
        });
    }
    let class = |(rank, candidate, _): &(Rank, &Candidate<'_>, _)| (*rank, candidate.priority);
    eligible.sort_by_key(class);
    refused.sort_by_key(|(candidate, _)| candidate.priority);
    let mut lots = Lots(dice);
    let drawn =
        eligible.chunk_by(|one, other| class(one) == class(other)).flat_map(|equal| lots.order(equal));
    let drawn = drawn.map(|(_, candidate, reason)| (candidate, true, reason)).collect::<Vec<_>>();
    let refused = refused.into_iter().map(|(candidate, reason)| (candidate, false, reason));
    let considered = |(candidate, eligible, reason): (&Candidate<'_>, bool, &'static str)| Considered {
        acquirer: candidate.acquirer.clone(),
        eligible,
        reason: reason.into(),
    };
    Ok(drawn.into_iter().chain(refused).map(considered).collect())
}

impl Candidate<'_> {
    /// Whether it may take this and when it is tried, or why it may not.
    fn judge(&self, wanted: Wanted) -> Result<(Rank, &'static str), &'static str> {
        if wanted.amount < self.min_amount || wanted.amount > self.max_amount {
            return Err(OUT_OF_BOUNDS);
        }
        let is_too_long = |longest| wanted.expires_in_s.is_some_and(|wanted| wanted > longest);
        if self.max_expiry_s.is_some_and(is_too_long) {
            return Err(EXPIRY_TOO_LONG);
        }
        match self.condition {
            Condition::Healthy => Ok((Rank::InTurn, "eligible")),
            Condition::Failing => Ok((Rank::LastResort, "failing_lately")),
            Condition::Throttled => Ok((Rank::LastResort, "throttled")),
            Condition::ThrottledForLong => Err("throttled"),
            Condition::Busy => Err("busy"),
            Condition::Paused => Err("paused"),
        }
    }
}

type Ranked<'a> = (Rank, &'a Candidate<'a>, &'static str);

/// Numbers that follow from the dice, each as good as a fresh draw (SplitMix64: Steele, Lea, Flood, 2014).
struct Lots(u64);

impl Lots {
    /// Draws all of them, each time one of those that are left in proportion to its weight.
    fn order<'a>(&mut self, equal: &[Ranked<'a>]) -> Vec<Ranked<'a>> {
        let (mut left, mut drawn) = (equal.to_vec(), Vec::with_capacity(equal.len()));
        while left.len() > 1 {
            let weights = || left.iter().map(|(_, candidate, _)| u64::from(candidate.weight.max(1)));
            let (lot, mut reached) = (self.below(weights().sum()), 0_u64);
            let chosen = weights().position(|weight| {
                reached = reached.saturating_add(weight);
                lot < reached
            });
            drawn.push(left.remove(chosen.unwrap_or(0)));
        }
        drawn.append(&mut left);
        drawn
    }

    /// A number below the bound: the share of each differs from its exact one by less than 2⁻³².
    fn below(&mut self, bound: u64) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mixed = (self.0 ^ (self.0 >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        let number = u128::from(mixed ^ (mixed >> 31)).saturating_mul(u128::from(bound));
        u64::try_from(number >> 64).unwrap_or_default()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn names<const N: usize>() -> [AcquirerName; N] {
        std::array::from_fn(|place| AcquirerName::new(format!("a{place}")))
    }

    fn candidate(acquirer: &AcquirerName, priority: u32, weight: u32, condition: Condition) -> Candidate<'_> {
        let (min_amount, max_amount) = (Money::from_cents(10), Money::from_cents(1_000));
        Candidate { acquirer, priority, weight, min_amount, max_amount, max_expiry_s: None, condition }
    }

    const fn cents(cents: u64) -> Wanted {
        Wanted { amount: Money::from_cents(cents), expires_in_s: None }
    }

    fn order(candidates: &[Candidate<'_>], dice: u64) -> Vec<String> {
        let planned = plan(cents(500), candidates, dice).unwrap();
        planned.iter().map(|one| format!("{} {}", one.acquirer, one.reason)).collect()
    }

    #[test]
    fn those_of_equal_priority_share_in_proportion_to_their_weights() {
        const PAYMENTS: u64 = 200_000;
        for weights in [vec![1, 3], vec![1, 9], vec![10, 90], vec![5, 3, 2], vec![1, 1, 1, 1]] {
            let names = names::<4>();
            let all: Vec<_> = (names.iter().zip(&weights))
                .map(|(name, weight)| candidate(name, 1, *weight, Condition::Healthy))
                .collect();
            let (mut first, mut second) = (vec![0_u64; weights.len()], vec![0_u64; weights.len()]);
            for payment in 0..PAYMENTS {
                let dice = payment.wrapping_mul(0x2545_f491_4f6c_dd1d);
                let planned = plan(cents(500), &all, dice).unwrap();
                let place = |one: &Considered| names.iter().position(|name| *name == one.acquirer).unwrap();
                first[place(&planned[0])] += 1;
                second[place(&planned[1])] += 1;
            }
            let total: u32 = weights.iter().sum();
            for (place, weight) in weights.iter().enumerate() {
                let expected = PAYMENTS * u64::from(*weight) / u64::from(total);
                let off = first[place].abs_diff(expected);
                // Four standard deviations are at most 900 of 200,000.
                assert!(off < 900, "{weights:?}: {first:?}");
            }
            if weights == [5, 3, 2] {
                // 5/10·3/5 + 2/10·3/8 is 37.5 %: the second is drawn from those that are left.
                assert!(second[1].abs_diff(PAYMENTS * 375 / 1_000) < 900, "{second:?}");
            }
        }
    }

    #[test]
    fn priority_goes_before_weight_and_health_before_priority() {
        let names = names::<4>();
        let [preferred, heavy, failing, throttled] = &names;
        let all = [
            candidate(failing, 0, 100, Condition::Failing),
            candidate(throttled, 1, 100, Condition::Throttled),
            candidate(heavy, 2, 1_000, Condition::Healthy),
            candidate(preferred, 1, 1, Condition::Healthy),
        ];
        let expected = ["a0 eligible", "a1 eligible", "a2 failing_lately", "a3 throttled"];
        assert!((0..100).all(|dice| order(&all, dice) == expected));
    }

    #[test]
    fn who_may_not_take_it_stands_behind_with_the_reason_and_none_left_says_why() {
        let names = names::<4>();
        let refused = [Condition::Paused, Condition::Busy, Condition::ThrottledForLong];
        let mut all: Vec<_> =
            names.iter().zip(refused).map(|(name, condition)| candidate(name, 1, 1, condition)).collect();
        assert_eq!(plan(cents(500), &all, 7), Err(NoRoute::NoneEligible));
        assert_eq!(plan(cents(5), &all, 7), Err(NoRoute::AmountNotAccepted));
        assert_eq!(plan(cents(5), &[], 7), Err(NoRoute::MethodUnavailable));
        all.push(candidate(&names[3], 9, 1, Condition::Healthy));
        assert_eq!(order(&all, 7), ["a3 eligible", "a0 paused", "a1 busy", "a2 throttled"]);
    }

    #[test]
    fn who_keeps_no_pix_payable_for_so_long_does_not_take_it() {
        let names = names::<2>();
        let mut all: Vec<_> = names.iter().map(|name| candidate(name, 1, 1, Condition::Healthy)).collect();
        all[0].max_expiry_s = Some(86_400);
        let wants = |expires_in_s| Wanted { expires_in_s, ..cents(500) };
        for (expires_in_s, reason) in
            [(None, "eligible"), (Some(86_400), "eligible"), (Some(86_401), "expiry_too_long")]
        {
            let planned = plan(wants(expires_in_s), &all, 7).unwrap();
            let first = planned.iter().find(|one| one.acquirer == names[0]).unwrap();
            assert_eq!((&*first.reason, first.eligible), (reason, reason == "eligible"));
        }
        all[1].max_amount = Money::from_cents(100);
        assert_eq!(plan(wants(Some(86_401)), &all, 7), Err(NoRoute::ExpiryNotAccepted));
        assert_eq!(plan(wants(Some(86_400)), &all, 7).unwrap().len(), 2);
        all[1].condition = Condition::Paused;
        all[1].max_amount = Money::from_cents(1_000);
        assert_eq!(plan(wants(Some(86_401)), &all, 7), Err(NoRoute::NoneEligible), "it may be taken later");
    }

    #[test]
    fn the_same_dice_make_the_same_plan() {
        let names = names::<4>();
        let all: Vec<_> = names.iter().map(|name| candidate(name, 1, 1, Condition::Healthy)).collect();
        let orders: Vec<_> = (0..100).map(|dice| order(&all, dice)).collect();
        assert!((0..100).all(|dice| order(&all, dice) == orders[usize::try_from(dice).unwrap()]));
        assert!(orders.iter().any(|other| *other != orders[0]));
    }
}
