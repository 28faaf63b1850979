//! Reason of a bank's refusal: one short text from any of the known error formats, without personal data and secrets.
//!
//! The shapes: RFC 7807; BB's `erros[].mensagem` and `{statusCode,error,message}`; Efí's `{nome,mensagem}`; Itaú's
//! `{error:{title,detail,violacoes}}`; Santander's `{details}`, `{fault:{faultstring}}`, `{_message}`; OAuth's
//! `error_description`. Decisions are based only on the HTTP status: this text is only for people.

use quita_domain::document::{Document, DocumentType};
use serde_json::Value;

use crate::text;

/// The most characters of a reason.
const MAX_CHARACTERS: usize = 120;

/// As many digits in a row as could belong to somebody.
const MASKED_DIGITS: usize = 5;

/// A shorter value says nothing, and stands in many words.
const SHORTEST_SECRET: usize = 6;

const MASK: &str = "***";

/// Names under which banks write what they mean, best first.
const TEXTS: [&str; 15] = [
    "detail",
    "mensagem",
    "message",
    "_message",
    "user_message",
    "error_description",
    "faultstring",
    "razao",
    "motivo",
    "details",
    "title",
    "nome",
    "error",
    "codigo",
    "_errorCode",
];

/// Names under which they wrap it.
const WRAPPERS: [&str; 7] = ["error", "erros", "errors", "_errors", "fault", "violacoes", "details"];

/// Depth to which wrappers may be nested.
const MAX_DEPTH: usize = 4;

/// The reason that an answer gives: the first text that is found, or the status alone.
pub(crate) fn of_answer(status: u16, body: &[u8], secrets: &[&str]) -> String {
    let found = text::json(body).and_then(|body| find(&body, MAX_DEPTH));
    match found.map(|text| scrubbed(&text, secrets)).filter(|text| !text.is_empty()) {
        Some(text) => text,
        None => format!("HTTP {status}"),
    }
}

fn find(value: &Value, depth: usize) -> Option<String> {
    let depth = depth.checked_sub(1)?;
    match value {
        Value::String(text) => Some(text.clone()).filter(|text| !text.trim().is_empty()),
        Value::Array(items) => items.iter().find_map(|item| find(item, depth)),
        Value::Object(fields) => {
            let direct = TEXTS.iter().filter_map(|name| fields.get(*name)?.as_str());
            let direct = direct.map(str::trim).find(|text| !text.is_empty()).map(String::from);
            direct.or_else(|| WRAPPERS.iter().find_map(|name| find(fields.get(*name)?, depth)))
        }
        Value::Null | Value::Bool(_) | Value::Number(_) => None,
    }
}

/// A text of a bank that may be shown: short, on one line, without secrets, documents, numbers and addresses.
pub(crate) fn scrubbed(text: &str, secrets: &[&str]) -> String {
    let without_secrets = secrets
        .iter()
        .filter(|secret| secret.len() >= SHORTEST_SECRET)
        .fold(text.to_owned(), |text, secret| text.replace(*secret, MASK));
    let printable: String =
        without_secrets.chars().map(|each| if each.is_control() { ' ' } else { each }).collect();
    let words: Vec<&str> = printable.split_whitespace().collect();
    let mut kept: Vec<&str> = Vec::with_capacity(words.len());
    let mut rest = words.as_slice();
    while let Some((first, behind)) = rest.split_first() {
        // A number may be written with blanks in it.
        let numbers = rest.iter().take_while(|word| is_number(word)).count();
        let digits: usize = rest.iter().take(numbers).map(|word| digits(word)).sum();
        if numbers > 0 && digits >= MASKED_DIGITS {
            kept.push(MASK);
            rest = rest.get(numbers..).unwrap_or_default();
        } else {
            kept.push(if is_personal(first) { MASK } else { first });
            rest = behind;
        }
    }
    let mut cut: String = kept.join(" ").chars().take(MAX_CHARACTERS).collect();
    cut.truncate(cut.trim_end().len());
    cut
}

fn digits(word: &str) -> usize {
    word.chars().filter(|each| each.is_numeric()).count()
}

/// Digits and what stands between them in numbers.
fn is_number(word: &str) -> bool {
    digits(word) > 0 && word.chars().all(|each| each.is_numeric() || "+-./(),;:".contains(each))
}

fn is_personal(word: &str) -> bool {
    let bare: String = word.chars().filter(char::is_ascii_alphanumeric).collect();
    word.contains('@')
        || digits(word) >= MASKED_DIGITS
        || Document::parse(&bare.to_ascii_uppercase(), DocumentType::Cnpj).is_ok()
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn check(body: &Value, expected: &str) {
        assert_eq!(of_answer(400, body.to_string().as_bytes(), &["s3cret"]), expected, "{body}");
    }

    #[test]
    fn every_shape_of_errors_is_read_into_one_reason() {
        let problem = json!({"type": "https://pix.bcb.gov.br/api/v2/error/CobOperacaoInvalida",
            "title": "Cobrança inválida.", "status": 400, "detail": "O campo valor é inválido."});
        check(&problem, "O campo valor é inválido.");
        let violation = json!({"status": 400, "violacoes": [{"razao": "chave desconhecida"}]});
        check(&violation, "chave desconhecida");
        check(&json!({"erros": [{"codigo": "4769515", "mensagem": "Conta inválida"}]}), "Conta inválida");
        check(
            &json!({"statusCode": 401, "error": "Unauthorized", "message": "Bad Credentials"}),
            "Bad Credentials",
        );
        check(&json!({"nome": "webhook_nao_encontrado", "mensagem": "Nenhum webhook"}), "Nenhum webhook");
        check(&json!({"error": {"title": "Erro", "detail": "Chave inválida"}}), "Chave inválida");
        let apigee = json!({"fault": {"faultstring": "Rate limit", "detail": {"errorcode": "policies.x"}}});
        check(&apigee, "Rate limit");
        check(&json!({"details": "sem acesso"}), "sem acesso");
        check(&json!({"_errorCode": "E1", "_message": "recusado"}), "recusado");
        check(&json!({"error": "invalid_client", "error_description": "no such client"}), "no such client");
        check(&json!({"detail": "", "title": " "}), "HTTP 400");
        check(&json!([]), "HTTP 400");
        assert_eq!(of_answer(502, b"<html>Bad gateway</html>", &[]), "HTTP 502");
    }

    #[test]
    fn a_reason_has_no_personal_data_and_no_secret() {
        for (text, expected) in [
            ("CPF 111.444.777-35 inválido", "CPF *** inválido"),
            ("CPF 11144477735.", "CPF ***"),
            ("CPF 111 444 777 35 inválido", "CPF *** inválido"),
            ("CPF 111 444 777 35", "CPF ***"),
            ("CNPJ 12.ABC.345/01DE-35 inválido", "CNPJ *** inválido"),
            ("chave fulano@example.com não existe", "chave *** não existe"),
            ("fone (11) 98765-4321", "fone ***"),
            ("token s3cret recusado", "token *** recusado"),
            ("erro 42 de 2026", "erro 42 de 2026"),
            ("linha um\r\nlinha dois", "linha um linha dois"),
        ] {
            assert_eq!(scrubbed(text, &["s3cret"]), expected);
        }
    }

    #[test]
    fn a_long_reason_is_cut_between_characters() {
        let cut = scrubbed(&"é".repeat(500), &[]);
        assert_eq!(cut.chars().count(), MAX_CHARACTERS);
    }
}
