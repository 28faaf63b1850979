//! Rules decide which acquirer is tried first, and what is said about them before they do.

use std::path::Path;

use serde_json::{Value, json};

use crate::support::{Program, TestApp, boleto, card, pix};

const DOCUMENT: &str = include_str!("../../docs/ROUTING.md");

const TWO: &str =
    "[{ name = \"a\", adapter = \"sandbox\" }, { name = \"b\", adapter = \"sandbox\", priority = 2 }]";

fn app_with(routes: &str) -> TestApp {
    TestApp::builder().env("QUITA_ACQUIRER", TWO).env("QUITA_ROUTE", routes).start()
}

fn considered(record: &Value) -> Vec<(&str, &str)> {
    let considered = record["routing"]["considered"].as_array().unwrap().iter();
    considered.map(|one| (one["acquirer"].as_str().unwrap(), one["reason"].as_str().unwrap())).collect()
}

/// Runs `quita routing check` with this file.
fn check(configuration: &str) -> (Option<i32>, String, String) {
    check_with(configuration, &[])
}

fn check_with(configuration: &str, options: &[&str]) -> (Option<i32>, String, String) {
    let folder = tempfile::tempdir().unwrap();
    std::fs::write(folder.path().join("quita.toml"), configuration).unwrap();
    let arguments = [&["routing", "check", "--config", "quita.toml"], options].concat();
    let ended = Program::new(folder.path(), arguments).run();
    (ended.code, ended.stdout, ended.stderr)
}

#[test]
fn the_first_rule_that_matches_decides_and_the_payment_says_so() {
    let app = app_with(
        "[{ name = \"small\", when = { method = \"pix\", max-amount = 10027 }, use = [\"b\"], then = \"stop\" }, \
          { name = \"pix\", when = { method = \"pix\" }, use = [\"a\"] }, \
          { name = \"visa\", when = { bin = \"4242\" }, use = [\"b\"] }]",
    );
    let client = app.client();
    let ways = [
        (pix(10_027), "b", json!("small"), vec![("b", "eligible"), ("a", "not_in_rule")]),
        (pix(10_127), "a", json!("pix"), vec![("a", "eligible"), ("b", "eligible")]),
        (boleto(10_027), "a", json!(null), vec![("a", "eligible"), ("b", "eligible")]),
        (card("4242424242424242", 10_000), "b", json!("visa"), vec![("b", "eligible"), ("a", "eligible")]),
        (card("5555555555554444", 10_000), "a", json!(null), vec![("a", "eligible"), ("b", "eligible")]),
    ];
    let mut versions = std::collections::BTreeSet::new();
    for (request, acquirer, rule, looked_at) in ways {
        let record = client.create(&request);
        assert_eq!(
            (&record["acquirer"], &record["routing"]["rule"]),
            (&json!(acquirer), &rule),
            "{record:#}"
        );
        assert_eq!(considered(&record), looked_at, "{record:#}");
        versions.insert(record["routing"]["version"].as_str().unwrap().to_owned());
    }
    let versions: Vec<_> = versions.into_iter().collect();
    assert!(versions.len() == 1 && versions[0].len() == 12, "{versions:?}");
    let metric = format!("quita_routing_version{{version=\"{}\"}} 1", versions[0]);
    assert!(app.ops().get("/metrics").text().contains(&metric), "{metric}");
    let log = app.log();
    let mut lines = log.lines();
    let told = lines.any(|line| line.contains("the service is ready") && line.contains(&versions[0]));
    assert!(told, "{log}");
}

#[test]
fn a_rule_that_stops_leaves_nobody_else() {
    let app = app_with("[{ name = \"only b\", use = [\"b\"], then = \"stop\" }]");
    let client = app.client();
    let record = client.create(&pix(10_099));
    let record = client.wait_for_status(record["transactionId"].as_str().unwrap(), "declined");
    assert_eq!(record["statusReason"], "no_acquirer_available", "{record:#}");
    assert_eq!(record["routing"]["rule"], "only b", "{record:#}");
}

#[test]
fn an_amount_that_none_of_a_rule_takes_goes_to_those_that_it_does_not_name_unless_it_stops() {
    let acquirers = "[{ name = \"small\", adapter = \"sandbox\", max-amount = 20000 }, \
                      { name = \"other\", adapter = \"sandbox\", priority = 2 }]";
    let app = |then: &str| {
        let route = format!("[{{ name = \"to small\", use = [\"small\"], then = \"{then}\" }}]");
        TestApp::builder().env("QUITA_ACQUIRER", acquirers).env("QUITA_ROUTE", &route).start()
    };
    let goes_on = app("next");
    let record = goes_on.client().create(&pix(30_027));
    assert_eq!(
        (&record["acquirer"], &record["routing"]["rule"], considered(&record)),
        (&json!("other"), &json!("to small"), vec![("other", "eligible"), ("small", "amount_out_of_bounds")])
    );
    let stops = app("stop");
    let client = stops.client();
    let refused = client.post_once("/pay/payments", "k", &pix(30_027));
    let error = refused.expect_error(422, "amount_not_accepted");
    assert!(
        error["message"].as_str().unwrap().contains("none of the acquirers for this payment"),
        "{refused}"
    );
    assert_eq!(client.post_once("/pay/payments", "k", &pix(10_027)).status, 201, "the key is free");
}

