//! Movements of a day: ordered, awaited, and downloaded as a ZIP of JSON. The settlements are the list for
//! reconciliation.
//!
//! The order of a day is kept until its last file was read, even by another reader: each of its files is a page. An
//! order whose file can't be read is dropped, and the next attempt places a new one.

use std::collections::BTreeMap;
use std::io::{Cursor, Read as _};
use std::rc::Rc;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use async_trait::async_trait;
use base64::Engine as _;
use base64::engine::DecodePaddingMode;
use base64::engine::general_purpose::{GeneralPurpose, GeneralPurposeConfig};
use chrono::NaiveDate;
use quita_domain::acquiring::CallFailure;
use quita_domain::identity::AcquirerName;
use quita_domain::money::Money;
use quita_domain::reconciliation::{LineKind, LineSubject, MARGIN_MS, Source, StatementLine};
use quita_ports::{ChargeReader, ListPage, ListPart, ListReader, PageCursor, Period};
use serde_json::{Value, json};
use tokio::time::sleep;
use zip::ZipArchive;

use super::BANK;
use super::link::Link;
use crate::api_pix::lenient::{list, text, whole};
use crate::bank_boleto::amount;
use crate::bearer::Answer;
use crate::exchange::Verb;

/// `tipoMovimento` of settlements.
const SETTLED: u8 = 5;

/// Waits before the bank is asked again for a list, all within the time of one page.
const WAITS_S: [u64; 6] = [0, 1, 2, 5, 10, 20];

/// Maximum size of an unzipped file: half a million records, as the bank's example has, of some hundred bytes.
const MAX_BYTES: u64 = 256 * 1024 * 1024;

/// Missing or excess base64 padding is accepted: the bank's own examples have it.
const LENIENT: GeneralPurpose = GeneralPurpose::new(
    &base64::alphabet::STANDARD,
    GeneralPurposeConfig::new().with_decode_padding_mode(DecodePaddingMode::Indifferent),
);

/// Reads the movements of one customer.
pub(super) struct Movements {
    pub(super) link: Rc<Link>,
    pub(super) acquirer: AcquirerName,
    pub(super) orders: Orders,
}

/// Orders of one customer that are not fully read yet, by day.
pub(super) type Orders = Arc<Mutex<BTreeMap<NaiveDate, ListOrder>>>;

/// An ordered list.
#[derive(Debug, Clone)]
pub(super) struct ListOrder {
    id: u64,
    /// Files, once the list is ready, and the number of all records.
    files: Option<(Vec<u64>, u64)>,
    /// Counts of identical lines, by the place of their file.
    counts: Arc<Mutex<BTreeMap<u32, Counts>>>,
}

/// Number of identical lines, by their id without a number.
type Counts = BTreeMap<String, u32>;

fn unclear(why: &str) -> CallFailure {
    CallFailure::Unknown(why.to_owned())
}

#[async_trait(?Send)]
impl ListReader for Movements {
    fn has_returned(&self) -> bool {
        // The bank has no refunds.
        false
    }

    fn history_months(&self) -> Option<u32> {
        None
    }

    fn charges(&self) -> Option<&dyn ChargeReader> {
        None
    }

    async fn page(&self, _: ListPart, period: Period, cursor: &PageCursor) -> Result<ListPage, CallFailure> {
        // A period begins with a margin before its day.
        let day = period.from.plus_ms(MARGIN_MS).sao_paulo_date();
        let (id, files, total) = self.ready(day).await?;
        let mut left =
            usize::try_from(cursor.number).ok().and_then(|number| files.get(number..)).into_iter().flatten();
        let Some(file) = left.next() else {
            self.drop_order(day);
            return Ok(ListPage { lines: Vec::new(), entries: 0, total: Some(total), next: None });
        };
        let read = self.read(day, id, *file, cursor.number).await;
        let next = left.next().map(|_| cursor.next(None));
        // An order whose file is damaged would fail again at every further try.
        if next.is_none() || read.is_err() {
            self.drop_order(day);
        }
        let (lines, entries) = read?;
        Ok(ListPage { lines, entries, total: Some(total), next })
    }
}

impl Movements {
    fn kept(&self) -> MutexGuard<'_, BTreeMap<NaiveDate, ListOrder>> {
        self.orders.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn drop_order(&self, day: NaiveDate) {
        self.kept().remove(&day);
    }

    /// Returns the lines of one file, and the number of its records.
    async fn read(
        &self,
        day: NaiveDate,
        id: u64,
        file: u64,
        place_of_file: u32,
    ) -> Result<(Vec<StatementLine>, u64), CallFailure> {
        let records = self.download(id, file).await?;
        let place = format!("movements {id}, file {file}");
        let lines = records
            .iter()
            .map(|record| line(record, day, &self.acquirer, &place))
            .collect::<Result<Vec<_>, _>>()
            .map_err(|field| unclear(&format!("{place}: {field} can't be read")))?;
        let lines = lines.into_iter().flatten().collect();
        let counts =
            self.kept().get(&day).filter(|order| order.id == id).map(|order| Arc::clone(&order.counts));
        let counts = counts.ok_or_else(|| unclear("the order of movements was made anew meanwhile"))?;
        let mut counts = counts.lock().unwrap_or_else(PoisonError::into_inner);
        let lines = numbered(lines, &mut counts, place_of_file)
            .ok_or_else(|| unclear("the files of movements were not read from the first on"))?;
        Ok((lines, u64::try_from(records.len()).unwrap_or(u64::MAX)))
    }

