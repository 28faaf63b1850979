//! Sends each message once: claims it in the store, sends it, and notes what it reported.

use std::collections::HashMap;
use std::collections::hash_map::Entry;
use std::sync::Arc;
use std::time::Duration;

use futures_util::{StreamExt, stream};
use quita_domain::audit::AuditAction;
use quita_domain::identity::MerchantId;
use quita_domain::people::{Login, Operator};
use quita_domain::time::Timestamp;
use quita_ports::{Clock, WholeStore};
use tokio::time::Instant;

use super::by_mail::{ByMail, MailReader};
use super::by_webhook::{ByWebhook, WebhookOutcome};
use super::digest::{Digest, Reader};
use super::merchant_news::MerchantNews;
use super::operator_news::OperatorNews;
use super::webhook_body::{WebhookMessage, WebhookReader};
use quita_services::audit::{Audit, Initiator};
use quita_services::people::{Channel, People, PeopleError, Someone, message_webhook_in_words};

/// Age from which an event is reported: by then it is stored.
const SETTLED_MS: u64 = 20_000;
/// Users that are read at once.
const PAGE: usize = 200;
/// Failed e-mails after which the others wait for the next look: the server is away.
const MAX_FAILURES: u32 = 3;
/// Webhooks that are sent at once.
const WEBHOOKS_AT_ONCE: usize = 32;
/// Time within which webhooks of a look begin. The others are due at the next look, which slow receivers must not keep
/// from the e-mails.
const WEBHOOKS_BEGIN_WITHIN: Duration = Duration::from_secs(30);

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

/// Ways on which messages leave.
pub(super) struct Channels {
    /// None if the configuration names no server.
    pub(super) by_mail: Option<ByMail>,
    pub(super) by_webhook: ByWebhook,
}

/// Sender of news to people.
pub(super) struct Notifier {
    store: Arc<dyn WholeStore>,
    people: People,
    clock: Arc<dyn Clock>,
    channels: Channels,
    audit: Audit,
    /// This node, for what it changes by itself.
    node: Initiator,
    public_url: String,
}

impl Notifier {
    /// Works on this store, and sends messages on these ways.
    pub(super) fn new(
        (store, clock): (Arc<dyn WholeStore>, Arc<dyn Clock>),
        channels: Channels,
        (audit, node): (Audit, Initiator),
        public_url: String,
    ) -> Self {
        let people = People::new(store.clone(), Arc::clone(&clock));
        Self { store, people, clock, channels, audit, node, public_url }
    }

    /// Begins a look for news.
    pub(super) fn begin_look(&self) -> Look {
        Look::at(self.clock.now())
    }

    /// Returns the store.
    pub(super) fn store(&self) -> &dyn WholeStore {
        self.store.as_ref()
    }

    /// Returns the error of the last e-mail, until the mail server takes one.
    pub(super) fn mail_failure(&self) -> Option<String> {
        self.channels.by_mail.as_ref()?.failure()
    }

    /// Reads every operator who gets messages by some channel.
    ///
    /// # Errors
    /// When the store does not answer.
    pub(super) async fn operators(&self) -> Result<Vec<Operator>, PeopleError> {
        let mut operators = self.people.operators().await?;
        operators.retain(|operator| {
            [Channel::Mail, Channel::Webhook].iter().any(|channel| self.reader(operator, *channel).is_some())
        });
        Ok(operators)
    }

