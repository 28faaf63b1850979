//! Refunds and disputes as lists: `GET /pay/refunds`, `GET /pay/disputes`, the console's pages, the program's commands.

use serde_json::{Value, json};

use crate::support::{Account, Client, Edit, PATIENCE, TestApp, Visitor, card, eventually, is_mongodb, pix};

const REFUND: [&str; 8] = [
    "amount",
    "createdAt",
    "externalReference",
    "failureReason",
    "paymentMethod",
    "refundId",
    "status",
    "transactionId",
];

const DISPUTE: [&str; 8] = [
    "amount",
    "chargebackAt",
    "chargebackId",
    "externalReference",
    "paymentMethod",
    "status",
    "transactionId",
    "wonAt",
];

/// Creates a payment of 100.00, and waits until it is paid.
fn paid(client: &Client, reference: &str) -> String {
    let request = pix(10_000).with("externalReference", json!(reference));
    let id = client.create(&request)["transactionId"].as_str().unwrap().to_owned();
    client.wait_for_status(&id, "paid");
    id
}

/// Refunds a part of a payment, and waits until it is done; returns the id of the refund.
fn refund(client: &Client, id: &str, cents: u64) -> String {
    let made = client.post(&format!("/pay/payments/{id}/refunds"), &json!({"amount": cents})).expect(201);
    eventually(PATIENCE, "the refund is done", || {
        let record = client.payment(id);
        let is_done = |refund: &Value| refund["status"] == "succeeded";
        record["refunds"].as_array().unwrap().iter().all(is_done).then_some(())
    });
    made["refundId"].as_str().unwrap().to_owned()
}

/// Has a sandbox payment charged back, or its dispute won.
fn act(client: &Client, id: &str, action: &str) {
    client.post_empty(&format!("/sandbox/payments/{id}/{action}")).expect(200);
}

#[track_caller]
fn list(client: &Client, path: &str) -> Value {
    client.get(path).expect(200)
}

/// The values of a member of all entries of a page.
fn all<'a>(page: &'a Value, name: &str) -> Vec<&'a str> {
    page["data"].as_array().unwrap().iter().map(|entry| entry[name].as_str().unwrap()).collect()
}

fn names(object: &Value) -> Vec<&str> {
    object.as_object().unwrap().keys().map(String::as_str).collect()
}

#[test]
fn refunds_of_all_payments_are_listed_with_their_payments() {
    let app = TestApp::new();
    let client = app.client();
    let nothing = json!({"data": [], "hasMore": false, "nextCursor": null});
    assert_eq!(list(&client, "/pay/refunds"), nothing);
    let first = paid(&client, "order 1");
    let second = paid(&client, "order 2");
    let [early, late] = [2_500, 1].map(|cents| refund(&client, &first, cents));
    let whole = refund(&client, &second, 10_000);

    let page = list(&client, "/pay/refunds");
    assert_eq!(all(&page, "refundId"), [&whole, &late, &early], "the newest payment first, then its newest");
    assert_eq!(all(&page, "transactionId"), [&second, &first, &first]);
    assert_eq!(all(&page, "externalReference"), ["order 2", "order 1", "order 1"]);
    assert_eq!(all(&page, "amount"), ["100.00", "0.01", "25.00"]);
    let recorded = &client.payment(&second)["refunds"][0];
    let listed = &page["data"][0];
    assert_eq!(names(listed), REFUND);
    assert_eq!((&listed["paymentMethod"], &listed["failureReason"]), (&json!("PIX"), &Value::Null));
    for name in names(recorded) {
        assert_eq!(listed[name], recorded[name], "{name} is as in the record");
    }
    for (query, found) in [
        ("status=succeeded", 3),
        ("status=SUCCEEDED&status=failed", 3),
        ("status=processing&status=failed", 0),
        ("status=failed", 0),
        ("createdFrom=2026-01-01T00:00:00Z", 3),
        ("createdTo=2026-01-01T00:00:00Z", 0),
        ("createdFrom=2999-01-01T00:00:00Z&createdTo=2999-01-02T00:00:00Z", 0),
    ] {
        assert_eq!(all(&list(&client, &format!("/pay/refunds?{query}")), "refundId").len(), found, "{query}");
    }
    let from = client.payment(&second)["createdAt"].as_str().unwrap().to_owned();
    assert_eq!(all(&list(&client, &format!("/pay/refunds?createdFrom={from}")), "refundId"), [&whole]);
    let before = list(&client, &format!("/pay/refunds?createdTo={from}"));
    assert_eq!(all(&before, "refundId"), [&late, &early]);
}

