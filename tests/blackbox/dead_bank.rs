//! A bank that is dead is shown so until a call works again, and the log has it once.

use std::time::Duration;

use serde_json::{Value, json};

use crate::support::{Acquirers, PATIENCE, Proxy, TestApp, Visitor, boleto, eventually, pause, pix};

/// Longer than the breaker stays open.
const BREAKER_CLOSES: Duration = Duration::from_secs(11);

/// Beginning of the error that is logged while every acquirer of PIX fails.
const NOBODY_TAKES_PIX: &str = "no acquirer can take PIX: every open one is failing";

fn host(url: &str) -> String {
    url.trim_start_matches("https://").to_owned()
}

/// The bank's PIX as `/health/ready` has it.
fn bank(app: &TestApp) -> Value {
    let ready = app.ops().get("/health/ready").json();
    let acquirers = ready["checks"]["acquirers"].as_array().unwrap();
    acquirers.iter().find(|check| check["acquirer"] == "bank" && check["method"] == "pix").unwrap().clone()
}

fn lines_with(app: &TestApp, text: &str) -> usize {
    app.log().lines().filter(|line| line.contains(text)).count()
}

#[test]
fn a_dead_bank_is_red_until_a_call_works_and_is_logged_once() {
    let acquirers = Acquirers::start();
    let wires = [acquirers.bank.url(), acquirers.cielo.url()].map(|url| Proxy::to(&host(&url)));
    let [to_bank, to_cielo] = [0, 1].map(|wire| format!("https://{}", wires[wire].address()));
    let app = acquirers.builder_by_way_of(&to_bank, &to_cielo).start();
    let client = app.client_with(&app.create_key(&["--merchant", "shop", "--mode", "live"]));
    eventually(PATIENCE, "the bank answers", || {
        (client.create(&pix(10_000))["status"] == "pending").then_some(())
    });
    let healthy = bank(&app);
    assert_eq!((&healthy["state"], &healthy["failingSince"]), (&"healthy".into(), &Value::Null));
    assert_eq!(healthy["error"], Value::Null);
    wires[0].cut();
    for _ in 0..15 {
        client.post("/pay/payments", &pix(10_000));
    }
    eventually(PATIENCE, "it is shown to fail", || (bank(&app)["state"] == "failing").then_some(()));
    pause(BREAKER_CLOSES);
    assert_eq!(bank(&app)["state"], "failing", "although it would be tried in its turn again");
    assert!(bank(&app)["failingSince"].is_string());
    let error = bank(&app)["error"].as_str().unwrap_or_default().to_owned();
    assert!(!error.is_empty(), "{}", bank(&app));
    let ready = app.ops().get("/health/ready").json();
    assert!(ready["checks"]["failing"].as_array().unwrap().contains(&"bank pix".into()), "{ready:#}");
    let page = Visitor::operator(&app).page("/acquirers");
    assert!(page.contains("badge-failing") && page.contains("Failing since"), "{page}");
    let link = "<a href=\"/runbook#quitaacquirerdown\">What to do</a>";
    let failing = page.matches("badge-failing").count();
    assert_eq!(page.matches(link).count(), failing, "beside each that fails, and no other: {page}");
    assert_eq!(lines_with(&app, "an acquirer is failing: its last calls were lost"), 1);
    assert_eq!(lines_with(&app, "an acquirer is answering again"), 0);
    let nobody = app.log().lines().find(|line| line.contains(NOBODY_TAKES_PIX)).map(str::to_owned);
    let nobody: Value = serde_json::from_str(&nobody.expect("no other acquirer takes PIX")).unwrap();
    let told = (&nobody["level"], &nobody["mode"], &nobody["method"], &nobody["acquirers"]);
    assert_eq!(told, (&json!("ERROR"), &json!("live"), &json!("pix"), &json!("bank")));
    assert_eq!(lines_with(&app, NOBODY_TAKES_PIX), 1);
    assert_eq!(lines_with(&app, "no acquirer can take"), 1, "cards have another acquirer");
    wires[0].mend();
    eventually(PATIENCE, "a call works again", || {
        client.create(&pix(10_000));
        (bank(&app)["state"] == "healthy").then_some(())
    });
    assert_eq!(lines_with(&app, "an acquirer is answering again"), 1);
    eventually(PATIENCE, "the end is logged too", || {
        (lines_with(&app, "an acquirer can take PIX again") == 1).then_some(())
    });
    assert_eq!(lines_with(&app, NOBODY_TAKES_PIX), 1);
}

