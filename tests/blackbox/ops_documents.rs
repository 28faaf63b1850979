//! Files that operators run beside the service, `docs/ops/`: they speak of what is there.
//!
//! `scripts/check_ops` checks that Prometheus understands them, and that alerts fire when they should.

mod exposition;
mod promql;

use std::collections::BTreeSet;
use std::fs;
use std::path::Path;

use exposition::Exposition;
use promql::{groupings, mentions};
use serde_json::{Value, json};

use crate::support::{Edit, PATIENCE, TestApp, TestReceiver, card, eventually, pix, sign};

const ALERTS: &str = include_str!("../../docs/ops/alerts.yml");
const RUNBOOK: &str = include_str!("../../docs/ops/RUNBOOK.md");
const DASHBOARD: &str = include_str!("../../docs/ops/grafana.json");

/// Columns of a dashboard.
const COLUMNS: u64 = 24;

fn root() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR"))
}

/// The texts of all files below a directory that end so.
fn texts_below(directory: &str, ending: &str) -> Vec<String> {
    let mut found = Vec::new();
    let mut waiting = vec![root().join(directory)];
    while let Some(directory) = waiting.pop() {
        for entry in fs::read_dir(directory).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() {
                waiting.push(path);
            } else if path.to_string_lossy().ends_with(ending) {
                found.push(fs::read_to_string(path).unwrap());
            }
        }
    }
    found
}

/// Every text below a node of JSON that is under one of these names.
fn strings(node: &Value, names: &[&str]) -> Vec<String> {
    let mut found = Vec::new();
    for (name, member) in node.as_object().into_iter().flatten() {
        found.extend(member.as_str().filter(|_| names.contains(&name.as_str())).map(str::to_owned));
        found.extend(strings(member, names));
    }
    found.extend(node.as_array().into_iter().flatten().flat_map(|node| strings(node, names)));
    found
}

fn dashboard() -> Value {
    serde_json::from_str(DASHBOARD).unwrap()
}

/// Returns the queries that the dashboard sends to Prometheus.
fn queries() -> Vec<String> {
    let queries = strings(&dashboard(), &["expr", "definition"]);
    assert!(queries.len() > 30, "{queries:?}");
    queries
}

/// Two sandboxes, and a bank that nobody calls: it has a certificate, and would have a token.
fn acquirers(folder: &Path) -> String {
    let key = rcgen::KeyPair::generate().unwrap();
    let certificate = rcgen::CertificateParams::new(vec!["quita".into()]).unwrap().self_signed(&key).unwrap();
    let [certificate_file, key_file] = ["bank.pem", "bank.key"].map(|name| folder.join(name));
    fs::write(&certificate_file, certificate.pem()).unwrap();
    fs::write(&key_file, key.serialize_pem()).unwrap();
    format!(
        "[{{ name = 'sandbox', adapter = 'sandbox' }}, \
         {{ name = 'sandbox-backup', adapter = 'sandbox', priority = 2 }}, \
         {{ name = 'bank', adapter = 'api_pix', token-auth = 'form-no-secret', client-id = 'quita', \
         base-url = 'https://localhost:9/v2', token-url = 'https://localhost:9/token', pix-key = 'a@b.example', \
         receiver-name = 'a', receiver-city = 'b', certificate-file = '{}', private-key-file = '{}' }}]",
        certificate_file.display(),
        key_file.display()
    )
}

/// Makes a service whose metrics have every label value that appears only once something went so.
fn eventful_service() -> (TestApp, TestReceiver) {
    let files = tempfile::tempdir().unwrap();
    // Nobody is there to take mails, but they are counted.
    let app = TestApp::builder()
        .arg("--acquirer", &acquirers(files.path()))
        .arg("--mail-server", "smtp://127.0.0.1:1")
        .arg("--mail-from", "quita@pay.example")
        .start();
    let receiver = TestReceiver::start();
    let client = app.client();
    receiver.answer(500);
    let told = |request: Value| request.with("postbackUrl", json!(receiver.url()));
    client.create(&told(card("4000000000000002", 10_000)));
    receiver.wait_for(1, PATIENCE);
    receiver.answer(200);
    client.create(&told(card("4242424242424242", 10_000)));
    client.create(&pix(10_000).with("postbackUrl", json!("http://127.0.0.1:1/")));
    // The outcome is unknown; the acquirer is down.
    let created_at = client.create(&pix(10_091))["createdAt"].as_str().unwrap().to_owned();
    client.create(&pix(10_099));
    send_notices(&app, &created_at);
    (app, receiver)
}

/// Notices of which one is not authentic, and one can't be read.
fn send_notices(app: &TestApp, now: &str) {
    let secret = app.quita(&["secrets", "notification", "sandbox"]).output();
    let now = chrono::DateTime::parse_from_rfc3339(now).unwrap().timestamp().to_string();
    let signature = sign(&secret, "msg_1", &now, b"{}");
    let headers = [("webhook-id", "msg_1"), ("webhook-timestamp", &*now), ("webhook-signature", &*signature)];
    let client = app.client_without_key();
    let path = "/acquirers/sandbox/notifications";
    assert_eq!(client.post_with(path, &headers, &json!({})).status, 200);
    client.post(path, &json!({})).expect_error(401, "unauthorized");
}

