//! Attempts of a stranger at the operator's console, which are refused.

use crate::support::{
    Account, Answer, EventStream, OPERATOR, OPERATOR_PASSWORD, PATIENCE, SETUP_PASSWORD, TestApp, Visitor,
    boleto, check_is_protected, check_stream_is_protected, declared, eventually, form_token_in,
};

/// Source in which the routes are declared.
const DECLARED: &str = include_str!("../../src/console/operator/routes.rs");

/// Every page and stream of the console for who is signed in: as it is declared, and an address of it.
const READ: [(&str, &str); 30] = [
    ("/", "/"),
    ("/overview/stream", "/overview/stream"),
    ("/actors", "/actors"),
    ("/kinds/{kind}", "/kinds/front"),
    ("/live", "/live"),
    ("/live/history", "/live/history"),
    ("/transactions", "/transactions"),
    ("/transactions/{id}", "/transactions/01900000-0000-7000-8000-000000000000"),
    ("/transactions/{id}/mismatch", "/transactions/01900000-0000-7000-8000-000000000000/mismatch"),
    ("/transactions/{id}/charges/{number}", "/transactions/01900000-0000-7000-8000-000000000000/charges/1"),
    (
        "/transactions/{id}/operations/{operation}",
        "/transactions/01900000-0000-7000-8000-000000000000/operations/01900000-0000-7000-8000-000000000000",
    ),
    ("/transactions/{id}/stream", "/transactions/01900000-0000-7000-8000-000000000000/stream"),
    ("/acquirers", "/acquirers"),
    ("/acquirers/stream", "/acquirers/stream"),
    ("/acquirers/{name}/{method}/{directive}", "/acquirers/sandbox/pix/paused"),
    ("/exceptions", "/exceptions"),
    ("/exceptions/act", "/exceptions/act?action=resolve&id=1"),
    ("/reconciliation", "/reconciliation"),
    ("/reconciliation/lines", "/reconciliation/lines?source=bank&day=2026-11-22"),
    ("/reconciliation.csv", "/reconciliation.csv"),
    ("/store", "/store"),
    ("/store/stream", "/store/stream"),
    ("/jobs", "/jobs"),
    ("/jobs/{name}", "/jobs/last-uses"),
    ("/nodes/{id}", "/nodes/01900000-0000-7000-8000-000000000000"),
    ("/audit", "/audit"),
    ("/people", "/people"),
    ("/people/{login}/{verb}", "/people/aldo%40ops.example/reset"),
    ("/account", "/account"),
    ("/factor", "/factor"),
];
/// Those that ask before something is directed.
const ASKED: [&str; 8] = [
    "/transactions/{id}/mismatch",
    "/transactions/{id}/charges/{number}",
    "/transactions/{id}/operations/{operation}",
    "/acquirers/{name}/{method}/{directive}",
    "/exceptions/act",
    "/jobs/{name}",
    "/nodes/{id}",
    "/people/{login}/{verb}",
];
/// Routes to what belongs to the person who is signed in.
pub(crate) const OWN: [&str; 10] = [
    "/account/mail",
    "/account/webhook",
    "/account/password",
    "/account/sessions/end-others",
    "/account/sessions/{id}/end",
    "/factor",
    "/account/recovery-codes",
    "/account/factor/remove",
    "/sign-in/password",
    "/sign-out",
];
/// Every form of who is signed in.
const CHANGED: [(&str, &str); 19] = [
    ("/acquirers/{name}/{method}/{directive}", "/acquirers/sandbox/pix/paused"),
    ("/transactions/{id}/mismatch", "/transactions/01900000-0000-7000-8000-000000000000/mismatch"),
    ("/transactions/{id}/charges/{number}", "/transactions/01900000-0000-7000-8000-000000000000/charges/1"),
    (
        "/transactions/{id}/operations/{operation}",
        "/transactions/01900000-0000-7000-8000-000000000000/operations/01900000-0000-7000-8000-000000000000",
    ),
    ("/exceptions/act", "/exceptions/act"),
    ("/jobs/{name}", "/jobs/last-uses"),
    ("/nodes/{id}", "/nodes/01900000-0000-7000-8000-000000000000"),
    ("/people", "/people"),
    ("/people/{login}/{verb}", "/people/aldo%40ops.example/reset"),
    ("/account/mail", "/account/mail"),
    ("/account/webhook", "/account/webhook"),
    ("/account/password", "/account/password"),
    ("/account/sessions/end-others", "/account/sessions/end-others"),
    ("/account/sessions/{id}/end", "/account/sessions/0123456789abcdef0123456789abcdef/end"),
    ("/factor", "/factor"),
    ("/account/recovery-codes", "/account/recovery-codes"),
    ("/account/factor/remove", "/account/factor/remove"),
    ("/sign-in/password", "/sign-in/password"),
    ("/sign-out", "/sign-out"),
];
/// Routes that somebody who is not signed in may use.
const OPEN: [(&str, &str); 10] = [
    ("GET", "/console/assets/{name:.*}"),
    // While the store is away nobody's session can be read.
    ("GET", "/outage"),
    // It holds no data, and says what to do then.
    ("GET", "/runbook"),
    ("GET", "/sign-in"),
    ("POST", "/sign-in"),
    ("POST", "/first-operator"),
    ("POST", "/language"),
    // Of who gave the password, and of who has to change it.
    ("GET", "/sign-in/code"),
    ("POST", "/sign-in/code"),
    ("GET", "/sign-in/password"),
];

