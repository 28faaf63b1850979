use std::collections::BTreeMap;

use proptest::prelude::*;

use super::super::{Criteria, Criterion, Rate, Use, Weekday};
use super::*;
use crate::document::DocumentType;
use crate::identity::MerchantId;
use crate::method::Method;

/// All values that a payment of these tests refers to.
struct Stage {
    merchant: MerchantId,
    metadata: BTreeMap<String, String>,
    payer: Document,
    names: [AcquirerName; 4],
    table: RoutingTable,
}

impl Stage {
    fn new() -> Self {
        Self {
            merchant: MerchantId::new("loja"),
            metadata: BTreeMap::new(),
            payer: Document::parse("11144477735", DocumentType::Cpf).unwrap(),
            names: std::array::from_fn(|place| AcquirerName::new(format!("a{place}"))),
            table: RoutingTable::default(),
        }
    }

    fn with_weights(weights: &[u32]) -> Self {
        let mut stage = Self::new();
        for (name, weight) in stage.names.iter().zip(weights) {
            stage.table.standings.insert(name.clone(), Standing { priority: 1, weight: *weight });
        }
        stage
    }

    fn inputs(&self) -> RouteInputs<'_> {
        RouteInputs {
            method: Method::Pix,
            amount: Money::from_cents(500),
            expires_in_s: None,
            due: None,
            brand: None,
            first_digits: None,
            installments: None,
            merchant: &self.merchant,
            metadata: &self.metadata,
            payer: &self.payer,
            weekday: Weekday::Mon,
            minute: 0,
        }
    }

    fn candidate(&self, place: usize, condition: Condition) -> Candidate<'_> {
        Candidate {
            acquirer: &self.names[place],
            min_amount: Money::from_cents(10),
            max_amount: Money::from_cents(1_000),
            max_expiry_s: None,
            due_dates: DueDates::ALL,
            objection: None,
            condition,
            approvals: Approvals::default(),
        }
    }

    fn healthy(&self, count: usize) -> Vec<Candidate<'_>> {
        (0..count).map(|place| self.candidate(place, Condition::Healthy)).collect()
    }

    fn told(&self, candidates: &[Candidate<'_>], dice: u64) -> Vec<String> {
        let planned = plan(&self.inputs(), candidates, &self.table, dice);
        planned.choices.iter().map(|one| format!("{} {}", one.candidate.acquirer, one.reason)).collect()
    }

    fn uses(&self, weights: &[(usize, u32)]) -> Vec<Use> {
        let named =
            |(place, weight): &(usize, u32)| Use { acquirer: self.names[*place].clone(), weight: *weight };
        weights.iter().map(named).collect()
    }
}

fn rule(name: &str, when: Vec<Criterion>, uses: Vec<Use>) -> Rule {
    Rule { name: name.into(), when: Criteria::new(when), uses, then: Then::Next, retry_declines: false }
}

const fn spread(payment: u64) -> u64 {
    payment.wrapping_mul(0x2545_f491_4f6c_dd1d)
}

/// Computes Pearson's statistic of the draws against the shares, in thousandths.
fn chi_square(drawn: &[u64], weights: &[u32]) -> u64 {
    let draws = drawn.iter().sum::<u64>();
    let total = weights.iter().sum::<u32>();
    let off = |(drawn, weight): (&u64, &u32)| {
        let weight = u64::from(*weight);
        let total = u64::from(total);
        // (drawn − expected)² ÷ expected, where draws × weight ÷ total are expected.
        (drawn * total).abs_diff(draws * weight).pow(2) * 1_000 / (draws * weight * total)
    };
    drawn.iter().zip(weights).map(off).sum()
}

/// Critical values: chance exceeds them in one of 10,000 draws, with one, two and three degrees of freedom.
const CRITICAL: [u64; 3] = [15_140, 18_420, 21_110];

#[test]
fn shares_are_exact_by_weight_and_by_rule() {
    const PAYMENTS: u64 = 100_000;
    for weights in [vec![1, 3], vec![1, 9], vec![10, 90], vec![5, 3, 2], vec![1, 1, 1, 1], vec![70, 30]] {
        let mut by_rule = Stage::new();
        let named: Vec<_> = weights.iter().copied().enumerate().collect();
        by_rule.table.rules.push(rule("shares", vec![], by_rule.uses(&named)));
        let mut sticky = Stage::with_weights(&weights);
        sticky.table.sticky = true;
        for stage in [Stage::with_weights(&weights), by_rule] {
            let all = stage.healthy(weights.len());
            let mut first = vec![0_u64; weights.len()];
            for payment in 0..PAYMENTS {
                let planned = plan(&stage.inputs(), &all, &stage.table, spread(payment));
                let chosen = planned.choices[0].candidate.acquirer;
                first[stage.names.iter().position(|name| name == chosen).unwrap()] += 1;
            }
            let statistic = chi_square(&first, &weights);
            assert!(statistic < CRITICAL[weights.len() - 2], "{weights:?}: {first:?} is off by {statistic}");
        }
    }
}

