//! Traces of a refused request: a line of the log, a page of the console, an address, a figure.

use serde_json::json;

use crate::support::{Account, Edit, PATIENCE, TestApp, Visitor, eventually, exchange, is_mongodb, pix};

/// The line of the log about this request.
fn line(app: &TestApp, request_id: &str) -> Option<String> {
    app.log()
        .lines()
        .find(|line| line.contains(request_id) && line.contains("a request was refused"))
        .map(str::to_owned)
}

#[test]
fn a_refused_request_is_a_line_of_the_log_with_fields_and_without_values() {
    let app = TestApp::new();
    let request = pix(10_000).with("amount", json!("secret-amount")).without("currency");
    let refused = app.client().post("/pay/payments", &request).expect(400);
    let told = line(&app, refused["requestId"].as_str().unwrap()).expect("there is a line");
    let parts = ["POST", "/pay/payments", "400", "malformed_request", "amount", "currency"];
    assert!(parts.iter().all(|part| told.contains(part)), "{told}");
    assert!(!told.contains("secret-amount"), "{told}");
    let strange = app.client_without_key().get("/pay/payments").expect(401);
    let told = line(&app, strange["requestId"].as_str().unwrap()).expect("there is a line");
    assert!(told.contains("unauthorized"), "{told}");
    let nowhere = app.client().get("/pay/nowhere").expect(404);
    assert!(line(&app, nowhere["requestId"].as_str().unwrap()).is_some());
}

#[test]
fn what_is_no_request_is_a_line_of_the_log_with_what_to_do() {
    let app = TestApp::new();
    let bytes = b"GET /pay/payments?externalReference=pedido 1 HTTP/1.1\r\nHost: a\r\n\r\n";
    let refused = exchange(app.address(), bytes).unwrap();
    let body = refused.expect_error(400, "unreadable_request");
    assert!(body["message"].as_str().unwrap().contains("without spaces"), "{body}");
    let told = line(&app, body["requestId"].as_str().unwrap()).expect("there is a line");
    assert!(told.contains("unreadable_request") && !told.contains("pedido"), "{told}");
}

#[test]
fn of_a_request_that_breaks_many_rules_the_first_ten_are_kept() {
    let app = TestApp::new();
    let visitor = Visitor::signed_in(&app, &Account::create(&app, "shop", "ana@shop.example", "owner"));
    let client = app.client();
    let refused =
        client.post("/pay/payments", &json!({"items": [{}, {}, {}, {}, {}, {}, {}, {}]})).expect(400);
    let all = refused["details"].as_array().unwrap();
    assert!(all.len() > 10, "{refused}");
    let shown = client.get("/pay/requests").expect(200);
    assert_eq!(shown["data"][0]["details"].as_array().unwrap()[..], all[..10]);
    let page = visitor.page("/console/test/requests");
    let has = |detail: &serde_json::Value| page.contains(&format!("{}: ", detail["field"].as_str().unwrap()));
    assert!(has(&all[9]) && !has(&all[all.len() - 1]), "{page}");
}

#[test]
fn a_request_with_a_key_that_has_ended_is_seen_by_its_merchant_only() {
    let app = TestApp::new();
    let key = app.create_key(&["--merchant", "shop"]);
    let id = key.split('_').nth(2).unwrap().to_owned();
    let client = app.client_with(&key);
    client.get("/pay/payments").expect(200);
    app.quita(&["keys", "revoke", &id]);
    let refused = eventually(PATIENCE, "the key is refused", || {
        let answer = client.get("/pay/payments");
        (answer.status == 401).then(|| answer.json())
    });
    assert!(refused["message"].as_str().unwrap().starts_with("invalid or missing API key"), "{refused}");
    let shown = app.client_with(&app.create_key(&["--merchant", "shop"])).get("/pay/requests").expect(200);
    let shown = &shown["data"][0];
    assert_eq!((&shown["requestId"], &shown["code"]), (&refused["requestId"], &json!("unauthorized")));
    assert_eq!((&shown["message"], &shown["keyId"]), (&json!("this key has been revoked"), &json!(id)));
    let wrong = format!("{}x", &key[..key.len() - 1]);
    app.client_with(&wrong).get("/pay/payments").expect(401);
    let shown = app.client_with(&app.create_key(&["--merchant", "shop"])).get("/pay/requests").expect(200);
    assert!(
        shown["data"].as_array().unwrap().iter().all(|one| one["message"] == "this key has been revoked"),
        "whoever lacks the secret may be anybody: {shown}"
    );
}