    /// Returns a person as a reader by this channel; none if they get no messages by it.
    pub(super) fn reader<'p, S: Someone>(&self, person: &'p S, channel: Channel) -> Option<Reader<'p>> {
        let is_open = match channel {
            Channel::Mail => self.channels.by_mail.is_some(),
            Channel::Webhook => true,
        };
        let mailing = channel.mailing(person).filter(|_| is_open && person.gets_messages())?;
        Some(Reader { mailing, created_at: person.created_at() })
    }

    /// Returns the news for an operator by this channel, if a message may leave now. A trouble that began is not held
    /// back until the next digest.
    pub(super) fn news_for(
        &self,
        operator: &Operator,
        channel: Channel,
        look: &Look,
        news: &OperatorNews,
    ) -> Option<Digest> {
        let reader = self.reader(operator, channel)?;
        let is_due = reader.mailing.is_due(look.now);
        let may_interrupt = reader.mailing.is_due_for_trouble(look.now);
        let digest = (is_due || may_interrupt).then(|| news.digest(reader, look))?;
        (is_due || !digest.troubles.is_empty()).then_some(digest)
    }

    /// Returns a person as a reader by this channel, if a message may leave now.
    pub(super) fn due<'p, S: Someone>(
        &self,
        person: &'p S,
        channel: Channel,
        now: Timestamp,
    ) -> Option<Reader<'p>> {
        self.reader(person, channel).filter(|reader| reader.mailing.is_due(now))
    }

    /// Reports news of their merchants to owners.
    ///
    /// # Errors
    /// When the store does not answer.
    pub(super) async fn report_to_owners(&self, look: &mut Look) -> Result<(), PeopleError> {
        let mut known: HashMap<MerchantId, MerchantNews> = HashMap::new();
        let mut after: Option<Login> = None;
        let (now, mut by_webhook) = (look.now, Vec::new());
        loop {
            let users = self.store.users_after(after.as_ref(), PAGE).await?;
            let Some(last) = users.last() else { break };
            after = Some(last.login.clone());
            for user in users {
                let [mail, webhook] =
                    [Channel::Mail, Channel::Webhook].map(|channel| self.due(&user, channel, now));
                if mail.is_none() && webhook.is_none() {
                    continue;
                }
                let news = match known.entry(user.merchant.clone()) {
                    Entry::Occupied(place) => place.into_mut(),
                    Entry::Vacant(place) => {
                        place.insert(MerchantNews::read(self.store(), &user.merchant, now).await?)
                    }
                };
                let [mail, webhook] =
                    [mail, webhook].map(|reader| reader.map(|reader| news.digest(reader, look)));
                self.report_by_mail(&user, mail, look).await?;
                by_webhook.extend(webhook.map(|digest| (user, digest)));
            }
        }
        self.report_by_webhook(by_webhook, look).await;
        Ok(())
    }

    /// Sends an e-mail to a person, if there is anything to report and no other node does.
    ///
    /// # Errors
    /// When the store does not answer.
    pub(super) async fn report_by_mail<S: Someone + MailReader>(
        &self,
        person: &S,
        digest: Option<Digest>,
        look: &mut Look,
    ) -> Result<(), PeopleError> {
        let Some(digest) = digest.filter(|digest| !digest.is_empty()) else { return Ok(()) };
        if look.failures >= MAX_FAILURES {
            return Ok(());
        }
        let Some(claim) = self.people.claim_message(person, Channel::Mail).await? else { return Ok(()) };
        if self.mail(person, &digest).await {
            self.people.note_message::<S>(person.login(), &claim, look.until, &digest.troubles).await?;
        } else {
            look.failures = look.failures.saturating_add(1);
        }
        Ok(())
    }

    /// Sends webhooks to people, if there is anything to report and no other node does.
    pub(super) async fn report_by_webhook<S: Someone + WebhookReader>(
        &self,
        messages: Vec<(S, Digest)>,
        look: &Look,
    ) {
        let begun = Instant::now();
        let report = async |(person, digest): (S, Digest)| {
            if digest.is_empty() || begun.elapsed() > WEBHOOKS_BEGIN_WITHIN {
                return;
            }
            if let Err(error) = self.report_one_by_webhook(&person, &digest, look).await {
                tracing::debug!(%error, "a message by webhook could not be claimed or noted");
            }
        };
        stream::iter(messages).for_each_concurrent(WEBHOOKS_AT_ONCE, report).await;
    }

    async fn report_one_by_webhook<S: Someone + WebhookReader>(
        &self,
        person: &S,
        digest: &Digest,
        look: &Look,
    ) -> Result<(), PeopleError> {
        let Some(claim) = self.people.claim_message(person, Channel::Webhook).await? else { return Ok(()) };
        match self.call(person, digest).await {
            WebhookOutcome::Taken => {
                let login = person.login();
                self.people.note_message::<S>(login, &claim, look.until, &digest.troubles).await
            }
            WebhookOutcome::Failed => Ok(()),
            WebhookOutcome::Gone => self.forget_receiver(person).await,
        }
    }

    /// Sends no more messages to a receiver that is gone, and notes it in the audit log.
    async fn forget_receiver<S: Someone>(&self, person: &S) -> Result<(), PeopleError> {
        let Some(webhook) = person.message_webhook() else { return Ok(()) };
        if self.people.remove_gone_webhook::<S>(person.login(), webhook).await? {
            let draft = person.draft(AuditAction::MessageWebhookChanged);
            let draft = draft.before(message_webhook_in_words(Some(webhook))).after("off: it answered 410");
            self.audit.note(&self.node, draft).await;
        }
        Ok(())
    }

    /// Sends an e-mail; returns false if the server did not take it.
    pub(super) async fn mail<S: MailReader>(&self, person: &S, digest: &Digest) -> bool {
        let Some(by_mail) = &self.channels.by_mail else { return false };
        by_mail.send(&person.letter(digest, &self.public_url)).await
    }

    /// Sends a webhook.
    pub(super) async fn call<S: Someone + WebhookReader>(
        &self,
        person: &S,
        digest: &Digest,
    ) -> WebhookOutcome {
        let Some(reader) = self.reader(person, Channel::Webhook) else { return WebhookOutcome::Failed };
        let public_url = &self.public_url;
        self.channels.by_webhook.send(&WebhookMessage { person, reader, digest, public_url }).await
    }
}
