//! Positions of each bank's fields in CNAB 400.
//!
//! Checked against `@banco-br/cnab_yaml` 2.1.0 and the files that `eduardokum/laravel-boleto` reads in `tests/files`.
//! Where they differ the files are right: Caixa's number of a boleto is 57–73 (not 63–73), Banrisul's 63–72 (not
//! 63–70). 280–292 is read as fine everywhere but at Itaú, where it is another credit.

use quita_domain::money::Money;

use crate::bank::BankCode;
use crate::occurrence::{self, Occurrences};
use crate::record::{Field, field};

/// Positions that differ from bank to bank.
#[derive(Debug)]
pub(super) struct Positions {
    /// Type of the records about boletos.
    pub(super) detail: char,
    pub(super) our_number: Field,
    pub(super) credited_on: Field,
    pub(super) fee: Field,
    pub(super) interest: Field,
    pub(super) fine: Option<Field>,
    pub(super) occurrences: &'static Occurrences,
    /// Totals of the file in the trailer. Other fields there are about all boletos at the bank.
    pub(super) totals: &'static [Total],
}

/// A total of the trailer.
#[derive(Debug)]
pub(super) struct Total {
    pub(super) field: Field,
    pub(super) adds: Adds,
    /// Occurrences of the lines that count; all when absent.
    pub(super) of: Option<&'static [&'static str]>,
}

/// Quantity that a total adds up.
#[derive(Debug, Clone, Copy)]
pub(super) enum Adds {
    Lines,
    Amounts,
}

impl Total {
    /// Returns the function that formats it for people.
    pub(super) fn show(&self) -> fn(u64) -> String {
        match self.adds {
            Adds::Lines => |count| count.to_string(),
            Adds::Amounts => |cents| Money::from_cents(cents).to_string(),
        }
    }
}

const CREDITED_ON: Field = field("date of the credit", 296, 301);
const FEE: Field = field("fee", 176, 188);
const INTEREST: Field = field("interest", 267, 279);
const FINE: Option<Field> = Some(field("fine", 280, 292));

/// Positions that most banks share; each bank adds its own number, codes and totals.
const USUAL: Positions = Positions {
    detail: '1',
    our_number: field("bank's number", 63, 70),
    credited_on: CREDITED_ON,
    fee: FEE,
    interest: INTEREST,
    fine: FINE,
    occurrences: &occurrence::SANTANDER,
    totals: &[],
};

static BANCO_DO_BRASIL: Positions = Positions {
    detail: '7',
    our_number: field("bank's number", 64, 80),
    credited_on: field("date of the credit", 176, 181),
    fee: field("fee", 182, 188),
    occurrences: &occurrence::BANCO_DO_BRASIL,
    ..USUAL
};

static SANTANDER: Positions = USUAL;

static BANRISUL: Positions =
    Positions { our_number: field("bank's number", 63, 72), occurrences: &occurrence::BANRISUL, ..USUAL };

static CAIXA: Positions = Positions {
    our_number: field("bank's number", 57, 73),
    credited_on: field("date of the credit", 294, 299),
    occurrences: &occurrence::CAIXA,
    ..USUAL
};

static BRADESCO: Positions = Positions {
    our_number: field("bank's number", 71, 82),
    occurrences: &occurrence::BRADESCO,
    totals: &[
        Total { field: field("number of registrations", 58, 62), adds: Adds::Lines, of: Some(&["02"]) },
        Total { field: field("sum of registrations", 63, 74), adds: Adds::Amounts, of: Some(&["02"]) },
        Total { field: field("number of settlements", 87, 91), adds: Adds::Lines, of: Some(&["06"]) },
        Total { field: field("number of write-offs", 104, 108), adds: Adds::Lines, of: Some(&["09", "10"]) },
    ],
    ..USUAL
};

static ITAU: Positions = Positions {
    our_number: field("bank's number", 86, 94),
    fine: None,
    occurrences: &occurrence::ITAU,
    totals: &[
        Total { field: field("number of details", 213, 220), adds: Adds::Lines, of: None },
        Total { field: field("sum of amounts", 221, 234), adds: Adds::Amounts, of: None },
    ],
    ..USUAL
};

static SICOOB: Positions = Positions {
    our_number: field("bank's number", 63, 74),
    credited_on: field("date of the credit", 176, 181),
    fee: field("fee", 182, 188),
    occurrences: &occurrence::SICOOB,
    totals: &[Total { field: field("number of details", 164, 171), adds: Adds::Lines, of: None }],
    ..USUAL
};

impl Positions {
    /// Returns the positions of a bank; `None` if they are unknown.
    pub(super) fn of(bank: BankCode) -> Option<&'static Self> {
        match bank {
            BankCode::BANCO_DO_BRASIL => Some(&BANCO_DO_BRASIL),
            BankCode::SANTANDER => Some(&SANTANDER),
            BankCode::BANRISUL => Some(&BANRISUL),
            BankCode::CAIXA => Some(&CAIXA),
            BankCode::BRADESCO => Some(&BRADESCO),
            BankCode::ITAU => Some(&ITAU),
            BankCode::SICOOB => Some(&SICOOB),
            _ => None,
        }
    }
}
