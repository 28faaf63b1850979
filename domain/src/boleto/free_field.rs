//! The 25 digits of the bar code that belong to the bank.

use super::check_digit::{modulo_10, remainder_11};
use super::{Bank, BoletoError};
use crate::text::is_digits;

/// Contract under which a beneficiary issues slips; its parts are digits, padded with zeros.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CollectionAccount {
    bank: Bank,
    /// Agência; empty where the free field has none.
    branch: String,
    /// Conta without digit, convênio or beneficiary code.
    account: String,
    /// Carteira.
    wallet: String,
}

impl CollectionAccount {
    /// Makes an account at Itaú: branch (4), account without its digit (5), wallet (3), for example 109.
    ///
    /// # Errors
    /// [`BoletoError::FreeField`] if a part is not digits or too long; the same for the other banks.
    pub fn itau(branch: &str, account: &str, wallet: &str) -> Result<Self, BoletoError> {
        let branch = filled(branch, 4)?;
        Ok(Self { bank: Bank::Itau, branch, account: filled(account, 5)?, wallet: filled(wallet, 3)? })
    }

    /// Makes an account at Banco do Brasil with an agreement (convênio) of seven digits: agreement, wallet (2), for
    /// example 17.
    ///
    /// # Errors
    /// [`BoletoError::FreeField`].
    pub fn banco_do_brasil(agreement: &str, wallet: &str) -> Result<Self, BoletoError> {
        let account = filled(agreement, 7)?;
        Ok(Self { bank: Bank::BancoDoBrasil, branch: String::new(), account, wallet: filled(wallet, 2)? })
    }

    /// Makes an account at Bradesco: branch (4), account without its digit (7), wallet (2), for example 09.
    ///
    /// # Errors
    /// [`BoletoError::FreeField`].
    pub fn bradesco(branch: &str, account: &str, wallet: &str) -> Result<Self, BoletoError> {
        let branch = filled(branch, 4)?;
        Ok(Self { bank: Bank::Bradesco, branch, account: filled(account, 7)?, wallet: filled(wallet, 2)? })
    }

    /// Makes an account at Santander: beneficiary code (7), wallet (3), for example 101.
    ///
    /// # Errors
    /// [`BoletoError::FreeField`].
    pub fn santander(beneficiary: &str, wallet: &str) -> Result<Self, BoletoError> {
        let account = filled(beneficiary, 7)?;
        Ok(Self { bank: Bank::Santander, branch: String::new(), account, wallet: filled(wallet, 3)? })
    }

    /// Returns the bank.
    pub const fn bank(&self) -> Bank {
        self.bank
    }

    /// Returns the carteira, as printed on the slip.
    pub fn wallet(&self) -> &str {
        &self.wallet
    }

    /// Returns the free field of the slip with this number, which must be unique for the beneficiary.
    ///
    /// # Errors
    /// [`BoletoError::FreeField`] if the number has more digits than the bank allows: 8 at Itaú, 10 at Banco do Brasil,
    /// 11 at Bradesco, 12 at Santander.
    pub fn free_field(&self, number: u64) -> Result<FreeField, BoletoError> {
        match self.bank {
            Bank::Itau => self.itau_field(number),
            Bank::BancoDoBrasil => self.banco_do_brasil_field(number),
            Bank::Bradesco => self.bradesco_field(number),
            Bank::Santander => self.santander_field(number),
        }
    }

    /// Returns the "agência/código do beneficiário" of the slip: `0057 / 12345-7` at Itaú, elsewhere without a digit.
    pub fn beneficiary_code(&self) -> String {
        match self.bank {
            Bank::Itau => {
                let digit = modulo_10(&format!("{}{}", self.branch, self.account));
                format!("{} / {}-{digit}", self.branch, self.account)
            }
            Bank::Bradesco => format!("{} / {}", self.branch, self.account),
            Bank::BancoDoBrasil | Bank::Santander => self.account.clone(),
        }
    }

    fn itau_field(&self, number: u64) -> Result<FreeField, BoletoError> {
        let Self { branch, account, wallet, .. } = self;
        let number = filled(&number.to_string(), 8)?;
        // Only for these wallets, the number's digit does not cover branch and account.
        let digit = if ["126", "131", "146", "150", "168"].contains(&wallet.as_str()) {
            modulo_10(&format!("{wallet}{number}"))
        } else {
            modulo_10(&format!("{branch}{account}{wallet}{number}"))
        };
        let account_digit = modulo_10(&format!("{branch}{account}"));
        Ok(FreeField {
            bank: self.bank,
            digits: format!("{wallet}{number}{digit}{branch}{account}{account_digit}000"),
            printed_number: format!("{wallet}/{number}-{digit}"),
            our_number: number,
            our_number_digit: Some(digit_character(digit)),
        })
    }

