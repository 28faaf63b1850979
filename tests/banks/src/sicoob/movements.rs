//! Lists of movements: ordered, awaited, and downloaded as a ZIP of JSON in base64.

use std::io::{Cursor, Write as _};

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use chrono::{Days, NaiveDate};
use serde_json::{Value, json};
use zip::ZipWriter;
use zip::write::SimpleFileOptions;

use super::SicoobBank;
use super::books::{Payment, PaymentState, Status, Title};
use super::money::{grouped, number};
use super::problem::Problem;
use crate::Response;
use crate::cielo::local_time;
use crate::query::Query;

const SETTLED: u64 = 5;
const WRITTEN_OFF: u64 = 6;
/// Longest period of one order, in days.
const MOST_DAYS: i64 = 2;

/// An ordered list.
pub(super) struct Order {
    id: u64,
    kind: u64,
    from: NaiveDate,
    until: NaiveDate,
    ready_ms: i64,
}

impl SicoobBank {
    /// Handles `POST /boletos/movimentacoes`.
    pub(super) fn order_movements(&mut self, body: &Value, now_ms: i64) -> Result<Response, Problem> {
        let refused = |name: &str| Problem::data(format!("O campo {name} é inválido."));
        if body.get("numeroCliente").and_then(Value::as_u64) != Some(self.config.customer) {
            return Err(refused("numeroCliente"));
        }
        let kind = body.get("tipoMovimento").and_then(Value::as_u64).filter(|kind| (1..=6).contains(kind));
        let kind = kind.ok_or_else(|| refused("tipoMovimento"))?;
        // A day, or an instant that begins with one.
        let day = |name: &str| -> Result<NaiveDate, Problem> {
            let text = body.get(name).and_then(Value::as_str).and_then(|text| text.get(..10));
            text.and_then(|text| text.parse().ok()).ok_or_else(|| refused(name))
        };
        let from = day("dataInicial")?;
        let until = day("dataFinal")?;
        if until < from || (until - from).num_days() >= MOST_DAYS {
            return Err(Problem::business("O período não pode exceder 2 dias."));
        }
        let id = self.books.next_number();
        let ready_ms = now_ms.saturating_add(self.config.movements_after_ms);
        self.orders.push(Order { id, kind, from, until, ready_ms });
        Ok(Response::json(
            201,
            &json!({"resultado": {
                "mensagem": "A solicitação está sendo processada.", "codigoSolicitacao": id,
            }}),
        ))
    }

    /// Handles `GET /boletos/movimentacoes`.
    pub(super) fn ordered_movements(&self, query: &Query, now_ms: i64) -> Result<Response, Problem> {
        let order = self.order(query)?;
        if order.ready_ms > now_ms {
            return Ok(Response::empty(204));
        }
        let records = self.records(order);
        let files = records.len().div_ceil(self.config.records_in_file.max(1));
        let ids: Vec<u64> = (1..).take(files).collect();
        let total = u64::try_from(records.len()).unwrap_or(0);
        Ok(Response::json(
            200,
            &json!({"resultado": {
                "quantidadeTotalRegistros": grouped(total),
                "quantidadeRegistrosArquivo": self.config.records_in_file,
                "quantidadeArquivo": files, "idArquivos": ids,
            }}),
        ))
    }

    /// Handles `GET /boletos/movimentacoes/download`.
    pub(super) fn download_movements(&self, query: &Query, now_ms: i64) -> Result<Response, Problem> {
        let order = self.order(query)?;
        let file: Option<usize> = query.get("idArquivo").and_then(|text| text.parse().ok());
        let records = self.records(order);
        let chunk = file
            .filter(|file| *file > 0 && order.ready_ms <= now_ms)
            .and_then(|file| records.chunks(self.config.records_in_file.max(1)).nth(file - 1));
        let Some(chunk) = chunk else {
            return Err(Problem::business("O arquivo não foi encontrado."));
        };
        let name = format!("movimentacao_{}_{}", order.id, file.unwrap_or_default());
        let zipped = zipped(&format!("{name}.json"), json!(chunk).to_string().as_bytes());
        let zipped = zipped.map_err(|_| Problem::of_status(500))?;
        Ok(Response::json(
            200,
            &json!({"resultado": {
                "arquivo": STANDARD.encode(zipped), "nomeArquivo": format!("{name}.zip"),
            }}),
        ))
    }

