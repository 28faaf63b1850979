//! Starting, refusing to start, and stopping.

use std::time::{Duration, Instant};

use serde_json::{Value, json};

use crate::support::{Edit, PATIENCE, Program, TestApp, TestReceiver, card, eventually, is_mongodb, pix};

const ANY_PORT: [&str; 5] = ["serve", "--listen", "127.0.0.1:0", "--ops-listen", "127.0.0.1:0"];

#[test]
fn the_first_run_prints_a_key_that_works_and_later_runs_print_none() {
    let mut app = TestApp::new();
    let printed = app.printed();
    let key =
        printed.split_whitespace().find(|word| word.starts_with("qk_test_")).expect(&printed).to_owned();
    assert!(printed.contains("curl") && printed.contains("/pay/payments"), "a line to paste: {printed}");
    assert!(printed.contains("http://127.0.0.1:"), "where the console is: {printed}");
    assert_eq!(app.client_with(&key).get("/pay/payments").status, 200);
    assert!(!app.log().contains(&key), "a key is not logged");
    app.terminate(PATIENCE);
    app.restart();
    assert_eq!(
        app.printed().matches("qk_test_").count(),
        printed.matches("qk_test_").count(),
        "shown only once"
    );
    assert_eq!(app.client_with(&key).get("/pay/payments").status, 200);
}

#[test]
fn the_line_to_paste_works_as_it_is() {
    let app = TestApp::new();
    let printed = app.printed();
    let line =
        printed.lines().find(|line| line.trim_start().starts_with("curl") && line.contains("-d ")).unwrap();
    let output = std::process::Command::new("sh").args(["-c", line]).output().unwrap();
    let record: serde_json::Value = serde_json::from_slice(&output.stdout).expect(&printed);
    assert_eq!(
        (&record["paymentMethod"], &record["amount"]),
        (&json!("PIX"), &json!("100.00")),
        "{record:#}"
    );
}

#[test]
fn sigterm_and_sigint_end_it_with_0() {
    for signal in ["TERM", "INT"] {
        let mut app = TestApp::new();
        app.client().create(&pix(10_027));
        let begun = Instant::now();
        app.process().signal(signal);
        let status = app.process().wait(PATIENCE);
        assert_eq!(status.code(), Some(0), "SIG{signal}");
        assert!(begun.elapsed() < Duration::from_secs(11), "{:?}", begun.elapsed());
    }
}

#[test]
fn what_was_accepted_is_finished_before_it_ends() {
    let mut app = TestApp::builder().arg("--sandbox-time-out", "2s").start();
    let client = app.client();
    let address = app.address().to_owned();
    let status = std::thread::scope(|scope| {
        // The acquirer's answer is two seconds away.
        let slow = scope.spawn(move || client.post("/pay/payments", &card("4000000000000119", 10_000)));
        eventually(PATIENCE, "the request has arrived", || {
            let page = app.client().get("/pay/payments").expect(200);
            (page["data"] != json!([])).then_some(())
        });
        let status = app.terminate(PATIENCE);
        let answer = slow.join().unwrap();
        assert_eq!(answer.status, 201, "{answer}");
        status
    });
    assert_eq!(status.code(), Some(0));
    assert!(std::net::TcpStream::connect(address).is_err(), "nobody listens any more");
}

/// Sends payments with a key each until nobody answers any more; every key, with the id of what was created.
fn load(app: &TestApp, thread: usize, receiver: &str) -> Vec<(String, Value, Option<String>)> {
    let client = app.client();
    let mut sent = Vec::new();
    loop {
        let key = format!("{thread}-{}", sent.len());
        // Every fourth one takes the acquirer half a second.
        let number = if sent.len() % 4 == 0 { "4000000000000119" } else { "4242424242424242" };
        let request = if thread.is_multiple_of(2) { pix(10_000) } else { card(number, 10_000) };
        let request = request.with("postbackUrl", json!(receiver));
        let (headers, body) =
            ([("Content-Type", "application/json"), ("Idempotency-Key", &key)], request.to_string());
        let answer = client.try_send("POST", "/pay/payments", &headers, body.as_bytes());
        let Ok(answer) = answer else {
            sent.push((key, request, None));
            return sent;
        };
        // What comes while it stops may be refused, but not left without an answer.
        if answer.status != 503 {
            let id = answer.expect(201)["transactionId"].as_str().unwrap().to_owned();
            sent.push((key, request, Some(id)));
        }
    }
}

