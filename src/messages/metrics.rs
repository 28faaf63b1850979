//! Counters of messages.

use prometheus::{IntCounter, IntCounterVec, Opts, Registry};

/// Counters of the messages sent by one channel.
pub(super) struct MessageMetrics {
    pub(super) sent: IntCounter,
    pub(super) failed: IntCounter,
}

impl MessageMetrics {
    /// Registers the metric of messages by e-mail.
    ///
    /// # Errors
    /// Fails if another metric has its name.
    pub(super) fn of_mails(registry: &Registry) -> prometheus::Result<Self> {
        let help = "Messages by e-mail, by whether the server accepted them";
        Self::register(Opts::new("quita_mails_total", help), registry)
    }

    /// Registers the metric of messages by webhook.
    ///
    /// # Errors
    /// Fails if another metric has its name.
    pub(super) fn of_webhooks(registry: &Registry) -> prometheus::Result<Self> {
        let help = "Messages by webhook, by whether the receiver accepted them";
        Self::register(Opts::new("quita_message_webhooks_total", help), registry)
    }

    fn register(options: Opts, registry: &Registry) -> prometheus::Result<Self> {
        let messages = IntCounterVec::new(options, &["outcome"])?;
        registry.register(Box::new(messages.clone()))?;
        let [sent, failed] = ["sent", "failed"].map(|outcome| messages.with_label_values(&[outcome]));
        Ok(Self { sent, failed })
    }
}
