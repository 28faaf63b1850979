//! `--environment production`: nothing that is only fit for trying out.

use std::io::{Read, Write};
use std::net::TcpStream;

use serde_json::{Value, json};

use crate::support::{Account, Edit, PATIENCE, Program, TestApp, Visitor, pix};

const SECRET_KEY: &str = "a-key-for-tests-that-is-long-enough-to-be-taken";
const SANDBOX: &str = "[{ name = \"sandbox\", adapter = \"sandbox\" }]";

fn production() -> TestApp {
    TestApp::builder()
        .arg("--environment", "production")
        .arg("--public-url", "https://pay.example.com")
        .env("QUITA_SECRET_KEY", SECRET_KEY)
        .env("QUITA_ACQUIRER", SANDBOX)
        .start()
}

#[test]
fn methods_of_live_keys_that_no_acquirer_takes_are_warned_of_at_the_start() {
    let app = production();
    let warning = "no acquirer takes these methods for live keys: such payments are refused";
    assert!(app.log().contains(warning), "{}", app.log());
    assert!(app.log().contains(r#""methods":"pix, boleto, credit_card""#), "{}", app.log());
    assert!(!TestApp::new().log().contains(warning), "nobody expects money in development");
}

#[test]
fn webhooks_go_to_public_https_addresses_only() {
    let app = production();
    for url in [
        "http://shop.example.com/webhooks",
        "https://127.0.0.1/",
        "https://127.1/",
        "https://2130706433/",
        "https://0x7f.1/",
        "https://localhost/",
        "https://10.0.0.1/",
        "https://172.16.0.1/",
        "https://192.168.1.1/",
        "https://169.254.169.254/latest/meta-data/",
        "https://100.64.0.1/",
        "https://0.0.0.0/",
        "https://[::1]/",
        "https://[::ffff:127.0.0.1]/",
        "https://[fe80::1]/",
        "https://[fd00::1]/",
        "https://224.0.0.1/",
    ] {
        let answer = app.client().post("/pay/payments", &pix(10_027).with("postbackUrl", json!(url)));
        answer.expect_error(422, "validation_failed");
        assert_eq!(answer.violations()[0].0, "postbackUrl", "{url}: {answer}");
    }
    let request = pix(10_027).with("postbackUrl", json!("https://shop.example.com:8443/webhooks?a=b"));
    assert_eq!(app.client().create(&request)["status"], "pending");
}

#[test]
fn messages_go_to_public_https_addresses_only() {
    let app = production();
    let ana = Account::create(&app, "shop", "ana@shop.example", "owner");
    let owner = Visitor::signed_in(&app, &ana);
    for url in
        ["http://hooks.example.com/", "https://127.0.0.1/", "https://169.254.169.254/", "https://[::1]/"]
    {
        let refused = owner.post("/console/live/account/webhook", &[("url", url), ("language", "en")]);
        assert_eq!(refused.status, 422, "{url}: {refused}");
    }
}

#[test]
fn no_demo_merchant_is_made_and_pages_are_at_the_public_url() {
    let app = production();
    assert_eq!(app.printed(), "", "nothing is printed");
    let listed = app.quita(&["keys", "list"]).output();
    assert!(!listed.contains("demo"), "{listed}");
    let record = app.client().create(&pix(10_027));
    let picture = record["pix"]["qrCode"].as_str().unwrap();
    assert!(picture.starts_with("https://pay.example.com/pix/"), "{picture}");
    let page = app.client_without_key().get(picture.strip_prefix("https://pay.example.com").unwrap());
    assert_eq!(page.status, 200, "{page}");
}

#[test]
fn whether_a_proxy_is_in_front_is_said_at_the_start_and_when_requests_tell_otherwise() {
    let app = production();
    assert!(app.log().contains("behind-proxy is false"), "{}", app.log());
    assert!(!app.log().contains("requests carry X-Forwarded-For"), "{}", app.log());
    for _ in 0..2 {
        app.client().send("GET", "/pay/payments", &[("X-Forwarded-For", "203.0.113.7")], b"");
    }
    assert_eq!(app.log().matches("requests carry X-Forwarded-For").count(), 1, "{}", app.log());
    let told = TestApp::builder()
        .arg("--environment", "production")
        .arg("--public-url", "https://pay.example.com")
        .arg("--behind-proxy", "true")
        .env("QUITA_SECRET_KEY", SECRET_KEY)
        .env("QUITA_ACQUIRER", SANDBOX)
        .start();
    assert!(!told.log().contains("behind-proxy"), "{}", told.log());
    told.client().get("/pay/payments").expect(200);
    assert_eq!(told.log().matches("came without X-Forwarded-For").count(), 1, "{}", told.log());
}

#[test]
fn live_keys_find_no_sandbox() {
    let app = production();
    let live = app.client_with(&app.create_key(&["--merchant", "shop", "--mode", "live"]));
    live.post("/pay/payments", &pix(10_000)).expect_error(422, "method_unavailable");
}

/// Requests that one connection sends without waiting for answers; the server reads no more of them ahead.
const AT_ONCE: usize = 16;

/// Sends requests over one connection without waiting for answers; gives the statuses.
fn send_at_once(app: &TestApp) -> Vec<u16> {
    let request = |headers: &str| {
        let key = app.key();
        format!("GET /pay/payments/7 HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer {key}\r\n{headers}\r\n")
    };
    let bytes = request("").repeat(AT_ONCE - 1) + &request("Connection: close\r\n");
    let mut stream = TcpStream::connect(app.address()).unwrap();
    stream.write_all(bytes.as_bytes()).unwrap();
    let mut said = String::new();
    stream.read_to_string(&mut said).unwrap();
    said.match_indices("HTTP/1.1 ")
        .map(|(at, found)| said[at + found.len()..][..3].parse().unwrap())
        .collect()
}

#[test]
fn a_key_may_send_two_hundred_requests_a_second() {
    let app = production();
    let client = app.client();
    let answers: Vec<_> = std::thread::scope(|scope| {
        let send = || (0..25).flat_map(|_| send_at_once(&app)).collect::<Vec<_>>();
        let threads: Vec<_> = (0..8).map(|_| scope.spawn(send)).collect();
        threads.into_iter().flat_map(|thread| thread.join().unwrap()).collect()
    });
    let refused = answers.iter().filter(|status| **status == 429).count();
    assert_eq!(answers.len(), 8 * 25 * AT_ONCE);
    assert!(refused > 0 && answers.len() - refused >= 200, "{refused} of {} were refused", answers.len());
    assert!(answers.iter().all(|status| [400, 429].contains(status)), "{answers:?}");
    crate::support::eventually(crate::support::PATIENCE, "the limit is past", || {
        (client.get("/pay/payments").status == 200).then_some(())
    });
}

#[test]
fn the_key_that_everybody_knows_serves_this_machine_only() {
    let folder = tempfile::tempdir().unwrap();
    for option in ["--listen", "--ops-listen"] {
        let refused = Program::new(folder.path(), ["serve", option, "0.0.0.0:0"]).run();
        assert_eq!(refused.code, Some(2), "{}", refused.said());
        assert!(
            refused.stderr.contains("secret-key: ") && refused.stderr.contains("loopback"),
            "{}",
            refused.stderr
        );
    }
    assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 0, "nothing was made");
}

/// Lines of a log in JSON at ERROR; other lines are for people.
fn error_records(said: &str) -> Vec<Value> {
    let records = said.lines().filter_map(|line| serde_json::from_str::<Value>(line).ok());
    records.filter(|record| record["level"] == "ERROR").collect()
}

/// Variables of a configuration, and the beginnings of what is said of it.
type Refused<'a> = (&'a [(&'a str, &'a str)], &'a [&'a str]);

