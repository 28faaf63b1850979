//! `quita payments`, `quita trigger` and lists for programs: what a developer has instead of curl.

use std::thread;
use std::time::Duration;

use serde_json::{Value, json};

use crate::support::{Finished, PATIENCE, Reply, TestApp, TestReceiver, pix};

/// Calls the program with the key and the address of the service.
fn call(app: &TestApp, arguments: &[&str]) -> Finished {
    app.program(arguments).env("QUITA_URL", &app.url()).env("QUITA_KEY", app.key()).run()
}

/// The value behind a name in what was printed of a payment.
#[track_caller]
fn shown<'a>(printed: &'a str, name: &str) -> &'a str {
    let line = printed.lines().find(|line| line.starts_with(name));
    line.unwrap_or_else(|| panic!("no {name}: {printed}"))[name.len()..].trim()
}

/// JSON without the white space around its parts, and that of its texts: enough to compare the order of names.
fn squeezed(json: &str) -> String {
    json.split_whitespace().collect()
}

#[test]
fn a_payment_is_created_without_options_and_printed_for_people() {
    let app = TestApp::new();
    let made = call(&app, &["payments", "create"]);
    assert!(made.stderr.contains("--postback-url"), "no webhook tells of it: {made:?}");
    app.quita(&["applications", "set-webhook", "--merchant", "shop", "--url", "http://127.0.0.1:8090/"]);
    let of_application = call(&app, &["payments", "create"]);
    assert!(!of_application.stderr.contains("--postback-url"), "one does: {of_application:?}");
    let printed = made.output();
    let record = app.client().payment(shown(&printed, "payment"));
    assert_eq!((&record["amount"], &record["paymentMethod"]), (&json!("100.00"), &json!("PIX")));
    assert_eq!(shown(&printed, "amount"), "100.00 BRL");
    assert_eq!(shown(&printed, "pix code"), record["pix"]["code"]);
    let page = shown(&printed, "page").to_owned();
    assert_eq!(app.client_without_key().get(&page).status, 200, "{page}");
}

#[test]
fn a_payment_is_cancelled_captured_and_refunded() {
    let app = TestApp::new();
    let made = |options: &[&str]| {
        let printed = call(&app, &[&["payments", "create"], options].concat()).output();
        shown(&printed, "payment").to_owned()
    };
    let waiting = made(&["--amount", "10027"]);
    assert_eq!(shown(&call(&app, &["payments", "cancel", &waiting]).output(), "status"), "cancelled");
    let again = call(&app, &["payments", "cancel", &waiting]);
    assert_eq!(again.code, Some(1), "{again:?}");
    assert!(
        again.stderr.contains("cancel failed with 409") && again.stderr.contains("already cancelled"),
        "{again:?}"
    );
    let held = made(&["--method", "credit_card", "--authorize-only"]);
    let captured = call(&app, &["payments", "capture", &held, "--amount", "4000"]).output();
    assert_eq!((shown(&captured, "status"), shown(&captured, "amount")), ("paid", "100.00 BRL"));
    let refund = ["payments", "refund", &held, "--amount", "1000", "--idempotency-key", "once"];
    let refunded = call(&app, &refund).output();
    assert_eq!((shown(&refunded, "amount"), shown(&refunded, "status")), ("10.00", "succeeded"));
    let replayed = call(&app, &refund);
    assert!(replayed.stderr.contains("An earlier request used this idempotency key"), "{replayed:?}");
    assert_eq!(replayed.output(), refunded, "money goes back once");
    assert_eq!(shown(&call(&app, &["payments", "get", &held]).output(), "refunded"), "10.00");
    let answer = call(&app, &["payments", "refund", &held, "--json"]).output();
    assert_eq!(serde_json::from_str::<Value>(&answer).unwrap()["amount"], "30.00", "the rest");
    let too_much = call(&app, &["payments", "refund", &held]);
    assert_eq!(too_much.code, Some(1), "{too_much:?}");
    assert!(too_much.stderr.contains("already refunded in full"), "{too_much:?}");
}

