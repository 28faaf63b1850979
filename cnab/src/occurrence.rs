//! Meanings of the banks' occurrence codes. The same code means different things at different banks, so there is a
//! table for each. Itaú's is valid for both of its layouts.
//!
//! Sources: the banks' lists in `@banco-br/cnab_yaml` 2.1.0 (001, 041, 104, 237, 341), Itaú's manual of July 2021,
//! FEBRABAN's CNAB 240 v10.6 (C044), and the groups in `eduardokum/laravel-boleto` (MIT), which alone has 033 and 756.
//! Money that may still fail, such as a cheque or money in transit, is never settled. Nor is an answer that a boleto
//! was paid before (Santander `16`, Banrisul `25`), which that library counts as money.

use crate::bank::BankCode;
use crate::line::Kind;

/// Codes with a meaning here; every other is [`Kind::Other`].
#[derive(Debug)]
pub(crate) struct Occurrences {
    registered: &'static [&'static str],
    settled: &'static [&'static str],
    written_off: &'static [&'static str],
    rejected: &'static [&'static str],
    fee: &'static [&'static str],
}

/// CNAB 240: movement codes of FEBRABAN.
static FEBRABAN: Occurrences = Occurrences {
    registered: &["02"],
    settled: &["06", "17"],
    written_off: &["09", "25"],
    rejected: &["03", "26", "30"],
    fee: &["28"],
};

/// CNAB 240 of Caixa: FEBRABAN's codes, and a settlement online.
static CAIXA_240: Occurrences = Occurrences {
    registered: &["02"],
    settled: &["06", "17", "46"],
    written_off: &["09", "25"],
    rejected: &["03", "26", "30", "39", "40", "41"],
    fee: &["28"],
};

pub(crate) static BANCO_DO_BRASIL: Occurrences = Occurrences {
    registered: &["02"],
    settled: &["05", "06", "07", "08", "15"],
    written_off: &["09", "10"],
    rejected: &["03"],
    fee: &["28", "96", "97", "98"],
};

pub(crate) static SANTANDER: Occurrences = Occurrences {
    registered: &["02"],
    settled: &["06", "07", "08", "17"],
    written_off: &["09", "10"],
    rejected: &["01", "03"],
    fee: &["24"],
};

pub(crate) static BANRISUL: Occurrences = Occurrences {
    registered: &["02", "47"],
    settled: &["06", "07", "08", "15"],
    written_off: &["04", "09", "10", "25", "40"],
    rejected: &["03"],
    fee: &["41", "44", "46"],
};

/// CNAB 400, whose codes have nothing in common with those of other banks: `02` is a write-off.
pub(crate) static CAIXA: Occurrences = Occurrences {
    registered: &["01"],
    settled: &["21", "22"],
    written_off: &["02", "23", "24", "25"],
    rejected: &["99"],
    fee: &["31", "32"],
};

pub(crate) static BRADESCO: Occurrences = Occurrences {
    registered: &["02"],
    settled: &["06", "15", "17"],
    written_off: &["09", "10"],
    rejected: &["03", "24", "27", "30", "32"],
    fee: &["28"],
};

/// `17` is a refusal here, but a settlement in FEBRABAN's list. `95` is a write-off whose money is not assured.
pub(crate) static ITAU: Occurrences = Occurrences {
    registered: &["02", "64", "71", "73"],
    settled: &["06", "07", "08", "10", "59"],
    written_off: &["05", "09", "32", "47", "72"],
    rejected: &["03", "15", "16", "17", "18", "60", "74"],
    fee: &[
        "26", "27", "28", "29", "30", "33", "34", "35", "36", "37", "38", "39", "40", "41", "42", "43", "44",
        "45", "46", "48", "51", "52", "53", "54", "55", "56", "61", "62", "85", "86", "87", "88", "89", "90",
        "91", "92", "93",
    ],
};

pub(crate) static SICOOB: Occurrences = Occurrences {
    registered: &["02"],
    settled: &["05", "06", "15"],
    written_off: &["09", "10"],
    rejected: &[],
    fee: &[],
};

impl Occurrences {
    /// Returns the codes of a bank in CNAB 240.
    pub(crate) fn of_cnab240(bank: BankCode) -> &'static Self {
        match bank {
            BankCode::ITAU => &ITAU,
            BankCode::CAIXA => &CAIXA_240,
            _ => &FEBRABAN,
        }
    }

    /// Returns the meaning of a code.
    pub(crate) fn kind(&self, code: &str) -> Kind {
        let groups = [
            (self.registered, Kind::Registered),
            (self.settled, Kind::Settled),
            (self.written_off, Kind::WrittenOff),
            (self.rejected, Kind::Rejected),
            (self.fee, Kind::Fee),
        ];
        let group = groups.into_iter().find(|(codes, _)| codes.contains(&code));
        group.map_or(Kind::Other, |(_, kind)| kind)
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;

    const TABLES: [&Occurrences; 9] =
        [&FEBRABAN, &CAIXA_240, &BANCO_DO_BRASIL, &SANTANDER, &BANRISUL, &CAIXA, &BRADESCO, &ITAU, &SICOOB];

    #[test]
    fn no_code_means_two_things_at_one_bank() {
        for table in TABLES {
            let Occurrences { registered, settled, written_off, rejected, fee } = table;
            let all = [*registered, *settled, *written_off, *rejected, *fee].concat();
            let distinct: BTreeSet<_> = all.iter().collect();
            assert_eq!(distinct.len(), all.len(), "{table:?}");
            assert!(all.iter().all(|code| code.len() == 2), "{table:?}");
        }
    }

    #[test]
    fn the_same_code_means_what_the_bank_means_by_it() {
        let itau = Occurrences::of_cnab240(BankCode::ITAU);
        let standard = Occurrences::of_cnab240(BankCode::BANRISUL);
        for (table, code, kind) in [
            (&CAIXA, "02", Kind::WrittenOff),
            (&BRADESCO, "02", Kind::Registered),
            (itau, "17", Kind::Rejected),
            (standard, "17", Kind::Settled),
            (&BRADESCO, "17", Kind::Settled),
            (itau, "28", Kind::Fee),
            (itau, "25", Kind::Other),
            (standard, "25", Kind::WrittenOff),
            (itau, "95", Kind::Other),
            (standard, "50", Kind::Other),
            (standard, "A4", Kind::Other),
        ] {
            assert_eq!(table.kind(code), kind, "{code}");
        }
    }
}
