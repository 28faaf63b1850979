//! Messages to owners by webhook, beside those by e-mail.

use quita_actors::{StoreAway, StoreTrouble};
use quita_domain::secret_key::IdKeys;
use quita_domain::webhook::signature::{WebhookSecret, verify};
use quita_ports::AuditStore;
use quita_services::secret_keys::Which;
use serde_json::{Value, json};

use super::*;

const URL: &str = "https://hooks.example/T0/B0?token=x";

/// Far longer than any look takes.
const PATIENCE: Duration = Duration::from_secs(60);

fn body(request: &WebhookRequest) -> Value {
    serde_json::from_str(&request.body).unwrap()
}

#[tokio::test]
async fn a_webhook_is_signed_and_has_the_news_once_with_one_text_for_chats() {
    let office = office().await;
    office.hire(ANA, Role::Owner).await;
    let secret = office.call(URL, Some(MailLanguage::English)).await.unwrap();
    office.key("0011223344556677", 8).await;
    office.pass(DAY_MS + 60_000);
    let calls = office.called().await;
    assert_eq!(calls.len(), 1);
    let WebhookRequest { url, id, timestamp_s, signature, body: text } = &calls[0];
    let secret = WebhookSecret::parse(&secret).unwrap();
    assert!(verify(&secret, id, *timestamp_s, text.as_bytes(), signature));
    let sentence = "API key 0011223344556677 of application default (live) expires at";
    let sent = body(&calls[0]);
    assert_eq!((url.as_str(), &sent["id"], &sent["type"]), (URL, &json!(id), &json!("messages")));
    assert_eq!(sent["to"], json!({"role": "owner", "merchant": "loja"}));
    assert_eq!(sent["messages"][0]["kind"], "key_ending");
    assert_eq!(sent["messages"][0]["link"], "https://pay.example/console/live/applications");
    assert_eq!(sent["messages"][0]["at"], "2026-11-29T12:00:00.000Z");
    assert!(sent["text"].as_str().unwrap().starts_with("Quita: loja needs attention\n- API key"));
    assert!(sent["messages"][0]["text"].as_str().unwrap().starts_with(sentence), "{sent}");
    assert!(!text.contains(ANA), "{text}");
    office.pass(MAIL_GAP_MS);
    assert_eq!(office.called().await, [], "once");
}

#[tokio::test]
async fn of_two_nodes_one_calls_and_the_mail_goes_out_besides() {
    let office = office().await;
    office.hire(ANA, Role::Owner).await;
    office.call(URL, None).await.unwrap();
    office.key("0011223344556677", 8).await;
    office.pass(DAY_MS + 60_000);
    let other = office.another(Some(&office.mailbox)).await;
    tokio::join!(office.look(&office.notifier), office.look(&other));
    assert_eq!(office.receiver.received.take().len(), 1);
    assert_eq!(office.mailed().await.len(), 1);
}

#[tokio::test]
async fn a_receiver_that_fails_is_tried_again_with_the_same_id_and_repeats_no_mail() {
    let office = office().await;
    office.hire(ANA, Role::Owner).await;
    office.call(URL, None).await.unwrap();
    office.key("0011223344556677", 8).await;
    office.pass(DAY_MS + 60_000);
    office.receiver.answer.set(Some(503));
    let first = office.called().await;
    assert_eq!((first.len(), office.mailbox.taken.lock().unwrap().len()), (1, 1));
    assert_eq!(office.called().await, [], "not at once");
    office.pass(60_000);
    let second = office.called().await;
    assert_eq!(second[0].id, first[0].id);
    office.pass(60_000);
    assert_eq!(office.called().await, [], "the gap grows");
    office.pass(60_000);
    office.receiver.answer.set(None);
    assert_eq!(office.called().await.len(), 1);
    office.pass(MAIL_GAP_MS);
    assert_eq!(office.called().await, []);
    assert_eq!(office.mailbox.taken.lock().unwrap().len(), 1);
}

#[tokio::test]
async fn a_mail_server_that_fails_repeats_no_webhook() {
    let office = office().await;
    office.hire(ANA, Role::Owner).await;
    office.call(URL, None).await.unwrap();
    office.key("0011223344556677", 8).await;
    office.pass(DAY_MS + 60_000);
    office.mailbox.is_refusing.store(true, Ordering::SeqCst);
    assert_eq!(office.called().await.len(), 1);
    office.mailbox.is_refusing.store(false, Ordering::SeqCst);
    office.pass(MAIL_GAP_MS);
    assert_eq!((office.mailed().await.len(), office.receiver.received.take().len()), (1, 0));
}

