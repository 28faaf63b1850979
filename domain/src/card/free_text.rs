//! Detection of card numbers in texts that are stored.

use std::collections::BTreeSet;

use unicode_normalization::char::{decompose_compatible, is_combining_mark};
use uuid::Uuid;

use super::{Brand, CardNumber};
use crate::boleto::{self, Barcode, Line};
use crate::document::{Document, DocumentType};
use crate::phone::Phone;

/// Smallest and largest number of digits of a card number.
const LENGTHS: std::ops::RangeInclusive<usize> = 13..=19;

/// Number of hexadecimal digits from which a word counts as a hash, a UUID without hyphens, or similar.
const HASH_LENGTH: usize = 32;

/// Tag of track 2 in EMV data, followed by a length of one byte (EMV 4.4, book 3, annex A).
const TRACK_2_TAG: &str = "57";
const TRACK_2_HEAD: usize = 4;
/// Tag of the account number in chip data.
const ACCOUNT_TAG: &str = "5A";

/// Maximum number of digits in one text that are checked for being slips or documents. Beyond it everything that looks
/// like a card number counts as one, which bounds the cost of any text.
const EXAMINED_DIGITS: usize = 1_000;

/// Returns true if a text contains a possible card number: 13 to 19 digits with a brand's prefix and length that pass
/// Luhn. Blanks, dots, slashes and hyphens between them are skipped, and digits of other scripts count. A number begins
/// and ends at the edges of groups of digits, so none is found in the middle of a longer one.
///
/// Text that is certainly something else does not count. That is UUIDs and hashes, bar codes and digitable lines, valid
/// CPFs and CNPJs, and several phone numbers in a row. Takes time proportional to the length of the text, whatever its
/// content.
pub fn holds_card_number(text: &str) -> bool {
    if !may_hold_digits(text, *LENGTHS.start()) {
        return false;
    }
    let mut left = EXAMINED_DIGITS;
    Run::all_of(text).iter().filter(|run| run.may_hold_card_number()).any(|run| {
        match left.checked_sub(run.digits.len()) {
            Some(rest) => left = rest,
            None => return true,
        }
        run.holds_card_number()
    })
}

/// Returns true if a text contains exactly this number, even among other digits.
pub(crate) fn holds_number(text: &str, number: &str) -> bool {
    let in_run = |run: &Run| run.digits.contains(number);
    may_hold_digits(text, number.len()) && (text.contains(number) || Run::all_of(text).iter().any(in_run))
}

/// Returns false if a text has fewer than this many digits of any script.
fn may_hold_digits(text: &str, count: usize) -> bool {
    // Bytes are counted faster than characters. One of another script has several, so the count may only be too high.
    let may_be_digit = |byte: &u8| byte.is_ascii_digit() || !byte.is_ascii();
    text.len() >= count && text.bytes().filter(may_be_digit).count() >= count
}

/// Predicate: the digits are those of a slip.
type IsSlip = fn(&str) -> bool;

/// Gap before a digit of a run.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Gap {
    /// Another digit.
    Nothing,
    /// One separator.
    One(char),
    /// Several separators, or the beginning.
    Other,
}

/// Digits with only separators between them.
#[derive(Debug, Default)]
struct Run {
    digits: String,
    /// Gap before each of them.
    gaps: Vec<Gap>,
}

impl Run {
    /// Returns every run of a text that may contain a card number, without UUIDs and hashes.
    fn all_of(text: &str) -> Vec<Self> {
        let mut runs = Vec::new();
        let mut run = Self::default();
        let mut gap = Gap::Other;
        let mut is_in_word = false;
        let mut skipped_until = 0;
        for (at, character) in text.char_indices() {
            if at >= skipped_until && !is_in_word && character.is_ascii_alphanumeric() {
                runs.extend(text.get(at..).into_iter().flat_map(tagged_numbers).map(Self::of_number));
                skipped_until = at + text.get(at..).map_or(0, hexadecimal_length);
            }
            is_in_word = character.is_ascii_alphanumeric();
            let digit = digit_of(character).filter(|_| at >= skipped_until);
            if let Some(digit) = digit {
                run.digits.push(digit);
                run.gaps.push(gap);
                gap = Gap::Nothing;
            } else if at >= skipped_until && is_separator(character) {
                gap = if gap == Gap::Nothing { Gap::One(character) } else { Gap::Other };
            } else {
                if !run.digits.is_empty() {
                    runs.push(std::mem::take(&mut run));
                }
                gap = Gap::Other;
            }
        }
        runs.push(run);
        runs.retain(|run| run.digits.len() >= *LENGTHS.start());
        runs
    }

