//! News in one message, in the language of its reader, and the e-mail that contains it.

use quita_actors::{StoreAway, StoreTrouble};
use quita_domain::identity::Mode;
use quita_domain::people::{Mailing, Operator, User};
use quita_domain::time::Timestamp;
use quita_ports::Mail;

use crate::console::Language;
use crate::console::group;

group! {
    /// Sentences of messages.
    MessageTexts {
        to_owner: "Quita: {whose} precisa de atenção", "Quita: {whose} needs attention";
        to_operator: "Quita: o serviço precisa de atenção", "Quita: the service needs attention";
        greeting: "Desde a última mensagem:", "Since the last message:";
        in_console: "Detalhes: {address}", "Details: {address}";
        off_in_console: "Para não receber mais: {address}", "Turn messages off: {address}";
        in_operators_console: "Detalhes no console dos operadores; na página da conta as mensagens se desligam.",
            "Details are in the operators' console; messages can be turned off on its account page.";
        given_up: "Eventos não entregues a {receiver} ({mode}), e que não serão mais tentados: {count}. O último em {time}: {outcome}.",
            "Events to {receiver} ({mode}) given up without confirmation: {count}. The last one at {time}: {outcome}.";
        receiver_fails: "{receiver} ({mode}) não confirma nenhum evento desde {time}.",
            "{receiver} ({mode}) has not confirmed any event since {time}.";
        key_ends: "A chave de API {key} da aplicação {application} ({mode}) termina em {time}.",
            "API key {key} of application {application} ({mode}) expires at {time}.";
        test: "teste", "test";
        live: "produção", "live";
        exceptions: "Exceções novas, {kind}: {count}.", "New exceptions, {kind}: {count}.";
        route_fails: "O adquirente {acquirer} falha em {method} desde {time}.",
            "Acquirer {acquirer} has been failing for {method} since {time}.";
        node_lost: "O nó {node} foi perdido.", "Node {node} was lost.";
        certificate_ends: "O certificado do adquirente {acquirer} termina em {time}.",
            "The certificate of acquirer {acquirer} expires at {time}.";
        store_silent: "O armazenamento não responde desde {time}.", "The store has not answered since {time}.";
        store_read_only: "O armazenamento não aceita gravações desde {time}.",
            "The store has not accepted writes since {time}.";
        store_full: "O disco do armazenamento está cheio desde {time}: libere espaço.",
            "The store's disk has been full since {time}: free up space.";
        store_broken: "O armazenamento não é mais confiável desde {time}: repare-o e reinicie o serviço.",
            "Since {time} the store can no longer be trusted: repair it and restart the service.";
        seen_by: "{sentence} Visto pelo nó {node} de {url}.", "{sentence} Reported by node {node} of {url}.";
    }
}

impl MessageTexts {
    /// Returns the sentences in a language.
    pub(super) fn of(language: Language) -> &'static Self {
        static PORTUGUESE: MessageTexts = MessageTexts::PORTUGUESE;
        static ENGLISH: MessageTexts = MessageTexts::ENGLISH;
        match language {
            Language::Portuguese => &PORTUGUESE,
            Language::English => &ENGLISH,
        }
    }

    /// Returns the subject of a message to an owner.
    pub(super) fn subject_to_owner(&self, user: &User) -> String {
        filled(self.to_owner, &[("whose", user.merchant.as_str())])
    }

    /// Returns the name of a mode.
    pub(super) const fn mode(&self, mode: Mode) -> &'static str {
        match mode {
            Mode::Test => self.test,
            Mode::Live => self.live,
        }
    }
}

/// Fills the placeholders of a sentence.
pub(super) fn filled(sentence: &str, gaps: &[(&str, &str)]) -> String {
    let fill =
        |text: String, (name, value): &(&str, &str)| text.replace(&format!("{{{name}}}"), &one_line(value));
    gaps.iter().fold(sentence.to_owned(), fill)
}

/// Replaces control characters, which names entered by people may contain.
fn one_line(text: &str) -> String {
    text.chars().map(|character| if character.is_control() { ' ' } else { character }).collect()
}

/// Kind of a piece of news, as named in messages by webhook.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum NewsKind {
    /// Events that a receiver did not confirm were given up.
    EventsExhausted,
    /// A receiver has confirmed no event for an hour.
    ReceiverFailing,
    /// An API key expires soon.
    KeyEnding,
    /// Exceptions were reported.
    ExceptionsReported,
    /// An acquirer is failing.
    AcquirerFailing,
    /// A node was lost.
    NodeLost,
    /// A certificate of an acquirer expires soon.
    CertificateEnding,
    /// The store is away.
    StoreAway,
}

