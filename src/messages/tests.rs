//! Messages to owners on a real embedded store.

mod webhooks;

use std::cell::{Cell, RefCell};
use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, Ordering};

use async_trait::async_trait;
use quita_actors::{RouteHealth, RouteState};
use quita_domain::access::{ApiKey, KeyKind};
use quita_domain::delivery::DeliveryAttempt;
use quita_domain::identity::{AcquirerName, ApplicationName, MerchantId, Mode, Owner};
use quita_domain::method::Method;
use quita_domain::people::{Login, MAIL_GAP_MS, MailLanguage, OperatorRole, Role, User};
use quita_domain::time::{DAY_MS, Timestamp};
use quita_embedded::EmbeddedStore;
use quita_machine::vault::AeadVault;
use quita_ports::{AccessStore, Mail, MailError, Mailer, SentWebhook, WebhookRequest};
use tempfile::TempDir;
use tokio::sync::Notify;

use super::*;
use quita_memory_store::HandClock;

const NOW: i64 = 1_795_262_400_000;
const ANA: &str = "ana@loja.example";

/// A mail server that takes messages, or refuses them.
#[derive(Default)]
struct Mailbox {
    taken: Mutex<Vec<Mail>>,
    is_refusing: AtomicBool,
    /// It answers only after this happened.
    answers_after: Mutex<Option<Arc<Notify>>>,
}

#[async_trait]
impl Mailer for Mailbox {
    async fn send(&self, mail: &Mail) -> Result<(), MailError> {
        let answers_after = self.answers_after.lock().unwrap().clone();
        if let Some(event) = answers_after {
            event.notified().await;
        }
        if self.is_refusing.load(Ordering::SeqCst) {
            return Err(MailError("the mail server answered 451".into()));
        }
        self.taken.lock().unwrap().push(mail.clone());
        Ok(())
    }
}

/// A receiver of webhooks that answers this status, or 200.
#[derive(Default)]
struct Receiver {
    received: RefCell<Vec<WebhookRequest>>,
    was_called: Arc<Notify>,
    answer: Cell<Option<u16>>,
}

#[async_trait(?Send)]
impl WebhookSender for Receiver {
    async fn send(&self, request: WebhookRequest) -> SentWebhook {
        self.received.borrow_mut().push(request);
        self.was_called.notify_one();
        let attempt = DeliveryAttempt {
            at: Timestamp::from_millis(NOW),
            duration_ms: 1,
            status: self.answer.get().or(Some(200)),
            error: None,
            retry_after_ms: None,
            answer: None,
        };
        attempt.into()
    }
}

struct Office {
    store: Arc<EmbeddedStore>,
    clock: Arc<HandClock>,
    mailbox: Arc<Mailbox>,
    receiver: Rc<Receiver>,
    people: People,
    strongbox: Strongbox,
    notifier: Notifier,
    _folder: TempDir,
}

async fn office() -> Office {
    let folder = tempfile::tempdir().unwrap();
    let store = Arc::new(EmbeddedStore::open(folder.path().join("quita.db")).unwrap());
    let clock = Arc::new(HandClock::default());
    let mailbox = Arc::<Mailbox>::default();
    clock.set(NOW);
    let people = People::new(store.clone(), clock.clone());
    let strongbox =
        Strongbox::new(store.clone(), Arc::new(AeadVault::new([&b"a secret key of the tests"[..]], [])));
    let receiver = Rc::new(Receiver::default());
    let notifier = notifier(&store, &clock, &strongbox, Some(&mailbox), &receiver).await;
    Office { store, clock, mailbox, receiver, people, strongbox, notifier, _folder: folder }
}

async fn notifier(
    store: &Arc<EmbeddedStore>,
    clock: &Arc<HandClock>,
    strongbox: &Strongbox,
    mailbox: Option<&Arc<Mailbox>>,
    receiver: &Rc<Receiver>,
) -> Notifier {
    let (registry, clock): (_, Arc<dyn Clock>) = (Registry::new(), clock.clone());
    let mails = MessageMetrics::of_mails(&registry).unwrap();
    let by_mail = mailbox.map(|mailbox| ByMail::new(mailbox.clone(), mails));
    let webhooks = MessageWebhooks::new(People::new(store.clone(), Arc::clone(&clock)), strongbox.clone());
    let metrics = MessageMetrics::of_webhooks(&registry).unwrap();
    let by_webhook = ByWebhook::new(receiver.clone(), webhooks, Arc::clone(&clock), metrics);
    let audit = Audit::open(store.clone(), strongbox, Arc::clone(&clock)).await.unwrap();
    let node = Initiator::service("127.0.0.1:8080");
    let channels = Channels { by_mail, by_webhook };
    Notifier::new(store.clone(), clock, channels, audit, node, "https://pay.example".into())
}