#[tokio::test]
async fn a_node_that_starts_knows_that_an_e_mail_waits_for_its_next_try() {
    let office = office().await;
    office.hire(ANA, Role::Owner).await;
    office.key("0011223344556677", 8).await;
    office.pass(DAY_MS + 60_000);
    office.mailbox.is_refusing.store(true, Ordering::SeqCst);
    office.look(&office.notifier).await;
    office.pass(30_000);
    let another = office.another(Some(&office.mailbox)).await;
    let round = another.begin_round();
    another.report_to_owners(&round).await.unwrap();
    assert!(another.mail_failure().is_none(), "it has not tried itself");
    assert!(round.has_unsent_mail.get());
    office.mailbox.is_refusing.store(false, Ordering::SeqCst);
    office.pass(30_000);
    office.look(&another).await;
    office.pass(30_000);
    let round = another.begin_round();
    another.report_to_owners(&round).await.unwrap();
    assert!(!round.has_unsent_mail.get());
}

#[tokio::test]
async fn a_mail_server_that_hangs_holds_back_no_webhook() {
    let office = office().await;
    office.hire(ANA, Role::Owner).await;
    office.call(URL, None).await.unwrap();
    office.key("0011223344556677", 8).await;
    office.pass(DAY_MS + 60_000);
    *office.mailbox.answers_after.lock().unwrap() = Some(Arc::clone(&office.receiver.was_called));
    let called = tokio::time::timeout(PATIENCE, office.called()).await;
    assert_eq!(called.expect("it does not wait for the e-mail").len(), 1);
    assert_eq!(office.mailbox.taken.lock().unwrap().len(), 1);
}

#[tokio::test]
async fn webhooks_need_no_mail_server_and_no_choice_about_mails() {
    let office = office().await;
    office.hire(ANA, Role::Owner).await;
    office.hire("vera@loja.example", Role::Viewer).await;
    office.call(URL, None).await.unwrap();
    office.people.set_mailing::<User>(&login(ANA), false, None).await.unwrap();
    office.key("0011223344556677", 8).await;
    office.pass(DAY_MS + 60_000);
    office.look(&office.another(None).await).await;
    assert_eq!(office.receiver.received.take().len(), 1);
    assert_eq!(office.mailbox.taken.lock().unwrap().len(), 0);
}

#[tokio::test]
async fn a_receiver_that_is_gone_is_forgotten_and_the_audit_log_names_its_host_alone() {
    let office = office().await;
    office.hire(ANA, Role::Owner).await;
    office.call(URL, None).await.unwrap();
    office.key("0011223344556677", 8).await;
    office.pass(DAY_MS + 60_000);
    office.receiver.answer.set(Some(410));
    assert_eq!(office.called().await.len(), 1);
    let ana = office.people.find(&login(ANA)).await.unwrap();
    assert_eq!(ana.message_webhook, None);
    let log = office.store.chained_audit(0, 10).await.unwrap();
    let log = format!("{log:?}");
    assert!(log.contains("hooks.example, pt-BR") && log.contains("off: it answered 410"), "{log}");
    assert!(!log.contains("token"), "{log}");
}

#[tokio::test]
async fn another_url_gets_another_secret_and_no_old_news_and_the_same_one_keeps_both() {
    let office = office().await;
    office.hire(ANA, Role::Owner).await;
    let first = office.call(URL, None).await.unwrap();
    assert_eq!(office.call(URL, Some(MailLanguage::English)).await, None, "only the language changed");
    office.key("0011223344556677", 8).await;
    office.pass(DAY_MS + 60_000);
    let second = office.call("https://other.example/", None).await.unwrap();
    assert_ne!(first, second);
    assert_eq!(office.called().await, [], "what was before is no news there");
    let ana = office.people.find(&login(ANA)).await.unwrap();
    assert_eq!(ana.message_webhook.unwrap().mailing.language, MailLanguage::English);
    office.pass(6 * DAY_MS);
    let calls = office.called().await;
    assert_eq!((calls.len(), calls[0].url.as_str()), (1, "https://other.example/"));
}