#[test]
fn names_that_were_ignored_are_seen_wherever_refusals_are() {
    let app = TestApp::new();
    let visitor = Visitor::signed_in(&app, &Account::create(&app, "shop", "ana@shop.example", "owner"));
    let client = app.client_with(&app.create_key(&["--merchant", "shop"]));
    let misspelt = pix(10_000).with("postback_url", json!("http://127.0.0.1:1/secret"));
    let record = client.create(&misspelt);
    let shown = client.get("/pay/requests").expect(200);
    let ignored = &shown["ignored"][0];
    assert_eq!(ignored["names"], json!([{"name": "postback_url", "meant": "postbackUrl"}]), "{shown}");
    assert_eq!((&ignored["statusCode"], &ignored["route"]), (&json!(201), &json!("/pay/payments")));
    let told = app.log();
    let told = told.lines().find(|line| line.contains("were ignored") && line.contains("postbackUrl"));
    assert!(told.is_some_and(|line| !line.contains("secret")), "{told:?}");
    let page = visitor.page("/console/test/requests");
    assert!(page.contains("postback_url is unknown and was ignored; did you mean postbackUrl?"), "{page}");
    let page = visitor.page(&format!("/console/test/payments/{}", record["transactionId"].as_str().unwrap()));
    assert!(page.contains("No webhooks are sent for this payment"), "{page}");
}

#[test]
fn the_lines_can_be_left_out_and_are_there_at_debug() {
    let refuse = |app: &TestApp| {
        let refused = app.client().post("/pay/payments", &json!({})).expect(400);
        line(app, refused["requestId"].as_str().unwrap())
    };
    let quiet = TestApp::builder().arg("--log-refusals", "false").start();
    assert_eq!(refuse(&quiet), None);
    let loud = TestApp::builder().arg("--log-refusals", "false").arg("--log-level", "debug").start();
    assert!(refuse(&loud).is_some());
}

#[test]
fn a_merchant_reads_its_own_refusals_newest_first() {
    let app = TestApp::new();
    let client = app.client();
    client.post("/pay/payments", &json!({})).expect(400);
    let last = client.get("/pay/payments/7").expect(400);
    let other = app.client_with(&app.create_key(&["--merchant", "other"]));
    other.get("/pay/payments?size=1").expect(400);
    let shown = client.get("/pay/requests").expect(200);
    let shown = shown["data"].as_array().unwrap();
    assert_eq!(shown.len(), 2, "{shown:?}");
    assert_eq!(shown[0]["requestId"], last["requestId"]);
    assert_eq!(shown[0]["route"], "/pay/payments/{id}");
    assert_eq!((&shown[0]["statusCode"], &shown[0]["code"]), (&json!(400), &json!("unreadable_id")));
    assert_eq!((&shown[1]["method"], &shown[1]["route"]), (&json!("POST"), &json!("/pay/payments")));
    assert!(shown[1]["fields"].as_array().unwrap().contains(&json!("amount")), "{shown:?}");
    client.get("/pay/requests?limit=1").expect_error(400, "unknown_parameter");
    app.client_without_key().get("/pay/requests").expect_error(401, "unauthorized");
}

#[test]
fn many_refusals_of_a_publishable_key_hide_none_of_a_secret_key() {
    let app = TestApp::new();
    let visitor = Visitor::signed_in(&app, &Account::create(&app, "shop", "ana@shop.example", "owner"));
    let client = app.client();
    let refused = client.post("/pay/payments", &json!({})).expect(400);
    let key = app.create_key(&["--merchant", "shop", "--publishable"]);
    let page = app.client_with(&key);
    for _ in 0..101 {
        page.get("/pay/payments").expect_error(403, "publishable_key");
    }
    let requests = || client.get("/pay/requests").expect(200)["data"].as_array().unwrap().clone();
    let shown = requests();
    assert_eq!(shown.len(), 101);
    assert_eq!(
        (&shown[0]["code"], &shown[100]["requestId"]),
        (&json!("publishable_key"), &refused["requestId"])
    );
    let shown = visitor.page("/console/test/requests");
    assert!(shown.contains(refused["requestId"].as_str().unwrap()), "{shown}");
    app.quita(&["keys", "revoke", key.split('_').nth(3).unwrap()]);
    eventually(PATIENCE, "the key is refused", || (page.get("/pay/payments").status == 401).then_some(()));
    for _ in 0..101 {
        page.get("/pay/payments").expect_error(401, "unauthorized");
    }
    let shown = requests();
    assert_eq!((shown.len(), &shown[0]["message"]), (101, &json!("this key has been revoked")));
    assert_eq!(shown[100]["requestId"], refused["requestId"]);
}

