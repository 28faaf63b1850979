//! Messages by e-mail, handed to one SMTP server, each over a connection of its own: there are few.

use std::time::Duration;

use async_trait::async_trait;
use lettre::address::AddressError;
use lettre::message::header::{ContentType, HeaderName, HeaderValue};
use lettre::message::{Mailbox, Message};
use lettre::transport::smtp::authentication::Credentials;
use lettre::transport::smtp::{self, AsyncSmtpTransport};
use lettre::{AsyncTransport, Tokio1Executor};
use quita_domain::secret::Secret;
use quita_ports::{Mail, MailError, Mailer};
use thiserror::Error;
use uuid::Uuid;

/// Time that each step of a conversation with the server may take.
const TIME_OUT: Duration = Duration::from_secs(20);

/// Protection of the way to the server.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Protection {
    /// TLS from the first byte.
    Tls,
    /// TLS after STARTTLS; a server without it is refused.
    StartTls,
    /// None: for a server on this machine.
    None,
}

/// Access to a server.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Access {
    /// Protection of the way.
    pub protection: Protection,
    /// Host name, which its certificate has to bear, or address.
    pub host: String,
    /// Port.
    pub port: u16,
    /// User and password, if the server asks for them.
    pub credentials: Option<(String, Secret<String>)>,
    /// Address that messages are from.
    pub from: String,
}

/// Reason why no mailer could be made.
#[derive(Debug, Error)]
pub enum CannotMail {
    /// The sender's address.
    #[error("mail-from is no address that a message can bear: {0}")]
    From(#[from] AddressError),
    /// TLS.
    #[error("TLS to the mail server can't be prepared: {0}")]
    Tls(#[from] smtp::Error),
}

/// Sender of messages by one SMTP server.
#[derive(Debug)]
pub struct SmtpMailer {
    transport: AsyncSmtpTransport<Tokio1Executor>,
    from: Mailbox,
}

impl SmtpMailer {
    /// Prepares the way to a server; connects with the first message.
    ///
    /// # Errors
    /// [`CannotMail`].
    pub fn new(access: Access) -> Result<Self, CannotMail> {
        let host = access.host.as_str();
        let builder = match access.protection {
            Protection::Tls => AsyncSmtpTransport::<Tokio1Executor>::relay(host)?,
            Protection::StartTls => AsyncSmtpTransport::<Tokio1Executor>::starttls_relay(host)?,
            Protection::None => AsyncSmtpTransport::<Tokio1Executor>::builder_dangerous(host),
        };
        let builder = builder.port(access.port).timeout(Some(TIME_OUT));
        let builder = match access.credentials {
            Some((user, password)) => builder.credentials(Credentials::new(user, password.expose().clone())),
            None => builder,
        };
        let from = Mailbox::new(Some("Quita".into()), access.from.parse()?);
        Ok(Self { transport: builder.build(), from })
    }

    fn message(&self, mail: &Mail) -> Result<Message, MailError> {
        let unaddressed = |_| MailError("the person's login is no address that a message can bear".into());
        let to = Mailbox::new(None, mail.to.parse().map_err(unaddressed)?);
        let id = format!("<{}@{}>", Uuid::now_v7(), self.from.email.domain());
        let message = Message::builder()
            .from(self.from.clone())
            .to(to)
            .subject(mail.subject.clone())
            .message_id(Some(id))
            .header(ContentType::TEXT_PLAIN)
            .body(mail.text.clone());
        let mut message =
            message.map_err(|error| MailError(format!("the message can't be built: {error}")))?;
        // Answering machines leave it alone (RFC 3834, section 5).
        let name = HeaderName::new_from_ascii_str("Auto-Submitted");
        message.headers_mut().insert_raw(HeaderValue::new(name, "auto-generated".into()));
        Ok(message)
    }
}

#[async_trait]
impl Mailer for SmtpMailer {
    async fn send(&self, mail: &Mail) -> Result<(), MailError> {
        let message = self.message(mail)?;
        self.transport.send(message).await.map(drop).map_err(|error| MailError(described(&error)))
    }
}

/// Describes a failure. Of the server's answer only its code: its words may repeat the person's address.
fn described(error: &smtp::Error) -> String {
    error.status().map_or_else(|| error.to_string(), |code| format!("the mail server answered {code}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn access(from: &str) -> Access {
        Access {
            protection: Protection::StartTls,
            host: "mail.example.com".into(),
            port: 587,
            credentials: Some(("quita".into(), Secret::new("a secret".into()))),
            from: from.into(),
        }
    }

    #[test]
    fn a_sender_that_is_no_address_is_refused_at_the_start() {
        assert!(matches!(SmtpMailer::new(access("nobody")), Err(CannotMail::From(_))));
    }

    #[test]
    fn a_message_bears_sender_person_subject_and_text_whatever_the_language() {
        let mailer = SmtpMailer::new(access("quita@example.com")).unwrap();
        let mail =
            Mail {
                to: "ana@loja.example".into(), subject: "Não entregue".into(), text: "É isto.\n".into()
            };
        let bytes = mailer.message(&mail).unwrap().formatted();
        let text = String::from_utf8(bytes).unwrap();
        for part in [
            "From: Quita <quita@example.com>",
            "To: ana@loja.example",
            "Subject: ",
            "charset=utf-8",
            "Auto-Submitted: auto-generated",
            "@example.com>",
        ] {
            assert!(text.contains(part), "{part}: {text}");
        }
    }

    #[test]
    fn the_password_is_not_printed() {
        assert!(!format!("{:?}", access("quita@example.com")).contains("a secret"));
    }
}
