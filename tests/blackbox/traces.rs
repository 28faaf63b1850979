//! Traces: one from the HTTP call through actors, store, acquirer and webhook, and never at the cost of a payment.

use std::net::TcpListener;
use std::time::{Duration, Instant};

use serde_json::json;

use crate::support::{
    Account, Answer, ArrivedSpan, Client, Collector, Edit, PATIENCE, TestApp, TestAppBuilder, TestReceiver,
    Visitor, card, eventually, pix,
};

const TRACE: &str = "4bf92f3577b34da6a3ce929d0e0e4736";
const CALLER: &str = "00f067aa0ba902b7";

/// Longest time that a service takes to stop when it is told to.
const STOPS_WITHIN: Duration = Duration::from_secs(10);

/// Kinds of spans, as OTLP numbers them.
const SERVER: i32 = 2;
const CLIENT: i32 = 3;

fn traced(collector: &Collector) -> TestAppBuilder {
    TestApp::builder().arg("--otlp-endpoint", &collector.endpoint())
}

/// Creates a PIX within a trace of the caller's.
fn create_traced(client: &Client, traceparent: &str, postback: Option<&str>) -> Answer {
    let request = pix(10_000);
    let request = match postback {
        Some(url) => request.with("postbackUrl", json!(url)),
        None => request,
    };
    client.post_with("/pay/payments", &[("traceparent", traceparent), ("X-Request-Id", "req-1")], &request)
}

fn of_trace<'a>(spans: &'a [ArrivedSpan], trace: &str) -> Vec<&'a ArrivedSpan> {
    spans.iter().filter(|span| span.trace == trace).collect()
}

/// The names from the trace's first span down to this one.
fn path_to(span: &ArrivedSpan, spans: &[ArrivedSpan]) -> String {
    let parent = spans.iter().find(|other| other.trace == span.trace && other.id == span.parent);
    match parent {
        Some(parent) => format!("{} > {}", path_to(parent, spans), span.name),
        None => span.name.clone(),
    }
}

#[test]
fn one_payment_is_one_trace_from_the_call_to_the_webhooks() {
    let collector = Collector::start();
    let app = traced(&collector).start();
    let receiver = TestReceiver::start();
    let client = app.client();
    let answer = create_traced(&client, &format!("00-{TRACE}-{CALLER}-01"), Some(&receiver.url()));
    let id = answer.expect(201)["transactionId"].as_str().unwrap().to_owned();
    let received = receiver.wait_for_events(&id, 2, PATIENCE);
    let answered_twice = |spans: &[ArrivedSpan]| {
        let stored = of_trace(spans, TRACE)
            .into_iter()
            .filter(|span| span.name == "transaction execute" && span.told("command") == "delivery_answered");
        stored.count() == 2
    };
    let spans = collector.wait_until("the outcomes of both webhooks", answered_twice);
    let ours = of_trace(&spans, TRACE);
    let paths: Vec<_> = ours.iter().map(|span| path_to(span, &spans)).collect();
    let call = "POST /pay/payments > front create > transaction create";
    let paid = "front execute > transaction execute";
    let told = "webhook_pool deliver > webhook_worker send > webhook";
    for expected in [
        "POST /pay/payments".to_owned(),
        format!("{call} > journal commit"),
        format!("{call} > {told}"),
        format!("{call} > {paid} > journal commit"),
        format!("{call} > {paid} > {told}"),
        // A confirmation waits for another write.
        format!("{call} > webhook_pool deliver > front execute > transaction execute"),
    ] {
        assert!(paths.contains(&expected), "no {expected} in {paths:#?}");
    }
    assert!(paths.iter().all(|path| path.starts_with("POST /pay/payments")), "one root: {paths:#?}");
    check_http_span(&ours);
    check_spans_of_outside(&ours, &received[0]);
    for span in ours.iter().filter(|span| span.name.starts_with("transaction ")) {
        assert_eq!(span.told("transaction.id"), id, "{span:?}");
        assert!(span.told("wait_us").parse::<u64>().is_ok(), "{span:?}");
    }
    check_batches(&spans, &ours);
}

fn check_http_span(ours: &[&ArrivedSpan]) {
    let http: Vec<_> = ours.iter().filter(|span| span.kind == SERVER).collect();
    assert_eq!(http.len(), 1);
    assert_eq!(http[0].parent, CALLER);
    for (name, value) in [
        ("http.request.method", "POST"),
        ("http.route", "/pay/payments"),
        ("http.response.status_code", "201"),
        ("request.id", "req-1"),
    ] {
        assert_eq!(http[0].told(name), value, "{name}");
    }
    assert!(!http[0].is_failure && http[0].began < http[0].ended);
}

