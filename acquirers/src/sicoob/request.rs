//! The body of a registration.
//!
//! Source: the model of `POST /boletos` in the portal. The same charge always gives the same body.

use chrono::{Days, NaiveDate};
use quita_domain::acquiring::{Charge, ChargeQuery};
use quita_domain::due_terms::{DueTerms, Interest, Portion};
use quita_domain::order::{Address, Payer as Given};
use quita_domain::text::fold_ascii;
use serde::Serialize;

use super::settings::SicoobSettings;
use crate::bank_boleto::amount::Hundredths;
use crate::bank_boleto::names;

/// Maximum numbers of characters.
const MAX_NAME: usize = 50;
const MAX_STREET: usize = 40;
const MAX_NEIGHBORHOOD: usize = 30;
const MAX_CITY: usize = 40;
const MAX_MESSAGE: usize = 40;

/// Replacement for a text without ASCII letters: the bank requires some.
const NOT_GIVEN: &str = "NAO INFORMADO";

/// The customer issues and delivers the slip.
const BY_CUSTOMER: u8 = 2;

/// Neither protest nor a debtors' register.
const NONE: u8 = 3;

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct Registration {
    numero_cliente: u64,
    codigo_modalidade: u64,
    numero_conta_corrente: u64,
    codigo_especie_documento: String,
    data_emissao: NaiveDate,
    nosso_numero: u32,
    seu_numero: String,
    identificacao_boleto_empresa: String,
    identificacao_emissao_boleto: u8,
    identificacao_distribuicao_boleto: u8,
    valor: Hundredths,
    data_vencimento: NaiveDate,
    data_limite_pagamento: NaiveDate,
    numero_parcela: u8,
    aceite: bool,
    codigo_negativacao: u8,
    codigo_protesto: u8,
    #[serde(flatten)]
    discounts: Discounts,
    #[serde(flatten)]
    late: Late,
    pagador: Payer,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    mensagens_instrucao: Vec<String>,
    #[serde(rename = "codigoCadastrarPIX")]
    codigo_cadastrar_pix: u8,
    gerar_pdf: bool,
}

/// Discounts until a day: 1 fixed, 2 percent.
#[derive(Default, Serialize)]
#[serde(rename_all = "camelCase")]
struct Discounts {
    tipo_desconto: u8,
    #[serde(skip_serializing_if = "Option::is_none")]
    data_primeiro_desconto: Option<NaiveDate>,
    #[serde(skip_serializing_if = "Option::is_none")]
    valor_primeiro_desconto: Option<Hundredths>,
    #[serde(skip_serializing_if = "Option::is_none")]
    data_segundo_desconto: Option<NaiveDate>,
    #[serde(skip_serializing_if = "Option::is_none")]
    valor_segundo_desconto: Option<Hundredths>,
    #[serde(skip_serializing_if = "Option::is_none")]
    data_terceiro_desconto: Option<NaiveDate>,
    #[serde(skip_serializing_if = "Option::is_none")]
    valor_terceiro_desconto: Option<Hundredths>,
}

