//! Patterns and lengths of the document, version 2.9.0.

use serde_json::{Value, json};

pub(super) fn is_txid(text: &str) -> bool {
    (26..=35).contains(&text.len()) && is_alphanumeric(text)
}

pub(super) fn is_end_to_end_id(text: &str) -> bool {
    text.len() == 32 && is_alphanumeric(text)
}

pub(super) fn is_refund_id(text: &str) -> bool {
    (1..=35).contains(&text.len()) && is_alphanumeric(text)
}

pub(super) fn is_text(text: &str, longest: usize) -> bool {
    text.chars().count() <= longest
}

/// Reads `\d{1,10}\.\d{2}`.
pub(super) fn cents(text: &str) -> Option<i64> {
    let (whole, hundredths) = text.split_once('.')?;
    let is_amount =
        (1..=10).contains(&whole.len()) && hundredths.len() == 2 && is_digits(whole) && is_digits(hundredths);
    is_amount.then(|| format!("{whole}{hundredths}").parse().ok()).flatten()
}

/// Writes the format that [`cents`] reads.
pub(super) fn amount(cents: i64) -> String {
    format!("{}.{:02}", cents.div_euclid(100), cents.rem_euclid(100))
}

/// Reads a person or a company, with a name; other fields are dropped.
pub(super) fn debtor(value: &Value) -> Option<Value> {
    let name = value.get("nome")?.as_str().filter(|name| is_text(name, 200))?;
    match (value.get("cpf"), value.get("cnpj")) {
        (Some(cpf), None) => {
            let cpf = cpf.as_str().filter(|cpf| cpf.len() == 11 && is_digits(cpf))?;
            Some(json!({"cpf": cpf, "nome": name}))
        }
        (None, Some(cnpj)) => {
            let cnpj = cnpj.as_str().filter(|cnpj| is_cnpj(cnpj))?;
            Some(json!({"cnpj": cnpj, "nome": name}))
        }
        (Some(_), Some(_)) | (None, None) => None,
    }
}

pub(super) fn is_cpf(text: &str) -> bool {
    text.len() == 11 && is_digits(text)
}

pub(super) fn is_cnpj(text: &str) -> bool {
    text.len() == 14 && text.bytes().all(|byte| byte.is_ascii_digit() || byte.is_ascii_uppercase())
}

/// Returns true for at most 50 of `{nome, valor}`.
pub(super) fn is_further(value: &Value) -> bool {
    let is_pair = |pair: &Value| {
        let has =
            |name, longest| pair.get(name).and_then(Value::as_str).is_some_and(|text| is_text(text, longest));
        has("nome", 50) && has("valor", 200)
    };
    value.as_array().is_some_and(|pairs| pairs.len() <= 50 && pairs.iter().all(is_pair))
}

pub(super) fn boolean(text: &str) -> Result<bool, &'static str> {
    match text {
        "true" => Ok(true),
        "false" => Ok(false),
        _ => Err("Um dos parâmetros não é true nem false."),
    }
}

/// Returns true for a complete address: scheme, host, and only valid characters.
pub(super) fn is_url(text: &str) -> bool {
    let host = ["https://", "http://"].into_iter().find_map(|scheme| text.strip_prefix(scheme));
    host.is_some_and(|rest| !rest.is_empty() && !rest.starts_with(['/', '?', '#', ':']))
        && text.bytes().all(|byte| byte.is_ascii_graphic() && !b"<>\"{}|\\^`".contains(&byte))
}

fn is_alphanumeric(text: &str) -> bool {
    text.bytes().all(|byte| byte.is_ascii_alphanumeric())
}

fn is_digits(text: &str) -> bool {
    text.bytes().all(|byte| byte.is_ascii_digit())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_amounts_of_the_documents_pattern_are_read() {
        for (text, read) in
            [("0.01", Some(1)), ("37.00", Some(3700)), ("9999999999.99", Some(999_999_999_999))]
        {
            assert_eq!(cents(text), read);
            assert_eq!(amount(read.unwrap()), text);
        }
        for text in ["1", "1.0", "1.000", "-1.00", "+1.00", "1,00", " 1.00", "10000000000.00", ".50", ""] {
            assert_eq!(cents(text), None, "{text}");
        }
    }
}