#[test]
fn the_answer_is_printed_in_the_order_of_the_api() {
    let app = TestApp::new();
    let made = call(&app, &["payments", "create", "--amount", "10027", "--json"]).output();
    let id = serde_json::from_str::<Value>(&made).unwrap()["transactionId"].as_str().unwrap().to_owned();
    assert!(squeezed(&made).starts_with("{\"transactionId\":"), "{made}");
    assert!(made.lines().count() > 20, "each member has a line: {made}");
    let raw = app.client().get(&format!("/pay/payments/{id}")).text();
    let read = call(&app, &["payments", "get", &id, "--json"]).output();
    assert_eq!(squeezed(&read), squeezed(&raw));
    let page = app.client().get("/pay/payments?limit=1").text();
    let listed = call(&app, &["payments", "list", "--limit", "1", "--json"]).output();
    assert_eq!(squeezed(&listed), squeezed(&page));
    let moved = call(&app, &["sandbox", "pay", &id]).output();
    assert!(squeezed(&moved).starts_with("{\"transactionId\":"), "{moved}");
}

#[test]
fn each_method_has_options_of_its_own() {
    let app = TestApp::new();
    let create = |options: &[&str]| call(&app, &[&["payments", "create"], options].concat());
    let boleto = create(&["--method", "boleto", "--external-reference", "order 7"]).output();
    assert_eq!(shown(&boleto, "reference"), "order 7");
    assert_eq!(shown(&boleto, "line").len(), 47, "{boleto}");
    let card = create(&["--method", "credit_card", "--installments", "3"]).output();
    assert_eq!(shown(&card, "card"), "visa …4242");
    let declined = create(&["--method", "credit_card", "--card", "insufficient_funds"]).output();
    assert_eq!(
        (shown(&declined, "status"), shown(&declined, "declined")),
        ("declined", "insufficient_funds")
    );
    let held = create(&["--method", "credit_card", "--authorize-only"]).output();
    assert_eq!(shown(&held, "status"), "approved");
    let refused = create(&["--card", "approved"]);
    assert_eq!(refused.code, Some(2), "{refused:?}");
    assert!(refused.stderr.contains("credit_card"), "{refused:?}");
}

#[test]
fn a_body_of_ones_own_is_sent_once_under_one_key() {
    let app = TestApp::new();
    std::fs::write(app.directory().join("body.json"), pix(10_027).to_string()).unwrap();
    let create =
        || call(&app, &["payments", "create", "--file", "body.json", "--idempotency-key", "k1"]).output();
    let first = create();
    let again = create();
    assert_eq!(shown(&first, "payment"), shown(&again, "payment"));
    assert_eq!(shown(&first, "amount"), "100.27 BRL");
    let missing = call(&app, &["payments", "create", "--file", "nowhere.json"]);
    assert_eq!(missing.code, Some(1), "{missing:?}");
    assert!(missing.stderr.contains("nowhere.json"), "{missing:?}");
}

#[test]
fn a_refusal_names_everything_that_is_wrong() {
    let app = TestApp::new();
    let options = ["--amount", "0", "--due-date", "2026-01-01"];
    let refused = call(&app, &[&["payments", "create"][..], &options].concat());
    assert_eq!((refused.code, refused.stdout.as_str()), (Some(1), ""), "{refused:?}");
    for part in ["422", "\n  amount: ", "\n  dueDate: ", "(request "] {
        assert!(refused.stderr.contains(part), "{part}: {refused:?}");
    }
    let unknown = call(&app, &["payments", "get", "01890a5d-ac96-774b-bcce-b302099a8057"]);
    assert_eq!(unknown.code, Some(1), "{unknown:?}");
    assert!(unknown.stderr.contains("transaction not found"), "{unknown:?}");
}

#[test]
fn a_url_with_a_wrong_path_is_told_as_the_cause() {
    let app = TestApp::new();
    let program = app.program(&["payments", "list"]).env("QUITA_URL", &format!("{}/pay", app.url()));
    let refused = program.env("QUITA_KEY", app.key()).run();
    assert_eq!((refused.code, refused.stdout.as_str()), (Some(1), ""), "{refused:?}");
    let asked = format!("asked for {}/pay/pay/payments.", app.url());
    for part in [asked.as_str(), "Check the path /pay of --url or QUITA_URL"] {
        assert!(refused.stderr.contains(part), "{part}: {refused:?}");
    }
}

