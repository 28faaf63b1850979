//! `quita privacy erase`, and `retain-personal-data`: who paid is unrecognisable wherever it was kept, beside a service that
//! runs.

use std::time::Duration;

use serde_json::{Value, json};

use crate::support::{
    Account, Edit, Finished, PATIENCE, Received, Reply, TestApp, TestReceiver, Visitor, boleto, card,
    check_with_standard_webhooks, eventually, is_mongodb, paid_earlier, pause, pix, signature_of,
};

const CPF: &str = "52998224725";
const EMAIL: &str = "zuleika@marca.example";

/// Texts that tell who paid, wherever they stand.
const TRACES: [&str; 14] = [
    "Zuleika",
    "Quaresma",
    CPF,
    "529.982.247-25",
    EMAIL,
    "11987650000",
    "Rua da Marca",
    "1234-B",
    "Bloco da Marca",
    "Bairro da Marca",
    "Cidade da Marca",
    "TITULAR MARCADO",
    "nota da marca",
    "resposta da marca",
];

/// Longer than the first look of a service that has just started.
const LOOKED_WITHIN: Duration = Duration::from_secs(40);

const YEAR: Duration = Duration::from_secs(366 * 24 * 3_600);

/// A request of somebody who can be known.
fn of_somebody(request: Value, receiver: &TestReceiver) -> Value {
    let request = request
        .with("paymentDetails.firstName", json!("Zuleika"))
        .with("paymentDetails.lastName", json!("Quaresma"))
        .with("paymentDetails.document", json!(CPF))
        .with("paymentDetails.email", json!(EMAIL))
        .with("paymentDetails.phoneNumber", json!("11987650000"))
        .with("paymentDetails.address.street", json!("Rua da Marca"))
        .with("paymentDetails.address.number", json!("1234-B"))
        .with("paymentDetails.address.complement", json!("Bloco da Marca"))
        .with("paymentDetails.address.neighborhood", json!("Bairro da Marca"))
        .with("paymentDetails.address.city", json!("Cidade da Marca"))
        .with("metadata", json!({"nota": "nota da marca", "numero": CPF}))
        .with("externalReference", json!("cliente 529.982.247-25"))
        .with("items", json!([{"name": "Curso de Zuleika Quaresma", "quantity": 1, "price": 1}]))
        .with("postbackUrl", json!(receiver.url()));
    match request["paymentMethod"].as_str() {
        Some("credit_card") => request.with("creditCard.holderName", json!("TITULAR MARCADO")),
        _ => request,
    }
}

fn id_of(record: &Value) -> &str {
    record["transactionId"].as_str().unwrap()
}

/// A receiver that says to whom it speaks.
fn talkative() -> TestReceiver {
    let receiver = TestReceiver::start();
    receiver.answer_with(|_| Reply::status(200).body("resposta da marca para Zuleika"));
    receiver
}

/// Returns the places where any of these texts stands.
fn places_of_traces(app: &TestApp) -> Vec<(String, &'static str)> {
    let holds = |bytes: &[u8], trace: &str| bytes.windows(trace.len()).any(|part| part == trace.as_bytes());
    let places = app.store_bytes();
    assert!(places.iter().map(|(_, bytes)| bytes.len()).sum::<usize>() > 1_000, "the store was read");
    places
        .iter()
        .flat_map(|(place, bytes)| {
            let found = TRACES.into_iter().filter(|trace| holds(bytes, trace));
            found.map(|trace| (place.clone(), trace)).collect::<Vec<_>>()
        })
        .collect()
}

#[track_caller]
fn check_tells_nobody(what: &str, text: &str) {
    for trace in TRACES {
        assert!(!text.contains(trace), "{what} tells {trace}: {text}");
    }
}

