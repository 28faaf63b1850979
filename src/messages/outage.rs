//! Report of an outage of the store. Nothing can be noted in the store, so every node sends its own, and remembers it.

use std::collections::BTreeSet;

use futures_util::future::join_all;
use quita_actors::StoreAway;
use quita_domain::people::{Login, Operator};
use quita_domain::time::Timestamp;

use super::by_webhook::WebhookOutcome;
use super::digest::Digest;
use super::notifier::Notifier;
use quita_services::people::Channel;

/// Report of one outage of the store to operators, once for each and by each channel.
#[derive(Debug, Default)]
pub(super) struct OutageReport {
    /// Beginning of the outage that was reported last.
    since: Option<Timestamp>,
    /// Operators whom that report reached, by which channel.
    reached: BTreeSet<(Channel, Login)>,
}

impl OutageReport {
    /// Reports the outage to the operators whom its report did not reach yet.
    pub(super) async fn report(&mut self, away: &StoreAway, operators: &[Operator], notifier: &Notifier) {
        if self.since != Some(away.since) {
            *self = Self { since: Some(away.since), reached: BTreeSet::new() };
        }
        for operator in operators {
            if let Some(digest) = self.news_for(operator, Channel::Mail, away, notifier)
                && notifier.mail(operator, &digest).await
            {
                self.reached.insert((Channel::Mail, operator.login.clone()));
            }
        }
        let calls = operators.iter().filter_map(|operator| {
            let digest = self.news_for(operator, Channel::Webhook, away, notifier)?;
            Some(async move { (operator, notifier.call(operator, &digest).await) })
        });
        for (operator, outcome) in join_all(calls).await {
            match outcome {
                // A receiver that is gone can't be forgotten before the store is back; until then it is left alone.
                WebhookOutcome::Taken | WebhookOutcome::Gone => {
                    self.reached.insert((Channel::Webhook, operator.login.clone()));
                }
                WebhookOutcome::Failed => {}
            }
        }
    }

    /// Returns the news for an operator, unless it reached them by this channel or they get none by it.
    fn news_for(
        &self,
        operator: &Operator,
        channel: Channel,
        away: &StoreAway,
        notifier: &Notifier,
    ) -> Option<Digest> {
        let is_new = !self.reached.contains(&(channel, operator.login.clone()));
        let reader = notifier.reader(operator, channel).filter(|_| is_new)?;
        Some(Digest::outage(away, reader.language()))
    }
}
