//! Payment links in the API: what is asked for, what is answered, who sees them.

use chrono::Days;
use serde_json::{Value, json};

use crate::support::{Acquirers, Client, Edit, TestApp, pix, today};

fn link() -> Value {
    json!({"amount": 5_000, "currency": "BRL", "title": "Aula de violão"})
}

fn make(client: &Client, request: &Value) -> Value {
    client.post("/pay/links", request).expect(201)
}

fn path_of(link: &Value) -> String {
    format!("/pay/links/{}", link["linkId"].as_str().unwrap())
}

#[test]
fn a_link_has_what_was_asked_for_and_defaults() {
    let app = TestApp::new();
    let client = app.client();
    let answer = client.post("/pay/links", &link());
    let made = answer.expect(201);
    let location = answer.header("location").unwrap();
    assert!(location.ends_with(&path_of(&made)), "{location}");
    for (name, expected) in [
        ("status", json!("open")),
        ("mode", json!("test")),
        ("title", json!("Aula de violão")),
        ("description", Value::Null),
        ("amount", json!("50.00")),
        ("methods", json!(["pix", "boleto", "credit_card"])),
        ("maxInstallments", json!(1)),
        ("uses", json!(1)),
        ("paidCount", json!(0)),
        ("payments", json!([])),
        ("metadata", json!({})),
        ("customer", Value::Null),
        ("closedAt", Value::Null),
    ] {
        assert_eq!(made[name], expected, "{name}: {made:#}");
    }
    let url = made["url"].as_str().unwrap();
    let token = url.rsplit_once("/checkout/").unwrap().1;
    assert!(token.len() >= 22 && !token.contains(made["linkId"].as_str().unwrap()), "{url}");
    assert_eq!(client.get(&path_of(&made)).expect(200), made);
}

#[test]
fn everything_that_was_asked_for_reads_back() {
    let app = TestApp::new();
    let request = link()
        .with("items", json!([{"name": "Aula", "quantity": 2, "price": 2_500}]))
        .with("shipping", json!({"fee": 100}))
        .with("methods", json!(["BOLETO", "pix"]))
        .with("uses", json!(3))
        .with("dueInDays", json!(5))
        .with("fine", json!({"percentage": 2}))
        .with("splits", json!([{"recipientId": "r", "percentage": 12.5}]))
        .with("customer", json!({"firstName": "Ana", "document": "52998224725"}))
        .with("successUrl", json!("https://loja.example.com/ok?a=1#b"))
        .with("postbackUrl", json!("https://loja.example.com/q"))
        .with("UTMSource", json!("carta"));
    let made = make(&app.client(), &request);
    for (name, expected) in [
        ("items", json!([{"id": null, "name": "Aula", "quantity": 2, "price": "25.00"}])),
        ("shipping", json!({"fee": "1.00"})),
        ("methods", json!(["pix", "boleto"])),
        ("uses", json!(3)),
        ("dueDate", Value::Null),
        ("dueInDays", json!(5)),
        ("successUrl", json!("https://loja.example.com/ok?a=1#b")),
        ("postbackUrl", json!("https://loja.example.com/q")),
    ] {
        assert_eq!(made[name], expected, "{name}: {made:#}");
    }
    assert_eq!(made["terms"]["fine"], json!({"percentage": 2}));
    assert_eq!(made["splits"][0]["percentage"], json!(12.5));
    assert_eq!(made["utm"]["source"], "carta");
    assert_eq!(
        (&made["customer"]["firstName"], &made["customer"]["document"], &made["customer"]["documentType"]),
        (&json!("Ana"), &json!("52998224725"), &json!("CPF"))
    );
}

#[test]
fn mistakes_are_told_all_at_once() {
    let app = TestApp::new();
    let client = app.client();
    let wrong = link().with("uses", json!(0)).with("methods", json!([])).with("successUrl", json!("ftp://x"));
    let answer = client.post("/pay/links", &wrong);
    let refused = answer.expect_error(422, "validation_failed");
    let fields: Vec<_> =
        refused["details"].as_array().unwrap().iter().map(|one| one["field"].clone()).collect();
    assert_eq!(fields, ["methods", "uses", "successUrl"], "{refused:#}");
    client.post("/pay/links", &link().without("title")).expect_error(400, "malformed_request");
}

#[test]
fn a_method_that_no_acquirer_of_the_mode_takes_is_refused_and_no_default() {
    let slips = "[{ name = 'one', adapter = 'sandbox', methods = ['pix', 'boleto'] }]";
    let app = TestApp::builder().env("QUITA_ACQUIRER", slips).start();
    let client = app.client();
    let card = link().with("methods", json!(["pix", "credit_card"]));
    let refused = client.post("/pay/links", &card).expect_error(422, "method_unavailable");
    assert_eq!(refused["details"][0]["field"], "methods[1]", "{refused:#}");
    assert_eq!(make(&client, &link())["methods"], json!(["pix", "boleto"]));
}

