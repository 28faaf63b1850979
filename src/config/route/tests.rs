use quita_domain::card::Brand;
use quita_domain::method::Method;
use quita_domain::routing::{Criterion, Hours};

use super::super::Config;
use super::super::problem::ConfigError;
use super::super::settings::Settings;
use super::*;

const ACQUIRERS: &str = "[{ name = 'a', adapter = 'sandbox', priority = 2 }, \
     { name = 'b', adapter = 'sandbox', methods = ['pix'] }]";

fn config(variables: &[(&str, &str)]) -> Result<Config, ConfigError> {
    let acquirers = [("QUITA_ACQUIRER", ACQUIRERS)];
    let variables = acquirers.iter().chain(variables).map(|(name, text)| ((*name).into(), (*text).into()));
    Config::from_settings(Settings::gather([], variables))
}

fn routes(routes: &str) -> RoutingTable {
    config(&[("QUITA_ROUTE", routes)]).unwrap().routes
}

/// What is refused, without its origin.
fn refused(option: &str, text: &str) -> Vec<String> {
    let ConfigError(problems) = config(&[(option, text)]).unwrap_err();
    problems
        .iter()
        .map(|problem| problem.to_string().replace(&format!(" (environment {option})"), ""))
        .collect()
}

#[test]
fn without_routes_there_are_the_standings_of_the_acquirers() {
    let table = config(&[]).unwrap().routes;
    assert!(table.rules.is_empty() && table.costs.is_empty() && !table.sticky);
    assert_eq!(table.prefer, Preference::Priority);
    assert_eq!(table.standing(&AcquirerName::new("a")), Standing { priority: 2, weight: 1 });
}

#[test]
fn every_condition_is_read() {
    let table = routes(
        "[{ name = 'all', when = { method = 'credit_card', brand = ['elo', 'visa'], bin = '650485', \
         min-amount = 10000, max-amount = 500000, installments = '2-12', merchant = 'loja', \
         weekday = ['mon', 'fri'], hours = '08:00-20:00', metadata = { channel = 'app' } }, \
         use = [{ acquirer = 'a', weight = 70 }, { acquirer = 'b' }], then = 'stop', retry-declines = true }]",
    );
    let rule = &table.rules[0];
    let sentence = "the method is credit_card, and the card is elo or visa, and the card begins with 650485, and \
        the amount is from 100.00 to 5000.00, and it is paid in 2 to 12 parts, and the merchant is loja, and the \
        day is mon or fri, and the time in Brasília is 08:00-20:00, and the metadata's channel is app";
    assert_eq!(rule.when.to_string(), sentence);
    assert_eq!((rule.then, rule.retry_declines), (Then::Stop, true));
    let weights: Vec<_> = rule.uses.iter().map(|named| (named.acquirer.as_str(), named.weight)).collect();
    assert_eq!(weights, [("a", 70), ("b", 1)]);
}

#[test]
fn a_condition_may_be_one_text_or_several_and_amounts_have_one_bound() {
    let table = routes(
        "[{ name = 'x', when = { method = ['pix', 'boleto'], min-amount = 5, hours = '22:00-06:00' }, \
         use = [{ acquirer = 'a' }] }, { name = 'y', when = { brand = 'elo' } }]",
    );
    let criteria = |place: usize| table.rules[place].when.each().cloned().collect::<Vec<_>>();
    let expected = [
        Criterion::Method(vec![Method::Pix, Method::Boleto]),
        Criterion::Amount(Money::from_cents(5), Money::MAX),
        Criterion::Hours(Hours::parse("22:00-06:00").unwrap()),
    ];
    assert_eq!(criteria(0), expected);
    assert_eq!(criteria(1), [Criterion::Brand(vec![Brand::Elo])]);
    assert!(table.rules[1].uses.is_empty(), "the order is as without the rule");
}

#[test]
fn costs_and_preferences_are_read() {
    let config = config(&[
        (
            "QUITA_COST",
            "[{ acquirer = 'a', when = { installments = 1 }, rate = '2.49%', fixed = 10 }, { acquirer = 'a', fixed = 7 }]",
        ),
        ("QUITA_ROUTING_PREFER", "net"),
        ("QUITA_ROUTING_STICKY", "true"),
    ]);
    let table = config.unwrap().routes;
    assert_eq!((table.prefer, table.sticky), (Preference::Net, true));
    assert_eq!(table.costs[0].rate, Rate::parse("2.49%").unwrap());
    assert_eq!((table.costs[1].rate, table.costs[1].fixed), (Rate::default(), Money::from_cents(7)));
}

#[test]
fn the_same_routes_have_the_same_version_however_they_are_written() {
    let one = routes(
        "[{ name = 'x', use = [{ acquirer = 'a', weight = 1 }], when = { min-amount = 5, method = 'pix' } }]",
    );
    let other = routes(
        "[{ when = { method = ['pix'], min_amount = 5 }, name = 'x', then = 'next', use = [{ acquirer = 'a' }] }]",
    );
    assert_eq!(one.version(), other.version());
    assert_ne!(one.version(), routes("[]").version());
}

#[test]
fn everything_that_is_wrong_is_told_at_once_with_its_place() {
    let told = refused(
        "QUITA_ROUTE",
        "[{ use = [{ acquirer = 'a' }] }, \
          { name = 'b', when = { brand = 'vista', hours = '8-9', colour = 'red' }, use = [{ acquirer = 'a' }] }, \
          { name = 'c', use = [], then = 'end' }, \
          { name = 'd', use = [{ acquirer = 'a', weight = 1001 }], when = 'always' }, \
          { name = 'e', then = 'stop' }]",
    );
    let places: Vec<_> = told.iter().map(|line| line.split_once(": ").unwrap().0).collect();
    let expected = [
        "route[0].name",
        "route[b].when.brand",
        "route[b].when.hours",
        "route[b].when.colour",
        "route[c].use",
        "route[c].then",
        "route[d].when",
        "route[d].use",
        "route[e].then",
    ];
    assert_eq!(places, expected, "{told:#?}");
    assert!(told[1].contains("\"vista\" is not allowed; allowed is elo, hipercard"), "{}", told[1]);
}

#[test]
fn what_the_lint_finds_wrong_is_refused_and_what_it_doubts_is_a_warning() {
    assert_eq!(
        refused("QUITA_ROUTE", "[{ name = 'x', use = [{ acquirer = 'nobody' }] }]"),
        ["route \"x\": there is no acquirer nobody; write the name of an [[acquirer]]"]
    );
    let doubtful =
        "[{ name = 'x', when = { method = 'boleto' }, use = [{ acquirer = 'b' }], then = 'stop' }]";
    let warnings = config(&[("QUITA_ROUTE", doubtful)]).unwrap().warnings;
    let expected = "route \"x\": no acquirer that it may send payments to takes boleto";
    assert!(warnings.iter().any(|warning| warning == expected), "{warnings:?}");
}

#[test]
fn routes_to_acquirers_that_were_refused_are_not_wrong_because_of_that() {
    let variables = [
        ("QUITA_ACQUIRER", "[{ name = 'a', adapter = 'nonsense' }]"),
        ("QUITA_ROUTE", "[{ name = 'x', use = [{ acquirer = 'a' }] }]"),
    ];
    let variables = variables.map(|(name, text)| (name.into(), text.into()));
    let ConfigError(problems) = Config::from_settings(Settings::gather([], variables)).unwrap_err();
    assert!(problems.iter().all(|problem| problem.option.starts_with("acquirer")), "{problems:?}");
}
