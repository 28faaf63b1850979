//! Codes to pay with, checked before a payer sees them, whatever their issuer.

use quita_domain::boleto::{Bank, Barcode, CollectionAccount};
use quita_domain::money::Money;
use quita_domain::pix::br_code::{self, BrCode};
use quita_domain::text::is_digits;

/// Checks that a BR Code is valid, and is for this amount if it states any.
///
/// # Errors
/// The reason why a payer may not see it.
pub(crate) fn check_br_code(code: &str, amount: Money) -> Result<(), &'static str> {
    let stated = match BrCode::parse(code).map_err(|error| error.code())? {
        BrCode::Static(code) => Some(code.amount_cents.ok_or("the payer would choose the amount")?),
        BrCode::Dynamic(_) => {
            br_code::stated_amount(code).map_err(|_| "the BR Code's amount can't be read")?
        }
        BrCode::Recurrence(_) => return Err("it is of a recurrence"),
    };
    let is_other = stated.is_some_and(|cents| cents != amount.cents());
    if is_other { Err("the BR Code has another amount") } else { Ok(()) }
}

/// Removes the spaces, dots and hyphens between groups. Anything else stays, and the reader refuses it.
pub(crate) fn digits_of(text: &str) -> String {
    text.chars().filter(|character| !matches!(character, ' ' | '.' | '-')).collect()
}

/// Account in a bar code, if the bank's layout is known.
pub(crate) struct Account {
    pub(crate) account: CollectionAccount,
    pub(crate) printed_number: String,
    pub(crate) number: String,
}

/// Parses the free field, and accepts the result only if writing it again gives the same field.
pub(crate) fn account_of(bank: Option<Bank>, barcode: &Barcode) -> Option<Account> {
    let field = barcode.free_field();
    let part = |from: usize, to: usize| field.get(from..to);
    let (account, number) = match bank? {
        Bank::Bradesco => {
            (CollectionAccount::bradesco(part(0, 4)?, part(17, 24)?, part(4, 6)?).ok()?, part(6, 17)?)
        }
        Bank::BancoDoBrasil => {
            (CollectionAccount::banco_do_brasil(part(6, 13)?, part(23, 25)?).ok()?, part(13, 23)?)
        }
        Bank::Santander => (CollectionAccount::santander(part(1, 8)?, part(22, 25)?).ok()?, part(8, 20)?),
        Bank::Itau => {
            (CollectionAccount::itau(part(12, 16)?, part(16, 21)?, part(0, 3)?).ok()?, part(3, 11)?)
        }
    };
    let number = if is_digits(number) { number.parse().ok()? } else { return None };
    let slip = account.free_field(number).ok().filter(|slip| slip.as_str() == field)?;
    let digit = slip.our_number_digit().map(String::from).unwrap_or_default();
    let number = format!("{}{digit}", slip.our_number());
    Some(Account { printed_number: slip.our_number_formatted().to_owned(), account, number })
}