/// As it stands in the addresses above.
const NO_PAYMENT: &str = "01900000-0000-7000-8000-000000000000";

/// Addresses that are another site's, or not of this console, as some browser may read them.
const ELSEWHERE: [&str; 10] = [
    "https://evil.example/",
    "//evil.example/",
    "/\\evil.example",
    "\\\\evil.example",
    "@evil.example/",
    "javascript:alert(1)",
    "/\r\nLocation: https://evil.example",
    "/\u{9}/evil.example",
    " //evil.example",
    "acquirers",
];

fn is_paused(app: &TestApp) -> bool {
    app.ops().get("/health/ready").text().contains("paused")
}

#[test]
fn every_address_is_in_the_lists_of_these_tests() {
    let read = READ.map(|(pattern, _)| ("GET", pattern));
    let changed = CHANGED.map(|(pattern, _)| ("POST", pattern));
    let mut known: Vec<_> = read.into_iter().chain(changed).chain(OPEN).collect();
    let declared = declared(DECLARED);
    let mut declared: Vec<_> = declared.iter().map(|(method, pattern)| (method.as_str(), *pattern)).collect();
    known.sort_unstable();
    declared.sort_unstable();
    assert_eq!(known, declared, "a route was added or removed: say here who may use it");
}

#[test]
fn a_stranger_and_a_merchant_see_nothing_and_change_nothing() {
    let app = TestApp::new();
    let owner = Account::create(&app, "shop", "ana@shop.example", "owner");
    let merchant = Visitor::signed_in(&app, &owner);
    let session = merchant.cookie("quita_console").unwrap();
    let stranger = Visitor::at_ops(&app);
    let disguised = Visitor::at_ops(&app);
    disguised.set_cookie("quita_operator", &session);
    disguised.set_cookie("quita_console", &session);
    for visitor in [&stranger, &disguised] {
        for (_, path) in READ {
            check_is_sent_to_the_door(&visitor.get(path));
        }
        for (_, path) in CHANGED {
            check_is_sent_to_the_door(&visitor.post_with(path, &[], &[("formToken", "x")]));
        }
    }
    assert!(!is_paused(&app));
}

#[track_caller]
fn check_is_sent_to_the_door(answer: &Answer) {
    assert_eq!(answer.status, 303, "{answer}");
    assert!(answer.header("location").unwrap().starts_with("/sign-in"), "{answer}");
    assert!(answer.body.is_empty(), "{answer}");
    check_is_protected(answer);
}

#[test]
fn a_form_without_its_token_or_from_another_site_is_refused() {
    let app = TestApp::new();
    let (operator, other) = (Visitor::operator(&app), Visitor::operator(&app));
    let token = operator.form_token();
    let foreign = other.form_token();
    let cross_site = [("Sec-Fetch-Site", "cross-site")];
    for (_, path) in CHANGED {
        for (headers, fields) in [
            (&[][..], vec![]),
            (&[][..], vec![("formToken", "")]),
            (&[][..], vec![("formToken", foreign.as_str())]),
            (&cross_site[..], vec![("formToken", token.as_str())]),
        ] {
            let answer = operator.post_with(path, headers, &fields);
            assert_eq!(answer.status, 403, "{path}: {answer}");
            check_is_protected(&answer);
        }
    }
    assert_eq!(operator.get("/").status, 200, "the session goes on");
    assert!(!is_paused(&app));
    // What was refused was refused for its token.
    let taken = operator.post_with("/acquirers/sandbox/pix/paused", &[], &[("formToken", &token)]);
    assert_eq!((taken.status, taken.header("location")), (303, Some("/acquirers")), "{taken}");
    check_is_protected(&taken);
    assert!(is_paused(&app));
}

