//! List of the Pix received at a bank: `GET /pix` by time, in pages, with the refunds of each.
//!
//! Source: the Banco Central's API Pix 2.9.0, `GET /pix`: `inicio` and `fim` are mandatory, pages are counted from 0.

use std::rc::Rc;

use async_trait::async_trait;
use quita_domain::acquiring::{CallFailure, ChargeQuery};
use quita_domain::identity::AcquirerName;
use quita_domain::reconciliation::{LineKind, LineSubject, Source, StatementLine};
use quita_domain::time::Timestamp;
use quita_ports::{ChargeReader, ListPage, ListPart, ListReader, PageCursor, Period};
use serde_json::Value;
use url::form_urlencoded;

use super::cob::{payment_of, txid};
use super::lenient::{instant, is_end_to_end_id, list, money, text, whole};
use super::link::{Answer, Link};
use super::received::{END_TO_END_ID, Returned, refund_id};

/// Entries of a page: the standard's default, which every bank supports.
const PAGE_SIZE: &str = "100";

/// A page of this size without page numbers may be the whole list, or only its first hundred entries.
const FULL_PAGE: usize = 100;

/// Time by which the bank's clock may date a Pix before its charge, in milliseconds: some write the time of Brasília as
/// UTC.
const CLOCK_BEHIND_MS: u64 = 4 * 3_600_000;

/// Maximum number of entries of a page, and of refunds of a Pix, that are read. An answer with more is a mistake.
const MAX_ITEMS: usize = 1_000;

/// Characters of what a bank calls a refund.
const MAX_REFERENCE: usize = 64;

/// Reads the list of one bank.
pub(super) struct PixList {
    pub(super) link: Rc<Link>,
    pub(super) acquirer: AcquirerName,
}

#[async_trait(?Send)]
impl ListReader for PixList {
    fn has_returned(&self) -> bool {
        true
    }

    fn history_months(&self) -> Option<u32> {
        None
    }

    fn charges(&self) -> Option<&dyn ChargeReader> {
        None
    }

    async fn page(
        &self,
        part: ListPart,
        period: Period,
        cursor: &PageCursor,
    ) -> Result<ListPage, CallFailure> {
        let is_ours = |key: &str| self.link.credential.is_our_key(key);
        match self.link.get(&address(part, period, cursor.number)).await? {
            Answer::Success(answer) => {
                let context = PageContext { acquirer: &self.acquirer, period, page: cursor.number };
                read_page(&answer, &context, is_ours).map_err(CallFailure::Unknown)
            }
            Answer::NotFound(why) | Answer::Refused(why) => Err(CallFailure::Unknown(why)),
        }
    }
}

/// Of what a page is.
pub(super) struct PageContext<'a> {
    pub(super) acquirer: &'a AcquirerName,
    pub(super) period: Period,
    pub(super) page: u32,
}

fn address(part: ListPart, period: Period, page: u32) -> String {
    let Period { from, until } = period;
    let mut query = form_urlencoded::Serializer::new(String::new());
    query.append_pair("inicio", &to_the_second(from, 0)).append_pair("fim", &to_the_second(until, 999));
    if part == ListPart::Returned {
        query.append_pair("devolucaoPresente", "true");
    }
    query.append_pair("paginacao.paginaAtual", &page.to_string());
    query.append_pair("paginacao.itensPorPagina", PAGE_SIZE);
    format!("/pix?{}", query.finish())
}

/// Returns the address of the list of a charge's Pix, for those that the charge does not show itself.
pub(super) fn address_of_charge(query: &ChargeQuery, now: Timestamp) -> String {
    let mut parameters = form_urlencoded::Serializer::new(String::new());
    let from = query.created_at.minus_ms(CLOCK_BEHIND_MS);
    parameters.append_pair("inicio", &to_the_second(from, 0));
    parameters.append_pair("fim", &to_the_second(now.max(from), 0));
    parameters.append_pair("txid", &txid(query.id));
    format!("/pix?{}", parameters.finish())
}

