//! What wants a proof of who it is, although somebody is signed in.

use std::time::Duration;

use crate::support::{Account, Answer, TestApp, Visitor, pix, proven_earlier};

/// How long a proof is good for.
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
    let (rotation, refund) = (live_key(&owner), format!("/console/test/payments/{id}/refund"));
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
