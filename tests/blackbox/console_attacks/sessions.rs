//! Getting in, staying in, being thrown out.

use std::time::{Duration, Instant};

use super::shops::element;
use crate::support::{Account, Answer, EventStream, TestApp, Visitor, form_token_in};

/// Attempts on one account before it has to wait.
const ATTEMPTS: usize = 8;
/// Attempts from one address.
const ATTEMPTS_OF_AN_ADDRESS: usize = 40;
/// Time until the address has another attempt.
const ANOTHER_AFTER: Duration = Duration::from_secs(6);
/// Longest time that a page may stay open to somebody who was thrown out.
const STREAM_ENDS_WITHIN: Duration = Duration::from_secs(15);

/// Cookie to which the form for signing in belongs.
const VISIT: &str = "quita_console_visit=";
const SESSION: &str = "quita_console";
const ACCOUNT: &str = "/console/test/account";

fn shop(app: &TestApp) -> Account {
    Account::create(app, "shop", "ana@shop.example", "owner")
}

/// A page as anybody gets it: without what is different for each browser, and without what was typed.
fn without_tokens(answer: &Answer, typed: &str) -> String {
    let page = answer.text();
    page.replace(&form_token_in(&page), "TOKEN").replace(typed, "TYPED")
}

#[test]
fn nobody_is_sent_to_another_site_after_signing_in() {
    let app = TestApp::new();
    // One account may not be tried so often.
    let accounts = [shop(&app), Account::create(&app, "shop", "bia@shop.example", "viewer")];
    let mut turn = accounts.iter().cycle();
    let mut sign_in = |next: &str| {
        let account = turn.next().unwrap();
        let answer = Visitor::new(&app).sign_in(&account.email, &account.password, next);
        assert_eq!(answer.status, 303, "{next}: {answer}");
        answer.header("location").unwrap().to_owned()
    };
    for next in ["/console/test/payments?status=paid&q=a%20b", "/console/", "/console/test"] {
        assert_eq!(sign_in(next), next);
    }
    for next in [
        "https://evil.example/console/",
        "//evil.example/console/",
        "/\\evil.example",
        "\\\\evil.example",
        "/console//evil.example",
        "/console.evil.example/",
        "/console@evil.example/",
        "javascript:alert(1)",
        "/console/\r\nLocation: https://evil.example",
        "/console/\u{9}/evil.example",
        " //evil.example",
        "/pay/payments",
        "console/",
    ] {
        assert_eq!(sign_in(next), "/console/", "{next:?}");
    }
}

#[test]
fn choosing_a_language_leads_back_to_a_page_of_the_console_only() {
    let app = TestApp::new();
    let visitor = Visitor::new(&app);
    let token = form_token_in(&visitor.page("/console/sign-in"));
    for (referer, back) in [
        ("http://evil.example/console/test/payments", "/console/test/payments"),
        (
            "http://evil.example/console/test/payments?status=paid&q=a%20b",
            "/console/test/payments?status=paid&q=a%20b",
        ),
        ("http://evil.example/elsewhere", "/console/"),
        ("http://evil.example//evil.example/", "/console/"),
        ("http://evil.example/console//evil.example/", "/console/"),
        ("nonsense", "/console/"),
        ("", "/console/"),
    ] {
        let fields = [("formToken", &*token), ("language", "pt-BR")];
        let answer = visitor.post_with("/console/language", &[("Referer", referer)], &fields);
        assert_eq!((answer.status, answer.header("location")), (303, Some(back)), "{referer}: {answer}");
    }
    assert_eq!(visitor.cookie("quita_language").as_deref(), Some("pt-BR"));
    let unknown = [("formToken", &*token), ("language", "<b>")];
    assert_eq!(visitor.post_with("/console/language", &[], &unknown).status, 404);
}

/// Checks that somebody who was signed out elsewhere, and still has a cookie, can sign in again.
#[test]
fn a_session_that_is_over_does_not_stand_in_the_way_of_a_new_one() {
    let app = TestApp::new();
    let account = shop(&app);
    let visitor = Visitor::new(&app);
    visitor.set_cookie(SESSION, "a-session-that-is-over");
    let token = form_token_in(&visitor.page("/console/sign-in"));
    let fields = [("formToken", &*token), ("language", "en")];
    let chosen = visitor.post_with("/console/language", &[], &fields);
    assert_eq!(chosen.status, 303, "{chosen}");
    assert_eq!(visitor.sign_in(&account.email, &account.password, "").status, 303);
    assert_eq!(visitor.get(ACCOUNT).status, 200);
}