fn login(text: &str) -> Login {
    Login::parse(text).unwrap()
}

impl Office {
    async fn hire(&self, email: &str, role: Role) {
        self.people.create(MerchantId::new("loja"), login(email), role).await.unwrap();
    }

    /// Makes a key of the merchant that ends in so many days.
    async fn key(&self, id: &str, days: u64) {
        let owner = Owner {
            merchant: MerchantId::new("loja"),
            application: ApplicationName::new("default"),
            mode: Mode::Live,
        };
        let now = self.clock.now();
        let key = ApiKey {
            id: id.into(),
            kind: KeyKind::Secret,
            owner,
            secret_hash: String::new(),
            scopes: Vec::new(),
            created_at: now,
            made_by: None,
            expires_at: Some(now.plus_ms(days * DAY_MS)),
            revoked_at: None,
            exposed_at: None,
            last_used_at: None,
        };
        self.store.insert_key(&key).await.unwrap();
    }

    /// Starts another node.
    async fn another(&self, mailbox: Option<&Arc<Mailbox>>) -> Notifier {
        notifier(&self.store, &self.clock, &self.strongbox, mailbox, &self.receiver).await
    }

    /// Sends the messages to Ana to a URL; returns its secret, if it is a new one.
    async fn call(&self, url: &str, language: Option<MailLanguage>) -> Option<String> {
        let webhooks = MessageWebhooks::new(self.people.clone(), self.strongbox.clone());
        let changed = webhooks.set::<User>(&login(ANA), url, language).await.unwrap();
        changed.secret.map(|secret| secret.expose().clone())
    }

    /// Looks, and takes the requests out of the receiver.
    async fn called(&self) -> Vec<WebhookRequest> {
        self.look(&self.notifier).await;
        self.receiver.received.take()
    }

    fn pass(&self, ms: u64) {
        self.clock.set(self.clock.now().plus_ms(ms).millis());
    }

    async fn look(&self, notifier: &Notifier) {
        notifier.report_to_owners(&notifier.begin_round()).await.unwrap();
    }

    /// Looks, and takes the messages out of the mailbox.
    async fn mailed(&self) -> Vec<Mail> {
        self.look(&self.notifier).await;
        std::mem::take(&mut *self.mailbox.taken.lock().unwrap())
    }
}

#[tokio::test]
async fn an_owner_is_warned_of_a_key_a_week_and_a_day_before_its_end() {
    let office = office().await;
    office.hire(ANA, Role::Owner).await;
    office.hire("vera@loja.example", Role::Viewer).await;
    office.key("0011223344556677", 10).await;
    assert_eq!(office.mailed().await.len(), 0);
    office.pass(3 * DAY_MS + 60_000);
    let mails = office.mailed().await;
    assert_eq!(mails.iter().map(|mail| mail.to.as_str()).collect::<Vec<_>>(), [ANA]);
    assert_eq!(mails[0].subject, "Quita: loja precisa de atenção");
    assert!(
        mails[0].text.contains("0011223344556677") && mails[0].text.contains("https://pay.example/console")
    );
    office.pass(MAIL_GAP_MS);
    assert_eq!(office.mailed().await.len(), 0, "once");
    office.pass(6 * DAY_MS);
    assert_eq!(office.mailed().await.len(), 1);
    office.pass(6 * DAY_MS);
    assert_eq!(office.mailed().await.len(), 0, "it has ended");
}

#[tokio::test]
async fn of_two_nodes_one_sends() {
    let office = office().await;
    office.hire(ANA, Role::Owner).await;
    office.key("0011223344556677", 8).await;
    office.pass(DAY_MS + 60_000);
    let other = office.another(Some(&office.mailbox)).await;
    tokio::join!(office.look(&office.notifier), office.look(&other));
    assert_eq!(office.mailed().await.len(), 1);
}

#[tokio::test]
async fn a_message_that_the_server_refuses_is_tried_again_later() {
    let office = office().await;
    office.hire(ANA, Role::Owner).await;
    office.key("0011223344556677", 8).await;
    office.pass(DAY_MS + 60_000);
    office.mailbox.is_refusing.store(true, Ordering::SeqCst);
    assert_eq!(office.mailed().await.len(), 0);
    office.mailbox.is_refusing.store(false, Ordering::SeqCst);
    assert_eq!(office.mailed().await.len(), 0, "not at once");
    let failure = office.notifier.mail_failure();
    assert!(failure.is_some_and(|error| error.contains("451")), "it fails until the server takes one");
    office.pass(60_000);
    assert_eq!(office.mailed().await.len(), 1);
    assert_eq!(office.notifier.mail_failure(), None);
}