#[test]
fn a_wrong_path_and_a_wrong_method_are_among_the_refusals_of_whoever_sent_a_key() {
    let app = TestApp::new();
    let client = app.client();
    let nowhere = client.get("/v1/payments").expect(404);
    let wrong = client.send("PUT", "/pay/payments", &[], b"").expect(405);
    app.client_without_key().get("/v1/payments").expect(404);
    app.client_with("qk_test_0000000000000000_unknown").get("/v1/payments").expect(404);
    let shown = client.get("/pay/requests").expect(200);
    assert!(shown["node"].is_null(), "there is one node only: {shown}");
    let shown = shown["data"].as_array().unwrap();
    assert_eq!(shown.len(), 2, "{shown:?}");
    assert_eq!(
        (&shown[0]["requestId"], &shown[1]["requestId"]),
        (&wrong["requestId"], &nowhere["requestId"])
    );
    assert_eq!((&shown[1]["statusCode"], &shown[1]["route"]), (&json!(404), &json!("/v1/payments")));
    assert!(shown[1]["message"].as_str().unwrap().contains("/pay/payments"), "{shown:?}");
}

#[test]
fn of_several_nodes_each_names_itself_beside_its_refusals() {
    if !is_mongodb() {
        println!("skipped: an SQLite file belongs to one service");
        return;
    }
    let first = TestApp::new();
    let second = TestApp::builder().store(first.store_url()).start();
    let visitor = Visitor::signed_in(&first, &Account::create(&first, "shop", "ana@shop.example", "owner"));
    let address = first.address().to_owned();
    let page = eventually(PATIENCE, "both nodes are seen", || {
        Some(visitor.page("/console/test/requests")).filter(|page| page.contains(&address))
    });
    assert!(page.contains(&format!("Nothing was refused on node {address}")), "{page}");
    second.client_with(first.key()).get("/pay/payments/7").expect(400);
    first.client().get("/pay/payments/8").expect(400);
    let shown = first.client().get("/pay/requests").expect(200);
    assert_eq!((shown["node"].as_str(), shown["data"].as_array().unwrap().len()), (Some(&*address), 1));
    let tail = first.program(&["logs", "tail", "--once"]);
    let tail = tail.env("QUITA_URL", &first.url()).env("QUITA_KEY", first.key()).run();
    assert!(tail.stderr.contains(&format!("on node {address} only")), "{tail:?}");
}

#[test]
fn the_console_shows_what_was_refused() {
    let app = TestApp::new();
    let visitor = Visitor::signed_in(&app, &Account::create(&app, "shop", "ana@shop.example", "owner"));
    assert!(visitor.page("/console/test/requests").contains("class=\"empty\""));
    let refused = app.client().post("/pay/payments", &json!({})).expect(400);
    let page = visitor.page("/console/test/requests");
    let parts = [refused["requestId"].as_str().unwrap(), "malformed_request", "/pay/payments", "amount"];
    assert!(parts.iter().all(|part| page.contains(part)), "{page}");
    assert!(!visitor.page("/console/live/requests").contains("malformed_request"));
}

#[test]
fn requests_are_counted_by_route_method_and_status() {
    let app = TestApp::new();
    let metrics = || app.ops().get("/metrics").text();
    let refused = r#"quita_http_requests_total{method="POST",route="/pay/payments",status="400"}"#;
    let created = r#"quita_http_requests_total{method="POST",route="/pay/payments",status="201"}"#;
    let unavailable = r#"quita_http_requests_total{method="POST",route="/pay/payments",status="503"}"#;
    let before = metrics();
    for series in [refused, created, unavailable] {
        assert!(before.contains(&format!("{series} 0")), "{series} exists from the start");
    }
    app.client().create(&pix(10_000));
    app.client().post("/pay/payments", &json!({})).expect(400);
    let after = metrics();
    assert!(after.contains(&format!("{refused} 1")) && after.contains(&format!("{created} 1")), "{after}");
    let timed = r#"quita_http_request_seconds_count{method="POST",route="/pay/payments"} 2"#;
    assert!(after.contains(timed), "{after}");
    for name in ["process_resident_memory_bytes", "process_open_fds", "process_cpu_seconds_total"] {
        assert!(after.contains(&format!("\n{name} ")), "{name}");
    }
}
