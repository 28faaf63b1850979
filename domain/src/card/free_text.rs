//! Card numbers where none belong: in texts that are kept.

use std::collections::BTreeSet;

use uuid::Uuid;

use super::CardNumber;
use crate::boleto::{self, Barcode, Line};
use crate::document::{Document, DocumentType};
use crate::phone::Phone;

/// The fewest and the most digits of a card number.
const LENGTHS: std::ops::RangeInclusive<usize> = 13..=19;

/// From how many hexadecimal digits on a word is taken for a hash, a UUID without hyphens or the like.
const HASH_LENGTH: usize = 32;

/// Whether a text holds what may be a card number: 13 to 19 digits that have a brand's prefix and length and pass
/// Luhn; blanks, dots, slashes and hyphens between them are skipped. A number begins and ends where a group of digits
/// does, so none is found in the middle of a longer one.
///
/// What is certainly something else is none: UUIDs and hashes, bar codes and digitable lines, valid CPFs and CNPJs,
/// several phones in a row.
pub fn holds_card_number(text: &str) -> bool {
    let digits = text.bytes().filter(u8::is_ascii_digit).count();
    digits >= *LENGTHS.start() && Run::all_of(text).iter().any(Run::holds_card_number)
}

/// Whether a text holds this very number, between whatever other digits.
pub(crate) fn holds_number(text: &str, number: &str) -> bool {
    text.contains(number) || Run::all_of(text).iter().any(|run| run.digits.contains(number))
}

/// Whether digits are those of a slip.
type IsSlip = fn(&str) -> bool;

/// What stands before a digit of a run.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Gap {
    /// Another digit.
    Nothing,
    /// One separator.
    One(char),
    /// Several separators, or the beginning.
    Other,
}

/// Digits with nothing but separators between them.
#[derive(Debug, Default)]
struct Run {
    digits: String,
    /// What stands before each of them.
    gaps: Vec<Gap>,
}

impl Run {
    /// Every run of a text that may hold a card number, without UUIDs and hashes.
    fn all_of(text: &str) -> Vec<Self> {
        let mut runs = vec![Self::default()];
        let mut run = Self::default();
        let (mut gap, mut is_in_word, mut skipped_until) = (Gap::Other, false, 0);
        for (at, character) in text.char_indices() {
            if at >= skipped_until && !is_in_word && character.is_ascii_alphanumeric() {
                skipped_until = at + text.get(at..).map_or(0, hexadecimal_length);
            }
            is_in_word = character.is_ascii_alphanumeric();
            if at >= skipped_until && character.is_ascii_digit() {
                run.digits.push(character);
                run.gaps.push(gap);
                gap = Gap::Nothing;
            } else if at >= skipped_until && is_separator(character) {
                gap = if gap == Gap::Nothing { Gap::One(character) } else { Gap::Other };
            } else {
                runs.push(std::mem::take(&mut run));
                gap = Gap::Other;
            }
        }
        runs.push(run);
        runs.retain(|run| run.digits.len() >= *LENGTHS.start());
        runs
    }

    fn holds_card_number(&self) -> bool {
        let (mut at, mut begins_at) = (0, 0);
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

    /// Whether a group of digits begins here, or the last one has ended.
    fn is_edge(&self, at: usize) -> bool {
        self.gaps.get(at).is_none_or(|gap| *gap != Gap::Nothing)
    }

    /// The digits from one edge to another.
    fn between(&self, start: usize, end: usize) -> Option<&str> {
        let digits = self.digits.get(start..end)?;
        (self.is_edge(start) && self.is_edge(end)).then_some(digits)
    }

    fn part_holds_card_number(&self, start: usize, end: usize) -> bool {
        let is_card_number = |at: usize| {
            let ends = LENGTHS.map(|length| at + length).take_while(|last| *last <= end);
            ends.filter_map(|last| self.between(at, last)).any(|digits| CardNumber::parse(digits).is_ok())
        };
        (start..end).any(is_card_number) && !self.is_list_of_phones(start, end)
    }

    /// Where something ends that begins here and is certainly no card number.
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

    /// Whether a valid document stands here, bare or with its usual mask.
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

    /// Whether all of it is phones, one after the other: a single one has fewer digits than a card number.
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

/// What may stand between the digits of one number. Typeset hyphens and blanks come with what is copied.
const fn is_separator(character: char) -> bool {
    matches!(character, '.' | '/' | '-' | '\u{2010}'..='\u{2015}' | '\u{2212}') || character.is_whitespace()
}

/// How long a UUID or hash is that a text begins with; 0 if it begins with none.
fn hexadecimal_length(text: &str) -> usize {
    let ends =
        |length: usize| !text.get(length..).is_some_and(|rest| rest.starts_with(char::is_alphanumeric));
    let is_uuid = |length: &usize| {
        let head = text.get(..*length);
        head.is_some_and(|head| head.contains('-') && Uuid::try_parse(head).is_ok()) && ends(*length)
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
    if is_hash { word } else { 0 }
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
            "3782 822463 10005",
            "3056 930902 5904",
            "CPF 529.982.247-25 4242 4242 4242 4242",
            "11144477735 6362970000457013",
            "550e8400-e29b-41d4-a716-446655440000 5555555555554444",
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
    fn this_very_number_is_found_within_longer_ones() {
        let number = "4242424242424242";
        for text in ["99424242424242424299", "x 9942-4242 4242 4242 4299 y", "4242.4242.4242.4242"] {
            assert!(holds_number(text, number), "{text}");
        }
        assert!(!holds_number("4242 4242 4242 4243", number));
    }
}