#[test]
fn guessing_a_password_is_slow_and_a_wrong_one_tells_nothing() {
    let app = TestApp::new();
    drop(Visitor::operator(&app));
    let stranger = Visitor::at_ops(&app);
    for email in [OPERATOR, "nobody@ops.example"] {
        let guesses = (0..10).map(|guess| stranger.sign_in(email, &format!("guess {guess}"), "").status);
        let statuses: Vec<_> = guesses.collect();
        assert_eq!(statuses[..8], [422; 8], "{statuses:?}");
        assert_eq!(statuses[8..], [429; 2], "{statuses:?}");
    }
    let right = stranger.sign_in(OPERATOR, OPERATOR_PASSWORD, "");
    assert_eq!(right.status, 429, "the right one waits as well: {right}");
    check_is_protected(&right);
    assert_eq!(stranger.get("/").status, 303);
}

#[test]
fn nobody_is_sent_to_another_site_after_signing_in() {
    // A browser that signed in before has ten attempts in a row, and any other eight.
    for some in [&["/acquirers", "/audit?cursor=x"][..], &ELSEWHERE[..5], &ELSEWHERE[5..]] {
        let app = TestApp::new();
        drop(Visitor::operator(&app));
        for next in some {
            let answer = Visitor::at_ops(&app).sign_in(OPERATOR, OPERATOR_PASSWORD, next);
            let back = if ELSEWHERE.contains(next) { "/" } else { next };
            assert_eq!((answer.status, answer.header("location")), (303, Some(back)), "{next:?}: {answer}");
        }
    }
}

#[test]
fn choosing_a_language_leads_back_to_a_page_of_the_console_only() {
    let app = TestApp::new();
    let visitor = Visitor::at_ops(&app);
    let token = form_token_in(&visitor.page("/sign-in"));
    for (referer, back) in [
        ("http://evil.example/acquirers", "/acquirers"),
        ("http://evil.example/audit?cursor=a%20b", "/audit?cursor=a%20b"),
        ("http://evil.example//evil.example/", "/"),
        ("http://evil.example/\\evil.example/", "/"),
        ("https:///evil.example", "/"),
        ("javascript:alert(1)", "/"),
        ("nonsense", "/"),
        ("", "/"),
    ] {
        let fields = [("formToken", &*token), ("language", "pt-BR")];
        let answer = visitor.post_with("/language", &[("Referer", referer)], &fields);
        assert_eq!((answer.status, answer.header("location")), (303, Some(back)), "{referer}: {answer}");
        check_is_protected(&answer);
    }
}

/// A browser ends the lines of a text with CRLF (HTML, section 4.10.22.7).
#[test]
fn a_note_may_have_lines_but_nothing_else_that_does_not_show() {
    let app = TestApp::new();
    let operator = Visitor::operator(&app);
    app.client().create(&boleto(10_051));
    let address = eventually(PATIENCE, "the odd amount is reported", || {
        let page = operator.page("/exceptions");
        let (_, rest) = page.split_once("href=\"/exceptions/act?action=resolve&#38;id=")?;
        Some(format!("/exceptions/act?action=resolve&id={}", rest.split('"').next()?))
    });
    let id = field_in(&operator.page(&address), "id");
    let resolve =
        |note: &str| operator.post("/exceptions/act", &[("action", "resolve"), ("id", &id), ("note", note)]);
    for bad in ["", " \r\n ", "one\u{0}two", "one\u{1b}[2Jtwo", &"x".repeat(501)] {
        let answer = resolve(bad);
        assert_eq!(answer.status, 422, "{bad:?}: {answer}");
    }
    let taken = resolve("The cent was written off.\r\nThe merchant agreed: <b>.");
    let back = Some("/exceptions?done=resolved");
    assert_eq!((taken.status, taken.header("location")), (303, back), "{taken}");
    let asked = operator.get(&address);
    assert_eq!(asked.status, 409, "it is not asked again: {asked}");
    let note = "The cent was written off.\nThe merchant agreed: &#60;b&#62;.";
    for page in ["/exceptions?state=resolved", "/audit"] {
        let page = operator.page(page);
        assert!(page.contains(note), "{page}");
    }
}

