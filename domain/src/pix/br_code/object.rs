//! Objects of a BR Code: ID, length, value.

use super::BrCodeError;
use crate::text::is_digits;

/// Unit of the lengths of objects. Both are the same if everything is ASCII, as the manual demands.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Lengths {
    OfCharacters,
    /// Of the text in UTF-8.
    OfBytes,
}

/// Objects of one level, in their order.
#[derive(Debug)]
pub(super) struct Objects<'a> {
    all: Vec<(&'a str, &'a str)>,
    lengths: Lengths,
}

impl<'a> Objects<'a> {
    /// Reads a payload or the value of a template.
    pub(super) fn parse(mut text: &'a str, lengths: Lengths) -> Result<Self, BrCodeError> {
        let mut objects: Vec<(&str, &str)> = Vec::new();
        while !text.is_empty() {
            let (id, rest) = text.split_at_checked(2).ok_or(BrCodeError::Malformed)?;
            let (length, rest) = rest.split_at_checked(2).ok_or(BrCodeError::Malformed)?;
            if !is_digits(id) || !is_digits(length) {
                return Err(BrCodeError::Malformed);
            }
            let length: usize = length.parse().map_err(|_| BrCodeError::Malformed)?;
            let (value, rest) = split_behind(rest, length, lengths).ok_or(BrCodeError::Malformed)?;
            if objects.iter().any(|(earlier, _)| *earlier == id) {
                return Err(BrCodeError::Repeated);
            }
            objects.push((id, value));
            text = rest;
        }
        Ok(Self { all: objects, lengths })
    }

    /// Returns the unit of the lengths.
    pub(super) const fn lengths(&self) -> Lengths {
        self.lengths
    }

    /// Returns the value of an object.
    pub(super) fn get(&self, id: &str) -> Option<&'a str> {
        self.iter().find(|(found, _)| *found == id).map(|(_, value)| value)
    }

    /// Returns the value of a mandatory object.
    pub(super) fn require(&self, id: &'static str) -> Result<&'a str, BrCodeError> {
        self.get(id).ok_or(BrCodeError::Missing(id))
    }

    /// Returns ID and value of each object.
    pub(super) fn iter(&self) -> impl Iterator<Item = (&'a str, &'a str)> {
        self.all.iter().copied()
    }

    /// Returns ID and value of the first object.
    pub(super) fn first(&self) -> Option<(&'a str, &'a str)> {
        self.all.first().copied()
    }

    /// Returns ID and value of the last object.
    pub(super) fn last(&self) -> Option<(&'a str, &'a str)> {
        self.all.last().copied()
    }
}

/// Appends one object; values are ASCII of at most 99 characters here.
pub(super) fn push(target: &mut String, id: &str, value: &str) {
    target.push_str(id);
    for digit in [value.len() / 10, value.len() % 10] {
        target.extend(u32::try_from(digit).ok().and_then(|digit| char::from_digit(digit, 10)));
    }
    target.push_str(value);
}

/// Splits after a value of that length; `None` for zero, beyond the end, and inside a character.
fn split_behind(text: &str, length: usize, lengths: Lengths) -> Option<(&str, &str)> {
    let before_last = length.checked_sub(1)?;
    let end = match lengths {
        Lengths::OfBytes => length,
        Lengths::OfCharacters => {
            let (last, character) = text.char_indices().nth(before_last)?;
            last + character.len_utf8()
        }
    };
    text.split_at_checked(end)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lengths_count_characters_or_bytes() {
        for (text, lengths) in
            [("5904José6002É!", Lengths::OfCharacters), ("5905José6003É!", Lengths::OfBytes)]
        {
            let objects = Objects::parse(text, lengths).unwrap_or_else(|error| panic!("{error}"));
            assert_eq!((objects.get("59"), objects.get("60")), (Some("José"), Some("É!")));
        }
        // In the middle of a character.
        assert!(Objects::parse("5904José", Lengths::OfBytes).is_err());
    }

    #[test]
    fn what_is_cut_empty_or_overruns_is_malformed() {
        for text in ["5", "590", "5901", "5900", "59+1A", "5902A", "É901A"] {
            assert_eq!(
                Objects::parse(text, Lengths::OfCharacters).err(),
                Some(BrCodeError::Malformed),
                "{text}"
            );
        }
        assert_eq!(Objects::parse("5901A5901A", Lengths::OfBytes).err(), Some(BrCodeError::Repeated));
    }
}