    /// Returns the run of a separate number.
    fn of_number(digits: &str) -> Self {
        let gaps = (0..digits.len()).map(|at| if at == 0 { Gap::Other } else { Gap::Nothing });
        Self { digits: digits.to_owned(), gaps: gaps.collect() }
    }

    /// Returns true if some of the digits look like a card number, whatever they are part of.
    fn may_hold_card_number(&self) -> bool {
        let sums = LuhnSums::of(&self.digits);
        (0..self.digits.len()).any(|start| self.looks_like_card_number(start, self.digits.len(), &sums))
    }

    /// Returns true if digits that begin here, and end before `end`, look like a card number.
    fn looks_like_card_number(&self, start: usize, end: usize, sums: &LuhnSums) -> bool {
        if !self.is_edge(start) {
            return false;
        }
        // Cheap checks first: a text may need them at each of its digits.
        let Some(head) = self.digits.as_bytes().get(start..start + 3) else { return false };
        let head = head.iter().fold(0, |head, digit| head * 10 + u16::from(digit.saturating_sub(b'0')));
        let lengths = Brand::lengths_after(head);
        if lengths == 0 {
            return false;
        }
        let ends = LENGTHS.filter(|length| lengths >> length & 1 == 1).map(|length| start + length);
        let mut ends = ends.filter(|last| *last <= end && self.is_edge(*last) && sums.pass(start, *last));
        ends.any(|last| self.digits.get(start..last).is_some_and(|digits| CardNumber::parse(digits).is_ok()))
    }

    fn holds_card_number(&self) -> bool {
        let mut at = 0;
        let mut begins_at = 0;
        while at < self.digits.len() {
            match self.end_of_known(at) {
                Some(end) => {
                    if self.part_holds_card_number(begins_at, at) {
                        return true;
                    }
                    (at, begins_at) = (end, end);
                }
                None => at += 1,
            }
        }
        self.part_holds_card_number(begins_at, at)
    }

    /// Returns true if a group of digits begins here, or the last one has ended.
    fn is_edge(&self, at: usize) -> bool {
        self.gaps.get(at).is_none_or(|gap| *gap != Gap::Nothing)
    }

    /// Returns the digits from one edge to another.
    fn between(&self, start: usize, end: usize) -> Option<&str> {
        let digits = self.digits.get(start..end)?;
        (self.is_edge(start) && self.is_edge(end)).then_some(digits)
    }

    fn part_holds_card_number(&self, start: usize, end: usize) -> bool {
        let sums = LuhnSums::of(&self.digits);
        (start..end).any(|at| self.looks_like_card_number(at, end, &sums))
            && !self.is_list_of_phones(start, end)
    }

    /// Returns the end of something that begins here and is certainly no card number.
    fn end_of_known(&self, at: usize) -> Option<usize> {
        if !self.is_edge(at) {
            return None;
        }
        let slips: [(usize, IsSlip); 3] = [
            (boleto::line::UTILITY_LENGTH, boleto::line::is_utility_line),
            (boleto::line::LENGTH, |digits| Line::parse(digits).is_ok()),
            (boleto::barcode::LENGTH, |digits| Barcode::parse(digits).is_ok()),
        ];
        let is_slip =
            |(length, is_valid): &(usize, IsSlip)| self.between(at, at + length).is_some_and(is_valid);
        let slip = slips.iter().find(|slip| is_slip(slip)).map(|(length, _)| *length);
        let document = || {
            let kinds = [(DocumentType::Cnpj, 14), (DocumentType::Cpf, 11)];
            kinds.into_iter().find(|(kind, length)| self.is_document(at, *kind, *length))
        };
        slip.or_else(|| document().map(|(_, length)| length)).map(|length| at + length)
    }