#[test]
fn every_metric_and_label_that_operators_rely_on_is_there() {
    let (app, _receiver) = eventful_service();
    let exposition = eventually(PATIENCE, "everything has happened", || {
        let exposition = Exposition::parse(&app.ops().get("/metrics").text());
        let attempts = exposition.values("quita_webhook_deliveries_total", "outcome");
        let calls = exposition.values("quita_acquirer_request_seconds_count", "outcome");
        let statuses = exposition.values("quita_payments_total", "status");
        let has_all = ["delivered", "refused", "failed"].iter().all(|outcome| attempts.contains(*outcome))
            && ["answered", "unknown", "not_delivered"].iter().all(|outcome| calls.contains(*outcome))
            && ["pending", "approved", "declined"].iter().all(|status| statuses.contains(*status));
        has_all.then_some(exposition)
    });
    let mut objections = Vec::new();
    let mut object = |text: &str, checks_values| {
        let found = mentions(text, "quita_");
        objections.extend(found.iter().filter_map(|mention| exposition.objection(mention, checks_values)));
        found.len()
    };
    assert!(object(ALERTS, true) > 30);
    let asked: usize = queries().iter().map(|query| object(query, true)).sum();
    assert!(asked > 30);
    object(RUNBOOK, true);
    object(&strings(&dashboard(), &["description"]).join(" "), true);
    // What the tests of the alerts feed them is made up, but must have the right form.
    let fed: usize = tests_of_alerts().iter().map(|text| object(text, false)).sum();
    assert!(fed > 50);
    let labels =
        queries().iter().map(String::as_str).chain([ALERTS]).flat_map(groupings).collect::<BTreeSet<_>>();
    objections.extend(labels.into_iter().filter(|label| !exposition.has_label(label)));
    assert!(objections.is_empty(), "{objections:#?}");
}

#[test]
fn every_recorded_series_that_is_used_is_recorded() {
    let recorded: BTreeSet<_> =
        ALERTS.lines().filter_map(|line| line.trim().strip_prefix("- record: ")).collect();
    let queries = queries().concat();
    let used = [ALERTS, &queries].map(|text| mentions(text, "quita:")).concat();
    let used: BTreeSet<_> = used.iter().map(|mention| mention.name.as_str()).collect();
    assert!(!recorded.is_empty());
    assert_eq!(used, recorded);
}

/// An alert: its name, and the rest of its rule.
fn alerts() -> Vec<(&'static str, &'static str)> {
    let rules = ALERTS.split("      - alert: ").skip(1).filter_map(|rules| rules.split("\n\n").next());
    let alerts: Vec<_> = rules.map(|rule| rule.split_once('\n').unwrap()).collect();
    assert!(alerts.len() > 20, "{alerts:?}");
    alerts
}

fn names_of_alerts() -> BTreeSet<&'static str> {
    alerts().into_iter().map(|(name, _)| name).collect()
}

/// The headings of the runbook's sections, after `###`.
fn sections() -> Vec<&'static str> {
    RUNBOOK.lines().filter_map(|line| line.strip_prefix("### ")).collect()
}

#[test]
fn every_alert_has_its_section_and_every_section_its_alert() {
    let alerts = alerts();
    assert_eq!(names_of_alerts().len(), alerts.len(), "each name once");
    for (name, rule) in alerts {
        for part in ["expr: ", "severity: ", "summary: ", "description: "] {
            assert_eq!(rule.matches(part).count(), 1, "{name}: {part}");
        }
        let severity = rule.split("severity: ").nth(1).unwrap().lines().next().unwrap();
        assert!(["critical", "warning"].contains(&severity), "{name}: {severity}");
        let url = rule.split("runbook_url: ").nth(1).unwrap().lines().next().unwrap();
        assert_eq!(url, format!("docs/ops/RUNBOOK.md#{}", name.to_lowercase()));
    }
    let of_alerts: Vec<_> = sections().into_iter().filter(|section| section.starts_with("Quita")).collect();
    assert_eq!(of_alerts.iter().copied().collect::<BTreeSet<_>>(), names_of_alerts());
    assert_eq!(of_alerts.len(), names_of_alerts().len(), "each section once");
}

#[test]
fn every_kind_of_exception_has_its_section() {
    let app = TestApp::new();
    let exposition = Exposition::parse(&app.ops().get("/metrics").text());
    let kinds = exposition.values("quita_exceptions_total", "kind");
    assert!(kinds.len() > 5, "{kinds:?}");
    let (_, of_kinds) = RUNBOOK.split_once("## Kinds of exceptions\n").unwrap();
    let of_kinds = of_kinds.split("\n## ").next().unwrap();
    let described = of_kinds.lines().filter_map(|line| line.strip_prefix("### ")).map(str::to_owned);
    assert_eq!(described.collect::<BTreeSet<_>>(), kinds);
}

