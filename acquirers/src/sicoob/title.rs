//! A title as the bank's answers represent it.

use chrono::{NaiveDate, NaiveDateTime};
use quita_domain::money::Money;
use serde_json::Value;

use crate::api_pix::lenient::{expected_money, list, text, whole};
use crate::bank_boleto::amount;

/// `tipoHistorico` of money that came in; 1 is a fee of the bank.
const SETTLEMENT: u64 = 6;

/// Maximum number of lines of a history that are read.
const MAX_LINES: usize = 1_000;

/// A title.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Title {
    pub(super) number: u64,
    pub(super) your_number: String,
    /// Our own name of the title, if the bank shows it.
    pub(super) company_id: Option<String>,
    /// Amount, if it is the expected one.
    pub(super) amount: Option<Money>,
    pub(super) status: TitleStatus,
    /// Lines about money that came in, newest first.
    pub(super) settlements: Vec<SettlementLine>,
    pub(super) barcode: Option<String>,
    pub(super) line: Option<String>,
    pub(super) pix_code: Option<String>,
}

/// `situacaoBoleto`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum TitleStatus {
    Open,
    Settled,
    WrittenOff,
    /// A status without a published meaning.
    Other(String),
}

/// A line in the history about money that came in.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct SettlementLine {
    /// Date and time, in Brasília, as the bank wrote them.
    pub(super) written_at: String,
    /// Day of this time.
    pub(super) on: Option<NaiveDate>,
    /// Amount, if the line states one.
    pub(super) amount: Option<Money>,
}

impl Title {
    /// Reads a title for which this amount is expected; `None` if the answer has no title.
    ///
    /// # Errors
    /// The field that is missing or can't be read.
    pub(super) fn read(answer: &Value, expected: Money) -> Result<Option<Self>, &'static str> {
        let Some(fields) = unwrapped(answer) else { return Ok(None) };
        let status = text(fields, "situacaoBoleto").unwrap_or_default();
        let status = match status.to_uppercase().as_str() {
            // The answer to a registration may lack it.
            "" | "EM ABERTO" => TitleStatus::Open,
            "LIQUIDADO" => TitleStatus::Settled,
            "BAIXADO" => TitleStatus::WrittenOff,
            _ => TitleStatus::Other(status.chars().take(40).collect()),
        };
        let owned = |field| text(fields, field).map(str::to_owned);
        Ok(Some(Self {
            number: whole(fields, "nossoNumero").ok_or("nossoNumero")?,
            your_number: owned("seuNumero").ok_or("seuNumero")?,
            company_id: owned("identificacaoBoletoEmpresa"),
            amount: expected_money(fields, "valor", expected),
            status,
            settlements: settlements(fields),
            barcode: owned("codigoBarras"),
            line: owned("linhaDigitavel"),
            pix_code: owned("qrCode"),
        }))
    }
}

/// Returns the object of the title: at the top, in a list, or under `boleto`.
fn unwrapped(answer: &Value) -> Option<&Value> {
    let result = answer.get("resultado").unwrap_or(answer);
    let result = match result {
        Value::Array(items) => items.first()?,
        Value::Object(_) => result,
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => return None,
    };
    let title = result.get("boleto").unwrap_or(result);
    title.as_object().is_some_and(|fields| !fields.is_empty()).then_some(title)
}

fn settlements(fields: &Value) -> Vec<SettlementLine> {
    let lines = list(fields, "listaHistorico").iter().take(MAX_LINES);
    let mut found: Vec<SettlementLine> = lines
        // The line of a fee ends in an amount too ("TARIFA … R$ 0,75"), and must not be read as a payment.
        .filter(|line| whole(line, "tipoHistorico") == Some(SETTLEMENT))
        .map(|line| {
            let written_at = text(line, "dataHistorico").unwrap_or_default();
            SettlementLine {
                on: day(written_at),
                written_at: written_at.to_owned(),
                amount: text(line, "descricaoHistorico").and_then(amount::at_the_end),
            }
        })
        .collect();
    // All times have the same format, so their texts sort correctly.
    found.sort_by(|one, other| other.written_at.cmp(&one.written_at));
    found
}

fn day(written_at: &str) -> Option<NaiveDate> {
    let (day, _) = written_at.split_at_checked(10)?;
    let day: NaiveDate = day.parse().ok()?;
    // Some answers have the time in UTC.
    let is_utc = written_at.ends_with(['Z', 'z']);
    let local = || {
        let at = quita_domain::time::Timestamp::parse(written_at)?;
        Some(NaiveDateTime::date(&at.in_sao_paulo()))
    };
    if is_utc { local() } else { Some(day) }
}
