//! Meaning of an issuer's decline, by brand and code of the ABECS table (`decline/abecs.csv`, see
//! `decline/abecs.source.md`).

use std::collections::HashMap;
use std::sync::LazyLock;

use quita_domain::acquiring::{Decline, DeclineKind};
use quita_domain::card::Brand;

/// The table, unchanged.
const TABLE: &str = include_str!("decline/abecs.csv");

/// Name for a code that the table does not contain.
const UNKNOWN: &str = "generic_decline";

/// Maximum length of an issuer's code that is kept.
const MAX_CODE: usize = 8;

/// Entry of the table for one brand's code.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Meaning {
    code: &'static str,
    kind: DeclineKind,
}

static MEANINGS: LazyLock<HashMap<(&'static str, &'static str), Meaning>> = LazyLock::new(|| {
    let mut meanings: HashMap<_, Meaning> = HashMap::new();
    for line in TABLE.lines().skip(1) {
        let mut fields = line.split(';');
        let mut field = || fields.next().unwrap_or_default();
        let brand = field();
        let issuer_code = field();
        let kind = field();
        let code = field();
        let is_reversible = kind == "reversible";
        let kind = if is_reversible { DeclineKind::Reversible } else { DeclineKind::Irreversible };
        let first = meanings.entry((brand, issuer_code)).or_insert(Meaning { code, kind });
        // A code with both meanings counts as irreversible: this costs one try, while brands fine tries after an
        // irreversible decline.
        if kind == DeclineKind::Irreversible {
            first.kind = kind;
        }
    }
    meanings
});

/// Returns the decline, from the issuer's code and the brand's advice. For a code that is not in the table, it is
/// unknown if another try may succeed.
pub(crate) fn decline(brand: Option<Brand>, return_code: Option<&str>, advice: Option<&str>) -> Decline {
    let network_code = return_code.and_then(|code| network_code(brand, code));
    let meaning = brand.zip(network_code.as_deref()).and_then(|(brand, code)| meaning(brand, code));
    Decline {
        code: meaning.map_or(UNKNOWN, |meaning| meaning.code).to_owned(),
        kind: meaning.map(|meaning| meaning.kind),
        network_code,
        // Merchant advice codes are Mastercard's, and Hiper uses them too.
        advice: advice.filter(|_| brand.is_some_and(gives_advice)).and_then(two_characters),
    }
}

fn meaning(brand: Brand, code: &str) -> Option<Meaning> {
    MEANINGS.get(&(table_of(brand), code)).copied()
}

/// Returns the brand under which the table has the codes: Hiper uses Mastercard's.
const fn table_of(brand: Brand) -> &'static str {
    match brand {
        Brand::Hiper => Brand::Mastercard.as_str(),
        Brand::Elo
        | Brand::Hipercard
        | Brand::Amex
        | Brand::Diners
        | Brand::Discover
        | Brand::Jcb
        | Brand::Mastercard
        | Brand::Aura
        | Brand::Visa => brand.as_str(),
    }
}

const fn gives_advice(brand: Brand) -> bool {
    match brand {
        Brand::Mastercard | Brand::Hiper => true,
        Brand::Elo
        | Brand::Hipercard
        | Brand::Amex
        | Brand::Diners
        | Brand::Discover
        | Brand::Jcb
        | Brand::Aura
        | Brand::Visa => false,
    }
}

/// Normalises the issuer's code: two characters with a leading zero; Amex's is unchanged.
fn network_code(brand: Option<Brand>, given: &str) -> Option<String> {
    if brand == Some(Brand::Amex) { plain(given) } else { two_characters(given) }
}

/// Returns letters and digits in capitals, with a leading zero if there is only one.
fn two_characters(given: &str) -> Option<String> {
    plain(given).map(|code| if code.len() == 1 { format!("0{code}") } else { code })
}

fn plain(given: &str) -> Option<String> {
    let is_code =
        (1..=MAX_CODE).contains(&given.len()) && given.bytes().all(|byte| byte.is_ascii_alphanumeric());
    is_code.then(|| given.to_ascii_uppercase())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn brand(name: &str) -> Brand {
        Brand::ALL.into_iter().find(|brand| brand.as_str() == name).unwrap()
    }

    #[test]
    fn every_line_of_the_table_is_found_by_its_brand_and_code() {
        let lines: Vec<Vec<&str>> = TABLE.lines().skip(1).map(|line| line.split(';').collect()).collect();
        assert_eq!(lines.len(), 158);
        for line in &lines {
            let [name, code, kind, ..] = line.as_slice() else { panic!("{line:?}") };
            let alike: Vec<_> = lines.iter().filter(|other| other[0] == *name && other[1] == *code).collect();
            let is_irreversible = alike.iter().any(|other| other[2] == "irreversible");
            let found = decline(Some(brand(name)), Some(code), None);
            let expected = if is_irreversible { DeclineKind::Irreversible } else { DeclineKind::Reversible };
            assert_eq!(found.kind, Some(expected), "{line:?}");
            assert_eq!(found.code, alike[0][3], "{line:?}");
            assert_eq!(found.network_code.as_deref(), Some(*code), "{line:?}");
            assert!(["reversible", "irreversible"].contains(kind), "{line:?}");
        }
    }

    #[test]
    fn of_several_lines_the_first_names_it_and_irreversible_wins() {
        let elo_62 = decline(Some(Brand::Elo), Some("62"), None);
        assert_eq!((elo_62.code.as_str(), elo_62.kind), ("card_blocked", Some(DeclineKind::Irreversible)));
        let master_57 = decline(Some(Brand::Mastercard), Some("57"), None);
        assert_eq!(
            (master_57.code.as_str(), master_57.kind),
            ("not_permitted", Some(DeclineKind::Reversible))
        );
    }

    #[test]
    fn a_line_that_is_not_there_says_nothing_of_another_try() {
        for (brand, code) in [
            (Some(Brand::Visa), Some("99")),
            (Some(Brand::Hipercard), Some("51")),
            (Some(Brand::Amex), Some("51")),
            (Some(Brand::Visa), None),
            (None, Some("51")),
            (Some(Brand::Visa), Some("4111111111111111")),
        ] {
            let found = decline(brand, code, None);
            assert_eq!((found.code.as_str(), found.kind), ("generic_decline", None), "{brand:?} {code:?}");
        }
        assert_eq!(decline(Some(Brand::Visa), Some("4111111111111111"), None).network_code, None);
    }

    #[test]
    fn the_networks_code_has_two_characters_and_that_of_amex_is_as_given() {
        let code = |brand, given| decline(Some(brand), Some(given), None).network_code;
        assert_eq!(code(Brand::Visa, "5").as_deref(), Some("05"));
        assert_eq!(code(Brand::Visa, "n7").as_deref(), Some("N7"));
        assert_eq!(code(Brand::Amex, "100").as_deref(), Some("100"));
        assert_eq!(code(Brand::Amex, "5").as_deref(), Some("5"));
    }

    #[test]
    fn hiper_goes_by_mastercards_lines() {
        assert_eq!(
            decline(Some(Brand::Hiper), Some("62"), None),
            decline(Some(Brand::Mastercard), Some("62"), None)
        );
    }

    #[test]
    fn mastercards_advice_is_kept_and_nobody_elses() {
        let advice = |brand| decline(Some(brand), Some("51"), Some("3")).advice;
        assert_eq!(advice(Brand::Mastercard).as_deref(), Some("03"));
        assert_eq!(advice(Brand::Hiper).as_deref(), Some("03"));
        assert_eq!(advice(Brand::Visa), None);
    }
}