#[test]
fn the_second_is_drawn_from_those_that_are_left() {
    const PAYMENTS: u64 = 100_000;
    let stage = Stage::with_weights(&[5, 3, 2]);
    let all = stage.healthy(3);
    let second = (0..PAYMENTS).filter(|payment| {
        let planned = plan(&stage.inputs(), &all, &stage.table, spread(*payment));
        *planned.choices[1].candidate.acquirer == stage.names[1]
    });
    // 5/10·3/5 + 2/10·3/8 is 37.5 %; four standard deviations are 612.
    assert!(second.count().abs_diff(37_500) < 612);
}

#[test]
fn priority_goes_before_weight_and_health_before_priority() {
    let mut stage = Stage::new();
    for (place, priority, weight) in [(0, 1, 1), (1, 2, 1_000), (2, 0, 100), (3, 1, 100)] {
        stage.table.standings.insert(stage.names[place].clone(), Standing { priority, weight });
    }
    let all = [
        stage.candidate(2, Condition::Failing),
        stage.candidate(3, Condition::Throttled),
        stage.candidate(1, Condition::Healthy),
        stage.candidate(0, Condition::Healthy),
    ];
    let expected = ["a0 eligible", "a1 eligible", "a2 failing_lately", "a3 throttled"];
    assert!((0..100).all(|dice| stage.told(&all, dice) == expected));
}