    /// Returns true if a valid document begins here, bare or with its usual mask.
    fn is_document(&self, at: usize, kind: DocumentType, length: usize) -> bool {
        let (Some(digits), Some(gaps)) = (self.between(at, at + length), self.gaps.get(at..at + length))
        else {
            return false;
        };
        let Ok(document) = Document::parse(digits, kind) else { return false };
        let inner = || gaps.iter().skip(1);
        let mut mask = Vec::new();
        let mut gap = Gap::Nothing;
        for character in document.formatted().chars() {
            if character.is_ascii_digit() {
                mask.push(std::mem::replace(&mut gap, Gap::Nothing));
            } else {
                gap = Gap::One(character);
            }
        }
        inner().all(|gap| *gap == Gap::Nothing) || inner().eq(mask.iter().skip(1))
    }

    /// Returns true if all of it is a sequence of phone numbers: a single one has fewer digits than a card number.
    fn is_list_of_phones(&self, start: usize, end: usize) -> bool {
        let mut ends = BTreeSet::from([start]);
        for at in start..end {
            if ends.contains(&at) {
                let is_phone =
                    |last: &usize| self.between(at, *last).is_some_and(|digits| Phone::parse(digits).is_ok());
                ends.extend((at + 10..=at + 13).filter(|last| *last <= end).filter(is_phone));
            }
        }
        ends.contains(&end)
    }
}

/// Prefix sums of the digits for Luhn: every second one doubled, from the first or from the second on.
struct LuhnSums([Vec<u32>; 2]);

impl LuhnSums {
    fn of(digits: &str) -> Self {
        let sums = |parity: usize| {
            let mut sums = vec![0];
            let mut sum = 0_u32;
            for (at, digit) in digits.bytes().enumerate() {
                let digit = u32::from(digit.saturating_sub(b'0'));
                let doubled = if digit > 4 { digit * 2 - 9 } else { digit * 2 };
                sum += if at % 2 == parity { doubled } else { digit };
                sums.push(sum);
            }
            sums
        };
        Self([sums(0), sums(1)])
    }

    /// Returns true if the digits from `start` up to `end` pass Luhn, which does not double the last one.
    fn pass(&self, start: usize, end: usize) -> bool {
        let [even, odd] = &self.0;
        let sums = if end.is_multiple_of(2) { even } else { odd };
        let sum = sums.get(end).zip(sums.get(start)).map(|(end, start)| end - start);
        sum.is_some_and(|sum| sum.is_multiple_of(10))
    }
}

/// Zeros of the other scripts, each followed by its digits up to nine (Unicode 14.0, general category Nd).
const ZEROS: [u32; 58] = [
    0x660, 0x6f0, 0x7c0, 0x966, 0x9e6, 0xa66, 0xae6, 0xb66, 0xbe6, 0xc66, 0xce6, 0xd66, 0xde6, 0xe50, 0xed0,
    0xf20, 0x1040, 0x1090, 0x17e0, 0x1810, 0x1946, 0x19d0, 0x1a80, 0x1a90, 0x1b50, 0x1bb0, 0x1c40, 0x1c50,
    0xa620, 0xa8d0, 0xa900, 0xa9d0, 0xa9f0, 0xaa50, 0xabf0, 0x104a0, 0x10d30, 0x11066, 0x110f0, 0x11136,
    0x111d0, 0x112f0, 0x11450, 0x114d0, 0x11650, 0x116c0, 0x11730, 0x118e0, 0x11950, 0x11c50, 0x11d50,
    0x11da0, 0x16a60, 0x16ac0, 0x16b50, 0x1e140, 0x1e2f0, 0x1e950,
];

/// Returns the ASCII digit for a character: full-width, superscript and mathematical digits (NFKD), and those of other
/// scripts.
fn digit_of(character: char) -> Option<char> {
    if character.is_ascii() {
        return Some(character).filter(char::is_ascii_digit);
    }
    let code = u32::from(character);
    let before = ZEROS.partition_point(|zero| *zero <= code);
    let zero = before.checked_sub(1).and_then(|at| ZEROS.get(at));
    if let Some(value) = zero.map(|zero| code - zero).filter(|value| *value < 10) {
        return char::from_digit(value, 10);
    }
    let mut digit = None;
    let mut count = 0_usize;
    decompose_compatible(character, |part| {
        digit = Some(part);
        count += 1;
    });
    digit.filter(|digit| count == 1 && digit.is_ascii_digit())
}

