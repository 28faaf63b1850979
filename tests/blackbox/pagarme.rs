//! Whole lives of payments at the Pagar.me of the tests, and routes between it and Cielo.

mod payables;

use std::time::Duration;

use quita_banks::cielo::{self, Cielo};
use quita_banks::faults;
use quita_banks::pagarme::{self, Entry, Pagarme, Status};
use quita_banks::server::{Options, Served};
use quita_banks::{Counterparty, faults::Faults};
use serde_json::{Value, json};
use tempfile::TempDir;

use crate::support::{Client, Edit, Finished, PATIENCE, TestApp, boleto, card, eventually, pix};

/// Longer than the first question about something that was accepted.
const SLOW: Duration = Duration::from_secs(30);

const KEY: &str = "sk_4Jb1Qm9Zx7Ky2Wv5";
const PASSWORD: &str = "callback-password";
const CARD: &str = "4024007197692931";
const RECIPIENT: &str = "re_a000000000000000000000000";

/// A Pagar.me and a Cielo, and a service whose live keys reach both.
struct World {
    pagarme: Served<Pagarme>,
    cielo: Served<Cielo>,
    app: TestApp,
    client: Client,
    files: TempDir,
}

/// Secrets of both acquirers, as the environment has them.
const SECRETS: [(&str, &str); 3] = [
    ("QUITA_ACQUIRER_CIELO_NOTIFICATION_SECRET", "secret"),
    ("QUITA_ACQUIRER_PAGARME_SECRET_KEY", KEY),
    ("QUITA_ACQUIRER_PAGARME_NOTIFICATION_PASSWORD", PASSWORD),
];

impl World {
    /// With these routes.
    fn with(routes: &str) -> Self {
        let config = pagarme::Config { secret_key: KEY.into(), ..pagarme::Config::default() };
        let own = config.own_recipient.clone();
        let pagarme = served(Pagarme::new(config, faults::none()));
        let no_faults: Faults = faults::none();
        let config = cielo::Config::default();
        let merchant_id = config.merchant_id.clone();
        let merchant_key = config.merchant_key.clone();
        let cielo = served(Cielo::new(config, no_faults));
        let table = format!(
            "[[acquirer]]\nname = 'cielo'\nadapter = 'cielo'\nmethods = ['credit_card']\npriority = 2\n\
             base-url = '{}'\nmerchant-id = '{merchant_id}'\ntime-out = '2s'\n\
             [[acquirer]]\nname = 'pagarme'\nadapter = 'pagarme'\ntime-out = '2s'\n\
             base-url = '{}/core/v5'\nsoft-descriptor = 'LOJA EXEMPLO'\nrecipient = '{own}'\n\
             recipients = {{ loja-a = '{RECIPIENT}' }}\n{routes}",
            cielo.url(),
            pagarme.url(),
        );
        let files = tempfile::tempdir().unwrap();
        let path = files.path().join("quita.toml");
        std::fs::write(&path, table).unwrap();
        let builder = TestApp::builder().arg("--config", path.to_str().unwrap());
        let builder = builder.env("QUITA_ACQUIRER_CIELO_MERCHANT_KEY", &merchant_key);
        let app = SECRETS.iter().fold(builder, |builder, (name, secret)| builder.env(name, secret)).start();
        let key = app.create_key(&["--merchant", "shop", "--mode", "live"]);
        let client = app.client_with(&key);
        let to = json!({ "to": format!("{}/acquirers/pagarme/notifications", app.url()) });
        assert_eq!(Client::new(&pagarme.control_url(), None).post("/notices_to", &to).status, 200);
        Self { pagarme, cielo, app, client, files }
    }

    fn open() -> Self {
        Self::with("")
    }

    #[track_caller]
    fn tell(&self, command: &Value) {
        assert_eq!(tell(&self.pagarme, command), json!({ "ok": true }), "{command}");
    }

    /// The charges of a payment at Pagar.me.
    fn charges(&self, id: &str) -> Vec<Entry> {
        self.pagarme.with(|pagarme| pagarme.charges_of(&id.replace('-', "")))
    }

    #[track_caller]
    fn only(&self, id: &str) -> Entry {
        let charges = self.charges(id);
        assert_eq!(charges.len(), 1, "{charges:?}");
        charges[0].clone()
    }

    /// Calls the program with the service's store and configuration.
    fn call(&self, arguments: &[&str]) -> Finished {
        let config = self.files.path().join("quita.toml");
        let program = self.app.program(&[arguments, &["--config", config.to_str().unwrap()]].concat());
        let program = program.env("QUITA_ACQUIRER_CIELO_MERCHANT_KEY", "key");
        SECRETS.iter().fold(program, |program, (name, secret)| program.env(name, secret)).run()
    }

    fn refund(&self, id: &str, cents: u64) -> Value {
        let answer = self.client.post(&format!("/pay/payments/{id}/refunds"), &json!({ "amount": cents }));
        assert_eq!(answer.status, 201, "{answer}");
        answer.json()
    }
}