#[test]
fn a_link_with_an_amount_that_no_acquirer_takes_is_refused_with_what_they_take() {
    let limited = "[{ name = 'one', adapter = 'sandbox', methods = ['pix'], max-amount = 10000 }, \
        { name = 'two', adapter = 'sandbox', methods = ['boleto'], min-amount = 500, max-amount = 20000 }]";
    let app = TestApp::builder().env("QUITA_ACQUIRER", limited).start();
    let client = app.client();
    let of = |cents: u64| link().with("amount", json!(cents));
    let refused = client.post("/pay/links", &of(30_000)).expect_error(422, "amount_not_accepted");
    let message =
        "none of the acquirers for pix, boleto in test mode accepts this amount; send from 1 to 20000 cents";
    assert!(refused["message"].as_str().unwrap().starts_with(message), "{refused:#}");
    let sent = of(30_000).with("methods", json!(["boleto", "pix"]));
    let refused = client.post_once("/pay/links", "k", &sent).expect_error(422, "amount_not_accepted");
    let details = refused["details"].as_array().unwrap();
    let named: Vec<_> = details.iter().map(|one| (&one["field"], &one["code"])).collect();
    let code = json!("amount_not_accepted");
    assert_eq!(named, [(&json!("methods[0]"), &code), (&json!("methods[1]"), &code)], "{refused:#}");
    assert!(details[1]["message"].as_str().unwrap().contains("for pix in test mode"), "{refused:#}");
    assert_eq!(client.get("/pay/links").expect(200)["data"], json!([]), "nothing is stored");
    for (cents, methods) in
        [(100, json!(["pix"])), (1_000, json!(["pix", "boleto"])), (15_000, json!(["boleto"]))]
    {
        assert_eq!(make(&client, &of(cents))["methods"], methods, "{cents}");
    }
    let both = sent.with("amount", json!(15_000));
    let made = client.post_once("/pay/links", "k", &both).expect(201);
    assert_eq!(
        made["methods"],
        json!(["pix", "boleto"]),
        "what was sent stays; its page offers what can be paid"
    );
}

#[test]
fn a_link_with_terms_that_no_acquirer_takes_is_refused() {
    let acquirers = Acquirers::start();
    let app = acquirers.builder().start();
    let client = app.client_with(&app.create_key(&["--merchant", "shop", "--mode", "live"]));
    let day = |days| json!((today() + Days::new(days)).to_string());
    let discount = json!([{ "until": day(2), "amount": 100 }]);
    let request = link().with("dueDate", day(10)).with("discounts", discount);
    let boleto = request.clone().with("methods", json!(["boleto"]));
    let refused = client.post("/pay/links", &boleto).expect_error(422, "method_unavailable");
    assert_eq!(refused["details"][0]["field"], "methods[0]", "{refused:#}");
    assert!(refused["message"].as_str().unwrap().contains("with these terms"), "{refused:#}");
    let made = make(&client, &request);
    assert_eq!(made["methods"], json!(["pix", "credit_card"]), "Cielo has no discounts of boletos");
}

#[test]
fn a_link_in_a_mode_without_acquirers_is_told_the_mode_and_what_to_do() {
    let app = TestApp::new();
    let live = app.client_with(&app.create_key(&["--merchant", "shop", "--mode", "live"]));
    let refused = live.post("/pay/links", &link()).expect_error(422, "method_unavailable");
    let message = refused["message"].as_str().unwrap();
    assert!(message.contains("in live mode; ask the operator, or use a qk_test_ key"), "{refused:#}");
}

#[test]
fn one_key_makes_one_link_beside_a_payment_of_the_same_key() {
    let app = TestApp::new();
    let client = app.client();
    let made = client.post_once("/pay/links", "k", &link()).expect(201);
    client.post_once("/pay/payments", "k", &pix(10_027)).expect(201);
    let again = client.post_once("/pay/links", "k", &link());
    assert_eq!(again.expect(200), made);
    assert_eq!(again.header("idempotency-replayed"), Some("true"));
    let other = link().with("amount", json!(5_001));
    client.post_once("/pay/links", "k", &other).expect_error(422, "idempotency_key_reused");
}