    /// Returns the order of a day with its files and the number of its records, once it is ready.
    async fn ready(&self, day: NaiveDate) -> Result<(u64, Vec<u64>, u64), CallFailure> {
        let known = self.kept().get(&day).cloned();
        let order = match known {
            Some(order) => order,
            None => ListOrder { id: self.ordered(day).await?, files: None, counts: Arc::default() },
        };
        // Stored before the wait: a try that runs out of time continues with the same order, and the bank creates only
        // one list.
        self.kept().insert(day, order.clone());
        if let Some((files, total)) = order.files {
            return Ok((order.id, files, total));
        }
        for wait_s in WAITS_S {
            sleep(Duration::from_secs(wait_s)).await;
            if let Some((files, total)) = self.files(day, order.id).await? {
                self.kept().insert(day, ListOrder { files: Some((files.clone(), total)), ..order });
                return Ok((order.id, files, total));
            }
        }
        Err(unclear("the bank has not made the list of movements yet"))
    }

    async fn ordered(&self, day: NaiveDate) -> Result<u64, CallFailure> {
        let body = json!({
            "numeroCliente": self.link.settings().customer, "tipoMovimento": SETTLED,
            "dataInicial": day.to_string(), "dataFinal": day.to_string(),
        });
        let answer = success(self.link.send(Verb::Post, "/boletos/movimentacoes", &body).await?)?;
        let id = answer.get("resultado").and_then(|result| whole(result, "codigoSolicitacao"));
        id.ok_or_else(|| unclear("the order of movements has no number"))
    }

    /// Returns the files of an order, and the number of all records; `None` until the order is ready.
    async fn files(&self, day: NaiveDate, id: u64) -> Result<Option<(Vec<u64>, u64)>, CallFailure> {
        let id = id.to_string();
        let answer = match self.link.get("/boletos/movimentacoes", &[("codigoSolicitacao", &id)]).await? {
            Answer::Success(answer) => answer,
            Answer::NotFound(why) | Answer::Refused(why) => {
                // The bank has forgotten the order: the next try places a new one.
                self.drop_order(day);
                return Err(CallFailure::Unknown(why));
            }
        };
        let Some(result) = answer.get("resultado").filter(|result| !result.is_null()) else {
            return Ok(None);
        };
        let files = list(result, "idArquivos").iter().map(Value::as_u64).collect::<Option<Vec<_>>>();
        let files = files.ok_or_else(|| unclear("the files of the movements have no numbers"))?;
        // A number, or text with dots between thousands.
        let total = match result.get("quantidadeTotalRegistros") {
            Some(Value::Number(number)) => number.as_u64(),
            Some(Value::String(text)) => text.trim().replace('.', "").parse().ok(),
            Some(Value::Null | Value::Bool(_) | Value::Array(_) | Value::Object(_)) | None => None,
        };
        let total = total.ok_or_else(|| unclear("the movements do not say how many there are"))?;
        Ok(Some((files, total)))
    }

    async fn download(&self, id: u64, file: u64) -> Result<Vec<Value>, CallFailure> {
        let id = id.to_string();
        let file = file.to_string();
        let query = [("codigoSolicitacao", id.as_str()), ("idArquivo", file.as_str())];
        let answer = success(self.link.get("/boletos/movimentacoes/download", &query).await?)?;
        let zipped = answer.get("resultado").and_then(|result| text(result, "arquivo"));
        let zipped = zipped.ok_or_else(|| unclear("the file of movements is missing"))?;
        unzipped(zipped).map_err(unclear)
    }
}

fn success(answer: Answer) -> Result<Value, CallFailure> {
    match answer {
        Answer::Success(answer) => Ok(answer),
        Answer::NotFound(why) | Answer::Refused(why) => Err(CallFailure::Unknown(why)),
    }
}

/// Returns the records of the only file in a ZIP, which is read up to a limit.
fn unzipped(encoded: &str) -> Result<Vec<Value>, &'static str> {
    let zipped = LENIENT.decode(encoded.trim_end_matches('=')).map_err(|_| "the file is no base64")?;
    let mut archive = ZipArchive::new(Cursor::new(zipped)).map_err(|_| "the file is no ZIP")?;
    if archive.len() != 1 {
        return Err("the ZIP has not one file");
    }
    let file = archive.by_index(0).map_err(|_| "the ZIP can't be read")?;
    let mut content = Vec::new();
    // One byte more than the limit distinguishes a file that is too large from one that fits exactly.
    file.take(MAX_BYTES.saturating_add(1))
        .read_to_end(&mut content)
        .map_err(|_| "the ZIP can't be unzipped")?;
    if u64::try_from(content.len()).is_ok_and(|length| length > MAX_BYTES) {
        return Err("the file of movements is too large");
    }
    match crate::text::json(&content) {
        Some(Value::Array(records)) => Ok(records),
        Some(Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) | Value::Object(_))
        | None => Err("the file of movements is no list"),
    }
}