#[test]
fn a_made_up_payer_is_never_sent_with_a_live_key() {
    let app = TestApp::new();
    let live = app.create_key(&["--merchant", "shop", "--mode", "live"]);
    for arguments in [&["payments", "create"][..], &["trigger", "payment.paid"]] {
        let program = app.program(arguments).env("QUITA_URL", &app.url());
        let refused = program.env("QUITA_KEY", &live).run();
        assert_eq!((refused.code, refused.stdout.as_str()), (Some(2), ""), "{refused:?}");
        assert!(refused.stderr.contains("live") && !refused.stderr.contains(&live), "{refused:?}");
    }
}

#[test]
fn payments_are_listed_page_by_page_and_by_status() {
    let app = TestApp::new();
    let client = app.client();
    let ids: Vec<_> =
        (0..3).map(|_| client.create(&pix(10_027))["transactionId"].as_str().unwrap().to_owned()).collect();
    call(&app, &["sandbox", "pay", &ids[0]]).output();
    let list = |options: &[&str]| call(&app, &[&["payments", "list"], options].concat());
    let listed = list(&["--status", "paid,refund"]).output();
    let columns: Vec<_> = listed.split('\t').collect();
    assert_eq!(
        (columns[0], columns[2..5].to_vec()),
        (ids[0].as_str(), vec!["PIX", "paid", "100.27"]),
        "{listed}"
    );
    for status in ["PAID", "Paid,REFUND"] {
        assert_eq!(list(&["--status", status]).output(), listed, "as the API takes it: {status}");
    }
    let first = list(&["--limit", "2"]);
    assert_eq!(first.stdout.lines().count(), 2, "{first:?}");
    let cursor = first.stderr.split("--cursor ").nth(1).unwrap().trim();
    let rest = list(&["--limit", "2", "--cursor", cursor]);
    assert!(rest.stdout.starts_with(&ids[0]) && !rest.stderr.contains("--cursor"), "{rest:?}");
    let none = list(&["--method", "boleto"]);
    assert_eq!((none.code, none.stdout.as_str()), (Some(0), ""), "{none:?}");
}

#[test]
fn every_event_that_can_be_triggered_reaches_the_receiver() {
    let app = TestApp::new();
    let receiver = TestReceiver::start();
    let trigger = |event: &str| {
        let id = call(&app, &["trigger", event, "--postback-url", &receiver.url()]).output();
        assert_eq!(app.client().events(&id).last().unwrap()["event"], event);
        receiver.wait_until(PATIENCE, &format!("{event} of {id}"), |received| {
            received.iter().any(|told| told.text("transactionId") == id && told.text("event") == event)
        });
    };
    // All at once: each waits until its confirmation is stored.
    thread::scope(|scope| {
        for event in [
            "payment.pending",
            "payment.approved",
            "payment.paid",
            "payment.declined",
            "payment.expired",
            "payment.cancelled",
            "payment.refund",
            "payment.refund_succeeded",
            "payment.chargeback",
        ] {
            scope.spawn(move || trigger(event));
        }
    });
    let triggered = call(&app, &["trigger", "payment.paid", "--postback-url", &receiver.url(), "--json"]);
    let printed: Value = serde_json::from_str(&triggered.stdout).unwrap();
    let id = printed["transactionId"].as_str().unwrap();
    let expected = json!({ "event": "payment.paid", "transactionId": id, "postbackUrl": receiver.url() });
    assert_eq!(printed, expected);
    assert_eq!(app.client().payment(id)["status"], "paid");
    let refused = call(&app, &["trigger", "payment.payed"]);
    assert_eq!(refused.code, Some(2), "{refused:?}");
    assert!(refused.stderr.contains("payment.paid"), "{refused:?}");
}

