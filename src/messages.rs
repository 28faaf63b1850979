//! Messages to people who are not watching: to owners about their merchant, to operators about the service.
//!
//! They are sent by e-mail and by webhook. Each channel keeps its own record of reported news, and neither waits for
//! the other. Unreported news is collected every minute. The record is stored with the person, so only one of several
//! nodes sends a message. Messages are sent at least once: again, if the server may not have accepted them.

mod by_mail;
mod by_webhook;
mod digest;
mod merchant_news;
mod metrics;
mod notifier;
mod operator_news;
mod outage;
mod receivers;
#[cfg(test)]
mod tests;
mod webhook_body;

use std::rc::Rc;
use std::sync::Arc;
use std::time::Duration;

use prometheus::Registry;
use quita_actors::{Operators, Payments};
use quita_config::mail::{MailConfig, MailProtection};
use quita_domain::people::Operator;
use quita_mail::{Access, CannotMail, Protection, SmtpMailer};
use quita_ports::{Clock, WebhookSender, WholeStore};
use quita_services::secret_keys::Strongbox;

use crate::acquirers::Link;
use crate::jobs::{JobName, JobOutcome, Pass, Rhythm};
use by_mail::ByMail;
use by_webhook::ByWebhook;
use metrics::MessageMetrics;
use notifier::{Channels, NewsRound, Notifier};
use operator_news::OperatorNews;
use outage::OutageReport;
use quita_services::audit::{Audit, Initiator};
use quita_services::people::{Channel, MessageWebhooks, People, PeopleError};

/// Schedule of collecting news.
pub(crate) const MESSAGES: Rhythm =
    Rhythm { name: JobName::Messages, every: Duration::from_secs(60), first_after: Duration::from_secs(30) };
/// Age from which an outage is reported: most outages are shorter.
const LASTS_MS: u64 = 60_000;
/// Time without a heartbeat after which every node has noticed that another one is lost.
const LOST_NODE_IS_SEEN_AFTER: Duration = Duration::from_secs(66);
/// Time added to the wait for a trouble that has nearly lasted long enough.
const A_MOMENT: Duration = Duration::from_millis(200);

/// Runner that collects news and sends it.
pub(crate) struct MessageRunner {
    notifier: Notifier,
    service: WatchedService,
    /// Operators as last read, for times when the store is unavailable.
    operators: Vec<Operator>,
    outage: OutageReport,
}

/// Service whose problems are reported to operators.
pub(crate) struct WatchedService {
    pub(crate) operators: Operators,
    pub(crate) payments: Payments,
    pub(crate) links: Vec<Arc<Link>>,
}

/// Parts of the service that are needed to send messages and to record them as sent.
pub(crate) struct MessageParts<'a> {
    pub(crate) store: Arc<dyn WholeStore>,
    pub(crate) clock: Arc<dyn Clock>,
    pub(crate) strongbox: Strongbox,
    /// Sender of this thread, with the address policy of all webhooks.
    pub(crate) sender: Rc<dyn WebhookSender>,
    /// Server that accepts e-mails, if there is one.
    pub(crate) mail: Option<&'a MailConfig>,
    pub(crate) public_url: String,
    pub(crate) audit: Audit,
    /// This node, as named in the audit log.
    pub(crate) node: Initiator,
}

impl MessageRunner {
    /// Prepares the messages.
    ///
    /// # Errors
    /// Fails if the connection to the mail server can't be prepared, or a metric is already registered.
    pub(crate) fn new(
        parts: MessageParts<'_>,
        service: WatchedService,
        registry: &Registry,
    ) -> anyhow::Result<Self> {
        let MessageParts { store, clock, strongbox, sender, mail, public_url, audit, node } = parts;
        let people = People::new(store.clone(), Arc::clone(&clock));
        let by_mail = mail.map(|mail| by_mail(mail, registry)).transpose()?;
        let webhooks = MessageWebhooks::new(people, strongbox);
        let metrics = MessageMetrics::of_webhooks(registry)?;
        let by_webhook = ByWebhook::new(sender, webhooks, Arc::clone(&clock), metrics);
        let channels = Channels { by_mail, by_webhook };
        let notifier = Notifier::new(store, clock, channels, audit, node, public_url);
        Ok(Self { notifier, service, operators: Vec::new(), outage: OutageReport::default() })
    }

