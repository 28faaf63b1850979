//! `GET /pay/payments`: filters, and pages that hold still while payments are made.

use std::collections::BTreeSet;

use serde_json::{Value, json};

use crate::support::{
    Account, Client, Edit, PATIENCE, TestApp, TestReceiver, Visitor, boleto, card, eventually, is_mongodb,
    pix,
};

fn ids(page: &Value) -> Vec<String> {
    page["data"].as_array().unwrap().iter().map(id_of).collect()
}

fn id_of(record: &Value) -> String {
    record["transactionId"].as_str().unwrap().to_owned()
}

#[track_caller]
fn list(client: &Client, query: &str) -> Value {
    client.get(&format!("/pay/payments?{query}")).expect(200)
}

#[test]
fn an_empty_list_has_no_next_page() {
    let app = TestApp::new();
    let page = app.client().get("/pay/payments").expect(200);
    assert_eq!(page, json!({"data": [], "hasMore": false, "nextCursor": null}));
}

#[test]
fn payments_are_listed_newest_first_and_whole() {
    let app = TestApp::new();
    let client = app.client();
    let records: Vec<_> = (0..3).map(|_| client.create(&pix(10_027))).collect();
    let page = list(&client, "");
    let newest_first: Vec<_> = records.iter().rev().cloned().collect();
    assert_eq!(page["data"], json!(newest_first));
}

#[test]
fn pages_have_twenty_entries_unless_asked_otherwise() {
    let app = TestApp::new();
    let client = app.client();
    (0..21).for_each(|_| drop(client.create(&pix(10_027))));
    let page = list(&client, "");
    assert_eq!((ids(&page).len(), &page["hasMore"]), (20, &json!(true)));
    let page = list(&client, "limit=21");
    assert_eq!((ids(&page).len(), &page["hasMore"], &page["nextCursor"]), (21, &json!(false), &Value::Null));
    assert_eq!(ids(&list(&client, "limit=100")).len(), 21);
    assert_eq!(ids(&list(&client, "limit=1")).len(), 1);
}

#[test]
fn pages_hold_still_while_payments_are_made() {
    let app = TestApp::new();
    let client = app.client();
    let made: BTreeSet<_> = (0..25).map(|_| id_of(&client.create(&pix(10_027)))).collect();
    let mut seen = Vec::new();
    let mut cursor = String::new();
    for pages in 1.. {
        let page = list(&client, &format!("limit=4{cursor}"));
        seen.extend(ids(&page));
        // A new payment between two pages moves nothing.
        client.create(&pix(10_127));
        let Some(next) = page["nextCursor"].as_str() else {
            assert_eq!((pages, &page["hasMore"]), (7, &json!(false)));
            break;
        };
        assert_eq!(page["hasMore"], true);
        cursor = format!("&cursor={next}");
    }
    assert_eq!(seen.len(), 25, "none twice");
    assert_eq!(seen.into_iter().collect::<BTreeSet<_>>(), made, "none left out");
}

#[test]
fn every_filter_finds_its_payments_and_no_others() {
    let app = TestApp::new();
    let client = app.client();
    let by_pix = id_of(&client.create(&pix(10_027).with("externalReference", json!("order & 7"))));
    let other_payer = pix(10_027)
        .with("paymentMethod", json!("boleto"))
        .with("paymentDetails.document", json!("11144477735"))
        .with("paymentDetails.email", json!("joao+1@example.com"));
    let by_boleto = id_of(&client.create(&other_payer));
    let by_card = id_of(&client.create(&card("4242424242424242", 10_000)));
    let declined = id_of(&client.create(&card("4000000000000002", 10_000)));
    for (query, expected) in [
        ("status=pending", vec![&by_boleto, &by_pix]),
        ("status=paid", vec![&by_card]),
        ("status=paid&status=declined", vec![&declined, &by_card]),
        ("status=chargeback", vec![]),
        ("paymentMethod=pix", vec![&by_pix]),
        ("paymentMethod=BOLETO", vec![&by_boleto]),
        ("paymentMethod=Credit_Card", vec![&declined, &by_card]),
        ("document=11144477735", vec![&by_boleto]),
        ("email=joao%2B1%40example.com", vec![&by_boleto]),
        ("externalReference=order%20%26%207", vec![&by_pix]),
        ("externalReference=order+%26+7", vec![&by_pix]),
        ("paymentMethod=credit_card&status=declined&document=52998224725", vec![&declined]),
        ("document=00000000000", vec![]),
    ] {
        assert_eq!(ids(&list(&client, query)).iter().collect::<Vec<_>>(), expected, "{query}");
    }
}

