//! Open pages of both consoles whose node no longer answers.

use std::time::Duration;

use crate::support::{Account, Browser, TestApp, Visitor, eventually, pix};

/// Bar of a page whose node no longer answers.
const BAR: &str = "[data-node-away]:not([hidden])";
/// Longest time until a page without a live connection notices: it asks every five seconds, and waits eight.
const NOTICED_WITHIN: Duration = Duration::from_secs(40);

/// Starts a service that will be frozen: its store may seem to have been away meanwhile.
fn app() -> TestApp {
    TestApp::builder().expects_store_away().start()
}

/// Opens the overview as the first operator.
fn open_overview(app: &TestApp, browser: &Browser) {
    let operator = Visitor::operator(app);
    browser.go_to(&format!("{}/sign-in", app.ops_url()));
    browser.set_cookie("quita_operator", &operator.cookie("quita_operator").unwrap());
    browser.go_to(&format!("{}/", app.ops_url()));
    browser.wait_for_text("[data-live-state]", "Up to date");
}

/// Waits for the bar; returns what it says, with the time replaced by `TIME`.
#[track_caller]
fn said_by_bar(browser: &Browser) -> String {
    eventually(NOTICED_WITHIN, "the page says that its node is away", || {
        (browser.count(BAR) > 0).then_some(())
    });
    let time = browser.text(&format!("{BAR} time"));
    let parts: Vec<_> = time.split(':').collect();
    let is_time = parts.len() == 3 && parts.iter().all(|part| part.len() == 2 && part.parse::<u8>().is_ok());
    assert!(is_time, "{time}");
    browser.text(BAR).replace(&time, "TIME")
}

/// Returns the colour of the edge of the first tile that is well, if there is one.
fn edge_of_well(browser: &Browser) -> Option<String> {
    let edge = browser.script(
        "const tile = document.querySelector('.tile-well');
         return tile && getComputedStyle(tile).borderLeftColor;",
    );
    edge.as_str().map(str::to_owned)
}

#[test]
fn an_open_page_says_that_its_node_is_frozen_and_recovers() {
    let app = app();
    let Some(browser) = Browser::open(&app) else { return };
    open_overview(&app, &browser);
    browser.wait_for(".tile-well");
    let green = edge_of_well(&browser).unwrap();
    assert_eq!(browser.count(BAR), 0);
    app.signal("STOP");
    let said = said_by_bar(&browser);
    assert_eq!(said, "This node has not answered since TIME. What you see is from then.");
    assert_ne!(edge_of_well(&browser).unwrap(), green, "nothing is green");
    browser.wait_for_text("[data-live-state]", "Reconnecting…");
    for colours in ["light", "dark"] {
        browser.prefer_colours(colours);
        browser.check_accessible(&format!("a frozen node, {colours}"));
    }
    browser.prefer_colours("light");
    app.signal("CONT");
    browser.wait_until_gone(BAR);
    browser.wait_for_text("[data-live-state]", "Up to date");
    eventually(NOTICED_WITHIN, "what is well is green again", || {
        (edge_of_well(&browser)? == green).then_some(())
    });
}

#[test]
fn an_open_page_says_soon_that_its_node_was_killed() {
    let mut app = app();
    let Some(browser) = Browser::open(&app) else { return };
    open_overview(&app, &browser);
    browser.click("button[lang=pt-BR]");
    browser.wait_for_text("[data-live-state]", "Atualizada");
    app.kill();
    let said = said_by_bar(&browser);
    assert_eq!(said, "Este nó não responde desde TIME. O que você vê é daquele momento.");
}

#[test]
fn pages_of_a_merchant_with_and_without_a_live_connection_say_that_their_node_is_frozen() {
    let app = app();
    let Some(browser) = Browser::open(&app) else { return };
    app.client().create(&pix(10_027));
    Account::create(&app, "shop", "ana@shop.example", "owner").sign_in(&app, &browser);
    for section in ["payments", "applications"] {
        let is_live = section == "payments";
        browser.go_to(&format!("{}/console/test/{section}", app.url()));
        if is_live {
            browser.wait_for_text("[data-live-state]", "Up to date");
        }
        app.signal("STOP");
        let said = said_by_bar(&browser);
        let content = if is_live { " What you see is from then." } else { "" };
        assert_eq!(said, format!("This node has not answered since TIME.{content}"), "{section}");
        app.signal("CONT");
        browser.wait_until_gone(BAR);
    }
}
