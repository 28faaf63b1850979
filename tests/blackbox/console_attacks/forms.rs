//! Forms that another site made, that belong to another session, or that a role has no right to send.

use super::routes::{Needs, Route, examples};
use super::shops::{Ids, Shops, element, way_back};
use crate::support::{Account, Answer, EventStream, Visitor, form, form_token_in};

/// Route whose effect depends on what was given up.
const REDELIVER_ALL: &str = "/{mode}/deliveries/redeliver";
const SANDBOX: &str = "/{mode}/payments/{id}/sandbox/{action}";

#[track_caller]
fn check_is_refused(answer: &Answer, heading: &str) {
    assert_eq!(answer.status, 403, "{answer}");
    assert!(answer.text().contains(heading), "{answer}");
}

/// The token of the form that the route belongs to, in the browser of somebody who is signed in.
fn right_token(route: &Route, who: &Visitor) -> String {
    if route.pattern == "/sign-in" { form_token_in(&who.page("/console/sign-in")) } else { who.form_token() }
}

#[test]
fn a_form_that_is_not_of_the_session_changes_nothing_by_any_route() {
    let shops = Shops::open();
    let again = Visitor::signed_in(&shops.app, &shops.owner_account);
    let own = shops.owner.form_token();
    let visit = form_token_in(&shops.owner.page("/console/sign-in"));
    let strange = [
        String::new(),
        again.form_token(),
        shops.rival.form_token(),
        form_token_in(&Visitor::new(&shops.app).page("/console/sign-in")),
        shops.owner.cookie("quita_console").unwrap(),
        own[..63].to_owned(),
        own.to_uppercase(),
        "0".repeat(64),
    ];
    let before = shops.state();
    for (route, example) in examples("POST") {
        let attempt = shops.ids.attempt(route, example);
        for token in &strange {
            check_is_refused(&attempt.by(&shops.owner, token), "This form is no longer valid");
        }
        // The form for signing in is of the same browser, but of no session.
        if route.needs > Needs::Visit {
            check_is_refused(&attempt.by(&shops.owner, &visit), "This form is no longer valid");
        }
    }
    assert_eq!(shops.state(), before);
}

#[test]
fn what_another_site_sends_changes_nothing_even_with_the_right_token() {
    let shops = Shops::open();
    let before = shops.state();
    let multipart = "multipart/form-data; boundary=x";
    for (route, example) in examples("POST") {
        let attempt = shops.ids.attempt(route, example);
        let token = right_token(route, &shops.owner);
        for header in [
            ("Sec-Fetch-Site", "cross-site"),
            ("Sec-Fetch-Site", "same-site"),
            ("Sec-Fetch-Site", "none"),
            ("Content-Type", "text/plain"),
            ("Content-Type", "application/json"),
            ("Content-Type", multipart),
            ("Content-Type", ""),
        ] {
            let answer = attempt.with(&shops.owner, &[header], &token);
            check_is_refused(&answer, "This form is no longer valid");
        }
    }
    assert_eq!(shops.state(), before);
}

#[test]
fn a_role_opens_no_more_than_it_is_for_and_changes_nothing_beyond() {
    let shops = Shops::open();
    for (who, most) in [
        (&shops.viewer, Needs::SignedIn),
        (&shops.developer, Needs::ManageApplications),
        (&shops.owner, Needs::ManagePeople),
    ] {
        for (route, example) in examples("GET") {
            let attempt = shops.ids.attempt(route, example);
            if route.needs > most {
                check_is_refused(&attempt.by(who, ""), "Your role does not permit this");
            } else if route.is_stream() {
                assert!(EventStream::open(&shops.app, who, &attempt.path).next().is_some());
            } else {
                let answer = attempt.by(who, "");
                assert!([200, 303].contains(&answer.status), "{answer}");
            }
        }
    }
    let before = shops.state();
    for (who, most) in [(&shops.viewer, Needs::SignedIn), (&shops.developer, Needs::ManageApplications)] {
        let token = who.form_token();
        for (route, example) in examples("POST").filter(|(route, _)| route.needs > most) {
            let answer = shops.ids.attempt(route, example).by(who, &token);
            check_is_refused(&answer, "Your role does not permit this");
        }
    }
    assert_eq!(shops.state(), before);
}

/// Routes for somebody who has a second factor, or another session. The attacks on these cover them.
const WANT_A_FACTOR: [&str; 4] = [
    "/factor",
    "/{mode}/account/recovery-codes",
    "/{mode}/account/factor/remove",
    "/{mode}/account/sessions/{id}/end",
];

/// One of the people of the shops, with the account.
type Somebody = fn(&Shops) -> (&Account, &Visitor);

