//! The doors of the operators' console: who directs something was confirmed by the store a moment ago, has proven who it
//! is, and has a second factor where that is required.

use std::time::Duration;

use crate::operator_attacks::OWN;
use crate::operator_factors::code;
use crate::support::{
    Answer, HeldStore, OPERATOR, OPERATOR_PASSWORD, TestApp, TestAppBuilder, Visitor, declared, pause,
    proven_earlier, without_ids,
};

/// Files that declare the routes.
const DECLARED: &str = include_str!("../../src/console/operator/routes.rs");
/// Forms by which somebody signs in, and the language: they direct nothing, as those of the own account do.
const NOBODYS: [&str; 4] = ["/first-operator", "/sign-in", "/sign-in/code", "/language"];
/// Time for which a proof is good.
const FIVE_MINUTES: Duration = Duration::from_secs(300);
/// Longest time for the store to confirm who changes something.
const CONFIRMED_WITHIN: Duration = Duration::from_secs(5);

const DRAIN: &str = "/acquirers/sandbox/pix/drained";
const EVA: &str = "eva@ops.example";

#[track_caller]
fn check_asks(answer: &Answer) {
    assert!(answer.status == 403 && answer.text().contains("name=\"confirm\""), "{answer}");
}

fn is_drained(app: &TestApp) -> bool {
    Visitor::operator(app).page("/audit").contains("directed the acquirer")
}

/// Sends a form of a session whose token was read before.
fn drain(who: &Visitor, token: &str) -> Answer {
    who.post_with(DRAIN, &[], &[("formToken", token)])
}

/// However slow the store is, and whichever process removed her.
#[test]
fn a_removed_operator_directs_nothing_while_the_store_is_slow() {
    for is_removed_here in [true, false] {
        let app = TestApp::builder().expects_store_away().start();
        let operator = Visitor::operator(&app);
        let eva = Visitor::at_ops_as(&app, EVA, "operator");
        let token = eva.form_token();
        if is_removed_here {
            assert_eq!(operator.post("/people/eva%40ops.example/remove", &[]).status, 303);
        } else {
            assert_eq!(app.quita(&["users", "operators", "remove", EVA]).code, Some(0));
        }
        let Some(held) = HeldStore::hold(app.store_url()) else { return };
        let refused = std::thread::scope(|scope| {
            let waiting = scope.spawn(|| {
                // Longer than what is remembered is believed at once, and shorter than a change waits.
                pause(Duration::from_millis(2_500));
                drop(held);
            });
            let answer = drain(&eva, &token);
            waiting.join().unwrap();
            answer
        });
        let leads_out = refused.header("location").is_some_and(|place| place.starts_with("/sign-in"));
        assert!(leads_out || refused.status == 503, "{is_removed_here}: {refused}");
        assert!(!is_drained(&app), "{is_removed_here}");
    }
}

#[test]
fn while_the_store_is_silent_operators_look_and_direct_nothing() {
    let app = TestApp::builder().expects_store_away().start();
    let operator = Visitor::operator(&app);
    let token = operator.form_token();
    let Some(held) = HeldStore::hold(app.store_url()) else { return };
    assert_eq!(operator.get("/acquirers").status, 200, "what the node knows is shown");
    let begun = std::time::Instant::now();
    let refused = drain(&operator, &token);
    assert_eq!(refused.status, 503, "{refused}");
    assert!(begun.elapsed() >= CONFIRMED_WITHIN);
    drop(held);
    assert!(!is_drained(&app));
    assert_eq!(drain(&operator, &token).status, 303);
}

fn directs(pattern: &str) -> bool {
    !OWN.contains(&pattern) && !NOBODYS.contains(&pattern)
}

