//! Titles through the API: registered, read, changed, withdrawn.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use chrono::NaiveDate;
use serde_json::{Map, Value, json};

use super::SicoobBank;
use super::books::{Line, Status, Title};
use super::config::{BarCode, PixCode, Shape};
use super::form::Form;
use super::money::number;
use super::problem::Problem;
use crate::Response;
use crate::api_pix::br_code;
use crate::chance::mixed;
use crate::cielo::{bar_code, local_time};
use crate::query::Query;

/// `tipoHistorico` of the bank's fees.
pub(super) const FEE: u64 = 1;
/// `tipoHistorico` of money that came in.
pub(super) const SETTLEMENT: u64 = 6;
/// `tipoHistorico` of everything else here; the document names none of these.
pub(super) const OTHER: u64 = 2;

impl SicoobBank {
    /// Handles `POST /boletos`.
    pub(super) fn register(&mut self, body: &Value, now_ms: i64) -> Result<Response, Problem> {
        let form = Form::read(body, &self.config)?;
        let number = match form.number {
            Some(chosen) => self.chosen(chosen)?,
            None => self.next_free(),
        };
        if self.config.refuses_same_your_number
            && self.books.titles.values().any(|title| title.your_number == form.your_number)
        {
            return Err(self.duplicate());
        }
        let title = self.title(form, number, now_ms);
        self.books.titles.insert(number, title);
        self.forge_by_chance(number, now_ms);
        self.pay_by_chance(number, now_ms);
        let told = self.books.titles.get(&number).map(|title| self.tell(title)).unwrap_or_default();
        Ok(Response::json(self.config.registered_status, &self.shaped(told)))
    }

    fn chosen(&self, number: u64) -> Result<u64, Problem> {
        let (first, last) = self.config.numbers;
        let counted = if self.config.numbers_have_digit { number / 10 } else { number };
        if !(first..=last).contains(&counted) {
            return Err(Problem::business("O nosso número está fora da faixa do beneficiário."));
        }
        if number != self.config.written(counted) {
            return Err(Problem::business("O dígito verificador do nosso número é inválido."));
        }
        if self.books.titles.contains_key(&number) { Err(self.duplicate()) } else { Ok(number) }
    }

    fn duplicate(&self) -> Problem {
        Problem::with_status(self.config.duplicate_status, self.config.duplicate_text.clone())
    }

    /// Returns a free number from the end of the range, which rarely collides with a number of the customer.
    fn next_free(&self) -> u64 {
        let (first, last) = self.config.numbers;
        let mut written = (first..=last).rev().map(|number| self.config.written(number));
        written.find(|number| !self.books.titles.contains_key(number)).unwrap_or(last)
    }

    pub(super) fn title(&self, form: Form, our_number: u64, now_ms: i64) -> Title {
        let config = &self.config;
        let (due, cents) = match config.bar_code {
            BarCode::OtherDay => (form.due.succ_opt().unwrap_or(form.due), form.amount_cents),
            BarCode::OtherAmount => (form.due, form.amount_cents.saturating_add(1)),
            BarCode::Good | BarCode::WrongDigit => (form.due, form.amount_cents),
        };
        let good = bar_code::bar_code(bar_code::Bank::Sicoob, due, cents, our_number);
        let bar_code =
            if config.bar_code == BarCode::WrongDigit { bar_code::with_wrong_digit(&good) } else { good };
        let token = mixed(config.seed.wrapping_add(our_number));
        let code =
            br_code::dynamic(&format!("{}/{token:032x}", config.location), "LOJA EXEMPLO", "SAO PAULO");
        let pix_code = match config.pix_code {
            PixCode::Good => Some(code),
            PixCode::BadCrc => {
                let (kept, last) = code.split_at_checked(code.len().saturating_sub(1)).unwrap_or((&code, ""));
                Some(format!("{kept}{}", if last == "0" { "1" } else { "0" }))
            }
            PixCode::Rejected => None,
        };
        Title {
            number: our_number,
            your_number: form.your_number,
            registered_ms: now_ms,
            amount_cents: form.amount_cents,
            due: form.due,
            payable_until: form.payable_until,
            terms: form.terms,
            payer_document: form.payer_document,
            fields: form.fields,
            bar_code,
            pix_rejected: form.with_pix && pix_code.is_none(),
            pix_code: pix_code.filter(|_| form.with_pix),
            status: Status::Open,
            history: vec![Line {
                at_ms: now_ms,
                kind: OTHER,
                text: "ENTRADA - TÍTULO REGISTRADO".to_owned(),
            }],
            payments: Vec::new(),
        }
    }