    /// Sends unreported news. Fails as long as the mail server has not accepted the last e-mail.
    pub(crate) async fn pass(&mut self) -> Pass {
        let outcome = self.pass_once().await;
        let away = self.service.payments.store_away();
        let now = self.notifier.now();
        let nodes = self.service.operators.nodes();
        let silent_s = nodes.iter().filter_map(|view| view.silent_s.filter(|_| view.is_silent())).max();
        match brought_forward(away.map(|away| now.ms_since(away.since)), silent_s) {
            Some(wait) => Pass::again_in(outcome, wait),
            None => outcome.into(),
        }
    }

    async fn pass_once(&mut self) -> JobOutcome {
        let round = self.notifier.begin_round();
        if let Some(away) = self.service.payments.store_away() {
            if round.now.ms_since(away.since) >= LASTS_MS {
                self.outage.report(&away, &self.operators, &self.notifier).await;
            }
            return Err(String::from("the store is unavailable"));
        }
        let Self { notifier, service, operators, .. } = self;
        let to_operators = async {
            let reported = report_to_operators(notifier, service, operators, &round).await;
            reported.map_err(|error| {
                tracing::debug!(%error, "news for operators could not be read; the next round will retry");
                error.to_string()
            })
        };
        let to_owners = async {
            notifier.report_to_owners(&round).await.map_err(|error| {
                tracing::debug!(%error, "news for owners could not be read; the next round will retry");
                error.to_string()
            })
        };
        let (to_operators, to_owners) = tokio::join!(to_operators, to_owners);
        let tried_before =
            || "tried by another process, or before this one started; it will be retried".into();
        let failure = self.notifier.mail_failure().or_else(|| round.has_unsent_mail.get().then(tried_before));
        let by_mail = failure.map_or(Ok(()), |error| {
            Err(format!(
                "the last e-mail could not be sent; is mail-server right, and does it answer? {error}"
            ))
        });
        to_operators.and(to_owners).and(by_mail)
    }
}

/// Returns the time until a trouble that has begun is due to be reported, if that is before the next round. Otherwise a
/// trouble of less than two minutes may end between two rounds.
fn brought_forward(away_ms: Option<u64>, silent_s: Option<u64>) -> Option<Duration> {
    let store = away_ms.and_then(|away_ms| LASTS_MS.checked_sub(away_ms)).map(Duration::from_millis);
    let node = silent_s.map(|silent_s| {
        let left = LOST_NODE_IS_SEEN_AFTER.saturating_sub(Duration::from_secs(silent_s));
        // Not more often than nodes are looked at.
        left.max(Duration::from_secs(5))
    });
    let soonest = store.into_iter().chain(node).min()?;
    // A moment later, so that the trouble has certainly lasted long enough.
    Some((soonest + A_MOMENT).min(MESSAGES.every))
}

/// Reports news about the service to operators, and remembers those operators in case of an outage of the store.
async fn report_to_operators(
    notifier: &Notifier,
    service: &WatchedService,
    operators: &mut Vec<Operator>,
    round: &NewsRound,
) -> Result<(), PeopleError> {
    *operators = notifier.operators().await?;
    if operators.is_empty() {
        return Ok(());
    }
    let news = OperatorNews::read(notifier.store(), service, round.now).await?;
    let due = |channel| {
        let news = &news;
        let due = operators.iter().filter_map(move |operator| {
            Some((operator.clone(), notifier.news_for(operator, channel, round, news)?))
        });
        due.collect()
    };
    notifier.report(due(Channel::Mail), due(Channel::Webhook), round).await
}

fn by_mail(mail: &MailConfig, registry: &Registry) -> anyhow::Result<ByMail> {
    Ok(ByMail::new(Arc::new(mailer(mail)?), MessageMetrics::of_mails(registry)?))
}

/// Creates the sender of e-mails, as configured.
///
/// # Errors
/// Fails if the connection to the mail server can't be prepared.
pub(crate) fn mailer(mail: &MailConfig) -> Result<SmtpMailer, CannotMail> {
    SmtpMailer::new(access(mail))
}

fn access(mail: &MailConfig) -> Access {
    let protection = match mail.protection {
        MailProtection::Tls => Protection::Tls,
        MailProtection::StartTls => Protection::StartTls,
        MailProtection::Loopback => Protection::None,
    };
    let MailConfig { host, port, from, credentials, .. } = mail.clone();
    Access { protection, host, port, credentials, from }
}