#[test]
fn sigterm_under_load_leaves_nothing_that_was_accepted_without_an_answer() {
    let mut app = TestApp::new();
    let receiver = TestReceiver::start();
    let url = receiver.url();
    let sent: Vec<_> = std::thread::scope(|scope| {
        let threads: Vec<_> = (0..8)
            .map(|thread| {
                let app = &app;
                let url = &url;
                scope.spawn(move || load(app, thread, url))
            })
            .collect();
        receiver.wait_for(100, PATIENCE);
        app.signal("TERM");
        threads.into_iter().flat_map(|thread| thread.join().unwrap()).collect()
    });
    assert_eq!(app.process().wait(PATIENCE).code(), Some(0));
    app.restart();
    let client = app.client();
    let mut unanswered = 0;
    for (key, request, id) in &sent {
        let answer = client.post_once("/pay/payments", key, request);
        match id {
            Some(id) => {
                assert_eq!(answer.expect(200)["transactionId"], **id);
                client.wait_for_status_within(Duration::from_secs(60), id, "paid");
                receiver.wait_for_told(id, "paid", Duration::from_secs(60));
            }
            None => {
                unanswered += 1;
                assert_eq!(answer.status, 201, "it was accepted, and had no answer: {answer}");
            }
        }
    }
    println!("{} requests, {unanswered} of them came after the end", sent.len());
    assert!(sent.len() >= 30, "{}", sent.len());
}

#[test]
fn a_webhook_under_way_does_not_keep_it_from_ending() {
    let mut app = TestApp::new();
    let receiver = TestReceiver::start();
    receiver.answer_with(|_| crate::support::Reply::status(200).after(Duration::from_secs(60)));
    app.client().create(&pix(10_027).with("postbackUrl", json!(receiver.url())));
    receiver.wait_for(1, PATIENCE);
    let begun = Instant::now();
    assert_eq!(app.terminate(PATIENCE).code(), Some(0));
    assert!(begun.elapsed() < Duration::from_secs(12), "{:?}", begun.elapsed());
}

#[test]
fn a_second_service_on_one_sqlite_file_is_refused() {
    if is_mongodb() {
        println!("skipped: many services may share one MongoDB database");
        return;
    }
    let mut app = TestApp::new();
    let refused = app.quita(&ANY_PORT);
    assert_eq!(refused.code, Some(1), "{refused:?}");
    assert!(refused.stderr.contains("quita.db"), "names the file: {refused:?}");
    let advice = refused.stderr.lines().last().unwrap();
    assert!(advice.starts_with("Stop that process first") && advice.contains("--store"), "{refused:?}");
    assert!(!refused.stderr.contains("disk is not full"), "the store is well: {refused:?}");
    app.client().create(&pix(10_027));
    app.terminate(PATIENCE);
    app.restart();
    app.client().create(&pix(10_027));
}

#[test]
fn a_store_out_of_reach_ends_the_start_with_1_and_says_so() {
    let directory = tempfile::tempdir().unwrap();
    std::fs::write(directory.path().join("file"), "not a directory").unwrap();
    let mongodb = "mongodb://user:hunter2@127.0.0.1:1/quita?replicaSet=rs&serverSelectionTimeoutMS=500";
    let garbage = directory.path().join("garbage.db");
    std::fs::write(&garbage, "no SQLite file, but long enough to be looked at: ".repeat(100)).unwrap();
    let garbage = format!("sqlite:{}", garbage.display());
    for (store, named) in
        [(mongodb, "127.0.0.1:1"), ("sqlite:file/q.db", "file/q.db"), (&*garbage, "garbage.db")]
    {
        let refused = Program::new(directory.path(), ANY_PORT).env("QUITA_STORE", store).run();
        assert_eq!(refused.code, Some(1), "{store}: {refused:?}");
        assert!(refused.stderr.contains(named), "{store}: {refused:?}");
        assert!(!refused.said().contains("hunter2") && !refused.stderr.contains("panicked"), "{refused:?}");
    }
}

