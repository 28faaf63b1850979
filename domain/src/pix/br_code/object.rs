//! Objects of a BR Code: ID, length, value.

use super::BrCodeError;
use crate::text::is_digits;

/// The objects of one level, in the order in which they stand.
pub(super) struct Objects<'a>(Vec<(&'a str, &'a str)>);

impl<'a> Objects<'a> {
    /// Reads a payload or the value of a template; lengths count characters.
    pub(super) fn parse(mut text: &'a str) -> Result<Self, BrCodeError> {
        let mut objects: Vec<(&str, &str)> = Vec::new();
        while !text.is_empty() {
            let (id, rest) = text.split_at_checked(2).ok_or(BrCodeError::Malformed)?;
            let (length, rest) = rest.split_at_checked(2).ok_or(BrCodeError::Malformed)?;
            if !is_digits(id) || !is_digits(length) {
                return Err(BrCodeError::Malformed);
            }
            let length: usize = length.parse().map_err(|_| BrCodeError::Malformed)?;
            let (value, rest) = split_characters(rest, length).ok_or(BrCodeError::Malformed)?;
            if objects.iter().any(|(earlier, _)| *earlier == id) {
                return Err(BrCodeError::Repeated);
            }
            objects.push((id, value));
            text = rest;
        }
        Ok(Self(objects))
    }

    /// The value of an object.
    pub(super) fn get(&self, id: &str) -> Option<&'a str> {
        self.iter().find(|(found, _)| *found == id).map(|(_, value)| value)
    }

    /// The value of a mandatory object.
    pub(super) fn require(&self, id: &'static str) -> Result<&'a str, BrCodeError> {
        self.get(id).ok_or(BrCodeError::Missing(id))
    }

    /// ID and value of each object.
    pub(super) fn iter(&self) -> impl Iterator<Item = (&'a str, &'a str)> {
        self.0.iter().copied()
    }

    /// ID and value of the first object.
    pub(super) fn first(&self) -> Option<(&'a str, &'a str)> {
        self.0.first().copied()
    }

    /// ID and value of the last object.
    pub(super) fn last(&self) -> Option<(&'a str, &'a str)> {
        self.0.last().copied()
    }
}

/// Writes one object behind others; values are ASCII of at most 99 characters here.
pub(super) fn push(target: &mut String, id: &str, value: &str) {
    target.push_str(id);
    for digit in [value.len() / 10, value.len() % 10] {
        target.extend(u32::try_from(digit).ok().and_then(|digit| char::from_digit(digit, 10)));
    }
    target.push_str(value);
}

/// Splits behind that many characters; `None` for zero and when there are fewer.
fn split_characters(text: &str, count: usize) -> Option<(&str, &str)> {
    let (last, character) = text.char_indices().nth(count.checked_sub(1)?)?;
    text.split_at_checked(last + character.len_utf8())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lengths_count_characters() {
        let objects = Objects::parse("5904José6002É!").unwrap_or_else(|error| panic!("{error}"));
        assert_eq!((objects.get("59"), objects.get("60")), (Some("José"), Some("É!")));
    }

    #[test]
    fn what_is_cut_empty_or_overruns_is_malformed() {
        for text in ["5", "590", "5901", "5900", "59+1A", "5902A", "É901A"] {
            assert_eq!(Objects::parse(text).err(), Some(BrCodeError::Malformed), "{text}");
        }
        assert_eq!(Objects::parse("5901A5901A").err(), Some(BrCodeError::Repeated));
    }
}
