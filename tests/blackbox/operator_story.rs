//! The operator's console, in a browser: an operator watches the actors, stops an acquirer, settles an exception.

use std::sync::{Arc, Mutex};

use serde_json::{Value, json};

use crate::support::{
    Browser, Edit, OPERATOR, OPERATOR_PASSWORD, PATIENCE, Reply, SETUP_PASSWORD, TestApp, TestReceiver,
    Visitor, boleto, eventually, pix,
};

/// Every route of PIX that development starts with.
const PIX_ROUTES: [&str; 2] = ["sandbox", "sandbox-backup"];

struct Story {
    app: TestApp,
    browser: Browser,
}

impl Story {
    /// Signs the operator in. `None` where no browser is named.
    fn begin() -> Option<Self> {
        let app = TestApp::new();
        let browser = Browser::open(&app)?;
        browser.go_to(&format!("{}/", app.ops_url()));
        browser.wait_for_address("/sign-in");
        for setup in ["not the configured one", SETUP_PASSWORD] {
            browser.enter("#setup", setup);
            browser.enter("#email", OPERATOR);
            browser.enter("#password", OPERATOR_PASSWORD);
            browser.look("first-operator");
            browser.submit();
            if setup != SETUP_PASSWORD {
                browser.wait_for("[role=alert]");
            }
        }
        browser.wait_for("header.bar");
        Some(Self { app, browser })
    }

    fn go_to(&self, path: &str) {
        self.browser.click(&format!(".nav a[href=\"{path}\"]"));
        self.browser.wait_for_address(path);
    }

    /// Follows the link to an order. The page is live: a click on a row that is just being replaced is made again, as
    /// people do.
    #[track_caller]
    fn ask_for(&self, acquirer: &str, order: &str) {
        let link = format!("a[href=\"/acquirers/{acquirer}/pix/{order}\"]");
        eventually(PATIENCE, &format!("{order} is asked once more"), || {
            let is_asked = self.browser.count("section.ask") > 0;
            if !is_asked && self.browser.count(&link) > 0 {
                self.browser.script(&format!("document.querySelector('{link}')?.click()"));
            }
            is_asked.then_some(())
        });
    }

    /// Gives a route an order, which is asked once more.
    fn order(&self, acquirer: &str, order: &str) {
        self.go_to("/acquirers");
        self.ask_for(acquirer, order);
        self.browser.submit();
        self.browser.wait_for_address("/acquirers");
    }

    fn state_of(&self, acquirer: &str) -> String {
        self.browser.text(&format!("[data-key=\"{acquirer}-pix\"] .badge"))
    }

    /// The number that a live element shows, as soon as it shows one.
    #[track_caller]
    fn shown(&self, sample: &str) -> u64 {
        let css = format!("[data-sample=\"{sample}\"]");
        eventually(PATIENCE, &format!("{sample} is a number"), || {
            self.browser.text(&css).replace(',', "").parse().ok()
        })
    }
}

#[test]
fn every_live_plot_has_its_figures_in_a_table_for_those_who_do_not_see_it() {
    let Some(story) = Story::begin() else { return };
    let browser = &story.browser;
    for path in ["/actors", "/store"] {
        story.go_to(path);
        browser.wait_for("figure[data-series] th[scope=row]");
        let shapes = browser.script(
            "return [...document.querySelectorAll('figure[data-series]')].map((figure) => [
                 figure.querySelector('.visually-hidden caption').textContent.includes('maximum of each minute'),
                 figure.dataset.labels.split(',').length,
                 figure.querySelectorAll('.visually-hidden th[scope=col]').length,
                 figure.querySelectorAll('.visually-hidden tr:last-child td').length,
                 figure.querySelectorAll('.visually-hidden tr:last-child th[scope=row]').length,
             ])",
        );
        for shape in shapes.as_array().unwrap() {
            let series = &shape[1];
            assert_eq!(shape, &json!([true, series, series, series, 1]), "{path}: {shapes}");
        }
        assert!(!shapes.as_array().unwrap().is_empty());
    }
}

