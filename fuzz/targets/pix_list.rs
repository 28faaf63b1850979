//! Lists in which a bank shows the Pix that came in: any bytes, and a page with some bytes changed. A page is read as a
//! whole or refused. Every line has the amount that its entry states, and nothing shown depends on the payer.
#![no_main]

use std::collections::BTreeMap;

use libfuzzer_sys::fuzz_target;
use quita_domain::acquiring::CallFailure;
use quita_domain::identity::TransactionId;
use quita_domain::money::Money;
use quita_domain::reconciliation::{LineKind, StatementLine};
use quita_fuzz::bank::{KEY, TOKEN, first_page};
use quita_fuzz::{changed, decoded, split};
use serde_json::{Map, Value};
use uuid::Uuid;

/// Page in the standard's form, with everything that it may contain about a payer.
const PAGE: &str = r#"{"parametros":{"inicio":"2026-11-21T03:00:00Z","fim":"2026-11-22T02:59:59Z","paginacao":
{"paginaAtual":0,"itensPorPagina":100,"quantidadeDePaginas":2,"quantidadeTotalDeItens":102}},"pix":[
{"endToEndId":"E1234567820261121120000000000001","txid":"01935a1b7c007abc8def0123456789ab","valor":"10.00",
"componentesValor":{"original":{"valor":"10.00"}},"chave":"123e4567-e12b-12d1-a456-426655440000",
"horario":"2026-11-21T12:00:01.000Z","infoPagador":"Maria da Silva","pagador":{"cpf":"52998224725","nome":"Maria da Silva"},
"devolucoes":[{"id":"01935a1b7c007abc8def000000000001","rtrId":"D1234567820261121120100000000001","valor":"1.00",
"natureza":"ORIGINAL","horario":{"solicitacao":"2026-11-21T12:01:00Z","liquidacao":"2026-11-21T12:01:02Z"},
"status":"DEVOLVIDO"},{"id":"m","valor":"2.00","natureza":"MED_FRAUDE","status":"DEVOLVIDO","motivo":"fraude"},
{"id":"o","valor":"3.00","status":"EM_PROCESSAMENTO","horario":{"solicitacao":"2026-11-21T12:02:00Z"}}]},
{"endToEndId":"E2","txid":"7978c0c97ea847e78e8849634473c1f1","valor":5.5,"chave":"another","pagador":{"cnpj":"12ABC34501DE35"}},
{"endToEndId":"E3","valor":"0.01"}]}"#;

fuzz_target!(|data: &[u8]| {
    let (choice, rest) = split(data);
    match choice {
        0 => check_page(rest),
        1 => check_page(&changed(PAGE.as_bytes(), rest)),
        _ => {
            let (status, body) = split(rest);
            check_failure(300 + u16::from(status), body);
        }
    }
});

fn check_page(body: &[u8]) {
    let read = first_page(200, body);
    assert_eq!(first_page(200, body), read, "read anew it is another page");
    let said: Value = decoded(body).and_then(|text| serde_json::from_str(&text).ok()).unwrap_or_default();
    if let Ok(page) = &read {
        let entries = items(&said, "pix");
        assert_eq!(page.entries, entries.len() as u64);
        let mut lines = page.lines.iter();
        let mut movements = Vec::new();
        entries.iter().for_each(|entry| check_entry(entry, &mut lines, &mut movements));
        assert_eq!(lines.next(), None, "a line of nothing");
        check_ids(page.lines.iter().zip(movements));
    }
    if !said.is_null() {
        let needed = serde_json::to_vec(&without_the_rest(&said)).expect("a value has a text");
        assert_eq!(first_page(200, &needed), read, "what is shown depends on what has no business in it");
    }
    if let Err(failure) = read {
        check_told(&failure);
    }
}

/// Pix or refund of a part of it, by the bank's names.
type Movement<'a> = (Option<&'a str>, Option<&'a str>);