#[tokio::test]
async fn the_secret_is_sealed_for_its_person_and_moves_to_another_secret_key() {
    let office = office().await;
    office.hire(ANA, Role::Owner).await;
    let secret = office.call(URL, None).await.unwrap();
    let ana = office.people.find(&login(ANA)).await.unwrap();
    assert!(!format!("{:?}", ana.message_webhook).contains(secret.strip_prefix("whsec_").unwrap()));
    let keys = [&b"the next secret key of the tests"[..], b"a secret key of the tests"];
    let both = Strongbox::new(office.store.clone(), Arc::new(AeadVault::new(keys, [])));
    both.establish(&IdKeys::of(keys[1])).await.unwrap();
    both.work_with_newest(&IdKeys::of(keys[1])).await.unwrap();
    let moved = both.move_users(Which::All, None, 10).await.unwrap();
    assert_eq!((moved.looked_at, moved.sealed, moved.unmoved.len()), (1, 1, 0));
    let ana = office.people.find(&login(ANA)).await.unwrap();
    let newest = Strongbox::new(office.store.clone(), Arc::new(AeadVault::new([keys[0]], [])));
    let webhooks = MessageWebhooks::new(office.people.clone(), newest);
    assert_eq!(webhooks.secret(&ana).unwrap().map(|opened| opened.reveal()), Some(secret));
}

/// An operator with a webhook, and an outage of the store.
async fn in_an_outage(office: &Office) -> (Vec<Operator>, StoreAway) {
    let olga = login("olga@ops.example");
    office.people.create_operator(olga.clone(), OperatorRole::Operator).await.unwrap();
    let webhooks = MessageWebhooks::new(office.people.clone(), office.strongbox.clone());
    webhooks.set::<Operator>(&olga, URL, Some(MailLanguage::English)).await.unwrap();
    let trouble = StoreTrouble::Silent;
    let why = "no answer".into();
    let away = StoreAway { since: Timestamp::from_millis(NOW), trouble, why };
    (office.notifier.operators().await.unwrap(), away)
}

#[tokio::test]
async fn an_outage_is_told_by_webhook_though_the_mail_server_hangs() {
    let office = office().await;
    let (operators, away) = in_an_outage(&office).await;
    *office.mailbox.answers_after.lock().unwrap() = Some(Arc::clone(&office.receiver.was_called));
    let mut report = OutageReport::default();
    let reported = report.report(&away, &operators, &office.notifier);
    tokio::time::timeout(PATIENCE, reported).await.expect("it does not wait for the e-mail");
    assert_eq!((office.receiver.received.take().len(), office.mailbox.taken.lock().unwrap().len()), (1, 1));
}

#[tokio::test]
async fn a_report_of_an_outage_names_the_node_and_the_installation() {
    let office = office().await;
    let (operators, away) = in_an_outage(&office).await;
    OutageReport::default().report(&away, &operators, &office.notifier).await;
    let mails = office.mailbox.taken.lock().unwrap().clone();
    let portuguese = "Visto pelo nó 127.0.0.1:8080 de https://pay.example.";
    assert!(mails[0].text.contains(portuguese), "{}", mails[0].text);
    let sent = body(&office.receiver.received.take()[0]);
    let text = sent["messages"][0]["text"].as_str().unwrap();
    assert!(text.ends_with("Reported by node 127.0.0.1:8080 of https://pay.example."), "{text}");
}

#[tokio::test]
async fn an_outage_is_reported_once_to_each_operator_though_a_receiver_fails() {
    let office = office().await;
    let operators = [login("olga@ops.example"), login("otto@ops.example")];
    for operator in &operators {
        office.people.create_operator(operator.clone(), OperatorRole::Operator).await.unwrap();
    }
    let webhooks = MessageWebhooks::new(office.people.clone(), office.strongbox.clone());
    webhooks.set::<Operator>(&operators[0], URL, None).await.unwrap();
    let operators = office.notifier.operators().await.unwrap();
    let trouble = StoreTrouble::Full;
    let why = "database or disk is full".into();
    let away = StoreAway { since: Timestamp::from_millis(NOW), trouble, why };
    let mut report = OutageReport::default();
    office.receiver.answer.set(Some(500));
    report.report(&away, &operators, &office.notifier).await;
    office.receiver.answer.set(None);
    for _ in 0..2 {
        report.report(&away, &operators, &office.notifier).await;
    }
    let mails = office.mailbox.taken.lock().unwrap().clone();
    assert!(mails.len() == 2 && mails[0].text.contains("disco do armazenamento"), "{}", mails[0].text);
    let calls = office.receiver.received.take();
    assert_eq!((calls.len(), &calls[0].id), (2, &calls[1].id));
    assert_eq!(body(&calls[1])["messages"][0]["kind"], "store_away");
    assert_eq!(body(&calls[1])["to"], json!({"role": "operator"}));
}
