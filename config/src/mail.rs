//! E-mail messages: the server that accepts them.

use std::net::IpAddr;

use quita_domain::people::Login;
use quita_domain::secret::Secret;
use url::Url;

use super::secret_text;
use super::settings::Settings;

const SERVER_FORM: &str = "smtp://HOST:PORT (STARTTLS is required), smtps://HOST:PORT, or smtp:// to a loopback address \
     (unencrypted), without user, path or query";

/// Port of mail submission with STARTTLS (RFC 6409).
const SUBMISSION_PORT: u16 = 587;
/// Port of mail submission over TLS (RFC 8314).
const SUBMISSIONS_PORT: u16 = 465;

/// Protection of the connection to a mail server.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum MailProtection {
    /// TLS from the first byte.
    Tls,
    /// TLS after STARTTLS, which is required.
    StartTls,
    /// No protection, on this machine.
    Loopback,
}

/// Mail server, and the way in which it is used.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct MailConfig {
    /// Protection of the connection.
    pub protection: MailProtection,
    /// Host name or address.
    pub host: String,
    /// Port.
    pub port: u16,
    /// Address that messages are from.
    pub from: String,
    /// User and password, if the server asks for them.
    pub credentials: Option<(String, Secret<String>)>,
}

/// Reads the options about e-mail. Returns `None` if no messages are sent, or the settings were refused.
pub(super) fn read(settings: &mut Settings) -> Option<MailConfig> {
    let server = settings.read("mail-server", SERVER_FORM, parse_server);
    let from = settings.read("mail-from", "an e-mail address", Login::parse);
    let user = settings.read("mail-user", "any text", |text| Some(text.to_owned()));
    let password = secret_text::read(settings, "mail-password", "mail-password-file");
    if settings.given("mail-server").is_none() {
        let others = ["mail-from", "mail-user", "mail-password-file", "mail-password"];
        if let Some(alone) = others.into_iter().find(|name| settings.given(name).is_some()) {
            settings.refuse(alone, "it has no effect without mail-server; set both, or neither".into());
        }
        return None;
    }
    if settings.given("mail-from").is_none() {
        let why = "messages need a sender address; set mail-from, such as quita@example.com";
        settings.refuse("mail-server", why.into());
    }
    let has_password =
        ["mail-password", "mail-password-file"].iter().any(|name| settings.given(name).is_some());
    if settings.given("mail-user").is_some() && !has_password {
        let why = "a user of the mail server has a password; set QUITA_MAIL_PASSWORD, or set mail-password-file to a \
                   file that holds nothing else";
        settings.refuse("mail-user", why.into());
    }
    let (protection, host, port) = server?;
    let from = from?.as_str().to_owned();
    let credentials = password.map(|password| (user.unwrap_or_else(|| from.clone()), Secret::new(password)));
    Some(MailConfig { protection, host, port, from, credentials })
}

fn parse_server(text: &str) -> Option<(MailProtection, String, u16)> {
    let url = Url::parse(text).ok()?;
    let is_plain = url.username().is_empty()
        && url.password().is_none()
        && ["", "/"].contains(&url.path())
        && url.query().is_none()
        && url.fragment().is_none();
    let host = url.host_str().filter(|host| is_plain && !host.is_empty())?;
    let host = host.trim_start_matches('[').trim_end_matches(']').to_owned();
    let (protection, port) = match url.scheme() {
        "smtps" => (MailProtection::Tls, SUBMISSIONS_PORT),
        "smtp" if is_loopback(&host) => (MailProtection::Loopback, SUBMISSION_PORT),
        "smtp" => (MailProtection::StartTls, SUBMISSION_PORT),
        _ => return None,
    };
    Some((protection, host, url.port().unwrap_or(port)))
}

fn is_loopback(host: &str) -> bool {
    host == "localhost" || host.parse::<IpAddr>().is_ok_and(|address| address.is_loopback())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_a_server_on_this_machine_is_spoken_to_in_clear() {
        for (text, expected) in [
            ("smtp://mail.example.com", Some((MailProtection::StartTls, "mail.example.com", 587))),
            ("smtp://mail.example.com:2525/", Some((MailProtection::StartTls, "mail.example.com", 2525))),
            ("smtps://mail.example.com", Some((MailProtection::Tls, "mail.example.com", 465))),
            ("smtp://127.0.0.1:1025", Some((MailProtection::Loopback, "127.0.0.1", 1025))),
            ("smtp://[::1]:1025", Some((MailProtection::Loopback, "::1", 1025))),
            ("smtp://127.0.0.1.example.com", Some((MailProtection::StartTls, "127.0.0.1.example.com", 587))),
            ("https://mail.example.com", None),
            ("smtp://user:secret@mail.example.com", None),
            ("smtp://mail.example.com?tls=none", None),
            ("smtp://", None),
            ("mail.example.com:587", None),
        ] {
            let expected = expected.map(|(protection, host, port)| (protection, host.to_owned(), port));
            assert_eq!(parse_server(text), expected, "{text}");
        }
    }
}