#[test]
fn an_operator_sees_mailboxes_fill_and_empty_and_looks_into_one_actor() {
    let Some(story) = Story::begin() else { return };
    let browser = &story.browser;
    let client = story.app.client();
    browser.wait_for_text("[data-live-state]", "Up to date");
    browser.look("operator-overview");
    story.go_to("/actors");
    browser.wait_for_text("[data-live-state]", "Up to date");
    browser.script("window.openedOnce = true");
    assert_eq!(story.shown("kinds.webhook_pool.depth"), 0);
    let receiver = TestReceiver::start();
    let gate = Arc::new(Mutex::new(()));
    let closed = gate.lock().unwrap();
    let passed = Arc::clone(&gate);
    receiver.answer_with(move |_| {
        drop(passed.lock());
        Reply::status(200)
    });
    let wanted = pix(10_027).with("postbackUrl", json!(receiver.url()));
    let ids: Vec<_> =
        (0..60).map(|_| client.create(&wanted)["transactionId"].as_str().unwrap().to_owned()).collect();
    eventually(PATIENCE, "deliveries wait in the pool's mailbox", || {
        (story.shown("kinds.webhook_pool.depth") > 0).then_some(())
    });
    assert!(story.shown("kinds.transaction.live") > 0, "the transactions are in memory");
    browser.look("actors");
    drop(closed);
    eventually(PATIENCE, "the mailbox is empty again", || {
        (story.shown("kinds.webhook_pool.depth") == 0).then_some(())
    });
    assert_eq!(browser.script("return window.openedOnce"), json!(true), "nothing was reloaded");
    look_into_one(&story, &ids[59]);
}

fn look_into_one(story: &Story, id: &str) {
    let browser = &story.browser;
    browser.enter("#id", id);
    browser.click("form[action=\"/transactions\"] .button");
    browser.wait_for_address(&format!("/transactions/{id}"));
    story.app.client().post_empty(&format!("/sandbox/payments/{id}/pay")).expect(200);
    browser.wait_for(".badge-paid");
    browser.wait_for_text("[data-live] td.lead", "execute deliver");
    browser.look("actor");
}

#[test]
fn a_paused_acquirer_gets_no_payment_and_with_none_left_there_is_503() {
    let Some(story) = Story::begin() else { return };
    let client = story.app.client();
    let acquirer_of_new = || client.create(&pix(10_000))["acquirer"].clone();
    assert_eq!(acquirer_of_new(), "sandbox");
    story.order("sandbox", "paused");
    assert_eq!(story.state_of("sandbox"), "Paused");
    assert_eq!(acquirer_of_new(), "sandbox-backup", "payments take the other route");
    story.ask_for("sandbox-backup", "drained");
    story.browser.wait_for(".note.tone-over");
    story.browser.look("last-route");
    story.browser.submit();
    story.browser.wait_for_address("/acquirers");
    story.browser.wait_for_text("[data-key=\"sandbox-backup-pix\"] .badge", "Drained");
    client.post("/pay/payments", &pix(10_000)).expect_error(503, "no_acquirer_available");
    let boleto = client.create(&boleto(10_000));
    assert_eq!(boleto["acquirer"], "sandbox", "an order is for one method");
    for acquirer in PIX_ROUTES {
        story.order(acquirer, "open");
        assert_eq!(story.state_of(acquirer), "Healthy");
    }
    assert_eq!(acquirer_of_new(), "sandbox");
    story.go_to("/audit");
    let log = story.browser.text("main");
    assert!(log.contains("sandbox pix") && log.contains("paused") && log.contains("drained"), "{log}");
}

#[test]
fn an_order_holds_over_a_restart() {
    let Some(mut story) = Story::begin() else { return };
    story.order("sandbox", "paused");
    story.app.restart();
    assert_eq!(story.app.client().create(&pix(10_000))["acquirer"], "sandbox-backup");
}

