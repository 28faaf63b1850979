//! Messages by e-mail.

use std::sync::Arc;

use quita_domain::people::{Operator, User};
use quita_ports::{Mail, Mailer};

use super::digest::Digest;
use super::metrics::MessageMetrics;

/// Channel of messages by e-mail.
pub(super) struct ByMail {
    mailer: Arc<dyn Mailer>,
    metrics: MessageMetrics,
}

impl ByMail {
    /// Hands messages to this mailer.
    pub(super) fn new(mailer: Arc<dyn Mailer>, metrics: MessageMetrics) -> Self {
        Self { mailer, metrics }
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

/// Somebody whom an e-mail tells.
pub(super) trait MailReader {
    /// Writes the message with this news.
    fn letter(&self, digest: &Digest, public_url: &str) -> Mail;
}

impl MailReader for User {
    fn letter(&self, digest: &Digest, public_url: &str) -> Mail {
        digest.to_owner(self, public_url)
    }
}

impl MailReader for Operator {
    fn letter(&self, digest: &Digest, _: &str) -> Mail {
        digest.to_operator(self)
    }
}
