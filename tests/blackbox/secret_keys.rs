//! Secret keys: what they protect in the store, and how they are changed while payments go on.

use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::Duration;

use serde_json::{Value, json};

use crate::support::{
    Account, Authenticator, Edit, PATIENCE, Program, TestApp, TestReceiver, Visitor, eventually, is_mongodb,
    pause, pix, signature_of,
};

const VARIABLE: &str = "QUITA_SECRET_KEY";
const OLD: &str = "an-old-secret-key-that-is-long-enough-for-anybody";
const NEW: &str = "a-new-secret-key-that-is-long-enough-for-anybody!";

/// The new one in front of the old one.
fn both() -> String {
    format!("{NEW}\n{OLD}")
}

fn with_key(key: &str) -> TestApp {
    TestApp::builder().env(VARIABLE, key).start()
}

fn id_of(record: &Value) -> &str {
    record["transactionId"].as_str().unwrap()
}

/// The path of the payer's page.
fn page_of(app: &TestApp, record: &Value) -> String {
    let path = record["pix"]["qrCode"].as_str().unwrap().strip_prefix(&app.url()).unwrap();
    path.trim_end_matches(".png").to_owned()
}

/// Waits for the first event of a payment, and checks that this secret signed it.
fn check_signed(receiver: &TestReceiver, id: &str, secret: &str) {
    let event = receiver.wait_for_events(id, 1, PATIENCE).remove(0);
    let signatures = event.header("webhook-signature").unwrap();
    assert!(signatures.split(' ').any(|one| one == signature_of(&event, secret)), "{signatures}");
}

#[test]
fn no_webhook_secret_can_be_read_in_the_store() {
    let app = with_key(OLD);
    let secret = app.secret();
    let bare = secret.strip_prefix("whsec_").unwrap();
    let rotated = app.quita(&["secrets", "rotate", "--merchant", "shop"]).output();
    let bytes = app.store_bytes();
    assert!(bytes.iter().map(|(_, bytes)| bytes.len()).sum::<usize>() > 1_000, "the store was read");
    for text in [bare, rotated.lines().next().unwrap().strip_prefix("whsec_").unwrap()] {
        let holds =
            |(_, bytes): &&(String, Vec<u8>)| bytes.windows(text.len()).any(|part| part == text.as_bytes());
        let found: Vec<_> = bytes.iter().filter(holds).map(|(place, _)| place).collect();
        assert!(found.is_empty(), "{found:?}");
    }
}

#[test]
fn what_an_old_key_made_is_found_signed_and_shown_under_a_new_one() {
    let receiver = TestReceiver::start();
    let mut app = with_key(OLD);
    let request = pix(10_027).with("postbackUrl", json!(receiver.url()));
    let first = app.client().post_once("/pay/payments", "order-1", &request).expect(201);
    let page = page_of(&app, &first);
    let secret = app.secret();
    check_signed(&receiver, id_of(&first), &secret);
    // Both keys: the store goes on with the old one until it is told.
    app.restart_with(VARIABLE, &both());
    let replayed = app.client().post_once("/pay/payments", "order-1", &request);
    assert_eq!(id_of(&replayed.expect(200)), id_of(&first));
    let said = app.quita(&["secrets", "rewrap"]);
    assert!(said.code == Some(0) && said.stderr.contains("4 of "), "{said:?}");
    assert_eq!(app.client_without_key().get(&page).status, 200, "an old payer's page");
    assert_eq!(app.secret(), secret);
    // Every node heeds it by now.
    pause(Duration::from_secs(3));
    let second = app.client().post_once("/pay/payments", "order-2", &request).expect(201);
    check_signed(&receiver, id_of(&second), &secret);
    let new_page = page_of(&app, &second);
    // The new one alone.
    app.restart_with(VARIABLE, NEW);
    for (key, record) in [("order-1", &first), ("order-2", &second)] {
        let replayed = app.client().post_once("/pay/payments", key, &request);
        assert_eq!(id_of(&replayed.expect(200)), id_of(record), "{key}");
    }
    assert_eq!(app.secret(), secret);
    let third = app.client().post_once("/pay/payments", "order-3", &request).expect(201);
    check_signed(&receiver, id_of(&third), &secret);
    assert_eq!(app.client_without_key().get(&new_page).status, 200, "the page of a payment after the change");
    assert_eq!(app.client_without_key().get(&page).status, 404, "who has the old key alone opens nothing");
}