impl NewsKind {
    /// Returns the name.
    pub(super) const fn as_str(self) -> &'static str {
        match self {
            Self::EventsExhausted => "events_exhausted",
            Self::ReceiverFailing => "receiver_failing",
            Self::KeyEnding => "key_ending",
            Self::ExceptionsReported => "exceptions_reported",
            Self::AcquirerFailing => "acquirer_failing",
            Self::NodeLost => "node_lost",
            Self::CertificateEnding => "certificate_ending",
            Self::StoreAway => "store_away",
        }
    }
}

/// Piece of news.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct News {
    pub(super) kind: NewsKind,
    /// Sentence for its reader.
    pub(super) text: String,
    /// Time that the sentence is about: of the last event, the start of a trouble, or the expiry of a key.
    pub(super) at: Timestamp,
    /// Page of the merchants' console with more details, below the public URL.
    pub(super) page: Option<String>,
}

/// Person who reads a message by one channel.
#[derive(Debug, Clone, Copy)]
pub(super) struct Reader<'a> {
    /// Choice of the person about this channel, and the record of what was reported by it.
    pub(super) mailing: &'a Mailing,
    /// Time at which the account was created.
    pub(super) created_at: Timestamp,
}

impl Reader<'_> {
    /// Returns the language.
    pub(super) const fn language(self) -> Language {
        Language::of_mail(self.mailing.language)
    }

    /// Returns the time after which events have not been reported yet.
    pub(super) fn unreported_since(self, now: Timestamp) -> Timestamp {
        self.mailing.unreported_since(self.created_at, now)
    }
}

/// Node that sends a message, and its installation.
#[derive(Debug, Clone, Copy)]
pub(super) struct SendingNode<'a> {
    /// Address of the node.
    pub(super) node: &'a str,
    /// Public URL of the installation.
    pub(super) public_url: &'a str,
}

/// News in one message.
#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct Digest {
    /// News in reading order.
    pub(super) news: Vec<News>,
    /// Names of the ongoing troubles in it.
    pub(super) troubles: Vec<String>,
}

impl Digest {
    /// Creates the news that the store is away. It names the node and its installation, because each node reports this
    /// itself.
    pub(super) fn outage(away: &StoreAway, place: SendingNode<'_>, language: Language) -> Self {
        let texts = MessageTexts::of(language);
        let since = away.since;
        let sentence = match away.trouble {
            StoreTrouble::Silent => texts.store_silent,
            StoreTrouble::ReadOnly => texts.store_read_only,
            StoreTrouble::Full => texts.store_full,
            StoreTrouble::Broken => texts.store_broken,
        };
        let sentence = filled(sentence, &[("time", &language.time(since))]);
        let gaps = [("sentence", &*sentence), ("node", place.node), ("url", place.public_url)];
        let text = filled(texts.seen_by, &gaps);
        Self {
            news: vec![News { kind: NewsKind::StoreAway, text, at: since, page: None }],
            troubles: Vec::new(),
        }
    }

    /// Returns true if there is nothing to report.
    pub(super) fn is_empty(&self) -> bool {
        self.news.is_empty()
    }

    /// Returns the e-mail to an owner.
    pub(super) fn to_owner(&self, user: &User, public_url: &str) -> Mail {
        let texts = MessageTexts::of(Language::of_mail(user.mailing.language));
        let console = format!("{public_url}/console");
        let account = format!("{console}/live/account");
        let end = [
            filled(texts.in_console, &[("address", &console)]),
            filled(texts.off_in_console, &[("address", &account)]),
        ];
        Mail {
            to: user.login.to_string(),
            subject: texts.subject_to_owner(user),
            text: self.text(texts, &end),
        }
    }

    /// Returns the e-mail to an operator.
    pub(super) fn to_operator(&self, operator: &Operator) -> Mail {
        let texts = MessageTexts::of(Language::of_mail(operator.mailing.language));
        Mail {
            to: operator.login.to_string(),
            subject: texts.to_operator.into(),
            text: self.text(texts, &[texts.in_operators_console.into()]),
        }
    }

    /// Returns the sentences, one per line.
    pub(super) fn list(&self) -> String {
        self.news.iter().map(|news| format!("- {}\n", news.text)).collect()
    }

    fn text(&self, texts: &MessageTexts, end: &[String]) -> String {
        format!("{}\n\n{}\n{}\n", texts.greeting, self.list(), end.join("\n"))
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