/// A form that is added to the console asks too, or is named above as one that directs nothing.
#[test]
fn every_form_that_directs_something_wants_a_proof_that_is_at_most_five_minutes_old() {
    let app = TestApp::new();
    let operator = Visitor::operator(&app);
    let token = operator.form_token();
    proven_earlier(app.store_url(), &operator.cookie("quita_operator").unwrap(), FIVE_MINUTES);
    let nobody = "01900000-0000-7000-8000-000000000000";
    let forms: Vec<_> = declared(DECLARED).into_iter().filter(|(method, _)| method == "POST").collect();
    let mut asked = 0;
    for (_, pattern) in forms.iter().filter(|(_, pattern)| directs(pattern)) {
        let path = [
            ("{name}/{method}/{directive}", "sandbox/pix/drained"),
            ("{login}/{verb}", "aldo%40ops.example/reset"),
            ("{operation}", nobody),
            ("{number}", "1"),
            ("{id}", nobody),
            ("{name}", "last-uses"),
        ];
        let path = path.iter().fold((*pattern).to_owned(), |path, (name, value)| path.replace(name, value));
        assert!(!path.contains('{'), "say here what stands for the names in {pattern}");
        let answer =
            operator.post_with(&path, &[], &[("formToken", &token), ("reason", "kept & sent again")]);
        check_asks(&answer);
        let page = answer.text();
        assert!(
            page.contains(&format!("action=\"{path}\"")) && page.contains("kept &#38; sent again"),
            "{page}"
        );
        asked += 1;
    }
    assert!(asked >= 6, "{asked}");
    assert!(!is_drained(&app));
    check_asks(&operator.post(DRAIN, &[("confirm", "wrong")]));
    assert_eq!(operator.post(DRAIN, &[("confirm", OPERATOR_PASSWORD)]).status, 303);
    assert_eq!(operator.post("/acquirers/sandbox/pix/open", &[]).status, 303, "for the next five minutes");
}

#[test]
fn a_refused_proof_is_in_the_audit_log() {
    let app = TestApp::new();
    let operator = Visitor::operator(&app);
    check_asks(&operator.post(DRAIN, &[("confirm", "what might it be")]));
    let wrong = [("current", "what might it be"), ("new", "another sentence of nobody")];
    assert_eq!(operator.post("/account/password", &wrong).status, 409);
    let log = operator.page("/audit");
    assert_eq!(log.matches("failed to confirm their identity").count(), 2, "{log}");
    assert!(
        log.contains(OPERATOR) && log.contains("127.0.0.1") && !log.contains("what might it be"),
        "{log}"
    );
    let metrics = app.ops().get("/metrics").text();
    assert!(metrics.contains("quita_requests_refused_total{why=\"proof\"} 2"), "{metrics}");
}

#[test]
fn what_auditors_are_refused_is_counted() {
    let app = TestApp::new();
    let auditor = Visitor::at_ops_as(&app, "aldo@ops.example", "auditor");
    for _ in 0..3 {
        assert_eq!(auditor.post(DRAIN, &[]).status, 403);
    }
    let foreign = auditor.post_with(DRAIN, &[("Sec-Fetch-Site", "cross-site")], &[]);
    assert_eq!(foreign.status, 403, "{foreign}");
    let metrics = app.ops().get("/metrics").text();
    assert!(metrics.contains("quita_requests_refused_total{why=\"role\"} 3"), "{metrics}");
    assert!(metrics.contains("quita_requests_refused_total{why=\"foreign_form\"} 1"), "{metrics}");
    let told = app.log().lines().filter(|line| line.contains("requests in a console")).count();
    assert_eq!(told, 2, "one line for each reason: {}", app.log());
}

/// The configured password and what production starts with.
fn production() -> TestAppBuilder {
    TestApp::builder()
        .arg("--environment", "production")
        .arg("--public-url", "https://pay.example.com")
        .env("QUITA_SECRET_KEY", "a-key-for-tests-that-is-long-enough-to-be-taken")
        .env("QUITA_OPERATOR_PASSWORD", "a password of the configuration")
}

fn first_operator(app: &TestApp) -> Visitor {
    let operator = Visitor::at_ops(app);
    let made = operator.make_first("a password of the configuration", OPERATOR, OPERATOR_PASSWORD);
    assert_eq!(made.status, 303, "{made}");
    operator
}

#[track_caller]
fn check_must_enrol(who: &Visitor) {
    for path in ["/", "/acquirers", "/live", "/reconciliation.csv", "/account", "/people", "/audit"] {
        let answer = who.get(path);
        let location = answer.header("location").unwrap_or_default();
        assert!(answer.status == 303 && location.starts_with("/factor?next=%2F"), "{path}: {answer}");
    }
}