#[test]
fn a_second_factor_is_taken_along_to_a_new_key() {
    let Some(authenticator) = Authenticator::open() else { return };
    let mut app = with_key(OLD);
    let ana = Account::create(&app, "shop", "ana@shop.example", "owner");
    let set_up = Visitor::signed_in(&app, &ana);
    let (secret, recovery_codes) = set_up.set_up_factor(|secret| authenticator.code(secret, 0));
    app.restart_with(VARIABLE, &both());
    app.quita(&["secrets", "rewrap"]).output();
    app.restart_with(VARIABLE, NEW);
    for code in [&authenticator.code(&secret, 1), &recovery_codes[0]] {
        let owner = Visitor::new(&app);
        assert_eq!(owner.sign_in(&ana.email, &ana.password, "").status, 303);
        assert_eq!(owner.give_code(code, "").status, 303, "{code}");
        assert_eq!(owner.get("/console/test").status, 200);
    }
}

#[test]
fn a_service_without_the_key_of_its_store_does_not_start_and_says_which_is_missing() {
    let mut app = with_key(OLD);
    app.client().create(&pix(10_027));
    app.kill();
    let arguments = ["serve", "--listen", "127.0.0.1:0", "--ops-listen", "127.0.0.1:0"];
    let refused = app.program(&arguments).env(VARIABLE, NEW).run();
    assert_eq!(refused.code, Some(2), "a restart mends nothing: {refused:?}");
    for part in
        ["the store uses the secret key", "if the keys were not changed on purpose", "after the newest one"]
    {
        assert!(refused.stderr.contains(part), "{part}: {refused:?}");
    }
    let doctor = app.program(&["doctor"]).env(VARIABLE, NEW).run();
    assert!(doctor.said().contains("the store uses the secret key"), "{doctor:?}");
    let shown = app.program(&["secrets", "show", "--merchant", "shop"]).env(VARIABLE, NEW).run();
    assert!(shown.code == Some(1) && shown.stderr.contains("add that key"), "{shown:?}");
    app.restart();
}

#[test]
fn a_command_with_another_key_changes_nothing_of_a_service_on_the_public_one() {
    let receiver = TestReceiver::start();
    let app = TestApp::new();
    let secret = app.secret();
    let rotated = app.program(&["secrets", "rotate", "--merchant", "shop"]).env(VARIABLE, NEW).run();
    assert_eq!(rotated.code, Some(1), "{rotated:?}");
    for part in ["the public key of development", "start the service with that key first", "without a key"] {
        assert!(rotated.stderr.contains(part), "{part}: {rotated:?}");
    }
    let address = app.program(&["secrets", "notification", "sandbox"]).env(VARIABLE, NEW).run();
    assert!(address.code == Some(1) && address.stdout.is_empty(), "{address:?}");
    let doctor = app.program(&["doctor"]).env(VARIABLE, NEW).run();
    assert!(doctor.said().contains("on its first start"), "{doctor:?}");
    assert_eq!(app.secret(), secret);
    let record = app.client().create(&pix(10_027).with("postbackUrl", json!(receiver.url())));
    check_signed(&receiver, id_of(&record), &secret);
}

#[test]
fn what_authenticates_notices_is_made_with_the_key_of_the_store() {
    // In the end the service has only the old key, and soon notices that.
    let app = TestApp::builder().env(VARIABLE, OLD).expects_errors().start();
    let print = |key: &str| app.program(&["secrets", "notification", "sandbox"]).env(VARIABLE, key).run();
    let with_old = print(OLD).output();
    assert_eq!(print(&both()).output(), with_old, "the service makes new things with it until it is told");
    let refused = print(NEW);
    assert!(refused.code == Some(1) && refused.stdout.is_empty(), "{refused:?}");
    app.program(&["secrets", "rewrap"]).env(VARIABLE, &both()).run().output();
    assert_ne!(print(&both()).output(), with_old);
}

