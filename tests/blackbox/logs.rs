//! `quita logs tail`: refused requests in a developer's terminal.

use serde_json::{Value, json};

use crate::support::{Finished, PATIENCE, Program, Proxy, TestApp, eventually};

fn tail(app: &TestApp, options: &[&str]) -> Program {
    let arguments = [&["logs", "tail"], options].concat();
    app.program(&arguments).env("QUITA_URL", &app.url()).env("QUITA_KEY", app.key())
}

fn once(app: &TestApp, options: &[&str]) -> Finished {
    tail(app, &[&["--once"], options].concat()).run()
}

#[test]
fn refusals_are_printed_as_they_happen_each_once() {
    let app = TestApp::new();
    let client = app.client();
    let earlier = client.post("/pay/payments", &json!({})).expect(400);
    let running = tail(&app, &[]).start("tail");
    let printed = |id: &Value| {
        let id = id.as_str().unwrap().to_owned();
        eventually(PATIENCE, "the refusal is printed", || {
            Some(running.stdout()).filter(|printed| printed.contains(&id))
        })
    };
    printed(&earlier["requestId"]);
    client.get("/pay/payments").expect(200);
    let first = client.get("/pay/payments/7").expect(400);
    printed(&first["requestId"]);
    let last = client.get("/pay/payments/0193b2c4-0000-7000-8000-000000000000").expect(404);
    let printed = printed(&last["requestId"]);
    let lines: Vec<_> = printed.lines().collect();
    assert_eq!(lines.len(), 3, "{printed}");
    let parts = ["400", "POST /pay/payments", "malformed_request", "amount"];
    assert!(parts.iter().all(|part| lines[0].contains(part)), "{printed}");
    let parts = ["400", "GET /pay/payments/{id}", "unreadable_id"];
    assert!(parts.iter().all(|part| lines[1].contains(part)), "{printed}");
    assert!(lines[2].contains("404"), "{printed}");
    assert!(!printed.contains(app.key()) && !running.stderr().contains(app.key()), "{printed}");
}

#[test]
fn earlier_refusals_are_chosen_by_number_status_and_code() {
    let app = TestApp::new();
    let client = app.client();
    client.post("/pay/payments", &json!({})).expect(400);
    client.get("/pay/payments/7").expect(400);
    let last = client.get("/pay/payments/0193b2c4-0000-7000-8000-000000000000").expect(404);
    let lines = |options: &[&str]| {
        let printed = once(&app, options).output();
        printed.lines().map(str::to_owned).collect::<Vec<_>>()
    };
    assert_eq!(lines(&[]).len(), 3);
    let newest = lines(&["--lines", "1"]);
    assert!(newest.len() == 1 && newest[0].contains(last["requestId"].as_str().unwrap()), "{newest:?}");
    assert_eq!(lines(&["--status", "4xx"]).len(), 3);
    assert!(lines(&["--status", "5xx"]).is_empty() && lines(&["--lines", "0"]).is_empty());
    let of_404 = lines(&["--status", "404"]);
    assert_eq!(of_404, newest);
    let by_code = lines(&["--code", "unreadable_id,malformed_request", "--lines", "1"]);
    assert!(by_code.len() == 1 && by_code[0].contains("unreadable_id"), "{by_code:?}");
}

#[test]
fn refusals_are_lines_of_json_as_the_api_answers_them() {
    let app = TestApp::new();
    let client = app.client();
    client.post("/pay/payments", &json!({})).expect(400);
    client.get("/pay/payments/7").expect(400);
    let printed = once(&app, &["--json"]).output();
    let lines: Vec<Value> = printed.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    let mut answered = client.get("/pay/requests").expect(200)["data"].as_array().unwrap().clone();
    answered.reverse();
    assert_eq!(lines, answered);
}

#[test]
fn another_merchants_refusals_are_not_shown() {
    let app = TestApp::new();
    let other = app.client_with(&app.create_key(&["--merchant", "other"]));
    other.post("/pay/payments", &json!({})).expect(400);
    assert_eq!(once(&app, &[]).output(), "");
}

#[test]
fn a_wrong_key_and_a_service_that_is_not_there_end_it_at_once() {
    let app = TestApp::new();
    let wrong = tail(&app, &[]).env("QUITA_KEY", "qk_test_0000000000000000_x").run();
    assert!(wrong.code == Some(1) && wrong.stderr.contains("401"), "{wrong:?}");
    let nobody = tail(&app, &[]).env("QUITA_URL", "http://127.0.0.1:1").run();
    assert!(nobody.code == Some(1) && nobody.stderr.contains("--url"), "{nobody:?}");
    let usage = once(&app, &["--code", "no_such_code"]);
    assert!(usage.code == Some(2) && usage.stderr.contains("validation_failed"), "{usage:?}");
}

#[test]
fn a_service_that_is_away_for_a_while_is_waited_for() {
    let app = TestApp::new();
    let wire = Proxy::to(app.address());
    let way = format!("http://{}", wire.address());
    let running = tail(&app, &[]).env("QUITA_URL", &way).start("tail");
    eventually(PATIENCE, "it waits", || running.stderr().contains("Waiting").then_some(()));
    wire.cut();
    let gone = "can't be reached";
    eventually(PATIENCE, "it is said that nobody answers", || running.stderr().contains(gone).then_some(()));
    let refused = app.client().get("/pay/payments/7").expect(400);
    wire.mend();
    let id = refused["requestId"].as_str().unwrap();
    eventually(PATIENCE, "it goes on", || running.stdout().contains(id).then_some(()));
    assert_eq!(running.stderr().matches(gone).count(), 1, "{}", running.stderr());
}

#[test]
fn an_unknown_path_is_shown_without_what_may_be_a_value() {
    let app = TestApp::new();
    let asked = [
        ("/pay/paymets?document=52998224725", "GET /pay/paymets  not_found"),
        ("/v1/charges/", "GET /v1/charges/  not_found"),
        ("/pay/payments/529.982.247-25/refunds/4242424242424242", "GET /pay/payments/…/refunds/…  not_found"),
        ("/customers/ana@example.com?name=Ana%20Maria", "GET /customers/…  not_found"),
        ("/ana-maria/4242424242424242", "GET unknown path  not_found"),
    ];
    for (path, _) in asked {
        app.client().get(path).expect(404);
    }
    let printed = once(&app, &[]).output();
    let lines: Vec<_> = printed.lines().collect();
    assert_eq!(lines.len(), asked.len(), "{printed}");
    for ((path, shown), line) in asked.iter().zip(lines) {
        assert!(line.contains(shown), "{path}: {line}");
    }
    let everywhere = format!("{printed}{}", app.log());
    // Long enough to be in no id by chance.
    for value in ["5299822", "529.982", "42424242", "ana@", "Ana", "ana-maria", "document="] {
        assert!(!printed.contains(value), "{value}: {printed}");
    }
    for value in ["52998224725", "529.982.247-25", "4242424242424242", "ana@example.com", "ana-maria"] {
        assert!(!everywhere.contains(value), "{value}: {everywhere}");
    }
}
