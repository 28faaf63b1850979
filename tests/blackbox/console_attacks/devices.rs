//! Strangers who guess until nobody may: whom they keep out, and whom they do not.

use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::thread;

use crate::support::{
    Account, Answer, PATIENCE, TestApp, Visitor, eventually, form_token_in, is_mongodb, pix,
};

const DEVICE: &str = "quita_console_device";
const SIGN_IN: &str = "/console/sign-in";
/// Address of the owner, in a network of its own.
const HOME: &str = "192.0.2.7";
/// Attempts of strangers on one account, and some more for those that come back while the test runs.
const FLOOD: u32 = 90;

fn behind_a_proxy() -> TestApp {
    TestApp::builder().env("QUITA_BEHIND_PROXY", "true").start()
}

fn shop(app: &TestApp) -> Account {
    Account::create(app, "shop", "ana@shop.example", "owner")
}

/// Signs in, or tries to, from an address.
fn sign_in_from(who: &Visitor, from: &str, email: &str, password: &str) -> Answer {
    let token = form_token_in(&who.page(SIGN_IN));
    let fields = [("formToken", &*token), ("email", email), ("password", password)];
    who.post_with(SIGN_IN, &[("X-Forwarded-For", from)], &fields)
}

/// Guesses at an account, each time from the next address, and tells how many guesses were let through.
fn guess(app: &TestApp, email: &str, guesses: u32, from: impl Fn(u32) -> String) -> usize {
    let stranger = Visitor::new(app);
    let guess = |number| sign_in_from(&stranger, &from(number), email, "not the password").status;
    (0..guesses).map(guess).filter(|status| *status == 422).count()
}

/// Uses up what strangers may guess at an account.
fn flood(app: &TestApp, email: &str) {
    let passed = guess(app, email, FLOOD, |number| format!("10.0.{number}.1"));
    assert!((55..FLOOD as usize).contains(&passed), "{passed} guesses from everywhere");
}

#[test]
fn who_has_a_wide_network_keeps_no_owner_out() {
    let app = behind_a_proxy();
    let ana = shop(&app);
    let passed = guess(&app, &ana.email, FLOOD, |number| format!("2001:db8:5:{number:x}::1"));
    assert!((16..32).contains(&passed), "{passed} guesses from one network of 48 bits");
    assert_eq!(sign_in_from(&Visitor::new(&app), HOME, &ana.email, &ana.password).status, 303);
}

#[test]
fn a_browser_that_signed_in_before_gets_in_whatever_strangers_do() {
    let app = behind_a_proxy();
    let ana = shop(&app);
    let laptop = Visitor::new(&app);
    assert_eq!(sign_in_from(&laptop, HOME, &ana.email, &ana.password).status, 303);
    flood(&app, &ana.email);
    let stranger = sign_in_from(&Visitor::new(&app), HOME, &ana.email, &ana.password);
    assert_eq!(stranger.status, 429, "any other browser waits: {stranger}");
    assert_eq!(sign_in_from(&laptop, HOME, &ana.email, &ana.password).status, 303);
    let elsewhere = sign_in_from(&laptop, "10.0.0.1", &ana.email, &ana.password);
    assert_eq!(elsewhere.status, 303, "even behind the address that strangers use");
    // It is a right to guess a few times, and no more.
    let guesses = (0..20).map(|_| sign_in_from(&laptop, HOME, &ana.email, "not the password").status);
    let refused = guesses.filter(|status| *status == 429).count();
    assert!(refused >= 10, "{refused} of 20");
    assert_eq!(sign_in_from(&laptop, HOME, &ana.email, &ana.password).status, 429);
}

