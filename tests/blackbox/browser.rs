//! A payer in a real browser.

use std::process::Command;
use std::time::Duration;

use fantoccini::{ClientBuilder, Locator};
use hyper_util::client::legacy::connect::HttpConnector;
use serde_json::json;

use crate::support::{Edit, PATIENCE, Running, TestApp, eventually, pix};

/// Starts the driver on a port that it chooses, and gives the port. `None` where no browser is named.
fn start_driver(app: &TestApp) -> Option<(Running, u16)> {
    let Ok(driver) = std::env::var("QUITA_TEST_CHROMEDRIVER") else {
        println!("skipped: QUITA_TEST_CHROMEDRIVER is not set; scripts/test sets it");
        return None;
    };
    let mut command = Command::new(driver);
    command.arg("--port=0");
    let mut driver = Running::start(command, app.directory(), "chromedriver");
    let port = eventually(PATIENCE, "the driver listens", || {
        assert!(driver.ended().is_none(), "{}{}", driver.stdout(), driver.stderr());
        let said = driver.stdout();
        let (_, after) = said.split_once("started successfully on port ")?;
        after.trim().trim_end_matches('.').parse().ok()
    });
    Some((driver, port))
}

async fn open_browser(port: u16, data: &std::path::Path) -> fantoccini::Client {
    let chromium =
        std::env::var("QUITA_TEST_CHROMIUM").expect("QUITA_TEST_CHROMIUM goes with QUITA_TEST_CHROMEDRIVER");
    let profile = format!("--user-data-dir={}", data.display());
    let options = json!({
        "binary": chromium,
        "args": [
            "--headless", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage",
            "--disable-background-networking", "--no-first-run", profile,
        ],
    });
    let capabilities = json!({"goog:chromeOptions": options}).as_object().unwrap().clone();
    let mut builder = ClientBuilder::new(HttpConnector::new());
    builder.capabilities(capabilities);
    builder.connect(&format!("http://127.0.0.1:{port}")).await.unwrap()
}

async fn text(browser: &fantoccini::Client, css: &str) -> String {
    browser.find(Locator::Css(css)).await.unwrap().text().await.unwrap()
}

/// Waits until an element says this.
async fn wait_for_text(browser: &fantoccini::Client, css: &str, expected: &str) {
    let end = std::time::Instant::now() + PATIENCE;
    loop {
        let found = text(browser, css).await;
        if found.contains(expected) {
            return;
        }
        assert!(std::time::Instant::now() < end, "{css} says {found:?}, not {expected:?}");
        tokio::time::sleep(Duration::from_millis(50)).await;
    }
}

fn block_on<T>(future: impl Future<Output = T>) -> T {
    tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap().block_on(future)
}

#[test]
fn the_pix_page_says_by_itself_that_it_is_paid() {
    let app = TestApp::new();
    let Some((_driver, port)) = start_driver(&app) else { return };
    let client = app.client();
    let record = client.create(&pix(10_027));
    let url = record["pix"]["qrCode"].as_str().unwrap().trim_end_matches(".png").to_owned();
    let id = record["transactionId"].as_str().unwrap().to_owned();
    block_on(async {
        let browser = open_browser(port, &app.directory().join("profile")).await;
        browser.goto(&url).await.unwrap();
        assert!(text(&browser, "h1").await.contains("shop"));
        assert!(text(&browser, ".amount").await.contains("100,27"));
        wait_for_text(&browser, "#state-label", "Aguardando pagamento").await;
        let countdown = text(&browser, "#countdown").await;
        assert!(countdown.chars().any(|c| c.is_ascii_digit()), "{countdown}");
        let code = browser.find(Locator::Id("code")).await.unwrap().prop("value").await.unwrap();
        assert_eq!(code.as_deref(), record["pix"]["code"].as_str());
        client.post_empty(&format!("/sandbox/payments/{id}/pay")).expect(200);
        wait_for_text(&browser, "#state-label", "Pago").await;
        assert!(
            !browser.find(Locator::Css(".qr")).await.unwrap().is_displayed().await.unwrap(),
            "nothing to pay is left"
        );
        browser.close().await.unwrap();
    });
}

#[test]
fn the_pix_page_says_by_itself_that_it_has_expired() {
    let app = TestApp::new();
    let Some((_driver, port)) = start_driver(&app) else { return };
    let client = app.client();
    let record = client.create(&pix(10_027).with("expiresIn", json!(60)));
    let url = record["pix"]["qrCode"].as_str().unwrap().trim_end_matches(".png").to_owned();
    let id = record["transactionId"].as_str().unwrap().to_owned();
    block_on(async {
        let browser = open_browser(port, &app.directory().join("profile")).await;
        browser.goto(&url).await.unwrap();
        client.post_empty(&format!("/sandbox/payments/{id}/expire")).expect(200);
        wait_for_text(&browser, "#state-label", "Expirado").await;
        browser.close().await.unwrap();
    });
}
