//! Actions that want a proof of identity, although somebody is signed in.

use std::time::Duration;

use crate::support::{Account, Answer, TestApp, Visitor, pix, proven_earlier};

/// Time for which a proof is good.
const FIVE_MINUTES: Duration = Duration::from_secs(300);

const RUI: &str = "/console/test/people/rui@shop.example";

#[track_caller]
fn check_asks(answer: &Answer) {
    assert!(answer.status == 403 && answer.text().contains("Confirm that it is you"), "{answer}");
}

/// A paid payment of R$ 100,00, above whose half the owner wants refunds to be confirmed.
fn guarded_payment(app: &TestApp, owner: &Visitor) -> String {
    let policy = owner.post("/console/test/people/policy", &[("confirmRefundsAbove", "50.00")]);
    assert_eq!(policy.status, 303, "{policy}");
    let id = app.client().create(&pix(10_000))["transactionId"].as_str().unwrap().to_owned();
    app.client().post_empty(&format!("/sandbox/payments/{id}/pay")).expect(200);
    id
}

/// Makes a live key, and gives the address that rotates it.
fn live_key(owner: &Visitor) -> String {
    let keys = "/console/live/applications/default/keys";
    let made = owner.post(keys, &[("scope", "payments:read")]).text();
    let (_, key) = made.split_once("id=\"secret\">qk_live_").unwrap_or_else(|| panic!("{made}"));
    format!("{keys}/{}/rotate", key.split('_').next().unwrap())
}

#[test]
fn what_could_do_harm_wants_a_proof_that_is_at_most_five_minutes_old() {
    let app = TestApp::new();
    let account = Account::create(&app, "shop", "ana@shop.example", "owner");
    Account::create(&app, "shop", "rui@shop.example", "developer");
    let owner = Visitor::signed_in(&app, &account);
    let id = guarded_payment(&app, &owner);
    let rotation = live_key(&owner);
    let refund = format!("/console/test/payments/{id}/refund");
    let harmful: [(&str, &[(&str, &str)]); 7] = [
        (&rotation, &[]),
        ("/console/live/applications/default/keys", &[("scope", "payments:write")]),
        ("/console/live/applications/default/secret/rotate", &[]),
        ("/console/test/people/policy", &[("confirmRefundsAbove", "")]),
        (&format!("{RUI}/role"), &[("role", "owner")]),
        (&format!("{RUI}/remove"), &[]),
        (&refund, &[("key", "01980000-0000-7000-8000-000000000001"), ("amount", "50.01")]),
    ];
    let age = |by| proven_earlier(app.store_url(), &owner.cookie("quita_console").unwrap(), by);
    age(FIVE_MINUTES);
    for (path, fields) in harmful {
        check_asks(&owner.post(path, fields));
    }
    let users = app.quita(&["users", "list", "--merchant", "shop"]).output();
    assert!(users.contains("rui@shop.example\tdeveloper"), "{users}");
    assert_eq!(app.client().payment(&id)["refundedAmount"], "0.00");
    // One proof is enough for what follows within the next five minutes.
    let (path, fields) = harmful[4];
    let proven = owner.post(path, &[fields, &[("confirm", &*account.password)]].concat());
    assert_eq!(proven.status, 303, "{proven}");
    age(FIVE_MINUTES - Duration::from_secs(60));
    for (path, fields) in harmful {
        let answer = owner.post(path, fields);
        assert!(matches!(answer.status, 200 | 303), "{path}: {answer}");
    }
    assert_eq!(app.client().payment(&id)["refundedAmount"], "50.01");
}