    /// Handles `GET /boletos`.
    pub(super) fn read(&self, query: &Query, now_ms: i64) -> Result<Response, Problem> {
        self.check_customer(query)?;
        let Some(title) = self.asked_for(query)?.filter(|title| self.is_shown(title, now_ms)) else {
            return Ok(Response::empty(204));
        };
        Ok(Response::json(200, &self.shaped(self.tell(title))))
    }

    /// Handles `GET /boletos/segunda-via`.
    pub(super) fn second_copy(&self, query: &Query, now_ms: i64) -> Result<Response, Problem> {
        self.check_customer(query)?;
        let Some(title) = self.asked_for(query)?.filter(|title| self.is_shown(title, now_ms)) else {
            return Ok(Response::empty(204));
        };
        let mut told = self.tell(title);
        if query.get("gerarPdf") == Some("true") {
            // With too much padding, as in the sandbox's example.
            let pdf = STANDARD.encode(b"%PDF-1.4\n%%EOF\n") + "==";
            told.insert("pdfBoleto".to_owned(), json!(pdf));
        }
        Ok(Response::json(200, &self.shaped(told)))
    }

    /// Handles `GET /pagadores/{cpfCnpj}/boletos`; its bounds are due dates.
    pub(super) fn of_payer(&self, document: &str, query: &Query, now_ms: i64) -> Result<Response, Problem> {
        if query.get("numeroCliente") != Some(&self.config.customer.to_string()) {
            return Err(Problem::data("O campo numeroCliente é inválido."));
        }
        let bound = |name: &str| -> Result<Option<NaiveDate>, Problem> {
            let Some(text) = query.get(name) else { return Ok(None) };
            text.parse().map(Some).map_err(|_| Problem::data(format!("O campo {name} é inválido.")))
        };
        let from = bound("dataInicio")?;
        let until = bound("dataFim")?;
        let found: Vec<Map<String, Value>> = self
            .books
            .titles
            .values()
            .filter(|title| title.payer_document == document && self.is_shown(title, now_ms))
            .filter(|title| from.is_none_or(|from| title.due >= from))
            .filter(|title| until.is_none_or(|until| title.due <= until))
            .filter(|title| {
                query.get("codigoSituacao").is_none_or(|code| code == title.status.code().to_string())
            })
            .map(|title| self.tell(title))
            .collect();
        if found.is_empty() {
            return Ok(Response::empty(204));
        }
        Ok(Response::json(200, &json!({"resultado": {"boletos": found}})))
    }

    /// Handles `GET /boletos/faixas-nosso-numero`.
    pub(super) fn ranges(&self, query: &Query) -> Result<Response, Problem> {
        self.check_customer(query)?;
        if query.get("quantidade").and_then(|text| text.parse::<u64>().ok()).is_none_or(|count| count == 0) {
            return Err(Problem::data("O campo quantidade é inválido."));
        }
        let (first, last) = self.config.numbers;
        Ok(Response::json(
            200,
            &json!({"resultado": [{
                "numeroInicial": first, "numeroFinal": last,
                "validaDigitoVerificadorNossoNumero": u8::from(self.config.numbers_have_digit),
            }]}),
        ))
    }

    /// Handles `POST /boletos/{nossoNumero}/baixar`.
    pub(super) fn write_off(&mut self, number: &str, body: &Value, now_ms: i64) -> Result<Response, Problem> {
        self.check_body(body)?;
        let title = self.mutable(number)?;
        if title.status != Status::Open {
            return Err(Problem::business(format!("O boleto não está em aberto: {}.", title.status.name())));
        }
        title.status = Status::WrittenOff;
        let text = "BAIXA - POR SOLICITAÇÃO DO BENEFICIÁRIO".to_owned();
        title.history.push(Line { at_ms: now_ms, kind: OTHER, text });
        Ok(Response::empty(204))
    }

    /// Handles `PATCH /boletos/{nossoNumero}`, with one object per request.
    pub(super) fn change(&mut self, number: &str, body: &Value) -> Result<Response, Problem> {
        self.check_body(body)?;
        let names = ["numeroCliente", "codigoModalidade"];
        let changes: Vec<(&String, &Value)> = body
            .as_object()
            .into_iter()
            .flatten()
            .filter(|(name, _)| !names.contains(&name.as_str()))
            .collect();
        let [(name, change)] = changes.as_slice() else {
            return Err(Problem::business("Informe um único objeto de alteração."));
        };
        let title = self.mutable(number)?;
        if title.status != Status::Open {
            return Err(Problem::business("O boleto não está em aberto."));
        }
        let refused = || Problem::data(format!("O campo {name} é inválido."));
        let day = |field: &str| change.get(field).and_then(Value::as_str).and_then(|text| text.parse().ok());
        let cents = |field: &str| change.get(field).and_then(super::money::hundredths);
        match name.as_str() {
            "prorrogacaoVencimento" => {
                let due: NaiveDate = day("dataVencimento").ok_or_else(refused)?;
                if due <= title.due {
                    return Err(refused());
                }
                title.due = due;
            }
            "prorrogacaoLimitePagamento" => {
                title.payable_until = Some(day("dataLimitePagamento").ok_or_else(refused)?);
            }
            "abatimento" => title.terms.rebate_cents = cents("valorAbatimento").ok_or_else(refused)?,
            "valorNominal" => title.amount_cents = cents("valor").ok_or_else(refused)?,
            _ => return Err(refused()),
        }
        Ok(Response::empty(204))
    }