#[test]
fn lists_are_json_for_programs() {
    let app = TestApp::new();
    let json = |arguments: &[&str]| {
        let printed = app.quita(&[arguments, &["--json"]].concat()).output();
        serde_json::from_str::<Value>(&printed).unwrap_or_else(|error| panic!("{error}: {printed}"))
    };
    let keys = json(&["keys", "list"]);
    let key =
        keys.as_array().unwrap().iter().find(|key| app.key().contains(key["id"].as_str().unwrap())).unwrap();
    assert_eq!(
        (&key["merchant"], &key["mode"], &key["state"]),
        (&json!("shop"), &json!("test"), &json!("in_use"))
    );
    assert_eq!(key["scopes"], json!(["payments:write", "payments:read", "webhooks"]));
    assert!(key["expiresAt"].is_string() && key["revokedAt"].is_null(), "{key}");
    app.quita(&["users", "create", "--merchant", "shop", "--email", "ana@shop.example"]).output();
    let users = json(&["users", "list", "--merchant", "shop"]);
    assert_eq!(users[0]["email"], "ana@shop.example");
    assert_eq!((&users[0]["role"], &users[0]["hasSecondFactor"]), (&json!("owner"), &json!(false)));
    assert_eq!(json(&["users", "operators", "list"]), json!([]));
    let found = json(&["doctor"]);
    assert_eq!(found["failed"], 0, "{found}");
    let findings = found["findings"].as_array().unwrap();
    assert!(
        findings.iter().any(|finding| finding["subject"] == "store" && finding["level"] == "ok"),
        "{found}"
    );
    let failed = app.quita(&["doctor", "--environment", "production", "--json"]);
    assert_eq!(failed.code, Some(1), "{failed:?}");
    let found: Value = serde_json::from_str(&failed.stdout).unwrap();
    assert!(found["failed"].as_u64().unwrap() > 0, "{found}");
}

#[test]
fn a_reader_that_has_enough_ends_the_program_in_silence() {
    let app = TestApp::new();
    app.client().create(&pix(10_027));
    for arguments in [&["payments", "list"][..], &["payments", "list", "--json"], &["logs", "tail", "--once"]]
    {
        app.client().get("/pay/payments/7").expect(400);
        let program = app.program(arguments).env("QUITA_URL", &app.url()).env("QUITA_KEY", app.key());
        let ended = program.run_unread();
        assert_eq!((ended.code, ended.stderr.as_str()), (Some(141), ""), "{arguments:?}");
    }
}

#[test]
fn an_amount_in_reais_is_answered_with_the_cents_that_were_meant() {
    let app = TestApp::new();
    let arguments = ["payments", "create", "--amount", "100.00"];
    let refused = app.program(&arguments).env("QUITA_URL", &app.url()).env("QUITA_KEY", app.key()).run();
    assert_eq!(refused.code, Some(2), "{refused:?}");
    assert!(refused.stderr.contains("whole number of cents"), "{refused:?}");
    assert!(refused.stderr.contains("did you mean 10000?"), "{refused:?}");
}

#[test]
fn an_amount_below_zero_is_refused_as_an_amount() {
    let app = TestApp::new();
    let id = "0193b2c4-0000-7000-8000-000000000000";
    let commands: [&[&str]; 4] = [
        &["payments", "create"],
        &["payments", "capture", id],
        &["payments", "refund", id],
        &["sandbox", "pay", id],
    ];
    for command in commands {
        let refused = call(&app, &[command, &["--amount", "-5"]].concat());
        assert_eq!(refused.code, Some(2), "{refused:?}");
        assert!(refused.stderr.contains("whole number of cents"), "{command:?}: {refused:?}");
    }
}

#[test]
fn a_step_that_is_taken_already_is_refused_in_these_words() {
    let app = TestApp::new();
    let id = app.client().create(&pix(10_027))["transactionId"].as_str().unwrap().to_owned();
    call(&app, &["sandbox", "pay", &id]).output();
    let again = call(&app, &["sandbox", "pay", &id]);
    assert_eq!((again.code, again.stdout.as_str()), (Some(1), ""), "{again:?}");
    assert!(again.stderr.contains("409 Conflict: the payment is already paid\n"), "{again:?}");
    let expired = call(&app, &["sandbox", "expire", &id]);
    assert!(expired.stderr.contains("a payment that is paid cannot become expired"), "{expired:?}");
}

#[test]
fn a_missing_key_is_named_with_its_variable_and_with_the_command_that_creates_one() {
    let app = TestApp::new();
    for arguments in [
        &["payments", "list"][..],
        &["payments", "get", "01890a5d-ac96-774b-bcce-b302099a8057"],
        &["trigger", "payment.paid"],
        &["logs", "tail"],
    ] {
        let refused = app.program(arguments).env("QUITA_URL", &app.url()).run();
        let empty = app.program(arguments).env("QUITA_URL", &app.url()).env("QUITA_KEY", "").run();
        for refused in [refused, empty] {
            assert_eq!((refused.code, refused.stdout.as_str()), (Some(2), ""), "{refused:?}");
            for part in ["--key <KEY>", "QUITA_KEY", "quita keys create"] {
                assert!(refused.stderr.contains(part), "{part}: {refused:?}");
            }
        }
    }
}

