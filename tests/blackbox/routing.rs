//! Which acquirer takes a payment: methods, amounts, priorities, and what is answered when none does.

use serde_json::{Value, json};

use crate::support::{TestApp, boleto, card, pix};

fn app_with(acquirers: &str) -> TestApp {
    TestApp::builder().env("QUITA_ACQUIRER", acquirers).start()
}

/// Name and eligibility of every acquirer that was looked at.
fn considered(record: &Value) -> Vec<(&str, bool)> {
    let considered = record["routing"]["considered"].as_array().unwrap().iter();
    let shown = considered.map(|one| {
        assert!(one["reason"].as_str().is_some_and(|reason| !reason.is_empty()), "{record:#}");
        (one["acquirer"].as_str().unwrap(), one["eligible"].as_bool().unwrap())
    });
    shown.collect()
}

#[test]
fn the_amount_chooses_the_acquirer() {
    let app = app_with(
        "[{ name = \"small\", adapter = \"sandbox\", max-amount = 10000 }, \
          { name = \"large\", adapter = \"sandbox\", min-amount = 10001 }]",
    );
    for (cents, expected) in [(1, "small"), (10_000, "small"), (10_001, "large"), (9_999_999_900, "large")] {
        let record = app.client().create(&pix(cents));
        assert_eq!(record["acquirer"], expected, "{record:#}");
        let other = if expected == "small" { "large" } else { "small" };
        assert!(considered(&record).contains(&(other, false)), "{record:#}");
    }
}

#[test]
fn the_method_chooses_the_acquirer() {
    let app = app_with(
        "[{ name = \"codes\", adapter = \"sandbox\", methods = [\"pix\", \"boleto\"] }, \
          { name = \"cards\", adapter = \"sandbox\", methods = [\"credit_card\"] }]",
    );
    let client = app.client();
    for (request, expected) in
        [(pix(10_027), "codes"), (boleto(10_027), "codes"), (card("4242424242424242", 10_000), "cards")]
    {
        assert_eq!(client.create(&request)["acquirer"], expected);
    }
}

#[test]
fn the_first_in_priority_is_taken_and_the_next_is_the_way_out() {
    let app = app_with(
        "[{ name = \"second\", adapter = \"sandbox\", priority = 2 }, \
          { name = \"first\", adapter = \"sandbox\", priority = 1 }]",
    );
    let client = app.client();
    let record = client.create(&pix(10_027));
    assert_eq!(
        (&record["acquirer"], considered(&record)),
        (&json!("first"), vec![("first", true), ("second", true)])
    );
    let record = client.create(&pix(10_099));
    let record = client.wait_for_status(record["transactionId"].as_str().unwrap(), "paid");
    assert_eq!(record["acquirer"], "second");
}

#[test]
fn what_no_acquirer_takes_is_refused_and_not_stored() {
    let app = app_with(
        "[{ name = \"small\", adapter = \"sandbox\", methods = [\"pix\"], min-amount = 100, max-amount = 200 }]",
    );
    let client = app.client();
    client.post("/pay/payments", &boleto(150)).expect_error(422, "method_unavailable");
    for cents in [99, 201] {
        client.post_once("/pay/payments", "k", &pix(cents)).expect_error(422, "amount_not_accepted");
    }
    assert_eq!(client.get("/pay/payments").expect(200)["data"], json!([]));
    assert_eq!(client.post_once("/pay/payments", "k", &pix(127)).status, 201, "the key is free");
}

#[test]
fn a_configuration_of_acquirers_that_makes_no_sense_is_refused() {
    let directory = tempfile::tempdir().unwrap();
    for (acquirers, named) in [
        ("[{ name = \"a\" }]", "adapter"),
        ("[{ name = \"a\", adapter = \"bank\" }]", "bank"),
        ("[{ name = \"a\", adapter = \"sandbox\", mode = \"live\" }]", "live"),
        ("[{ name = \"a\", adapter = \"sandbox\", colour = \"red\" }]", "colour"),
        ("[{ name = \"a\", adapter = \"sandbox\" }, { name = \"a\", adapter = \"sandbox\" }]", "name"),
        ("[{ name = \"a\", adapter = \"sandbox\", methods = [\"cash\"] }]", "boleto"),
        (
            "[{ name = \"a-b\", adapter = \"sandbox\" }, { name = \"a_b\", adapter = \"sandbox\" }]",
            "QUITA_ACQUIRER_A_B_",
        ),
        (
            "[{ name = \"a\", adapter = \"sandbox\", notification-secret = \"x\" }]",
            "set QUITA_ACQUIRER_A_NOTIFICATION_SECRET",
        ),
        ("nonsense", "array"),
    ] {
        let program = crate::support::Program::new(directory.path(), ["serve", "--listen", "127.0.0.1:0"]);
        let refused = program.env("QUITA_ACQUIRER", acquirers).run();
        assert_eq!(refused.code, Some(2), "{acquirers}: {refused:?}");
        assert!(refused.stderr.contains(named), "{acquirers}: {refused:?}");
    }
}