#[test]
fn a_session_is_made_when_somebody_signs_in_and_never_taken_over() {
    let app = TestApp::new();
    let account = shop(&app);
    let victim = Visitor::new(&app);
    let attacker = Visitor::new(&app);
    let planted = "attackers-choice-of-a-session-AAAAAAAAAAAAA";
    for (name, value) in
        [(SESSION, planted), ("quita_console_visit", "attackers-visit"), ("__Host-quita_console", planted)]
    {
        victim.set_cookie(name, value);
        attacker.set_cookie(name, value);
    }
    assert_eq!(victim.sign_in(&account.email, &account.password, "").status, 303);
    let first = victim.cookie(SESSION).unwrap();
    assert_ne!(first, planted);
    assert_eq!(attacker.get(ACCOUNT).status, 303, "the planted one is none");
    attacker.set_cookie(SESSION, "attackers-visit");
    assert_eq!(attacker.get(ACCOUNT).status, 303, "and the mark of the form is none either");
    assert_eq!(victim.sign_in(&account.email, &account.password, "").status, 303);
    assert_ne!(victim.cookie(SESSION).unwrap(), first, "every time another");
    assert!(first.len() >= 43, "256 random bits are 43 characters: {}", first.len());
}

#[test]
fn signing_out_ends_the_session_and_not_only_the_cookie() {
    let app = TestApp::new();
    let account = shop(&app);
    let here = Visitor::signed_in(&app, &account);
    let there = Visitor::signed_in(&app, &account);
    let kept = here.cookie(SESSION).unwrap();
    let answer = here.post("/console/sign-out", &[]);
    assert_eq!((answer.status, answer.header("location")), (303, Some("/console/sign-in")), "{answer}");
    assert_eq!(here.cookie(SESSION), None, "the browser forgets it");
    here.set_cookie(SESSION, &kept);
    assert_eq!(here.get(ACCOUNT).status, 303, "and so has the service");
    assert_eq!(there.get(ACCOUNT).status, 200, "another session goes on");
}

#[test]
fn a_change_of_a_user_counts_at_once_and_closes_open_pages() {
    let app = TestApp::new();
    let owner = Visitor::signed_in(&app, &shop(&app));
    let hired = Account::create(&app, "shop", "dora@shop.example", "developer");
    let here = Visitor::signed_in(&app, &hired);
    let there = Visitor::signed_in(&app, &hired);
    let mut open = EventStream::open(&app, &here, "/console/test/payments/stream");
    assert!(open.next().unwrap().contains("No payments"));
    let stolen = here.cookie(SESSION).unwrap();
    let new = "a quite other sentence";
    let changed = here.post("/console/test/account/password", &[("current", &hired.password), ("new", new)]);
    assert_eq!(changed.status, 303, "{changed}");
    assert_eq!((here.get(ACCOUNT).status, there.get(ACCOUNT).status), (200, 303));
    there.set_cookie(SESSION, &stolen);
    assert_eq!(there.get(ACCOUNT).status, 303, "the cookie from before is none");
    let person = "/console/test/people/dora%40shop.example";
    assert_eq!(owner.post(&format!("{person}/role"), &[("role", "viewer")]).status, 303);
    assert_eq!(here.post("/console/test/applications", &[("name", "x")]).status, 403);
    let reset = owner.post(&format!("{person}/reset"), &[]);
    assert_eq!(here.get(ACCOUNT).status, 303);
    let password = element(&reset.text(), "secret");
    let again = Visitor::signed_in(&app, &Account { password, ..hired });
    again.choose_password("um céu de cada vez, devagar");
    let mut open_again = EventStream::open(&app, &again, "/console/test/payments/stream");
    assert!(open_again.next().unwrap().contains("No payments"));
    assert_eq!(owner.post(&format!("{person}/remove"), &[]).status, 303);
    assert_eq!(again.get(ACCOUNT).status, 303);
    open.wait_for_end(STREAM_ENDS_WITHIN);
    open_again.wait_for_end(STREAM_ENDS_WITHIN);
}