#[test]
fn in_production_operators_set_a_second_factor_up_before_anything_else() {
    let app = production().start();
    let operator = first_operator(&app);
    check_must_enrol(&operator);
    let page = operator.page("/factor");
    assert!(page.contains("Operators of this service need a second factor"), "{page}");
    let token = crate::support::form_token_in(&page);
    for path in [DRAIN, "/people", "/account/password", "/account/factor/remove"] {
        let answer = operator.post_with(path, &[], &[("formToken", &token)]);
        assert_eq!((answer.status, answer.header("location")), (303, Some("/factor")), "{path}: {answer}");
    }
    let (_, codes) = operator.set_up_factor(|secret| code(secret, 0));
    assert_eq!(operator.get("/acquirers").status, 200);
    let account = operator.page("/account");
    assert!(!account.contains("action=\"/account/factor/remove\""), "{account}");
    let kept = operator.post("/account/factor/remove", &[("confirm", &codes[0])]);
    assert_eq!(kept.status, 409, "it is required: {kept}");
    // Who lost everything is reached by a command, and sets another one up.
    assert_eq!(app.quita(&["users", "operators", "reset-factor", OPERATOR]).code, Some(0));
    check_must_enrol(&operator);
    let again = Visitor::at_ops(&app);
    assert_eq!(again.sign_in(OPERATOR, OPERATOR_PASSWORD, "").header("location"), Some("/"));
    check_must_enrol(&again);
    again.set_up_factor(|secret| code(secret, 0));
    assert_eq!(again.get("/").status, 200);
}

#[test]
fn an_operator_whom_another_made_changes_the_password_and_sets_a_second_factor_up() {
    let app = production().start();
    let operator = first_operator(&app);
    operator.set_up_factor(|secret| code(secret, 0));
    let made = app.quita(&["users", "operators", "create", "--email", EVA]).output();
    let eva = Visitor::at_ops(&app);
    assert_eq!(eva.sign_in(EVA, &made, "").status, 303);
    assert_eq!(eva.get("/factor").header("location"), Some("/sign-in/password"), "the password comes first");
    eva.choose_password("um barco verde na janela dela");
    check_must_enrol(&eva);
    eva.set_up_factor(|secret| code(secret, 0));
    assert_eq!(eva.get("/").status, 200);
}

#[test]
fn production_may_do_without_and_says_so() {
    let app = production().arg("--operators-need-second-factor", "false").start();
    assert_eq!(first_operator(&app).get("/").status, 200);
    let log = app.log();
    assert!(log.contains("operators-need-second-factor is false"), "{log}");
    let strict = TestApp::builder().arg("--operators-need-second-factor", "true").start();
    check_must_enrol(&Visitor::operator(&strict));
}

#[test]
fn another_factor_and_new_recovery_codes_want_the_factor_itself_however_fresh_the_session_is() {
    let app = TestApp::new();
    let operator = Visitor::operator(&app);
    let (_, codes) = operator.set_up_factor(|secret| code(secret, 0));
    let page = operator.page("/factor");
    assert!(page.contains("name=\"confirm\""), "the page asks for it: {page}");
    let (_, after) = page.split_once("name=\"secret\" value=\"").unwrap();
    let secret = after.split('"').next().unwrap();
    let first = code(secret, 0);
    let new = [("secret", secret), ("code", &*first)];
    check_asks(&operator.post("/factor", &new));
    check_asks(&operator.post("/factor", &[&new[..], &[("confirm", OPERATOR_PASSWORD)]].concat()));
    check_asks(&operator.post("/account/recovery-codes", &[]));
    let unsure = [("secret", secret), ("code", "000000"), ("confirm", &*codes[0])];
    assert_eq!(operator.post("/factor", &unsure).status, 422, "a wrong new code costs no old one");
    let replaced = operator.post("/factor", &[&new[..], &[("confirm", &*codes[0])]].concat());
    assert!(replaced.status == 200 && replaced.text().contains("id=\"codes\""), "{replaced}");
    let old = operator.post("/account/recovery-codes", &[("confirm", &codes[1])]);
    check_asks(&old);
    let renewed = operator.post("/account/recovery-codes", &[("confirm", &code(secret, 30))]);
    assert!(renewed.status == 200 && renewed.text().contains("id=\"codes\""), "{renewed}");
}

#[test]
fn what_an_operator_downloads_is_in_the_audit_log() {
    let app = TestApp::new();
    let operator = Visitor::operator(&app);
    assert_eq!(operator.get("/reconciliation.csv?until=2026-11-20").status, 200);
    let log = operator.page("/audit");
    assert!(
        log.contains("exported the reconciliation of") && log.contains("2026-11-07 to 2026-11-20"),
        "{log}"
    );
}

#[test]
fn no_card_number_in_a_text_of_an_operator() {
    let app = TestApp::new();
    let operator = Visitor::operator(&app);
    let people = [("email", "4242424242424242@ops.example"), ("role", "auditor")];
    let refused = operator.post("/people", &people);
    assert!(refused.status == 422 && refused.text().contains("card number"), "{refused}");
    assert!(!without_ids(&operator.page("/audit")).contains("4242"));
}