#[test]
fn who_may_not_take_it_stands_behind_with_the_reason_and_none_left_says_why() {
    let stage = Stage::new();
    let refused = [Condition::Paused, Condition::Busy, Condition::ThrottledForLong];
    let reasons = ["paused", "busy", "throttled"];
    for (condition, reason) in refused.into_iter().zip(reasons) {
        let all = [stage.candidate(0, condition), stage.candidate(1, Condition::Healthy)];
        assert_eq!(stage.told(&all, 7), ["a1 eligible".to_owned(), format!("a0 {reason}")]);
        let none = plan(&stage.inputs(), &all[..1], &stage.table, 7).is_possible();
        assert_eq!(none, Err(NoRoute::NoneEligible));
    }
    let mut small = stage.candidate(0, Condition::Healthy);
    small.max_amount = Money::from_cents(499);
    let none = |all: &[Candidate<'_>]| plan(&stage.inputs(), all, &stage.table, 7).is_possible();
    assert_eq!(none(&[]), Err(NoRoute::MethodUnavailable));
    assert_eq!(none(std::slice::from_ref(&small)), Err(NoRoute::AmountNotAccepted));
    assert_eq!(none(&[small, stage.candidate(1, Condition::Paused)]), Err(NoRoute::NoneEligible));
}

#[test]
fn a_pix_that_is_to_be_payable_for_longer_than_an_acquirer_keeps_one_goes_elsewhere() {
    let stage = Stage::new();
    let mut all = stage.healthy(2);
    all[0].max_expiry_s = Some(86_400);
    let asked = |all: &[Candidate<'_>], expires_in_s| {
        let inputs = RouteInputs { expires_in_s: Some(expires_in_s), ..stage.inputs() };
        let planned = plan(&inputs, all, &stage.table, 7);
        let first = planned.choices.iter().find(|one| *one.candidate.acquirer == stage.names[0]);
        (first.unwrap().reason, planned.is_possible())
    };
    assert_eq!(asked(&all, 86_400), ("eligible", Ok(())));
    assert_eq!(asked(&all, 86_401), ("expiry_too_long", Ok(())));
    all[1].max_amount = Money::from_cents(100);
    assert_eq!(asked(&all, 86_401).1, Err(NoRoute::ExpiryNotAccepted));
    all[1].condition = Condition::Paused;
    all[1].max_amount = Money::from_cents(1_000);
    assert_eq!(asked(&all, 86_401).1, Err(NoRoute::NoneEligible), "it may be taken later");
}

#[test]
fn the_first_rule_that_matches_decides_and_the_others_follow_unless_it_stops() {
    let mut stage = Stage::new();
    let small = Criterion::Amount(Money::from_cents(1), Money::from_cents(499));
    stage.table.rules = vec![
        rule("small", vec![small], stage.uses(&[(3, 1)])),
        rule("second", vec![Criterion::Method(vec![Method::Pix])], stage.uses(&[(2, 1)])),
        rule("third", vec![], stage.uses(&[(1, 1)])),
    ];
    stage.table.standings.insert(stage.names[0].clone(), Standing { priority: 0, weight: 1 });
    let all = stage.healthy(3);
    let planned = plan(&stage.inputs(), &all, &stage.table, 7);
    assert_eq!(planned.rule.map(|rule| rule.name.as_str()), Some("second"));
    assert_eq!(stage.told(&all, 7), ["a2 eligible", "a0 eligible", "a1 eligible"]);
    let mut stopping = Stage { table: stage.table.clone(), ..Stage::new() };
    stopping.table.rules[1].then = Then::Stop;
    assert_eq!(stopping.told(&all, 7), ["a2 eligible", "a0 not_in_rule", "a1 not_in_rule"]);
    let ill = [stage.candidate(0, Condition::Healthy), stage.candidate(2, Condition::Paused)];
    assert_eq!(stage.told(&ill, 7), ["a0 eligible", "a2 paused"]);
    let none = plan(&stage.inputs(), &ill, &stopping.table, 7).is_possible();
    assert_eq!(none, Err(NoRoute::NoneEligible));
    // None of its acquirers takes such payments in this mode: the next rule decides.
    let elsewhere = plan(&stage.inputs(), &all[..2], &stopping.table, 7).rule.map(|rule| rule.name.clone());
    assert_eq!(elsewhere.as_deref(), Some("third"));
}

#[test]
fn an_amount_that_none_of_a_rule_takes_goes_to_the_others_unless_the_rule_stops() {
    let mut stage = Stage::new();
    stage.table.rules = vec![rule("small", vec![], stage.uses(&[(0, 1), (1, 1)]))];
    let mut all = stage.healthy(3);
    for named in &mut all[..2] {
        named.max_amount = Money::from_cents(499);
    }
    let expected = ["a2 eligible", "a0 amount_out_of_bounds", "a1 amount_out_of_bounds"];
    assert_eq!(stage.told(&all, 7), expected);
    let planned = plan(&stage.inputs(), &all, &stage.table, 7);
    let decided_by = planned.rule.map(|rule| rule.name.as_str());
    assert_eq!((decided_by, planned.is_possible()), (Some("small"), Ok(())));
    let mut stopping = Stage { table: stage.table.clone(), ..Stage::new() };
    stopping.table.rules[0].then = Then::Stop;
    let stopped = plan(&stage.inputs(), &all, &stopping.table, 7).is_possible();
    assert_eq!(stopped, Err(NoRoute::AmountNotAccepted));
    all[1].max_amount = Money::from_cents(500);
    all[1].condition = Condition::Busy;
    let later = plan(&stage.inputs(), &all, &stopping.table, 7).is_possible();
    assert_eq!(later, Err(NoRoute::NoneEligible), "it may be taken later");
}

#[test]
fn an_acquirer_without_share_in_its_rule_comes_after_those_with_one() {
    let mut stage = Stage::new();
    stage.table.rules.push(rule("spare", vec![], stage.uses(&[(0, 0), (1, 5), (2, 5)])));
    let all = stage.healthy(4);
    assert!((0..1_000).all(|dice| stage.told(&all, spread(dice))[2] == "a0 eligible"));
}

#[test]
fn by_net_the_dearer_acquirer_comes_first_once_it_approves_so_much_more() {
    let mut stage = Stage::new();
    stage.table.prefer = Preference::Net;
    let cost = |name: &AcquirerName, rate: &str, fixed| CostLine {
        acquirer: name.clone(),
        when: Criteria::default(),
        rate: Rate::parse(rate).unwrap(),
        fixed: Money::from_cents(fixed),
    };
    stage.table.costs = vec![cost(&stage.names[0], "2%", 0), cost(&stage.names[1], "4%", 0)];
    let with = |stage: &Stage, approved: [u8; 2]| {
        let mut all = stage.healthy(2);
        for (one, approved) in all.iter_mut().zip(approved) {
            one.approvals = Approvals { approved, tries: 200 };
        }
        stage.told(&all, 7).remove(0)
    };
    assert_eq!(with(&stage, [180, 180]), "a0 eligible");
    assert_eq!(with(&stage, [180, 183]), "a0 eligible", "0.896 × 490 is more than 0.911 × 480");
    assert_eq!(with(&stage, [180, 185]), "a1 eligible", "0.896 × 490 is less than 0.921 × 480");
    // Never tried counts as a half, and an acquirer that costs more than it brings comes last.
    stage.table.costs.push(cost(&stage.names[2], "0%", 600));
    let mut all = stage.healthy(3);
    all[0].approvals = Approvals { approved: 100, tries: 200 };
    assert_eq!(stage.told(&all, 7), ["a0 eligible", "a1 eligible", "a2 eligible"]);
}

#[test]
fn what_brings_the_same_is_drawn_and_priority_goes_before_it() {
    let mut stage = Stage::with_weights(&[1, 1, 1]);
    stage.table.prefer = Preference::Net;
    stage.table.standings.insert(stage.names[2].clone(), Standing { priority: 2, weight: 1 });
    let mut all = stage.healthy(3);
    all[2].approvals = Approvals { approved: 200, tries: 200 };
    let firsts = (0..1_000).filter(|dice| stage.told(&all, spread(*dice))[0] == "a0 eligible").count();
    assert!((400..600).contains(&firsts), "{firsts}");
    assert!((0..100).all(|dice| stage.told(&all, spread(dice))[2] == "a2 eligible"));
}

#[test]
fn a_sticky_payer_meets_the_same_acquirer_and_payers_share_in_proportion() {
    const PAYERS: u64 = 20_000;
    let weights = [70, 30];
    let mut stage = Stage::with_weights(&weights);
    stage.table.sticky = true;
    let mut first = [0_u64; 2];
    for payer in 0..PAYERS {
        let digits = format!("{:09}", payer * 37_813 % 1_000_000_000);
        let Some(payer) = (0..100)
            .find_map(|check| Document::parse(&format!("{digits}{check:02}"), DocumentType::Cpf).ok())
        else {
            continue;
        };
        let all = stage.healthy(2);
        let chosen = |dice| {
            let inputs = RouteInputs { payer: &payer, ..stage.inputs() };
            plan(&inputs, &all, &stage.table, dice).choices[0].candidate.acquirer.clone()
        };
        let met = chosen(1);
        assert_eq!(met, chosen(u64::MAX));
        first[stage.names.iter().position(|name| *name == met).unwrap()] += 1;
    }
    let statistic = chi_square(&first, &weights);
    assert!(statistic < CRITICAL[0], "{first:?} is off by {statistic}");
}

#[test]
fn a_plan_is_made_again_from_what_the_payment_keeps() {
    let mut stage = Stage::new();
    stage.table.prefer = Preference::Net;
    let mut all = stage.healthy(3);
    all[1].approvals = Approvals { approved: 199, tries: 200 };
    all[2].condition = Condition::Failing;
    let planned = plan(&stage.inputs(), &all, &stage.table, 99);
    let considered = planned.considered();
    let routed = planned.routed(stage.table.version());
    let again: Vec<_> = (considered.iter().enumerate())
        .map(|(place, one)| {
            let (condition, approvals) = routed.saw.at(place).unwrap();
            let position = stage.names.iter().position(|name| *name == one.acquirer).unwrap();
            Candidate { approvals, ..stage.candidate(position, condition) }
        })
        .collect();
    let planned_again = plan(&stage.inputs(), &again, &stage.table, 99);
    assert_eq!(planned_again.considered(), considered);
    assert_eq!(planned_again.routed(stage.table.version()), routed);
}

proptest! {
    #[test]
    fn the_order_of_candidates_means_nothing_and_illness_moves_nobody_else(
        weights in prop::array::uniform4(1_u32..1_000),
        dice: u64,
        ill in 0_usize..4,
        is_sticky: bool,
    ) {
        let mut stage = Stage::with_weights(&weights);
        stage.table.sticky = is_sticky;
        let all = stage.healthy(4);
        let reversed: Vec<_> = all.iter().rev().cloned().collect();
        prop_assert_eq!(stage.told(&all, dice), stage.told(&reversed, dice));
        let mut with_ill = all.clone();
        with_ill[ill].condition = Condition::Paused;
        let name = format!("a{ill} ");
        let others = |told: Vec<String>| {
            told.into_iter().filter(|one| !one.starts_with(&name)).collect::<Vec<_>>()
        };
        prop_assert_eq!(others(stage.told(&all, dice)), others(stage.told(&with_ill, dice)));
    }
}

#[test]
fn an_acquirer_that_objects_to_the_order_is_no_choice_and_alone_none_ever_is() {
    let stage = Stage::new();
    let objecting =
        Candidate { objection: Some("recipient_unknown"), ..stage.candidate(0, Condition::Healthy) };
    let all = [objecting, stage.candidate(1, Condition::Healthy)];
    assert_eq!(stage.told(&all, 7), ["a1 eligible", "a0 recipient_unknown"]);
    let none = plan(&stage.inputs(), &all[..1], &stage.table, 7).is_possible();
    assert_eq!(none, Err(NoRoute::MethodUnavailable));
    let waits = [all[0].clone(), stage.candidate(1, Condition::Paused)];
    assert_eq!(plan(&stage.inputs(), &waits, &stage.table, 7).is_possible(), Err(NoRoute::NoneEligible));
}
