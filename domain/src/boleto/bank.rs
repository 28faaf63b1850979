//! The banks whose slips can be composed.

/// A bank whose free field is known.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Bank {
    /// Itaú, 341.
    Itau,
    /// Banco do Brasil, 001.
    BancoDoBrasil,
    /// Bradesco, 237.
    Bradesco,
    /// Santander, 033.
    Santander,
}

impl Bank {
    /// Returns the bank with this code of three digits.
    pub fn from_code(code: &str) -> Option<Self> {
        let banks = [Self::Itau, Self::BancoDoBrasil, Self::Bradesco, Self::Santander];
        banks.into_iter().find(|bank| bank.code() == code)
    }

    /// Returns the three digits of the bank.
    pub const fn code(self) -> &'static str {
        match self {
            Self::Itau => "341",
            Self::BancoDoBrasil => "001",
            Self::Bradesco => "237",
            Self::Santander => "033",
        }
    }

    /// Returns the code as printed on a slip: `341-7`.
    pub const fn code_with_digit(self) -> &'static str {
        match self {
            Self::Itau => "341-7",
            Self::BancoDoBrasil => "001-9",
            Self::Bradesco => "237-2",
            Self::Santander => "033-7",
        }
    }

    /// Returns the name printed on a slip.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Itau => "Itaú",
            Self::BancoDoBrasil => "Banco do Brasil",
            Self::Bradesco => "Bradesco",
            Self::Santander => "Santander",
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_bank_is_found_by_its_code() {
        assert_eq!(Bank::from_code("033"), Some(Bank::Santander));
        assert_eq!(Bank::from_code("33"), None);
    }
}