/// Numbers identical lines, continuing from earlier files: a title may be paid twice on one day. Returns `None` if one
/// of these files was not read.
fn numbered(
    mut lines: Vec<StatementLine>,
    counts: &mut BTreeMap<u32, Counts>,
    place_of_file: u32,
) -> Option<Vec<StatementLine>> {
    let mut own = Counts::new();
    for line in &mut lines {
        let mut before = 0_u32;
        for place in 0..place_of_file {
            before = before.saturating_add(counts.get(&place)?.get(&line.id).copied().unwrap_or_default());
        }
        let count = own.entry(line.id.clone()).or_default();
        *count = count.saturating_add(1);
        line.id = format!("{}.{}", line.id, before.saturating_add(*count));
    }
    counts.insert(place_of_file, own);
    Some(lines)
}

/// Returns the line of a record, without its number among identical ones; `None` if the record is not a settlement.
///
/// # Errors
/// The field that is missing: an omitted record would look like a missing payment.
fn line(
    record: &Value,
    day: NaiveDate,
    acquirer: &AcquirerName,
    place: &str,
) -> Result<Option<StatementLine>, &'static str> {
    if text(record, "siglaMovimento").is_some_and(|kind| !kind.eq_ignore_ascii_case("LIQUI")) {
        return Ok(None);
    }
    let number = whole(record, "numeroTitulo").ok_or("numeroTitulo")?.to_string();
    let sum = |field: &'static str| amount::of_number(record.get(field)).ok_or(field);
    let net = sum("valorLiquido")?;
    let fee = sum("valorTarifaMovimento")?;
    let interest = amount::of_number(record.get("valorMora")).unwrap_or_default();
    let paid_on = date(record, "dataLiquidacao").unwrap_or(day);
    let source = Source::list_of(acquirer);
    let gross: Money = net.plus(fee);
    // Paid by the bar code or by the PIX code.
    let way = whole(record, "idTipoOpFinanceira").unwrap_or_default();
    let content = format!("{paid_on}-{}", gross.cents());
    let beginning = StatementLine::beginning_of_slip(&source, Some(&number), None).ok_or("numeroTitulo")?;
    Ok(Some(StatementLine {
        id: format!("{beginning}{content}:{way}"),
        source,
        day,
        kind: LineKind::Boleto,
        reference: Some(number.clone()),
        subject: LineSubject::Boleto {
            bank: BANK.to_owned(),
            our_number: Some(number),
            document_number: None,
            interest,
            credited_on: date(record, "dataPrevisaoCredito"),
        },
        gross,
        fee: Some(fee.into()),
        net: Some(net.into()),
        on: paid_on,
        place: place.to_owned(),
        other_key: None,
    }))
}

fn date(record: &Value, field: &str) -> Option<NaiveDate> {
    let (day, _) = text(record, field)?.split_at_checked(10)?;
    day.parse().ok()
}

#[cfg(test)]
mod tests {
    use quita_domain::money::SignedMoney;

    use super::*;

    #[test]
    fn what_is_no_zip_of_one_list_is_refused() {
        for (encoded, why) in [
            ("", "the file is no ZIP"),
            ("é", "the file is no base64"),
            ("aGVsbG8=", "the file is no ZIP"),
            ("aGVsbG8====", "the file is no ZIP"),
        ] {
            assert_eq!(unzipped(encoded), Err(why), "{encoded}");
        }
    }

    #[test]
    fn a_record_without_its_number_or_sums_is_never_left_out() {
        let whole = json!({
            "siglaMovimento": "LIQUI", "numeroTitulo": 7, "valorLiquido": 99.25, "valorTarifaMovimento": 0.75,
            "valorMora": 0, "dataLiquidacao": "2026-11-23T00:00:00-03:00",
        });
        let day = "2026-11-23".parse().unwrap();
        let read = |record: &Value| line(record, day, &AcquirerName::new("bank"), "place");
        let settled = read(&whole).unwrap().unwrap();
        assert_eq!(
            (settled.gross.cents(), settled.fee, settled.net),
            (10_000, Some(SignedMoney::from_cents(75)), Some(SignedMoney::from_cents(9_925)))
        );
        assert_eq!(
            (settled.on.to_string().as_str(), settled.id.as_str()),
            ("2026-11-23", "bank:ours:7:2026-11-23-10000:0")
        );
        for field in ["numeroTitulo", "valorLiquido", "valorTarifaMovimento"] {
            let mut record = whole.clone();
            record.as_object_mut().unwrap().remove(field);
            assert_eq!(read(&record), Err(field));
        }
        let mut other = whole;
        other["siglaMovimento"] = json!("BAIXA");
        assert_eq!(read(&other), Ok(None));
    }
}
