//! Text folded to the alphabets of payment systems.

use unicode_normalization::char::decompose_canonical;

/// Folds `text` to printable ASCII of at most `max` characters, preserving letter case.
///
/// Accents are removed (`São` → `Sao`), and then everything that is not ASCII. Blanks collapse to one and are trimmed
/// at both ends. The rest is cut, without a blank left at the end. Names and cities of a BR Code are written in this
/// form.
pub fn fold_ascii(text: &str, max: usize) -> String {
    let mut ascii = String::with_capacity(text.len());
    for character in text.chars() {
        decompose_canonical(character, |part| {
            let part = if part.is_whitespace() { ' ' } else { part };
            if part == ' ' || part.is_ascii_graphic() {
                ascii.push(part);
            }
        });
    }
    let mut folded = String::with_capacity(ascii.len());
    for word in ascii.split_ascii_whitespace() {
        if !folded.is_empty() {
            folded.push(' ');
        }
        folded.push_str(word);
    }
    folded.truncate(max);
    folded.truncate(folded.trim_end().len());
    folded
}

/// Returns true if `text` is one or more ASCII digits; Arabic-Indic or full-width digits are not.
pub fn is_digits(text: &str) -> bool {
    !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit())
}

/// Returns true for direction marks, joiners, line separators and fillers: characters that are invisible, or that
/// change how others are displayed.
pub fn is_invisible(character: char) -> bool {
    matches!(
        character,
        '\u{ad}' | '\u{61c}' | '\u{115f}' | '\u{1160}' | '\u{180e}' | '\u{200b}'..='\u{200f}' | '\u{2028}'..='\u{202e}'
            | '\u{2060}'..='\u{206f}' | '\u{2800}' | '\u{3164}' | '\u{feff}' | '\u{ffa0}' | '\u{e0000}'..='\u{e007f}'
    )
}

/// Returns true for a character that changes the direction of the text around it, so that a page or terminal displays a
/// different text.
///
/// Source: Unicode Standard Annex 9, section 2 (explicit directional embeddings, overrides and isolates).
pub const fn turns_direction(character: char) -> bool {
    matches!(character, '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}')
}

/// Returns bytes as lower-case hexadecimal digits.
pub fn hex(bytes: &[u8]) -> String {
    let digits = |byte: &u8| [byte >> 4, byte & 0xf].map(|digit| char::from_digit(u32::from(digit), 16));
    bytes.iter().flat_map(digits).flatten().collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_that_begins_with_an_accent_is_folded_and_cut() {
        assert_eq!(fold_ascii("Élida Conceição", 5), "Elida");
        assert_eq!(fold_ascii("É", 25), "E");
        assert_eq!(fold_ascii("É", 0), "");
    }

    #[test]
    fn a_cut_never_leaves_a_blank_at_the_end() {
        assert_eq!(fold_ascii("Loja da Praça", 5), "Loja");
    }

    #[test]
    fn blanks_of_every_kind_collapse() {
        assert_eq!(fold_ascii(" \tA\u{a0}\u{a0}B\n\nC ", 25), "A B C");
    }

    #[test]
    fn what_has_no_ascii_form_is_dropped() {
        assert_eq!(fold_ascii("Café 漢字 ☕ bar\u{0}", 25), "Cafe bar");
        assert_eq!(fold_ascii("漢字", 25), "");
    }

    #[test]
    fn digits_of_other_scripts_are_not_digits() {
        assert!(is_digits("0123456789"));
        assert!(!is_digits(""));
        assert!(!is_digits("١٢٣"));
        assert!(!is_digits("１２３"));
    }

    #[test]
    fn hexadecimal_digits_are_two_for_each_byte() {
        assert_eq!(hex(&[0x00, 0x0a, 0xff]), "000aff");
    }
}