#[test]
fn a_refused_configuration_ends_with_2_and_is_told_whole_to_people_and_to_the_log() {
    let folder = tempfile::tempdir().unwrap();
    let safe = [("QUITA_PUBLIC_URL", "https://pay.example.com"), ("QUITA_SECRET_KEY", SECRET_KEY)];
    let key = |key| [safe[0], ("QUITA_SECRET_KEY", key)];
    let cases: [Refused<'_>; 6] = [
        (&safe[..1], &["secret-key: "]),
        (&key("short"), &["secret-key: "]),
        (&key(" "), &["secret-key: "]),
        (&[("QUITA_PUBLIC_URL", "http://pay.example.com"), safe[1]], &["public-url: "]),
        (&[("QUITA_BEHIND_PRXY", "true"), safe[0], safe[1]], &["QUITA_BEHIND_PRXY: "]),
        (
            &[("QUITA_BEHIND_PRXY", "true"), ("QUITA_PUBLIC_URL", "http://pay.example.com")],
            &["QUITA_BEHIND_PRXY: ", "secret-key: ", "public-url: "],
        ),
    ];
    for (variables, told) in cases {
        let program = |arguments: &[&str]| {
            let program = Program::new(folder.path(), arguments).env("QUITA_ENVIRONMENT", "production");
            variables.iter().fold(program, |program, (name, value)| program.env(name, value)).run()
        };
        let refused = program(&["serve"]);
        assert_eq!(refused.code, Some(2), "{}", refused.said());
        let lines = refused.stderr.lines().filter(|line| line.starts_with("  ")).count();
        assert_eq!(lines, told.len(), "each on a line of its own: {}", refused.stderr);
        let records = error_records(&refused.stderr);
        let [record] = &records[..] else { panic!("{}", refused.stderr) };
        let error = record["error"].as_str().unwrap();
        for part in told {
            assert!(refused.stderr.contains(&format!("\n  {part}")), "{part}: {}", refused.stderr);
            assert!(error.contains(part), "{part}: {error}");
        }
        assert!(refused.stderr.contains("\nthe configuration is refused:\n"), "{}", refused.stderr);
        let human = program(&["serve", "--log-format", "human"]);
        assert!(human.stderr.starts_with("the configuration is refused:\n"), "{}", human.stderr);
        let found = program(&["doctor"]);
        for part in told {
            let is_failure = |line: &str| line.starts_with("fail") && line.contains(part);
            assert!(found.stdout.lines().any(is_failure), "{part}: {}", found.stdout);
        }
    }
    assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 0, "nothing was made");
}