/// Everything but the masks is as it was.
#[track_caller]
fn check_is_masked(before: &Value, after: &Value) {
    check_tells_nobody("the record", &after.to_string());
    let customer = json!({
        "name": "*** ***", "email": "***@***", "document": "***********", "phone": "***********",
    });
    assert_eq!(after["customer"], customer);
    let masked = ["customer", "metadata", "externalReference", "products", "creditCard", "acquirerReference"];
    for (name, value) in before.as_object().unwrap() {
        if !masked.contains(&name.as_str()) {
            assert_eq!(&after[name], value, "{name}");
        }
    }
}

fn erase(app: &TestApp, more: &[&str]) -> Finished {
    app.quita(&[&["privacy", "erase"], more].concat())
}

#[track_caller]
fn check_erased(done: &Finished, told: &str) {
    assert_eq!((done.code, done.stdout.trim()), (Some(0), told), "{done:?}");
}

#[track_caller]
fn check_signed(request: &Received, secret: &str) {
    assert_eq!(request.header("webhook-signature"), Some(&*signature_of(request, secret)));
    check_with_standard_webhooks(request, secret);
}

fn found(app: &TestApp, query: &str) -> usize {
    let page = app.client().get(&format!("/pay/payments?{query}")).expect(200);
    page["data"].as_array().unwrap().len()
}

#[test]
fn a_person_is_unrecognisable_in_every_place_beside_the_service() {
    let app = TestApp::new();
    let receiver = talkative();
    let client = app.client();
    let secret = app.secret();
    let requests =
        [pix(10_000), boleto(10_000), card("4242424242424242", 10_000), card("4000000000000002", 10_000)]
            .map(|request| of_somebody(request, &receiver));
    let ends = ["paid", "paid", "paid", "declined"];
    let mut before = Vec::new();
    for (place, (request, end)) in requests.iter().zip(ends).enumerate() {
        let record = client.post_once("/pay/payments", &format!("order-{place}"), request).expect(201);
        before.push(client.wait_for_status(id_of(&record), end));
        receiver.wait_for_told(id_of(&record), end, PATIENCE);
    }
    let waiting = client.create(&of_somebody(pix(10_027), &receiver));
    let query = format!("document={CPF}");
    assert_eq!((found(&app, &query), found(&app, &format!("email={EMAIL}"))), (5, 5));
    eventually(PATIENCE, "every delivery is noted", || {
        let is_done =
            |record: &&Value| client.deliveries(id_of(record)).iter().all(|one| one["state"] == "delivered");
        before.iter().all(|record| is_done(&record)).then_some(())
    });
    let trial = erase(&app, &["--document", "529.982.247-25", "--paid-before", "0s", "--dry-run"]);
    assert!(trial.stderr.contains("Nothing was changed: this is what would be erased."), "{trial:?}");
    check_erased(&trial, "erased 4, erased before 0, not finished 1");
    assert_eq!(found(&app, &query), 5, "nothing is changed on trial");
    check_erased(
        &erase(&app, &["--document", CPF, "--paid-before", "0s"]),
        "erased 4, erased before 0, not finished 1",
    );
    for (place, (record, request)) in before.iter().zip(&requests).enumerate() {
        let id = id_of(record);
        check_is_masked(record, &client.payment(id));
        let replayed = client.post_once("/pay/payments", &format!("order-{place}"), request);
        assert_eq!(replayed.header("idempotency-replayed"), Some("true"));
        check_is_masked(record, &replayed.expect(200));
        let other = request.clone().with("amount", json!(77_700));
        let other = client.post_once("/pay/payments", &format!("order-{place}"), &other);
        other.expect_error(422, "idempotency_key_reused");
        it_is_told_again_masked(&app, &receiver, record, &secret);
    }
    assert_eq!((found(&app, &query), found(&app, &format!("email={EMAIL}"))), (1, 1));
    let searched = client.get("/pay/payments?externalReference=cliente%20529.982.247-25").expect(200);
    assert_eq!(searched["data"].as_array().unwrap().len(), 1, "but for what is not finished");
    assert_eq!(client.payment(id_of(&waiting))["customer"]["document"], CPF);
    the_console_tells_nobody(&app, id_of(&before[0]));
    // What was left is erased once it is finished, and then nothing is left of anybody.
    client.post_empty(&format!("/pay/payments/{}/cancel", id_of(&waiting))).expect(200);
    receiver.wait_for_told(id_of(&waiting), "cancelled", PATIENCE);
    check_erased(&erase(&app, &["--document", CPF]), "erased 1, erased before 0, not finished 0");
    check_erased(
        &erase(&app, &["--transaction", id_of(&waiting)]),
        "erased 0, erased before 1, not finished 0",
    );
    assert_eq!(places_of_traces(&app), [], "in the store");
    check_tells_nobody("the log", &app.log());
}

