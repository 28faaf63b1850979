//! Code that the fuzz targets share: samples, bytes made into commands, and every payment's laws.

pub mod bank;
pub mod bodies;
pub mod commands;
pub mod laws;
pub mod samples;

use std::borrow::Cow;

/// The first byte, which picks what is tried, and the rest.
pub fn split(data: &[u8]) -> (u8, &[u8]) {
    data.split_first().map_or((0, &[]), |(first, rest)| (*first, rest))
}

/// Bytes as text; what is no UTF-8 becomes replacement characters.
pub fn text(data: &[u8]) -> Cow<'_, str> {
    String::from_utf8_lossy(data)
}

/// Text of a provider's document: UTF-16 behind its byte order mark, UTF-8 with or without one, else Latin-1. `None` if
/// it is broken in the encoding that its mark names.
pub fn decoded(document: &[u8]) -> Option<String> {
    let utf_16 = |unit: fn([u8; 2]) -> u16| {
        let (pairs, rest) = document[2..].as_chunks::<2>();
        let units: Vec<u16> = pairs.iter().copied().map(unit).collect();
        rest.is_empty().then(|| String::from_utf16(&units).ok())?
    };
    match document {
        [0xff, 0xfe, ..] => utf_16(u16::from_le_bytes),
        [0xfe, 0xff, ..] => utf_16(u16::from_be_bytes),
        [0xef, 0xbb, 0xbf, text @ ..] => String::from_utf8(text.to_vec()).ok(),
        text => {
            let latin_1 = || text.iter().copied().map(char::from).collect();
            Some(String::from_utf8(text.to_vec()).unwrap_or_else(|_| latin_1()))
        }
    }
}

/// The bytes with one changed for every three of the others: two say where, one to what.
pub fn changed(bytes: &[u8], changes: &[u8]) -> Vec<u8> {
    let mut bytes = bytes.to_vec();
    for change in changes.chunks_exact(3) {
        let place = usize::from(u16::from_be_bytes([change[0], change[1]])) % bytes.len();
        bytes[place] = change[2];
    }
    bytes
}

/// The text with another ASCII character at a place; `None` if that changes nothing or the place holds none.
pub fn with_one_changed(text: &str, place: usize, character: u8) -> Option<String> {
    let mut bytes = text.as_bytes().to_vec();
    let place = place.checked_rem(bytes.len())?;
    let byte = bytes.get_mut(place)?;
    if *byte == character || !byte.is_ascii() || !character.is_ascii() {
        return None;
    }
    *byte = character;
    String::from_utf8(bytes).ok()
}
