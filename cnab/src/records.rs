//! A stream of bytes as records: line ends, encodings, lengths.

use std::io::{BufRead, Read};
use std::str;

use crate::error::{Problem, ReadError};
use crate::record::Record;

/// Longest line: 401 characters in UTF-8, and its end.
const MOST_BYTES: u64 = 401 * 4 + 2;
/// CP/M's end-of-file mark, which banks' programs still write.
const END_MARK: u8 = 0x1A;
const UTF8_MARK: &[u8] = &[0xEF, 0xBB, 0xBF];

/// Reads records one by one.
///
/// Files are in ISO-8859-1, where a character is a byte, or in UTF-8 from programs that converted them. Positions count
/// characters in both. The encoding is determined for each line: only one of them gives the right length.
#[derive(Debug)]
pub(crate) struct Records<R> {
    input: R,
    bytes: Vec<u8>,
    line: u64,
    has_ended: bool,
}

impl<R: BufRead> Records<R> {
    pub(crate) fn new(input: R) -> Self {
        Self { input, bytes: Vec::new(), line: 0, has_ended: false }
    }

    /// Makes the error for the last line read.
    pub(crate) fn refused(&self, problem: Problem) -> ReadError {
        ReadError::Refused { line: self.line.max(1), problem }
    }

    /// Returns the first record, and its length: the first of these that fits.
    pub(crate) fn first(&mut self, lengths: &[usize]) -> Result<(Record, usize), ReadError> {
        if !self.advance()? {
            return Err(self.refused(Problem::Empty));
        }
        // In ISO-8859-1 these marks are letters. Only with zero bytes do they mean UTF-16.
        if self.bytes.contains(&0)
            && (self.bytes.starts_with(&[0xFF, 0xFE]) || self.bytes.starts_with(&[0xFE, 0xFF]))
        {
            return Err(self.refused(Problem::Utf16));
        }
        let bytes = self.bytes.strip_prefix(UTF8_MARK).unwrap_or(&self.bytes);
        let fitting = lengths.iter().find_map(|length| Some((characters(bytes, *length)?, *length)));
        let Some((characters, length)) = fitting else {
            return Err(self.refused(Problem::NoLayout { characters: count(bytes) }));
        };
        Ok((Record::new(self.line, characters), length))
    }

    /// Returns the next record; `None` at the end.
    pub(crate) fn next(&mut self, expected: usize) -> Result<Option<Record>, ReadError> {
        if !self.advance()? {
            return Ok(None);
        }
        match characters(&self.bytes, expected) {
            Some(characters) => Ok(Some(Record::new(self.line, characters))),
            None => Err(self.refused(Problem::Length { characters: count(&self.bytes), expected })),
        }
    }

    /// Moves to the next line that is not blank, without its end. Returns false if there is none.
    fn advance(&mut self) -> Result<bool, ReadError> {
        loop {
            self.bytes.clear();
            let read = self.input.by_ref().take(MOST_BYTES).read_until(b'\n', &mut self.bytes)?;
            if read == 0 {
                return Ok(false);
            }
            self.line = self.line.saturating_add(1);
            match self.bytes.pop_if(|byte| *byte == b'\n') {
                Some(_) => drop(self.bytes.pop_if(|byte| *byte == b'\r')),
                None if u64::try_from(read) == Ok(MOST_BYTES) => {
                    return Err(self.refused(Problem::TooLong { most: MOST_BYTES }));
                }
                None => {}
            }
            let had_ended = self.has_ended;
            while self.bytes.pop_if(|byte| *byte == END_MARK).is_some() {
                self.has_ended = true;
            }
            if self.bytes.iter().all(|byte| *byte == b' ') {
                continue;
            }
            return if had_ended { Err(self.refused(Problem::AfterEnd)) } else { Ok(true) };
        }
    }
}

/// Returns a line's characters if there are as many as expected, or one more, which is a space.
fn characters(bytes: &[u8], expected: usize) -> Option<Vec<char>> {
    let fit = |mut characters: Vec<char>| {
        if characters.len() == expected.saturating_add(1) {
            characters.pop_if(|character| *character == ' ');
        }
        (characters.len() == expected).then_some(characters)
    };
    let as_utf8 = str::from_utf8(bytes).ok().and_then(|text| fit(text.chars().collect()));
    as_utf8.or_else(|| fit(bytes.iter().copied().map(char::from).collect()))
}

fn count(bytes: &[u8]) -> usize {
    str::from_utf8(bytes).map_or(bytes.len(), |text| text.chars().count())
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Lines of four characters.
    fn read(bytes: &[u8]) -> Result<Vec<(u64, String)>, String> {
        let mut records = Records::new(bytes);
        let mut found = Vec::new();
        while let Some(record) = records.next(4).map_err(|error| error.to_string())? {
            found.push((record.line, record.raw(crate::record::field("all", 1, 4))));
        }
        Ok(found)
    }

    fn lines(expected: &[(u64, &str)]) -> Result<Vec<(u64, String)>, String> {
        Ok(expected.iter().map(|(line, text)| (*line, (*text).to_owned())).collect())
    }

    #[test]
    fn either_end_of_line_one_blank_too_many_blank_lines_and_a_last_0x1a_are_taken() {
        for bytes in [
            "abcd\r\nefgh\r\n",
            "abcd\nefgh",
            "abcd \nefgh \x1a",
            "abcd\nefgh\n\x1a",
            "abcd\nefgh\n\n   \n\x1a\x1a\r\n",
        ] {
            assert_eq!(read(bytes.as_bytes()), lines(&[(1, "abcd"), (2, "efgh")]), "{bytes:?}");
        }
        assert_eq!(read(b"\nabcd\n\nefgh"), lines(&[(2, "abcd"), (4, "efgh")]));
        assert_eq!(read(b"").unwrap(), []);
    }

    #[test]
    fn positions_are_of_characters_in_either_encoding() {
        for bytes in ["S\u{e3}o ".as_bytes(), b"S\xe3o ", "S\u{e3}o  ".as_bytes(), b"S\xe3o  \r\n"] {
            assert_eq!(read(bytes), lines(&[(1, "S\u{e3}o ")]), "{bytes:?}");
        }
    }

    #[test]
    fn what_is_too_short_too_long_or_after_the_end_is_refused_with_its_line() {
        for (bytes, told) in [
            (b"abcd\nefg".to_vec(), "line 2: it has 3 characters instead of 4"),
            (b"abcd\nefghi".to_vec(), "line 2: it has 5 characters"),
            (b"abcd\nefgh  ".to_vec(), "line 2: it has 6 characters"),
            (b"abcd\n\x1aefgh".to_vec(), "line 2: it has 5 characters"),
            (b"abcd\n\x1a\nefgh".to_vec(), "line 3: there is more after"),
            (
                [b"abcd\n".to_vec(), vec![b'x'; 5_000_000]].concat(),
                "line 2: it goes on for more than 1606 bytes",
            ),
        ] {
            let refused = read(&bytes).unwrap_err();
            assert!(refused.starts_with(told), "{refused}");
        }
    }
}