/// The value of a field that is not shown.
#[track_caller]
fn field_in(page: &str, name: &str) -> String {
    let (_, after) =
        page.split_once(&format!("name=\"{name}\" value=\"")).unwrap_or_else(|| panic!("{page}"));
    after.split('"').next().unwrap().to_owned()
}

#[test]
fn a_session_ends_with_signing_out_and_is_never_one_that_was_there_before() {
    let app = TestApp::new();
    drop(Visitor::operator(&app));
    let operator = Visitor::at_ops(&app);
    operator.set_cookie("quita_operator", "chosen-by-somebody-else");
    assert_eq!(
        operator.sign_in(OPERATOR, OPERATOR_PASSWORD, "https://evil.example/").header("location"),
        Some("/")
    );
    let session = operator.cookie("quita_operator").unwrap();
    assert_ne!(session, "chosen-by-somebody-else");
    assert_eq!(operator.post("/sign-out", &[]).status, 303);
    operator.set_cookie("quita_operator", &session);
    assert_eq!(operator.get("/").status, 303, "the old cookie opens nothing");
}

#[test]
fn who_guesses_the_password_is_in_the_audit_log_with_the_address() {
    let app = TestApp::new();
    let operator = Visitor::operator(&app);
    assert_eq!(Visitor::at_ops(&app).sign_in(OPERATOR, "what might it be", "").status, 422);
    let log = operator.page("/audit");
    for told in ["failed to sign in", "operators&#x27; console", "127.0.0.1"] {
        assert!(log.contains(told) || log.contains(&told.replace("x27", "39")), "{told}: {log}");
    }
    assert!(!log.contains("what might it be"), "{log}");
}

#[test]
fn the_password_of_the_configuration_makes_one_operator_and_opens_nothing() {
    let app = TestApp::new();
    let stranger = Visitor::at_ops(&app);
    let wrong = stranger.make_first("not the configured one", OPERATOR, OPERATOR_PASSWORD);
    assert_eq!(wrong.status, 422, "{wrong}");
    let weak = stranger.make_first(SETUP_PASSWORD, OPERATOR, "aaaaaaaaaaaaaaaaaaaa");
    assert_eq!(weak.status, 422, "{weak}");
    let page = stranger.page("/sign-in");
    assert!(page.contains("after that it no longer works"), "{page}");
    let late = Visitor::at_ops(&app);
    let token = form_token_in(&late.page("/sign-in"));
    drop(Visitor::operator(&app));
    let fields = [
        ("formToken", &*token),
        ("setup", SETUP_PASSWORD),
        ("email", "eve@evil.example"),
        ("password", OPERATOR_PASSWORD),
    ];
    let second = late.post_with("/first-operator", &[], &fields);
    assert!(second.status == 409 && second.text().contains("no longer works"), "{second}");
    check_is_protected(&second);
    for email in ["", OPERATOR, "operator", "eve@evil.example"] {
        assert_eq!(late.sign_in(email, SETUP_PASSWORD, "").status, 422, "{email:?}");
    }
    assert!(!app.quita(&["users", "operators", "list"]).output().contains("eve@"));
    let page = Visitor::at_ops(&app).page("/sign-in");
    assert!(page.contains("no longer works") && !page.contains("first-operator"), "{page}");
}

#[test]
fn guesses_at_the_password_of_the_configuration_are_counted() {
    let app = TestApp::new();
    let stranger = Visitor::at_ops(&app);
    let guess = |_| stranger.make_first("not the configured one", OPERATOR, OPERATOR_PASSWORD).status;
    let statuses: Vec<_> = (0..9).map(guess).collect();
    assert_eq!((&statuses[..8], statuses[8]), (&[422; 8][..], 429), "{statuses:?}");
    assert_eq!(stranger.make_first(SETUP_PASSWORD, OPERATOR, OPERATOR_PASSWORD).status, 429);
}

#[test]
fn production_without_an_operator_and_a_password_is_closed_until_a_command_makes_one() {
    let production = TestApp::builder()
        .arg("--environment", "production")
        .arg("--public-url", "https://pay.example.com")
        .env("QUITA_SECRET_KEY", "a-key-for-tests-that-is-long-enough-to-be-taken")
        .start();
    for path in ["/", "/sign-in", "/acquirers"] {
        let answer = Visitor::at_ops(&production).get(path);
        assert!([303, 503].contains(&answer.status), "{path}: {answer}");
    }
    let closed = Visitor::at_ops(&production).get("/sign-in");
    assert!(closed.status == 503 && closed.text().contains("QUITA_OPERATOR_PASSWORD"), "{closed}");
    assert_eq!(production.ops().get("/health/live").status, 200, "health and metrics need no password");
    let made = production.quita(&["users", "operators", "create", "--email", OPERATOR]);
    let visitor = Visitor::at_ops(&production);
    assert_eq!(visitor.sign_in(OPERATOR, &made.output(), "").status, 303);
    assert_eq!(visitor.get("/").header("location"), Some("/sign-in/password"), "it is changed first");
}