#[tokio::test]
async fn who_turned_messages_off_gets_none_and_another_language_is_obeyed() {
    let office = office().await;
    office.hire(ANA, Role::Owner).await;
    office.hire("bia@loja.example", Role::Owner).await;
    let bia = login("bia@loja.example");
    office.people.set_mailing::<User>(&login(ANA), false, None).await.unwrap();
    let english = Some(MailLanguage::English);
    let (before, after) = office.people.set_mailing::<User>(&bia, true, english).await.unwrap();
    let [before, after] = [before, after].map(|user| user.mailing.language);
    assert_eq!((before, after), (MailLanguage::Portuguese, MailLanguage::English));
    office.key("0011223344556677", 8).await;
    office.pass(DAY_MS + 60_000);
    let mails = office.mailed().await;
    assert_eq!((mails.len(), mails[0].to.as_str()), (1, "bia@loja.example"));
    assert_eq!(mails[0].subject, "Quita: loja needs attention");
}

/// A route that fails since this time.
fn failing(method: Method, since: Timestamp) -> (RouteHealth, Timestamp) {
    let acquirer = AcquirerName::new("bank");
    let mode = Mode::Live;
    let state = RouteState::Failing;
    (RouteHealth { acquirer, method, mode, state, failing_since: Some(since), error: None }, since)
}

#[tokio::test]
async fn an_acquirer_that_recovered_and_fails_anew_is_reported_anew_with_the_next_digest() {
    let office = office().await;
    office.people.create_operator(login("olga@ops.example"), OperatorRole::Operator).await.unwrap();
    let mails = async |since: Timestamp| {
        let operators = office.notifier.operators().await.unwrap();
        let round = office.notifier.begin_round();
        let news = OperatorNews::of_failing([failing(Method::Pix, since)]);
        let digest = office.notifier.news_for(&operators[0], Channel::Mail, &round, &news);
        office.notifier.report_by_mail(&operators[0], digest, &round).await.unwrap();
        std::mem::take(&mut *office.mailbox.taken.lock().unwrap()).len()
    };
    let first = office.clock.now();
    office.pass(60_000);
    assert_eq!(mails(first).await, 1);
    office.pass(2 * 60_000);
    let second = office.clock.now();
    office.pass(60_000);
    assert_eq!(mails(second).await, 0, "what comes and goes is no message each time");
    office.pass(MAIL_GAP_MS);
    assert_eq!(mails(first).await, 0, "it was reported");
    assert_eq!(mails(second).await, 1, "it was well in between");
    office.pass(MAIL_GAP_MS);
    assert_eq!(mails(second).await, 0, "once");
}

#[tokio::test]
async fn an_operator_hears_of_a_further_failing_acquirer_before_the_next_digest() {
    let office = office().await;
    office.people.create_operator(login("olga@ops.example"), OperatorRole::Operator).await.unwrap();
    let since = office.clock.now();
    let failing = |method| failing(method, since);
    let mails = async |methods: &[Method]| {
        let operators = office.notifier.operators().await.unwrap();
        let round = office.notifier.begin_round();
        let news = OperatorNews::of_failing(methods.iter().copied().map(failing));
        let digest = office.notifier.news_for(&operators[0], Channel::Mail, &round, &news);
        office.notifier.report_by_mail(&operators[0], digest, &round).await.unwrap();
        std::mem::take(&mut *office.mailbox.taken.lock().unwrap()).len()
    };
    assert_eq!(mails(&[Method::Pix]).await, 1);
    office.pass(60_000);
    assert_eq!(mails(&[Method::Pix]).await, 0, "it was reported");
    assert_eq!(mails(&[Method::Pix, Method::Boleto]).await, 1, "the gap of 15 minutes is not over");
    office.mailbox.is_refusing.store(true, Ordering::SeqCst);
    assert_eq!(mails(&[Method::CreditCard]).await, 0);
    office.mailbox.is_refusing.store(false, Ordering::SeqCst);
    assert_eq!(mails(&[Method::CreditCard]).await, 0, "a server that failed has its pause");
    office.pass(60_000);
    assert_eq!(mails(&[Method::CreditCard]).await, 1);
}

#[test]
fn the_next_round_comes_as_soon_as_a_trouble_has_lasted_for_a_minute() {
    let ms = |ms| Some(Duration::from_millis(ms));
    for (away_ms, silent_s, expected) in [
        (None, None, None),
        (Some(0), None, ms(60_000)),
        (Some(1_000), None, ms(59_200)),
        (Some(59_999), None, ms(201)),
        (Some(60_001), None, None),
        (None, Some(15), ms(51_200)),
        (None, Some(60), ms(6_200)),
        (Some(50_000), Some(20), ms(10_200)),
    ] {
        assert_eq!(brought_forward(away_ms, silent_s), expected, "{away_ms:?} {silent_s:?}");
    }
}