fn served<C: Counterparty + 'static>(counterparty: C) -> Served<C> {
    Served::start_with(counterparty, Options::default()).unwrap()
}

fn tell<C: Counterparty + 'static>(provider: &Served<C>, command: &Value) -> Value {
    let now_ms = provider.now_ms();
    provider.with(|provider| provider.control(command, now_ms))
}

fn id_of(record: &Value) -> String {
    record["transactionId"].as_str().unwrap().to_owned()
}

#[test]
fn a_card_is_authorised_captured_in_part_and_refunded() {
    let world = World::open();
    let record = world.client.create(&card(CARD, 10_000).with("capture", json!(false)));
    let id = id_of(&record);
    assert_eq!((&record["status"], &record["acquirer"]), (&json!("approved"), &json!("pagarme")), "{record}");
    let entry = world.only(&id);
    assert_eq!(record["acquirerReference"]["orderId"], json!(entry.order_id));
    assert_eq!(record["acquirerReference"]["chargeId"], json!(entry.charge_id));
    let captured = world.client.post(&format!("/pay/payments/{id}/capture"), &json!({ "amount": 6_000 }));
    assert_eq!(captured.status, 200, "{captured}");
    assert_eq!(captured.json()["capturedAmount"], "60.00");
    assert_eq!(world.refund(&id, 1_000)["status"], "succeeded");
    assert_eq!(world.refund(&id, 5_000)["status"], "succeeded");
    assert_eq!(world.client.payment(&id)["status"], "refund");
    assert_eq!(world.only(&id).kept_cents(), 0);
}

#[test]
fn an_authorised_card_is_voided() {
    let world = World::open();
    let id = id_of(&world.client.create(&card(CARD, 10_000).with("capture", json!(false))));
    let cancelled = world.client.post_empty(&format!("/pay/payments/{id}/cancel"));
    assert_eq!((cancelled.status, &cancelled.json()["status"]), (200, &json!("cancelled")), "{cancelled}");
    assert_eq!(world.only(&id).status, Status::Canceled);
}

#[test]
fn a_pix_is_paid_by_a_callback_and_a_refund_takes_its_time() {
    let world = World::open();
    world.tell(&json!({ "do": "set", "config": { "refundTakesMs": 1_000 } }));
    let record = world.client.create(&pix(10_000));
    let id = id_of(&record);
    assert_eq!(
        (&record["status"], record["pix"]["txid"].as_str().map(str::len)),
        (&json!("pending"), Some(32))
    );
    world.tell(&json!({ "do": "pay", "charge": id.replace('-', "") }));
    let paid = world.client.wait_for_status_within(PATIENCE, &id, "paid");
    assert!(paid["pix"]["endToEndId"].as_str().unwrap().starts_with('E'), "{paid}");
    assert_eq!(world.refund(&id, 4_000)["status"], "processing");
    let after = eventually(SLOW, "the refund has ended", || {
        let payment = world.client.payment(&id);
        (payment["refunds"][0]["status"] == "succeeded").then_some(payment)
    });
    assert_eq!(after["refundedAmount"], "40.00");
    assert_eq!(world.only(&id).kept_cents(), 6_000);
}

#[test]
fn an_unpaid_pix_is_cancelled_there() {
    let world = World::open();
    let id = id_of(&world.client.create(&pix(10_000)));
    let cancelled = world.client.post_empty(&format!("/pay/payments/{id}/cancel"));
    assert_eq!((cancelled.status, &cancelled.json()["status"]), (200, &json!("cancelled")), "{cancelled}");
    assert_eq!(world.only(&id).status, Status::Canceled);
}

#[test]
fn a_boleto_shows_the_code_of_its_line_and_is_paid() {
    let world = World::open();
    let record = world.client.create(&boleto(10_000));
    let id = id_of(&record);
    assert_eq!(record["status"], "pending", "{record}");
    assert!(record["acquirerReference"]["ourNumber"].is_string(), "{record}");
    world.tell(&json!({ "do": "pay", "charge": id.replace('-', "") }));
    let paid = world.client.wait_for_status_within(PATIENCE, &id, "paid");
    assert_eq!(paid["boleto"]["paidAmount"], "100.00", "{paid}");
    let refund = world.client.post(&format!("/pay/payments/{id}/refunds"), &json!({ "amount": 100 }));
    refund.expect_error(409, "refund_unsupported");
    assert_eq!(world.client.payment(&id)["refunds"], json!([]), "nothing is stored");
}