fn check_spans_of_outside(ours: &[&ArrivedSpan], webhook: &crate::support::Received) {
    let mut events = Vec::new();
    for span in ours.iter().filter(|span| span.name == "webhook") {
        let told = ["server.address", "http.response.status_code", "attempt"].map(|name| span.told(name));
        assert_eq!((span.kind, told), (CLIENT, ["127.0.0.1", "200", "1"]));
        events.push(span.told("event"));
    }
    events.sort_unstable();
    assert_eq!(events, ["payment.paid", "payment.pending"]);
    for name in ["traceparent", "tracestate", "baggage"] {
        assert_eq!(webhook.header(name), None, "a receiver is told nothing of our traces");
    }
}

#[test]
fn the_call_to_the_acquirer_is_in_the_trace_of_its_payment() {
    let collector = Collector::start();
    let app = traced(&collector).start();
    let headers = [("traceparent", format!("00-{TRACE}-{CALLER}-01"))];
    let headers = headers.each_ref().map(|(name, value)| (*name, value.as_str()));
    app.client().post_with("/pay/payments", &headers, &card("4242424242424242", 10_000)).expect(201);
    // A span is exported when it has ended: a call before the request that it was made for.
    let path = "POST /pay/payments > front create > transaction create > acquirer charge > call charge";
    let is_charge = |span: &ArrivedSpan, spans: &[ArrivedSpan]| path_to(span, spans) == path;
    let spans = collector.wait_until("the call to the acquirer, and all above it", |spans| {
        spans.iter().any(|span| is_charge(span, spans))
    });
    let charge = spans.iter().find(|span| is_charge(span, &spans)).unwrap();
    assert_eq!(charge.trace, TRACE);
    let charged = ["acquirer", "method", "outcome"].map(|name| charge.told(name));
    assert_eq!((charge.kind, charged), (CLIENT, ["sandbox", "credit_card", "answered"]));
}

/// Checks that a change in a console is of one trace, although it goes on by itself.
#[test]
fn a_change_made_in_a_console_is_one_trace() {
    let collector = Collector::start();
    let app = traced(&collector).start();
    let client = app.client();
    let owner = Visitor::signed_in(&app, &Account::create(&app, "shop", "ana@shop.example", "owner"));
    let id = client.create(&card("4242424242424242", 10_000))["transactionId"].as_str().unwrap().to_owned();
    client.wait_for_status(&id, "paid");
    let refund = format!("/console/test/payments/{id}/refund");
    let key = "01980000-0000-7000-8000-000000000001";
    let answer = owner.post(&refund, &[("key", key), ("amount", "1.00")]);
    assert_eq!(answer.status, 303, "{answer}");
    let is_posted = |span: &&ArrivedSpan| {
        span.kind == SERVER
            && span.told("http.request.method") == "POST"
            && span.told("http.route") == "/console/{mode}/payments/{id}/{verb}"
    };
    let spans = collector.wait_until("the refund and its call", |spans| {
        spans.iter().any(|span| is_posted(&span)) && spans.iter().any(|span| span.name == "call operate")
    });
    let posted = spans.iter().find(is_posted).unwrap();
    assert_eq!((posted.told("http.response.status_code"), posted.parent.as_str()), ("303", ""));
    for called in spans.iter().filter(|span| span.name == "call operate") {
        assert_eq!(called.trace, posted.trace, "{}", path_to(called, &spans));
        assert_eq!((called.kind, called.told("acquirer")), (CLIENT, "sandbox"));
    }
}

/// Every write has a link to the batch that it was in, which is of another trace.
fn check_batches(spans: &[ArrivedSpan], ours: &[&ArrivedSpan]) {
    let writes: Vec<_> = ours.iter().filter(|span| span.name == "journal commit").collect();
    assert!(writes.len() >= 2, "{writes:#?}");
    for write in writes {
        let (trace, id) = &write.links[0];
        let batch = spans.iter().find(|span| span.trace == *trace && span.id == *id).unwrap();
        assert_eq!((batch.name.as_str(), batch.parent.as_str(), batch.kind), ("store commit", "", CLIENT));
        assert!(batch.links.contains(&(write.trace.clone(), write.id.clone())));
        assert!(batch.told("batch.size").parse::<u32>().unwrap() >= 1);
    }
}

