//! SIGHUP: shares, secrets and certificates are read anew; what is wrong changes nothing.

use std::fs;
use std::path::PathBuf;

use rcgen::{CertificateParams, KeyPair, date_time_ymd};
use serde_json::json;
use tempfile::TempDir;

use crate::support::{PATIENCE, TestApp, Visitor, eventually, pix, sign};

/// A configuration that the test may write anew.
struct Files(TempDir);

impl Files {
    fn new() -> Self {
        Self(tempfile::tempdir().unwrap())
    }

    fn path(&self, name: &str) -> PathBuf {
        self.0.path().join(name)
    }

    fn write(&self, name: &str, content: &str) {
        fs::write(self.path(name), content).unwrap();
    }

    /// A service with this configuration. Its log may hold errors: what is refused is one.
    fn serve(&self, configuration: &str) -> TestApp {
        self.write("quita.toml", configuration);
        let path = self.path("quita.toml");
        TestApp::builder().arg("--config", path.to_str().unwrap()).expects_errors().start()
    }

    /// A certificate that lasts until the first day of this year, and its key.
    fn write_certificate(&self, until: i32) -> String {
        let key = KeyPair::generate().unwrap();
        let mut params = CertificateParams::new(vec!["quita".into()]).unwrap();
        params.not_after = date_time_ymd(until, 1, 1);
        self.write("bank.pem", &params.self_signed(&key).unwrap().pem());
        key.serialize_pem()
    }
}

fn metric(app: &TestApp, series: &str) -> Option<i64> {
    let metrics = app.ops().get("/metrics").text();
    let line = metrics.lines().find_map(|line| line.strip_prefix(series))?;
    line.trim().parse().ok()
}

fn reloads(app: &TestApp, outcome: &str) -> i64 {
    metric(app, &format!("quita_config_reloads_total{{outcome=\"{outcome}\"}}")).unwrap()
}

/// Has the configuration read anew, which ends in this way.
fn hang_up(app: &TestApp, outcome: &str) {
    let before = reloads(app, outcome);
    app.signal("HUP");
    eventually(PATIENCE, "the configuration was read", || {
        (reloads(app, outcome) == before + 1).then_some(())
    });
}

fn taker(app: &TestApp) -> String {
    app.client().create(&pix(10_000))["acquirer"].as_str().unwrap().to_owned()
}

fn two(first: &str, second: &str) -> String {
    let table =
        |name: &str, keys: &str| format!("[[acquirer]]\nname = '{name}'\nadapter = 'sandbox'\n{keys}\n");
    format!("{}{}", table("a", first), table("b", second))
}

#[test]
fn priorities_are_taken_and_what_wants_a_restart_is_left_as_it_was() {
    let files = Files::new();
    let app = files.serve(&two("", "priority = 2"));
    assert_eq!(taker(&app), "a");
    hang_up(&app, "unchanged");
    files.write("quita.toml", &two("priority = 3", "priority = 2\nmin-amount = 20000"));
    hang_up(&app, "applied");
    assert_eq!(taker(&app), "b", "the other priority is taken, the other amount is not");
    // Again the same, besides a new acquirer: only a restart would help.
    let more = "[[acquirer]]\nname = 'c'\nadapter = 'sandbox'\npriority = 0\n";
    files.write("quita.toml", &format!("{}{more}", two("priority = 3", "priority = 2\nmin-amount = 20000")));
    hang_up(&app, "unchanged");
    assert_eq!(taker(&app), "b");
    let log = app.log();
    for told in ["other keys of it have changed", "it is new"] {
        assert!(log.contains(told), "{told}");
    }
}

#[test]
fn what_waits_for_a_restart_is_told_by_name() {
    let files = Files::new();
    let first = "idle-after = '3s'\nrate-limit = 50\n";
    let app = files.serve(&format!("{first}{}", two("min-amount = 100", "priority = 2")));
    let second = "idle-after = '4s'\nrate-limit = 50\nmax-installments = 6\n";
    let changed = two("max-amount = 20000\npriority = 3\nweight = 2", "priority = 2");
    files.write("quita.toml", &format!("{second}{changed}"));
    hang_up(&app, "applied");
    let log = app.log();
    let line = |told: &str| log.lines().find(|line| line.contains(told)).unwrap_or_else(|| panic!("{log}"));
    let acquirers = line("other keys of it have changed");
    assert!(acquirers.contains("max-amount, min-amount") && !acquirers.contains("priority"), "{acquirers}");
    let options = line("options other than those of acquirers");
    assert!(options.contains("idle-after, max-installments"), "{options}");
    assert!(!options.contains("rate-limit"), "{options}");
}

