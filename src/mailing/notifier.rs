//! Sends each message once: claims it in the store, sends it, and notes what it reported.

use std::collections::HashMap;
use std::collections::hash_map::Entry;
use std::sync::Arc;

use prometheus::{IntCounter, IntCounterVec, Opts, Registry};
use quita_domain::identity::MerchantId;
use quita_domain::people::{Login, Operator, User};
use quita_domain::time::Timestamp;
use quita_ports::{Clock, Mail, Mailer, WholeStore};

use super::digest::Digest;
use super::merchant_news::MerchantNews;
use crate::service::people::{People, PeopleError, Someone};

/// Age from which an event is reported: by then it is stored.
const SETTLED_MS: u64 = 20_000;
/// Users that are read at once.
const PAGE: usize = 200;
/// Failed messages after which the others wait for the next look: the server is away.
const MAX_FAILURES: u32 = 3;

/// One look for news.
#[derive(Debug)]
pub(super) struct Look {
    /// Beginning of the look.
    pub(super) now: Timestamp,
    /// Time up to which events are reported.
    pub(super) until: Timestamp,
    failures: u32,
}

impl Look {
    /// Begins at this time.
    pub(super) fn at(now: Timestamp) -> Self {
        Self { now, until: now.minus_ms(SETTLED_MS), failures: 0 }
    }
}

/// Counters of messages.
pub(super) struct MailMetrics {
    sent: IntCounter,
    failed: IntCounter,
}

impl MailMetrics {
    /// Registers the metric.
    ///
    /// # Errors
    /// When another metric has its name.
    pub(super) fn register(registry: &Registry) -> prometheus::Result<Self> {
        let options = Opts::new("quita_mails_total", "Messages by e-mail, by whether the server took them");
        let mails = IntCounterVec::new(options, &["outcome"])?;
        registry.register(Box::new(mails.clone()))?;
        let [sent, failed] = ["sent", "failed"].map(|outcome| mails.with_label_values(&[outcome]));
        Ok(Self { sent, failed })
    }
}

/// Sender of news to people.
pub(super) struct Notifier {
    store: Arc<dyn WholeStore>,
    people: People,
    clock: Arc<dyn Clock>,
    mailer: Arc<dyn Mailer>,
    public_url: String,
    metrics: MailMetrics,
}

impl Notifier {
    /// Works on this store, and hands messages to this mailer.
    pub(super) fn new(
        (store, clock): (Arc<dyn WholeStore>, Arc<dyn Clock>),
        mailer: Arc<dyn Mailer>,
        public_url: String,
        metrics: MailMetrics,
    ) -> Self {
        let people = People::new(store.clone(), Arc::clone(&clock));
        Self { store, people, clock, mailer, public_url, metrics }
    }

    /// Begins a look for news.
    pub(super) fn begin_look(&self) -> Look {
        Look::at(self.clock.now())
    }

    /// Returns the store.
    pub(super) fn store(&self) -> &dyn WholeStore {
        self.store.as_ref()
    }

    /// Reads every operator.
    ///
    /// # Errors
    /// When the store does not answer.
    pub(super) async fn operators(&self) -> Result<Vec<Operator>, PeopleError> {
        self.people.operators().await
    }

    /// Reports news of their merchants to owners.
    ///
    /// # Errors
    /// When the store does not answer.
    pub(super) async fn report_to_owners(&self, look: &mut Look) -> Result<(), PeopleError> {
        let mut known: HashMap<MerchantId, MerchantNews> = HashMap::new();
        let mut after: Option<Login> = None;
        let now = look.now;
        loop {
            let users = self.store.users_after(after.as_ref(), PAGE).await?;
            let Some(last) = users.last() else { return Ok(()) };
            after = Some(last.login.clone());
            for user in users.iter().filter(|user| user.is_told_by_mail() && user.mailing.is_due(now)) {
                let news = match known.entry(user.merchant.clone()) {
                    Entry::Occupied(place) => place.into_mut(),
                    Entry::Vacant(place) => {
                        place.insert(MerchantNews::read(self.store(), &user.merchant, now).await?)
                    }
                };
                self.report(user, news.digest(user, look), look).await?;
            }
        }
    }

    /// Sends a message to a person, if there is anything to report and no other node does.
    ///
    /// # Errors
    /// When the store does not answer.
    pub(super) async fn report<S: Addressee>(
        &self,
        person: &S,
        digest: Digest,
        look: &mut Look,
    ) -> Result<(), PeopleError> {
        if digest.is_empty() || look.failures >= MAX_FAILURES || !self.people.claim_message(person).await? {
            return Ok(());
        }
        if self.send(&person.letter(&digest, &self.public_url)).await {
            self.people.note_message::<S>(person.login(), look.until, &digest.troubles).await?;
        } else {
            look.failures = look.failures.saturating_add(1);
        }
        Ok(())
    }

    /// Sends a message; returns false if the server did not take it.
    pub(super) async fn send(&self, mail: &Mail) -> bool {
        match self.mailer.send(mail).await {
            Ok(()) => {
                self.metrics.sent.inc();
                true
            }
            Err(error) => {
                self.metrics.failed.inc();
                tracing::warn!(%error, "a message by e-mail could not be sent; it is tried again");
                false
            }
        }
    }
}

/// Somebody who gets messages.
pub(super) trait Addressee: Someone {
    /// Writes the message with this news.
    fn letter(&self, digest: &Digest, public_url: &str) -> Mail;
}

impl Addressee for User {
    fn letter(&self, digest: &Digest, public_url: &str) -> Mail {
        digest.to_owner(self, public_url)
    }
}

impl Addressee for Operator {
    fn letter(&self, digest: &Digest, _: &str) -> Mail {
        digest.to_operator(self)
    }
}