#[test]
fn keys_are_changed_beside_a_service_that_takes_payments() {
    let receiver = TestReceiver::start();
    let app = with_key(&both());
    let secret = app.secret();
    let request = pix(10_027).with("postbackUrl", json!(receiver.url()));
    let is_over = AtomicBool::new(false);
    let made = thread::scope(|scope| {
        let creating = scope.spawn(|| {
            let client = app.client();
            let mut made = Vec::new();
            while !is_over.load(Ordering::SeqCst) {
                made.push(client.create(&request));
            }
            made
        });
        for _ in 0..3 {
            app.quita(&["secrets", "rewrap"]).output();
        }
        // Every node heeds it by now.
        pause(Duration::from_secs(3));
        is_over.store(true, Ordering::SeqCst);
        creating.join().unwrap()
    });
    assert!(made.len() > 10, "{}", made.len());
    for record in [&made[0], &made[made.len() - 1]] {
        check_signed(&receiver, id_of(record), &secret);
        assert_eq!(app.client_without_key().get(&page_of(&app, record)).status, 200);
    }
    let doctor = app.quita(&["doctor"]);
    assert!(!doctor.said().contains("older key"), "{doctor:?}");
}

#[test]
fn two_nodes_in_the_middle_of_a_change_make_one_payment_of_one_idempotency_key() {
    if !is_mongodb() {
        println!("skipped: an SQLite file belongs to one service");
        return;
    }
    let before = TestApp::builder().env(VARIABLE, OLD).expects_errors().start();
    let after = TestApp::builder().env(VARIABLE, &both()).store(before.store_url()).start();
    let here = before.client();
    let there = after.client_with(before.key());
    let first = here.post_once("/pay/payments", "order-1", &pix(10_027)).expect(201);
    assert_eq!(id_of(&there.post_once("/pay/payments", "order-1", &pix(10_027)).expect(200)), id_of(&first));
    let second = there.post_once("/pay/payments", "order-2", &pix(10_027)).expect(201);
    assert_eq!(id_of(&here.post_once("/pay/payments", "order-2", &pix(10_027)).expect(200)), id_of(&second));
    after.quita(&["secrets", "rewrap"]).output();
    // The node that was forgotten makes nothing new, says so, and still knows what there is.
    eventually(PATIENCE, "the node without the new key refuses", || {
        (here.post("/pay/payments", &pix(10_027)).status == 503).then_some(())
    });
    here.post("/pay/payments", &pix(10_027)).expect_error(503, "secret_key_missing");
    assert_eq!(id_of(&here.post_once("/pay/payments", "order-2", &pix(10_027)).expect(200)), id_of(&second));
    let third = there.post_once("/pay/payments", "order-3", &pix(10_027)).expect(201);
    assert_eq!(id_of(&here.post_once("/pay/payments", "order-3", &pix(10_027)).expect(200)), id_of(&third));
    assert!(before.log().contains("new payments are refused on this node"));
}

#[test]
fn a_store_of_development_is_taken_along_to_a_key_of_its_own() {
    let mut app = TestApp::new();
    let first = app.client().post_once("/pay/payments", "order-1", &pix(10_027)).expect(201);
    let secret = app.secret();
    app.restart_with(VARIABLE, NEW);
    let replayed = app.client().post_once("/pay/payments", "order-1", &pix(10_027));
    assert_eq!(id_of(&replayed.expect(200)), id_of(&first));
    assert_eq!(app.secret(), secret);
    // By then nothing is sealed with the key that everybody knows.
    eventually(PATIENCE, "the secrets are sealed anew", || {
        app.log().contains("are now encrypted").then_some(())
    });
    let known = "quita-development-key-known-to-everybody";
    let program = Program::new(app.directory(), ["secrets", "show", "--merchant", "shop"]);
    let shown = program.env("QUITA_STORE", app.store_url()).env(VARIABLE, known).run();
    assert!(shown.code == Some(1), "{shown:?}");
    // The keys that derive ids stay: a person has to know that before production.
    let told = |app: &TestApp, environment| {
        let doctor = app.program(&["doctor", "--environment", environment]).env(VARIABLE, NEW).run();
        doctor.stdout.contains("was created with the public development key")
    };
    assert!(told(&app, "production") && !told(&app, "development"));
    assert!(!told(&with_key(NEW), "production"));
}
