//! The operators' listener: health, metrics, exceptions; and that it is not the public one.

use serde_json::{Value, json};

use crate::support::{Edit, PATIENCE, TestApp, TestReceiver, Visitor, boleto, card, eventually, pix};

#[test]
fn a_service_that_runs_is_live_and_ready() {
    let app = TestApp::new();
    for path in ["/health/live", "/health/ready"] {
        let answer = app.ops().get(path);
        assert_eq!(answer.status, 200, "{answer}");
    }
    let console = app.ops().get("/sign-in");
    assert_eq!(console.status, 200, "{console}");
    assert!(console.header("content-type").is_some_and(|kind| kind.starts_with("text/html")), "{console}");
}

#[test]
fn readiness_and_the_first_line_of_the_log_name_the_build() {
    let app = TestApp::new();
    let ready = app.ops().get("/health/ready").expect(200);
    assert_eq!((&ready["status"], &ready["version"]), (&json!("ready"), &json!(env!("CARGO_PKG_VERSION"))));
    assert_eq!(ready["checks"]["clock"], json!({"ok": true}), "{ready:#}");
    let told = app.quita(&["--version"]).output();
    let commit = ready["commit"].as_str().unwrap_or("commit unknown");
    assert!(ready.get("commit").is_some() && told.contains(&format!("({commit}, ")), "{told}: {ready:#}");
    let log = app.log();
    let first = log.lines().find(|line| line.starts_with('{')).unwrap();
    let first: Value = serde_json::from_str(first).unwrap();
    assert_eq!(first["message"], "the service is starting", "{first:#}");
    assert_eq!((&first["version"], &first["commit"]), (&ready["version"], &ready["commit"]), "{first:#}");
}

#[test]
fn pages_and_exceptions_are_shown_under_known_names_and_health_under_any() {
    let app = TestApp::builder().arg("--ops-hosts", "ops.example.com, Quita.internal:9090").start();
    let port = app.ops_url().rsplit(':').next().unwrap().to_owned();
    let get = |path: &str, host: &str| app.ops().send("GET", path, &[("Host", host)], b"");
    for host in [
        "localhost",
        &format!("LOCALHOST:{port}"),
        "127.0.0.1",
        &format!("127.9.9.9:{port}"),
        &format!("[::1]:{port}"),
        "ops.example.com",
        "OPS.example.com:80",
        "quita.internal",
    ] {
        for path in ["/ops/exceptions", "/sign-in", "/console/assets/console.css"] {
            assert_eq!(get(path, host).status, 200, "{path} of {host}");
        }
    }
    for host in [
        "evil.example",
        "evil.example:9090",
        "127.0.0.1.evil.example",
        "localhost.evil.example",
        "ops.example.com.evil.example",
        "xops.example.com",
        "10.0.0.1",
        "",
    ] {
        for path in ["/ops/exceptions", "/sign-in", "/", "/live", "/nowhere"] {
            get(path, host).expect_error(421, "misdirected_request");
        }
        let sent = app.ops().send("POST", "/sign-in", &[("Host", host)], b"");
        sent.expect_error(421, "misdirected_request");
        for path in ["/health/live", "/health/ready", "/metrics"] {
            assert_eq!(get(path, host).status, 200, "{path} of {host}");
        }
    }
    for path in ["/ops/exceptions", "/health/live"] {
        get(path, "127.0.0.1@evil.example").expect_error(400, "unreadable_request");
    }
}

#[test]
fn operators_and_merchants_have_listeners_of_their_own() {
    let app = TestApp::new();
    for path in ["/metrics", "/health/ready", "/ops/exceptions"] {
        assert_eq!(app.client().get(path).status, 404, "{path}");
    }
    for path in ["/pay/payments", "/docs"] {
        assert_eq!(app.ops().get(path).status, 404, "{path}");
    }
}

