//! Messages by e-mail to people who are not looking: to owners about their merchant, to operators about the service.
//!
//! Each minute this looks for news that were not reported yet. What was reported is stored with the person, so one of
//! several nodes sends. A message is sent at least once: again, if its server may not have taken it.

mod digest;
mod merchant_news;
mod notifier;
mod operator_news;
mod receivers;
#[cfg(test)]
mod tests;

use std::sync::Arc;
use std::time::Duration;

use prometheus::Registry;
use quita_actors::{Operators, Payments};
use quita_config::Config;
use quita_config::mail::{MailConfig, MailProtection};
use quita_domain::people::Operator;
use quita_domain::time::Timestamp;
use quita_mail::{Access, Protection, SmtpMailer};
use quita_ports::{Clock, WholeStore};
use tokio::time::{Instant, MissedTickBehavior, interval_at};

use crate::acquirers::Link;
use crate::console::Language;
use crate::service::people::{PeopleError, Someone};
use digest::Digest;
use notifier::{Look, MailMetrics, Notifier};
use operator_news::OperatorNews;

/// Time between two looks for news.
const LOOK_EVERY: Duration = Duration::from_secs(60);
/// Time of the first look after the start.
const FIRST_LOOK_AFTER: Duration = Duration::from_secs(30);
/// Age from which an outage is reported: most are shorter.
const LASTS_MS: u64 = 60_000;

/// Looks for news and sends them.
pub(crate) struct MailRunner {
    notifier: Notifier,
    service: WatchedService,
    /// Operators as they were read last, for the time when the store is away.
    operators: Vec<Operator>,
    /// Beginning of the outage of the store that was reported last.
    reported_outage: Option<Timestamp>,
}

/// Service that operators are told about.
pub(crate) struct WatchedService {
    pub(crate) operators: Operators,
    pub(crate) payments: Payments,
    pub(crate) links: Vec<Arc<Link>>,
}

impl MailRunner {
    /// Prepares the messages; `None` if the configuration names no server.
    ///
    /// # Errors
    /// If the way to the server can't be prepared, or the metric is registered already.
    pub(crate) fn new(
        config: &Config,
        (store, clock): (Arc<dyn WholeStore>, Arc<dyn Clock>),
        service: WatchedService,
        public_url: String,
        registry: &Registry,
    ) -> anyhow::Result<Option<Self>> {
        let Some(mail) = &config.mail else { return Ok(None) };
        let mailer = Arc::new(SmtpMailer::new(access(mail))?);
        let metrics = MailMetrics::register(registry)?;
        let notifier = Notifier::new((store, clock), mailer, public_url, metrics);
        Ok(Some(Self { notifier, service, operators: Vec::new(), reported_outage: None }))
    }

    /// Looks again and again.
    pub(crate) async fn run(mut self) {
        let mut ticks = interval_at(Instant::now() + FIRST_LOOK_AFTER, LOOK_EVERY);
        ticks.set_missed_tick_behavior(MissedTickBehavior::Delay);
        loop {
            ticks.tick().await;
            self.look().await;
        }
    }

    /// Reports news that were not reported yet.
    async fn look(&mut self) {
        let mut look = self.notifier.begin_look();
        if let Some(away) = self.service.payments.store_away() {
            self.report_outage(away.since, &look).await;
            return;
        }
        if let Err(error) = self.report_to_operators(&mut look).await {
            tracing::debug!(%error, "news for operators could not be read; the next look tries again");
        }
        if let Err(error) = self.notifier.report_to_owners(&mut look).await {
            tracing::debug!(%error, "news for owners could not be read; the next look tries again");
        }
    }

    async fn report_to_operators(&mut self, look: &mut Look) -> Result<(), PeopleError> {
        let mut operators = self.notifier.operators().await?;
        operators.retain(|operator| operator.is_told_by_mail() && !operator.mailing.is_off);
        self.operators = operators;
        let now = look.now;
        if !self.operators.iter().any(|operator| operator.mailing.is_due(now)) {
            return Ok(());
        }
        let news = OperatorNews::read(self.notifier.store(), &self.service, now).await?;
        for operator in self.operators.iter().filter(|operator| operator.mailing.is_due(now)) {
            self.notifier.report(operator, news.digest(operator, look), look).await?;
        }
        Ok(())
    }

    /// Reports an outage of the store. Nothing can be noted in it, so every node sends its own message, once.
    async fn report_outage(&mut self, since: Timestamp, look: &Look) {
        if look.now.ms_since(since) < LASTS_MS || self.reported_outage == Some(since) {
            return;
        }
        let mut has_failed = false;
        for operator in &self.operators {
            let digest = Digest::outage(since, Language::of_mail(operator.mailing.language));
            has_failed |= !self.notifier.send(&digest.to_operator(operator)).await;
        }
        if !has_failed {
            self.reported_outage = Some(since);
        }
    }
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
