//! Sending messages by e-mail.

use async_trait::async_trait;
use thiserror::Error;

/// One message to one person, in plain text.
#[derive(Clone, PartialEq, Eq)]
pub struct Mail {
    /// Address of the person.
    pub to: String,
    /// Subject, one line.
    pub subject: String,
    /// Text, with `\n` between lines.
    pub text: String,
}

/// Reason why the server did not accept a message. Never names the person.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
#[error("{0}")]
pub struct MailError(pub String);

/// Sender of messages.
#[async_trait]
pub trait Mailer: Send + Sync + 'static {
    /// Hands a message to the server, within a time-out.
    ///
    /// # Errors
    /// If the server did not accept it, or if its answer was lost.
    async fn send(&self, mail: &Mail) -> Result<(), MailError>;
}
