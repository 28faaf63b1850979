//! Choice of a payment's acquirer: methods, amounts, priorities, and the answer when none takes it.

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
        let refused = client.post_once("/pay/payments", "k", &pix(cents));
        let refused = refused.expect_error(422, "amount_not_accepted");
        let message = refused["message"].as_str().unwrap();
        assert!(
            message.contains("for pix in test mode accepts this amount; send from 100 to 200 cents"),
            "{message}"
        );
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
