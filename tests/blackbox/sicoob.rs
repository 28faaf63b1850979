//! Whole lives of boletos at the Sicoob of the tests: one title for each, whatever happens.

use std::collections::BTreeMap;
use std::time::Duration;

use quita_banks::Counterparty as _;
use quita_banks::server::{Options, Served};
use quita_banks::sicoob::{Account, Config, SicoobBank, Status};
use quita_domain::boleto::business_day;
use serde_json::{Value, json};
use tempfile::TempDir;

use crate::support::{Client, Edit, Finished, PATIENCE, TestApp, boleto, eventually, paid_earlier, today};

/// Longer than the first questions about a charge of unknown outcome.
const SLOW: Duration = Duration::from_secs(40);

/// Longer than a boleto that was paid may take to be listed.
const LISTED_WITHIN: Duration = Duration::from_secs(61 * 60);

/// Time after which the bank calls back, so that it can be told where the service listens.
const CALLS_AFTER_MS: i64 = 3_000;

/// `codigoSituacao` of an address that answered its validation.
const VALIDATED: u64 = 2;

const DAY_MS: i64 = 24 * 60 * 60 * 1_000;

/// A bank, and a service whose live keys reach it.
struct World {
    bank: Served<SicoobBank>,
    app: TestApp,
    client: Client,
    files: TempDir,
}

impl World {
    fn open() -> Self {
        Self::with("1-1000000", json!({}))
    }

    /// With these numbers, and a bank whose ways are changed so.
    fn with(numbers: &str, changes: Value) -> Self {
        Self::with_keys(&format!("our-numbers = '{numbers}'"), changes)
    }

    /// With these keys about numbers.
    fn with_keys(keys: &str, changes: Value) -> Self {
        let config = Config::default().changed(&changes).unwrap();
        let bank = Served::start_with(SicoobBank::new(config), Options::default()).unwrap();
        let url = bank.url();
        let table = format!(
            "public-url = 'https://pay.example'\n\
             [[acquirer]]\nname = 'sicoob'\nadapter = 'sicoob'\ntime-out = '2s'\n\
             base-url = '{url}/cobranca-bancaria/v3'\ntoken-url = '{url}/token'\nclient-id = 'id'\n\
             customer = 25546454\naccount = 123456\n{keys}\n\
             boleto = {{ assignor = 'Loja Exemplo', identification = '11222333000181' }}\n"
        );
        let files = tempfile::tempdir().unwrap();
        let path = files.path().join("quita.toml");
        std::fs::write(&path, table).unwrap();
        let app = TestApp::builder().arg("--config", path.to_str().unwrap()).start();
        let forward = json!({ "to": app.url() });
        assert_eq!(Client::new(&bank.control_url(), None).post("/forward", &forward).status, 200);
        let key = app.create_key(&["--merchant", "shop", "--mode", "live"]);
        let client = app.client_with(&key);
        Self { bank, app, client, files }
    }

    #[track_caller]
    fn tell(&self, command: &Value) {
        let now_ms = self.bank.now_ms();
        let told = self.bank.with(|bank| bank.control(command, now_ms));
        assert!(told.get("error").is_none(), "{command}: {told}");
    }

    fn titles(&self) -> BTreeMap<u64, Account> {
        let now_ms = self.bank.now_ms();
        self.bank.with(|bank| bank.books(now_ms))
    }

    fn calls(&self, name: &str) -> u64 {
        self.bank.with(|bank| bank.calls().get(name).copied().unwrap_or_default())
    }

    /// Creates a boleto, and returns its record once the bank has registered it.
    #[track_caller]
    fn registered(&self, request: &Value) -> Value {
        let record = self.client.create(request);
        assert_eq!(
            (&record["status"], &record["acquirer"]),
            (&json!("pending"), &json!("sicoob")),
            "{record}"
        );
        record
    }