/// Fine (0 none, 1 fixed, 2 percent) and interest (1 reais a day, 2 percent a month, 3 none), from the day after the due
/// date.
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Late {
    tipo_multa: u8,
    #[serde(skip_serializing_if = "Option::is_none")]
    data_multa: Option<NaiveDate>,
    #[serde(skip_serializing_if = "Option::is_none")]
    valor_multa: Option<Hundredths>,
    tipo_juros_mora: u8,
    #[serde(skip_serializing_if = "Option::is_none")]
    data_juros_mora: Option<NaiveDate>,
    #[serde(skip_serializing_if = "Option::is_none")]
    valor_juros_mora: Option<Hundredths>,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Payer {
    numero_cpf_cnpj: String,
    nome: String,
    /// Present for every boleto, because every request for one must have it.
    #[serde(flatten)]
    address: Option<PayerAddress>,
}

#[derive(Serialize)]
struct PayerAddress {
    endereco: String,
    bairro: String,
    cidade: String,
    cep: String,
    uf: &'static str,
}

impl Registration {
    /// Creates the registration of a charge with this number, and with this name, which its payer sees.
    pub(super) fn new(
        charge: &Charge,
        due: &DueTerms,
        our_number: u32,
        your_number: String,
        settings: &SicoobSettings,
    ) -> Self {
        let ChargeQuery { id, amount, created_at, .. } = &charge.query;
        let messages = due.instructions.iter().map(|text| fold_ascii(text, MAX_MESSAGE));
        Self {
            numero_cliente: settings.customer,
            codigo_modalidade: settings.portfolio,
            numero_conta_corrente: settings.account,
            codigo_especie_documento: settings.document_kind.clone(),
            // The day of creation, not of sending: a registration that is sent again must have the same body.
            data_emissao: created_at.sao_paulo_date(),
            nosso_numero: our_number,
            seu_numero: your_number,
            identificacao_boleto_empresa: names::company_id(*id),
            identificacao_emissao_boleto: BY_CUSTOMER,
            identificacao_distribuicao_boleto: BY_CUSTOMER,
            valor: Hundredths::from(*amount),
            data_vencimento: due.due_date,
            data_limite_pagamento: due.payable_until(),
            numero_parcela: 1,
            aceite: false,
            codigo_negativacao: NONE,
            codigo_protesto: NONE,
            discounts: Discounts::of(due),
            late: Late::of(due),
            pagador: Payer::of(&charge.order.payer),
            mensagens_instrucao: messages.filter(|text| !text.is_empty()).collect(),
            // Code 0 would leave this to the contract with the bank, so it is always stated explicitly.
            codigo_cadastrar_pix: if settings.has_pix { 1 } else { 2 },
            gerar_pdf: false,
        }
    }
}

impl Discounts {
    fn of(due: &DueTerms) -> Self {
        let mut all = due.discounts.iter();
        let mut next = || {
            let discount = all.next()?;
            Some((discount.until, size_of(discount.portion)))
        };
        let first = next();
        let second = next();
        let third = next();
        // The first one determines all: a request that mixes amounts and percentages is refused (`code::MIXED`).
        let kind = due.discounts.first().map_or(0, |first| kind_of(first.portion));
        Self {
            tipo_desconto: kind,
            data_primeiro_desconto: first.map(|(day, _)| day),
            valor_primeiro_desconto: first.map(|(_, size)| size),
            data_segundo_desconto: second.map(|(day, _)| day),
            valor_segundo_desconto: second.map(|(_, size)| size),
            data_terceiro_desconto: third.map(|(day, _)| day),
            valor_terceiro_desconto: third.map(|(_, size)| size),
        }
    }
}

impl Late {
    fn of(due: &DueTerms) -> Self {
        let from = due.due_date.checked_add_days(Days::new(1)).unwrap_or(due.due_date);
        let (kind, interest) = match due.interest {
            Some(Interest::AmountPerDay(amount)) => (1, Some(Hundredths::from(amount))),
            Some(Interest::BasisPointsPerMonth(points)) => (2, Some(Hundredths::from(points))),
            None => (3, None),
        };
        Self {
            tipo_multa: due.fine.map_or(0, kind_of),
            data_multa: due.fine.map(|_| from),
            valor_multa: due.fine.map(size_of),
            tipo_juros_mora: kind,
            data_juros_mora: interest.map(|_| from),
            valor_juros_mora: interest,
        }
    }
}

const fn kind_of(portion: Portion) -> u8 {
    match portion {
        Portion::Amount(_) => 1,
        Portion::BasisPoints(_) => 2,
    }
}

fn size_of(portion: Portion) -> Hundredths {
    match portion {
        Portion::Amount(amount) => Hundredths::from(amount),
        Portion::BasisPoints(points) => Hundredths::from(points),
    }
}

impl Payer {
    fn of(given: &Given) -> Self {
        Self {
            numero_cpf_cnpj: given.document.as_str().to_owned(),
            nome: folded(&given.full_name(), MAX_NAME),
            address: given.address.as_ref().map(PayerAddress::of),
        }
    }
}

impl PayerAddress {
    fn of(given: &Address) -> Self {
        let Address { street, number, complement, neighborhood, city, state, zip_code } = given;
        Self {
            endereco: street_line(street, number, complement.as_deref()),
            bairro: folded(neighborhood, MAX_NEIGHBORHOOD),
            cidade: folded(city, MAX_CITY),
            cep: zip_code.as_str().to_owned(),
            uf: state.as_str(),
        }
    }
}

/// Returns street, number and complement. If they are too long together, the complement is dropped first, then the
/// street is cut at its end.
fn street_line(street: &str, number: &str, complement: Option<&str>) -> String {
    let number = fold_ascii(number, MAX_STREET / 2);
    let room = MAX_STREET.saturating_sub(number.len()).saturating_sub(1);
    let short = format!("{} {number}", fold_ascii(street, room));
    let whole = complement.map(|complement| format!("{short} {}", fold_ascii(complement, MAX_STREET)));
    let fits = whole.filter(|whole| whole.len() <= MAX_STREET);
    folded(&fits.unwrap_or(short), MAX_STREET)
}

fn folded(text: &str, longest: usize) -> String {
    let folded = fold_ascii(text, longest);
    if folded.is_empty() { NOT_GIVEN.to_owned() } else { folded }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_number_of_the_house_is_never_cut() {
        let long = "Avenida Engenheiro Luís Carlos Berrini de Souza";
        assert_eq!(street_line("Rua Augusta", "100", Some("Apto 4")), "Rua Augusta 100 Apto 4");
        assert_eq!(street_line(long, "1297", None), "Avenida Engenheiro Luis Carlos Berr 1297");
        assert_eq!(street_line("Rua Augusta", "100", Some(long)), "Rua Augusta 100");
        assert_eq!(street_line("漢字", "", None), NOT_GIVEN);
    }
}