/// Each event is delivered once more: signed, with the same id, and without anybody.
fn it_is_told_again_masked(app: &TestApp, receiver: &TestReceiver, record: &Value, secret: &str) {
    let client = app.client();
    let id = id_of(record);
    let told = receiver.events_of(id);
    let deliveries = client.deliveries(id);
    check_tells_nobody("a kept answer", &Value::from(deliveries.clone()).to_string());
    let last = deliveries[0]["id"].as_str().unwrap();
    client.post_empty(&format!("/pay/webhooks/deliveries/{last}/redeliver")).expect(202);
    let again = receiver.wait_for_events(id, told.len() + 1, PATIENCE).pop().unwrap();
    check_signed(&again, secret);
    let first = told.iter().find(|event| event.webhook_id() == again.webhook_id()).unwrap();
    let first = first.json();
    let again = again.json();
    check_tells_nobody("an event that is told again", &again.to_string());
    for name in ["event", "sequence", "occurredAt", "status", "previousStatus"] {
        assert_eq!(again[name], first[name], "{name}");
    }
    check_is_masked(&first["data"], &again["data"]);
    eventually(PATIENCE, "the redelivery is noted", || {
        let deliveries = client.deliveries(id);
        check_tells_nobody("a kept answer", &Value::from(deliveries.clone()).to_string());
        deliveries.iter().all(|one| one["state"] == "delivered").then_some(())
    });
}

fn the_console_tells_nobody(app: &TestApp, id: &str) {
    let owner = Visitor::signed_in(app, &Account::create(app, "shop", "dona@loja.example", "owner"));
    check_tells_nobody("the console", &owner.page(&format!("/console/test/payments/{id}")));
    let file = owner.get("/console/test/payments.csv").text();
    let line = file.lines().find(|line| line.contains(id)).unwrap();
    check_tells_nobody("the export", line);
    let log = Visitor::operator(app).page("/audit");
    check_tells_nobody("the audit log", &log);
    assert!(log.contains("payer") || log.contains("pagador"), "{log}");
}

#[test]
fn whoever_has_the_payment_in_memory_neither_tells_nor_brings_back_who_paid() {
    let node = || TestApp::builder().arg("--idle-after", "1h").arg("--public-url", "http://127.0.0.1:1");
    let app = node().start();
    let receiver = talkative();
    let other = is_mongodb().then(|| node().store(app.store_url()).start());
    let client = app.client();
    let nodes: Vec<_> =
        std::iter::once(app.client()).chain(other.iter().map(|other| other.client_with(app.key()))).collect();
    let record = client.create(&of_somebody(pix(10_000), &receiver));
    let id = id_of(&record);
    let before = client.wait_for_status(id, "paid");
    receiver.wait_for_told(id, "paid", PATIENCE);
    nodes.iter().for_each(|node| drop(node.payment(id)));
    check_erased(
        &erase(&app, &["--transaction", id, "--paid-before", "0s"]),
        "erased 1, erased before 0, not finished 0",
    );
    nodes.iter().for_each(|node| check_is_masked(&before, &node.payment(id)));
    // Each writes once more what it has.
    for node in &nodes {
        let refund = node.post(&format!("/pay/payments/{id}/refunds"), &json!({"amount": 100})).expect(201);
        assert_eq!(refund["amount"], "1.00");
    }
    let refunded = format!("{}.00", nodes.len());
    eventually(PATIENCE, "the refunds are done", || {
        (client.payment(id)["refundedAmount"] == *refunded).then_some(())
    });
    nodes.iter().for_each(|node| check_tells_nobody("a record", &node.payment(id).to_string()));
    assert_eq!(found(&app, &format!("document={CPF}")), 0);
    client.post_empty(&format!("/sandbox/payments/{id}/chargeback")).expect(200);
    client.wait_for_status(id, "chargeback");
    let events = receiver.wait_for_told(id, "chargeback", PATIENCE);
    assert!(events.len() >= 3, "{events:?}");
    check_tells_nobody("a late event", &receiver.events_of(id).last().unwrap().json().to_string());
    assert_eq!(places_of_traces(&app), [], "in the store");
}

