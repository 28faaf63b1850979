//! Rules: who gets a payment, why, and how rules change while the service runs.

use std::fs;
use std::path::PathBuf;

use serde_json::{Value, json};
use tempfile::TempDir;

use crate::support::{PATIENCE, TestApp, boleto, card, eventually, pix};

const ACQUIRERS: &str = "
[[acquirer]]
name = \"a\"
adapter = \"sandbox\"

[[acquirer]]
name = \"b\"
adapter = \"sandbox\"
priority = 2

[[acquirer]]
name = \"c\"
adapter = \"sandbox\"
priority = 3
";

const RULES: &str = "
[[route]]
name = \"elo\"
when = { brand = \"elo\", min-amount = 10000 }
use = [{ acquirer = \"c\" }]

[[route]]
name = \"slips\"
when = { method = \"boleto\" }
use = [{ acquirer = \"b\" }]
then = \"stop\"

[[route]]
name = \"from the app\"
when = { metadata = { channel = \"app\" } }
use = [{ acquirer = \"b\", weight = 70 }, { acquirer = \"c\", weight = 30 }]

[[cost]]
acquirer = \"c\"
when = { method = \"credit_card\" }
rate = \"2.49%\"
fixed = 10
";

/// A configuration that the test may write anew.
struct Files(TempDir);

impl Files {
    fn with(routes: &str) -> Self {
        let files = Self(tempfile::tempdir().unwrap());
        files.write(routes);
        files
    }

    fn path(&self) -> PathBuf {
        self.0.path().join("quita.toml")
    }

    fn write(&self, routes: &str) {
        fs::write(self.path(), format!("{ACQUIRERS}{routes}")).unwrap();
    }

    fn serve(&self) -> TestApp {
        TestApp::builder().arg("--config", self.path().to_str().unwrap()).expects_errors().start()
    }
}

/// The rule that decided, and the acquirers with their reasons.
fn routing(record: &Value) -> (Option<&str>, Vec<String>) {
    let considered = record["routing"]["considered"].as_array().unwrap().iter();
    let told =
        |one: &Value| format!("{} {}", one["acquirer"].as_str().unwrap(), one["reason"].as_str().unwrap());
    (record["routing"]["rule"].as_str(), considered.map(told).collect())
}

#[test]
fn the_first_rule_that_matches_decides_and_the_record_says_so() {
    let app = Files::with(RULES).serve();
    let client = app.client();
    let elo = client.create(&card("6362970000457013", 10_000));
    assert_eq!(
        routing(&elo),
        (Some("elo"), vec!["c eligible".into(), "a eligible".into(), "b eligible".into()])
    );
    assert_eq!(elo["acquirer"], "c");
    let small = client.create(&card("6362970000457013", 9_900));
    assert_eq!(routing(&small), (None, vec!["a eligible".into(), "b eligible".into(), "c eligible".into()]));
    let slip = client.create(&boleto(10_000));
    let expected = vec!["b eligible".into(), "a not_in_rule".into(), "c not_in_rule".into()];
    assert_eq!(routing(&slip), (Some("slips"), expected));
    let version = elo["routing"]["version"].as_str().unwrap();
    assert!(version.len() == 12 && version.bytes().all(|byte| byte.is_ascii_hexdigit()), "{version}");
    assert_eq!(
        (&small["routing"]["version"], &slip["routing"]["version"]),
        (&json!(version), &json!(version))
    );
    let metrics = app.ops().get("/metrics").text();
    assert!(metrics.contains(&format!("quita_routing_version{{version=\"{version}\"}} 1")), "{metrics}");
}

#[test]
fn a_rule_that_stops_leaves_nobody_else_to_try() {
    let files = Files::with(RULES);
    let app = files.serve();
    // 99: the acquirer is down, and the next one would be taken.
    let record = app.client().create(&boleto(10_099));
    assert_eq!(
        (&record["status"], &record["statusReason"]),
        (&json!("declined"), &json!("no_acquirer_available"))
    );
    let attempts = record["routing"]["attempts"].as_array().unwrap();
    assert_eq!(attempts.iter().map(|one| &one["acquirer"]).collect::<Vec<_>>(), ["b"]);
}

#[test]
fn the_shares_of_a_rule_are_drawn() {
    let app = Files::with(RULES).serve();
    let client = app.client();
    let mut request = pix(10_027);
    request["metadata"] = json!({"channel": "app"});
    let taken: Vec<_> = (0..60).map(|_| client.create(&request)["acquirer"].clone()).collect();
    let at_b = taken.iter().filter(|name| **name == json!("b")).count();
    // 70 % of 60 are 42; beyond these bounds it is by chance in one of a million runs.
    assert!((24..=57).contains(&at_b) && !taken.contains(&json!("a")), "{taken:?}");
}

#[test]
fn other_rules_are_taken_at_sighup_and_wrong_ones_change_nothing() {
    let files = Files::with("");
    let app = files.serve();
    let client = app.client();
    let taker = || client.create(&pix(10_000))["acquirer"].as_str().unwrap().to_owned();
    let reloads = |outcome: &str| {
        let series = format!("quita_config_reloads_total{{outcome=\"{outcome}\"}} ");
        let metrics = app.ops().get("/metrics").text();
        metrics.lines().find_map(|line| line.strip_prefix(&series)?.parse::<u64>().ok()).unwrap()
    };
    let hang_up = |outcome: &str| {
        let before = reloads(outcome);
        app.signal("HUP");
        eventually(PATIENCE, "the configuration was read", || (reloads(outcome) == before + 1).then_some(()));
    };
    assert_eq!(taker(), "a");
    let all_to = |name: &str| format!("[[route]]\nname = \"all\"\nuse = [{{ acquirer = \"{name}\" }}]\n");
    files.write(&all_to("b"));
    hang_up("applied");
    assert_eq!(taker(), "b");
    hang_up("unchanged");
    for wrong in [all_to("nobody"), format!("{}colour = \"red\"\n", all_to("c"))] {
        files.write(&wrong);
        hang_up("refused");
        assert_eq!(taker(), "b");
    }
    // It is in the file, and does not run yet.
    files.write(&format!("[[acquirer]]\nname = \"d\"\nadapter = \"sandbox\"\n{}", all_to("d")));
    hang_up("refused");
    assert_eq!(taker(), "b");
    assert!(app.log().contains("is there after a restart"), "{}", app.log());
    files.write("");
    hang_up("applied");
    assert_eq!(taker(), "a");
}

#[test]
fn check_tells_the_rules_in_sentences_and_what_is_wrong_with_them() {
    let files = Files::with(RULES);
    let app = TestApp::new();
    let check = || app.program(&["routing", "check", "--config", files.path().to_str().unwrap()]).run();
    let told = check().output();
    let lines: Vec<_> = told.lines().skip(1).collect();
    let expected = [
        "route \"elo\": when the card is elo, and the amount is at least 100.00: c",
        "route \"slips\": when the method is boleto: b, and nobody else",
        "route \"from the app\": when the metadata's channel is app: b 70%, c 30%",
        "all others: by priority and weight",
        "cost of c: when the method is credit_card: 2.49% and 0.10",
        "nothing to mend",
    ];
    assert_eq!(lines, expected, "{told}");
    files.write(&format!("{RULES}\n[[route]]\nname = \"late\"\nwhen = {{ method = \"boleto\", max-amount = 500 }}\nuse = [{{ acquirer = \"b\" }}]\n"));
    let doubtful = check();
    let warning = "warning: route \"late\": it can never match: route \"slips\" matches everything that it would; put it before";
    assert!(doubtful.stdout.contains(warning) && doubtful.code == Some(0), "{doubtful:?}");
    files.write("[[route]]\nname = \"x\"\nuse = [{ acquirer = \"nobody\" }]\n");
    let wrong = check();
    assert_eq!(wrong.code, Some(1), "{wrong:?}");
    assert!(wrong.stderr.contains("route \"x\": there is no acquirer nobody"), "{wrong:?}");
}
