//! The body of a registration: its required fields, and their maximum lengths.
//!
//! Source: the model of `POST /boletos` in the portal, Cobrança Bancária v3.

use chrono::NaiveDate;
use serde_json::{Map, Value};

use super::config::Config;
use super::money::hundredths;
use super::problem::Problem;
use super::terms::{Discount, Fine, Interest, Terms};

const KINDS: [&str; 30] = [
    "CH", "DM", "DMI", "DS", "DSI", "DR", "LC", "NCC", "NCE", "NCI", "NCR", "NP", "NPR", "TM", "TS", "NS",
    "RC", "FAT", "ND", "AP", "ME", "PC", "NF", "DD", "CC", "BDP", "OU", "CPR", "WR", "DAE",
];
/// Endings of the names of a discount's fields.
const ORDINALS: [&str; 3] = ["Primeiro", "Segundo", "Terceiro"];
const MOST_MESSAGES: usize = 5;

/// A requested title.
pub(super) struct Form {
    pub(super) number: Option<u64>,
    pub(super) your_number: String,
    pub(super) amount_cents: u64,
    pub(super) due: NaiveDate,
    pub(super) payable_until: Option<NaiveDate>,
    pub(super) terms: Terms,
    pub(super) payer_document: String,
    pub(super) with_pix: bool,
    /// All fields, unchanged.
    pub(super) fields: Map<String, Value>,
}

/// One object of the body, with methods to read its fields.
#[derive(Clone, Copy)]
struct Fields<'a> {
    name: &'a str,
    all: &'a Map<String, Value>,
}

impl<'a> Fields<'a> {
    fn refused(self, name: &str) -> Problem {
        let prefix = if self.name.is_empty() { String::new() } else { format!("{}.", self.name) };
        Problem::data(format!("O campo {prefix}{name} é inválido."))
    }

    fn get(self, name: &str) -> Option<&'a Value> {
        self.all.get(name).filter(|value| !value.is_null())
    }

    fn optional_text(self, name: &str, longest: usize) -> Result<Option<&'a str>, Problem> {
        let Some(value) = self.get(name) else { return Ok(None) };
        let text = value.as_str().filter(|text| text.chars().count() <= longest);
        text.map(Some).ok_or_else(|| self.refused(name))
    }

    fn text(self, name: &str, longest: usize) -> Result<&'a str, Problem> {
        let text = self.optional_text(name, longest)?.filter(|text| !text.trim().is_empty());
        text.ok_or_else(|| self.refused(name))
    }

    fn optional_integer(self, name: &str) -> Result<Option<u64>, Problem> {
        let Some(value) = self.get(name) else { return Ok(None) };
        value.as_u64().map(Some).ok_or_else(|| self.refused(name))
    }

    fn integer(self, name: &str, allowed: &[u64]) -> Result<u64, Problem> {
        let number = self.optional_integer(name)?;
        let is_allowed = |number: &u64| allowed.is_empty() || allowed.contains(number);
        number.filter(is_allowed).ok_or_else(|| self.refused(name))
    }

    fn amount(self, name: &str) -> Result<u64, Problem> {
        self.get(name).and_then(hundredths).ok_or_else(|| self.refused(name))
    }

    fn optional_date(self, name: &str) -> Result<Option<NaiveDate>, Problem> {
        let Some(value) = self.get(name) else { return Ok(None) };
        let date = value.as_str().filter(|text| text.len() == 10).and_then(|text| text.parse().ok());
        date.map(Some).ok_or_else(|| self.refused(name))
    }

    fn date(self, name: &str) -> Result<NaiveDate, Problem> {
        self.optional_date(name)?.ok_or_else(|| self.refused(name))
    }
}