/// Parts of buttons that would direct something, looked for on the pages of an auditor.
const BUTTONS: [&str; 8] = [
    "/paused\"",
    "/drained\"",
    "/open\"",
    "/exceptions/act",
    "/operations/",
    "/mismatch\"",
    "/reset\"",
    "/remove\"",
];

#[test]
fn an_auditor_sees_every_page_without_a_button_and_every_change_is_refused() {
    let app = TestApp::new();
    let payment = app.client().create(&boleto(10_051))["transactionId"].as_str().unwrap().to_owned();
    let operator = Visitor::operator(&app);
    let auditor = Visitor::at_ops_as(&app, "aldo@ops.example", "auditor");
    eventually(PATIENCE, "the odd amount is reported", || {
        operator.page("/exceptions").contains("/exceptions/act").then_some(())
    });
    for path in ["/", "/acquirers", "/exceptions", "/reconciliation", "/store", "/audit", "/people"] {
        let page = auditor.page(path);
        for button in BUTTONS {
            assert!(!page.contains(button), "{button} on {path}: {page}");
        }
        assert!(!page.contains("method=\"post\" action=\"/people"), "{path}: {page}");
    }
    assert!(operator.page("/acquirers").contains("/paused\""), "an operator has them");
    assert_eq!(auditor.get(&format!("/transactions/{payment}")).status, 200);
    let token = auditor.form_token();
    for (pattern, path) in CHANGED {
        if OWN.contains(&pattern) {
            continue;
        }
        let path = path.replace(NO_PAYMENT, &payment);
        let answer = auditor.post_with(&path, &[], &[("formToken", &token)]);
        assert_eq!(answer.status, 403, "{path}: {answer}");
        check_is_protected(&answer);
    }
    for (pattern, path) in READ.into_iter().filter(|(pattern, _)| ASKED.contains(pattern)) {
        assert_eq!(auditor.get(path).status, 403, "{pattern}");
    }
    assert!(!is_paused(&app));
    assert_eq!(auditor.get("/").status, 200, "and the session goes on");
}

#[test]
fn a_change_of_an_operator_counts_at_once() {
    let app = TestApp::new();
    let operator = Visitor::operator(&app);
    let other = Visitor::at_ops_as(&app, "otto@ops.example", "operator");
    let mut open = EventStream::open_at_ops(&app, &other, "/acquirers/stream");
    assert!(open.next().unwrap().contains("/paused"));
    let person = "/people/otto%40ops.example";
    assert_eq!(operator.post(&format!("{person}/role"), &[("role", "auditor")]).status, 303);
    assert_eq!(other.post("/acquirers/sandbox/pix/paused", &[]).status, 403);
    open.wait_for_end(PATIENCE);
    assert_eq!(operator.post(&format!("{person}/remove"), &[]).status, 303);
    assert_eq!(other.get("/").status, 303, "the session is over");
    assert!(!is_paused(&app));
}

#[test]
fn the_last_operator_stays_whoever_asks() {
    let app = TestApp::new();
    let operator = Visitor::operator(&app);
    let auditor = Visitor::at_ops_as(&app, "aldo@ops.example", "auditor");
    let own = format!("/people/{}", OPERATOR.replace('@', "%40"));
    for (verb, fields) in [("remove", &[][..]), ("role", &[("role", "auditor")])] {
        assert_eq!(operator.post(&format!("{own}/{verb}"), fields).status, 409, "{verb}");
        assert_eq!(auditor.post(&format!("{own}/{verb}"), fields).status, 403, "{verb}");
    }
    for arguments in [&["remove", OPERATOR][..], &["set-role", OPERATOR, "auditor"]] {
        let refused = app.quita(&[&["users", "operators"], arguments].concat());
        assert!(refused.code == Some(1) && refused.stderr.contains("last operator"), "{refused:?}");
    }
    assert_eq!(operator.get("/people").status, 200);
}

