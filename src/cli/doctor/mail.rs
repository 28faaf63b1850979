//! Check of the mail server: connects and signs in, without sending anything.

use super::finding::Finding;
use crate::messages;
use quita_config::Config;
use quita_config::mail::MailConfig;

const SUBJECT: &str = "mail server";

const MEND: &str = "check mail-server, its certificate, mail-user, the password and the network: until this is fixed, \
                    no e-mail is sent";

/// Connects to the mail server; `None` if none is configured.
pub(super) async fn reach(config: &Config) -> Option<Finding> {
    let mail = config.mail.as_ref()?;
    let MailConfig { host, port, .. } = mail;
    let greeted = match messages::mailer(mail) {
        Ok(mailer) => mailer.greet().await.map_err(|error| error.to_string()),
        Err(error) => Err(error.to_string()),
    };
    Some(match greeted {
        Ok(()) => Finding::ok(SUBJECT, format!("{host}:{port} answers; nothing was sent")),
        Err(why) => Finding::fail(SUBJECT, format!("{host}:{port} can't be used: {why}"), MEND),
    })
}

#[cfg(test)]
mod tests {
    use std::io::{BufRead as _, BufReader, Write as _};
    use std::net::TcpListener;
    use std::thread;

    use super::super::finding::Level;
    use super::*;
    use quita_config::settings::Settings;

    /// Returns what the doctor finds at a server on this port.
    async fn found_at(port: u16) -> Finding {
        let server = format!("smtp://127.0.0.1:{port}");
        let from = "quita@example.com".to_owned();
        let settings = Settings::gather([("mail-server", server), ("mail-from", from)], []);
        reach(&Config::from_settings(settings).unwrap()).await.unwrap()
    }

    #[actix_web::test]
    async fn without_a_mail_server_nothing_is_found() {
        assert_eq!(reach(&Config::from_settings(Settings::gather([], [])).unwrap()).await, None);
    }

    #[actix_web::test]
    async fn a_mail_server_that_is_down_fails_with_its_address() {
        let socket = TcpListener::bind("127.0.0.1:0").unwrap();
        let port = socket.local_addr().unwrap().port();
        drop(socket);
        let found = found_at(port).await;
        assert_eq!(found.level, Level::Fail, "{found}");
        assert!(found.text.contains(&format!("127.0.0.1:{port} can't be used: ")), "{found}");
    }

    #[actix_web::test]
    async fn a_mail_server_is_greeted_and_sent_no_message() {
        let socket = TcpListener::bind("127.0.0.1:0").unwrap();
        let port = socket.local_addr().unwrap().port();
        let server = thread::spawn(move || {
            let (mut answers, _) = socket.accept().unwrap();
            answers.write_all(b"220 mail.example.com\r\n").unwrap();
            let mut verbs = Vec::new();
            for line in BufReader::new(answers.try_clone().unwrap()).lines().map_while(Result::ok) {
                verbs.push(line.split(' ').next().unwrap().to_owned());
                answers.write_all(b"250 mail.example.com\r\n").unwrap();
            }
            verbs
        });
        let found = found_at(port).await;
        assert_eq!(found.level, Level::Ok, "{found}");
        assert_eq!(server.join().unwrap(), ["EHLO", "NOOP", "QUIT"]);
    }
}
