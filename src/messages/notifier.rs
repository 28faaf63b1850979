//! Delivery of messages: claims each in the store, sends it, and records what it reported.

use std::cell::Cell;
use std::collections::HashMap;
use std::collections::hash_map::Entry;
use std::sync::Arc;
use std::time::Duration;

use futures_util::{StreamExt, stream};
use quita_domain::audit::AuditAction;
use quita_domain::identity::MerchantId;
use quita_domain::people::{Login, Operator, User};
use quita_domain::time::Timestamp;
use quita_ports::{Clock, WholeStore};
use tokio::time::Instant;

use super::by_mail::{ByMail, MailReader};
use super::by_webhook::{ByWebhook, WebhookOutcome};
use super::digest::{Digest, Reader, SendingNode};
use super::merchant_news::MerchantNews;
use super::operator_news::OperatorNews;
use super::webhook_body::{WebhookMessage, WebhookReader};
use quita_services::audit::{Audit, Initiator};
use quita_services::people::{Channel, People, PeopleError, Someone, message_webhook_in_words};

/// Age from which an event is reported: by then it has been stored.
const SETTLED_MS: u64 = 20_000;
/// Number of users per read.
const PAGE: usize = 200;
/// Number of failed e-mails after which the others wait for the next round: the server is away.
const MAX_FAILURES: u32 = 3;
/// Number of concurrent webhooks.
const WEBHOOKS_AT_ONCE: usize = 32;
/// Time within which the messages of a round are started, for each channel. The others are due in the next round, which
/// slow servers and receivers must not delay.
pub(super) const BEGIN_WITHIN: Duration = Duration::from_secs(30);

/// One round of collecting and reporting news.
#[derive(Debug)]
pub(super) struct NewsRound {
    /// Start of the round.
    pub(super) now: Timestamp,
    /// Time up to which events are reported.
    pub(super) until: Timestamp,
    /// Number of e-mails that the server did not accept.
    failures: Cell<u32>,
    /// True if an e-mail waits for its next try, whichever process made the last one.
    pub(super) has_unsent_mail: Cell<bool>,
}

impl NewsRound {
    /// Creates a round that starts at this time.
    pub(super) fn at(now: Timestamp) -> Self {
        Self {
            now,
            until: now.minus_ms(SETTLED_MS),
            failures: Cell::new(0),
            has_unsent_mail: Cell::new(false),
        }
    }
}

/// Channels by which messages are sent.
pub(super) struct Channels {
    /// `None` if the configuration names no mail server.
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
    /// This node, as the initiator of its own changes.
    node: Initiator,
    public_url: String,
}

impl Notifier {
    /// Creates a sender that uses this store and these channels.
    pub(super) fn new(
        store: Arc<dyn WholeStore>,
        clock: Arc<dyn Clock>,
        channels: Channels,
        audit: Audit,
        node: Initiator,
        public_url: String,
    ) -> Self {
        let people = People::new(store.clone(), Arc::clone(&clock));
        Self { store, people, clock, channels, audit, node, public_url }
    }

    /// Starts a round.
    pub(super) fn begin_round(&self) -> NewsRound {
        NewsRound::at(self.now())
    }

    /// Returns the time now.
    pub(super) fn now(&self) -> Timestamp {
        self.clock.now()
    }

    /// Returns the store.
    pub(super) fn store(&self) -> &dyn WholeStore {
        self.store.as_ref()
    }