#[test]
fn the_audit_log_says_which_operator_it_was() {
    let app = TestApp::new();
    let operator = Visitor::operator(&app);
    let other = Visitor::at_ops_as(&app, "otto@ops.example", "operator");
    assert_eq!(other.post("/acquirers/sandbox/pix/paused", &[]).status, 303);
    let log = operator.page("/audit");
    let entry = |action: &str| {
        let mut entries = log.split("<tr>").filter(|entry| entry.contains(action));
        entries.next().unwrap_or_else(|| panic!("{action}: {log}")).to_owned()
    };
    assert!(entry("directed the acquirer").contains("otto@ops.example"), "{log}");
    assert!(log.contains("created the operator") && log.contains("command line"), "{log}");
    assert!(!log.contains(OPERATOR_PASSWORD) && !log.contains(SETUP_PASSWORD));
}

#[test]
fn a_password_that_somebody_else_made_opens_nothing_but_its_change() {
    let app = TestApp::new();
    drop(Visitor::operator(&app));
    let made = app.quita(&["users", "operators", "create", "--email", "otto@ops.example"]).output();
    let otto = Visitor::at_ops(&app);
    assert_eq!(otto.sign_in("otto@ops.example", &made, "/acquirers").status, 303);
    for (_, path) in READ {
        assert_eq!(otto.get(path).header("location"), Some("/sign-in/password"), "{path}");
    }
    let token = form_token_in(&otto.page("/sign-in/password"));
    for (_, path) in CHANGED {
        if ["/sign-out", "/sign-in/password"].contains(&path) {
            continue;
        }
        let answer = otto.post_with(path, &[], &[("formToken", &token)]);
        assert_eq!(answer.header("location"), Some("/sign-in/password"), "{path}: {answer}");
    }
    let send = |new: &str| otto.post_with("/sign-in/password", &[], &[("formToken", &*token), ("new", new)]);
    for bad in ["short", "aaaaaaaaaaaaaaaaaaaa", &made] {
        assert_eq!(send(bad).status, 422, "{bad}");
    }
    assert_eq!(send(OPERATOR_PASSWORD).status, 303);
    assert_eq!(otto.get("/").status, 200);
    assert!(!is_paused(&app));
}

#[test]
fn every_kind_of_answer_has_headers_against_scripts_and_frames() {
    let app = TestApp::new();
    let operator = Visitor::operator(&app);
    let stranger = Visitor::at_ops(&app);
    let payment = app.client().create(&boleto(10_000))["transactionId"].clone();
    for (pattern, path) in READ {
        if pattern == "/live" || pattern.ends_with("/stream") {
            let path = path.replace(NO_PAYMENT, payment.as_str().unwrap());
            check_stream_is_protected(&EventStream::open_at_ops(&app, &operator, &path).head);
        } else {
            check_is_protected(&operator.get(path));
        }
    }
    for path in
        ["/sign-in", "/runbook", "/nowhere", "/console/assets/console.css", "/console/assets/nothing.css"]
    {
        check_is_protected(&operator.get(path));
        check_is_protected(&stranger.get(path));
    }
    for wrong in ["", "not the operator's one"] {
        check_is_protected(&stranger.sign_in(OPERATOR, wrong, ""));
    }
    let token = operator.form_token();
    for (_, path) in CHANGED {
        check_is_protected(&operator.post_with(path, &[], &[("formToken", &token)]));
    }
}

#[test]
fn nonsense_in_addresses_is_answered_as_such() {
    let app = TestApp::new();
    let operator = Visitor::operator(&app);
    for path in [
        "/kinds/nobody",
        "/transactions/7",
        "/transactions?id=7",
        "/transactions/01900000-0000-7000-8000-000000000000",
        "/acquirers/nobody/pix/paused",
        "/acquirers/sandbox/cash/paused",
        "/acquirers/sandbox/pix/burnt",
        "/exceptions/act",
        "/exceptions/act?action=resolve&id=none",
        "/exceptions/act?action=burn&id=%00",
        "/reconciliation/lines",
        "/reconciliation/lines?source=bank&day=2026-13-01",
        "/audit?cursor=a&cursor=b",
        "/nowhere",
    ] {
        assert_eq!(operator.get(path).status, 404, "{path}");
    }
    for path in [
        "/audit?cursor=x",
        "/exceptions?state=odd&done=odd",
        "/reconciliation?until=never",
        "/reconciliation?until=-262143-01-01",
        "/reconciliation/lines?source=nobody&day=2026-11-22&verdict=odd&after=%00",
    ] {
        assert_eq!(operator.get(path).status, 200, "{path}");
    }
}