#[test]
fn disputes_are_listed_open_and_once_they_are_won() {
    let app = TestApp::new();
    let client = app.client();
    let held = client.create(&card("4242424242424242", 5_000));
    let first = paid(&client, "order 1");
    let second = held["transactionId"].as_str().unwrap();
    act(&client, &first, "chargeback");
    act(&client, second, "chargeback");
    let page = list(&client, "/pay/disputes");
    assert_eq!(all(&page, "transactionId"), [first.as_str(), second]);
    assert_eq!(all(&page, "status"), ["open", "open"]);
    assert_eq!(all(&page, "amount"), ["100.00", "50.00"]);
    assert_eq!(all(&page, "paymentMethod"), ["PIX", "CREDIT_CARD"]);
    let dispute = &page["data"][0];
    assert_eq!(names(dispute), DISPUTE);
    assert_eq!(dispute["chargebackAt"], client.payment(&first)["chargebackAt"]);
    assert_eq!(dispute["wonAt"], Value::Null);
    assert_eq!(page["data"][1]["externalReference"], Value::Null);

    act(&client, &first, "pay");
    assert_eq!(all(&list(&client, "/pay/disputes?status=open"), "transactionId"), [second]);
    let won = list(&client, "/pay/disputes?status=won");
    assert_eq!(all(&won, "transactionId"), [&first]);
    assert_eq!(won["data"][0]["chargebackId"], dispute["chargebackId"]);
    assert!(won["data"][0]["wonAt"].as_str() >= won["data"][0]["chargebackAt"].as_str(), "{won:#}");
    assert_eq!(list(&client, "/pay/refunds")["data"], json!([]));
}

#[test]
fn pages_neither_skip_nor_repeat_and_a_filter_holds_on_each() {
    let app = TestApp::new();
    let client = app.client();
    let mut made: Vec<String> = Vec::new();
    for place in 0..3 {
        let id = paid(&client, &format!("order {place}"));
        made.extend((1..=3).map(|cents| refund(&client, &id, cents)));
        paid(&client, "without a refund");
    }
    made.reverse();
    // Those of one payment stay together, the newest first.
    for limit in [1, 2, 4, 9, 100] {
        let mut seen = Vec::new();
        let mut next = String::new();
        loop {
            let page = list(&client, &format!("/pay/refunds?status=succeeded&limit={limit}{next}"));
            let ids = all(&page, "refundId");
            assert!(ids.len() <= limit);
            seen.extend(ids.into_iter().map(str::to_owned));
            let Some(cursor) = page["nextCursor"].as_str() else {
                assert_eq!(page["hasMore"], false);
                break;
            };
            assert_eq!(page["hasMore"], true);
            next = format!("&cursor={cursor}");
        }
        assert_eq!(seen, made, "{limit}");
    }
    // Inside of a payment too, whatever filter the cursor came from.
    let cursor = list(&client, "/pay/refunds?limit=1")["nextCursor"].as_str().unwrap().to_owned();
    for filter in ["status=failed", "createdTo=2026-01-01T00:00:00Z"] {
        let rest = list(&client, &format!("/pay/refunds?{filter}&cursor={cursor}"));
        assert_eq!(rest["data"], json!([]), "{filter}");
    }
}

#[test]
fn what_cannot_be_read_in_a_query_is_400_and_named() {
    let app = TestApp::new();
    let client = app.client();
    let far = "9".repeat(4_000);
    for (query, field, code) in [
        ("status=won", "status", "unknown_value"),
        ("status=", "status", "unknown_value"),
        ("status=succeeded&status=$ne", "status", "unknown_value"),
        ("status=%00", "status", "unknown_value"),
        ("createdFrom=yesterday", "createdFrom", "format"),
        ("createdTo=2026-11-21", "createdTo", "format"),
        ("createdTo=%2B262142-12-31T00:00:00Z", "createdTo", "format"),
        ("cursor=", "cursor", "cursor"),
        ("cursor=null", "cursor", "cursor"),
        (&format!("cursor={far}"), "cursor", "cursor"),
        ("limit=0", "limit", "range"),
        ("limit=101", "limit", "range"),
        ("limit=1&limit=1", "limit", "duplicate"),
    ] {
        let answer = client.get(&format!("/pay/refunds?{query}"));
        answer.expect_error(400, "malformed_request");
        assert_eq!(answer.violations(), [(field.to_owned(), code.to_owned())], "{query}");
    }
    let answer = client.get("/pay/disputes?status=failed");
    assert_eq!(answer.violations(), [("status".to_owned(), "unknown_value".to_owned())]);
    assert!(answer.text().contains("must be open or won"), "{answer}");
    client.get("/pay/refunds?state=failed").expect_error(400, "unknown_parameter");
    client.get("/pay/refunds?%ff=1&status=%ff").expect_error(400, "malformed_request");
}