    fn banco_do_brasil_field(&self, number: u64) -> Result<FreeField, BoletoError> {
        let our_number = format!("{}{}", self.account, filled(&number.to_string(), 10)?);
        Ok(FreeField {
            bank: self.bank,
            digits: format!("000000{our_number}{}", self.wallet),
            printed_number: our_number.clone(),
            our_number,
            our_number_digit: None,
        })
    }

    fn bradesco_field(&self, number: u64) -> Result<FreeField, BoletoError> {
        let Self { branch, account, wallet, .. } = self;
        let number = filled(&number.to_string(), 11)?;
        let digit = match remainder_11(&format!("{wallet}{number}"), 7) {
            0 => '0',
            1 => 'P',
            remainder => digit_character(11 - remainder),
        };
        Ok(FreeField {
            bank: self.bank,
            digits: format!("{branch}{wallet}{number}{account}0"),
            printed_number: format!("{wallet}/{number}-{digit}"),
            our_number: number,
            our_number_digit: Some(digit),
        })
    }

    fn santander_field(&self, number: u64) -> Result<FreeField, BoletoError> {
        let number = filled(&number.to_string(), 12)?;
        let digit = match remainder_11(&number, 9) {
            0 | 1 => '0',
            remainder => digit_character(11 - remainder),
        };
        // The zero before the wallet is the tax code (IOF) of all beneficiaries but insurers.
        Ok(FreeField {
            bank: self.bank,
            digits: format!("9{}{number}{digit}0{}", self.account, self.wallet),
            printed_number: format!("{number}-{digit}"),
            our_number: number,
            our_number_digit: Some(digit),
        })
    }
}

/// A free field with the number of the slip ("nosso número") that it contains.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FreeField {
    bank: Bank,
    digits: String,
    our_number: String,
    our_number_digit: Option<char>,
    printed_number: String,
}

impl FreeField {
    /// Returns the bank that defines this layout.
    pub const fn bank(&self) -> Bank {
        self.bank
    }

    /// Returns the 25 digits.
    pub fn as_str(&self) -> &str {
        &self.digits
    }

    /// Returns the nosso número without its digit, padded with zeros.
    pub fn our_number(&self) -> &str {
        &self.our_number
    }

    /// Returns the digit of the nosso número, at Bradesco possibly `P`; none at Banco do Brasil.
    pub const fn our_number_digit(&self) -> Option<char> {
        self.our_number_digit
    }

    /// Returns the nosso número as printed on the slip: `109/00000001-6`.
    pub fn our_number_formatted(&self) -> &str {
        &self.printed_number
    }
}

fn filled(digits: &str, width: usize) -> Result<String, BoletoError> {
    if !is_digits(digits) || digits.len() > width {
        return Err(BoletoError::FreeField);
    }
    Ok(format!("{digits:0>width$}"))
}

fn digit_character(digit: u32) -> char {
    char::from_digit(digit, 10).unwrap_or('0')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_slip_shows_number_and_account_as_the_bank_wants() {
        let itau = CollectionAccount::itau("57", "12345", "109").unwrap();
        assert_eq!(itau.beneficiary_code(), "0057 / 12345-7");
        assert_eq!(itau.free_field(1).unwrap().our_number_formatted(), "109/00000001-6");
    }

    #[test]
    fn examples_of_the_manuals_give_their_digits() {
        let bradesco = CollectionAccount::bradesco("1234", "12345", "19").unwrap();
        assert_eq!(bradesco.free_field(2).unwrap().our_number_digit(), Some('8'));
        let santander = CollectionAccount::santander("282033", "101").unwrap();
        assert_eq!(santander.free_field(566_612_457_800).unwrap().our_number_digit(), Some('2'));
    }

    #[test]
    fn some_wallets_of_itau_leave_the_account_out() {
        let digit = |account| {
            let account = CollectionAccount::itau("0057", account, "168").unwrap();
            account.free_field(12_345_678).unwrap().our_number_digit()
        };
        assert_eq!(digit("12345"), digit("12346"));
    }

    #[test]
    fn a_number_with_too_many_digits_is_refused() {
        let itau = CollectionAccount::itau("0057", "12345", "109").unwrap();
        assert!(itau.free_field(99_999_999).is_ok());
        assert_eq!(itau.free_field(100_000_000), Err(BoletoError::FreeField));
        assert_eq!(CollectionAccount::itau("00571", "12345", "109"), Err(BoletoError::FreeField));
        assert_eq!(CollectionAccount::santander("28203X", "101"), Err(BoletoError::FreeField));
        assert_eq!(CollectionAccount::santander("", "101"), Err(BoletoError::FreeField));
    }
}