    /// Returns this node and its installation, as named in messages.
    pub(super) fn place(&self) -> SendingNode<'_> {
        SendingNode { node: &self.node.from, public_url: &self.public_url }
    }

    /// Returns the error of the last e-mail, until the mail server accepts one.
    pub(super) fn mail_failure(&self) -> Option<String> {
        self.channels.by_mail.as_ref()?.failure()
    }

    /// Reads every operator who receives messages by any channel.
    ///
    /// # Errors
    /// Fails if the store does not answer.
    pub(super) async fn operators(&self) -> Result<Vec<Operator>, PeopleError> {
        let mut operators = self.people.operators().await?;
        operators.retain(|operator| {
            [Channel::Mail, Channel::Webhook].iter().any(|channel| self.reader(operator, *channel).is_some())
        });
        Ok(operators)
    }

    /// Returns a person as a reader by this channel; `None` if they receive no messages by it.
    pub(super) fn reader<'p, S: Someone>(&self, person: &'p S, channel: Channel) -> Option<Reader<'p>> {
        let is_open = match channel {
            Channel::Mail => self.channels.by_mail.is_some(),
            Channel::Webhook => true,
        };
        let mailing = channel.mailing(person).filter(|_| is_open && person.gets_messages())?;
        Some(Reader { mailing, created_at: person.created_at() })
    }

    /// Returns the news for an operator by this channel, if a message may be sent now. A trouble that began is not held
    /// back until the next digest, unless it began again within a day.
    pub(super) fn news_for(
        &self,
        operator: &Operator,
        channel: Channel,
        round: &NewsRound,
        news: &OperatorNews,
    ) -> Option<Digest> {
        let reader = self.reader(operator, channel)?;
        note_unsent(&reader, channel, round);
        let is_due = reader.mailing.is_due(round.now);
        let may_interrupt = reader.mailing.is_due_for_trouble(round.now);
        let digest = (is_due || may_interrupt).then(|| news.digest(reader, round))?;
        let is_new = |trouble: &String| !reader.mailing.is_known(trouble, round.now);
        (is_due || digest.troubles.iter().any(is_new)).then_some(digest)
    }

    /// Returns a person as a reader by this channel, if a message may be sent now.
    pub(super) fn due<'p, S: Someone>(
        &self,
        person: &'p S,
        channel: Channel,
        round: &NewsRound,
    ) -> Option<Reader<'p>> {
        let reader = self.reader(person, channel)?;
        note_unsent(&reader, channel, round);
        reader.mailing.is_due(round.now).then_some(reader)
    }

    /// Reports news of merchants to their owners. Whatever could be read is reported even if other reads failed.
    ///
    /// # Errors
    /// Fails if the store does not answer.
    pub(super) async fn report_to_owners(&self, round: &NewsRound) -> Result<(), PeopleError> {
        let mut by_mail = Vec::new();
        let mut by_webhook = Vec::new();
        let read = self.read_for_owners(round, &mut by_mail, &mut by_webhook).await;
        let mailed = self.report(by_mail, by_webhook, round).await;
        read.and(mailed)
    }

    /// Reads the news for the owners to whom a message may be sent now.
    async fn read_for_owners(
        &self,
        round: &NewsRound,
        by_mail: &mut Vec<(User, Digest)>,
        by_webhook: &mut Vec<(User, Digest)>,
    ) -> Result<(), PeopleError> {
        let mut known: HashMap<MerchantId, MerchantNews> = HashMap::new();
        let mut after: Option<Login> = None;
        loop {
            let users = self.store.users_after(after.as_ref(), PAGE).await?;
            let Some(last) = users.last() else { return Ok(()) };
            after = Some(last.login.clone());
            for user in users {
                let [mail, webhook] =
                    [Channel::Mail, Channel::Webhook].map(|channel| self.due(&user, channel, round));
                if mail.is_none() && webhook.is_none() {
                    continue;
                }
                let news = match known.entry(user.merchant.clone()) {
                    Entry::Occupied(place) => place.into_mut(),
                    Entry::Vacant(place) => {
                        place.insert(MerchantNews::read(self.store(), &user.merchant, round.now).await?)
                    }
                };
                let digest_for = |reader: Option<Reader<'_>>| {
                    reader.map(|reader| news.digest(reader, round)).filter(|digest| !digest.is_empty())
                };
                let [mail, webhook] = [mail, webhook].map(digest_for);
                by_mail.extend(mail.map(|digest| (user.clone(), digest)));
                by_webhook.extend(webhook.map(|digest| (user, digest)));
            }
        }
    }

    /// Sends messages by both channels concurrently, so that neither waits for the other.
    ///
    /// # Errors
    /// Fails if the store does not answer when an e-mail is claimed or recorded.
    pub(super) async fn report<S: Someone + MailReader + WebhookReader>(
        &self,
        by_mail: Vec<(S, Digest)>,
        by_webhook: Vec<(S, Digest)>,
        round: &NewsRound,
    ) -> Result<(), PeopleError> {
        let by_mail = self.report_by_mails(by_mail, round);
        let by_webhook = self.report_by_webhook(by_webhook, round);
        tokio::join!(by_mail, by_webhook).0
    }

    /// Sends e-mails to people one after another, as many as can be started in time.
    async fn report_by_mails<S: Someone + MailReader>(
        &self,
        messages: Vec<(S, Digest)>,
        round: &NewsRound,
    ) -> Result<(), PeopleError> {
        let begun = Instant::now();
        for (person, digest) in messages {
            if begun.elapsed() > BEGIN_WITHIN {
                break;
            }
            self.report_by_mail(&person, Some(digest), round).await?;
        }
        Ok(())
    }

    /// Sends an e-mail to a person, if there is anything to report and no other node reports it.
    ///
    /// # Errors
    /// Fails if the store does not answer.
    pub(super) async fn report_by_mail<S: Someone + MailReader>(
        &self,
        person: &S,
        digest: Option<Digest>,
        round: &NewsRound,
    ) -> Result<(), PeopleError> {
        let Some(digest) = digest.filter(|digest| !digest.is_empty()) else { return Ok(()) };
        if round.failures.get() >= MAX_FAILURES {
            return Ok(());
        }
        // The message is claimed in the store before it is sent, so that only one of several nodes sends it.
        let Some(claim) = self.people.claim_message(person, Channel::Mail).await? else { return Ok(()) };
        if self.mail(person, &digest).await {
            // Recorded after the server accepted it: a message that is lost in between is sent again, and none is
            // skipped.
            self.people.note_message::<S>(person.login(), &claim, round.until, &digest.troubles).await?;
        } else {
            round.failures.update(|failures| failures.saturating_add(1));
        }
        Ok(())
    }

    /// Sends webhooks to people, if there is anything to report and no other node reports it.
    async fn report_by_webhook<S: Someone + WebhookReader>(
        &self,
        messages: Vec<(S, Digest)>,
        round: &NewsRound,
    ) {
        let begun = Instant::now();
        let report = async |(person, digest): (S, Digest)| {
            if digest.is_empty() || begun.elapsed() > BEGIN_WITHIN {
                return;
            }
            if let Err(error) = self.report_one_by_webhook(&person, &digest, round).await {
                tracing::debug!(%error, "a message by webhook could not be claimed or recorded");
            }
        };
        stream::iter(messages).for_each_concurrent(WEBHOOKS_AT_ONCE, report).await;
    }

    async fn report_one_by_webhook<S: Someone + WebhookReader>(
        &self,
        person: &S,
        digest: &Digest,
        round: &NewsRound,
    ) -> Result<(), PeopleError> {
        let Some(claim) = self.people.claim_message(person, Channel::Webhook).await? else { return Ok(()) };
        match self.call(person, digest).await {
            WebhookOutcome::Taken => {
                let login = person.login();
                self.people.note_message::<S>(login, &claim, round.until, &digest.troubles).await
            }
            // The claim has already set the next attempt (`Mailing::begin`), so a failure leaves nothing to record.
            WebhookOutcome::Failed => Ok(()),
            WebhookOutcome::Gone => self.forget_receiver(person).await,
        }
    }

    /// Sends no more messages to a receiver that is gone, and records that in the audit log.
    async fn forget_receiver<S: Someone>(&self, person: &S) -> Result<(), PeopleError> {
        let Some(webhook) = person.message_webhook() else { return Ok(()) };
        if self.people.remove_gone_webhook::<S>(person.login(), webhook).await? {
            let draft = person.draft(AuditAction::MessageWebhookChanged);
            let draft = draft.before(message_webhook_in_words(Some(webhook))).after("off: it answered 410");
            self.audit.note(&self.node, draft).await;
        }
        Ok(())
    }

    /// Sends an e-mail; returns false if the server did not accept it.
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

/// Records whether an e-mail to this reader waits for its next try: this process may not know, because another one made
/// the last try.
fn note_unsent(reader: &Reader<'_>, channel: Channel, round: &NewsRound) {
    match channel {
        Channel::Mail if reader.mailing.is_unsent(round.now) => round.has_unsent_mail.set(true),
        Channel::Mail | Channel::Webhook => {}
    }
}
