//! Text in Windows-1252, the alphabet of PDF's built-in fonts (ISO 32000-1, annex D.2).

use unicode_normalization::UnicodeNormalization;
use unicode_normalization::char::is_combining_mark;

/// Codes 0x80 to 0x9F; a space for undefined codes.
const HIGH_CONTROLS: &str = "€ ‚ƒ„…†‡ˆ‰Š‹Œ Ž  ‘’“”•–—˜™š›œ žŸ";

/// Letters that Unicode does not decompose into a Latin letter and a mark.
const LOOKALIKES: [(char, &str); 16] = [
    ('ł', "l"),
    ('Ł', "L"),
    ('đ', "d"),
    ('Đ', "D"),
    ('ħ', "h"),
    ('Ħ', "H"),
    ('ı', "i"),
    ('ŧ', "t"),
    ('Ŧ', "T"),
    ('ŋ', "n"),
    ('ẞ', "SS"),
    ('−', "-"),
    ('‐', "-"),
    ('‑', "-"),
    ('′', "'"),
    ('\u{2009}', " "),
];

/// Encodes `text`. Characters that are not in the alphabet lose their diacritics; any others become `?`.
///
/// Control characters and line ends become spaces; characters without width (zero-width spaces, direction marks) are
/// removed.
pub(crate) fn encode(text: &str) -> Vec<u8> {
    text.nfc().flat_map(encode_char).collect()
}

fn encode_char(letter: char) -> Vec<u8> {
    if let Some(byte) = byte_of(letter) {
        return vec![byte];
    }
    if is_invisible(letter) {
        return Vec::new();
    }
    if letter.is_control() || letter.is_whitespace() {
        return vec![b' '];
    }
    if let Some((_, plain)) = LOOKALIKES.iter().find(|(odd, _)| *odd == letter) {
        return plain.bytes().collect();
    }
    let folded: Vec<u8> = std::iter::once(letter).nfkd().filter_map(byte_of).collect();
    if folded.is_empty() { vec![b'?'] } else { folded }
}

fn byte_of(letter: char) -> Option<u8> {
    match letter {
        ' '..='~' | '\u{A1}'..='\u{AC}' | '\u{AE}'..='\u{FF}' => u8::try_from(u32::from(letter)).ok(),
        '\u{A0}' => Some(b' '),
        _ => {
            (0x80..=0x9F).zip(HIGH_CONTROLS.chars()).find(|(_, known)| *known == letter).map(|(byte, _)| byte)
        }
    }
}

fn is_invisible(letter: char) -> bool {
    is_combining_mark(letter)
        || matches!(letter, '\u{AD}' | '\u{200B}'..='\u{200F}' | '\u{202A}'..='\u{202E}' | '\u{2060}'..='\u{206F}' | '\u{FEFF}')
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(text: &str, expected: &[u8]) {
        assert_eq!(encode(text), expected, "{text}");
    }

    #[test]
    fn portuguese_stays_as_it_is() {
        check("Ação", b"A\xE7\xE3o");
        check("ÀÉÍÓÚ âêôüÜ Nº ª §", b"\xC0\xC9\xCD\xD3\xDA \xE2\xEA\xF4\xFC\xDC N\xBA \xAA \xA7");
        check("“R$ 5” – € …", b"\x93R$ 5\x94 \x96 \x80 \x85");
    }

    #[test]
    fn a_letter_with_a_separate_mark_is_put_together() {
        check("Joa\u{303}o", b"Jo\xE3o");
    }

    #[test]
    fn foreign_letters_are_folded() {
        check("Łukasz Dvořák Șerban", b"Lukasz Dvor\xE1k Serban");
        check("Đỗ", b"Do");
        check("ﬁm ①", b"fim 1");
    }

    #[test]
    fn what_cannot_be_folded_is_one_question_mark() {
        check("Иван", b"????");
        check("a\u{1F600}b", b"a?b");
    }

    #[test]
    fn controls_become_spaces_and_invisible_marks_go() {
        check("a\nb\tc\u{7F}d", b"a b c d");
        check("a\u{200B}b\u{202E}c\u{AD}d\u{A0}e", b"abcd e");
    }
}