#[test]
fn another_merchant_and_the_other_mode_see_nothing_even_with_a_cursor() {
    let app = TestApp::new();
    let client = app.client();
    let id = paid(&client, "order 1");
    (1..=2).for_each(|cents| drop(refund(&client, &id, cents)));
    let older = paid(&client, "order 2");
    refund(&client, &older, 1);
    act(&client, &id, "chargeback");
    let within = list(&client, "/pay/refunds?limit=2")["nextCursor"].as_str().unwrap().to_owned();
    let between = list(&client, "/pay/refunds?limit=1")["nextCursor"].as_str().unwrap().to_owned();
    for arguments in [&["--merchant", "rival"][..], &["--merchant", "shop", "--mode", "live"]] {
        let stranger = app.client_with(&app.create_key(arguments));
        for path in
            ["/pay/refunds", "/pay/disputes", "/pay/refunds?status=succeeded", "/pay/disputes?status=open"]
        {
            assert_eq!(list(&stranger, path)["data"], json!([]), "{path}");
        }
        // Between two payments a cursor is a time; within one it names a payment that is nobody's here.
        let after = list(&stranger, &format!("/pay/refunds?cursor={between}"));
        assert_eq!(after["data"], json!([]));
        stranger.get(&format!("/pay/refunds?cursor={within}")).expect_error(404, "not_found");
        stranger.get(&format!("/pay/disputes?cursor={within}")).expect_error(404, "not_found");
    }
    assert_eq!(all(&list(&client, &format!("/pay/refunds?cursor={within}")), "amount"), ["0.01"]);
}

#[test]
fn a_payment_that_cannot_be_read_is_named_among_the_refunds_and_hides_no_other() {
    if is_mongodb() {
        println!("skipped: the tests of the store damage a document of MongoDB");
        return;
    }
    let app = TestApp::builder().expects_errors().start();
    let client = app.client();
    let [first, second, third] = ["1", "2", "3"].map(|reference| paid(&client, reference));
    for id in [&first, &second, &third] {
        refund(&client, id, 1);
    }
    // The actors of the payments forget them once they rest, and what is stored is read.
    let path = app.store_url().trim_start_matches("sqlite:").to_owned();
    let meddler = rusqlite::Connection::open(path).unwrap();
    let damaged = uuid::Uuid::parse_str(&second).unwrap();
    let sql = "UPDATE payments SET payment = x'0500000000' WHERE id = ?1";
    assert_eq!(meddler.execute(sql, [damaged.as_bytes()]), Ok(1));
    let page = list(&client, "/pay/refunds");
    assert_eq!(all(&page, "transactionId"), [&third, &first]);
    assert_eq!(page["unreadable"], json!([second]));
    let page = list(&client, "/pay/refunds?limit=2");
    assert_eq!((all(&page, "transactionId"), &page["unreadable"]), (vec![third.as_str()], &json!([second])));
    let next = format!("/pay/refunds?limit=2&cursor={}", page["nextCursor"].as_str().unwrap());
    assert_eq!(all(&list(&client, &next), "transactionId"), [&first]);
    let visitor = Visitor::signed_in(&app, &Account::create(&app, "shop", "ana@shop.example", "viewer"));
    let page = visitor.page("/console/test/refunds");
    assert!([&first, &second, &third].iter().all(|id| page.contains(id.as_str())), "{page}");
}

#[test]
fn what_went_back_stays_listed_when_its_payer_is_erased() {
    let app = TestApp::new();
    let client = app.client();
    let id = paid(&client, "order 1");
    act(&client, &id, "chargeback");
    act(&client, &id, "pay");
    refund(&client, &id, 10_000);
    let paths = ["/pay/refunds?status=succeeded", "/pay/disputes?status=won"];
    let before = paths.map(|path| list(&client, path)["data"][0].clone());
    app.quita(&["privacy", "erase", "--transaction", &id]).output();
    let after = paths.map(|path| list(&client, path)["data"][0].clone());
    for (before, after) in before.iter().zip(&after) {
        for name in ["transactionId", "amount", "status", "paymentMethod"] {
            assert_eq!(before[name], after[name], "{name}");
        }
    }
}

