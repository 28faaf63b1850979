//! Tests of `[[route]]`, `[[cost]]` and `[routing]`, as a file, variables and flags set them.

use quita_domain::identity::{AcquirerName, MerchantId};
use quita_domain::method::Method;
use quita_domain::money::Money;
use quita_domain::routing::{Bin, CostLine, Criteria, Criterion, Hours, Rate, Rule, Then, Use, Weekday};

use super::*;
use crate::problem::ConfigError;
use crate::tests::{load, refusals};
use crate::{Config, Environment};

/// Two acquirers that take all methods, and one that takes PIX.
const ACQUIRERS: &str = "[[acquirer]]\nname = 'a'\nadapter = 'sandbox'\n\
    [[acquirer]]\nname = 'b'\nadapter = 'sandbox'\npriority = 2\n\
    [[acquirer]]\nname = 'codes'\nadapter = 'sandbox'\nmethods = ['pix']\n";

fn read_with(text: &str) -> Result<Config, ConfigError> {
    load(&[], &[], Some(&format!("{text}\n{ACQUIRERS}")))
}

fn used(name: &str, weight: u32) -> Use {
    Use { acquirer: AcquirerName::new(name), weight }
}

#[test]
fn without_a_table_of_routes_there_are_standings_alone() {
    let routes = read_with("").unwrap().routes;
    let standings = routes.standings.iter().map(|(name, at)| (name.as_str(), at.priority, at.weight));
    assert_eq!(standings.collect::<Vec<_>>(), [("a", 1, 1), ("b", 2, 1), ("codes", 1, 1)]);
    let nothing = RoutingTable { standings: routes.standings.clone(), ..RoutingTable::default() };
    assert_eq!(routes, nothing);
}

#[test]
fn every_key_of_the_contract_is_read() {
    let text = "[[route]]\nname = 'elo over 100'\n\
        when = { method = 'credit_card', brand = ['elo', 'visa'], bin = ['650485'], min-amount = 10000, \
        max_amount = 500000, installments = '2-12', merchant = ['loja'], weekday = ['mon', 'fri'], \
        hours = '08:00-20:00', metadata = { channel_of = 'app' } }\n\
        use = [{ acquirer = 'a', weight = 70 }, { acquirer = 'b', weight = 0 }]\nthen = 'stop'\nretry-declines = true\n\
        [[route]]\nname = 'rest'\nuse = ['b', 'a']\n\
        [[cost]]\nacquirer = 'a'\nwhen = { brand = 'visa', installments = 1 }\nrate = '2.49%'\nfixed = 10\n\
        [[cost]]\nacquirer = 'b'\nfixed = 1\n\
        [routing]\nprefer = 'net'\nsticky = true\n";
    let config = read_with(text).unwrap();
    let criteria = vec![
        Criterion::Method(vec![Method::CreditCard]),
        Criterion::Brand(vec![quita_domain::card::Brand::Elo, quita_domain::card::Brand::Visa]),
        Criterion::Bin(vec![Bin::parse("650485").unwrap()]),
        Criterion::Amount(Money::from_cents(10_000), Money::from_cents(500_000)),
        Criterion::Installments(2, 12),
        Criterion::Merchant(vec![MerchantId::new("loja")]),
        Criterion::Weekday(vec![Weekday::Mon, Weekday::Fri]),
        Criterion::Hours(Hours::parse("08:00-20:00").unwrap()),
        Criterion::Metadata([("channel_of".to_owned(), "app".to_owned())].into()),
    ];
    let elo = Rule {
        name: "elo over 100".into(),
        when: Criteria::new(criteria),
        uses: vec![used("a", 70), used("b", 0)],
        then: Then::Stop,
        retry_declines: true,
    };
    let rest = Rule {
        name: "rest".into(),
        when: Criteria::default(),
        uses: vec![used("b", 1), used("a", 1)],
        then: Then::Next,
        retry_declines: false,
    };
    assert_eq!(config.routes.rules, [elo, rest]);
    let visa = vec![Criterion::Brand(vec![quita_domain::card::Brand::Visa]), Criterion::Installments(1, 1)];
    let cost = |name: &str, when: Criteria, rate: &str, cents: u64| CostLine {
        acquirer: AcquirerName::new(name),
        when,
        rate: Rate::parse(rate).unwrap(),
        fixed: Money::from_cents(cents),
    };
    let costs = [cost("a", Criteria::new(visa), "2.49%", 10), cost("b", Criteria::default(), "0%", 1)];
    assert_eq!(config.routes.costs, costs);
    assert_eq!((config.routes.prefer, config.routes.sticky), (Preference::Net, true));
    assert_eq!(config.warnings, Vec::<String>::new());
}