#[test]
fn from_is_inclusive_and_to_is_exclusive() {
    let app = TestApp::new();
    let client = app.client();
    let mut records = Vec::new();
    while records.len() < 3 {
        let record = client.create(&boleto(10_027));
        // Two in one millisecond could not be told apart by time.
        if records.last().is_none_or(|last: &Value| last["createdAt"] != record["createdAt"]) {
            records.push(record);
        }
    }
    let times: Vec<_> = records.iter().map(|record| record["createdAt"].as_str().unwrap()).collect();
    let found = |query: String| ids(&list(&client, &format!("{query}&limit=100")));
    let first = id_of(&records[0]);
    let second = id_of(&records[1]);
    let third = id_of(&records[2]);
    let from_second = found(format!("createdFrom={}", times[1]));
    assert!(from_second.contains(&second) && from_second.contains(&third) && !from_second.contains(&first));
    let to_second = found(format!("createdTo={}", times[1]));
    assert!(to_second.contains(&first) && !to_second.contains(&second));
    let between = found(format!("createdFrom={}&createdTo={}", times[0], times[1]));
    assert!(between.contains(&first) && !between.contains(&second));
}

#[test]
fn a_filter_holds_on_every_page() {
    let app = TestApp::new();
    let client = app.client();
    for _ in 0..5 {
        client.create(&pix(10_027));
        client.create(&boleto(10_027));
    }
    let mut found = 0;
    let mut cursor = String::new();
    loop {
        let page = list(&client, &format!("paymentMethod=pix&limit=2{cursor}"));
        assert!(page["data"].as_array().unwrap().iter().all(|record| record["paymentMethod"] == "PIX"));
        found += ids(&page).len();
        let Some(next) = page["nextCursor"].as_str() else { break };
        cursor = format!("&cursor={next}");
    }
    assert_eq!(found, 5);
}

#[test]
fn a_status_filter_follows_the_payment() {
    let app = TestApp::new();
    let client = app.client();
    let id = id_of(&client.create(&pix(10_000)));
    client.wait_for_status(&id, "paid");
    assert_eq!(ids(&list(&client, "status=paid")), [id]);
    assert_eq!(ids(&list(&client, "status=pending")), Vec::<String>::new());
}

/// Every entry of a list of pages of one: what was shown, and what was said to be unreadable.
fn walk(client: &Client, path: &str) -> (Vec<String>, Vec<String>) {
    let mut shown = Vec::new();
    let mut unreadable = Vec::new();
    let mut next = String::from(path);
    loop {
        let page = client.get(&next).expect(200);
        shown.extend(ids(&page));
        let named = page["unreadable"].as_array().cloned().unwrap_or_default();
        unreadable.extend(named.iter().map(|id| id.as_str().unwrap().to_owned()));
        let Some(cursor) = page["nextCursor"].as_str() else { return (shown, unreadable) };
        next = format!("{path}&cursor={cursor}");
    }
}

#[test]
fn one_payment_that_cannot_be_read_is_named_and_hides_no_other() {
    if is_mongodb() {
        println!("skipped: the tests of the store damage a document of MongoDB");
        return;
    }
    let app = TestApp::builder().expects_errors().start();
    let receiver = TestReceiver::start();
    let client = app.client();
    let request = pix(10_027).with("postbackUrl", json!(receiver.url()));
    let [first, second, third] = [(); 3].map(|()| id_of(&client.create(&request)));
    for id in [&first, &second, &third] {
        eventually(PATIENCE, "it is told", || {
            (client.deliveries(id)[0]["state"] == "delivered").then_some(())
        });
    }
    let path = app.store_url().trim_start_matches("sqlite:").to_owned();
    let meddler = rusqlite::Connection::open(path).unwrap();
    let damaged = uuid::Uuid::parse_str(&second).unwrap();
    let sql = "UPDATE payments SET payment = x'0500000000' WHERE id = ?1";
    assert_eq!(meddler.execute(sql, [damaged.as_bytes()]), Ok(1));

    let expected = (vec![third.clone(), first.clone()], vec![second.clone()]);
    for path in ["/pay/payments?", "/pay/webhooks/deliveries?", "/pay/webhooks/deliveries?state=delivered&"] {
        for limit in [1, 2, 100] {
            assert_eq!(walk(&client, &format!("{path}limit={limit}")), expected, "{path} {limit}");
        }
    }
    let visitor = Visitor::signed_in(&app, &Account::create(&app, "shop", "ana@shop.example", "developer"));
    for path in
        ["/console/test/payments", "/console/test/deliveries?state=delivered", "/console/test/payments.csv"]
    {
        let page = visitor.get(path).text();
        for id in [&first, &second, &third] {
            assert!(page.contains(id.as_str()), "{id} is not in {path}: {page}");
        }
    }
}