#[test]
fn the_console_lists_refunds_and_disputes_with_the_way_to_their_payment() {
    let app = TestApp::new();
    let client = app.client();
    let first = paid(&client, "order <1>");
    let second = paid(&client, "order 2");
    let moved = refund(&client, &first, 2_345);
    act(&client, &second, "chargeback");
    let viewer = Account::create(&app, "shop", "vera@shop.example", "viewer");
    let visitor = Visitor::signed_in(&app, &viewer);
    let link = |id: &str| format!("href=\"/console/test/payments/{id}\"");
    let refunds = visitor.page("/console/test/refunds");
    for part in [&*link(&first), "order &#60;1&#62;", &*moved, "23.45", "done"] {
        assert!(refunds.contains(part), "{part}: {refunds}");
    }
    assert!(!refunds.contains(&link(&second)), "{refunds}");
    let disputes = visitor.page("/console/test/disputes?status=open&from=2026-01-01");
    assert!(disputes.contains(&link(&second)) && !disputes.contains(&link(&first)), "{disputes}");
    for path in ["refunds?status=failed", "disputes?status=won", "refunds?to=2020-01-01"] {
        let page = visitor.page(&format!("/console/test/{path}"));
        assert!(page.contains("Nothing here") && !page.contains("order"), "{path}: {page}");
    }
    for path in
        ["refunds?status=won", "disputes?from=yesterday", "refunds?cursor=x", "disputes?status=%3Cb%3E"]
    {
        let page = visitor.page(&format!("/console/test/{path}"));
        assert!(
            page.contains("Ignored, because it could not be read:") && !page.contains("<b>"),
            "{path}: {page}"
        );
    }
    for (mode, path) in [("live", "refunds"), ("live", "disputes")] {
        assert!(visitor.page(&format!("/console/{mode}/{path}")).contains("Nothing here"));
    }
    let refunds = format!("/pay/payments/{first}/refunds");
    for _ in 0..22 {
        client.post(&refunds, &json!({"amount": 1})).expect(201);
    }
    let rows = |page: &str| page.matches("data-label=\"Amount\"").count();
    let whole = visitor.page("/console/test/refunds");
    assert_eq!(rows(&whole), 23, "a page ends with a whole payment");
}

#[test]
fn the_program_lists_refunds_and_disputes() {
    let app = TestApp::new();
    let client = app.client();
    let id = paid(&client, "order 1");
    let moved = refund(&client, &id, 2_500);
    act(&client, &id, "chargeback");
    let call = |arguments: &[&str]| {
        app.program(arguments).env("QUITA_URL", &app.url()).env("QUITA_KEY", app.key()).run()
    };
    let listed = call(&["refunds", "list", "--status", "succeeded,failed"]).output();
    let cells: Vec<_> = listed.trim().split('\t').collect();
    assert_eq!((cells.len(), cells[0], cells[1], cells[5]), (7, &*moved, &*id, "25.00"), "{listed}");
    let listed = call(&["disputes", "list", "--created-from", "2026-01-01T00:00:00Z"]).output();
    assert!(listed.contains(&id) && listed.contains("open"), "{listed}");
    for (kind, status) in [("refunds", "SUCCEEDED,Failed"), ("disputes", "OPEN,won")] {
        let in_capitals = call(&[kind, "list", "--status", status]).output();
        let as_printed = call(&[kind, "list", "--status", &status.to_lowercase()]).output();
        assert_eq!(in_capitals, as_printed, "as the API takes it");
    }
    let json = call(&["disputes", "list", "--json"]).output();
    let page = list(&client, "/pay/disputes");
    assert_eq!(serde_json::from_str::<Value>(&json).unwrap(), page);
    let none = call(&["refunds", "list", "--created-to", "2026-01-01T00:00:00Z"]);
    assert!(none.stderr.contains("None found."), "{none:?}");
    let wrong = call(&["refunds", "list", "--status", "won"]);
    assert!(wrong.stderr.contains("processing, succeeded, failed"), "{wrong:?}");
}
