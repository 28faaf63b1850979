use super::super::{Bin, Criterion, Hours, Rate, Then, Use, Weekday};
use super::*;
use crate::card::Brand;
use crate::identity::MerchantId;
use crate::money::Money;

fn acquirer(name: &str, mode: Mode, methods: &[Method]) -> Capability {
    Capability { acquirer: AcquirerName::new(name), mode, methods: methods.to_vec() }
}

fn acquirers() -> Vec<Capability> {
    vec![
        acquirer("all", Mode::Test, &Method::ALL),
        acquirer("cards", Mode::Live, &[Method::CreditCard]),
        acquirer("bank", Mode::Live, &[Method::Pix]),
    ]
}

fn rule(name: &str, when: Vec<Criterion>, uses: &[(&str, u32)]) -> Rule {
    let uses = uses.iter().map(|(name, weight)| Use { acquirer: AcquirerName::new(*name), weight: *weight });
    Rule {
        name: name.into(),
        when: Criteria::new(when),
        uses: uses.collect(),
        then: Then::Next,
        retry_declines: false,
    }
}

fn told(rules: Vec<Rule>) -> Vec<String> {
    let table = RoutingTable { rules, ..RoutingTable::default() };
    lint(&table, &acquirers()).iter().map(|finding| format!("{:?} {finding}", finding.gravity())).collect()
}

fn cents(cents: u64) -> Money {
    Money::from_cents(cents)
}

#[test]
fn what_names_nobody_is_refused() {
    let rules = vec![
        rule("a", vec![], &[("nobody", 1)]),
        rule("b", vec![Criterion::Method(vec![Method::Pix])], &[("bank", 0)]),
        rule("c", vec![Criterion::Method(vec![Method::Boleto])], &[("all", 1), ("all", 2)]),
    ];
    assert_eq!(
        told(rules),
        [
            "Wrong route \"a\": there is no acquirer nobody; write the name of an [[acquirer]]",
            "Wrong route \"b\": its shares add to nothing; give at least one acquirer a weight from 1",
            "Wrong route \"c\": it names all twice; add up the weights",
        ]
    );
}

#[test]
fn conditions_that_contradict_each_other_are_refused() {
    let visa = || Criterion::Brand(vec![Brand::Visa]);
    for (when, why) in [
        (vec![Criterion::Amount(cents(20), cents(10))], "no amount is at least 0.20 and at most 0.10"),
        (vec![Criterion::Installments(3, 2)], "no number of instalments is at least 3 and at most 2"),
        (
            vec![Criterion::Method(vec![Method::Pix]), visa()],
            "never both: the method is pix, and the card is visa",
        ),
        (vec![visa(), Criterion::Bin(vec![Bin::parse("5555").unwrap()])], "no card of visa begins with 5555"),
    ] {
        let found = told(vec![rule("a", when, &[("all", 1)])]);
        assert_eq!(found, [format!("Wrong route \"a\": it can never match: {why}")]);
    }
    // Elo's numbers are among those of other brands.
    let elo = vec![
        Criterion::Brand(vec![Brand::Elo]),
        Criterion::Bin(vec![Bin::parse("6504").unwrap(), Bin::parse("9999").unwrap()]),
    ];
    assert_eq!(told(vec![rule("a", elo, &[("all", 1)])]), [""; 0]);
}

