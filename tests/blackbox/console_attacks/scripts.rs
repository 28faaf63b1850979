//! Scripts in every text that a payer, a merchant or a receiver controls: shown as texts, on every page and live.

use serde_json::{Value, json};

use super::shops::way_back;
use crate::support::{
    Account, Browser, Client, Edit, EventStream, PATIENCE, Reply, TestApp, TestReceiver, Visitor, boleto,
    card, eventually, pix,
};

/// Breaks out of a text, of an attribute, of a script and of a comment, and would be seen to.
const EVIL: &str = "\"'><img src=x onerror=alert(1)><!--</script>";
/// The same as it stands in a page that is right.
const HARMLESS: &str = "&#34;&#39;&#62;&#60;img src=x onerror=alert(1)&#62;&#60;!--&#60;/script&#62;";

/// A card's holder, and the same as it stands in a page that is right.
const HOLDER: &str = "holder'\"><b onclick=alert(1)>";
const HARMLESS_HOLDER: &str = "holder&#39;&#34;&#62;&#60;b onclick=alert(1)&#62;";

/// A text that can be told from the others, and is evil.
fn evil(name: &str) -> String {
    format!("{name}{EVIL}")
}

/// Everything of a request that is somebody's own words.
fn words(request: Value, receiver: &TestReceiver) -> Value {
    let postback = format!("{}?q='\"><img/src=x/onerror=alert(1)>", receiver.url());
    request
        .with("paymentDetails.firstName", json!(evil("first")))
        .with("paymentDetails.lastName", json!(evil("last")))
        .with("paymentDetails.address.street", json!(evil("street")))
        .with("paymentDetails.address.number", json!("'\"><b>"))
        .with("paymentDetails.address.complement", json!(evil("complement")))
        .with("paymentDetails.address.neighborhood", json!(evil("neighborhood")))
        .with("paymentDetails.address.city", json!(evil("city")))
        .with("externalReference", json!(evil("reference")))
        .with("metadata", json!({ "note": evil("value"), "'\"><img src=x onerror=alert(1)>": evil("named") }))
        .with("items", json!([{"name": evil("item"), "quantity": 1, "price": 100}]))
        .with("splits", json!([{"recipientId": evil("recipient"), "amount": 1}]))
        .with("UTMSource", json!(evil("utm")))
        .with("postbackUrl", json!(postback))
}

/// A shop whose every word is evil, with its owner.
struct EvilShop {
    app: TestApp,
    owner: Account,
    receiver: TestReceiver,
    /// The addresses of its pages; the last one is of nothing.
    pages: Vec<String>,
    /// The page of one of its applications.
    application: String,
    /// A payment that was delivered, and the two others.
    payments: [String; 3],
}