/// With a wrong proof beside it, each of these asks again instead of doing what it is for.
#[test]
fn what_a_thief_of_a_session_must_not_do_wants_a_proof() {
    let app = TestApp::new();
    let account = Account::create(&app, "shop", "ana@shop.example", "owner");
    let hired = Account::create(&app, "shop", "vera@shop.example", "viewer");
    let policy = "/console/test/people/policy";
    let owner = Visitor::signed_in(&app, &account);
    assert_eq!(owner.post(policy, &[("confirmRefundsAbove", "5.00")]).status, 303);
    let id = app.client().create(&pix(10_000))["transactionId"].as_str().unwrap().to_owned();
    app.client().post_empty(&format!("/sandbox/payments/{id}/pay")).expect(200);
    let refund = format!("/console/test/payments/{id}/refund");
    let key = ("key", "01980000-0000-7000-8000-000000000001");
    let attempts: [(&str, Vec<(&str, &str)>); 8] = [
        ("/console/live/applications/default/keys", vec![("scope", "payments:write")]),
        ("/console/test/applications", vec![("name", "evil")]),
        ("/console/test/applications/default/secret/rotate", vec![]),
        ("/console/test/people", vec![("email", "eve@evil.example"), ("role", "owner")]),
        ("/console/test/people/vera@shop.example/role", vec![("role", "owner")]),
        ("/console/test/people/vera@shop.example/reset", vec![]),
        (policy, vec![("secondFactorRequired", "true")]),
        (&refund, vec![key, ("amount", "5.01")]),
    ];
    // One session has no more than eight.
    let thieves = [Visitor::signed_in(&app, &account), Visitor::signed_in(&app, &account)];
    for (thief, (path, fields)) in thieves.iter().cycle().zip(&attempts) {
        let wrong = thief.post(path, &[&fields[..], &[("confirm", "wrong")]].concat());
        let page = wrong.text();
        assert!(wrong.status == 403 && page.contains("Confirm that it is you"), "{path}: {wrong}");
        assert!(page.contains(&format!("action=\"{path}\"")), "{path}: {page}");
        for (name, value) in fields {
            let kept = format!("name=\"{name}\" value=\"{value}\"");
            assert!(page.contains(&kept), "{kept}: {page}");
        }
    }
    let users = app.quita(&["users", "list", "--merchant", "shop"]).output();
    assert!(users.contains("vera@shop.example\tviewer") && !users.contains("eve@"), "{users}");
    assert_eq!(app.client().payment(&id)["refundedAmount"], "0.00");
    assert!(
        Visitor::signed_in(&app, &hired).get("/console/test").status == 200,
        "nothing was required or reset"
    );
    let below = owner.post(&refund, &[key, ("amount", "5.00"), ("confirm", "wrong")]);
    assert_eq!(below.status, 303, "up to the limit nobody is asked: {below}");
    let (path, fields) = &attempts[4];
    let proven = owner.post(path, &[&fields[..], &[("confirm", &*account.password)]].concat());
    assert_eq!(proven.status, 303, "{proven}");
}

/// Refunds one more payment of R$ 90,00; returns what the console answered.
fn refund_ninety(app: &TestApp, owner: &Visitor, more: &[(&str, &str)]) -> Answer {
    let id = app.client().create(&pix(9_027))["transactionId"].as_str().unwrap().to_owned();
    app.client().post_empty(&format!("/sandbox/payments/{id}/pay")).expect(200);
    let key = uuid::Uuid::now_v7().to_string();
    let fields = [&[("key", &*key), ("amount", "90.00")], more].concat();
    owner.post(&format!("/console/test/payments/{id}/refund"), &fields)
}

#[test]
fn refunds_in_small_parts_ask_for_a_proof_too() {
    let app = TestApp::new();
    let account = Account::create(&app, "shop", "ana@shop.example", "owner");
    let owner = Visitor::signed_in(&app, &account);
    let policy = owner.post("/console/test/people/policy", &[("confirmRefundsAbove", "100.00")]);
    assert_eq!(policy.status, 303, "{policy}");
    let age = || proven_earlier(app.store_url(), &owner.cookie("quita_console").unwrap(), FIVE_MINUTES);
    age();
    assert_eq!(refund_ninety(&app, &owner, &[]).status, 303, "within the limit");
    for _ in 0..2 {
        check_asks(&refund_ninety(&app, &owner, &[]));
    }
    check_asks(&refund_ninety(&app, &owner, &[("confirm", "wrong")]));
    let proven = refund_ninety(&app, &owner, &[("confirm", &account.password)]);
    assert_eq!(proven.status, 303, "{proven}");
    assert_eq!(refund_ninety(&app, &owner, &[]).status, 303, "just proven");
    age();
    check_asks(&refund_ninety(&app, &owner, &[]));
    let log = owner.page("/console/test/audit");
    assert_eq!(log.matches("refunded the payment").count(), 3, "{log}");
    assert_eq!(log.matches("failed to confirm their identity").count(), 1, "{log}");
}

#[test]
fn a_refund_that_is_sent_again_or_is_refused_does_not_count_against_the_limit() {
    let app = TestApp::new();
    let account = Account::create(&app, "shop", "ana@shop.example", "owner");
    let owner = Visitor::signed_in(&app, &account);
    let id = guarded_payment(&app, &owner);
    proven_earlier(app.store_url(), &owner.cookie("quita_console").unwrap(), FIVE_MINUTES);
    let refund = |key: &str, amount: &str| {
        let key = format!("01980000-0000-7000-8000-{key:0>12}");
        owner.post(&format!("/console/test/payments/{id}/refund"), &[("key", &*key), ("amount", amount)])
    };
    for _ in 0..3 {
        assert_eq!(refund("1", "20.00").status, 303, "one refund, however often the form is sent");
    }
    let pending = app.client().create(&pix(10_027))["transactionId"].as_str().unwrap().to_owned();
    for number in ["2", "3"] {
        let key = format!("01980000-0000-7000-8000-{number:0>12}");
        let path = format!("/console/test/payments/{pending}/refund");
        assert_eq!(owner.post(&path, &[("key", &*key), ("amount", "30.00")]).status, 409, "nothing was paid");
    }
    assert_eq!(refund("4", "30.00").status, 303, "50.00 in all");
    check_asks(&refund("5", "0.01"));
    assert_eq!(app.client().payment(&id)["refundedAmount"], "50.00");
}