#[test]
fn a_rule_behind_one_that_matches_more_is_told_of() {
    let amount = |from, to| Criterion::Amount(cents(from), cents(to));
    let bin = |text| Criterion::Bin(vec![Bin::parse(text).unwrap()]);
    let hours = |text| Criterion::Hours(Hours::parse(text).unwrap());
    let merchant = |name: &str| Criterion::Merchant(vec![MerchantId::new(name)]);
    let note = |name: &str| Criterion::Metadata([(name.to_owned(), "x".to_owned())].into());
    let card = || Criterion::Method(vec![Method::CreditCard]);
    let days = |days: &[Weekday]| Criterion::Weekday(days.to_vec());
    for (more, less, is_covered) in [
        (vec![], vec![amount(1, 2)], true),
        (vec![amount(1, 100)], vec![amount(1, 99)], true),
        (vec![amount(1, 100)], vec![amount(1, 101)], false),
        (vec![card()], vec![Criterion::Installments(2, 3)], true),
        (vec![card(), amount(1, 9)], vec![Criterion::Installments(2, 3)], false),
        (vec![bin("6504")], vec![bin("650485")], true),
        (vec![bin("650485")], vec![bin("6504")], false),
        (vec![hours("22:00-06:00")], vec![hours("23:00-05:00")], true),
        (vec![hours("23:00-05:00")], vec![hours("22:00-06:00")], false),
        (vec![days(&[Weekday::Mon, Weekday::Fri])], vec![days(&[Weekday::Fri])], true),
        (vec![merchant("a")], vec![merchant("b")], false),
        (vec![note("x")], vec![note("x"), merchant("a")], true),
        (vec![note("x")], vec![note("y")], false),
    ] {
        let rules = vec![rule("more", more, &[("all", 1)]), rule("less", less, &[("all", 1)])];
        let expected = "Doubtful route \"less\": it can never match: route \"more\" matches everything that it \
            would; put it before";
        assert_eq!(told(rules.clone()), vec![expected; usize::from(is_covered)], "{rules:?}");
    }
}

#[test]
fn a_rule_for_test_payments_hides_none_for_live_ones() {
    let both = vec![rule("test", vec![], &[("all", 1)]), rule("live", vec![], &[("cards", 1)])];
    assert_eq!(told(both), [""; 0]);
    let named = vec![
        rule("all", vec![], &[("all", 1), ("cards", 1), ("bank", 1)]),
        rule("live", vec![], &[("cards", 1)]),
    ];
    assert_eq!(told(named).len(), 1);
}

#[test]
fn what_nobody_takes_is_told_of() {
    let mut stops = rule("stops", vec![Criterion::Method(vec![Method::Boleto])], &[("bank", 1)]);
    stops.then = Then::Stop;
    let goes_on =
        rule("goes on", vec![Criterion::Method(vec![Method::CreditCard])], &[("bank", 1), ("cards", 1)]);
    assert_eq!(
        told(vec![stops, goes_on]),
        [
            "Doubtful route \"stops\": no acquirer that it may send payments to takes boleto",
            "Doubtful route \"goes on\": bank does not take credit_card",
        ]
    );
}

#[test]
fn two_rules_of_one_name_are_refused() {
    let rules = vec![
        rule("a", vec![Criterion::Method(vec![Method::Pix])], &[("all", 1)]),
        rule("a", vec![Criterion::Method(vec![Method::Boleto])], &[("all", 1)]),
    ];
    let why = "another route has this name; the payments would not tell which of the two it was";
    assert_eq!(told(rules), [format!("Wrong route \"a\": {why}")]);
}

#[test]
fn costs_are_looked_at_too() {
    let line = |name: &str, when| CostLine {
        acquirer: AcquirerName::new(name),
        when: Criteria::new(when),
        rate: Rate::default(),
        fixed: cents(1),
    };
    let costs = vec![
        line("bank", vec![]),
        line("nobody", vec![]),
        line("bank", vec![Criterion::Method(vec![Method::Pix])]),
        line("cards", vec![Criterion::Method(vec![Method::Pix])]),
        line("cards", vec![Criterion::Method(vec![Method::Pix]), Criterion::Installments(1, 1)]),
    ];
    let table = RoutingTable { costs, ..RoutingTable::default() };
    let told: Vec<_> = lint(&table, &acquirers()).iter().map(ToString::to_string).collect();
    assert_eq!(
        told,
        [
            "cost 2: there is no acquirer nobody; write the name of an [[acquirer]]",
            "cost 3: it can never match: cost 1 matches everything that it would; put it before",
            "cost 4: cards does not take pix",
            "cost 5: it can never match: never both: the method is pix, and it is paid in one instalment",
        ]
    );
}