#[test]
fn a_payment_that_the_service_takes_up_again_begins_a_trace_of_its_own() {
    let collector = Collector::start();
    let app = traced(&collector).start();
    let receiver = TestReceiver::start();
    receiver.answer(500);
    let request = pix(10_027).with("postbackUrl", json!(receiver.url()));
    let id = app.client().create(&request)["transactionId"].as_str().unwrap().to_owned();
    let path = "deliver > front execute > transaction execute > webhook_pool deliver";
    let is_second = |span: &ArrivedSpan, spans: &[ArrivedSpan]| {
        span.name == "webhook" && span.told("attempt") == "2" && path_to(span, spans).starts_with(path)
    };
    let spans = collector.wait_until("the second attempt, five seconds later, and all above it", |spans| {
        spans.iter().any(|span| is_second(span, spans))
    });
    let webhook = spans.iter().find(|span| is_second(span, &spans)).unwrap();
    let claim = spans.iter().find(|span| span.name == "deliver" && span.trace == webhook.trace).unwrap();
    assert_eq!((claim.parent.as_str(), claim.told("transaction.id")), ("", id.as_str()));
    assert!(webhook.is_failure);
}

#[test]
fn nothing_is_exported_unless_the_option_says_where_to() {
    let collector = Collector::start();
    let endpoint = collector.endpoint();
    let mut app = TestApp::builder().env("OTEL_EXPORTER_OTLP_ENDPOINT", &endpoint).start();
    create_traced(&app.client(), &format!("00-{TRACE}-{CALLER}-01"), None).expect(201);
    assert!(!app.ops().get("/metrics").text().contains("quita_trace_spans_total"));
    // If spans were exported, the last ones would be sent now.
    assert_eq!(app.terminate(PATIENCE).code(), Some(0));
    assert_eq!(collector.requests(), 0);
}

#[test]
fn a_nonsense_traceparent_is_ignored_and_a_caller_may_say_no() {
    let collector = Collector::start();
    let app = traced(&collector).start();
    let client = app.client();
    let nonsense = [
        "nonsense".to_owned(),
        format!("00-{TRACE}-{CALLER}"),
        format!("00-{}-{CALLER}-01", "0".repeat(32)),
        format!("ff-{TRACE}-{CALLER}-01"),
    ];
    for traceparent in &nonsense {
        create_traced(&client, traceparent, None).expect(201);
    }
    create_traced(&client, &format!("00-{TRACE}-{CALLER}-00"), None).expect(201);
    client.get("/pay/payments").expect(200);
    let spans = collector
        .wait_until("the last call", |spans| spans.iter().any(|span| span.name == "GET /pay/payments"));
    let created: Vec<_> = spans.iter().filter(|span| span.name == "POST /pay/payments").collect();
    assert_eq!(created.len(), nonsense.len(), "the one that is not recorded is missing");
    assert!(created.iter().all(|span| span.parent.is_empty() && span.trace != TRACE));
}

#[test]
fn only_the_share_is_recorded_whatever_a_caller_says() {
    let collector = Collector::start();
    let app = traced(&collector).arg("--otlp-sample", "1%").start();
    let client = app.client();
    let taken = format!("{:032x}", 1);
    let left = format!("{}{}", "0".repeat(16), "f".repeat(16));
    for _ in 0..3 {
        create_traced(&client, &format!("00-{left}-{CALLER}-01"), None).expect(201);
    }
    create_traced(&client, &format!("00-{taken}-{CALLER}-01"), None).expect(201);
    let spans = collector.wait_until("the trace of the share", |spans| !of_trace(spans, &taken).is_empty());
    assert_eq!(of_trace(&spans, &left), Vec::<&ArrivedSpan>::new());
}

#[test]
fn a_collector_that_is_away_or_hangs_or_refuses_disturbs_nobody() {
    let away = {
        let listener = TcpListener::bind(("127.0.0.1", 0)).unwrap();
        format!("http://{}", listener.local_addr().unwrap())
    };
    let hanging = Collector::start();
    let refusing = Collector::start();
    hanging.answer_after(Duration::from_secs(60));
    refusing.refuse();
    for endpoint in [away, hanging.endpoint(), refusing.endpoint()] {
        let started = Instant::now();
        let mut app = TestApp::builder().arg("--otlp-endpoint", &endpoint).start();
        let client = app.client();
        let begun = Instant::now();
        let ids: Vec<_> = (0..50)
            .map(|_| client.create(&pix(10_000))["transactionId"].as_str().unwrap().to_owned())
            .collect();
        for id in &ids {
            client.wait_for_status(id, "paid");
        }
        assert!(begun.elapsed() < PATIENCE, "{endpoint}: {:?}", begun.elapsed());
        let begun = Instant::now();
        assert_eq!(app.terminate(PATIENCE).code(), Some(0), "{endpoint}");
        assert!(begun.elapsed() < STOPS_WITHIN, "{endpoint}: {:?}", begun.elapsed());
        let log = app.log();
        let complaints = log.matches("trace spans were lost").count();
        let minutes = usize::try_from(started.elapsed().as_secs() / 60).unwrap();
        assert!(
            (1..=minutes + 2).contains(&complaints),
            "{endpoint}: {complaints}, once a minute and at the end:\n{log}"
        );
        assert!(!log.contains("\"level\":\"ERROR\""), "{log}");
    }
}