#[test]
fn a_key_closes_a_link_once_and_with_another_body_it_is_refused() {
    let app = TestApp::new();
    let client = app.client();
    let made = make(&client, &link());
    let close = format!("{}/close", path_of(&made));
    let first = client.post_once(&close, "k", &json!({}));
    assert_eq!(
        (first.expect(200)["status"].clone(), first.header("idempotency-replayed")),
        (json!("closed"), None)
    );
    let again = client.post_once(&close, "k", &json!({"cancelPending": false}));
    assert_eq!(again.expect(200), first.json());
    assert_eq!(again.header("idempotency-replayed"), Some("true"));
    let other = json!({"cancelPending": true});
    client.post_once(&close, "k", &other).expect_error(422, "idempotency_key_reused");
    assert_eq!(client.post_once(&close, "l", &other).expect(200)["status"], "closed");
    let elsewhere = format!("{}/close", path_of(&make(&client, &link())));
    client.post_once(&elsewhere, "k", &other).expect(200);
}

#[test]
fn links_are_listed_newest_first_by_status_and_reference_and_page() {
    let app = TestApp::new();
    let client = app.client();
    let made: Vec<_> = (0..3)
        .map(|number| make(&client, &link().with("externalReference", json!(format!("p-{number}")))))
        .collect();
    client.post_empty(&format!("{}/close", path_of(&made[1]))).expect(200);
    let ids = |query: &str| -> Vec<Value> {
        let page = client.get(&format!("/pay/links?{query}")).expect(200);
        page["data"].as_array().unwrap().iter().map(|link| link["linkId"].clone()).collect()
    };
    let of = |places: &[usize]| -> Vec<Value> {
        places.iter().map(|place| made[*place]["linkId"].clone()).collect()
    };
    for (query, places) in [
        ("", &[2, 1, 0][..]),
        ("status=open", &[2, 0]),
        ("status=CLOSED", &[1]),
        ("status=closed&status=open", &[2, 1, 0]),
        ("status=paid", &[]),
        ("externalReference=p-1", &[1]),
        ("limit=2", &[2, 1]),
    ] {
        assert_eq!(ids(query), of(places), "{query}");
    }
    let first = client.get("/pay/links?limit=2").expect(200);
    assert_eq!(first["hasMore"], true);
    let cursor = first["nextCursor"].as_str().unwrap();
    assert_eq!(ids(&format!("limit=2&cursor={cursor}")), of(&[0]));
    client.get("/pay/links?status=waiting").expect_error(400, "malformed_request");
    client.get("/pay/links?uses=1").expect_error(400, "unknown_parameter");
}

#[test]
fn a_link_is_closed_once_and_stays_closed() {
    let app = TestApp::new();
    let client = app.client();
    let made = make(&client, &link());
    let closed = client.post_empty(&format!("{}/close", path_of(&made))).expect(200);
    assert_eq!(closed["status"], "closed");
    assert!(closed["closedAt"].is_string(), "{closed:#}");
    let again =
        client.post(&format!("{}/close", path_of(&made)), &json!({"cancelPending": true})).expect(200);
    assert_eq!(again["closedAt"], closed["closedAt"]);
    client
        .post(&format!("{}/close", path_of(&made)), &json!({"cancelPending": "yes"}))
        .expect_error(400, "malformed_request");
}

#[test]
fn nobody_sees_the_links_of_others() {
    let app = TestApp::new();
    let made = make(&app.client(), &link());
    let other = app.client_with(&app.create_key(&["--merchant", "outra"]));
    for answer in [other.get(&path_of(&made)), other.post_empty(&format!("{}/close", path_of(&made)))] {
        let refused = answer.expect_error(404, "not_found");
        assert_eq!(refused["message"], "link not found");
    }
    assert_eq!(other.get("/pay/links").expect(200)["data"], json!([]));
    app.client().get("/pay/links/7").expect_error(400, "unreadable_id");
    app.client_without_key().get(&path_of(&made)).expect(401);
}

#[test]
fn a_payer_that_a_link_names_is_erased_once_the_link_is_over() {
    let app = TestApp::new();
    let client = app.client();
    let customer = json!({"firstName": "Ana", "document": "52998224725"});
    let made = make(&client, &link().with("customer", customer));
    let erase = || app.quita(&["privacy", "erase", "--document", "529.982.247-25"]).stdout;
    assert_eq!(erase(), "erased 0, erased before 0, not finished 0\n");
    client.post_empty(&format!("{}/close", path_of(&made))).expect(200);
    assert_eq!(erase(), "erased 1, erased before 0, not finished 0\n");
    let now = client.get(&path_of(&made)).expect(200);
    assert_eq!((&now["customer"], &now["status"]), (&Value::Null, &json!("closed")));
}