    fn check_body(&self, body: &Value) -> Result<(), Problem> {
        for (name, expected) in
            [("numeroCliente", self.config.customer), ("codigoModalidade", self.config.portfolio)]
        {
            if body.get(name).and_then(Value::as_u64) != Some(expected) {
                return Err(Problem::data(format!("O campo {name} é inválido.")));
            }
        }
        Ok(())
    }

    fn check_customer(&self, query: &Query) -> Result<(), Problem> {
        for (name, expected) in
            [("numeroCliente", self.config.customer), ("codigoModalidade", self.config.portfolio)]
        {
            if query.get(name) != Some(&expected.to_string()) {
                return Err(Problem::data(format!("O campo {name} é inválido.")));
            }
        }
        Ok(())
    }

    fn mutable(&mut self, number: &str) -> Result<&mut Title, Problem> {
        let number: u64 = number.parse().map_err(|_| Problem::data("O campo nossoNumero é inválido."))?;
        self.books.titles.get_mut(&number).ok_or_else(|| Problem::business("O boleto não foi encontrado."))
    }

    fn asked_for(&self, query: &Query) -> Result<Option<&Title>, Problem> {
        if let Some(number) = query.get("nossoNumero") {
            let number: u64 = number.parse().map_err(|_| Problem::data("O campo nossoNumero é inválido."))?;
            return Ok(self.books.titles.get(&number));
        }
        let mut titles = self.books.titles.values();
        if let Some(code) = query.get("codigoBarras") {
            return Ok(titles.find(|title| title.bar_code == code));
        }
        if let Some(line) = query.get("linhaDigitavel") {
            return Ok(titles.find(|title| line_of(title) == line));
        }
        Err(Problem::data("Informe nossoNumero, linhaDigitavel ou codigoBarras."))
    }

    fn is_shown(&self, title: &Title, now_ms: i64) -> bool {
        now_ms >= title.registered_ms.saturating_add(self.config.read_lag_ms)
    }

    fn shaped(&self, title: Map<String, Value>) -> Value {
        match self.config.shape {
            Shape::Object => json!({"resultado": title}),
            Shape::Array => json!({"resultado": [title]}),
            Shape::Boleto => json!({"resultado": {"boleto": title}}),
        }
    }

    /// Describes a title as answers do: the requested fields, and the bank's additions.
    fn tell(&self, title: &Title) -> Map<String, Value> {
        let config = &self.config;
        let mut told = title.fields.clone();
        let history = title.history.iter().map(|line| {
            let kind = if config.history_as_number { json!(line.kind) } else { json!(line.kind.to_string()) };
            json!({
                "dataHistorico": local_time::date_and_time(line.at_ms).replacen(' ', "T", 1),
                "tipoHistorico": kind, "descricaoHistorico": line.text,
            })
        });
        let day = |day: NaiveDate| json!(day.to_string());
        told.extend([
            ("nossoNumero".to_owned(), json!(title.number)),
            ("valor".to_owned(), number(title.amount_cents)),
            ("dataVencimento".to_owned(), day(title.due)),
            ("codigoBarras".to_owned(), json!(title.bar_code)),
            ("linhaDigitavel".to_owned(), json!(line_of(title))),
            ("situacaoBoleto".to_owned(), json!(title.status.name())),
            ("listaHistorico".to_owned(), history.collect()),
        ]);
        if let Some(until) = title.payable_until {
            told.insert("dataLimitePagamento".to_owned(), day(until));
        }
        if let Some(code) = &title.pix_code {
            told.insert("qrCode".to_owned(), json!(code));
        }
        if title.pix_rejected {
            let why = "A chave Pix do beneficiário não foi encontrada.";
            told.insert("descricaoRejeicaoPix".to_owned(), json!(why));
        }
        told
    }
}

fn line_of(title: &Title) -> String {
    bar_code::line(&title.bar_code).chars().filter(char::is_ascii_digit).collect()
}