/// Triggers payment.paid, and gives the exit code and what was said of it; the id is printed in any case.
#[track_caller]
fn trigger(app: &TestApp, url: &str) -> (Option<i32>, String) {
    let done = call(app, &["trigger", "payment.paid", "--postback-url", url]);
    assert_eq!(app.client().payment(done.stdout.trim())["status"], "paid", "{done:?}");
    (done.code, done.stderr)
}

#[test]
fn a_triggered_event_is_said_to_be_delivered_if_its_receiver_took_it() {
    let app = TestApp::new();
    let receiver = TestReceiver::start();
    let url = receiver.url();
    let delivered = |event: &str| (Some(0), format!("{event} was delivered to {url}.\n"));
    assert_eq!(trigger(&app, &url), delivered("payment.paid"));
    // The confirmation of one after which a payer is awaited is stored later.
    let done = call(&app, &["trigger", "payment.pending", "--postback-url", &url]);
    assert_eq!((done.code, done.stderr), delivered("payment.pending"));
    let scopes = "payments:write,payments:read";
    let key = app.create_key(&["--merchant", "shop", "--scopes", scopes]);
    let program =
        app.program(&["trigger", "payment.paid", "--postback-url", &url]).env("QUITA_URL", &app.url());
    let done = program.env("QUITA_KEY", &key).run();
    assert!(done.code == Some(0) && done.stderr.contains("a key with the scope webhooks"), "{done:?}");
}

#[test]
fn a_triggered_event_that_was_not_delivered_fails_and_names_what_helps() {
    let app = TestApp::new();
    let nobody = "http://127.0.0.1:1/";
    let expected = format!(
        "payment.paid happened, and was not delivered to {nobody}: it waits for payment.pending, whose attempt failed: \
         connection refused or host unreachable.\nStart `quita listen`, or pass another receiver with --postback-url. \
         The service retries automatically.\n"
    );
    assert_eq!(trigger(&app, nobody), (Some(1), expected));
    let receiver = TestReceiver::start();
    let url = receiver.url();
    for (status, words, advice) in [
        (301, "301, redirects are not followed.", "Pass the final address with --postback-url."),
        (401, "401.", "is its QUITA_SECRET the one that `quita secrets show --mode test` prints?"),
        (403, "403.", "is its QUITA_SECRET the one that `quita secrets show --mode test` prints?"),
        (404, "404.", "an error of the receiver"),
        (500, "500.", "an error of the receiver"),
        (410, "410, which ends all attempts for the payment.", "Trigger an event of a new one."),
    ] {
        receiver.answer(status);
        let (code, said) = trigger(&app, &url);
        let first = format!("payment.paid happened, and was not delivered to {url}: it ");
        assert!(code == Some(1) && said.starts_with(&first), "{status}: {code:?} {said}");
        for part in ["payment.pending", words, advice] {
            assert!(said.contains(part), "{part}: {said}");
        }
        assert_eq!(said.contains("retries automatically"), status != 410, "{said}");
    }
}

#[test]
fn a_triggered_event_that_failed_itself_is_the_only_one_that_is_named() {
    let app = TestApp::new();
    let receiver = TestReceiver::start();
    let url = receiver.url();
    receiver.answer_with(|received| match received.text("event").as_str() {
        "payment.paid" => Reply::status(500),
        _ => Reply::status(200),
    });
    let (code, said) = trigger(&app, &url);
    let expected = format!("payment.paid happened, and was not delivered to {url}: 500.\n");
    assert!(code == Some(1) && said.starts_with(&expected) && !said.contains("payment.pending"), "{said}");
}

#[test]
fn a_triggered_event_whose_receiver_hangs_is_not_known_to_be_delivered() {
    let app = TestApp::new();
    let receiver = TestReceiver::start();
    receiver.answer_with(|_| Reply::status(200).after(Duration::from_secs(60)));
    let (code, said) = trigger(&app, &receiver.url());
    let expected = format!("payment.paid happened, and is not known to be delivered to {}", receiver.url());
    assert!(
        code == Some(1) && said.starts_with(&expected) && said.contains("takes long to answer"),
        "{said}"
    );
}