#[test]
fn secret_keys_that_cannot_serve_the_store_are_refused_before_the_next_start_is() {
    let files = Files::new();
    let [old, new] =
        ["an-old-secret-key-that-is-long-enough-for-it", "a-new-secret-key-that-is-long-enough-for-it!"];
    files.write("key", old);
    let path = files.path("key");
    let app =
        TestApp::builder().env("QUITA_SECRET_KEY_FILE", path.to_str().unwrap()).expects_errors().start();
    files.write("key", new);
    hang_up(&app, "refused");
    let log = app.log();
    let line = log.lines().find(|line| line.contains("uses a secret key")).expect(&log);
    assert!(line.contains("\"level\":\"ERROR\""), "{line}");
    assert!(!log.contains("the configuration was reloaded"), "{log}");
    files.write("key", &format!("{new}\n{old}"));
    hang_up(&app, "unchanged");
}

#[test]
fn a_configuration_with_one_mistake_is_refused_whole() {
    let files = Files::new();
    let app = files.serve(&two("", "priority = 2"));
    for wrong in ["colour = 'red'", "weight = 0"] {
        files.write("quita.toml", &two("priority = 3", wrong));
        hang_up(&app, "refused");
        assert_eq!(taker(&app), "a", "{wrong}");
    }
    fs::remove_file(files.path("quita.toml")).unwrap();
    hang_up(&app, "refused");
    assert_eq!(taker(&app), "a");
    assert!(app.log().contains("acquirer[b].colour: there is no such key"), "{}", app.log());
}

#[test]
fn a_secret_that_changed_on_disk_is_taken() {
    let files = Files::new();
    let [old, new] =
        ["whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw", "whsec_AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA"];
    files.write("secret", old);
    let app =
        files.serve("[[acquirer]]\nname = 'a'\nadapter = 'sandbox'\nnotification-secret-file = 'secret'\n");
    let record = app.client().create(&pix(10_027));
    let created_at = chrono::DateTime::parse_from_rfc3339(record["createdAt"].as_str().unwrap()).unwrap();
    let notice = |id: &str, secret: &str| {
        let body = json!({ "eventId": id, "transactionId": record["transactionId"], "fact": "expired" });
        let now = created_at.timestamp().to_string();
        let signature = sign(secret, id, &now, body.to_string().as_bytes());
        let headers = [("webhook-id", id), ("webhook-timestamp", &*now), ("webhook-signature", &*signature)];
        app.client_without_key().post_with("/acquirers/a/notifications", &headers, &body).status
    };
    assert_eq!((notice("e1", new), notice("e2", old)), (401, 200));
    files.write("secret", new);
    hang_up(&app, "applied");
    assert_eq!((notice("e3", old), notice("e4", new)), (401, 200));
}

#[test]
fn a_certificate_is_taken_with_its_key_and_not_without_it() {
    let files = Files::new();
    let key = files.write_certificate(2091);
    files.write("bank.key", &key);
    let app = files.serve(
        "[[acquirer]]\nname = 'bank'\nadapter = 'api_pix'\ntoken-auth = 'form-no-secret'\nclient-id = 'quita'\n\
         base-url = 'http://127.0.0.1:9/v2'\ntoken-url = 'http://127.0.0.1:9/token'\npix-key = 'a@b.example'\n\
         receiver-name = 'a'\nreceiver-city = 'b'\ncertificate-file = 'bank.pem'\nprivate-key-file = 'bank.key'\n",
    );
    let until =
        || metric(&app, "quita_acquirer_certificate_expires_timestamp_seconds{acquirer=\"bank\"}").unwrap();
    assert_eq!(until(), 3_818_448_000);
    let key = files.write_certificate(2092);
    hang_up(&app, "refused");
    assert_eq!(until(), 3_818_448_000);
    files.write("bank.key", &key);
    hang_up(&app, "applied");
    assert_eq!(until(), 3_849_984_000);
    assert!(app.log().contains("acquirer[bank].private-key-file: it is not the key of the certificate"));
    let key = files.write_certificate(2021);
    files.write("bank.key", &key);
    hang_up(&app, "refused");
    assert!(app.log().contains("acquirer bank: the new certificate has ended on 2021-01-01T00:00:00.000Z"));
    assert_eq!(app.ops().get("/health/ready").status, 200, "no bank has to be there");
}

