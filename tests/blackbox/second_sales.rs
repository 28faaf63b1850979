//! Two sales of one order at Cielo: a request that was believed lost arrives minutes later, or was only not shown. At the
//! end one of them holds the payer's money, whatever they paid by, and an operator was told of the other.

use std::collections::BTreeMap;
use std::time::Duration;

use quita_banks::cielo::{Cielo, Config};
use quita_banks::server::{Options, Served};
use quita_banks::{Counterparty, Notice, Reply, Request, faults};
use serde_json::{Value, json};

use crate::support::{Client, Edit, PATIENCE, TestApp, boleto, card, eventually, pix};

const SECRET: &str = "notification-secret-4fd29b6e08c7a135";

/// Longer than "not found" takes to be believed, with the time-out before it and the pauses between calls.
const SENT_AGAIN: Duration = Duration::from_secs(90);

/// Fate of the first request for a sale of each order.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum First {
    /// It arrives when the test says so, and is never answered.
    Late,
    /// It arrives at once, is never answered, and queries show what was made after a while.
    Shown,
    /// It is answered.
    Answered,
}

/// A Cielo whose first answers are lost.
struct Lossy {
    cielo: Cielo,
    first: First,
    /// The first request for each order, until it arrives.
    kept: BTreeMap<String, Option<Request>>,
}

impl Lossy {
    /// The first request of an order arrives.
    fn arrive(&mut self, order: &str, now_ms: i64) {
        let request = self.kept.insert(order.to_owned(), None).flatten().expect("a request that was kept");
        drop(self.cielo.handle(&request, now_ms));
    }
}

impl Counterparty for Lossy {
    fn handle(&mut self, request: &Request, now_ms: i64) -> Reply {
        let is_sale = request.method == "POST" && request.path.trim_end_matches('/') == "/1/sales";
        let body: Value = serde_json::from_slice(&request.body).unwrap_or_default();
        let order = body["MerchantOrderId"].as_str().unwrap_or_default();
        if !is_sale || self.kept.contains_key(order) {
            return self.cielo.handle(request, now_ms);
        }
        let kept = match self.first {
            First::Late => Some(request.clone()),
            First::Shown => {
                drop(self.cielo.handle(request, now_ms));
                None
            }
            First::Answered => return self.cielo.handle(request, now_ms),
        };
        self.kept.insert(order.to_owned(), kept);
        Reply::Silence
    }

    fn notices(&mut self, now_ms: i64) -> Vec<Notice> {
        self.cielo.notices(now_ms)
    }

    fn control(&mut self, command: &Value, now_ms: i64) -> Value {
        self.cielo.control(command, now_ms)
    }
}

/// A service in front of such a Cielo.
struct Shop {
    app: TestApp,
    client: Client,
    cielo: Served<Lossy>,
    _files: tempfile::TempDir,
}

impl Shop {
    fn open(first: First, query_lag_ms: i64) -> Self {
        let mut config = Config { query_lag_ms, ..Config::default() };
        config.notices.headers = [("x-quita-secret".to_owned(), SECRET.to_owned())].into();
        config.notices.url = Some("https://pay.example/acquirers/cielo/notifications".into());
        let merchant_id = config.merchant_id.clone();
        let merchant_key = config.merchant_key.clone();
        let lossy = Lossy { cielo: Cielo::new(config, faults::none()), first, kept: BTreeMap::new() };
        let cielo = Served::start_with(lossy, Options::default()).unwrap();
        let table = format!(
            "[[acquirer]]\nname = 'cielo'\nadapter = 'cielo'\ntime-out = '2s'\nbase-url = '{}'\n\
             merchant-id = '{merchant_id}'\n\
             boleto = {{ provider = 'Bradesco2', assignor = 'Loja', identification = '11222333000181', \
             instructions = 'Pague em dia' }}\n",
            cielo.url()
        );
        let files = tempfile::tempdir().unwrap();
        let path = files.path().join("quita.toml");
        std::fs::write(&path, table).unwrap();
        let app = TestApp::builder()
            .arg("--config", path.to_str().unwrap())
            .env("QUITA_ACQUIRER_CIELO_MERCHANT_KEY", &merchant_key)
            .env("QUITA_ACQUIRER_CIELO_NOTIFICATION_SECRET", SECRET)
            .start();
        let desk = Client::new(&cielo.control_url(), None);
        assert_eq!(desk.post("/forward", &json!({ "to": app.url() })).status, 200);
        let key = app.create_key(&["--merchant", "shop", "--mode", "live"]);
        let client = app.client_with(&key);
        Self { app, client, cielo, _files: files }
    }

