//! Bank codes of the clearing house.

use std::fmt;

/// Code of a bank: three digits, such as `341` for Itaú.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct BankCode(u16);

impl BankCode {
    pub(crate) const BANCO_DO_BRASIL: Self = Self(1);
    pub(crate) const SANTANDER: Self = Self(33);
    pub(crate) const BANRISUL: Self = Self(41);
    pub(crate) const CAIXA: Self = Self(104);
    pub(crate) const BRADESCO: Self = Self(237);
    pub(crate) const ITAU: Self = Self(341);
    pub(crate) const SICOOB: Self = Self(756);

    /// Returns the code with this number; `None` if it has more than three digits.
    pub(crate) fn from_number(number: u64) -> Option<Self> {
        u16::try_from(number).ok().filter(|number| *number <= 999).map(Self)
    }
}

impl fmt::Display for BankCode {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:03}", self.0)
    }
}
