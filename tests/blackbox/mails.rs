//! Messages by e-mail to owners and operators, by way of a real SMTP server.

use std::net::TcpListener;
use std::time::Duration;

use serde_json::{Value, json};

use crate::support::{
    Account, Edit, MAIL_PASSWORD, MAIL_USER, MailServer, PATIENCE, TestApp, TestReceiver, Visitor, boleto,
    eventually, pause, pix,
};

/// The first look for news is 30 s after the start, the second one a minute later.
const MAILED_WITHIN: Duration = Duration::from_secs(120);

const ANA: &str = "ana@shop.example";
const OLGA: &str = "olga@ops.example";

fn to<'a>(messages: &'a [Value], address: &str) -> Vec<&'a Value> {
    messages.iter().filter(|message| message["recipients"] == json!([address])).collect()
}

fn service(server: &MailServer) -> TestApp {
    TestApp::builder()
        .arg("--mail-server", &server.url())
        .arg("--mail-from", "quita@pay.example")
        .arg("--mail-user", MAIL_USER)
        .env("QUITA_MAIL_PASSWORD", MAIL_PASSWORD)
        .start()
}

#[test]
fn owners_are_mailed_of_events_that_were_given_up_and_operators_of_exceptions() {
    let Some(server) = MailServer::start() else { return };
    let app = service(&server);
    for (email, role) in [(ANA, "owner"), ("bia@shop.example", "owner"), ("vera@shop.example", "viewer")] {
        Account::create(&app, "shop", email, role);
    }
    Account::create(&app, "rival", "rita@rival.example", "owner");
    app.quita(&["users", "operators", "create", "--email", OLGA]).output();
    for (command, email, switch) in [
        (&["users", "mail"][..], "bia@shop.example", &["off"][..]),
        (&["users", "mail"], ANA, &["on", "--language", "en"]),
        (&["users", "operators", "mail"], OLGA, &["on", "--language", "en"]),
    ] {
        let done = app.quita(&[command, &[email], switch].concat());
        assert_eq!(done.code, Some(0), "{done:?}");
    }
    let receiver = TestReceiver::start();
    receiver.answer(410);
    let client = app.client();
    let gone = client.create(&pix(10_000).with("postbackUrl", json!(receiver.url())));
    client.wait_for_status(gone["transactionId"].as_str().unwrap(), "paid");
    // Paid one cent short.
    client.create(&boleto(10_051));
    let messages = server.wait_for(2, MAILED_WITHIN);
    let to_ana = to(&messages, ANA);
    let to_olga = to(&messages, OLGA);
    assert_eq!((messages.len(), to_ana.len(), to_olga.len()), (2, 1, 1), "{messages:#?}");
    assert_eq!(to_ana[0]["subject"], "Quita: shop needs attention");
    assert_eq!(
        (&to_ana[0]["from"], &to_ana[0]["sender"]),
        (&json!("Quita <quita@pay.example>"), &json!("quita@pay.example"))
    );
    assert_eq!(to_ana[0]["auto-submitted"], "auto-generated");
    let host = receiver.url().replace("http://", "").replace("/webhooks", "");
    let text = to_ana[0]["text"].as_str().unwrap();
    for part in [host.as_str(), "(test)", "410", &format!("{}/console", app.url())] {
        assert!(text.contains(part), "{part}: {text}");
    }
    let text = to_olga[0]["text"].as_str().unwrap();
    assert!(text.contains("Amount mismatch: 1"), "{text}");
    eventually(PATIENCE, "both are counted", || {
        let metrics = app.ops().get("/metrics").text();
        let is_counted = metrics.contains("quita_mails_total{outcome=\"sent\"} 2\n");
        (is_counted && metrics.contains("quita_mails_total{outcome=\"failed\"} 0\n")).then_some(())
    });
}