/// Checks the line of an entry, and one line for each part that was returned.
fn check_entry<'a, 'l>(
    entry: &'a Value,
    lines: &mut impl Iterator<Item = &'l StatementLine>,
    movements: &mut Vec<Movement<'a>>,
) {
    let end_to_end_id = text(entry, "endToEndId");
    movements.push((end_to_end_id, None));
    let line = lines.next().expect("no line of an entry");
    assert_eq!(line.reference.as_deref(), end_to_end_id);
    check_amount(line.gross, &entry["valor"]);
    let other_key = text(entry, "chave").filter(|key| !key.eq_ignore_ascii_case(KEY));
    assert_eq!(line.other_key.as_deref(), other_key, "what came in under another key is told from ours");
    let named = text(entry, "txid").filter(|txid| txid.len() == 32);
    let named = named.and_then(|txid| Uuid::try_parse(txid).ok()).map(TransactionId::new);
    assert_eq!(line.named_payment(), named);
    assert_eq!(line.kind, if named.is_some() { LineKind::Pix } else { LineKind::Other });
    let is_done = |refund: &&Value| {
        text(refund, "status").is_some_and(|status| status.eq_ignore_ascii_case("DEVOLVIDO"))
    };
    for refund in items(entry, "devolucoes").iter().filter(is_done) {
        let back = lines.next().expect("money that went back has no line");
        assert_eq!((back.kind, back.day, back.named_payment()), (LineKind::Refund, line.day, named));
        assert_eq!(back.other_key, line.other_key);
        check_amount(back.gross, &refund["valor"]);
        movements.push((end_to_end_id, text(refund, "id").or_else(|| text(refund, "rtrId"))));
    }
}

/// Checks an amount against the stated one, calculated in another way.
fn check_amount(read: Money, stated: &Value) {
    let number = match stated {
        Value::String(text) => text.trim().parse::<f64>().expect("an amount of no number"),
        Value::Number(number) => number.as_f64().expect("an amount of no number"),
        other => panic!("{read} was read from {other}"),
    };
    assert!((number * 100.0 - read.cents() as f64).abs() < 0.01, "{read} was read from {stated}");
}

/// Checks that the same id belongs to the same movement, and that no movement has two.
fn check_ids<'a>(lines: impl Iterator<Item = (&'a StatementLine, Movement<'a>)>) {
    let mut known = BTreeMap::new();
    let mut ids = BTreeMap::new();
    for (line, movement) in lines {
        assert_eq!(*known.entry(&line.id).or_insert(movement), movement, "{}", line.id);
        assert_eq!(*ids.entry(movement).or_insert(&line.id), &line.id, "one movement has two ids");
        assert!(line.id.starts_with("bank:"), "{}", line.id);
    }
}

/// Returns the page with only the members that may contribute to a line: nothing about the payer.
fn without_the_rest(page: &Value) -> Value {
    let paging = ["paginaAtual", "quantidadeDePaginas", "quantidadeTotalDeItens"];
    let refund = ["id", "rtrId", "valor", "status", "natureza", "horario"];
    let entry = ["endToEndId", "txid", "valor", "chave", "horario", "devolucoes"];
    let mut page = only(page, &["parametros", "pix"]);
    inside(&mut page, "parametros", |parameters| {
        *parameters = only(parameters, &["paginacao"]);
        inside(parameters, "paginacao", |found| *found = only(found, &paging));
    });
    inside(&mut page, "pix", |pix| {
        *pix = only(pix, &entry);
        inside(pix, "devolucoes", |found| {
            *found = only(found, &refund);
            inside(found, "horario", |times| *times = only(times, &["solicitacao", "liquidacao"]));
        });
    });
    page
}

fn only(value: &Value, fields: &[&str]) -> Value {
    let Value::Object(members) = value else { return value.clone() };
    let kept = fields.iter().filter_map(|field| Some(((*field).to_owned(), members.get(*field)?.clone())));
    Value::Object(kept.collect::<Map<_, _>>())
}

/// Changes the field's value, or each element if it is a list.
fn inside(value: &mut Value, field: &str, mut change: impl FnMut(&mut Value)) {
    match value.get_mut(field) {
        Some(Value::Array(found)) => found.iter_mut().for_each(change),
        Some(found) => change(found),
        None => {}
    }
}

/// Returns the elements of the field's list, or the single object in its place.
fn items<'a>(value: &'a Value, field: &str) -> &'a [Value] {
    match &value[field] {
        Value::Array(found) => found,
        found @ Value::Object(_) => std::slice::from_ref(found),
        _ => &[],
    }
}

fn text<'a>(value: &'a Value, field: &str) -> Option<&'a str> {
    value[field].as_str().map(str::trim).filter(|text| !text.is_empty())
}

/// Checks that a failure gives no page, and that the bank's text is shown without private data.
fn check_failure(status: u16, body: &[u8]) {
    check_told(&first_page(status, body).expect_err("a page of a failure"));
}

fn check_told(failure: &CallFailure) {
    let (CallFailure::NotDelivered(why) | CallFailure::Unknown(why)) = failure else { return };
    assert!(!why.contains(TOKEN) && !why.contains(KEY), "{why}");
    assert!(!why.contains(char::is_control) && why.chars().count() <= 130, "{why}");
    for word in why.split_whitespace() {
        let digits = word.chars().filter(char::is_ascii_digit).count();
        assert!(digits < 5 || why.ends_with(&format!("and page {word} came")), "{why}");
    }
}
