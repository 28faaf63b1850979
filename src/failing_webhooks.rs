//! Log of receivers that do not accept webhooks: a line when one starts to fail, and when the reason changes.
//!
//! A line contains only host and port of the URL: the rest may be a secret.

use std::collections::HashMap;
use std::rc::Rc;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use async_trait::async_trait;
use quita_domain::delivery::address_of;
use quita_ports::{SentWebhook, WebhookRequest, WebhookSender, WebhookSenderFactory};
use tokio::time::Instant;

use crate::console::Language;
use crate::console::merchant::delivery_attempts::outcome_of;

/// Time after a line during which its receiver gets no other: a receiver that fails occasionally must not flood the
/// log.
const PAUSE: Duration = Duration::from_secs(2);

/// Maximum number of receivers that are remembered, the most recent ones.
const MOST: usize = 1_000;

/// Senders whose failures are logged.
pub(crate) struct FailingWebhooks {
    senders: Arc<dyn WebhookSenderFactory>,
    told: Arc<LastLines>,
    /// True if failures are logged at `info`. Otherwise, they are logged only while debug logging is on.
    is_told: bool,
}

impl FailingWebhooks {
    /// Logs the failures of these senders at `info` if `is_told`.
    pub(crate) fn new(senders: Arc<dyn WebhookSenderFactory>, is_told: bool) -> Self {
        Self { senders, told: Arc::default(), is_told }
    }
}

impl WebhookSenderFactory for FailingWebhooks {
    fn build(&self) -> Rc<dyn WebhookSender> {
        Rc::new(Sender { sender: self.senders.build(), told: Arc::clone(&self.told), is_told: self.is_told })
    }
}

struct Sender {
    sender: Rc<dyn WebhookSender>,
    told: Arc<LastLines>,
    is_told: bool,
}

#[async_trait(?Send)]
impl WebhookSender for Sender {
    async fn send(&self, request: WebhookRequest) -> SentWebhook {
        let is_told = self.is_told || tracing::enabled!(tracing::Level::DEBUG);
        let address = is_told.then(|| address_of(&request.url));
        let sent = self.sender.send(request).await;
        if let Some(address) = address {
            self.told.note(address, &sent);
        }
        sent
    }
}

/// Reason for a receiver's failure, as logged in its line.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Reason {
    outcome: String,
    detail: Option<String>,
}

impl Reason {
    fn of(sent: &SentWebhook) -> Option<Self> {
        let outcome = (!sent.attempt.is_confirmed()).then(|| outcome_of(&sent.attempt, Language::English))?;
        Some(Self { outcome, detail: sent.detail.as_ref().map(|detail| detail.text.clone()) })
    }
}

/// Last line about a receiver. The reason is absent if the receiver has confirmed since.
struct LastLine {
    at: Instant,
    reason: Option<Reason>,
}

/// Last lines, by host and port.
#[derive(Default)]
struct LastLines(Mutex<HashMap<String, LastLine>>);

impl LastLines {
    fn note(&self, address: String, sent: &SentWebhook) {
        let reason = Reason::of(sent);
        let Some(Reason { outcome, detail }) = self.news(address.clone(), reason, Instant::now()) else {
            return;
        };
        tracing::info!(server.address = address, outcome, detail, "a receiver did not accept a webhook");
    }

    /// Returns the reason if it should be logged.
    fn news(&self, address: String, reason: Option<Reason>, now: Instant) -> Option<Reason> {
        let mut lines = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(last) = lines.get_mut(&address) {
            let may_tell = now.duration_since(last.at) >= PAUSE;
            if reason.is_none() {
                last.reason = None;
            }
            // A reason suppressed by the pause is not stored, so it still counts as new at the next failure.
            if last.reason == reason || !may_tell {
                return None;
            }
        }
        let reason = reason?;
        if lines.len() >= MOST && !lines.contains_key(&address) {
            forget_oldest(&mut lines);
        }
        lines.insert(address, LastLine { at: now, reason: Some(reason.clone()) });
        Some(reason)
    }
}

fn forget_oldest(lines: &mut HashMap<String, LastLine>) {
    let oldest = lines.iter().min_by_key(|(_, line)| line.at).map(|(address, _)| address.clone());
    if let Some(oldest) = oldest {
        lines.remove(&oldest);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn failed(outcome: &str) -> Option<Reason> {
        Some(Reason { outcome: outcome.into(), detail: None })
    }

    /// Checks which of these outcomes of one receiver, after so many seconds, get a line.
    #[track_caller]
    fn check(outcomes: &[(u64, Option<Reason>, bool)]) {
        let told = LastLines::default();
        let begin = Instant::now();
        for (after_s, reason, expected) in outcomes {
            let at = begin + Duration::from_secs(*after_s);
            let news = told.news("r:443".into(), reason.clone(), at);
            assert_eq!(news.is_some(), *expected, "{reason:?} after {after_s} s");
        }
    }

    #[test]
    fn a_receiver_gets_a_line_when_it_begins_to_fail_and_when_the_reason_changes() {
        check(&[
            (0, None, false),
            (1, failed("500"), true),
            (4, failed("500"), false),
            (9_000, failed("500"), false),
            (9_001, failed("tls"), true),
            (9_005, None, false),
            (9_006, None, false),
            (9_007, failed("tls"), true),
        ]);
    }

    #[test]
    fn a_receiver_that_fails_now_and_then_does_not_flood_the_log() {
        check(&[
            (0, failed("500"), true),
            (0, None, false),
            (1, failed("500"), false),
            (1, failed("503"), false),
            (2, failed("503"), true),
            (3, failed("500"), false),
            (4, failed("500"), true),
        ]);
    }

    #[test]
    fn receivers_are_told_apart_and_only_the_latest_are_remembered() {
        let told = LastLines::default();
        let begin = Instant::now();
        let news = |number: usize, after_s: u64| {
            let at = begin + Duration::from_secs(after_s);
            told.news(format!("r{number}:443"), failed("500"), at).is_some()
        };
        assert!((0..=MOST).all(|number| news(number, u64::try_from(number).unwrap())));
        assert_eq!(told.0.lock().unwrap().len(), MOST);
        assert!(news(0, 9_000), "the oldest was forgotten");
        assert!(!news(MOST, 9_000));
    }
}
