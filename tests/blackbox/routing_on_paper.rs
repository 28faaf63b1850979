//! Routes that payments would take: dry runs, and replays of payments that exist.

use std::collections::BTreeSet;
use std::path::Path;

use serde_json::{Value, json};

use crate::support::{Edit, TestApp, boleto, card, pix};

/// Acquirers with weights and limits, a rule, and costs: everything that a plan looks at.
const ACQUIRERS: &str = "[{ name = \"a\", adapter = \"sandbox\", weight = 7 }, \
    { name = \"b\", adapter = \"sandbox\", weight = 3 }, \
    { name = \"small\", adapter = \"sandbox\", priority = 0, max-amount = 100 }, \
    { name = \"cards\", adapter = \"sandbox\", methods = [\"credit_card\"] }]";
const ROUTES: &str = "[{ name = \"half\", when = { brand = \"visa\" }, \
    use = [{ acquirer = \"a\", weight = 1 }, { acquirer = \"b\", weight = 1 }] }]";
const COSTS: &str = "[{ acquirer = \"a\", rate = \"2.49%\", fixed = 10 }, \
    { acquirer = \"b\", when = { brand = \"visa\" }, rate = \"1%\" }]";

fn app() -> TestApp {
    let app = TestApp::builder().env("QUITA_ACQUIRER", ACQUIRERS);
    app.env("QUITA_ROUTE", ROUTES).env("QUITA_COST", COSTS).start()
}

/// Returns the service's answer for a body, and checks that the command line prints the same.
fn evaluated(app: &TestApp, body: &Value) -> Value {
    let answered = app.client().post("/pay/routing/evaluate", body).expect(200);
    std::fs::write(app.directory().join("body.json"), body.to_string()).unwrap();
    let arguments = ["routing", "evaluate", "--file", "body.json", "--merchant", "demo"];
    let program = app.program(&arguments).env("QUITA_ACQUIRER", ACQUIRERS);
    let printed = program.env("QUITA_ROUTE", ROUTES).env("QUITA_COST", COSTS).run().output();
    assert_eq!(serde_json::from_str::<Value>(&printed).unwrap(), answered);
    answered
}

/// Returns the acquirers that were looked at, in order, with what each takes.
fn considered(answered: &Value) -> Vec<(&str, &str)> {
    let considered = answered["considered"].as_array().unwrap().iter();
    considered.map(|one| (one["acquirer"].as_str().unwrap(), one["cost"].as_str().unwrap())).collect()
}

#[test]
fn a_dry_run_is_the_same_on_the_command_line_and_stores_nothing() {
    let app = app();
    let visa = card("4242424242424242", 10_000).with("creditCard", json!({"bin": "424242", "brand": "visa"}));
    let elo = card("6362970000457013", 10_000).with("creditCard", json!({"number": "6362970000457013"}));
    for (body, rule, firsts, looked_at) in [
        (
            visa,
            json!("half"),
            &["a", "b"][..],
            &[("a", "2.59"), ("b", "1.00"), ("cards", "0.00"), ("small", "0.00")][..],
        ),
        (
            elo,
            Value::Null,
            &["a", "b", "cards"],
            &[("a", "2.59"), ("b", "0.00"), ("cards", "0.00"), ("small", "0.00")],
        ),
        (boleto(10_000), Value::Null, &["a", "b"], &[("a", "2.59"), ("b", "0.00"), ("small", "0.00")]),
        (pix(50), Value::Null, &["small"], &[("a", "0.11"), ("b", "0.00"), ("small", "0.00")]),
    ] {
        let mut seen = BTreeSet::new();
        for dice in 0..8_u64 {
            let dice = dice.wrapping_mul(0x2545_f491_4f6c_dd1d);
            let at = json!("2026-12-01T12:00:00.000Z");
            let answered =
                evaluated(&app, &body.clone().with("dice", json!(dice.to_string())).with("at", at));
            assert_eq!(answered["rule"], rule, "{answered:#}");
            let mut found = considered(&answered);
            seen.insert(found[0].0.to_owned());
            found.sort_unstable();
            assert_eq!(found, looked_at, "{answered:#}");
        }
        assert!(seen.iter().all(|first| firsts.contains(&first.as_str())), "{seen:?}");
        assert_eq!(seen.len() > 1, firsts.len() > 1, "the dice decide: {seen:?}");
    }
    assert_eq!(app.client().get("/pay/payments").expect(200)["data"], json!([]));
}

