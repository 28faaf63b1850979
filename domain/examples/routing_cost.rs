//! Cost of routing one payment, with 50 rules and 10 acquirers. Prints figures, judges nothing.
//!
//! `cargo run --release -p quita-domain --example routing_cost`
#![allow(clippy::unwrap_used, reason = "it is given what it can read")]

use std::collections::BTreeMap;
use std::hint::black_box;
use std::time::{Duration, Instant};

use quita_domain::card::Brand;
use quita_domain::document::{Document, DocumentType};
use quita_domain::identity::{AcquirerName, MerchantId};
use quita_domain::method::Method;
use quita_domain::money::Money;
use quita_domain::routing::{
    Approvals, Candidate, Condition, CostLine, Criteria, Criterion, DueDates, Preference, Rate, RouteInputs,
    RoutingTable, Rule, Standing, Then, Use, Weekday, plan,
};

const RULES: u64 = 50;
const ACQUIRERS: u64 = 10;
const ROUNDS: u32 = 15;
const PLANS: u32 = 20_000;

fn main() {
    let names: Vec<_> =
        (0..ACQUIRERS).map(|number| AcquirerName::new(format!("acquirer-{number}"))).collect();
    let payer = Document::parse("52998224725", DocumentType::Cpf).unwrap();
    let merchant = MerchantId::new("loja");
    let metadata = BTreeMap::new();
    let inputs = RouteInputs {
        method: Method::CreditCard,
        amount: Money::from_cents(10_000),
        expires_in_s: None,
        due: None,
        brand: Some(Brand::Visa),
        first_digits: Some("424242"),
        installments: Some(3),
        merchant: &merchant,
        metadata: &metadata,
        payer: &payer,
        weekday: Weekday::Mon,
        minute: 600,
    };
    let candidates: Vec<_> = names.iter().map(candidate).collect();
    for prefer in Preference::ALL {
        for (matching, told) in [(Some(RULES), "the last rule matches"), (None, "no rule matches")] {
            let table = table(&names, prefer, matching);
            let mut rounds: Vec<_> = (0..ROUNDS).map(|_| round(&inputs, &candidates, &table)).collect();
            rounds.sort_unstable();
            let median = rounds.get(rounds.len() / 2).map_or(0, Duration::as_nanos);
            let least = rounds.first().map_or(0, Duration::as_nanos);
            let prefer = prefer.as_str();
            println!(
                "{RULES} rules, {ACQUIRERS} acquirers, prefer {prefer}, {told}: {median} ns a payment (least {least})"
            );
        }
    }
}

/// Does what a creation does: the plan, what is shown of it, and what is kept of it.
fn round(inputs: &RouteInputs<'_>, candidates: &[Candidate<'_>], table: &RoutingTable) -> Duration {
    let version = table.version();
    let began = Instant::now();
    for dice in 0..PLANS {
        let planned = plan(black_box(inputs), black_box(candidates), table, u64::from(dice));
        black_box((planned.considered(), planned.routed(version.clone())));
    }
    began.elapsed() / PLANS
}

const fn candidate(acquirer: &AcquirerName) -> Candidate<'_> {
    Candidate {
        acquirer,
        min_amount: Money::from_cents(1),
        max_amount: Money::MAX,
        max_expiry_s: None,
        due_dates: DueDates::ALL,
        objection: None,
        condition: Condition::Healthy,
        approvals: Approvals { approved: 150, tries: 200 },
    }
}

/// Rules of four conditions, of which only the last one fails, but in the one that matches.
fn table(names: &[AcquirerName], prefer: Preference, matching: Option<u64>) -> RoutingTable {
    let named = |number: u64| names.iter().cycle().nth(usize::try_from(number).unwrap()).unwrap().clone();
    let rules = (1..=RULES).map(|number| {
        let least = if matching == Some(number) { 1 } else { 1_000_000 + number };
        Rule {
            name: format!("rule {number}"),
            when: Criteria::new(vec![
                Criterion::Method(vec![Method::CreditCard]),
                Criterion::Brand(vec![Brand::Elo, Brand::Visa]),
                Criterion::Installments(2, 12),
                Criterion::Amount(Money::from_cents(least), Money::MAX),
            ]),
            uses: vec![
                Use { acquirer: named(number), weight: 70 },
                Use { acquirer: named(number + 1), weight: 30 },
            ],
            then: Then::Next,
            retry_declines: false,
        }
    });
    let costs = names.iter().map(|acquirer| CostLine {
        acquirer: acquirer.clone(),
        when: Criteria::default(),
        rate: Rate::parse("2.49%").unwrap(),
        fixed: Money::from_cents(10),
    });
    let standings = names.iter().map(|name| (name.clone(), Standing { priority: 1, weight: 5 }));
    RoutingTable {
        rules: rules.collect(),
        costs: costs.collect(),
        prefer,
        sticky: false,
        standings: standings.collect(),
    }
}