    /// Creates a payment whose first request is lost; its id and its order's name at Cielo.
    fn create(&self, request: &Value) -> (String, String) {
        let before: Vec<String> = self.cielo.with(|lossy| lossy.kept.keys().cloned().collect());
        let record = self.client.create(request);
        let order = self.cielo.with(|lossy| lossy.kept.keys().find(|order| !before.contains(order)).cloned());
        assert_eq!(record["status"], "initial", "{record}");
        (record["transactionId"].as_str().unwrap().to_owned(), order.expect("a sale was asked for"))
    }

    fn tell(&self, command: &Value) -> Value {
        let now_ms = self.cielo.now_ms();
        self.cielo.with(|lossy| lossy.control(command, now_ms))
    }

    fn arrive(&self, order: &str) {
        let now_ms = self.cielo.now_ms();
        self.cielo.with(|lossy| lossy.arrive(order, now_ms));
    }

    /// The sales of an order, oldest first.
    fn sales(&self, order: &str) -> Vec<Value> {
        self.tell(&json!({"do": "books"}))[order].as_array().cloned().unwrap_or_default()
    }

    fn details_of_exceptions(&self, id: &str) -> Vec<String> {
        let exceptions = self.app.ops().get("/ops/exceptions").expect(200)["data"].clone();
        let of_it = exceptions.as_array().unwrap().iter().filter(|one| one["transactionId"] == id);
        of_it.map(|one| one["detail"].as_str().unwrap().to_owned()).collect()
    }

    /// Waits until one sale of an order holds money or a limit, and no other; its id.
    #[track_caller]
    fn wait_for_one_that_holds(&self, order: &str, sales: usize) -> Option<String> {
        eventually(PATIENCE * 4, "one sale holds something at most", || {
            let all = self.sales(order);
            let holds = |sale: &&Value| {
                let is_held = sale["method"] == "CreditCard" && sale["status"] == 1;
                sale["keptCents"].as_u64().unwrap() > 0 || is_held
            };
            let holding: Vec<_> = all.iter().filter(holds).collect();
            (all.len() == sales && holding.len() <= 1)
                .then(|| holding.first().map(|sale| sale["paymentId"].as_str().unwrap().to_owned()))
        })
    }

    #[track_caller]
    fn wait_until_told_of(&self, id: &str, name: &Value) {
        let name = name.as_str().unwrap();
        eventually(PATIENCE, "an operator is told of the other sale", || {
            self.details_of_exceptions(id).iter().any(|detail| detail.contains(name)).then_some(())
        });
    }
}

fn paid_by(record: &Value) -> &str {
    record["acquirerReference"]["paymentId"].as_str().unwrap()
}

#[test]
fn a_card_that_arrives_after_it_was_sent_again_or_given_up_is_given_back() {
    let shop = Shop::open(First::Late, 0);
    let (captured, order) = shop.create(&card("4024007197692931", 10_000));
    let (held, held_order) = shop.create(&card("4024007197692931", 20_000).with("capture", json!(false)));
    let (declined, declined_order) = shop.create(&card("4024007197692931", 30_000));
    let refuses = json!({"outcome": {"decline": {"code": "51", "advice": null}}});
    shop.tell(&json!({"do": "plan", "sale": declined_order, "plan": refuses}));

    for (id, status) in [(&captured, "paid"), (&held, "approved"), (&declined, "declined")] {
        shop.client.wait_for_status_within(SENT_AGAIN, id, status);
    }
    shop.tell(&json!({"do": "plan", "sale": declined_order, "plan": {"outcome": "approve"}}));
    for order in [&order, &held_order, &declined_order] {
        shop.arrive(order);
    }

    let kept = shop.wait_for_one_that_holds(&order, 2);
    let record = shop.client.payment(&captured);
    assert_eq!(kept.as_deref(), Some(paid_by(&record)), "the one that the record names");
    assert_eq!((&record["status"], &record["refundedAmount"]), (&json!("paid"), &json!("0.00")), "{record}");
    shop.wait_until_told_of(&captured, &shop.sales(&order)[1]["paymentId"]);

    let kept = shop.wait_for_one_that_holds(&held_order, 2);
    assert_eq!(kept.as_deref(), Some(paid_by(&shop.client.payment(&held))));
    shop.wait_until_told_of(&held, &shop.sales(&held_order)[1]["paymentId"]);
    let capture = shop.client.post(&format!("/pay/payments/{held}/capture"), &json!({}));
    assert_eq!(capture.status, 200, "{capture}");

    assert_eq!(shop.wait_for_one_that_holds(&declined_order, 2), None);
    shop.wait_until_told_of(&declined, &shop.sales(&declined_order)[1]["paymentId"]);
    assert_eq!(shop.client.payment(&declined)["status"], "declined");
}

