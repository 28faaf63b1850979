//! A payer's browser is answered by a page whatever happens, a program by an error.

use std::time::Duration;

use serde_json::Value;

use crate::checkout::{link, make};
use crate::store_away::Outage;
use crate::support::{Answer, Client, TestApp, boleto, pause, pix};

/// Media types that browsers name when they open an address.
const BROWSER: &str = "text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8";

/// Headers of every page of payers that says that nothing is shown.
const HEADERS: [(&str, &str); 8] = [
    (
        "content-security-policy",
        "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; connect-src 'self'; \
         form-action 'self'; base-uri 'none'; frame-ancestors 'none'",
    ),
    ("x-frame-options", "DENY"),
    ("referrer-policy", "no-referrer"),
    ("cache-control", "no-store"),
    ("x-content-type-options", "nosniff"),
    ("x-robots-tag", "noindex"),
    ("permissions-policy", "payment=(), camera=(), microphone=(), geolocation=()"),
    ("cross-origin-opener-policy", "same-origin"),
];

fn open(client: &Client, path: &str, language: &str) -> Answer {
    client.send("GET", path, &[("Accept", BROWSER), ("Accept-Language", language)], b"")
}

/// Words that a page has in each language.
#[derive(Clone, Copy)]
struct Words {
    portuguese: &'static str,
    english: &'static str,
}

/// Checks that a browser gets a page with these words in each language.
#[track_caller]
fn check_page(client: &Client, path: &str, status: u16, expected: Words) -> Answer {
    let Words { portuguese, english } = expected;
    for (language, tag, words) in [("pt-BR,pt;q=0.9", "pt-BR", portuguese), ("en", "en", english)] {
        let page = open(client, path, language);
        assert_eq!(page.status, status, "{page}");
        assert!(page.header("content-type").unwrap().starts_with("text/html"), "{page}");
        assert_eq!(page.header("content-language"), Some(tag), "{page}");
        for (name, value) in HEADERS {
            assert_eq!(page.header(name), Some(value), "{name}: {page}");
        }
        let text = page.text();
        assert!(text.contains(&format!("<html lang=\"{tag}\">")) && text.contains(words), "{page}");
        assert!(text.matches("<script").count() == text.matches("<script src=").count(), "{page}");
    }
    // Most payers are Brazilian.
    let page = client.send("GET", path, &[("Accept", BROWSER)], b"");
    assert_eq!(page.header("content-language"), Some("pt-BR"), "{page}");
    page
}

#[track_caller]
fn check_program(client: &Client, path: &str, status: u16, code: &str) {
    client.send("GET", path, &[("Accept", "application/json")], b"").expect_error(status, code);
}

/// Path of a payment's page.
fn page_of(app: &TestApp, record: &Value) -> String {
    let url = if record["pix"].is_object() { &record["pix"]["qrCode"] } else { &record["boleto"]["url"] };
    let path = url.as_str().unwrap().strip_prefix(&app.url()).unwrap();
    path.trim_end_matches(".png").to_owned()
}

#[test]
fn an_address_that_leads_nowhere_is_a_page_for_a_payer_and_an_error_for_a_program() {
    let app = TestApp::new();
    let client = app.client_without_key();
    let words =
        Words { portuguese: "Confira o endereço com a loja.", english: "Check the address with the shop." };
    for path in [
        "/pix/nothing",
        "/pix/nothing.png",
        "/pix",
        "/boletos/nothing",
        "/boletos/nothing.pdf",
        "/boletos/a/b/c",
        "/checkout",
        "/checkout/nothing",
        "/checkout/nothing/nothing",
        "/checkout/a/b/c",
        "/pay",
        "/pay/nothing",
        "/pix/%3Cb%3Ex",
    ] {
        let page = check_page(&client, path, 404, words);
        assert!(!page.text().contains("<b>"), "{page}");
        check_program(&client, path, 404, "not_found");
    }
    // A program that takes anything gets what it always got, and the API has no pages.
    client.get("/pix/nothing").expect_error(404, "not_found");
    assert_eq!(client.send("HEAD", "/pix/nothing", &[("Accept", BROWSER)], b"").status, 404);
    open(&client, "/pay/payments", "pt-BR").expect_error(401, "unauthorized");
    open(&client, "/nothing", "pt-BR").expect_error(404, "not_found");
    let both = [("Accept", "application/json, text/html;q=0.9")];
    client.send("GET", "/pix/nothing", &both, b"").expect_error(404, "not_found");
}

#[test]
fn what_can_no_longer_be_paid_and_what_is_sent_in_vain_is_told_by_a_page() {
    let app = TestApp::new();
    let merchant = app.client();
    let client = app.client_without_key();
    let words = Words { portuguese: "peça um novo à loja", english: "ask the shop for a new one" };
    for (record, ending) in
        [(merchant.create(&pix(10_027)), ".png"), (merchant.create(&boleto(10_027)), ".pdf")]
    {
        let path = format!("{}{ending}", page_of(&app, &record));
        assert_eq!(open(&client, &path, "pt-BR").status, 200);
        let id = record["transactionId"].as_str().unwrap();
        merchant.post_empty(&format!("/pay/payments/{id}/cancel")).expect(200);
        check_page(&client, &path, 410, words);
        check_program(&client, &path, 410, "gone");
    }
    let sent = client.send("POST", "/pix/nothing", &[("Accept", BROWSER)], b"a=b");
    assert_eq!((sent.status, sent.header("allow")), (405, Some("GET, HEAD")), "{sent}");
    assert!(sent.text().contains("Pedido recusado"), "{sent}");
}

#[test]
fn while_the_store_is_away_payers_read_what_to_do_and_programs_the_code() {
    let mut outage = Outage::prepare();
    let merchant = outage.app.client();
    let records = [merchant.create(&pix(10_027)), merchant.create(&boleto(10_027))];
    let mut paths: Vec<_> = records.iter().map(|record| page_of(&outage.app, record)).collect();
    let link = make(&outage.app, &link());
    paths.push(link["url"].as_str().unwrap().strip_prefix(&outage.app.url()).unwrap().to_owned());
    if !outage.begin() {
        return;
    }
    outage.wait_until_up_is(0.0);
    // A payment leaves memory after three seconds without a message.
    pause(Duration::from_secs(4));
    let client = outage.app.client_without_key();
    let words = Words {
        portuguese: "Se você já pagou, não pague de novo",
        english: "If you have already paid, do not pay again",
    };
    for path in &paths {
        let page = check_page(&client, path, 503, words);
        assert!(page.header("retry-after").is_some(), "{page}");
        assert!(page.text().contains(&format!("href=\"{path}\"")), "it can be loaded again: {page}");
        check_program(&client, path, 503, "store_unavailable");
    }
    outage.end();
    outage.wait_until_up_is(1.0);
    for path in &paths {
        assert_eq!(open(&client, path, "pt-BR").status, 200, "{path}");
    }
}