#[test]
fn variables_and_flags_say_the_same_as_the_file() {
    let of_file = read_with(
        "[[route]]\nname = 'r'\nuse = ['b']\n[[cost]]\nacquirer = 'a'\nfixed = 1\n[routing]\nprefer = 'net'\nsticky = true",
    );
    let route = "[{ name = 'r', use = ['b'] }]";
    let cost = "[{ acquirer = 'a', fixed = 1 }]";
    let options = [("route", route), ("cost", cost), ("routing-prefer", "net"), ("routing-sticky", "true")];
    let variables: Vec<_> = options
        .iter()
        .map(|(name, text)| (format!("QUITA_{}", name.to_uppercase().replace('-', "_")), *text))
        .collect();
    let variables: Vec<_> = variables.iter().map(|(name, text)| (name.as_str(), *text)).collect();
    let of_file = of_file.unwrap().routes;
    assert_eq!(load(&[], &variables, Some(ACQUIRERS)).unwrap().routes, of_file);
    assert_eq!(load(&options, &[], Some(ACQUIRERS)).unwrap().routes, of_file);
}

/// Every error in a table is reported with the table's name or position, and with its origin.
#[test]
fn every_wrong_value_is_told_with_its_place_and_what_is_allowed() {
    for (text, place, told) in [
        ("[[route]]\nuse = ['a']", "route[0].name", "it is missing; allowed: 1 to 64"),
        ("[[route]]\nname = ' '", "route[0].name", "is not allowed"),
        (
            "[[route]]\nname = 'r'\ncolour = 'red'",
            "route[r].colour",
            "there is no such key; known: name, when, use, ",
        ),
        ("[[route]]\nname = 'r'\nwhen = { colour = 'red' }", "route[r].when.colour", "there is no such key"),
        ("[[route]]\nname = 'r'\nwhen = 'always'", "route[r].when", "it is not a table"),
        (
            "[[route]]\nname = 'r'\nwhen = { method = 'cash' }",
            "route[r].when.method",
            "pix, boleto, credit_card",
        ),
        ("[[route]]\nname = 'r'\nwhen = { method = [] }", "route[r].when.method", "with at least one"),
        ("[[route]]\nname = 'r'\nwhen = { brand = ['elo', 'vissa'] }", "route[r].when.brand", "visa"),
        ("[[route]]\nname = 'r'\nwhen = { bin = '123' }", "route[r].when.bin", "4 to 6 digits"),
        ("[[route]]\nname = 'r'\nwhen = { bin = '1234567' }", "route[r].when.bin", "4 to 6 digits"),
        ("[[route]]\nname = 'r'\nwhen = { min-amount = 0 }", "route[r].when.min-amount", "cents"),
        ("[[route]]\nname = 'r'\nwhen = { max-amount = 1.5 }", "route[r].when.max-amount", "cents"),
        ("[[route]]\nname = 'r'\nwhen = { installments = '0' }", "route[r].when.installments", "1 to 12"),
        ("[[route]]\nname = 'r'\nwhen = { installments = '2-13' }", "route[r].when.installments", "1 to 12"),
        ("[[route]]\nname = 'r'\nwhen = { weekday = 'monday' }", "route[r].when.weekday", "mon, tue"),
        ("[[route]]\nname = 'r'\nwhen = { hours = '8-20' }", "route[r].when.hours", "08:00-20:00"),
        (
            "[[route]]\nname = 'r'\nwhen = { metadata = { a = 1 } }",
            "route[r].when.metadata",
            "a table of texts",
        ),
        ("[[route]]\nname = 'r'\nwhen = { metadata = {} }", "route[r].when.metadata", "it is empty"),
        ("[[route]]\nname = 'r'\nuse = 'a'", "route[r].use", "it is not an array"),
        ("[[route]]\nname = 'r'\nuse = []", "route[r].use", "it names no acquirer"),
        ("[[route]]\nname = 'r'\nuse = [{ weight = 1 }]", "route[r].use[0].acquirer", "it is missing"),
        (
            "[[route]]\nname = 'r'\nuse = ['a', { acquirer = 'b', weight = 1001 }]",
            "route[r].use[1].weight",
            "0 to 1000",
        ),
        (
            "[[route]]\nname = 'r'\nuse = [{ acquirer = 'a', share = 1 }]",
            "route[r].use[0].share",
            "no such key",
        ),
        ("[[route]]\nname = 'r'\nthen = 'else'", "route[r].then", "next or stop"),
        ("[[route]]\nname = 'r'\nretry-declines = 'often'", "route[r].retry-declines", "true or false"),
        ("[[cost]]\nfixed = 1", "cost[0].acquirer", "it is missing"),
        ("[[cost]]\nacquirer = 'a'", "cost[0].rate", "neither rate nor fixed"),
        ("[[cost]]\nacquirer = 'a'\nrate = '2,49%'", "cost[0].rate", "2.49%"),
        ("[[cost]]\nacquirer = 'a'\nrate = 2.49", "cost[0].rate", "2.49%"),
        ("[[cost]]\nacquirer = 'a'\nfixed = -1", "cost[0].fixed", "cents"),
        ("[routing]\nprefer = 'cheapest'", "routing-prefer", "priority or net"),
        ("[routing]\nsticky = 'often'", "routing-sticky", "true or false"),
        ("[routing]\ncolour = 'red'", "routing-colour", "there is no such option"),
        ("route = 'nonsense'", "route", "allowed: an array of tables"),
    ] {
        let messages = refusals(read_with(text));
        let [message] = &messages[..] else { panic!("{text}: {messages:#?}") };
        assert!(message.starts_with(&format!("{place}: ")) && message.contains(told), "{text}: {message}");
        assert!(message.contains("(file /") && message.contains(".toml key "), "{message}");
    }
}