const SHARED: &str = "[{ name = \"a\", adapter = \"sandbox\", weight = 7 }, \
    { name = \"b\", adapter = \"sandbox\", weight = 3 }, \
    { name = \"small\", adapter = \"sandbox\", priority = 0, max-amount = 100 }, \
    { name = \"cards\", adapter = \"sandbox\", methods = [\"credit_card\"] }]";

#[test]
fn a_dry_run_is_the_same_on_the_command_line_and_stores_nothing() {
    let app = app_with(SHARED);
    let client = app.client();
    let file = app.directory().join("body.json");
    let mut firsts = std::collections::BTreeSet::new();
    for (number, mut body) in
        (0_u64..).zip([pix(10_000), boleto(10_000), pix(50), card("4242424242424242", 10_000)])
    {
        body["dice"] = json!((number * 0x2545_f491_4f6c_dd1d).to_string());
        body["at"] = json!("2026-12-01T12:00:00Z");
        if body["creditCard"].is_object() {
            body["creditCard"] = json!({"bin": "424242"});
        }
        let answered = client.post("/pay/routing/evaluate", &body).expect(200);
        std::fs::write(&file, body.to_string()).unwrap();
        let arguments = ["routing", "evaluate", "--file", "body.json", "--merchant", "demo"];
        let printed = app.program(&arguments).env("QUITA_ACQUIRER", SHARED).run().output();
        assert_eq!(serde_json::from_str::<Value>(&printed).unwrap(), answered);
        let considered = answered["considered"].as_array().unwrap();
        assert!(considered.iter().all(|one| one["cost"] == "0.00"), "{answered:#}");
        assert_eq!(considered.len(), if body["installments"].is_null() { 3 } else { 4 }, "{answered:#}");
        firsts.insert(considered[0]["acquirer"].as_str().unwrap().to_owned());
    }
    assert!(firsts.contains("small") && firsts.len() > 1, "{firsts:?}");
    assert_eq!(client.get("/pay/payments").expect(200)["data"], json!([]));
}

#[test]
fn a_dry_run_needs_a_key_that_may_read_and_a_body_that_could_be_created() {
    let app = app_with(SHARED);
    let path = "/pay/routing/evaluate";
    app.client_without_key().post(path, &pix(1_000)).expect(401);
    let writer = app.create_key(&["--merchant", "demo", "--scopes", "payments:write"]);
    app.client_with(&writer).post(path, &pix(1_000)).expect(403);
    let mut broken = pix(1_000);
    broken["amount"] = json!(0);
    broken["dice"] = json!("many");
    let refused = app.client().post(path, &broken).expect(422);
    let fields: Vec<_> = refused["details"].as_array().unwrap().iter().map(|one| &one["field"]).collect();
    assert_eq!(fields, ["dice", "amount"], "{refused:#}");
}

#[test]
fn a_replay_by_the_same_routes_moves_nothing_and_by_others_tells_from_where_to_where() {
    let table = |priority_of_b: u32| {
        format!(
            "[[acquirer]]\nname = \"a\"\nadapter = \"sandbox\"\nweight = 7\n\n\
             [[acquirer]]\nname = \"b\"\nadapter = \"sandbox\"\nweight = 3\npriority = {priority_of_b}\n"
        )
    };
    let app = app_with(
        "[{ name = \"a\", adapter = \"sandbox\", weight = 7 }, { name = \"b\", adapter = \"sandbox\", weight = 3 }]",
    );
    let client = app.client();
    let firsts: Vec<_> = (0..30).map(|_| client.create(&pix(10_027))["acquirer"].clone()).collect();
    let at_a = firsts.iter().filter(|name| **name == json!("a")).count();
    assert!((1..30).contains(&at_a), "{firsts:?}");
    for (name, priority_of_b) in [("old.toml", 1), ("new.toml", 0)] {
        std::fs::write(app.directory().join(name), table(priority_of_b)).unwrap();
    }
    let replay = |with: &str, more: &[&str]| {
        let arguments = ["routing", "replay", "--config", "old.toml", "--since", "1d", "--with", with];
        app.quita(&[&arguments, more].concat()).output()
    };
    let report = |with: &str| serde_json::from_str::<Value>(&replay(with, &["--json"])).unwrap();
    let cost = json!({"before": "0.00", "after": "0.00"});
    assert_eq!(report("old.toml"), json!({"payments": 30, "moved": 0, "ways": [], "cost": cost}));
    let ways = json!([{"from": "a", "to": "b", "count": at_a}]);
    assert_eq!(report("new.toml"), json!({"payments": 30, "moved": at_a, "ways": ways, "cost": cost}));
    let told = replay("new.toml", &[]);
    assert_eq!(told.lines().nth(1), Some(format!("  a → b: {at_a}").as_str()), "{told}");
}