#[test]
fn a_callback_without_the_password_is_401_and_a_false_one_changes_nothing() {
    let world = World::open();
    let id = id_of(&world.client.create(&pix(10_000)));
    let code = id.replace('-', "");
    let stranger = Client::new(&world.app.url(), None);
    let body = json!({ "id": "hook_1", "type": "charge.paid", "data": { "id": "ch_1", "code": code, "status": "paid" } });
    let path = "/acquirers/pagarme/notifications";
    assert_eq!(stranger.post(path, &body).status, 401);
    let wrong = [("authorization", "Basic cXVpdGE6eA==")];
    assert_eq!(stranger.post_with(path, &wrong, &body).status, 401);
    // quita:callback-password
    let right = [("authorization", "Basic cXVpdGE6Y2FsbGJhY2stcGFzc3dvcmQ=")];
    assert_eq!(stranger.post_with(path, &right, &body).status, 200);
    let other = body.with("data", json!({ "id": "ch_2", "code": "PEDIDO-7" }));
    assert_eq!(stranger.post_with(path, &right, &other).status, 200);
    world.tell(&json!({ "do": "pay", "charge": code }));
    world.client.wait_for_status_within(PATIENCE, &id, "paid");
    assert_eq!(world.client.history(&id), ["pending", "paid"]);
}

#[test]
fn splits_reach_the_recipients_and_an_unknown_one_keeps_the_payment_away() {
    let world = World::open();
    let shares = json!([{ "recipientId": "loja-a", "percentage": 12.5 }]);
    let record = world.client.create(&card(CARD, 10_000).with("splits", shares));
    assert_eq!(record["splits"][0]["acquirerReference"], RECIPIENT, "{record}");
    let shared: Vec<u64> =
        world.only(&id_of(&record)).shares.iter().map(|share| share.amount_cents).collect();
    assert_eq!(shared, [1_250, 8_750]);
    let unknown = json!([{ "recipientId": "loja-b", "percentage": 12.5 }]);
    let record = world.client.create(&card(CARD, 10_000).with("splits", unknown.clone()));
    assert_eq!(
        (&record["acquirer"], &record["splits"][0]["acquirerReference"]),
        (&json!("cielo"), &Value::Null)
    );
    let reason = record["routing"]["considered"][1]["reason"].as_str();
    assert_eq!(reason, Some("recipient_unknown"), "{record}");
    world
        .client
        .post("/pay/payments", &pix(10_000).with("splits", unknown))
        .expect_error(422, "method_unavailable");
}

const FURTHER: &str = "[[route]]\nname = 'cards'\nwhen = { method = 'credit_card' }\n\
                       use = ['cielo']\nretry-declines = true\n";

#[test]
fn a_reversible_decline_at_cielo_goes_to_pagarme_and_an_irreversible_one_does_not() {
    let world = World::with(FURTHER);
    for (code, status, acquirer) in
        [("51", "paid", "pagarme"), ("14", "declined", "cielo"), ("99", "declined", "cielo")]
    {
        let plan = json!({ "do": "plan", "plan": { "outcome": { "decline": { "code": code } } } });
        assert_eq!(tell(&world.cielo, &plan), json!({ "ok": true }));
        let record = world.client.create(&card(CARD, 10_000));
        assert_eq!(
            (&record["status"], &record["acquirer"]),
            (&json!(status), &json!(acquirer)),
            "{code}: {record}"
        );
        let kept: u64 = world.charges(&id_of(&record)).iter().map(Entry::kept_cents).sum();
        assert_eq!(kept, if acquirer == "pagarme" { 10_000 } else { 0 }, "{code}");
    }
}

#[test]
fn an_unclear_charge_at_cielo_never_goes_to_pagarme() {
    let world = World::with(FURTHER);
    let faults = json!({ "do": "faults", "method": "POST", "next": [{ "fault": "reset-after" }] });
    assert_eq!(tell(&world.cielo, &faults), json!({ "ok": true }));
    let id = id_of(&world.client.create(&card(CARD, 10_000)));
    let paid = world.client.wait_for_status_within(SLOW, &id, "paid");
    assert_eq!(paid["acquirer"], "cielo", "{paid}");
    assert!(world.charges(&id).is_empty());
}

#[test]
fn an_order_whose_answer_is_lost_is_found_by_its_code_and_made_once() {
    let world = World::open();
    world.tell(&json!({ "do": "faults", "method": "POST", "next": [{ "fault": "reset-after" }] }));
    let id = id_of(&world.client.create(&card(CARD, 10_000)));
    world.client.wait_for_status_within(SLOW, &id, "paid");
    assert_eq!(world.only(&id).kept_cents(), 10_000);
}

#[test]
fn a_chargeback_and_a_dispute_that_is_won_are_told() {
    let world = World::open();
    let id = id_of(&world.client.create(&card(CARD, 10_000)));
    world.tell(&json!({ "do": "chargeback", "charge": id.replace('-', ""), "amountCents": 4_000 }));
    world.client.wait_for_status_within(PATIENCE, &id, "chargeback");
    world.tell(&json!({ "do": "win", "charge": id.replace('-', "") }));
    let won = world.client.wait_for_status_within(SLOW, &id, "paid");
    assert_eq!(won["statusReason"], "dispute_won", "{won}");
}