#[test]
fn a_service_does_not_start_with_routes_that_are_wrong() {
    let folder = tempfile::tempdir().unwrap();
    for (routes, told) in [
        ("[{ name = \"r\", use = [\"c\"] }]", "route \"r\": there is no acquirer c"),
        ("[{ name = \"r\", colour = 1 }]", "route[r].colour: there is no such key"),
        ("nonsense", "route: "),
    ] {
        let program = Program::new(folder.path(), ["serve", "--listen", "127.0.0.1:0"]);
        let refused = program.env("QUITA_ACQUIRER", TWO).env("QUITA_ROUTE", routes).run();
        assert_eq!(refused.code, Some(2), "{routes}: {refused:?}");
        assert!(refused.stderr.contains(told), "{routes}: {refused:?}");
    }
}

#[test]
fn what_is_doubtful_is_told_and_passes_and_what_is_wrong_fails() {
    let acquirer = "[[acquirer]]\nname = 'a'\nadapter = 'sandbox'\n";
    let (code, told, _) =
        check(&format!("{acquirer}[[route]]\nname = 'r'\nwhen = {{ method = 'pix' }}\nuse = ['a']\n"));
    assert_eq!(code, Some(0));
    assert!(told.contains("route \"r\": when the method is pix: a, then the others\n"), "{told}");
    assert!(told.ends_with("nothing is wrong\n"), "{told}");
    let twice = "[[route]]\nname = 'r'\nuse = ['a']\n[[route]]\nname = 's'\nuse = ['a']\n";
    let (code, told, _) = check(&format!("{acquirer}{twice}"));
    assert_eq!(code, Some(0));
    assert!(told.contains("\ndoubtful: route \"s\": it can never match: route \"r\" "), "{told}");
    let (code, told, why) = check(&format!(
        "{acquirer}[[route]]\nname = 'r'\nuse = ['a', 'b']\nthen = 'go'\n[[route]]\nname = 's'\nuse = ['b']\n"
    ));
    assert_eq!((code, told.as_str()), (Some(1), ""));
    for wrong in ["route[r].then: ", "route \"s\": there is no acquirer b; write the name of an [[acquirer]]"]
    {
        assert!(why.contains(wrong), "{why}");
    }
}

#[test]
fn programs_read_the_same_as_one_object() {
    let configuration = "[[acquirer]]\nname = 'a'\nadapter = 'sandbox'\n[[route]]\nname = 'r'\nuse = ['a']\n\
        [[route]]\nname = 's'\nuse = ['a']\n[[cost]]\nacquirer = 'a'\nrate = '1%'\n";
    let (code, told, _) = check(configuration);
    assert_eq!(code, Some(0));
    let (code, report, _) = check_with(configuration, &["--json"]);
    assert_eq!(code, Some(0));
    let report: Value = serde_json::from_str(&report).unwrap();
    let names = ["r", "s"].map(|name| json!(name));
    assert_eq!([&report["rules"][0]["name"], &report["rules"][1]["name"]], names.each_ref(), "{report:#}");
    assert_eq!(report["costs"][0]["name"], "a", "{report:#}");
    assert_eq!(report["doubts"][0]["place"], "route \"s\"", "{report:#}");
    assert_eq!(report["doubts"].as_array().unwrap().len(), 1, "{report:#}");
    let sentence = |value: &Value| value.as_str().unwrap().to_owned();
    let mut sentences = vec![format!("version {}", report["version"].as_str().unwrap())];
    sentences.extend(
        ["rules", "costs"]
            .iter()
            .flat_map(|part| report[part].as_array().unwrap().iter().map(|line| sentence(&line["meaning"]))),
    );
    sentences.push(sentence(&report["others"]));
    sentences.push(sentence(&report["doubts"][0]["message"]));
    for sentence in sentences {
        assert!(told.contains(&sentence), "{sentence}: {told}");
    }
    let (code, report, why) = check_with("[[route]]\nname = 's'\nuse = ['b']\n", &["--json"]);
    assert_eq!((code, report.as_str()), (Some(1), ""), "{why}");
}

#[test]
fn the_examples_of_the_document_print_what_it_shows() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let blocks: Vec<_> = DOCUMENT.split("```\n").filter(|block| block.starts_with("$ quita ")).collect();
    assert!(blocks.len() >= 3, "{blocks:?}");
    for block in blocks {
        let (command, shown) = block.split_once('\n').unwrap();
        let said = Program::new(root, command.trim_start_matches("$ quita ").split(' ')).run().said();
        assert_eq!(said, shown, "{command}");
    }
}