fn tests_of_alerts() -> Vec<String> {
    texts_below("docs/ops/alerts_test", ".yml")
}

#[test]
fn every_alert_is_tried_firing_and_silent() {
    let tests = tests_of_alerts().concat();
    let mut firing = BTreeSet::new();
    let mut silent = BTreeSet::new();
    for case in tests.split("- alertname: ").skip(1) {
        let (name, case) = case.split_once('\n').unwrap();
        let (_, expected) = case.split_once("exp_alerts:").unwrap();
        if expected.trim_start().starts_with("[]") {
            silent.insert(name)
        } else {
            firing.insert(name)
        };
    }
    assert_eq!(firing, names_of_alerts());
    assert_eq!(silent, names_of_alerts());
}

#[test]
fn the_dashboard_is_sound() {
    let dashboard = dashboard();
    let panels = dashboard["panels"].as_array().unwrap();
    let ids: BTreeSet<_> = panels.iter().map(|panel| panel["id"].as_u64().unwrap()).collect();
    assert_eq!(ids.len(), panels.len(), "each id once");
    let mut taken = BTreeSet::new();
    for panel in panels {
        let title = panel["title"].as_str().unwrap();
        let place = |name: &str| panel["gridPos"][name].as_u64().unwrap();
        let x = place("x");
        let y = place("y");
        let width = place("w");
        let height = place("h");
        assert!(width > 0 && height > 0 && x + width <= COLUMNS, "{title}");
        for column in x..x + width {
            for line in y..y + height {
                assert!(taken.insert((column, line)), "{title} lies upon another panel");
            }
        }
        if panel["type"] == "row" {
            assert_eq!((x, width), (0, COLUMNS), "{title}");
            continue;
        }
        let description = panel["description"].as_str().unwrap();
        let runbook = description.split_once("RUNBOOK: ").map_or("", |(_, sections)| sections);
        for section in runbook.split([' ', ',', '.']).filter(|word| word.starts_with("Quita")) {
            assert!(names_of_alerts().contains(section), "{title}: {section}");
        }
        assert!(panel["fieldConfig"]["defaults"]["unit"].is_string(), "{title} has no unit");
        let targets = panel["targets"].as_array().unwrap();
        let references: BTreeSet<_> =
            targets.iter().map(|target| target["refId"].as_str().unwrap()).collect();
        assert!(!targets.is_empty() && references.len() == targets.len(), "{title}");
        for target in targets {
            assert!(!target["legendFormat"].as_str().unwrap().is_empty(), "{title}");
            assert_eq!(target["datasource"]["uid"], "${datasource}", "{title}");
        }
    }
}

/// The pieces of the runbook that are set as code within a paragraph; they may go over the end of a line.
fn code() -> Vec<String> {
    let paragraphs: String = RUNBOOK.split("```").step_by(2).collect();
    let pieces = paragraphs.split('`').skip(1).step_by(2);
    pieces.map(|piece| piece.split_whitespace().collect::<Vec<_>>().join(" ")).collect()
}

#[test]
fn the_runbook_quotes_what_the_service_logs() {
    let sources = ["acquirers/src", "actors/src", "adapters", "config/src", "src"]
        .map(|crate_| texts_below(crate_, ".rs").concat())
        .concat();
    let code = code();
    let quoted = code.iter().filter_map(|code| code.strip_prefix('"')?.strip_suffix('"'));
    let quoted: BTreeSet<_> = quoted.filter(|line| *line != "like this").collect();
    assert!(quoted.len() > 10, "{quoted:?}");
    let unknown: Vec<_> = quoted.into_iter().filter(|line| !sources.contains(line)).collect();
    assert!(unknown.is_empty(), "no source has {unknown:#?}");
}

#[test]
fn the_runbook_names_commands_and_places_that_are_there() {
    let app = TestApp::new();
    let mut commands: BTreeSet<Vec<_>> = BTreeSet::new();
    let code = code();
    for command in code.iter().filter_map(|code| code.strip_prefix("quita ")) {
        let is_word = |word: &&str| word.chars().all(|c| c.is_ascii_lowercase());
        commands.insert(command.split(' ').take_while(is_word).collect());
    }
    assert!(commands.len() > 3, "{commands:?}");
    for command in commands {
        app.quita(&[&command[..], &["--help"]].concat()).output();
    }
    let headings =
        RUNBOOK.lines().filter_map(|line| Some(line.strip_prefix('#')?.trim_start_matches('#').trim()));
    let anchors: BTreeSet<_> = headings.map(|heading| heading.to_lowercase().replace(' ', "-")).collect();
    for link in RUNBOOK.split("](").skip(1).map(|rest| rest.split(')').next().unwrap()) {
        match link.strip_prefix('#') {
            Some(anchor) => assert!(anchors.contains(anchor), "{link}"),
            None => {
                let file = link.split('#').next().unwrap();
                assert!(root().join("docs/ops").join(file).exists(), "{link}");
            }
        }
    }
}
