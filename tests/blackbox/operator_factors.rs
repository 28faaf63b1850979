//! Operators with a second factor: what the password alone opens, and what becomes of a code that was used.

use std::time::UNIX_EPOCH;

use totp_rs::{Algorithm, Builder};

use crate::support::{Answer, OPERATOR, OPERATOR_PASSWORD, TestApp, Visitor, form_token_in, is_mongodb};

/// The code of a secret, so many seconds from now.
pub(crate) fn code(secret: &str, seconds: u64) -> String {
    let secret = totp_rs::Secret::try_from_base32(secret).unwrap();
    let totp =
        Builder::new().with_algorithm(Algorithm::SHA1).with_digits(6).with_secret(secret).build().unwrap();
    let now = UNIX_EPOCH.elapsed().unwrap().as_secs();
    totp.generate(now + seconds).to_string()
}

/// Sets up a second factor for who is signed in; gives its secret and the recovery codes.
fn set_up(who: &Visitor) -> (String, Vec<String>) {
    let page = who.page("/factor");
    let secret = between(&page, "name=\"secret\" value=\"", "\"");
    let token = form_token_in(&page);
    let wrong = [("formToken", &*token), ("secret", &secret), ("code", "000000")];
    assert_eq!(who.post_with("/factor", &[], &wrong).status, 422);
    let fields = [("formToken", &*token), ("secret", &secret), ("code", &code(&secret, 0))];
    let shown = who.post_with("/factor", &[], &fields);
    assert_eq!(shown.status, 200, "{shown}");
    let (_, codes) =
        shown.text().split_once("id=\"codes\"").map(|(a, b)| (a.to_owned(), b.to_owned())).unwrap();
    (secret, between(&codes, ">", "<").lines().map(str::to_owned).collect())
}

#[track_caller]
fn between(text: &str, before: &str, after: &str) -> String {
    let (_, rest) = text.split_once(before).unwrap_or_else(|| panic!("{text}"));
    rest.split(after).next().unwrap().to_owned()
}

/// Gives the password, which opens nothing yet.
fn knock(app: &TestApp) -> Visitor {
    let who = Visitor::at_ops(app);
    let answer = who.sign_in(OPERATOR, OPERATOR_PASSWORD, "/audit");
    let asks = answer.header("location").is_some_and(|place| place.starts_with("/sign-in/code"));
    assert!(answer.status == 303 && asks, "{answer}");
    assert!(
        who.get("/").header("location").unwrap().starts_with("/sign-in"),
        "the password alone opens nothing"
    );
    who
}

fn give(who: &Visitor, code: &str) -> Answer {
    let token = form_token_in(&who.page("/sign-in/code"));
    who.post_with("/sign-in/code", &[], &[("formToken", &*token), ("code", code), ("next", "/audit")])
}

#[test]
fn an_operator_with_a_second_factor_gets_in_with_both_and_each_code_counts_once() {
    let app = TestApp::new();
    let operator = Visitor::operator(&app);
    let (secret, recovery) = set_up(&operator);
    assert_eq!(recovery.len(), 10);
    let who = knock(&app);
    assert_eq!(give(&who, "000000").status, 422);
    let next = code(&secret, 30);
    let entered = give(&who, &next);
    assert_eq!((entered.status, entered.header("location")), (303, Some("/audit")), "{entered}");
    assert_eq!(who.get("/").status, 200);
    let again = knock(&app);
    assert_eq!(give(&again, &next).status, 422, "the code was used");
    assert_eq!(give(&again, &recovery[0]).status, 303);
    let once_more = knock(&app);
    assert_eq!(give(&once_more, &recovery[0]).status, 422, "so was that one");
    let log = again.page("/audit");
    assert!(log.contains("set up the second factor of") && log.contains("used a recovery code of"), "{log}");
    assert!(!log.contains(&secret) && !log.contains(&recovery[0]), "{log}");
}

#[test]
fn another_operator_helps_who_lost_the_second_factor_and_a_thief_of_a_session_does_not_take_it_away() {
    let app = TestApp::new();
    let other = Visitor::at_ops_as(&app, "otto@ops.example", "operator");
    let operator = Visitor::operator(&app);
    set_up(&operator);
    let refused = operator.post("/account/factor/remove", &[]);
    assert!(refused.status == 403 && refused.text().contains("name=\"confirm\""), "{refused}");
    let wrong = operator.post("/account/factor/remove", &[("confirm", OPERATOR_PASSWORD)]);
    assert_eq!(wrong.status, 403, "not with the password: {wrong}");
    knock(&app);
    assert_eq!(other.post("/people/olga%40ops.example/factor", &[]).status, 303);
    let who = Visitor::at_ops(&app);
    assert_eq!(who.sign_in(OPERATOR, OPERATOR_PASSWORD, "").status, 303);
    assert_eq!(who.get("/").status, 200);
}

#[test]
fn operators_see_their_sessions_and_end_them() {
    let app = TestApp::new();
    let [here, there] = [(); 2].map(|()| Visitor::operator(&app));
    let page = here.page("/account");
    assert_eq!(
        page.matches("action=\"/account/sessions/").count(),
        2,
        "the other one, and all others: {page}"
    );
    assert_eq!(here.post("/account/sessions/end-others", &[]).status, 303);
    assert_eq!((here.get("/").status, there.get("/").status), (200, 303));
}

#[test]
fn nodes_have_the_same_operators_sessions_and_codes() {
    if !is_mongodb() {
        println!("skipped: an SQLite file belongs to one service");
        return;
    }
    let first = TestApp::new();
    let second = TestApp::builder().store(first.store_url()).start();
    let here = Visitor::operator(&first);
    let there = Visitor::at_ops(&second);
    there.set_cookie("quita_operator", &here.cookie("quita_operator").unwrap());
    assert_eq!(there.get("/people").status, 200, "one session for both");
    let (secret, _) = set_up(&here);
    let next = code(&secret, 30);
    assert_eq!(give(&knock(&first), &next).status, 303);
    assert_eq!(give(&knock(&second), &next).status, 422, "used on the other node");
    assert_eq!(here.post("/sign-out", &[]).status, 303);
    assert_eq!(there.get("/people").status, 303);
}