    fn order(&self, query: &Query) -> Result<&Order, Problem> {
        if query.get("numeroCliente") != Some(&self.config.customer.to_string()) {
            return Err(Problem::data("O campo numeroCliente é inválido."));
        }
        let asked = query.get("codigoSolicitacao");
        let order = self.orders.iter().find(|order| asked == Some(&order.id.to_string()));
        order.ok_or_else(|| Problem::business("A solicitação não foi encontrada."))
    }

    fn records(&self, order: &Order) -> Vec<Value> {
        let is_within = |at_ms: i64| (order.from..=order.until).contains(&local_time::day(at_ms));
        let titles = self.books.titles.values().filter(|title| !self.unlisted.contains(&title.number));
        match order.kind {
            SETTLED => titles
                .flat_map(|title| title.payments.iter().map(move |payment| (title, payment)))
                .filter_map(|(title, payment)| match payment.state {
                    PaymentState::Settled { at_ms } if is_within(at_ms) => {
                        Some(self.settled(order, title, payment, at_ms))
                    }
                    PaymentState::Settled { .. } | PaymentState::Accepted | PaymentState::Cancelled => None,
                })
                .collect(),
            WRITTEN_OFF => titles
                .filter(|title| title.status == Status::WrittenOff)
                .filter(|title| title.history.last().is_some_and(|line| is_within(line.at_ms)))
                .map(|title| self.record(order, title, "BAIXA"))
                .collect(),
            _ => Vec::new(),
        }
    }

    fn settled(&self, order: &Order, title: &Title, payment: &Payment, at_ms: i64) -> Value {
        let on = local_time::day(at_ms);
        let credited = on.checked_add_days(Days::new(1)).unwrap_or(on);
        let fee = self.config.fee_cents;
        let more = payment.cents.saturating_sub(title.amount_cents);
        let less = title.amount_cents.saturating_sub(payment.cents);
        let mut record = self.record(order, title, "LIQUI");
        if let Some(fields) = record.as_object_mut() {
            fields.extend([
                ("valorTarifaMovimento".to_owned(), number(fee)),
                ("valorMora".to_owned(), number(more)),
                ("valorDesconto".to_owned(), number(less)),
                ("valorLiquido".to_owned(), number(payment.cents.saturating_sub(fee))),
                ("dataMovimentoLiquidacao".to_owned(), json!(format!("{on}T00:00:00-03:00"))),
                ("dataLiquidacao".to_owned(), json!(format!("{}T00:00:00-03:00", payment.on))),
                ("dataPrevisaoCredito".to_owned(), json!(format!("{credited}T00:00:00-03:00"))),
                ("numeroBancoRecebedor".to_owned(), json!(1)),
                ("numeroAgenciaRecebedora".to_owned(), json!(1)),
                ("idTipoOpFinanceira".to_owned(), json!(if payment.by_pix { 14 } else { 4 })),
                ("tipoOpFinanceira".to_owned(), json!(if payment.by_pix { "PIX" } else { "COMPENSACAO" })),
            ]);
        }
        record
    }

    fn record(&self, order: &Order, title: &Title, kind: &str) -> Value {
        json!({
            "siglaMovimento": kind,
            "dataInicioMovimento": format!("{}T00:00:00-03:00", order.from),
            "dataFimMovimento": format!("{}T00:00:00-03:00", order.until),
            "numeroCliente": self.config.customer, "numeroContrato": self.config.customer,
            "modalidade": self.config.portfolio, "numeroTitulo": title.number, "seuNumero": title.your_number,
            "dataVencimentoTitulo": format!("{}T00:00:00-03:00", title.due),
            "valorTitulo": number(title.amount_cents), "codigoBarras": title.bar_code,
            "numeroContaCorrente": self.config.account,
            "valorTarifaMovimento": number(0), "valorAbatimento": number(title.terms.rebate_cents),
        })
    }
}

fn zipped(name: &str, content: &[u8]) -> Result<Vec<u8>, zip::result::ZipError> {
    let mut writer = ZipWriter::new(Cursor::new(Vec::new()));
    writer.start_file(name, SimpleFileOptions::default())?;
    writer.write_all(content)?;
    Ok(writer.finish()?.into_inner())
}