#[test]
fn a_mail_server_that_takes_nothing_is_a_failed_job_on_the_operators_home() {
    let app = TestApp::builder()
        .arg("--mail-server", "smtp://127.0.0.1:1")
        .arg("--mail-from", "quita@pay.example")
        .start();
    let operator = Visitor::operator(&app);
    let failed = "<a href=\"/jobs\">Failed jobs</a></h2><p class=\"value\">";
    assert!(operator.page("/").contains(&format!("{failed}0<")));
    // Paid one cent short: an exception, and news.
    app.client().create(&boleto(10_051));
    eventually(MAILED_WITHIN, "the mail server is shown to fail", || {
        operator.post("/jobs/messages", &[]);
        pause(Duration::from_secs(1));
        let page = operator.page("/");
        (page.contains(&format!("{failed}1<")) && page.contains("messages: the last e-mail")).then_some(())
    });
    assert!(operator.page("/jobs").contains("could not be sent"));
    let lines =
        app.log().lines().filter(|line| line.contains("could not be sent; it will be retried")).count();
    assert_eq!(lines, 1, "{}", app.log());
}

#[test]
fn a_silent_mail_server_is_a_failed_job_and_holds_back_no_webhook() {
    // It takes connections, and never says a word.
    let silent = TcpListener::bind("127.0.0.1:0").unwrap();
    let server = format!("smtp://{}", silent.local_addr().unwrap());
    let app =
        TestApp::builder().arg("--mail-server", &server).arg("--mail-from", "quita@pay.example").start();
    let operator = Visitor::operator(&app);
    let hook = TestReceiver::start();
    app.quita(&["users", "operators", "webhook", OLGA, &hook.url()]).output();
    // Paid one cent short: an exception, and news.
    app.client().create(&boleto(10_051));
    hook.wait_for(1, MAILED_WITHIN);
    eventually(MAILED_WITHIN, "the e-mail is given up", || {
        operator.page("/jobs").contains("the mail server did not answer within 20 s").then_some(())
    });
    assert!(operator.page("/").contains("messages: the last e-mail could not be sent"));
    assert_eq!(hook.received().len(), 1);
    let metrics = app.ops().get("/metrics").text();
    assert!(metrics.contains("quita_job_failing{name=\"messages\"} 1\n"), "{metrics}");
    assert!(!metrics.contains("quita_mails_total{outcome=\"failed\"} 0\n"), "{metrics}");
    let doctor = app.quita(&["doctor", "--mail-server", &server, "--mail-from", "quita@pay.example"]);
    assert!(doctor.said().contains("can't be used: the mail server did not answer"), "{doctor:?}");
}

#[test]
fn each_person_turns_messages_off_on_the_account_page_and_the_audit_log_has_it() {
    // Nothing is sent: the address is not asked before there is news.
    let app = TestApp::builder()
        .arg("--mail-server", "smtp://127.0.0.1:1")
        .arg("--mail-from", "quita@pay.example")
        .start();
    let owner = Visitor::signed_in(&app, &Account::create(&app, "shop", ANA, "owner"));
    let account = owner.page("/console/test/account");
    assert!(
        account.contains("Messages by e-mail") && account.contains("value=\"pt-BR\" selected"),
        "{account}"
    );
    let changed = owner.post("/console/test/account/mail", &[("mail", "off")]);
    assert_eq!(changed.header("location"), Some("/console/test/account?done=mail"), "{changed}");
    assert!(owner.page("/console/test/account").contains("value=\"off\" selected"));
    let log = owner.page("/console/test/audit");
    assert!(log.contains("changed the messages by e-mail to") && log.contains("on, pt-BR"), "{log}");
    let listed = app.quita(&["users", "list", "--merchant", "shop", "--json"]).output();
    let listed: Value = serde_json::from_str(&listed).unwrap();
    assert_eq!(listed[0]["mail"], "off");
    let viewer = Visitor::signed_in(&app, &Account::create(&app, "shop", "vera@shop.example", "viewer"));
    assert!(!viewer.page("/console/test/account").contains("Messages by e-mail"), "viewers get none");
    let operator = Visitor::operator(&app);
    assert_eq!(operator.post("/account/mail", &[("mail", "en")]).status, 303);
    assert!(operator.page("/account").contains("value=\"en\" selected"));
    assert!(operator.page("/audit").contains("changed the messages by e-mail to"));
}

#[test]
fn a_service_without_a_mail_server_shows_no_choice() {
    let app = TestApp::new();
    let owner = Visitor::signed_in(&app, &Account::create(&app, "shop", ANA, "owner"));
    assert!(!owner.page("/console/test/account").contains("Messages by e-mail"));
}