#[test]
fn the_address_for_callbacks_is_the_same_at_each_node_and_another_in_each_epoch() {
    let files = Files::new();
    let bank = "[[acquirer]]\nname = 'bank'\nadapter = 'api_pix'\ntoken-auth = 'form-no-secret'\nclient-id = 'quita'\n\
                pix-key = 'a@b.example'\ndialect = 'efi'\n";
    let app = TestApp::new();
    let address = |epoch: &str, key: &str| {
        files.write("quita.toml", &format!("public-url = 'https://pay.example'\n{bank}{epoch}"));
        let path = files.path("quita.toml");
        let mut arguments = vec!["secrets", "notification", "bank", "--config", path.to_str().unwrap()];
        // The store works with another key.
        arguments.extend(["--store", "sqlite:none-yet.db"]);
        app.program(&arguments).env("QUITA_SECRET_KEY", key).run().output()
    };
    let [key, other] = ["k".repeat(40), "o".repeat(40)];
    let first = address("", &key);
    let token = first.strip_prefix("https://pay.example/acquirers/bank/notifications/").unwrap();
    assert!(token.strip_suffix("?ignorar=").unwrap().len() >= 32, "{first}");
    assert_eq!(address("notification-epoch = 1\n", &key), first);
    assert_ne!(address("notification-epoch = 2\n", &key), first);
    assert_ne!(address("", &other), first);
}

/// Everything on PIX goes to this acquirer.
fn all_to(acquirer: &str) -> String {
    format!("[[route]]\nname = 'all to {acquirer}'\nwhen = {{ method = 'pix' }}\nuse = ['{acquirer}']\n")
}

#[test]
fn routes_are_taken_as_a_whole_and_each_payment_says_which() {
    let files = Files::new();
    let app = files.serve(&two("", "priority = 2"));
    let routed = || {
        let record = app.client().create(&pix(10_027));
        let version = record["routing"]["version"].as_str().unwrap().to_owned();
        (record["acquirer"].clone(), record["routing"]["rule"].clone(), version)
    };
    let runs =
        |version: &str| metric(&app, &format!("quita_routing_version{{version=\"{version}\"}}")) == Some(1);
    let (acquirer, rule, before) = routed();
    assert_eq!((acquirer, rule, runs(&before)), (json!("a"), json!(null), true));
    files.write("quita.toml", &format!("{}{}", two("", "priority = 2"), all_to("b")));
    hang_up(&app, "applied");
    let (acquirer, rule, after) = routed();
    assert_eq!((acquirer, rule), (json!("b"), json!("all to b")));
    assert!(after != before && runs(&after) && !runs(&before), "{before} {after}");
    hang_up(&app, "unchanged");
    files.write("quita.toml", &two("", "priority = 2"));
    hang_up(&app, "applied");
    assert_eq!(routed().2, before, "the same rules are the same version");
}

#[test]
fn routes_that_are_wrong_or_name_who_does_not_run_change_nothing() {
    let files = Files::new();
    let app = files.serve(&two("", "priority = 2"));
    let other = two("priority = 3", "priority = 2");
    let new = "[[acquirer]]\nname = 'c'\nadapter = 'sandbox'\n";
    for wrong in [all_to("nobody"), format!("{new}{}", all_to("c")), "[[cost]]\nacquirer = 'a'\n".into()] {
        files.write("quita.toml", &format!("{other}{wrong}"));
        hang_up(&app, "refused");
        assert_eq!(taker(&app), "a", "{wrong}");
    }
    assert!(app.log().contains("there is no acquirer c"), "{}", app.log());
    files.write("quita.toml", &other);
    hang_up(&app, "applied");
    assert_eq!(taker(&app), "b");
}

#[test]
fn an_acquirer_that_open_payments_need_is_missed_until_it_is_configured_again() {
    let files = Files::new();
    let mut app = files.serve(&two("", "priority = 2"));
    let id = app.client().create(&pix(10_027))["transactionId"].as_str().unwrap().to_owned();
    let cancel = format!("/pay/payments/{id}/cancel");
    let series = "quita_route_missing{acquirer=\"a\",method=\"pix\"}";
    files.write("quita.toml", "[[acquirer]]\nname = 'b'\nadapter = 'sandbox'\n");
    app.restart();
    let home = |app: &TestApp| Visitor::operator(app).page("/");
    assert!(!home(&app).contains("quitaroutemissing"), "nothing needed it yet");
    app.client().post_once(&cancel, "withdrawn", &json!({})).expect_error(503, "outcome_unknown");
    assert_eq!(metric(&app, series), Some(1));
    assert!(app.log().contains("open payments need an acquirer that is no longer configured here"));
    for page in [home(&app), Visitor::operator(&app).page("/acquirers")] {
        assert!(page.contains("/runbook#quitaroutemissing"), "{page}");
    }
    files.write("quita.toml", &two("", "priority = 2"));
    app.restart();
    app.client().wait_for_status(&id, "cancelled");
    assert_eq!(metric(&app, series), Some(0));
    assert!(!home(&app).contains("quitaroutemissing"));
}