impl Form {
    pub(super) fn read(body: &Value, config: &Config) -> Result<Self, Problem> {
        let all = body.as_object().ok_or_else(|| Problem::data("O corpo não é um objeto."))?;
        let fields = Fields { name: "", all };
        fields.integer("numeroCliente", &[config.customer])?;
        fields.integer("numeroContaCorrente", &[config.account])?;
        fields.integer("codigoModalidade", &[config.portfolio])?;
        let kind = fields.text("codigoEspecieDocumento", 3).map_err(|_| {
            // The sandbox answers 400 to a number here.
            Problem::business("codigoEspecieDocumento deve ser a sigla da espécie.")
        })?;
        if !KINDS.contains(&kind) {
            return Err(fields.refused("codigoEspecieDocumento"));
        }
        let issued = fields.date("dataEmissao")?;
        let due = fields.date("dataVencimento")?;
        let payable_until = fields.optional_date("dataLimitePagamento")?;
        if due < issued || payable_until.is_some_and(|until| until < due) {
            return Err(Problem::business("A data de vencimento ou limite de pagamento é inválida."));
        }
        let amount_cents = fields.amount("valor")?;
        if amount_cents == 0 {
            return Err(fields.refused("valor"));
        }
        Self::check_rest(fields)?;
        let form = Self {
            number: fields.optional_integer("nossoNumero")?.filter(|number| *number > 0),
            your_number: fields.text("seuNumero", 18)?.to_owned(),
            amount_cents,
            due,
            payable_until,
            terms: terms(fields, amount_cents, due, payable_until)?,
            payer_document: payer(fields)?,
            // 0 means the contract's setting, which is yes here.
            with_pix: fields.optional_integer("codigoCadastrarPIX")?.unwrap_or(0) != 2,
            fields: all.clone(),
        };
        if form.number.is_some_and(|number| i32::try_from(number).is_err()) {
            return Err(fields.refused("nossoNumero"));
        }
        Ok(form)
    }

    fn check_rest(fields: Fields<'_>) -> Result<(), Problem> {
        fields.integer("identificacaoEmissaoBoleto", &[1, 2])?;
        fields.integer("identificacaoDistribuicaoBoleto", &[1, 2])?;
        if !(1..=99).contains(&fields.integer("numeroParcela", &[])?) {
            return Err(fields.refused("numeroParcela"));
        }
        fields.optional_text("identificacaoBoletoEmpresa", 25)?;
        for (name, allowed) in [
            ("codigoProtesto", &[1, 2, 3][..]),
            ("codigoNegativacao", &[2, 3]),
            ("codigoCadastrarPIX", &[0, 1, 2]),
        ] {
            if fields.get(name).is_some() {
                fields.integer(name, allowed)?;
            }
        }
        for name in ["aceite", "gerarPdf"] {
            if fields.get(name).is_some_and(|value| !value.is_boolean()) {
                return Err(fields.refused(name));
            }
        }
        let messages = fields
            .get("mensagensInstrucao")
            .map_or(Some(&[][..]), |value| value.as_array().map(Vec::as_slice));
        let fits = |message: &Value| message.as_str().is_some_and(|text| text.chars().count() <= 40);
        if !messages.is_some_and(|messages| messages.len() <= MOST_MESSAGES && messages.iter().all(fits)) {
            return Err(fields.refused("mensagensInstrucao"));
        }
        if let Some(last) = fields.get("beneficiarioFinal") {
            let all = last.as_object().ok_or_else(|| fields.refused("beneficiarioFinal"))?;
            let last = Fields { name: "beneficiarioFinal", all };
            last.text("nome", 40)?;
            document(last)?;
        }
        Ok(())
    }
}

fn payer(fields: Fields<'_>) -> Result<String, Problem> {
    let all = fields.get("pagador").and_then(Value::as_object).ok_or_else(|| fields.refused("pagador"))?;
    let payer = Fields { name: "pagador", all };
    for (name, longest) in [("nome", 50), ("endereco", 40), ("bairro", 30), ("cidade", 40)] {
        payer.text(name, longest)?;
    }
    let is_digits =
        |text: &str, count: usize| text.len() == count && text.bytes().all(|digit| digit.is_ascii_digit());
    if !is_digits(payer.text("cep", 8)?, 8) {
        return Err(payer.refused("cep"));
    }
    let state = payer.text("uf", 2)?;
    if state.len() != 2 || !state.bytes().all(|letter| letter.is_ascii_uppercase()) {
        return Err(payer.refused("uf"));
    }
    document(payer)
}