/// The other side of the tables above: what was refused there is refused for its token or its role, not for itself.
#[test]
fn what_the_attacks_send_is_done_with_the_right_role_and_token() {
    let roles: [(Needs, Somebody); 3] = [
        (Needs::SignedIn, |shops| (&shops.viewer_account, &shops.viewer)),
        (Needs::ManageApplications, |shops| (&shops.developer_account, &shops.developer)),
        (Needs::ManagePeople, |shops| (&shops.owner_account, &shops.owner)),
    ];
    for (most, somebody) in roles {
        let shops = Shops::open();
        let (account, who) = somebody(&shops);
        let ids = Ids { password: account.password.clone(), ..shops.ids.clone() };
        let is_tried = |route: &Route| {
            // What the payer of a sandbox does changes what may be done with the payment.
            let is_elsewhere = ["/sign-in", "/sign-out", REDELIVER_ALL, SANDBOX].contains(&route.pattern);
            route.needs <= most && !is_elsewhere && !WANT_A_FACTOR.contains(&route.pattern)
        };
        for (route, example) in examples("POST").filter(|(route, _)| is_tried(route)) {
            let headers = [("Sec-Fetch-Site", "same-origin")];
            let answer = ids.attempt(route, example).with(who, &headers, &who.form_token());
            assert!([200, 303].contains(&answer.status), "{answer}");
        }
        if most >= Needs::ChangePayments {
            check_redelivers_what_was_given_up(&shops, who);
        }
        assert_eq!(who.post("/console/sign-out", &[]).status, 303);
        assert_eq!(who.get("/console/test").status, 303);
    }
}

#[track_caller]
fn check_redelivers_what_was_given_up(shops: &Shops, who: &Visitor) {
    let path = "/console/test/deliveries/redeliver";
    for (since, count) in [("2999-01-01T00:00", 0), ("2026-01-01T00:00", 1)] {
        let answer = who.post(path, &[("since", since)]);
        let told = format!("/console/test/deliveries?redelivered={count}");
        assert_eq!((answer.status, answer.header("location")), (303, Some(&*told)), "{answer}");
    }
    let log = shops.owner.page("/console/test/audit");
    assert!(log.contains("1 since 2026-01-01"), "{log}");
}

/// The answer to a rotation shows a secret; reloading it sends the form again.
#[test]
fn a_secret_is_shown_once_and_a_repeated_form_rotates_nothing() {
    let shops = Shops::open();
    let base = format!("/console/test/applications/{}", shops.ids.application);
    let replaces = || {
        let asked = shops.owner.page(&format!("{base}/secret/rotate"));
        let (_, after) =
            asked.split_once("name=\"replaces\" value=\"").expect("the form says what it replaces");
        after.split('"').next().unwrap().to_owned()
    };
    let rotate = |what: &str| shops.owner.post(&format!("{base}/secret/rotate"), &[("replaces", what)]);
    let asked = replaces();
    let first = element(&rotate(&asked).text(), "secret");
    assert!(first.starts_with("whsec_"), "{first}");
    let page = shops.owner.page(&base);
    assert!(page.contains(" · until ") && !page.contains(&first), "{page}");
    let refused = rotate(&asked);
    assert!(refused.status == 409 && refused.text().contains("already been rotated"), "{refused}");
    assert_eq!(shops.owner.page(&base), page, "nothing was rotated");
    for _ in 0..3 {
        assert_eq!(rotate(&replaces()).status, 200, "whoever asks anew rotates anew");
    }
    let refused = rotate(&replaces());
    assert!(refused.status == 409 && refused.text().contains("Five secrets"), "{refused}");
    let live = base.replace("/test/", "/live/");
    assert!(!shops.owner.page(&live).contains(" · until "), "the other mode has its own");
    let made = shops.owner.post("/console/test/applications", &[("name", "second")]);
    let secret = element(&made.text(), "secret");
    let own = way_back(&made);
    assert!(secret.starts_with("whsec_") && !shops.owner.page(&own).contains(&secret), "{made}");
    let live_secret = element(&made.text(), "second-secret");
    assert!(live_secret.starts_with("whsec_") && live_secret != secret, "{made}");
    assert_eq!(shops.owner.post("/console/test/applications", &[("name", "second")]).status, 409);
}

/// A button that is pressed twice, or a form that is sent again from the history.
#[test]
fn the_same_form_sent_often_refunds_once_and_is_noted_once() {
    let shops = Shops::open();
    let asked = shops.owner.page(&format!("/console/test/payments/{}/refund", shops.ids.paid));
    let (_, after) = asked.split_once("name=\"key\" value=\"").expect("the requested has a name");
    let key = after.split('"').next().unwrap();
    let fields = form(&[("formToken", &form_token_in(&asked)), ("key", key), ("amount", "1.00")]);
    let path = format!("/console/test/payments/{}/refund", shops.ids.paid);
    let cookies = shops.owner.cookie_header();
    std::thread::scope(|scope| {
        for _ in 0..8 {
            let client = shops.app.client_without_key();
            let headers = [
                ("Content-Type", "application/x-www-form-urlencoded"),
                ("Cookie", &*cookies),
                ("Accept-Language", "en"),
            ];
            let path = &path;
            let fields = &fields;
            scope.spawn(move || {
                let answer = client.send("POST", path, &headers, fields.as_bytes());
                assert_eq!(answer.status, 303, "{answer}");
            });
        }
    });
    let page = shops.owner.page(&format!("/console/test/payments/{}", shops.ids.paid));
    assert_eq!(page.matches("<strong>Refund R$\u{a0}1.00: done</strong>").count(), 1, "{page}");
    let log = shops.owner.page("/console/test/audit");
    assert_eq!(log.matches("refunded the payment").count(), 1, "{log}");
    let other = form(&[("formToken", &form_token_in(&asked)), ("key", key), ("amount", "2.00")]);
    let headers = [("Content-Type", "application/x-www-form-urlencoded")];
    let refused = shops.owner.send("POST", &path, &headers, other.as_bytes());
    assert_eq!(refused.status, 409, "another amount is another requested: {refused}");
}