    /// Calls the program with the service's store and configuration.
    fn call(&self, arguments: &[&str]) -> Finished {
        let config = self.files.path().join("quita.toml");
        self.app.program(&[arguments, &["--config", config.to_str().unwrap()]].concat()).run()
    }

    fn exceptions(&self, id: &str) -> Vec<String> {
        let all = self.app.ops().get("/ops/exceptions").expect(200);
        let of_payment = |entry: &&Value| entry["transactionId"] == id;
        let entries = all["data"].as_array().unwrap().iter().filter(of_payment);
        entries.map(|entry| entry["kind"].as_str().unwrap().to_owned()).collect()
    }
}

fn id_of(record: &Value) -> String {
    record["transactionId"].as_str().unwrap().to_owned()
}

fn number_of(record: &Value) -> u64 {
    record["acquirerReference"]["ourNumber"].as_str().unwrap().parse().unwrap()
}

/// A bank that calls back as soon as it can.
fn calling_back() -> World {
    calling_back_with("our-numbers = '1-1000000'", json!({}))
}

/// With these keys about numbers, at a bank that also has these ways.
fn calling_back_with(keys: &str, further: Value) -> World {
    let mut ways = json!({ "callbacks": { "afterMs": CALLS_AFTER_MS }, "fixedTokens": ["t"] });
    for (name, way) in further.as_object().unwrap() {
        ways[name] = way.clone();
    }
    let world = World::with_keys(keys, ways);
    let at_bank = Client::new(&world.bank.url(), None);
    eventually(PATIENCE, "the bank has validated our address", || {
        let headers = [("authorization", "Bearer t"), ("client_id", "id")];
        let known = at_bank.send("GET", "/cobranca-bancaria/v3/webhooks", &headers, b"");
        (known.status == 200 && known.json()["resultado"][0]["codigoSituacao"] == VALIDATED).then_some(())
    });
    world
}

