//! E-mail messages, handed to one SMTP server. Each uses a connection of its own, because there are few.

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
use tokio::time::timeout;
use uuid::Uuid;

/// Time limit of a whole conversation with the server.
const TIME_OUT: Duration = Duration::from_secs(20);

/// Protection of the connection to the server.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Protection {
    /// TLS from the first byte.
    Tls,
    /// TLS after STARTTLS; a server without STARTTLS is refused.
    StartTls,
    /// No protection: for a server on this machine.
    None,
}

/// Access to a server.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Access {
    /// Protection of the connection.
    pub protection: Protection,
    /// Host name, which the server's certificate must contain, or address.
    pub host: String,
    /// Port.
    pub port: u16,
    /// User and password, if the server asks for them.
    pub credentials: Option<(String, Secret<String>)>,
    /// Address that messages are from.
    pub from: String,
}

/// Reason why no mailer could be created.
#[derive(Debug, Error)]
pub enum CannotMail {
    /// The sender's address is invalid.
    #[error("mail-from is no address that a message can bear: {0}")]
    From(#[from] AddressError),
    /// TLS is not available.
    #[error("TLS to the mail server can't be prepared: {0}")]
    Tls(#[from] smtp::Error),
}

/// Sender of messages through one SMTP server.
#[derive(Debug)]
pub struct SmtpMailer {
    transport: AsyncSmtpTransport<Tokio1Executor>,
    from: Mailbox,
}

impl SmtpMailer {
    /// Prepares the connection to a server, which is opened with the first message.
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
        // Each conversation as a whole has a time limit: the library's limit ends with the connection.
        let builder = builder.port(access.port).timeout(None);
        let builder = match access.credentials {
            Some((user, password)) => builder.credentials(Credentials::new(user, password.expose().clone())),
            None => builder,
        };
        let from = Mailbox::new(Some("Quita".into()), access.from.parse()?);
        Ok(Self { transport: builder.build(), from })
    }

    /// Greets the server and signs in, as for a message, but sends none.
    ///
    /// # Errors
    /// Fails if the server does not answer in time, refuses, or is not the expected one.
    pub async fn greet(&self) -> Result<(), MailError> {
        if in_time(self.transport.test_connection()).await? {
            Ok(())
        } else {
            Err(MailError("the mail server greeted, and then answered nothing".into()))
        }
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
        // Tells automatic responders not to answer (RFC 3834, section 5).
        let name = HeaderName::new_from_ascii_str("Auto-Submitted");
        message.headers_mut().insert_raw(HeaderValue::new(name, "auto-generated".into()));
        Ok(message)
    }
}

#[async_trait]
impl Mailer for SmtpMailer {
    async fn send(&self, mail: &Mail) -> Result<(), MailError> {
        let message = self.message(mail)?;
        in_time(self.transport.send(message)).await.map(drop)
    }
}

/// Waits for the end of a conversation with the server. A server that falls silent at any step is given up.
async fn in_time<T>(conversation: impl Future<Output = Result<T, smtp::Error>>) -> Result<T, MailError> {
    let Ok(ended) = timeout(TIME_OUT, conversation).await else {
        return Err(MailError(format!("the mail server did not answer within {} s", TIME_OUT.as_secs())));
    };
    ended.map_err(|error| MailError(described(&error)))
}

/// Describes a failure. Of the server's answer it only includes the code: the text may repeat the person's address.
fn described(error: &smtp::Error) -> String {
    error.status().map_or_else(|| error.to_string(), |code| format!("the mail server answered {code}"))
}

#[cfg(test)]
mod tests {
    use tokio::io::{AsyncBufReadExt, AsyncWriteExt, BufReader};
    use tokio::net::TcpListener;

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

    /// Returns a mailer without TLS, and the socket to which it connects.
    async fn plain() -> (SmtpMailer, TcpListener) {
        let server = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let port = server.local_addr().unwrap().port();
        let host = "127.0.0.1".into();
        let from = "quita@example.com".into();
        let access = Access { protection: Protection::None, host, port, credentials: None, from };
        (SmtpMailer::new(access).unwrap(), server)
    }

    fn mail() -> Mail {
        Mail { to: "ana@loja.example".into(), subject: "News".into(), text: "All is well.\n".into() }
    }

    /// Has a conversation with a server that says `greeting` and nothing more. Returns the result, and the seconds that
    /// it took.
    async fn with_silent_server(greeting: &str, is_mail: bool) -> (Result<(), MailError>, u64) {
        let (mailer, server) = plain().await;
        let talk =
            tokio::spawn(
                async move { if is_mail { mailer.send(&mail()).await } else { mailer.greet().await } },
            );
        let (mut socket, _) = server.accept().await.unwrap();
        socket.write_all(greeting.as_bytes()).await.unwrap();
        if !greeting.is_empty() {
            BufReader::new(&mut socket).read_line(&mut String::new()).await.unwrap();
        }
        tokio::time::pause();
        let begun = tokio::time::Instant::now();
        let ended = timeout(Duration::from_secs(3_600), talk).await.expect("it is given up").unwrap();
        (ended, begun.elapsed().as_secs())
    }

    #[tokio::test]
    async fn a_server_that_takes_the_connection_and_falls_silent_is_given_up_in_time() {
        for greeting in ["", "220 mail.example.com\r\n"] {
            for is_mail in [true, false] {
                let (ended, seconds) = with_silent_server(greeting, is_mail).await;
                assert_eq!(ended.unwrap_err().0, "the mail server did not answer within 20 s", "{greeting}");
                assert!(seconds <= TIME_OUT.as_secs(), "{seconds}");
                tokio::time::resume();
            }
        }
    }

    #[tokio::test]
    async fn a_server_is_greeted_and_sent_nothing() {
        let (mailer, server) = plain().await;
        let talk = tokio::spawn(async move { mailer.greet().await });
        let (socket, _) = server.accept().await.unwrap();
        let mut socket = BufReader::new(socket);
        socket.write_all(b"220 mail.example.com\r\n").await.unwrap();
        let mut verbs = Vec::new();
        let mut line = String::new();
        while socket.read_line(&mut line).await.unwrap() > 0 {
            verbs.push(line.split_whitespace().next().unwrap().to_owned());
            socket.write_all(b"250 mail.example.com\r\n").await.unwrap();
            line.clear();
        }
        talk.await.unwrap().unwrap();
        assert_eq!(verbs, ["EHLO", "NOOP", "QUIT"]);
    }

    #[test]
    fn the_password_is_not_printed() {
        assert!(!format!("{:?}", access("quita@example.com")).contains("a secret"));
    }
}
