//! Words for the outcome of a webhook delivery attempt, for the console, messages, the command line and the log.

use quita_domain::delivery::DeliveryAttempt;
use quita_ports::{DetailKind, FailureDetail};

use crate::console::kit::language::Language;
use crate::console::kit::texts::group;

/// Status with which a receiver rejects all further events of a payment.
pub(crate) const GONE: u16 = 410;

group! {
    /// Outcomes of attempts.
    Outcomes {
        redirect: "{status}, redirecionamentos não são seguidos", "{status}, redirects are not followed";
        gone: "{status}, o que encerra as tentativas do pagamento", "{status}, which ends all attempts for the payment";
        no_answer_in_time: "sem resposta a tempo", "no answer in time";
        connection_refused: "conexão recusada ou servidor fora de alcance", "connection refused or host unreachable";
        unknown_host: "nome sem endereço", "host name not found";
        no_tls: "TLS ou certificado recusado", "TLS or certificate refused";
        address_not_allowed: "endereço não permitido", "address not allowed";
        invalid_url: "URL inválida", "invalid URL";
        no_http: "a conexão caiu ou a resposta não é HTTP", "connection lost or no HTTP answer";
        unknown_issuer: "O certificado é autoassinado, ou de uma autoridade que não é pública.",
            "Its certificate is self-signed, or issued by an authority that is not public.";
        certificate_expired: "O certificado venceu.", "Its certificate has expired.";
        certificate_not_yet_valid: "O certificado ainda não é válido.", "Its certificate is not valid yet.";
        certificate_of_other_name: "O certificado é de outro nome.", "Its certificate is for another name.";
        no_tls_there: "A porta não fala TLS: talvez a URL seja http://.",
            "The port does not speak TLS: perhaps the URL must begin with http://.";
        closed_in_handshake: "A conexão foi fechada antes de TLS estar combinado.",
            "The connection was closed during the TLS handshake.";
        closed_unanswered: "A conexão foi fechada sem resposta.", "The connection was closed without an answer.";
        other_than_http: "O que veio não é HTTP: se a porta fala TLS, a URL é https://.",
            "The answer is not HTTP: if the port speaks TLS, the URL must begin with https://.";
        cut_short: "A conexão caiu no meio da resposta.", "The connection was lost in the middle of the answer.";
    }
}

impl Outcomes {
    const fn of(language: Language) -> &'static Self {
        match language {
            Language::Portuguese => &Self::PORTUGUESE,
            Language::English => &Self::ENGLISH,
        }
    }
}

/// Returns the outcome of an attempt: the status of the response, or the reason why there was none.
pub(crate) fn outcome_of(attempt: &DeliveryAttempt, language: Language) -> String {
    in_words(attempt.status, attempt.error.as_deref(), language)
}

/// Returns the outcome of an attempt with this `status` and `error`, as the API returns them. An unknown `error` is
/// returned unchanged.
pub(crate) fn in_words(status: Option<u16>, error: Option<&str>, language: Language) -> String {
    let texts = Outcomes::of(language);
    let Some(status) = status else { return error.map_or("–", |error| reason(error, texts)).to_owned() };
    let text = match status {
        300..=399 => texts.redirect,
        GONE => texts.gone,
        _ => "{status}",
    };
    text.replace("{status}", &status.to_string())
}

/// Returns the meaning of the API's code for a failure. A code stored by an earlier version is returned unchanged.
fn reason<'a>(error: &'a str, texts: &Outcomes) -> &'a str {
    match error {
        "timeout" => texts.no_answer_in_time,
        "connect" => texts.connection_refused,
        "dns" => texts.unknown_host,
        "tls" => texts.no_tls,
        "address_not_allowed" => texts.address_not_allowed,
        "invalid_url" => texts.invalid_url,
        "protocol" => texts.no_http,
        other => other,
    }
}

/// Returns the detail of a missing answer: a sentence if there is one, and the exact reason.
pub(crate) fn detail_in_words(detail: &FailureDetail, language: Language) -> String {
    let sentence = detail.kind.map(|kind| format!("{}\n", sentence(kind, Outcomes::of(language))));
    format!("{}({})", sentence.unwrap_or_default(), detail.text)
}

const fn sentence(kind: DetailKind, texts: &Outcomes) -> &'static str {
    match kind {
        DetailKind::UnknownIssuer => texts.unknown_issuer,
        DetailKind::CertificateExpired => texts.certificate_expired,
        DetailKind::CertificateNotYetValid => texts.certificate_not_yet_valid,
        DetailKind::CertificateOfOtherName => texts.certificate_of_other_name,
        DetailKind::NoTls => texts.no_tls_there,
        DetailKind::ClosedInHandshake => texts.closed_in_handshake,
        DetailKind::ClosedUnanswered => texts.closed_unanswered,
        DetailKind::NoHttp => texts.other_than_http,
        DetailKind::CutShort => texts.cut_short,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_failure_of_the_api_has_words_in_both_languages() {
        for error in ["timeout", "connect", "dns", "tls", "address_not_allowed", "invalid_url", "protocol"] {
            let words = Language::ALL.map(|language| in_words(None, Some(error), language));
            assert!(words[0] != words[1] && !words.contains(&error.to_owned()), "{error}: {words:?}");
        }
        let in_english = |error| in_words(None, Some(error), Language::English);
        assert!(in_english("connect").starts_with("connection refused"));
        assert_eq!(in_english("of_yore"), "of_yore");
        assert_eq!(in_words(None, None, Language::English), "–");
    }

    #[test]
    fn a_redirect_and_an_answer_that_ends_the_attempts_are_explained() {
        let both = |status| Language::ALL.map(|language| in_words(Some(status), None, language));
        for status in [300, 301, 302, 307, 308, 399] {
            let expected = [", redirecionamentos não são seguidos", ", redirects are not followed"]
                .map(|text| format!("{status}{text}"));
            assert_eq!(both(status), expected);
        }
        let expected =
            ["410, o que encerra as tentativas do pagamento", "410, which ends all attempts for the payment"];
        assert_eq!(both(410), expected);
        for status in [200, 204, 299, 400, 401, 404, 409, 411, 500, 503] {
            assert_eq!(both(status), [status.to_string(), status.to_string()]);
        }
    }

    #[test]
    fn a_detail_has_a_sentence_in_both_languages_before_the_exact_reason() {
        for kind in DetailKind::ALL {
            let detail = FailureDetail { kind: Some(kind), text: "exactly".into() };
            let words = Language::ALL.map(|language| detail_in_words(&detail, language));
            assert!(words[0] != words[1], "{words:?}");
            assert!(words.iter().all(|words| words.ends_with(".\n(exactly)")), "{words:?}");
        }
        let detail = FailureDetail { kind: None, text: "no connection: connection refused".into() };
        assert_eq!(detail_in_words(&detail, Language::English), "(no connection: connection refused)");
    }
}