/// Signs in as somebody whom nobody knows, from one network after the other, until it is over.
fn crowd(app: &TestApp, stranger: usize, is_over: &AtomicBool, turned_away: &AtomicUsize) {
    let visitor = Visitor::new(app);
    let mut attempts = 0..;
    while !is_over.load(Ordering::SeqCst) {
        let attempt: usize = attempts.next().unwrap();
        let from = format!("10.{stranger}.{}.1", attempt % 250);
        let email = format!("nobody-{stranger}-{attempt}@evil.example");
        let answer = sign_in_from(&visitor, &from, &email, "not the password");
        match answer.status {
            422 | 429 => {}
            503 => {
                assert!(answer.header("retry-after").is_some(), "{answer}");
                turned_away.fetch_add(1, Ordering::SeqCst);
            }
            _ => panic!("{answer}"),
        }
    }
}

#[test]
fn a_crowd_that_signs_in_is_turned_away_and_keeps_neither_payments_nor_people_waiting() {
    let app = behind_a_proxy();
    let ana = shop(&app);
    let laptop = Visitor::new(&app);
    assert_eq!(sign_in_from(&laptop, HOME, &ana.email, &ana.password).status, 303);
    let is_over = AtomicBool::new(false);
    let turned_away = AtomicUsize::new(0);
    thread::scope(|scope| {
        for stranger in 0..100 {
            let app = &app;
            let is_over = &is_over;
            let turned_away = &turned_away;
            scope.spawn(move || crowd(app, stranger, is_over, turned_away));
        }
        let seen = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| {
            eventually(PATIENCE, "some are turned away", || {
                (turned_away.load(Ordering::SeqCst) > 0).then_some(())
            });
            assert_eq!(sign_in_from(&laptop, HOME, &ana.email, &ana.password).status, 303);
            app.client().create(&pix(10_000));
        }));
        is_over.store(true, Ordering::SeqCst);
        if let Err(panic) = seen {
            std::panic::resume_unwind(panic);
        }
    });
}

#[test]
fn the_mark_of_a_browser_is_good_for_its_own_account_and_can_not_be_made_up() {
    let app = behind_a_proxy();
    let ana = shop(&app);
    let bia = Account::create(&app, "shop", "bia@shop.example", "viewer");
    let thief = Visitor::new(&app);
    assert_eq!(sign_in_from(&thief, HOME, &bia.email, &bia.password).status, 303);
    let own = thief.cookie(DEVICE).expect("the browser is marked");
    assert!(!Visitor::new(&app).get(SIGN_IN).header("set-cookie").unwrap().contains("device"));
    flood(&app, &ana.email);
    let changed = format!("B{}", &own[1..]);
    for mark in [&*own, &*changed, "", "x", &"A".repeat(75)] {
        thief.set_cookie(DEVICE, mark);
        let answer = sign_in_from(&thief, HOME, &ana.email, &ana.password);
        assert_eq!(answer.status, 429, "{mark:?}: {answer}");
    }
    let wrong = Visitor::new(&app);
    assert_eq!(sign_in_from(&wrong, HOME, &bia.email, "not the password").status, 422);
    assert_eq!(wrong.cookie(DEVICE), None, "who did not get in has no mark");
}

#[test]
fn guesses_at_a_login_keep_nobody_from_changing_the_own_password() {
    let app = behind_a_proxy();
    let ana = shop(&app);
    let owner = Visitor::signed_in(&app, &ana);
    flood(&app, &ana.email);
    let fields = [("current", &*ana.password), ("new", "a quite other sentence")];
    assert_eq!(owner.post("/console/test/account/password", &fields).status, 303);
}

#[test]
fn a_browser_is_known_on_every_node() {
    if !is_mongodb() {
        println!("skipped: an SQLite file belongs to one service");
        return;
    }
    let first = behind_a_proxy();
    let second = TestApp::builder().store(first.store_url()).env("QUITA_BEHIND_PROXY", "true").start();
    let ana = shop(&first);
    let [here, there] = [&first, &second].map(Visitor::new);
    assert_eq!(sign_in_from(&here, HOME, &ana.email, &ana.password).status, 303);
    flood(&second, &ana.email);
    assert_eq!(sign_in_from(&there, HOME, &ana.email, &ana.password).status, 429);
    there.set_cookie(DEVICE, &here.cookie(DEVICE).unwrap());
    assert_eq!(sign_in_from(&there, HOME, &ana.email, &ana.password).status, 303);
}
