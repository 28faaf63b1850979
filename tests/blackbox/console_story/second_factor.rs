//! Somebody who sets up a second factor, signs in with it, proves it once more, loses the device, and ends a session.

use std::process::Command;

use crate::support::{Account, Authenticator, Browser, TestApp, Visitor};

const GIVEN: [&str; 7] = ["users", "create", "--merchant", "shop", "--role", "owner", "--email"];

/// Returns what a camera reads in the QR code on the page.
#[track_caller]
fn scan(app: &TestApp, browser: &Browser) -> String {
    let picture = app.directory().join("qr.png");
    std::fs::write(&picture, browser.picture()).unwrap();
    let found = Command::new("zbarimg").args(["--quiet", "--raw"]).arg(&picture).output().unwrap();
    String::from_utf8(found.stdout).unwrap().trim().to_owned()
}

#[test]
fn a_second_factor_is_set_up_given_proven_once_more_and_lost() {
    let app = TestApp::new();
    let (Some(browser), Some(authenticator)) = (Browser::open(&app), Authenticator::open()) else { return };
    let email = "ana@shop.example";
    let password = app.quita(&[&GIVEN[..], &[email]].concat()).output();
    browser.go_to(&format!("{}/console/test/account", app.url()));
    browser.enter("#email", email);
    browser.enter("#password", &password);
    browser.submit();
    browser.wait_for_text("h1", "Choose your password");
    browser.check_fits("given-password");
    browser.enter("#new", "aaaaaaaaaaaaaaaaaaaa");
    browser.submit();
    browser.wait_for_text("[role=alert]", "It repeats the same characters");
    let own = "um céu de cada vez, devagar";
    browser.enter("#new", own);
    browser.submit();
    browser.wait_for_address("/console/test/account");
    browser.click("a[href^=\"/console/factor\"]");
    browser.wait_for_text("h1", "Set up your second factor");
    browser.check_fits("factor");
    let read = authenticator.read(&scan(&app, &browser));
    let secret = browser.text("#secret").replace(' ', "");
    assert_eq!(read, [&*secret, email, "Quita", "6", "30"]);
    browser.enter("#code", "000000");
    browser.submit();
    browser.wait_for_text("[role=alert]", "does not belong to this key");
    browser.enter("#code", &authenticator.code(&secret, 0));
    browser.submit();
    browser.wait_for_text("h1", "Recovery codes");
    browser.check_fits("recovery-codes");
    let codes: Vec<String> = browser.text("#codes").lines().map(str::to_owned).collect();
    assert_eq!(codes.len(), 10);
    browser.click("main a.button-primary");
    browser.wait_for_address("/console/test/account");
    browser.check_fits("account");
    sign_in_with_a_code(&app, &browser, &authenticator, own, &secret);
    let account = Account { email: email.into(), password: own.into() };
    end_another_session(&app, &browser, &account, &codes[1]);
    turn_it_off(&browser, &codes[0]);
}

fn sign_in_with_a_code(
    app: &TestApp,
    browser: &Browser,
    authenticator: &Authenticator,
    password: &str,
    secret: &str,
) {
    browser.click("details.menu summary");
    browser.click("details.menu form[action$=\"/sign-out\"] button");
    browser.wait_for("#email");
    browser.go_to(&format!("{}/console/test/account", app.url()));
    browser.enter("#email", "ana@shop.example");
    browser.enter("#password", password);
    browser.submit();
    browser.wait_for_text("h1", "One more step");
    browser.check_fits("code");
    browser.enter("#code", "000000");
    browser.submit();
    browser.wait_for_text("[role=alert]", "The code is wrong");
    browser.enter("#code", &authenticator.code(secret, 1));
    browser.submit();
    browser.wait_for_address("/console/test/account");
}

/// A session elsewhere is listed and ended.
fn end_another_session(app: &TestApp, browser: &Browser, account: &Account, recovery_code: &str) {
    let elsewhere = Visitor::new(app);
    assert_eq!(elsewhere.sign_in(&account.email, &account.password, "").status, 303);
    assert_eq!(elsewhere.give_code(recovery_code, "").status, 303);
    browser.go_to(&format!("{}/console/test/account", app.url()));
    assert!(browser.text("main").contains("9 of 10 are left"), "{}", browser.text("main"));
    browser.check_fits("sessions");
    browser.click("form[action$=\"/end\"] button");
    browser.wait_for_text(".note", "Session ended");
    assert_eq!(elsewhere.get("/console/test/account").status, 303);
}

fn turn_it_off(browser: &Browser, recovery_code: &str) {
    browser.click("form[action$=\"/factor/remove\"] button");
    browser.wait_for_text("h1", "Confirm that it is you");
    browser.check_fits("confirm");
    browser.enter("#confirm", "000000");
    browser.submit();
    browser.wait_for_text("[role=alert]", "The code is wrong");
    browser.enter("#confirm", recovery_code);
    browser.submit();
    browser.wait_for_text(".note", "Second factor turned off");
}

#[test]
fn the_pages_of_the_second_factor_fit_a_phone_in_the_dark_and_in_both_languages() {
    let app = TestApp::new();
    let (Some(browser), Some(authenticator)) = (Browser::open(&app), Authenticator::open()) else { return };
    let owner = Account::create(&app, "shop", "ana.maria.de.albuquerque@uma-loja-comprida.example", "owner");
    let whole = Visitor::signed_in(&app, &owner);
    let (_, mut codes) = whole.set_up_factor(|secret| authenticator.code(secret, 0));
    let half = Visitor::new(&app);
    assert_eq!(half.sign_in(&owner.email, &owner.password, "").status, 303);
    browser.go_to(&format!("{}/console/sign-in", app.url()));
    let [whole, half] = [&whole, &half].map(|visitor| visitor.cookie("quita_console").unwrap());
    let address = |page: &str| format!("{}/console/{page}", app.url());
    for width in ["wide", "phone"] {
        if width == "phone" {
            browser.become_a_phone();
        }
        for (language, colours) in [("pt-BR", "dark"), ("pt-BR", "light"), ("en", "dark"), ("en", "light")] {
            let look = |page: &str| browser.check_fits(&format!("{page}-{width}-{language}-{colours}"));
            browser.delete_cookies();
            browser.set_cookie("quita_language", language);
            browser.prefer_colours(colours);
            browser.set_cookie("quita_console", &half);
            browser.go_to(&address("sign-in/code"));
            look("code");
            browser.set_cookie("quita_console", &whole);
            for page in ["test/account", "test/people", "factor"] {
                browser.go_to(&address(page));
                look(&page.replace('/', "-"));
            }
            browser.go_to(&address("test/account"));
            browser.click("form[action$=\"/factor/remove\"] button");
            browser.wait_for("#confirm");
            look("confirm");
            browser.go_to(&address("test/account"));
            browser.click("form[action$=\"/recovery-codes\"] button");
            browser.wait_for("#confirm");
            browser.enter("#confirm", &codes[0]);
            browser.submit();
            browser.wait_for("#codes");
            look("recovery-codes");
            codes = browser.text("#codes").lines().map(str::to_owned).collect();
        }
    }
}