/// Formats an instant without milliseconds, which not every bank accepts. `ms` is added before they are truncated.
fn to_the_second(at: Timestamp, ms: u64) -> String {
    let whole = at.plus_ms(ms).to_string();
    whole.split_once('.').map(|(second, _)| format!("{second}Z")).unwrap_or(whole)
}

/// Reads one page of a list, or says why the answer is none.
pub(super) fn read_page(
    answer: &Value,
    context: &PageContext<'_>,
    is_ours: impl Fn(&str) -> bool,
) -> Result<ListPage, String> {
    let paging = answer.get("parametros").and_then(|parameters| parameters.get("paginacao"));
    let number = |field| paging.and_then(|paging| whole(paging, field));
    let pages = number("quantidadeDePaginas");
    let total = number("quantidadeTotalDeItens");
    // A bank that ignores the page number would repeat its first page without end.
    if let Some(other) = number("paginaAtual").filter(|number| *number != u64::from(context.page)) {
        return Err(format!("page {} was asked for, and page {other} came", context.page));
    }
    let entries = list(answer, "pix");
    // An error page without entries must not count as a day on which nothing came in.
    if answer.get("pix").is_none() && total != Some(0) {
        return Err(String::from("the list has no entries, and does not say that there are none"));
    }
    if entries.len() > MAX_ITEMS {
        return Err(format!("a page has {} entries", entries.len()));
    }
    if pages.is_none() && entries.len() >= FULL_PAGE {
        return Err(format!("a page has {} entries, and does not say whether more follow", entries.len()));
    }
    let mut lines = Vec::with_capacity(entries.len());
    for (place, entry) in entries.iter().enumerate() {
        let read = read_pix(entry, context, &is_ours, &mut lines);
        read.ok_or_else(|| {
            format!("entry {} of page {} can't be read", place.saturating_add(1), context.page)
        })?;
    }
    let next = u64::from(context.page).saturating_add(1);
    // If a bank mentions no pages, there is only one.
    let is_last = entries.is_empty() || pages.is_none_or(|pages| next >= pages);
    let cursor = PageCursor { number: context.page, name: None };
    Ok(ListPage {
        lines,
        entries: u64::try_from(entries.len()).unwrap_or(u64::MAX),
        total,
        next: (!is_last).then(|| cursor.next(None)),
    })
}

/// Adds the lines of one Pix. `None` if it, or one of its refunds, has no name or no amount: anything left out would be
/// taken for missing.
fn read_pix(
    pix: &Value,
    context: &PageContext<'_>,
    is_ours: impl Fn(&str) -> bool,
    lines: &mut Vec<StatementLine>,
) -> Option<()> {
    let end_to_end_id = text(pix, END_TO_END_ID).filter(|id| is_end_to_end_id(id))?.to_owned();
    let gross = money(pix, "valor")?;
    let other_key = text(pix, "chave").filter(|key| !is_ours(key)).map(String::from);
    let transaction_id = text(pix, "txid").and_then(payment_of);
    // The middle of the period is on the requested day; its ends are in the margins of the adjacent days.
    let day = instant(pix, "horario").unwrap_or_else(|| middle(context.period)).sao_paulo_date();
    let source = Source::list_of(context.acquirer);
    let place = format!("GET /pix, page {}", context.page);
    let refunds = list(pix, "devolucoes");
    if refunds.len() > MAX_ITEMS {
        return None;
    }
    let done = refunds.iter().filter(|refund| Returned::is_done(refund));
    let done: Vec<_> =
        done.map(|refund| Some((refund, Returned::read(refund, gross)?))).collect::<Option<_>>()?;
    let line = StatementLine {
        id: StatementLine::pix_id(&source, &end_to_end_id),
        source,
        day,
        kind: if transaction_id.is_some() { LineKind::Pix } else { LineKind::Other },
        reference: Some(end_to_end_id.clone()),
        subject: LineSubject::Pix { transaction_id, end_to_end_id: end_to_end_id.clone() },
        gross,
        fee: None,
        net: None,
        on: day,
        place,
        other_key,
    };
    lines.push(line.clone());
    for (refund, Returned { id, amount, at, is_disputed }) in done {
        let refund_id = refund_id(&end_to_end_id, &id);
        let told = text(refund, "rtrId").unwrap_or(&id);
        lines.push(StatementLine {
            id: StatementLine::refund_id(&line.source, &end_to_end_id, &refund_id),
            kind: LineKind::Refund,
            reference: Some(told.chars().take(MAX_REFERENCE).collect()),
            subject: LineSubject::Refund {
                transaction_id,
                end_to_end_id: end_to_end_id.clone(),
                refund_id,
                is_chargeback: is_disputed,
            },
            gross: amount,
            on: at.map_or(day, Timestamp::sao_paulo_date),
            ..line.clone()
        });
    }
    Some(())
}