/// Returns true for a character that may separate the digits of one number. Copied text has typeset hyphens and blanks.
fn is_separator(character: char) -> bool {
    let is_typeset = matches!(
        character,
        '.' | '/' | '-' | '\u{2010}'..='\u{2015}' | '\u{2212}' | '\u{fe58}' | '\u{fe63}' | '\u{ff0d}'..='\u{ff0f}'
    );
    // Soft hyphens, joiners and direction marks are invisible, and occur in copied text.
    let is_unseen = matches!(character, '\u{ad}' | '\u{61c}' | '\u{180e}' | '\u{200b}'..='\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2060}'..='\u{2064}' | '\u{feff}');
    is_typeset || is_unseen || character.is_whitespace() || is_combining_mark(character)
}

/// Returns the length of the UUID or hash that a text begins with; 0 if there is none.
fn hexadecimal_length(text: &str) -> usize {
    let ends =
        |length: usize| !text.get(length..).is_some_and(|rest| rest.starts_with(char::is_alphanumeric));
    let is_uuid = |length: &usize| {
        let head = text.get(..*length);
        head.is_some_and(|head| head.as_bytes().get(8) == Some(&b'-') && Uuid::try_parse(head).is_ok())
            && ends(*length)
    };
    if let Some(length) = Some(36).filter(is_uuid) {
        return length;
    }
    let word = text.find(|character: char| !character.is_ascii_alphanumeric()).unwrap_or(text.len());
    let is_hash = text.get(..word).is_some_and(|word| {
        word.len() >= HASH_LENGTH
            && word.bytes().all(|byte| byte.is_ascii_hexdigit())
            && word.bytes().any(|byte| byte.is_ascii_alphabetic())
    });
    let text = text.get(..word).unwrap_or_default();
    let is_tagged = text.starts_with(TRACK_2_TAG) && text.get(TRACK_2_HEAD..).is_some_and(begins_track_2);
    match (is_tagged, is_hash && !begins_track_2(text)) {
        // The number begins after the tag, without an edge before it.
        (true, _) => TRACK_2_HEAD,
        (false, true) => word,
        (false, false) => 0,
    }
}

/// Returns the card numbers in the text's first word, if that is chip data in hexadecimal digits. These are the account
/// number (tag 5A) and track 2 (tag 57), each after its length in bytes (EMV 4.4, book 3, annex A).
fn tagged_numbers(text: &str) -> impl Iterator<Item = &str> {
    let word = text.bytes().take_while(u8::is_ascii_hexdigit).count();
    let word = text.get(..word).unwrap_or_default();
    (0..word.len()).step_by(2).filter_map(|at| {
        let (tag, rest) = word.get(at..)?.split_at_checked(2)?;
        let is_track = tag == TRACK_2_TAG;
        if !is_track && !tag.eq_ignore_ascii_case(ACCOUNT_TAG) {
            return None;
        }
        let (length, rest) = rest.split_at_checked(2)?;
        let value = rest.get(..usize::from_str_radix(length, 16).ok()?.checked_mul(2)?)?;
        let number = value.get(..digits_at_the_beginning(value))?;
        let mut behind = value.bytes().skip(number.len());
        let is_ended = match is_track {
            true => behind.next().is_some_and(|byte| byte.eq_ignore_ascii_case(&b'D')),
            false => behind.all(|byte| byte.eq_ignore_ascii_case(&b'F')),
        };
        Some(number).filter(|number| is_ended && LENGTHS.contains(&number.len()))
    })
}

/// Returns the number of digits that a text begins with, up to one more than a card number has.
fn digits_at_the_beginning(text: &str) -> usize {
    // A text may hold a tag at every second character, so each must cost no more than a number's length.
    text.bytes().take(LENGTHS.end() + 1).take_while(u8::is_ascii_digit).count()
}