#[test]
fn an_erasure_that_was_killed_is_done_by_the_next() {
    let app = TestApp::new();
    let receiver = talkative();
    let client = app.client();
    let record = client.create(&of_somebody(pix(10_000), &receiver));
    client.wait_for_status(id_of(&record), "paid");
    receiver.wait_for_told(id_of(&record), "paid", PATIENCE);
    let many = 120;
    crate::support::copy_payment(app.store_url(), id_of(&record), many);
    let erase = ["privacy", "erase", "--document", CPF, "--paid-before", "0s"];
    let mut killed = 0;
    for wait in [30, 60, 120, 240] {
        let mut running = app.program(&erase).start("erase");
        pause(Duration::from_millis(wait));
        killed += usize::from(running.ended().is_none());
        running.kill();
    }
    assert!(killed > 0, "it is not over at once");
    let done = app.quita(&erase);
    assert_eq!(done.code, Some(0), "{done:?}");
    assert_eq!(found(&app, &format!("document={CPF}")), 0);
    let page = client.get("/pay/payments?limit=100").expect(200);
    assert_eq!(page["data"].as_array().unwrap().len(), 100);
    check_tells_nobody("a list", &page.to_string());
    assert_eq!(places_of_traces(&app), [], "in the store");
}

#[test]
fn what_was_kept_for_long_enough_is_erased_by_the_service() {
    let receiver = talkative();
    let mut app = TestApp::builder().env("QUITA_RETAIN_PERSONAL_DATA", "2y").start();
    let client = app.client();
    let made: Vec<_> = (0..2)
        .map(|_| {
            let record = client.create(&of_somebody(pix(10_000), &receiver));
            client.wait_for_status(id_of(&record), "paid");
            receiver.wait_for_told(id_of(&record), "paid", PATIENCE);
            id_of(&record).to_owned()
        })
        .collect();
    app.kill();
    paid_earlier(app.store_url(), &made[0], YEAR * 2);
    paid_earlier(app.store_url(), &made[1], YEAR);
    app.restart();
    let client = app.client();
    eventually(LOOKED_WITHIN, "the older one is erased", || {
        (client.payment(&made[0])["customer"]["document"] == "***********").then_some(())
    });
    assert_eq!(client.payment(&made[1])["customer"]["document"], CPF, "the other is kept");
    assert_eq!(found(&app, &format!("document={CPF}")), 1);
    let metrics = app.ops().get("/metrics").text();
    assert!(metrics.contains("quita_payers_erased_total 1"), "{metrics}");
    eventually(PATIENCE, "the log tells how many", || {
        app.log().contains("payers were erased at the end of their retention period").then_some(())
    });
}

#[test]
fn what_is_not_there_or_is_wrong_is_refused() {
    let app = TestApp::new();
    let unknown = erase(&app, &["--transaction", "00000000-0000-7000-8000-000000000000"]);
    assert!(unknown.code == Some(1) && unknown.stderr.contains("not found"), "{unknown:?}");
    check_erased(&erase(&app, &["--document", CPF]), "erased 0, erased before 0, not finished 0");
    let wrong = erase(&app, &["--document", "52998224726"]);
    assert!(wrong.code == Some(2) && wrong.stderr.contains("neither a CPF nor a CNPJ"), "{wrong:?}");
    let masked = erase(&app, &["--document", "***********"]);
    assert_eq!(masked.code, Some(2), "{masked:?}");
}