impl EvilShop {
    fn open() -> Self {
        let app = TestApp::new();
        let receiver = TestReceiver::start();
        let answer = format!("{}\r\rdata: taken over\r\r", evil("answer"));
        receiver.answer_with(move |_| Reply::status(500).body(&answer));
        let merchant = "shop<img src=x onerror=alert(1)>";
        let owner = Account::create(&app, merchant, "\"'><img/src=x/onerror=alert(1)>@evil.example", "owner");
        let visitor = Visitor::signed_in(&app, &owner);
        let made = visitor.post("/console/test/applications", &[("name", EVIL)]);
        check_is_harmless("what was made", &made.text());
        let application = way_back(&made);
        let title = [("title", &*evil("title"))];
        assert_eq!(visitor.post(&format!("{application}/rename"), &title).status, 303);
        let key = app.create_key(&["--merchant", merchant, "--application", EVIL]);
        let hired = visitor.post(
            "/console/test/people",
            &[("email", "'><svg/onload=alert(1)>@evil.example"), ("role", "viewer")],
        );
        assert_eq!(hired.status, 200, "{hired}");
        let client = app.client_with(&key);
        let payments = pay(&client, &receiver);
        let payment = &payments[0];
        let parts = [
            "",
            "/payments",
            "/refunds",
            "/disputes",
            "/links",
            "/deliveries?state=failing",
            "/applications",
            "/people",
            "/audit",
            "/account",
        ];
        let mut pages: Vec<_> = parts.iter().map(|part| format!("/console/test{part}")).collect();
        let below = ["", "/refund", "/deliveries/0/redeliver"];
        pages.extend(below.map(|part| format!("/console/test/payments/{payment}{part}")));
        pages.extend(payments[1..].iter().map(|id| format!("/console/test/payments/{id}")));
        let link = link_of(&client);
        pages.extend(["", "/close"].map(|part| format!("/console/test/links/{link}{part}")));
        pages.extend(["", "/secret/rotate"].map(|part| format!("{application}{part}")));
        let search = crate::support::form(&[("q", EVIL), ("amount", EVIL), ("from", EVIL), ("cursor", EVIL)]);
        let next = crate::support::form(&[("next", EVIL)]);
        pages.push(format!("/console/test/payments?{search}"));
        pages.push(format!("/console/sign-in?{next}"));
        pages.push(format!("/console/test/{}", EVIL.replace(['"', '<', '>', '\'', ' '], "%22")));
        Self { app, owner, receiver, pages, application, payments }
    }
}

/// Creates a payment of every method; gives first the PIX, which was paid, and whose receiver has answered. The boleto
/// is paid one cent short, which an operator is told.
fn pay(client: &Client, receiver: &TestReceiver) -> [String; 3] {
    let held = card("4242424242424242", 10_000).with("creditCard.holderName", json!(HOLDER));
    let ids = [pix(10_000), boleto(10_051), held].map(|request| {
        let record = client.create(&words(request, receiver));
        record["transactionId"].as_str().unwrap().to_owned()
    });
    let id = &ids[0];
    // The second event waits until the first is confirmed.
    eventually(PATIENCE, "the receiver has answered", || {
        let is_tried =
            |delivery: &Value| delivery["attempts"].as_array().is_some_and(|tries| !tries.is_empty());
        client.deliveries(id).iter().any(is_tried).then_some(())
    });
    client.wait_for_status(id, "paid");
    ids
}

/// Makes a link of evil words.
fn link_of(client: &Client) -> String {
    let link = json!({
        "amount": 100, "currency": "BRL", "title": EVIL, "description": evil("description"),
        "externalReference": evil("reference"), "metadata": {"note": evil("value")},
        "customer": {"firstName": evil("first"), "lastName": evil("last")},
    });
    client.post("/pay/links", &link).expect(201)["linkId"].as_str().unwrap().to_owned()
}

#[track_caller]
fn check_is_harmless(path: &str, page: &str) {
    for bad in [
        "<img src=x",
        "<img/src",
        "<svg/onload",
        "<b>",
        "<b onclick",
        "<!--",
        "onerror=alert(1)>",
        "javascript:",
    ] {
        assert!(!page.contains(bad), "{bad} on {path}: {page}");
    }
}

#[test]
fn a_script_in_any_text_is_a_text_on_every_page() {
    let shop = EvilShop::open();
    let visitor = Visitor::signed_in(&shop.app, &shop.owner);
    let mut seen = String::new();
    for path in &shop.pages {
        let answer = visitor.get(path);
        let is_there = Some(path) != shop.pages.last();
        assert_eq!(answer.status, if is_there { 200 } else { 404 }, "{answer}");
        check_is_harmless(path, &answer.text());
        seen.push_str(&answer.text());
    }
    let test_event = format!("{}?<img/src=x/onerror=alert(1)>", shop.receiver.url());
    let sent = visitor.post(&format!("{}/test-event", shop.application), &[("url", &test_event)]);
    assert_eq!(sent.status, 200, "{sent}");
    check_is_harmless("the test event", &sent.text());
    seen.push_str(&sent.text());
    for name in [
        "first",
        "last",
        "street",
        "complement",
        "neighborhood",
        "city",
        "reference",
        "value",
        "named",
        "item",
        "recipient",
        "answer",
        "title",
    ] {
        assert!(seen.contains(&format!("{name}{HARMLESS}")), "{name} is shown nowhere");
    }
    assert!(seen.contains("/onerror=alert(1)&#62;@evil.example"), "nor are people");
    assert!(seen.contains(HARMLESS_HOLDER), "nor is a card's holder");
}

