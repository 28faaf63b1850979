//! Codes to pay with, created here because the tester only cares about charges and payments.

use quita_domain::acquiring::{ChargeQuery, Issued};
use quita_domain::boleto::{Barcode, CollectionAccount};
use quita_domain::due_terms::DueTerms;
use quita_domain::order::Terms;
use quita_domain::pix::br_code::DynamicBrCode;
use quita_domain::pix::txid::DynamicTxid;
use quita_domain::slip::IssuedBoleto;
use quita_domain::time::Timestamp;

/// Returns the code of this charge, the same for every inquiry; `None` for a card.
pub(crate) fn issued(query: &ChargeQuery) -> Option<Issued> {
    match &query.terms {
        Terms::Pix { expires_in_s } => pix(query, query.created_at.plus_ms(expires_in_s * 1_000)),
        Terms::DuePix(due) => pix(query, due.payable_before()),
        Terms::Boleto(DueTerms { due_date, .. }) => {
            let account = CollectionAccount::banco_do_brasil("1234567", "17").ok()?;
            let number = u64::try_from(query.id.uuid().as_u128() % 10_000_000_000).ok()?;
            let field = account.free_field(number).ok()?;
            let barcode = Barcode::compose(Some(*due_date), query.amount.cents(), &field).ok()?;
            Some(Issued::Boleto(Box::new(IssuedBoleto {
                digitable_line: barcode.line().as_str().to_owned(),
                barcode: barcode.into(),
                due_date: *due_date,
                our_number: field.our_number_formatted().to_owned(),
                portfolio: account.wallet().to_owned(),
                agency_and_account: account.beneficiary_code(),
                bank_code: account.bank().code_with_digit().to_owned(),
                bank_name: account.bank().name().to_owned(),
                beneficiary_name: "BANK".into(),
                beneficiary_document: "11.222.333/0001-81".into(),
                beneficiary_address: "Avenida Paulista, 1000".into(),
                pix_code: None,
            })))
        }
        Terms::CreditCard { .. } => None,
    }
}

fn pix(query: &ChargeQuery, expires_at: Timestamp) -> Option<Issued> {
    let txid = DynamicTxid::from_uuid(query.id.uuid());
    let location = format!("pix.bank.example/v2/{txid}");
    let code = DynamicBrCode::new(location, "BANK".into(), "SAO PAULO".into()).build().ok()?;
    Some(Issued::Pix { txid: txid.into(), code, expires_at })
}