#[test]
fn lost_spans_are_counted() {
    let collector = Collector::start();
    let app = traced(&collector).start();
    let counted = |outcome: &str| {
        let metrics = app.ops().get("/metrics").text();
        let name = format!("quita_trace_spans_total{{outcome=\"{outcome}\"}} ");
        let line = metrics.lines().find_map(|line| line.strip_prefix(&name).map(str::to_owned));
        line.unwrap().parse::<u64>().unwrap()
    };
    assert_eq!((counted("exported"), counted("lost")), (0, 0));
    app.client().create(&pix(10_000));
    eventually(PATIENCE, "spans are exported", || (counted("exported") > 5).then_some(()));
    assert_eq!(counted("lost"), 0);
    collector.refuse();
    app.client().create(&pix(10_000));
    eventually(PATIENCE, "spans are lost", || (counted("lost") > 5).then_some(()));
}

#[test]
fn the_last_spans_are_sent_when_the_service_stops() {
    let collector = Collector::start();
    let mut app = traced(&collector).start();
    app.client().create(&pix(10_027));
    assert_eq!(app.terminate(PATIENCE).code(), Some(0));
    assert!(collector.spans().iter().any(|span| span.name == "POST /pay/payments"));
    assert!(!app.log().contains("trace spans were lost"));
}

#[test]
fn no_personal_data_and_no_secret_is_in_any_exported_byte() {
    let collector = Collector::start();
    let app = traced(&collector).arg("--log-level", "trace").start();
    let receiver = TestReceiver::start();
    let client = app.client();
    let number = "4242424242424242";
    let hook = format!("{}/hidden-path?token=hidden-token", receiver.url());
    let record = client.create(&card(number, 10_000).with("postbackUrl", json!(hook)));
    let id = record["transactionId"].as_str().unwrap().to_owned();
    let pix_record = client.create(
        &pix(10_000)
            .with("postbackUrl", json!(hook))
            .with("externalReference", json!("order-4711"))
            .with("metadata", json!({"note": "for Maria"})),
    );
    client.get("/pay/payments?document=52998224725&email=maria.silva%40example.com").expect(200);
    client.post_once("/pay/payments", "key-of-the-caller", &pix(10_027)).expect(201);
    client.post("/pay/payments", &pix(0)).expect_error(422, "validation_failed");
    let address = pix_record["pix"]["qrCode"].as_str().unwrap();
    let token = address.rsplit('/').next().unwrap().trim_end_matches(".png");
    assert_eq!(app.client_without_key().get(&format!("/pix/{token}")).status, 200);
    assert_eq!(app.client_without_key().get("/no-such/hidden-page").status, 404);
    receiver.wait_for(4, PATIENCE);
    client.post(&format!("/pay/payments/{id}/refunds"), &json!({"amount": 100})).expect(201);
    let spans = collector.wait_until("the refund", |spans| {
        spans.iter().any(|span| span.name == "POST /pay/payments/{id}/refunds")
    });
    assert!(spans.iter().any(|span| span.name == "GET /pix/{name}"), "{spans:#?}");
    assert!(spans.iter().any(|span| span.name == "GET" && span.told("http.route").is_empty()));
    let secret = app.secret();
    let key = app.key().splitn(4, '_').nth(3).unwrap();
    let bytes = collector.bytes();
    let has = |needle: &str| bytes.windows(needle.len()).any(|window| window == needle.as_bytes());
    assert!(has(&id), "ids are told");
    for private in [
        "Maria",
        "Silva",
        "SILVA",
        "52998224725",
        "maria.silva",
        "11987654321",
        "Augusta",
        "Consola",
        number,
        "424242",
        "order-4711",
        "hidden",
        "key-of-the-caller",
        "whsec_",
        "Bearer",
        "qk_test_",
        token,
        key,
        &secret,
    ] {
        assert!(!has(private), "{private} is exported");
    }
}
