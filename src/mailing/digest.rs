//! Text of a message, in the language of its reader.

use quita_domain::identity::Mode;
use quita_domain::people::{Operator, User};
use quita_domain::time::Timestamp;
use quita_ports::Mail;

use crate::console::Language;
use crate::console::group;

group! {
    /// Sentences of messages.
    MailTexts {
        to_owner: "Quita: {whose} precisa de atenção", "Quita: {whose} needs attention";
        to_operator: "Quita: o serviço precisa de atenção", "Quita: the service needs attention";
        greeting: "Desde a última mensagem:", "Since the last message:";
        in_console: "Detalhes: {address}", "Details: {address}";
        off_in_console: "Para não receber mais: {address}", "No more messages: {address}";
        in_operators_console: "Detalhes no console dos operadores; na página da conta as mensagens se desligam.",
            "Details in the operators' console, whose account page turns messages off.";
        given_up: "Eventos não entregues a {receiver} ({mode}), e que não serão mais tentados: {count}. O último em {time}: {outcome}.",
            "Events given up that {receiver} ({mode}) did not confirm: {count}. The last one at {time}: {outcome}.";
        receiver_fails: "{receiver} ({mode}) não confirma nenhum evento desde {time}.",
            "{receiver} ({mode}) has confirmed no event since {time}.";
        key_ends: "A chave de API {key} da aplicação {application} ({mode}) termina em {time}.",
            "The API key {key} of the application {application} ({mode}) ends at {time}.";
        test: "teste", "test";
        live: "produção", "live";
        exceptions: "Exceções novas, {kind}: {count}.", "New exceptions, {kind}: {count}.";
        route_fails: "O adquirente {acquirer} falha em {method} desde {time}.",
            "The acquirer {acquirer} fails with {method} since {time}.";
        node_lost: "O nó {node} foi perdido.", "The node {node} was lost.";
        certificate_ends: "O certificado do adquirente {acquirer} termina em {time}.",
            "The certificate of the acquirer {acquirer} ends at {time}.";
        store_away: "O armazenamento não responde desde {time}.", "The store has not answered since {time}.";
    }
}

impl MailTexts {
    /// Sentences in a language.
    pub(super) fn of(language: Language) -> &'static Self {
        static PORTUGUESE: MailTexts = MailTexts::PORTUGUESE;
        static ENGLISH: MailTexts = MailTexts::ENGLISH;
        match language {
            Language::Portuguese => &PORTUGUESE,
            Language::English => &ENGLISH,
        }
    }

    /// Name of a mode.
    pub(super) const fn mode(&self, mode: Mode) -> &'static str {
        match mode {
            Mode::Test => self.test,
            Mode::Live => self.live,
        }
    }
}

/// Fills the gaps of a sentence.
pub(super) fn filled(sentence: &str, gaps: &[(&str, &str)]) -> String {
    let fill =
        |text: String, (name, value): &(&str, &str)| text.replace(&format!("{{{name}}}"), &one_line(value));
    gaps.iter().fold(sentence.to_owned(), fill)
}

/// Names come from people, and may hold control characters.
fn one_line(text: &str) -> String {
    text.chars().map(|character| if character.is_control() { ' ' } else { character }).collect()
}

/// News of one message.
#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct Digest {
    /// A sentence for each.
    pub(super) lines: Vec<String>,
    /// Names of the lasting troubles among them.
    pub(super) troubles: Vec<String>,
}

impl Digest {
    /// News that the store is away.
    pub(super) fn outage(since: Timestamp, language: Language) -> Self {
        let line = filled(MailTexts::of(language).store_away, &[("time", &language.time(since))]);
        Self { lines: vec![line], troubles: Vec::new() }
    }

    /// Returns true if there is nothing to report.
    pub(super) fn is_empty(&self) -> bool {
        self.lines.is_empty()
    }

    /// Adds a sentence.
    pub(super) fn add(&mut self, sentence: &str, gaps: &[(&str, &str)]) {
        self.lines.push(filled(sentence, gaps));
    }

    /// Message to an owner.
    pub(super) fn to_owner(&self, user: &User, public_url: &str) -> Mail {
        let texts = MailTexts::of(Language::of_mail(user.mailing.language));
        let console = format!("{public_url}/console");
        let account = format!("{console}/live/account");
        let end = [
            filled(texts.in_console, &[("address", &console)]),
            filled(texts.off_in_console, &[("address", &account)]),
        ];
        Mail {
            to: user.login.to_string(),
            subject: filled(texts.to_owner, &[("whose", user.merchant.as_str())]),
            text: self.text(texts, &end),
        }
    }

    /// Message to an operator.
    pub(super) fn to_operator(&self, operator: &Operator) -> Mail {
        let texts = MailTexts::of(Language::of_mail(operator.mailing.language));
        Mail {
            to: operator.login.to_string(),
            subject: texts.to_operator.into(),
            text: self.text(texts, &[texts.in_operators_console.into()]),
        }
    }

    fn text(&self, texts: &MailTexts, end: &[String]) -> String {
        let lines: String = self.lines.iter().map(|line| format!("- {line}\n")).collect();
        format!("{}\n\n{lines}\n{}\n", texts.greeting, end.join("\n"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_people_named_breaks_no_line() {
        assert_eq!(filled("{a} and {b}", &[("a", "x\r\nBcc: y"), ("b", "z")]), "x  Bcc: y and z");
    }
}