#[test]
fn every_metric_of_the_contract_is_there() {
    let app = TestApp::new();
    let receiver = TestReceiver::start();
    let client = app.client();
    for request in [pix(10_000), boleto(10_000), card("4242424242424242", 10_000)] {
        let id = client.create(&request.with("postbackUrl", json!(receiver.url())))["transactionId"].clone();
        client.wait_for_status(id.as_str().unwrap(), "paid");
    }
    receiver.wait_for(6, PATIENCE);
    let text = eventually(PATIENCE, "the deliveries are counted", || {
        Some(app.ops().get("/metrics").text()).filter(|text| text.contains("quita_webhook_deliveries_total{"))
    });
    for name in [
        "quita_actor_live{",
        "quita_actor_mailbox_depth{",
        "quita_actor_wait_seconds_bucket{",
        "quita_actor_handle_seconds_bucket{",
        "quita_actor_started_total",
        "quita_actor_restarts_total",
        "quita_actor_refused_total",
        "quita_payments_total{",
        "quita_acquirer_request_seconds_bucket{",
        "quita_webhook_deliveries_total{",
        "quita_webhook_lag_seconds",
        "quita_webhook_backlog",
        "quita_journal_batch_size",
        "quita_journal_commit_seconds",
        "quita_store_conflicts_total",
    ] {
        assert!(text.contains(name), "{name} is missing:\n{text}");
    }
    for actor in [
        "front",
        "transaction",
        "supervisor",
        "acquirer",
        "journal",
        "reader",
        "timer",
        "inbox",
        "webhook_pool",
        "webhook_worker",
    ] {
        assert!(text.contains(&format!("quita_actor_live{{actor=\"{actor}\"}}")), "{actor}:\n{text}");
    }
    for line in text.lines().filter(|line| line.starts_with("quita_payments_total{")) {
        for label in ["method=\"", "acquirer=\"", "status=\""] {
            assert!(line.contains(label), "{line}");
        }
    }
    let handled = text.lines().find(|line| line.starts_with("quita_actor_handle_seconds_bucket{")).unwrap();
    assert!(handled.contains("actor=\"") && handled.contains("message=\""), "{handled}");
    let paid: Vec<_> = text
        .lines()
        .filter(|line| line.starts_with("quita_payments_total{") && line.contains("paid"))
        .collect();
    let total: f64 = paid.iter().map(|line| line.rsplit(' ').next().unwrap().parse::<f64>().unwrap()).sum();
    assert_eq!(total, 3.0, "{paid:?}");
}

#[test]
fn a_boleto_paid_one_cent_short_is_an_exception_that_survives_a_restart() {
    let mut app = TestApp::new();
    let id = app.client().create(&boleto(10_051))["transactionId"].as_str().unwrap().to_owned();
    let find = |app: &TestApp| {
        let found = app.ops().get("/ops/exceptions").expect(200);
        found["data"].as_array().unwrap().iter().find(|exception| exception["transactionId"] == *id).cloned()
    };
    let before = eventually(PATIENCE, "the exception is shown", || find(&app));
    app.kill();
    app.restart();
    assert_eq!(find(&app), Some(before), "and is not reported twice");
    assert_eq!(app.ops().get("/ops/exceptions").expect(200)["data"].as_array().unwrap().len(), 1);
}

#[test]
fn a_page_of_exceptions_says_that_there_are_more() {
    let app = TestApp::new();
    let operator = Visitor::operator(&app);
    std::thread::scope(|scope| {
        for _ in 0..8 {
            let client = app.client();
            scope.spawn(move || (0..126).for_each(|_| drop(client.create(&boleto(10_051)))));
        }
    });
    let told = "The newest 1000 are shown.";
    let page = eventually(PATIENCE * 3, "there are more than a page shows", || {
        Some(operator.page("/exceptions")).filter(|page| page.contains(told))
    });
    assert_eq!(page.matches("<article").count(), 1_000);
    assert!(page.contains("1000+"), "{page}");
}

#[test]
fn the_api_documents_itself() {
    let app = TestApp::new();
    let public = app.client_without_key();
    let openapi = public.get("/openapi.json").expect(200);
    assert!(openapi["openapi"].as_str().unwrap().starts_with("3."), "{openapi:#}");
    for (path, method) in [
        ("/pay/payments", "post"),
        ("/pay/payments", "get"),
        ("/pay/payments/{transactionId}", "get"),
        ("/pay/webhooks/deliveries", "get"),
    ] {
        assert!(
            openapi["paths"][path][method].is_object(),
            "{method} {path}: {:?}",
            openapi["paths"].as_object().unwrap().keys()
        );
    }
    let page = public.get("/docs");
    assert_eq!(page.status, 200, "{page}");
    assert!(page.header("content-type").is_some_and(|kind| kind.starts_with("text/html")), "{page}");
}

#[test]
fn a_page_of_the_console_tells_the_methods_that_it_has() {
    let app = TestApp::new();
    let operator = Visitor::operator(&app);
    for (answer, allow) in [
        (operator.post("/transactions", &[]), "GET, HEAD"),
        (operator.get("/sign-out"), "POST"),
        (operator.get("/account/password"), "POST"),
    ] {
        assert_eq!((answer.status, answer.header("allow")), (405, Some(allow)), "{answer}");
    }
}
