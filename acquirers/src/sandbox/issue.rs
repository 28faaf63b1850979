//! Codes to pay with. The same charge always gets the same code.

use quita_domain::acquiring::{ChargeQuery, Issued};
use quita_domain::boleto::{Barcode, BoletoError, CollectionAccount};
use quita_domain::due_terms::DueTerms;
use quita_domain::pix::br_code::{BrCodeError, DynamicBrCode};
use quita_domain::pix::txid::DynamicTxid;
use quita_domain::slip::IssuedBoleto;
use thiserror::Error;

use super::{SandboxSettings, movement};

/// Agreement (convênio) and wallet (carteira) at Banco do Brasil.
const AGREEMENT: &str = "1234567";
const WALLET: &str = "17";

const BENEFICIARY_NAME: &str = "QUITA SANDBOX LTDA";
/// A well-known example of a CNPJ, with correct check digits.
const BENEFICIARY_DOCUMENT: &str = "11.222.333/0001-81";
const BENEFICIARY_ADDRESS: &str = "Avenida Paulista, 1000, Bela Vista, São Paulo - SP, 01310-100";

/// Violations of a rail's rules.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Error)]
pub(super) enum CannotIssue {
    #[error(transparent)]
    Pix(#[from] BrCodeError),
    #[error(transparent)]
    Boleto(#[from] BoletoError),
}

/// Issues a PIX charge: a dynamic code whose location is not served.
pub(super) fn pix(
    query: &ChargeQuery,
    expires_in_s: u64,
    settings: &SandboxSettings,
) -> Result<Issued, CannotIssue> {
    let txid = DynamicTxid::from_uuid(query.id.uuid());
    let location = format!("{}{txid}", settings.pix_location);
    let code = DynamicBrCode::new(location, settings.merchant_name.clone(), settings.merchant_city.clone())
        .build()?;
    let expires_at = query.created_at.plus_ms(expires_in_s.saturating_mul(1000));
    Ok(Issued::Pix { txid: txid.into(), code, expires_at })
}

/// Issues a PIX with a due date.
pub(super) fn due_pix(
    query: &ChargeQuery,
    due: &DueTerms,
    settings: &SandboxSettings,
) -> Result<Issued, CannotIssue> {
    let txid = DynamicTxid::from_uuid(query.id.uuid());
    let code = due_code(&txid, settings)?;
    Ok(Issued::Pix { txid: txid.into(), code, expires_at: due.payable_before() })
}

/// Returns the BR Code of a charge with a due date (`cobv`).
fn due_code(txid: &DynamicTxid, settings: &SandboxSettings) -> Result<String, CannotIssue> {
    let location = format!("{}cobv/{txid}", settings.pix_location);
    let name = settings.merchant_name.clone();
    let city = settings.merchant_city.clone();
    Ok(DynamicBrCode::new(location, name, city).build()?)
}

/// Issues a boleto of Banco do Brasil, which can also be paid by its PIX code.
pub(super) fn boleto(
    query: &ChargeQuery,
    due: &DueTerms,
    settings: &SandboxSettings,
) -> Result<Issued, CannotIssue> {
    let due_date = due.due_date;
    let account = CollectionAccount::banco_do_brasil(AGREEMENT, WALLET)?;
    let field = account.free_field(movement::slip_number(query.id))?;
    let barcode = Barcode::compose(Some(due_date), query.amount.cents(), &field)?;
    Ok(Issued::Boleto(Box::new(IssuedBoleto {
        digitable_line: barcode.line().as_str().to_owned(),
        barcode: barcode.into(),
        due_date,
        our_number: field.our_number_formatted().to_owned(),
        portfolio: account.wallet().to_owned(),
        agency_and_account: account.beneficiary_code(),
        bank_code: account.bank().code_with_digit().to_owned(),
        bank_name: account.bank().name().to_owned(),
        beneficiary_name: BENEFICIARY_NAME.to_owned(),
        beneficiary_document: BENEFICIARY_DOCUMENT.to_owned(),
        beneficiary_address: BENEFICIARY_ADDRESS.to_owned(),
        pix_code: Some(due_code(&DynamicTxid::from_uuid(query.id.uuid()), settings)?),
    })))
}