#[test]
fn what_makes_no_sense_as_a_whole_is_refused_all_at_once() {
    let text = "[[route]]\nname = 'r'\nuse = ['a', 'nobody', 'a']\n\
        [[route]]\nname = 'r'\nwhen = { min-amount = 2, max-amount = 1 }\nuse = [{ acquirer = 'b', weight = 0 }]\n\
        [[cost]]\nacquirer = 'a'\nrate = '1%'\n[[cost]]\nacquirer = 'nobody'\nfixed = 1\n[[route]]\ncolour = 1";
    let messages = refusals(read_with(text));
    for told in [
        "route[2].name: it is missing",
        "route[2].colour: there is no such key",
        "route \"r\": there is no acquirer nobody; ",
        "route \"r\": it names a twice",
        "route \"r\": another route has this name",
        "route \"r\": its shares add to nothing",
        "route \"r\": it can never match: no amount is at least 0.02 and at most 0.01",
        "cost 2: there is no acquirer nobody; ",
    ] {
        assert!(messages.iter().any(|message| message.starts_with(told)), "{told}: {messages:#?}");
    }
    assert_eq!(messages.len(), 8, "{messages:#?}");
}

#[test]
fn what_hardly_matters_is_a_warning() {
    let text = "[[route]]\nname = 'all'\nuse = ['a']\n[[route]]\nname = 'late'\nuse = ['b']\n\
        [[cost]]\nacquirer = 'codes'\nwhen = { method = 'boleto' }\nfixed = 1";
    let warnings = read_with(text).unwrap().warnings;
    let [covered, idle] = &warnings[..] else { panic!("{warnings:#?}") };
    assert!(covered.starts_with("route \"late\": it can never match: route \"all\""), "{covered}");
    assert!(idle.starts_with("cost 1: codes does not take boleto"), "{idle}");
}

/// Problems of an acquirer are not reported again as a route to a missing one; errors of the routes alone are reported.
#[test]
fn acquirers_that_were_refused_are_not_missed_by_routes() {
    let text = "[[route]]\nname = 'r'\nuse = ['broken', { acquirer = 'a', weight = 0 }, 'broken']\n\
        [[acquirer]]\nname = 'broken'\nadapter = 'sandbox'\ncolour = 'red'";
    let messages = refusals(read_with(text));
    let [acquirer, route] = &messages[..] else { panic!("{messages:#?}") };
    assert!(acquirer.starts_with("acquirer[broken].colour: "), "{acquirer}");
    assert!(route.starts_with("route \"r\": it names broken twice"), "{route}");
}

#[test]
fn the_version_follows_from_what_is_said_and_not_from_how() {
    let version = |text: &str| read_with(text).unwrap().routes.version();
    let written = version("[[route]]\nname = 'r'\nwhen = { method = ['pix'], min-amount = 5 }\nuse = ['b']");
    let otherwise = version(
        "# why\n[[route]]\nuse = [{ weight = 1, acquirer = 'b' }]\nwhen = { min_amount = 5, method = 'pix' }\nthen = 'next'\nname = 'r'",
    );
    assert_eq!(written, otherwise);
    for other in [
        "",
        "[[route]]\nname = 'r'\nwhen = { method = ['pix'], min-amount = 6 }\nuse = ['b']",
        "[routing]\nsticky = true",
    ] {
        assert_ne!(version(other), written, "{other}");
    }
}

#[test]
fn production_may_have_routes_too() {
    let variables = [("QUITA_ENVIRONMENT", "production"), ("QUITA_ROUTING_STICKY", "true")];
    let config = load(&[], &variables, None).unwrap();
    assert_eq!((config.environment, config.routes.sticky), (Environment::Production, true));
}