#[test]
fn an_exception_is_shown_with_what_to_do_and_is_resolved_with_a_note() {
    let Some(story) = Story::begin() else { return };
    let browser = &story.browser;
    let client = story.app.client();
    let open = || story.app.ops().get("/ops/exceptions").expect(200)["data"].as_array().unwrap().clone();
    let id = client.create(&boleto(10_051))["transactionId"].as_str().unwrap().to_owned();
    eventually(PATIENCE, "the odd amount is reported", || (!open().is_empty()).then_some(()));
    story.go_to("/exceptions");
    let page = browser.text("main");
    assert!(page.contains("Amount mismatch") && page.contains(&id), "{page}");
    assert!(
        page.contains("No money moves, and the payment does not change"),
        "what a button does is said: {page}"
    );
    browser.look("exceptions");
    browser.click("a[href*=\"action=resolve\"]");
    browser.enter("#note", "The cent was written off.\nThe merchant agreed.");
    browser.submit();
    browser.wait_for_text(".note", "Exception resolved.");
    assert_eq!(open(), Vec::<Value>::new());
    browser.click("a[href=\"/exceptions?state=resolved\"]");
    browser.wait_for_text("article", "The cent was written off.");
    browser.wait_for_text("article", "The merchant agreed.");
    story.go_to("/audit");
    assert!(browser.text("main").contains("resolved the exception"));
}

#[test]
fn store_and_nodes_are_shown_in_both_languages_and_on_a_phone() {
    let Some(story) = Story::begin() else { return };
    let browser = &story.browser;
    story.go_to("/store");
    browser.wait_for_text("main", story.app.address());
    browser.click("button[lang=pt-BR]");
    browser.wait_for_text("h1", "Armazenamento e nós");
    browser.check_fits("operator-store");
    browser.become_a_phone();
    for path in [
        "/",
        "/actors",
        "/runbook",
        "/store",
        "/acquirers",
        "/exceptions",
        "/transactions",
        "/audit",
        "/kinds/front",
        "/people",
        "/account",
        "/factor",
    ] {
        browser.go_to(&format!("{}{path}", story.app.ops_url()));
        browser.check_fits(&format!("operator-phone{}", path.replace('/', "-")));
    }
}

#[test]
fn an_operator_hires_an_auditor_who_looks_and_lets_the_auditor_go() {
    let Some(story) = Story::begin() else { return };
    let browser = &story.browser;
    story.go_to("/people");
    browser.enter("#email", "aldo@ops.example");
    browser.look("operator-people");
    browser.submit();
    browser.wait_for_text("h1", "Password for aldo@ops.example");
    let password = browser.text("#secret");
    let aldo = Visitor::at_ops(&story.app);
    assert_eq!(aldo.sign_in("aldo@ops.example", &password, "").status, 303);
    aldo.choose_password("um barco verde na janela dela");
    assert_eq!(aldo.get("/").status, 200);
    assert!(!aldo.page("/acquirers").contains("/paused\""), "an auditor has no button");
    story.go_to("/people");
    browser.in_the_dark();
    browser.check_fits("operator-people-dark");
    browser.click("a[href=\"/people/aldo%40ops.example/remove\"]");
    browser.wait_for_text("h1", "Remove aldo@ops.example?");
    browser.check_fits("operator-removal-dark");
    browser.submit();
    browser.wait_for_text(".note", "Person removed.");
    assert_eq!(aldo.get("/").status, 303);
    browser.go_to(&format!("{}/account", story.app.ops_url()));
    browser.wait_for_text("main", OPERATOR);
    browser.check_fits("operator-account-dark");
    browser.click("a[href^=\"/factor?\"]");
    browser.wait_for("img[src^=\"data:image/svg\"]");
    browser.check_fits("operator-factor-dark");
}

#[test]
fn what_was_compared_is_shown_by_day_and_down_to_the_line() {
    let Some(story) = Story::begin() else { return };
    let browser = &story.browser;
    let file = concat!(env!("CARGO_MANIFEST_DIR"), "/cnab/tests/files/cnab400-itau.ret");
    let compared = story.app.quita(&["reconcile", "--cnab", file]);
    assert_eq!(compared.code, Some(1), "none of its boletos is ours: {compared:?}");
    let page = format!("{}/reconciliation?until=2013-06-21", story.app.ops_url());
    let lines = "main a[href^=\"/reconciliation/lines\"]";
    browser.go_to(&page);
    browser.wait_for_text(lines, "4");
    browser.check_fits("reconciliation");
    browser.click(lines);
    browser.wait_for_text("main", "002313270");
    browser.check_fits("reconciliation-lines");
    browser.become_a_phone();
    browser.check_fits("operator-phone-reconciliation-lines");
    browser.go_to(&page);
    browser.wait_for(lines);
    browser.check_fits("operator-phone-reconciliation");
}