#[test]
fn a_sale_that_queries_show_late_is_found_and_whichever_code_was_paid_pays_the_payment() {
    let shop = Shop::open(First::Shown, 40_000);
    let (card, card_order) = shop.create(&card("4024007197692931", 10_000));
    // What is told while nothing is shown has to be told again.
    let (taken, refused) = shop.cielo.notices();
    assert!(taken == 0 && refused > 0, "{taken} {refused}");
    let (boleto, boleto_order) = shop.create(&boleto(20_000));
    let (pix, pix_order) = shop.create(&pix(30_000));

    shop.client.wait_for_status_within(SENT_AGAIN, &card, "paid");
    for id in [&boleto, &pix] {
        shop.client.wait_for_status_within(SENT_AGAIN, id, "pending");
    }
    shop.cielo.advance(60_000);
    for (id, order) in [(&boleto, &boleto_order), (&pix, &pix_order)] {
        let sales = shop.sales(order);
        assert_eq!(sales.len(), 2, "{sales:?}");
        let first = sales[0]["paymentId"].as_str().unwrap();
        assert_eq!(shop.tell(&json!({"do": "pay", "sale": first})), json!({"ok": true}));
        let record = shop.client.wait_for_status_within(SENT_AGAIN, id, "paid");
        assert_eq!(paid_by(&record), first, "{record}");
    }
    // Cielo tells of the first sale again.
    let first = shop.sales(&card_order)[0]["paymentId"].clone();
    shop.tell(&json!({"do": "notify", "sale": first}));
    let kept = shop.wait_for_one_that_holds(&card_order, 2);
    assert_eq!(kept.as_deref(), Some(paid_by(&shop.client.payment(&card))));
    shop.wait_until_told_of(&card, &first);

    // A PIX that is paid by both codes goes back once; who paid a boleto twice is a person's to see to.
    for (id, order, kept) in [(&pix, &pix_order, 1), (&boleto, &boleto_order, 2)] {
        let second = shop.sales(order)[1]["paymentId"].clone();
        assert_eq!(shop.tell(&json!({"do": "pay", "sale": second})), json!({"ok": true}));
        shop.wait_until_told_of(id, &second);
        eventually(PATIENCE * 4, "the second one went back if it can", || {
            let sales = shop.sales(order);
            let holding = sales.iter().filter(|sale| sale["keptCents"].as_u64().unwrap() > 0).count();
            let told = shop.details_of_exceptions(id);
            let is_told = kept == 1 || told.iter().any(|detail| detail.contains("could not be given back"));
            (holding == kept && is_told).then_some(())
        });
    }
}

#[test]
fn a_void_whose_processing_failed_is_asked_for_before_it_counts_as_refused() {
    let shop = Shop::open(First::Answered, 0);
    for (code, was_done) in [("5", true), ("57", true), ("97", true), ("99", true), ("99", false)] {
        let record = shop.client.create(&card("4024007197692931", 10_000));
        assert_eq!(record["status"], "paid", "{record}");
        let id = record["transactionId"].as_str().unwrap();
        let order = id.replace('-', "");
        let failure = json!({"void": {"code": code, "wasDone": was_done, "isOnce": true}});
        shop.tell(&json!({"do": "plan", "sale": order, "plan": failure}));
        let path = format!("/pay/payments/{id}/refunds");
        assert_eq!(shop.client.post(&path, &json!({"amount": 3_000})).status, 201);
        let expected = if was_done { "succeeded" } else { "failed" };
        eventually(PATIENCE * 2, "the refund ends as it ended", || {
            let status = shop.client.payment(id)["refunds"][0]["status"].clone();
            assert!(status == "processing" || status == expected, "{code} {was_done}: {status}");
            (status == expected).then_some(())
        });
        let back = shop.sales(&order)[0]["voidedCents"].clone();
        assert_eq!(back, json!(if was_done { 3_000 } else { 0 }), "{code}");
    }
}