#[test]
fn a_script_in_any_text_is_a_text_on_every_page_of_the_operators() {
    let shop = EvilShop::open();
    let operator = Visitor::operator(&shop.app);
    eventually(PATIENCE, "the odd amount is reported", || {
        operator.page("/exceptions").contains(&shop.payments[1]).then_some(())
    });
    let mut pages: Vec<_> =
        ["/", "/transactions", "/acquirers", "/exceptions", "/reconciliation", "/store", "/audit"]
            .map(String::from)
            .into();
    pages.extend(shop.payments.iter().map(|id| format!("/transactions/{id}")));
    let search = crate::support::form(&[("id", EVIL), ("cursor", EVIL), ("state", EVIL), ("done", EVIL)]);
    pages.extend(["/transactions", "/exceptions", "/audit"].map(|page| format!("{page}?{search}")));
    let next = crate::support::form(&[("next", EVIL)]);
    pages.push(format!("/sign-in?{next}"));
    let mut seen = String::new();
    for path in &pages {
        let page = operator.get(path);
        let is_searched = path.starts_with("/transactions?");
        assert!(page.status == 200 || is_searched && page.status == 404, "{page}");
        check_is_harmless(path, &page.text());
        seen.push_str(&page.text());
    }
    for name in ["/onerror=alert(1)&#62;@evil.example", &format!("title{HARMLESS}"), &shop.payments[1]] {
        assert!(seen.contains(name), "{name} is shown nowhere");
    }
}

#[test]
fn a_script_in_any_text_is_a_text_in_a_stream_and_cannot_begin_an_event() {
    let shop = EvilShop::open();
    let visitor = Visitor::signed_in(&shop.app, &shop.owner);
    for path in [
        "/console/test/payments/stream".to_owned(),
        format!("/console/test/payments/{}/stream", shop.payments[0]),
    ] {
        let shown = EventStream::open(&shop.app, &visitor, &path).next().unwrap();
        check_is_harmless(&path, &shown);
        assert!(!shown.contains('\r'), "browsers end a line with it: {shown:?}");
        assert!(shown.contains(HARMLESS), "{shown}");
        // What the receiver answered after two carriage returns is a line of the page, not of the stream.
        assert_eq!(shown.contains("\ndata: taken over"), path.contains(&shop.payments[0]), "{shown}");
    }
}

#[test]
fn a_script_in_any_text_does_nothing_in_a_browser() {
    let shop = EvilShop::open();
    let Some(browser) = Browser::open(&shop.app) else { return };
    // Dropping the browser fails the test if a page broke the policy.
    let visitor = Visitor::signed_in(&shop.app, &shop.owner);
    browser.go_to(&format!("{}/console/sign-in", shop.app.url()));
    browser.set_cookie("quita_console", &visitor.cookie("quita_console").unwrap());
    for path in &shop.pages {
        browser.go_to(&format!("{}{path}", shop.app.url()));
        assert_eq!(browser.count("main img[src=x], [onerror], [onclick], svg[onload]"), 0, "{path}");
    }
    browser.go_to(&format!("{}/console/test/payments/{}", shop.app.url(), shop.payments[0]));
    browser.wait_for_text("[data-live-state]", "Up to date");
    browser.wait_for_text("[data-live]", &evil("reference"));
    assert!(!browser.texts("main").concat().starts_with("taken over"), "{}", browser.text("main"));
    browser.look("scripts");
}