/// Returns true if hexadecimal digits begin with a card number and a separator or padding, as track 2 does (ISO/IEC
/// 7813).
fn begins_track_2(digits: &str) -> bool {
    let length = digits_at_the_beginning(digits);
    let is_ended = matches!(digits.as_bytes().get(length), Some(b'D' | b'd' | b'F' | b'f'));
    let number = digits.get(..length).filter(|number| is_ended && LENGTHS.contains(&number.len()));
    number.is_some_and(|number| CardNumber::parse(number).is_ok())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_card_number_is_found_however_it_is_written() {
        for text in [
            "4242424242424242",
            "4242 4242 4242 4242",
            "4242-4242-4242-4242",
            "4242.4242/4242 - 4242",
            "4 2 4 2 4 2 4 2 4 2 4 2 4 2 4 2",
            "card4242424242424242exp1230",
            "pedido 17, cartao 4242 4242 4242 4242 cvv 987",
            "0001 4242 4242 4242 4242 12/30",
            "4242\u{a0}4242\u{2011}4242\t4242",
            "4242\u{ad}4242\u{ff0f}4242\u{200b}4242",
            "4242\u{feff}4242\u{2060}4242\u{fe63}4242",
            "4\u{301}2\u{301}42424242424242",
            "3782 822463 10005",
            "3056 930902 5904",
            "CPF 529.982.247-25 4242 4242 4242 4242",
            "11144477735 6362970000457013",
            "550e8400-e29b-41d4-a716-446655440000 5555555555554444",
            "4242424242424242D26121010000012345678F",
            "4242424242424242d26121010000012345678fffffffffff",
            "57134242424242424242D26121010000012345678F",
            "5F2A02098657134242424242424242D26121010000012345678F9F2608AABBCCDDEEFF0011",
            "5A0842424242424242425F24032612319F2608AABBCCDDEEFF0011",
            "82023C005a0842424242424242425F2A020986",
            "5A084242424242424242",
            "5A0A4000002500001001FFFF",
            "４２４２４２４２４２４２４２４２",
            "𝟒𝟐𝟒𝟐 ⁴²⁴² 4242 4242",
            "٤٢٤٢ ४२४२ 4242 4242",
        ] {
            assert!(holds_card_number(text), "{text}");
        }
    }

    #[test]
    fn what_only_looks_like_one_is_none() {
        for text in [
            "",
            "4242424242424241",
            "4242:4242:4242:4242",
            "4242_4242_4242_4242",
            "42424242424242420",
            "1234424242424242424242",
            "34191.79001 01043.510047 91020.150008 8 84660000026000",
            "+55 (11) 98765-4321",
            "11 4002-8922 / 11 4002-8922 / 11 4002-8922",
            "529.982.247-25 111.444.777-35 529.982.247-25",
            "36.490.181/0001-58",
            "41234567-1234-4123-8123-123456789012",
            "177c0e92-3326-335c-53f4-974549144022",
            "5555555555554444a0b1c2d3e4f5a6b7c8d9",
            "2026-11-22 14:35:00.000",
        ] {
            assert!(!holds_card_number(text), "{text}");
        }
    }

    #[test]
    fn in_a_text_of_very_many_digits_whatever_looks_like_a_card_number_counts_as_one() {
        let is_both = |digits: &String| {
            CardNumber::parse(digits).is_ok() && Document::parse(digits, DocumentType::Cnpj).is_ok()
        };
        let company = (36_490_181_000_000_u64..).map(|number| number.to_string()).find(is_both).unwrap();
        let of_companies = |count: usize| vec![company.as_str(); count].join(": ");
        assert!(!holds_card_number(&of_companies(EXAMINED_DIGITS / 14)));
        assert!(holds_card_number(&of_companies(EXAMINED_DIGITS / 14 + 1)));
        assert!(!holds_card_number(&"1 ".repeat(100_000)), "what looks like none costs nothing of it");
    }

    #[test]
    fn this_very_number_is_found_within_longer_ones() {
        let number = "4242424242424242";
        for text in ["99424242424242424299", "x 9942-4242 4242 4242 4299 y", "4242.4242.4242.4242"] {
            assert!(holds_number(text, number), "{text}");
        }
        assert!(!holds_number("4242 4242 4242 4243", number));
    }
}