#[test]
fn a_boleto_is_registered_and_paid_by_its_bar_code_after_a_callback() {
    let world = calling_back();
    let record = world.registered(&boleto(10_010));
    let id = id_of(&record);
    let number = number_of(&record);
    let title = &world.titles()[&number];
    assert_eq!(record["acquirerReference"]["yourNumber"], json!(title.your_number), "{record}");
    assert_eq!((title.amount_cents, title.your_number.len()), (10_010, 18));
    assert!(record["boleto"]["pixCode"].is_string(), "{record}");
    world.tell(&json!({ "do": "pay", "number": number }));
    let paid = world.client.wait_for_status_within(PATIENCE, &id, "paid");
    assert_eq!(paid["boleto"]["paidAmount"], "100.10", "{paid}");
    assert_eq!(paid["boleto"]["endToEndId"], Value::Null);
    assert_eq!(world.client.history(&id), ["pending", "paid"]);
    assert_eq!(world.exceptions(&id), Vec::<String>::new());
    let metrics = world.app.ops().get("/metrics").text();
    assert!(metrics.contains(r#"quita_notices_total{acquirer="sicoob",outcome="taken"} 1"#), "{metrics}");
    assert!(metrics.contains(r#"quita_acquirer_numbers_left{acquirer="sicoob"} 999999"#), "{metrics}");
}

#[test]
fn an_address_that_the_bank_gives_up_at_once_is_registered_again_within_seconds() {
    let callbacks = json!({ "afterMs": 100, "firstValidationFails": true });
    let world = calling_back_with("our-numbers = '1-1000000'", json!({ "callbacks": callbacks }));
    let registered = "our callback address was registered at the bank";
    assert_eq!(world.app.log().matches(registered).count(), 2, "{}", world.app.log());
}

#[test]
fn a_boleto_is_paid_by_its_pix_code() {
    let world = calling_back();
    let record = world.registered(&boleto(10_000));
    world.tell(&json!({ "do": "pay", "number": number_of(&record), "by": "pix" }));
    let paid = world.client.wait_for_status_within(PATIENCE, &id_of(&record), "paid");
    assert_eq!(paid["boleto"]["paidAmount"], "100.00", "{paid}");
}

#[test]
fn a_boleto_that_is_paid_late_costs_fine_and_interest_there_too() {
    let world = calling_back();
    let request = boleto(10_000)
        .with("dueDate", json!(today().to_string()))
        .with("fine", json!({ "amount": 150 }))
        .with("interest", json!({ "amountPerDay": 10 }));
    let record = world.registered(&request);
    world.bank.advance(8 * DAY_MS);
    world.tell(&json!({ "do": "pay", "number": number_of(&record) }));
    let paid = world.client.wait_for_status_within(PATIENCE, &id_of(&record), "paid");
    assert_eq!(paid["boleto"]["paidAmount"], "102.30", "{paid}");
    assert_eq!(paid["refundedAmount"], "0.00");
    assert_eq!(world.exceptions(&id_of(&record)), Vec::<String>::new());
}

#[test]
fn a_charge_whose_answer_was_lost_is_asked_for_by_its_number_and_leaves_one_title() {
    let world = World::open();
    world.registered(&boleto(10_000));
    world.tell(&json!({ "do": "faults", "next": [{ "fault": "reset-after" }] }));
    let id = id_of(&world.client.create(&boleto(20_000)));
    let record = world.client.wait_for_status_within(SLOW, &id, "pending");
    assert_eq!(number_of(&record), 2, "{record}");
    let amounts: Vec<_> = world.titles().values().map(|title| title.amount_cents).collect();
    assert_eq!((amounts, world.calls("POST /boletos")), (vec![10_000, 20_000], 2));
}

#[test]
fn a_charge_that_never_arrived_is_sent_again_under_the_same_number() {
    let world = World::open();
    world.registered(&boleto(10_000));
    world.tell(&json!({ "do": "faults", "next": [{ "fault": "reset-before" }] }));
    let id = id_of(&world.client.create(&boleto(20_000)));
    let record = world.client.wait_for_status_within(2 * SLOW, &id, "pending");
    assert_eq!((number_of(&record), world.titles().len()), (2, 2), "{record}");
}

#[test]
fn a_boleto_is_withdrawn_at_the_bank() {
    let world = World::open();
    let record = world.registered(&boleto(10_000));
    let cancelled = world.client.post_empty(&format!("/pay/payments/{}/cancel", id_of(&record)));
    assert_eq!((cancelled.status, &cancelled.json()["status"]), (200, &json!("cancelled")), "{cancelled}");
    assert_eq!(world.titles()[&number_of(&record)].status, Status::WrittenOff);
}

#[test]
fn a_paid_boleto_is_not_refunded_and_nothing_of_it_is_stored() {
    let world = calling_back();
    let record = world.registered(&boleto(10_000));
    let id = id_of(&record);
    let refund = format!("/pay/payments/{id}/refunds");
    world.client.post(&refund, &json!({})).expect_error(409, "status_conflict");
    world.tell(&json!({ "do": "pay", "number": number_of(&record) }));
    world.client.wait_for_status_within(PATIENCE, &id, "paid");
    for _ in 0..2 {
        let refused = world.client.post_once(&refund, "same-key", &json!({ "amount": 100 }));
        refused.expect_error(409, "refund_unsupported");
    }
    assert_eq!(world.client.payment(&id)["refunds"], json!([]));
    assert_eq!(world.client.history(&id), ["pending", "paid"]);
}

#[test]
fn a_number_of_another_program_is_skipped_and_reported_once() {
    let world = World::open();
    world.registered(&boleto(10_000));
    world.tell(&json!({ "do": "take_number", "number": 2 }));
    let id = id_of(&world.client.create(&boleto(20_000)));
    let record = world.client.wait_for_status_within(PATIENCE, &id, "pending");
    assert_eq!(number_of(&record), 3, "{record}");
    let kinds = eventually(PATIENCE, "the exception is stored", || {
        Some(world.exceptions(&id)).filter(|kinds| !kinds.is_empty())
    });
    assert_eq!(kinds, ["number_taken"]);
}

#[test]
fn a_boleto_whose_pix_code_was_not_made_can_be_paid_and_is_reported_once() {
    let world = World::with("1-1000000", json!({ "pixCode": "rejected" }));
    let record = world.registered(&boleto(10_000));
    assert_eq!(record["boleto"]["pixCode"], Value::Null, "{record}");
    let id = id_of(&record);
    let kinds = eventually(PATIENCE, "the exception is stored", || {
        Some(world.exceptions(&id)).filter(|kinds| !kinds.is_empty())
    });
    assert_eq!(kinds, ["pix_code_missing"]);
}

#[test]
fn numbers_that_are_used_up_end_the_acquirer_and_operators_are_warned_before() {
    let world = World::with("7-8", json!({}));
    assert_eq!(number_of(&world.registered(&boleto(10_000))), 7);
    assert_eq!(number_of(&world.registered(&boleto(10_000))), 8);
    world.client.post("/pay/payments", &boleto(10_000)).expect_error(422, "method_unavailable");
    let all = world.app.ops().get("/ops/exceptions").expect(200);
    let kinds: Vec<_> = all["data"].as_array().unwrap().iter().map(|entry| entry["kind"].clone()).collect();
    assert_eq!(kinds, [json!("numbers_low")], "{all}");
}

#[test]
fn a_callback_of_a_payment_that_nobody_made_changes_nothing() {
    let world = calling_back();
    let record = world.registered(&boleto(10_000));
    let id = id_of(&record);
    let reads = world.calls("GET /boletos");
    world.tell(&json!({ "do": "forge", "number": number_of(&record) }));
    eventually(PATIENCE, "the bank is asked", || (world.calls("GET /boletos") > reads).then_some(()));
    assert_eq!(world.client.payment(&id)["status"], "pending");
    let stranger = Client::new(&world.app.url(), None);
    let body = json!({ "idWebhook": 1, "validacaoWebhook": true });
    assert_eq!(stranger.post("/acquirers/sicoob/notifications/guessed", &body).status, 404);
}

#[test]
fn doctor_holds_our_numbers_against_the_ranges_of_the_bank() {
    for (numbers, has_digit, says) in [
        ("1-1000000", false, None),
        ("10000000-10000001", false, Some("ranges: 1-9999999")),
        ("1-1000000", true, Some("set our-number-digit = true, and cooperative")),
    ] {
        let world = World::with(numbers, json!({ "numbersHaveDigit": has_digit }));
        let doctor = world.call(&["doctor"]);
        let words = doctor.said().split_whitespace().collect::<Vec<_>>().join(" ");
        match says {
            None => assert!(doctor.code == Some(0) && !words.contains("our-numbers"), "{doctor:?}"),
            Some(says) => assert!(doctor.code == Some(1) && words.contains(says), "{says}: {doctor:?}"),
        }
    }
}

#[test]
fn boletos_have_their_check_digit_where_the_bank_wants_one() {
    let keys = "our-numbers = '1-1000000'\nour-number-digit = true\ncooperative = 4027";
    let world = calling_back_with(keys, json!({ "numbersHaveDigit": true }));
    assert_eq!(world.call(&["doctor"]).code, Some(0));
    let record = world.registered(&boleto(10_000));
    let number = number_of(&record);
    assert_eq!(number / 10, 1, "{record}");
    world.tell(&json!({ "do": "faults", "next": [{ "fault": "reset-after" }] }));
    let lost = world.client.create(&boleto(10_000));
    world.client.wait_for_status_within(SLOW, &id_of(&lost), "pending");
    assert_eq!(world.titles().len(), 2);
    world.tell(&json!({ "do": "pay", "number": number }));
    world.client.wait_for_status_within(PATIENCE, &id_of(&record), "paid");
    let day = today().to_string();
    let list = ["reconcile", "--acquirer", "sicoob", "--since", &day, "--until", &day, "--json"];
    let compared = world.call(&list);
    let report: Value = serde_json::from_str(&compared.stdout).unwrap();
    let line = &report["lines"][0];
    assert_eq!(
        (&line["verdict"], &line["reference"]),
        (&json!("matched"), &json!(number.to_string())),
        "{report:#}"
    );
}

#[test]
fn the_movements_of_a_day_are_compared_with_its_payments() {
    let world = calling_back();
    let record = world.registered(&boleto(10_000));
    world.tell(&json!({ "do": "pay", "number": number_of(&record) }));
    world.client.wait_for_status_within(PATIENCE, &id_of(&record), "paid");
    let day = today().to_string();
    let list = ["reconcile", "--acquirer", "sicoob", "--since", &day, "--until", &day, "--json"];
    let compared = world.call(&list);
    assert_eq!(compared.code, Some(0), "{compared:?}");
    let report: Value = serde_json::from_str(&compared.stdout).unwrap();
    let expected = json!({
        "verdict": "matched", "transactionId": id_of(&record), "kind": "boleto", "reference": "1",
        "gross": "100.00", "fee": "0.75", "net": "99.25", "on": day, "instalment": null, "paidOutOn": null,
        "expectedOn": today().succ_opt().unwrap().to_string(),
        "difference": null,
    });
    assert_eq!(report["lines"], json!([expected]), "{report:#}");
}

#[test]
fn a_paid_boleto_that_the_movements_lack_is_missed_until_they_have_it() {
    let mut world = calling_back();
    let record = world.registered(&boleto(10_000));
    let id = id_of(&record);
    let number = number_of(&record);
    world.tell(&json!({ "do": "unlist", "number": number }));
    world.tell(&json!({ "do": "pay", "number": number }));
    world.client.wait_for_status_within(PATIENCE, &id, "paid");
    // On a weekend nothing is expected in the list of the day.
    let on = if business_day::is_business_day(today()) { today() } else { business_day::before(today()) };
    let compared = |world: &World| {
        let since = on.pred_opt().unwrap().to_string();
        let until = today().to_string();
        let list = ["reconcile", "--acquirer", "sicoob", "--since", &since, "--until", &until, "--json"];
        let compared = world.call(&list);
        (compared.code, serde_json::from_str::<Value>(&compared.stdout).unwrap()["lines"].clone())
    };
    assert_eq!(compared(&world), (Some(0), json!([])), "it may not be listed yet");
    world.app.kill();
    let days = u64::try_from(today().signed_duration_since(on).num_days()).unwrap();
    paid_earlier(world.app.store_url(), &id, LISTED_WITHIN + Duration::from_secs(days * 86_400));
    world.app.restart();
    let reads = world.calls("GET /boletos");
    let (code, lines) = compared(&world);
    let line = &lines[0];
    assert_eq!(
        (code, &line["verdict"], &line["transactionId"]),
        (Some(1), &json!("missing_there"), &json!(id))
    );
    assert_eq!((&line["kind"], &line["reference"]), (&json!("boleto"), &json!(number.to_string())));
    assert_eq!((&line["gross"], &line["net"]), (&json!("100.00"), &Value::Null));
    assert!(world.calls("GET /boletos") > reads, "the bank is asked first");
    assert_eq!(compared(&world).1, lines, "comparing again changes nothing");
    assert_eq!(world.exceptions(&id), ["missing_there"]);
    world.tell(&json!({ "do": "relist", "number": number }));
    for _ in 0..2 {
        let (code, lines) = compared(&world);
        assert_eq!(code, Some(0), "{lines:#}");
        let verdicts: Vec<_> =
            lines.as_array().unwrap().iter().map(|line| (&line["verdict"], &line["transactionId"])).collect();
        assert!(verdicts.iter().all(|told| *told == (&json!("matched"), &json!(id))), "{lines:#}");
        assert!(!verdicts.is_empty());
    }
    assert_eq!(world.exceptions(&id), ["missing_there"], "a person ends it");
}