#[test]
fn an_address_in_use_is_a_record_of_a_log_in_json_and_a_sentence_otherwise() {
    let taken = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let address = taken.local_addr().unwrap().to_string();
    let folder = tempfile::tempdir().unwrap();
    let serve = |format| {
        let arguments =
            ["serve", "--listen", &address, "--ops-listen", "127.0.0.1:0", "--log-format", format];
        Program::new(folder.path(), arguments).run()
    };
    let json = serve("json");
    assert_eq!(json.code, Some(1), "{json:?}");
    let records = error_records(&json.stderr);
    let [record] = &records[..] else { panic!("{}", json.stderr) };
    assert!(record["error"].as_str().unwrap().contains(&address), "{record}");
    let last = json.stderr.lines().last().unwrap();
    assert!(!last.starts_with('{'), "for people: {last}");
    let human = serve("human");
    assert!(!human.stderr.contains("ERROR") && human.stderr.contains(&address), "{human:?}");
}

#[test]
fn a_closed_console_is_warned_of_until_there_is_an_operator() {
    let mut app = production();
    let told = |app: &TestApp| app.log().matches("operator-password: none is set").count();
    let doctor = |app: &TestApp| {
        let arguments = ["doctor", "--environment", "production", "--public-url", "https://pay.example.com"];
        app.quita(&arguments).stdout.contains("operator-password: none is set")
    };
    assert_eq!((told(&app), doctor(&app)), (1, true), "{}", app.log());
    app.quita(&["users", "operators", "create", "--email", "olga@ops.example"]).output();
    app.terminate(PATIENCE);
    app.restart();
    assert_eq!((told(&app), doctor(&app)), (1, false), "{}", app.log());
}

#[test]
fn a_service_without_any_acquirer_does_not_call_itself_ready() {
    let app = TestApp::builder()
        .arg("--environment", "production")
        .arg("--public-url", "https://pay.example.com")
        .env("QUITA_SECRET_KEY", SECRET_KEY)
        .start();
    assert_eq!(app.ops().get("/health/ready").status, 503);
    let log = app.log();
    assert!(log.contains("the service runs, but is not ready: no acquirer is configured"), "{log}");
    assert!(!log.contains("the service is ready"), "{log}");
}

#[test]
fn the_doctor_says_nothing_of_operators_in_the_store_of_a_running_service_that_it_does_not_read() {
    let app = production();
    let store = format!("sqlite:{}", app.directory().join("missing.db").display());
    let address = app.ops_url().trim_start_matches("http://").to_owned();
    let place = ["--store", &store, "--ops-listen", &address];
    let place =
        [&place[..], &["--environment", "production", "--public-url", "https://pay.example.com"]].concat();
    let found = app.quita(&[&["doctor"], &place[..]].concat());
    assert!(found.stdout.contains("does not exist"), "{found:?}");
    assert!(!found.stdout.contains("there is no operator"), "{found:?}");
}
