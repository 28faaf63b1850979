//! An acquirer that is out of reach, at the start or later, costs no payment.

use std::thread;
use std::time::Duration;

use serde_json::{Value, json};

use crate::support::{Acquirers, Client, Edit, PATIENCE, Proxy, TestApp, card, eventually, pause, pix};

const CARD: &str = "4024007197692931";
/// Longest time until all is settled. A question that was asked in vain is asked again after up to five minutes (six,
/// as steps are spread). It is asked twice before it is believed that the acquirer does not know the charge or
/// operation. On a machine that is in time, the step is the one of 15 seconds.
const SETTLES_WITHIN: Duration = Duration::from_secs(9 * 60);

/// Wires to a bank and to Cielo, and a service that knows them by these alone.
struct Wired {
    acquirers: Acquirers,
    bank: Proxy,
    cielo: Proxy,
}

impl Wired {
    fn new() -> Self {
        let acquirers = Acquirers::start();
        let host = |url: String| url.trim_start_matches("https://").to_owned();
        let bank = Proxy::to(&host(acquirers.bank.url()));
        let cielo = Proxy::to(&host(acquirers.cielo.url()));
        Self { acquirers, bank, cielo }
    }

    fn start(&self) -> (TestApp, String) {
        let url = |proxy: &Proxy| format!("https://{}", proxy.address());
        let app = self.acquirers.builder_by_way_of(&url(&self.bank), &url(&self.cielo)).start();
        let key = app.create_key(&["--merchant", "shop", "--mode", "live"]);
        (app, key)
    }

    fn cut(&self) {
        self.bank.cut();
        self.cielo.cut();
    }

    fn mend(&self) {
        self.bank.mend();
        self.cielo.mend();
    }
}

fn id_of(record: &Value) -> String {
    record["transactionId"].as_str().unwrap().to_owned()
}

/// Creates until one is at once what it should be: on a busy machine a first connection may take longer than a call may.
fn create_until(client: &Client, request: &Value, status: &str) -> String {
    eventually(PATIENCE, status, || {
        let record = client.create(request);
        (record["status"] == status).then(|| id_of(&record))
    })
}

/// Asks under one key until the answer is no "later".
fn insist(client: &Client, path: &str, key: &str, body: &Value) -> Value {
    eventually(SETTLES_WITHIN, path, || {
        let answer = client.post_once(path, key, body);
        if answer.status == 503 {
            pause(Duration::from_millis(500));
            return None;
        }
        assert!([200, 201].contains(&answer.status), "{answer}");
        Some(answer.json())
    })
}

#[test]
fn the_service_starts_without_its_acquirers_and_charges_as_soon_as_they_are_there() {
    let wired = Wired::new();
    wired.cut();
    let (app, key) = wired.start();
    let client = app.client_with(&key);
    assert_eq!(app.ops().get("/health/ready").status, 200);
    for request in [pix(10_000), card(CARD, 10_000)] {
        let record = client.create(&request);
        let told = (&record["status"], &record["statusReason"]);
        assert_eq!(told, (&json!("declined"), &json!("no_acquirer_available")), "nothing left the process");
    }
    assert_eq!(wired.acquirers.bank.with(|bank| bank.calls), 0);
    wired.mend();
    for (request, status) in [(pix(20_000), "pending"), (card(CARD, 20_000), "paid")] {
        create_until(&client, &request, status);
    }
}

#[test]
fn what_was_begun_before_an_outage_is_settled_after_it_and_once() {
    let wired = Wired::new();
    let (mut app, key) = wired.start();
    wired.acquirers.send_notices_to(&app);
    let client = app.client_with(&key);
    let pay = |id: &str| {
        let paid = wired.acquirers.tell_bank(&json!({"do": "pay", "txid": id.replace('-', "")}));
        assert!(paid.get("error").is_none(), "{paid}");
    };
    wired.acquirers.wait_until_registered();
    let waits = create_until(&client, &pix(10_000), "pending");
    let paid = create_until(&client, &pix(20_000), "pending");
    pay(&paid);
    client.wait_for_status_within(SETTLES_WITHIN, &paid, "paid");
    let held = create_until(&client, &card(CARD, 30_000).with("capture", json!(false)), "approved");
    wired.cut();
    pay(&waits);
    let (refund, capture) =
        (format!("/pay/payments/{paid}/refunds"), format!("/pay/payments/{held}/capture"));
    // Asked for together: each caller is kept waiting, and one after the other the outage would outlast the first steps.
    thread::scope(|scope| {
        scope.spawn(|| {
            let asked = client.post_once(&refund, "refund", &json!({ "amount": 5_000 })).expect(201);
            assert_eq!(asked["status"], "processing");
        });
        let asked = client.post_once(&capture, "capture", &json!({ "amount": 6_000 }));
        asked.expect_error(503, "outcome_unknown");
    });
    app.kill();
    app.restart();
    let client = app.client_with(&key);
    assert_eq!(app.ops().get("/health/ready").status, 200, "it starts in the middle of the outage too");
    assert_eq!(client.payment(&waits)["status"], "pending");
    wired.mend();
    wired.acquirers.send_notices_to(&app);
    insist(&client, &capture, "capture", &json!({ "amount": 6_000 }));
    let is_settled = |id: &str| {
        let record = client.payment(id);
        // The bank tells of it once more, as banks do.
        drop(wired.acquirers.tell_bank(&json!({"do": "forge", "txid": id.replace('-', "")})));
        let is_open = record["status"] == "pending" || record["refunds"][0]["status"] == "processing";
        if is_open {
            pause(Duration::from_millis(500));
        }
        (!is_open).then_some(record)
    };
    let waited = eventually(SETTLES_WITHIN, "the payment of the outage is known", || is_settled(&waits));
    assert_eq!(waited["status"], "paid");
    let refunded = eventually(SETTLES_WITHIN, "the refund has ended", || is_settled(&paid));
    assert_eq!((&refunded["status"], &refunded["refundedAmount"]), (&json!("paid"), &json!("50.00")));
    assert_eq!(client.payment(&held)["capturedAmount"], "60.00");
    let now_ms = wired.acquirers.bank.now_ms();
    let books = wired.acquirers.bank.with(|bank| bank.provider.books(now_ms));
    let refunds =
        |id: &str| books[&id.replace('-', "")].refunded.iter().map(|refund| refund.cents).collect::<Vec<_>>();
    assert_eq!((refunds(&waits), refunds(&paid)), (vec![], vec![5_000]));
    let sales = wired.acquirers.cielo.with(|cielo| cielo.provider.books())[&held.replace('-', "")].clone();
    assert_eq!(sales.iter().map(|sale| sale.captured_cents).collect::<Vec<_>>(), [6_000]);
}