fn middle(period: Period) -> Timestamp {
    period.from.plus_ms(period.until.ms_since(period.from) / 2)
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    const TXID: &str = "7978c0c97ea847e78e8849634473c1f1";

    fn read(answer: &Value) -> Result<ListPage, String> {
        let acquirer = AcquirerName::new("bank");
        let at = |text| Timestamp::parse(text).unwrap();
        let period = Period { from: at("2026-11-22T03:00:00Z"), until: at("2026-11-23T02:59:59Z") };
        let context = PageContext { acquirer: &acquirer, period, page: 1 };
        read_page(answer, &context, |key| key == "ours")
    }

    fn paging(pages: u64, items: u64) -> Value {
        json!({ "paginacao": {
            "paginaAtual": 1, "itensPorPagina": 100, "quantidadeDePaginas": pages, "quantidadeTotalDeItens": items,
        } })
    }

    #[test]
    fn a_page_is_asked_for_by_seconds_that_hold_the_whole_period() {
        let at = |text| Timestamp::parse(text).unwrap();
        let period = Period { from: at("2026-11-22T03:00:00.400Z"), until: at("2026-11-23T02:59:59.999Z") };
        let expected = "/pix?inicio=2026-11-22T03%3A00%3A00Z&fim=2026-11-23T03%3A00%3A00Z\
            &paginacao.paginaAtual=2&paginacao.itensPorPagina=100";
        assert_eq!(address(ListPart::All, period, 2), expected);
        let expected =
            expected.replace("&paginacao.paginaAtual", "&devolucaoPresente=true&paginacao.paginaAtual");
        assert_eq!(address(ListPart::Returned, period, 2), expected);
    }

    #[test]
    fn a_full_page_that_says_nothing_of_pages_is_refused() {
        let pix = |count: usize| {
            let entry = |number| json!({"endToEndId": format!("E{number}"), "valor": "1.00"});
            json!({"pix": (0..count).map(entry).collect::<Vec<_>>()})
        };
        assert_eq!(read(&pix(99)).unwrap().next, None);
        for count in [100, 101, 150] {
            assert!(read(&pix(count)).is_err(), "{count}");
        }
    }

    #[test]
    fn each_pix_is_a_line_and_so_is_what_went_back_of_it() {
        let done = json!({
            "id": "7978c0c97ea847e78e8849634473c1f2", "rtrId": "D1", "valor": "1.00", "status": "DEVOLVIDO",
            "horario": {"solicitacao": "2026-11-25T12:00:00Z"},
        });
        let disputed = json!({"id": "m", "valor": "2.00", "status": "DEVOLVIDO", "natureza": "MED_FRAUDE"});
        let open = json!({"id": "o", "valor": "3.00", "status": "EM_PROCESSAMENTO"});
        let answer = json!({"parametros": paging(3, 250), "pix": [
            {"endToEndId": "E1", "txid": TXID, "valor": "10.00", "chave": "ours",
             "horario": "2026-11-23T02:59:00Z", "devolucoes": [done, disputed, open]},
            {"endToEndId": "E2", "txid": TXID, "valor": "5.00", "chave": "somebody else's"},
            {"endToEndId": "E3", "valor": "6.00"},
        ]});
        let page = read(&answer).unwrap();
        let next = page.next.as_ref().map(|next| next.number);
        assert_eq!((page.entries, page.total, next), (3, Some(250), Some(2)));
        let told: Vec<_> = page
            .lines
            .iter()
            .map(|line| (line.kind.as_str(), line.reference.as_deref().unwrap(), line.gross.cents()))
            .collect();
        let expected = [
            ("pix", "E1", 1_000),
            ("refund", "D1", 100),
            ("refund", "m", 200),
            ("pix", "E2", 500),
            ("other", "E3", 600),
        ];
        assert_eq!(told, expected);
        let [paid, refund, chargeback, ..] = &page.lines[..] else { panic!("{page:?}") };
        assert_eq!(paid.on.to_string(), "2026-11-22", "in Brasília");
        assert_eq!((refund.on.to_string(), refund.day), ("2026-11-25".into(), paid.day));
        assert_eq!(refund.id, "bank:refund:E1:7978c0c9-7ea8-47e7-8e88-49634473c1f2");
        assert!(matches!(chargeback.subject, LineSubject::Refund { is_chargeback: true, .. }));
        let keys: Vec<_> = page.lines.iter().map(|line| line.other_key.as_deref()).collect();
        assert_eq!(keys, [None, None, None, Some("somebody else's"), None]);
    }

    fn with_refund(refund: Value) -> Value {
        json!({"pix": [{"endToEndId": "E1", "valor": "9.00", "devolucoes": refund}]})
    }

    #[test]
    fn what_is_no_page_of_a_list_is_refused() {
        for (answer, is_page) in [
            (json!({"parametros": paging(1, 0), "pix": []}), true),
            (json!({"parametros": paging(1, 0)}), true),
            (json!({"pix": []}), true),
            (json!({"parametros": paging(1, 1)}), false),
            (json!({"parametros": {"paginacao": {"paginaAtual": 0}}, "pix": []}), false),
            (json!({}), false),
            (json!("x"), false),
            (json!({"pix": [{}]}), false),
            (json!({"pix": [{"endToEndId": "E1", "valor": "1,00"}]}), false),
            (json!({"pix": [{"endToEndId": "E/1", "valor": "1.00"}]}), false),
            (with_refund(json!({"id": "r", "valor": "1.00", "status": "DEVOLVIDO"})), true),
            (with_refund(json!({"id": "r", "valor": "1", "status": "DEVOLVIDO"})), false),
            (with_refund(json!({"valor": "1.00", "status": "devolvido"})), false),
            (with_refund(json!({"valor": "1", "status": "EM_PROCESSAMENTO"})), true),
            (with_refund(json!(vec![json!({}); 1_000])), true),
            (with_refund(json!(vec![json!({}); 1_001])), false),
        ] {
            assert_eq!(read(&answer).is_ok(), is_page, "{answer}");
        }
        let last =
            read(&json!({"parametros": paging(2, 101), "pix": [{"endToEndId": "E1", "valor": "1.00"}]}));
        assert_eq!(last.unwrap().next, None);
    }

    /// Every byte of an answer, replaced by each of these: what is JSON still is read twice the same, or refused.
    #[test]
    fn whatever_is_changed_in_an_answer_it_is_read_or_refused() {
        let answer = json!({"parametros": paging(3, 250), "pix": [
            {"endToEndId": "E1", "txid": TXID, "valor": "10.00", "chave": "ours", "horario": "2026-11-23T02:59:00Z",
             "devolucoes": [{"id": "r", "rtrId": "D1", "valor": "1.00", "status": "DEVOLVIDO", "natureza": "MED",
                             "horario": {"liquidacao": "2026-11-25T12:00:00Z"}}]},
        ]});
        let text = answer.to_string();
        let mut read_anew = 0;
        let mut refused = 0;
        for place in 0..text.len() {
            for byte in *b"0-\"}{]nE " {
                let mut changed = text.clone().into_bytes();
                changed[place] = byte;
                let Ok(changed) = serde_json::from_slice::<Value>(&changed) else { continue };
                match read(&changed) {
                    Ok(page) => {
                        assert!(page.lines.len() <= 2 && page.entries <= 1, "{changed}");
                        assert_eq!(read(&changed), Ok(page));
                        read_anew += 1;
                    }
                    Err(_) => refused += 1,
                }
            }
        }
        assert!(read_anew > 1_000 && refused > 100, "{read_anew} {refused}");
    }
}