#[test]
fn the_first_lost_call_of_a_bank_that_never_answered_is_logged_as_one_call() {
    let acquirers = Acquirers::start();
    let wires = [acquirers.bank.url(), acquirers.cielo.url()].map(|url| Proxy::to(&host(&url)));
    wires[0].cut();
    let [to_bank, to_cielo] = [0, 1].map(|wire| format!("https://{}", wires[wire].address()));
    let app = acquirers.builder_by_way_of(&to_bank, &to_cielo).start();
    let client = app.client_with(&app.create_key(&["--merchant", "shop", "--mode", "live"]));
    client.post("/pay/payments", &pix(10_000));
    eventually(PATIENCE, "it is shown to fail", || (bank(&app)["state"] == "failing").then_some(()));
    assert_eq!(
        lines_with(&app, "an acquirer is failing: its last call was lost, and none has"),
        1,
        "{}",
        app.log()
    );
    assert_eq!(lines_with(&app, "its last calls were lost"), 0);
}

#[test]
fn charges_of_the_sandbox_count_for_every_method() {
    let app = TestApp::new();
    let client = app.client();
    client.create(&pix(10_027));
    client.create(&boleto(10_027));
    let metrics = app.ops().get("/metrics").text();
    for method in ["pix", "boleto"] {
        let series = format!(
            "quita_acquirer_request_seconds_count{{acquirer=\"sandbox\",method=\"{method}\",outcome=\"answered\"}} 1"
        );
        assert!(metrics.contains(&series), "{series} is missing:\n{metrics}");
    }
    let page = Visitor::operator(&app).page("/acquirers");
    assert!(page.contains("1 answered"), "{page}");
}

/// Longer than calls must be lost for where few are made.
const LOST_FOR_LONG: Duration = Duration::from_secs(100);

#[test]
fn a_bank_that_answers_no_inquiry_is_red_after_a_minute_although_nothing_new_is_sent_to_it() {
    let acquirers = Acquirers::start();
    let app = acquirers.builder().start();
    let client = app.client_with(&app.create_key(&["--merchant", "shop", "--mode", "live"]));
    eventually(PATIENCE, "the bank answers", || {
        (client.create(&pix(10_000))["status"] == "pending").then_some(())
    });
    let faults = |permille: u64| {
        let any = json!([{"fault": "error-before", "status": 500}]);
        let plan = json!({"do": "faults", "any": any, "permille": permille, "seed": 1});
        assert_eq!(acquirers.tell_bank(&plan), json!({"ok": true}));
    };
    faults(1_000);
    for _ in 0..2 {
        client.create(&pix(10_000));
    }
    eventually(LOST_FOR_LONG, "it is shown to fail", || (bank(&app)["state"] == "failing").then_some(()));
    assert!(bank(&app)["failingSince"].is_string());
    let ready = app.ops().get("/health/ready").json();
    assert!(ready["checks"]["failing"].as_array().unwrap().contains(&"bank pix".into()), "{ready:#}");
    let failing = "quita_route_state{acquirer=\"bank\",method=\"pix\",state=\"failing\"} 1";
    assert!(app.ops().get("/metrics").text().contains(failing));
    let page = Visitor::operator(&app).page("/acquirers");
    assert!(page.contains("badge-failing"), "{page}");
    assert!(page.contains(" · 2 charges and operations"), "beside more calls of any kind: {page}");
    eventually(PATIENCE, "the log has it", || {
        (lines_with(&app, "an acquirer is failing: its last calls were lost, and none has") == 1)
            .then_some(())
    });
    faults(0);
    eventually(LOST_FOR_LONG * 4, "an inquiry is answered", || {
        (lines_with(&app, "an acquirer is answering again") == 1).then_some(())
    });
    assert_eq!((&bank(&app)["state"], &bank(&app)["failingSince"]), (&"healthy".into(), &Value::Null));
}