/// Reads a CPF, or a CNPJ, which may have letters since July 2026.
fn document(fields: Fields<'_>) -> Result<String, Problem> {
    let text = fields.text("numeroCpfCnpj", 14)?;
    let is_cpf = text.len() == 11 && text.bytes().all(|digit| digit.is_ascii_digit());
    let is_cnpj =
        text.len() == 14 && text.bytes().all(|each| each.is_ascii_digit() || each.is_ascii_uppercase());
    if is_cpf || is_cnpj { Ok(text.to_owned()) } else { Err(fields.refused("numeroCpfCnpj")) }
}

fn terms(
    fields: Fields<'_>,
    amount_cents: u64,
    due: NaiveDate,
    until: Option<NaiveDate>,
) -> Result<Terms, Problem> {
    // dataVencimento < dataMulta ≤ dataLimitePagamento, and likewise for dataJurosMora.
    let after_due = |name: &str| -> Result<NaiveDate, Problem> {
        let day = fields.date(name)?;
        let is_right = day > due && until.is_none_or(|until| day <= until);
        if is_right { Ok(day) } else { Err(Problem::business(format!("A {name} é inválida."))) }
    };
    let mut terms = Terms::default();
    match fields.integer("tipoMulta", &[0, 1, 2])? {
        1 => terms.fine = Fine::Cents(fields.amount("valorMulta")?),
        2 => terms.fine = Fine::Percent(fields.amount("valorMulta")?),
        _ => {}
    }
    if terms.fine != Fine::None {
        terms.fine_from = Some(after_due("dataMulta")?);
    }
    match fields.integer("tipoJurosMora", &[1, 2, 3])? {
        1 => terms.interest = Interest::CentsPerDay(fields.amount("valorJurosMora")?),
        2 => terms.interest = Interest::PercentPerMonth(fields.amount("valorJurosMora")?),
        _ => {}
    }
    if terms.interest != Interest::None {
        terms.interest_from = Some(after_due("dataJurosMora")?);
    }
    if fields.get("valorAbatimento").is_some() {
        terms.rebate_cents = fields.amount("valorAbatimento")?;
    }
    let kind = fields.integer("tipoDesconto", &[0, 1, 2, 3, 4, 5, 6])?;
    if kind != 0 {
        terms.discount = if matches!(kind, 1 | 3 | 4) { Discount::Cents } else { Discount::Percent };
        terms.discounts = discounts(fields, due)?;
    }
    let most = terms.discounts.first().map_or(0, |(_, value)| *value);
    let is_too_much = match terms.discount {
        Discount::None => terms.rebate_cents >= amount_cents,
        Discount::Cents => most.saturating_add(terms.rebate_cents) >= amount_cents,
        Discount::Percent => most >= 10_000,
    };
    if is_too_much { Err(Problem::business("O desconto não pode exceder o valor.")) } else { Ok(terms) }
}

fn discounts(fields: Fields<'_>, due: NaiveDate) -> Result<Vec<(NaiveDate, u64)>, Problem> {
    let mut discounts: Vec<(NaiveDate, u64)> = Vec::new();
    for ordinal in ORDINALS {
        let day = format!("data{ordinal}Desconto");
        if fields.get(&day).is_none() {
            break;
        }
        let next = (fields.date(&day)?, fields.amount(&format!("valor{ordinal}Desconto"))?);
        let follows = discounts.last().is_none_or(|before| next.0 > before.0 && next.1 < before.1);
        if !follows || next.0 > due {
            return Err(Problem::business(format!("A {day} é inválida.")));
        }
        discounts.push(next);
    }
    if discounts.is_empty() { Err(fields.refused("dataPrimeiroDesconto")) } else { Ok(discounts) }
}
