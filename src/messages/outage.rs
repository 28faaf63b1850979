//! Report of an outage of the store. Nothing can be recorded in the store, so every node sends its own report, and
//! remembers it.

use std::collections::BTreeSet;

use futures_util::future::join_all;
use quita_actors::StoreAway;
use quita_domain::people::{Login, Operator};
use quita_domain::time::Timestamp;
use tokio::time::Instant;

use super::by_webhook::WebhookOutcome;
use super::digest::Digest;
use super::notifier::{BEGIN_WITHIN, Notifier};
use quita_services::people::Channel;

/// Report of an outage of the store to operators, sent once to each and by each channel.
#[derive(Debug, Default)]
pub(super) struct OutageReport {
    /// Start of the outage that was last reported.
    since: Option<Timestamp>,
    /// Operators whom that report has reached, and by which channel.
    reached: BTreeSet<(Channel, Login)>,
}

impl OutageReport {
    /// Reports the outage to the operators whom its report has not reached yet.
    pub(super) async fn report(&mut self, away: &StoreAway, operators: &[Operator], notifier: &Notifier) {
        if self.since != Some(away.since) {
            *self = Self { since: Some(away.since), reached: BTreeSet::new() };
        }
        let (mailed, called) =
            tokio::join!(self.mailed(away, operators, notifier), self.called(away, operators, notifier));
        self.reached.extend(mailed.into_iter().map(|login| (Channel::Mail, login)));
        self.reached.extend(called.into_iter().map(|login| (Channel::Webhook, login)));
    }

    /// Sends the e-mails that can be started in time, and returns the operators whom they reached.
    async fn mailed(&self, away: &StoreAway, operators: &[Operator], notifier: &Notifier) -> Vec<Login> {
        let begun = Instant::now();
        let mut reached = Vec::new();
        for operator in operators {
            if begun.elapsed() <= BEGIN_WITHIN
                && let Some(digest) = self.news_for(operator, Channel::Mail, away, notifier)
                && notifier.mail(operator, &digest).await
            {
                reached.push(operator.login.clone());
            }
        }
        reached
    }

    /// Sends the webhooks, and returns the operators who need no further one.
    async fn called(&self, away: &StoreAway, operators: &[Operator], notifier: &Notifier) -> Vec<Login> {
        let calls = operators.iter().filter_map(|operator| {
            let digest = self.news_for(operator, Channel::Webhook, away, notifier)?;
            Some(async move { (operator, notifier.call(operator, &digest).await) })
        });
        let reached = join_all(calls).await.into_iter().filter(|(_, outcome)| match outcome {
            // A receiver that is gone can't be removed until the store is back; until then, nothing is sent to it.
            WebhookOutcome::Taken | WebhookOutcome::Gone => true,
            WebhookOutcome::Failed => false,
        });
        reached.map(|(operator, _)| operator.login.clone()).collect()
    }

    /// Returns the news for an operator, unless this channel has delivered it already or they receive none by it.
    fn news_for(
        &self,
        operator: &Operator,
        channel: Channel,
        away: &StoreAway,
        notifier: &Notifier,
    ) -> Option<Digest> {
        let is_new = !self.reached.contains(&(channel, operator.login.clone()));
        let reader = notifier.reader(operator, channel).filter(|_| is_new)?;
        Some(Digest::outage(away, notifier.place(), reader.language()))
    }
}