#[test]
fn wrong_words_are_answered_alike_for_every_login_and_only_so_often() {
    let app = TestApp::new();
    let account = shop(&app);
    let visitor = Visitor::new(&app);
    let known = account.email.as_str();
    let unknown = "nobody@shop.example";
    for attempt in 0..ATTEMPTS {
        let typed = [known.to_uppercase(), unknown.into()]
            .map(|email| if attempt == 0 { email.to_lowercase() } else { email });
        let answers =
            typed.each_ref().map(|email| visitor.sign_in(email, "not the password", "/console/test"));
        assert!(answers.iter().all(|answer| answer.status == 422), "{} {}", answers[0], answers[1]);
        let [one, other] = [0, 1].map(|place| without_tokens(&answers[place], &typed[place]));
        assert_eq!(one, other, "nobody can tell which of them is known");
        assert_eq!(names(&answers[0]), names(&answers[1]));
        let begins = |answer: &Answer| answer.header("set-cookie").is_some_and(|set| !set.starts_with(VISIT));
        assert!(!answers.iter().any(begins), "{} {}", answers[0], answers[1]);
    }
    let known_refused = visitor.sign_in(known, &account.password, "");
    let unknown_refused = visitor.sign_in(unknown, "not the password", "");
    for refused in [&known_refused, &unknown_refused] {
        assert_eq!(refused.status, 429, "{refused}");
        let wait: u64 = refused.header("retry-after").unwrap().parse().unwrap();
        assert!((1..=60).contains(&wait), "{refused}");
    }
    assert_eq!(without_seconds(&known_refused), without_seconds(&unknown_refused));
    let other = Account::create(&app, "shop", "bia@shop.example", "viewer");
    assert_eq!(visitor.sign_in(&other.email, &other.password, "").status, 303, "others are not kept out");
}

fn names(answer: &Answer) -> Vec<&str> {
    let mut names: Vec<_> = answer.headers.iter().map(|(name, _)| name.as_str()).collect();
    names.sort_unstable();
    names
}

fn without_seconds(answer: &Answer) -> String {
    answer.text().replace(|character: char| character.is_ascii_digit(), "")
}

#[test]
fn an_address_tries_a_bounded_number_of_accounts_whatever_it_says_it_is() {
    let app = TestApp::new();
    let visitor = Visitor::new(&app);
    let token = form_token_in(&visitor.page("/console/sign-in"));
    let attempt = |number: usize| {
        let email = format!("user{number}@shop.example");
        let from = format!("203.0.113.{number}");
        let fields = [("formToken", &*token), ("email", &*email), ("password", "12345678901234567890")];
        let headers = [("X-Forwarded-For", &*from), ("Forwarded", "for=203.0.113.1"), ("X-Real-IP", &*from)];
        visitor.post_with("/console/sign-in", &headers, &fields).status
    };
    let begun = Instant::now();
    let answers: Vec<_> = (0..200).map(attempt).take_while(|status| *status != 429).collect();
    let more = begun.elapsed().as_secs() / ANOTHER_AFTER.as_secs() + 1;
    let allowed = ATTEMPTS_OF_AN_ADDRESS..=ATTEMPTS_OF_AN_ADDRESS + more as usize;
    assert!(allowed.contains(&answers.len()), "{} within {:?}", answers.len(), begun.elapsed());
    assert!(answers.iter().all(|status| *status == 422), "{answers:?}");
}

#[test]
fn guesses_at_the_current_password_are_counted_too() {
    let app = TestApp::new();
    let account = shop(&app);
    let visitor = Visitor::signed_in(&app, &account);
    let change = |current: &str, new: &str| {
        visitor.post("/console/test/account/password", &[("current", current), ("new", new)]).status
    };
    assert_eq!(change(&account.password, "too short"), 422);
    let statuses: Vec<_> = (1..ATTEMPTS).map(|_| change("not the password", "a new long sentence")).collect();
    assert!(statuses.iter().all(|status| *status == 409), "{statuses:?}");
    assert_eq!(change(&account.password, "a new long sentence"), 429, "the right one waits as well");
    assert_eq!(visitor.get(ACCOUNT).status, 200, "and the session goes on");
}

#[test]
fn behind_a_proxy_its_own_entry_tells_where_somebody_comes_from() {
    let app = TestApp::builder().env("QUITA_BEHIND_PROXY", "true").start();
    let account = shop(&app);
    let visitor = Visitor::new(&app);
    let token = form_token_in(&visitor.page("/console/sign-in"));
    let fields = [("formToken", &*token), ("email", &account.email), ("password", &account.password)];
    let forwarded = [("X-Forwarded-For", "203.0.113.66, 198.51.100.7")];
    assert_eq!(visitor.post_with("/console/sign-in", &forwarded, &fields).status, 303);
    let log = visitor.page("/console/test/audit");
    assert!(
        log.contains("198.51.100.7") && !log.contains("203.0.113.66"),
        "what a client adds is not believed: {log}"
    );
}
