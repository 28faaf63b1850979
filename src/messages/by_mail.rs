//! Messages by e-mail.

use std::sync::{Arc, Mutex, PoisonError};

use quita_domain::people::{Operator, User};
use quita_ports::{Mail, Mailer};

use super::digest::Digest;
use super::metrics::MessageMetrics;

/// Channel of messages by e-mail.
pub(super) struct ByMail {
    mailer: Arc<dyn Mailer>,
    metrics: MessageMetrics,
    /// Error of the last message, if the server did not accept it.
    failure: Mutex<Option<String>>,
}

impl ByMail {
    /// Creates the channel that sends messages with this mailer.
    pub(super) fn new(mailer: Arc<dyn Mailer>, metrics: MessageMetrics) -> Self {
        Self { mailer, metrics, failure: Mutex::default() }
    }

    /// Returns the error of the last message, until the server accepts one.
    pub(super) fn failure(&self) -> Option<String> {
        self.failure.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    fn replace_failure(&self, failure: Option<String>) -> Option<String> {
        std::mem::replace(&mut *self.failure.lock().unwrap_or_else(PoisonError::into_inner), failure)
    }

    /// Sends a message; returns false if the server did not accept it. Logs an outage of the server once.
    pub(super) async fn send(&self, mail: &Mail) -> bool {
        match self.mailer.send(mail).await {
            Ok(()) => {
                self.metrics.sent.inc();
                if self.replace_failure(None).is_some() {
                    tracing::info!("messages by e-mail are sent again");
                }
                true
            }
            Err(error) => {
                self.metrics.failed.inc();
                let before = self.replace_failure(Some(error.to_string()));
                if before.is_none() {
                    tracing::warn!(%error, "a message by e-mail could not be sent; it will be retried");
                } else {
                    tracing::debug!(%error, "a message by e-mail could still not be sent");
                }
                false
            }
        }
    }
}

/// Recipient of e-mails.
pub(super) trait MailReader {
    /// Composes the message with this news.
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
