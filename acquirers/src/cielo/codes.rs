//! Codes to pay with, checked before a payer sees them: a wrong one would send the money elsewhere.

use quita_domain::acquiring::{ChargeQuery, Issued};
use quita_domain::boleto::{Bank, Barcode, Line, due_factor};
use quita_domain::document::{Document, DocumentType};
use quita_domain::due_terms::DueTerms;
use quita_domain::identity::Mode;
use quita_domain::order::Terms;
use quita_domain::slip::IssuedBoleto;

use super::order_id;
use super::sale::Sale;
use super::settings::BoletoSettings;
use crate::slip;

/// Providers of boletos whose bank is known.
const BRADESCO: &str = "Bradesco2";
/// Cielo dropped the older name on 2025-12-31, but boletos made under it can still be queried.
const BANCO_DO_BRASIL: [&str; 2] = ["BancoDoBrasil2", "BancoDoBrasil3"];

/// Reason why an answer has no code that a payer could use.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct NoCode(pub(super) &'static str);

/// Data of the receiver beyond the sale.
#[derive(Clone, Copy)]
pub(super) struct Issuer<'a> {
    pub(super) mode: Mode,
    pub(super) boleto: Option<&'a BoletoSettings>,
}

/// Returns the code of the sale.
pub(super) fn issued(query: &ChargeQuery, sale: &Sale, issuer: Issuer<'_>) -> Result<Issued, NoCode> {
    match &query.terms {
        Terms::Pix { expires_in_s } => pix(query, sale, *expires_in_s),
        Terms::DuePix(_) => Err(NoCode("Cielo has no PIX with a due date")),
        Terms::Boleto(_) => boleto(query, sale, issuer).map(|slip| Issued::Boleto(Box::new(slip))),
        Terms::CreditCard { .. } => Err(NoCode("a card has no code")),
    }
}

/// Returns the BR Code, if it is valid and is for our amount or names none.
fn pix(query: &ChargeQuery, sale: &Sale, expires_in_s: u64) -> Result<Issued, NoCode> {
    let code = sale.pix.code.as_deref().ok_or(NoCode("there is no QrCodeString"))?;
    slip::check_br_code(code, query.amount).map_err(NoCode)?;
    let txid = sale.pix.txid.clone().unwrap_or_else(|| order_id::write(query.id, query.method));
    // Its lifetime starts at its creation at Cielo, which may be long after the payment was created.
    let expires_at = query.sent_at.plus_ms(expires_in_s.saturating_mul(1000));
    Ok(Issued::Pix { txid, code: code.to_owned(), expires_at })
}

/// Returns the slip, if its bar code is valid, has our amount and due date, and its line matches the bar code.
fn boleto(query: &ChargeQuery, sale: &Sale, issuer: Issuer<'_>) -> Result<IssuedBoleto, NoCode> {
    let Terms::Boleto(DueTerms { due_date, .. }) = query.terms else { return Err(NoCode("it is no boleto")) };
    let given = sale.boleto.barcode.as_deref().ok_or(NoCode("there is no BarCodeNumber"))?;
    let barcode = Barcode::parse(&slip::digits_of(given)).map_err(|_| NoCode("the bar code is not valid"))?;
    // The payer's bank takes amount and date from the bar code, whatever else the slip says.
    if barcode.amount_cents() != query.amount.cents() {
        return Err(NoCode("the bar code has another amount"));
    }
    if Some(barcode.factor()) != due_factor::factor(due_date) {
        return Err(NoCode("the bar code has another due date"));
    }
    if sale.boleto.names_due_date && sale.boleto.due_date != Some(due_date) {
        return Err(NoCode("the boleto has another due date"));
    }
    if !is_of_its_bank(barcode.bank(), issuer) {
        return Err(NoCode("the bar code is of another bank"));
    }
    let line = barcode.line();
    if sale.boleto.line.as_deref().is_some_and(|given| !is_line(given, &line)) {
        return Err(NoCode("line and bar code differ"));
    }
    let bank = Bank::from_code(barcode.bank());
    let account = slip::account_of(bank, &barcode);
    let our_number = our_number(sale, account.as_ref());
    Ok(IssuedBoleto {
        digitable_line: line.as_str().to_owned(),
        due_date,
        our_number: account.as_ref().map_or(our_number, |known| known.printed_number.clone()),
        portfolio: account.as_ref().map_or_else(String::new, |known| known.account.wallet().to_owned()),
        agency_and_account: account.map_or_else(String::new, |known| known.account.beneficiary_code()),
        bank_code: bank.map_or_else(|| barcode.bank().to_owned(), |known| known.code_with_digit().to_owned()),
        bank_name: bank.map_or("", Bank::name).to_owned(),
        beneficiary_name: issuer.boleto.map(|known| known.assignor.clone()).unwrap_or_default(),
        beneficiary_document: issuer.boleto.map(masked_document).unwrap_or_default(),
        beneficiary_address: issuer.boleto.and_then(|known| known.address.clone()).unwrap_or_default(),
        pix_code: None,
        barcode: barcode.into(),
    })
}

/// Returns the bank's number of the slip with its digit, as in the bank's files.
pub(super) fn reference_number(sale: &Sale) -> Option<String> {
    let barcode =
        sale.boleto.barcode.as_deref().and_then(|given| Barcode::parse(&slip::digits_of(given)).ok());
    let account = barcode.and_then(|barcode| slip::account_of(Bank::from_code(barcode.bank()), &barcode));
    Some(our_number(sale, account.as_ref())).filter(|number| !number.is_empty())
}

fn our_number(sale: &Sale, account: Option<&slip::Account>) -> String {
    match account {
        Some(known) => known.number.clone(),
        None => sale.boleto.number.clone().unwrap_or_default(),
    }
}

/// Returns true if the bank is the provider's. Boletos of Cielo's sandbox have no bank (`000`).
fn is_of_its_bank(bank: &str, issuer: Issuer<'_>) -> bool {
    match (issuer.mode, issuer.boleto.map(|settings| settings.provider.as_str())) {
        (Mode::Test, _) => true,
        (Mode::Live, Some(BRADESCO)) => bank == Bank::Bradesco.code(),
        (Mode::Live, Some(provider)) if BANCO_DO_BRASIL.contains(&provider) => {
            bank == Bank::BancoDoBrasil.code()
        }
        (Mode::Live, Some(_) | None) => bank != "000",
    }
}

fn is_line(given: &str, line: &Line) -> bool {
    slip::digits_of(given) == line.as_str()
}

fn masked_document(settings: &BoletoSettings) -> String {
    let given = &settings.identification;
    let kind = if given.len() == 11 { DocumentType::Cpf } else { DocumentType::Cnpj };
    Document::parse_formatted(given, kind).map_or_else(|_| given.clone(), |document| document.formatted())
}