#[test]
fn a_dry_run_tells_with_which_code_the_payment_would_be_refused() {
    let small = "[{ name = \"small\", adapter = \"sandbox\", methods = [\"pix\"], max-amount = 100 }]";
    let app = TestApp::builder().env("QUITA_ACQUIRER", small).start();
    let live = app.client_with(&app.create_key(&["--merchant", "shop", "--mode", "live"]));
    for (client, cents, refusal) in [
        (&app.client(), 100, Value::Null),
        (&app.client(), 101, json!("amount_not_accepted")),
        (&live, 100, json!("method_unavailable")),
    ] {
        let answered = client.post("/pay/routing/evaluate", &pix(cents)).expect(200);
        assert_eq!(answered["refusal"], refusal, "{answered:#}");
        let created = client.post("/pay/payments", &pix(cents)).json();
        assert_eq!(created.get("code"), refusal.as_str().map(|_| &refusal), "as a creation: {created:#}");
    }
}

#[test]
fn a_dry_run_needs_a_key_that_may_read_and_a_body_that_could_be_created() {
    let app = app();
    let path = "/pay/routing/evaluate";
    app.client_without_key().post(path, &pix(1_000)).expect(401);
    let writer = app.create_key(&["--merchant", "demo", "--scopes", "payments:write"]);
    app.client_with(&writer).post(path, &pix(1_000)).expect(403);
    let broken = pix(0).with("dice", json!("many"));
    let refused = app.client().post(path, &broken).expect(422);
    let fields: Vec<_> = refused["details"].as_array().unwrap().iter().map(|one| &one["field"]).collect();
    assert_eq!(fields, ["dice", "amount"], "{refused:#}");
}

/// A configuration in which this one takes what is large, and `b` the rest with this priority.
fn configuration(folder: &Path, name: &str, large: &str, priority_of_b: u32) -> String {
    let text = format!(
        "[[acquirer]]\nname = 'a'\nadapter = 'sandbox'\nweight = 7\n\
         [[acquirer]]\nname = 'b'\nadapter = 'sandbox'\nweight = 3\npriority = {priority_of_b}\n\
         [[route]]\nname = 'large'\nwhen = {{ min-amount = 20000 }}\nuse = ['{large}']\n\
         [[cost]]\nacquirer = 'a'\nrate = '2%'\n[[cost]]\nacquirer = 'b'\nfixed = 50\n"
    );
    let path = folder.join(name);
    std::fs::write(&path, text).unwrap();
    path.to_str().unwrap().to_owned()
}

#[test]
fn a_replay_tells_what_other_routes_would_have_moved_and_cost() {
    let folder = tempfile::tempdir().unwrap();
    let old = configuration(folder.path(), "old.toml", "a", 1);
    let app = TestApp::builder().arg("--config", &old).start();
    let first = |cents| app.client().create(&pix(cents))["acquirer"].as_str().unwrap().to_owned();
    let firsts: Vec<_> = (0..30).map(|_| first(10_027)).collect();
    let at_a = firsts.iter().filter(|name| *name == "a").count();
    assert!((1..30).contains(&at_a), "{firsts:?}");
    assert_eq!([first(20_027), first(20_027)], ["a", "a"]);
    // 2.01 and twice 4.01 at `a`, and 0.50 at `b`.
    let before = at_a * 201 + (30 - at_a) * 50 + 2 * 401;
    let replay = |with: &str, more: &[&str]| {
        let arguments = ["routing", "replay", "--config", &old, "--since", "1h", "--with", with];
        app.quita(&[&arguments, more].concat()).output()
    };
    for (large, priority_of_b, moved, after) in
        [("a", 1, 0, before), ("b", 1, 2, before - 2 * 401 + 2 * 50), ("a", 0, at_a, 30 * 50 + 2 * 401)]
    {
        let new = configuration(folder.path(), "new.toml", large, priority_of_b);
        let reais = |cents: usize| format!("{}.{:02}", cents / 100, cents % 100);
        let ways = json!([{"from": "a", "to": "b", "count": moved}]);
        let expected = json!({
            "payments": 32, "moved": moved, "ways": if moved == 0 { json!([]) } else { ways },
            "cost": {"before": reais(before), "after": reais(after)},
        });
        assert_eq!(serde_json::from_str::<Value>(&replay(&new, &["--json"])).unwrap(), expected);
        let told = replay(&new, &[]);
        assert_eq!(told.contains(&format!("\n  a → b: {moved}\n")), moved > 0, "{told}");
    }
}