#[test]
fn a_mongodb_uri_that_no_restart_mends_ends_the_start_with_2_and_names_the_mistake() {
    let directory = tempfile::tempdir().unwrap();
    for (uri, mistake) in [
        ("mongodb://ana:hunter2@127.0.0.1:1/quita?replicaSte=rs", "replicaSte"),
        (
            "mongodb://ana:hunter2@127.0.0.1:1/quita?replicaSet=rs&tls=true&tlsCAFile=/none/ca.pem",
            "/none/ca.pem",
        ),
        ("mongodb://ana:hunter2@127.0.0.1:1/qui%20ta?replicaSet=rs", "database"),
        ("mongodb://ana:hunter/2@127.0.0.1:1/quita?replicaSet=rs", "password"),
    ] {
        let refused = Program::new(directory.path(), ANY_PORT).env("QUITA_STORE", uri).run();
        assert_eq!(refused.code, Some(2), "{uri}: {refused:?}");
        assert!(refused.stderr.contains(mistake), "{mistake}: {refused:?}");
        assert!(!refused.said().contains("hunter"), "{refused:?}");
        assert!(!refused.said().contains("broken"), "{refused:?}");
    }
}

#[test]
fn an_address_in_use_ends_the_start_with_1_and_names_the_option() {
    let app = TestApp::new();
    let directory = tempfile::tempdir().unwrap();
    for option in ["--listen", "--ops-listen"] {
        let other = if option == "--listen" { "--ops-listen" } else { "--listen" };
        let arguments = ["serve", option, app.address(), other, "127.0.0.1:0"];
        let refused = Program::new(directory.path(), arguments).run();
        assert_eq!(refused.code, Some(1), "{refused:?}");
        assert!(refused.stderr.contains(app.address()) && refused.stderr.contains(option), "{refused:?}");
        assert!(!directory.path().join("data").exists(), "no store is made: {refused:?}");
    }
}

#[test]
fn production_refuses_to_start_on_what_is_unsafe_and_says_which() {
    let directory = tempfile::tempdir().unwrap();
    let run = |public_url: &str, key: Option<&str>| {
        let arguments =
            ANY_PORT.into_iter().chain(["--environment", "production", "--public-url", public_url]);
        let program = Program::new(directory.path(), arguments);
        let program = if let Some(key) = key { program.env("QUITA_SECRET_KEY", key) } else { program };
        let refused = program.run();
        assert!(refused.code.is_some_and(|code| code != 0), "{refused:?}");
        refused.stderr
    };
    let said = run("http://pay.example.com", None);
    assert!(said.contains("http://pay.example.com") && said.contains("QUITA_SECRET_KEY"), "{said}");
    let said = run("https://pay.example.com", Some("short"));
    assert!(said.contains("secret-key") && !said.contains("https://pay.example.com"), "{said}");
}

#[test]
fn flags_win_over_the_environment_over_the_file() {
    let directory = tempfile::tempdir().unwrap();
    let file = directory.path().join("quita.toml");
    std::fs::write(&file, "rate-limit = 1\nmax-installments = 2\npublic-url = \"http://file.example\"\n")
        .unwrap();
    let app = TestApp::builder()
        .arg("--config", file.to_str().unwrap())
        .arg("--public-url", "http://flag.example")
        .env("QUITA_PUBLIC_URL", "http://environment.example")
        .env("QUITA_RATE_LIMIT", "0")
        .start();
    let client = app.client();
    let record = client.create(&pix(10_027));
    assert!(record["pix"]["qrCode"].as_str().unwrap().starts_with("http://flag.example/pix/"), "{record:#}");
    (0..5).for_each(|_| assert_eq!(client.get("/pay/payments").status, 200));
    let answer = client.post("/pay/payments", &card("4242424242424242", 100).with("installments", json!(3)));
    assert_eq!(answer.violations()[0].0, "installments", "the file says 2");
}
