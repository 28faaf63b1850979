//! Codes to pay with, checked before a payer sees them: a wrong one would send the money elsewhere.

use quita_domain::acquiring::{ChargeQuery, Issued};
use quita_domain::boleto::{Bank, Barcode, Line, due_factor};
use quita_domain::document::{Document, DocumentType};
use quita_domain::due_terms::DueTerms;
use quita_domain::order::Terms;
use quita_domain::slip::IssuedBoleto;
use quita_domain::text::is_digits;

use super::order::Charge;
use super::settings::BoletoSettings;
use crate::slip;

/// Digits of a bar code. In an answer, `barcode` may be the address of a picture instead.
const BARCODE_LENGTH: usize = 44;

/// Reason why an answer has no code that a payer could use.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct NoCode(pub(super) &'static str);

/// Returns the code of a charge.
///
/// # Errors
/// The reason why there is none.
pub(super) fn issued(
    query: &ChargeQuery,
    charge: &Charge,
    issuer: &BoletoSettings,
) -> Result<Issued, NoCode> {
    match &query.terms {
        Terms::Pix { expires_in_s } => pix(query, charge, *expires_in_s),
        Terms::Boleto(due) => boleto(query, charge, due, issuer).map(|slip| Issued::Boleto(Box::new(slip))),
        Terms::DuePix(_) => Err(NoCode("Pagar.me has no PIX with a due date")),
        Terms::CreditCard { .. } => Err(NoCode("a card has no code")),
    }
}

/// Returns the BR Code, if it is valid and is for our amount or states none.
fn pix(query: &ChargeQuery, charge: &Charge, expires_in_s: u64) -> Result<Issued, NoCode> {
    let code = charge.last.pix.code.as_deref().ok_or(NoCode("there is no qr_code"))?;
    slip::check_br_code(code, query.amount).map_err(NoCode)?;
    let txid = charge.last.pix.provider_tid.clone().unwrap_or_default();
    // Its lifetime starts at its creation at Pagar.me, which may be long after the payment was created.
    let expires_at = query.sent_at.plus_ms(expires_in_s.saturating_mul(1000));
    Ok(Issued::Pix { txid, code: code.to_owned(), expires_at })
}

/// Returns the slip, if its line is valid and has our amount and due date. The bar code is computed from the line.
fn boleto(
    query: &ChargeQuery,
    charge: &Charge,
    due: &DueTerms,
    issuer: &BoletoSettings,
) -> Result<IssuedBoleto, NoCode> {
    let due_date = due.due_date;
    let given = &charge.last.boleto;
    let line = given.line.as_deref().ok_or(NoCode("there is no line"))?;
    let line = Line::parse(line).map_err(|_| NoCode("the line is not valid"))?;
    let barcode = line.barcode().clone();
    if barcode.amount_cents() != query.amount.cents() {
        return Err(NoCode("the line has another amount"));
    }
    if Some(barcode.factor()) != due_factor::factor(due_date) {
        return Err(NoCode("the line has another due date"));
    }
    if charge.due_on.is_some_and(|due| due != due_date) {
        return Err(NoCode("the boleto has another due date"));
    }
    if given.barcode.as_deref().is_some_and(|other| is_another(other, &barcode)) {
        return Err(NoCode("line and bar code differ"));
    }
    let bank = Bank::from_code(barcode.bank());
    let account = slip::account_of(bank, &barcode);
    Ok(IssuedBoleto {
        digitable_line: line.as_str().to_owned(),
        due_date,
        our_number: account
            .as_ref()
            .map(|known| known.printed_number.clone())
            .or_else(|| given.our_number.clone())
            .unwrap_or_default(),
        portfolio: account.as_ref().map_or_else(String::new, |known| known.account.wallet().to_owned()),
        agency_and_account: account.map_or_else(String::new, |known| known.account.beneficiary_code()),
        bank_code: bank.map_or_else(|| barcode.bank().to_owned(), |known| known.code_with_digit().to_owned()),
        bank_name: bank.map_or("", Bank::name).to_owned(),
        beneficiary_name: issuer.assignor.clone().unwrap_or_default(),
        beneficiary_document: issuer.identification.as_deref().map(masked).unwrap_or_default(),
        beneficiary_address: issuer.address.clone().unwrap_or_default(),
        barcode: barcode.into(),
        // `qr_code` of a boleto is the address of a picture.
        pix_code: None,
    })
}

/// Returns the bank's number of the slip, as in the bank's files.
pub(super) fn reference_number(charge: &Charge) -> Option<String> {
    let line = charge.last.boleto.line.as_deref().and_then(|line| Line::parse(line).ok());
    let account =
        line.and_then(|line| slip::account_of(Bank::from_code(line.barcode().bank()), line.barcode()));
    account.map(|known| known.number).or_else(|| charge.last.boleto.our_number.clone())
}

/// Returns true if this is a valid bar code that differs from the expected one.
fn is_another(given: &str, barcode: &Barcode) -> bool {
    given.len() == BARCODE_LENGTH && is_digits(given) && given != barcode.as_str()
}

fn masked(given: &str) -> String {
    Document::parse_formatted(given, DocumentType::Cnpj)
        .map_or_else(|_| given.to_owned(), |document| document.formatted())
}
