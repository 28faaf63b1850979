//! Why a payment went to the acquirer that it went to, in words that a merchant understands.

use serde_json::Value;

use crate::support::{Account, Browser, TestApp, boleto, card, pix};

/// Declined with insufficient funds, which another try may change.
const DECLINED: &str = "4000000000009995";

const ACQUIRERS: &str = "[{ name = \"norte\", adapter = \"sandbox\" }, \
    { name = \"sul\", adapter = \"sandbox\", priority = 2 }, \
    { name = \"adquirente-de-valores-pequenos\", adapter = \"sandbox\", priority = 3, max-amount = 5000 }]";

/// The name of a rule, as long as it may be but for a few characters.
const RULE: &str = "cartões Visa de 100 reais ou mais, em quantas parcelas forem";

fn routes() -> String {
    format!(
        "[{{ name = \"{RULE}\", when = {{ brand = \"visa\", min-amount = 10000 }}, use = [\"norte\"], \
           retry-declines = true }}, \
          {{ name = \"pix\", when = {{ method = \"pix\" }}, use = [\"sul\"], then = \"stop\" }}]"
    )
}

/// Reads "Por que esta rota" on the page of a payment: the rule, and a row for each acquirer.
fn why(app: &TestApp, browser: &Browser, payment: &Value) -> (String, Vec<String>) {
    let id = payment["transactionId"].as_str().unwrap();
    browser.go_to(&format!("{}/console/test/payments/{id}", app.url()));
    browser.wait_for_text("#routing summary", "Por que esta rota");
    browser.click("#routing summary");
    assert!(browser.is_displayed("#routing table"));
    let flat = |text: String| {
        let parts = text.split(['\t', '\n']).filter(|part| !part.is_empty());
        parts.collect::<Vec<_>>().join(" | ")
    };
    let rows = browser.texts("#routing tbody tr").into_iter().map(flat);
    (browser.text("#routing dl > div:first-child dd"), rows.collect())
}

#[test]
fn a_merchant_reads_why_a_payment_went_its_way_and_where_it_went_after_a_decline() {
    let app = TestApp::builder().env("QUITA_ACQUIRER", ACQUIRERS).env("QUITA_ROUTE", &routes()).start();
    let Some(browser) = Browser::open(&app) else { return };
    let client = app.client();
    let small = "adquirente-de-valores-pequenos";
    let pages = [
        (
            "declined",
            client.create(&card(DECLINED, 10_000)),
            RULE,
            [
                "norte | disponível | tentativa 1: recusou".to_owned(),
                "sul | disponível | tentativa 2: recusou".to_owned(),
                format!("{small} | não aceita este valor | não tentado"),
            ],
        ),
        (
            "stopped",
            client.create(&pix(10_027)),
            "pix",
            [
                "sul | disponível | tentativa 1: aceitou".to_owned(),
                "norte | não está na regra | não tentado".to_owned(),
                format!("{small} | não está na regra | não tentado"),
            ],
        ),
        (
            "ruleless",
            client.create(&boleto(5_001)),
            "nenhuma: vale a ordem geral",
            [
                "norte | disponível | tentativa 1: aceitou".to_owned(),
                "sul | disponível | não tentado".to_owned(),
                format!("{small} | não aceita este valor | não tentado"),
            ],
        ),
    ];
    Account::create(&app, "shop", "ana@shop.example", "viewer").sign_in(&app, &browser);
    browser.go_to(&format!("{}/console/test/account", app.url()));
    browser.choose("#language", "pt-BR");
    browser.click("form[action$=\"/language\"] .button");
    browser.wait_for("html[lang=\"pt-BR\"]");
    for width in ["desktop", "phone"] {
        if width == "phone" {
            browser.become_a_phone();
        }
        for (name, payment, rule, rows) in &pages {
            assert_eq!(why(&app, &browser, payment), ((*rule).to_owned(), rows.to_vec()), "{name}");
            browser.check_fits(&format!("routing-{width}-{name}"));
        }
    }
    why(&app, &browser, &pages[0].1);
    browser.wait_for_text(
        ".timeline > li",
        "saldo ou limite insuficiente (insufficient_funds) · recusa reversível: mais um adquirente foi tentado",
    );
}
