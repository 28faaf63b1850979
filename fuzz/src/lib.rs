//! Code that the fuzz targets share: samples, fuzz input as commands, and every payment's laws.

pub mod bank;
pub mod bodies;
pub mod commands;
pub mod laws;
pub mod samples;
pub mod stored;

use std::borrow::Cow;

/// Splits off the first byte, which selects the test.
pub fn split(data: &[u8]) -> (u8, &[u8]) {
    data.split_first().map_or((0, &[]), |(first, rest)| (*first, rest))
}

/// Returns bytes as text; invalid UTF-8 becomes replacement characters.
pub fn text(data: &[u8]) -> Cow<'_, str> {
    String::from_utf8_lossy(data)
}

/// Decodes a provider's document. It is UTF-16 with a byte order mark, UTF-8 with or without one, otherwise Latin-1.
/// Returns `None` if it is invalid in the encoding that its mark names.
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

/// Changes one byte for every three bytes of `changes`: two give the position, one the new value.
pub fn changed(bytes: &[u8], changes: &[u8]) -> Vec<u8> {
    let mut bytes = bytes.to_vec();
    for change in changes.chunks_exact(3) {
        let place = usize::from(u16::from_be_bytes([change[0], change[1]])) % bytes.len();
        bytes[place] = change[2];
    }
    bytes
}

/// Replaces an ASCII character at a position. Returns `None` if this changes nothing, or there is no such character.
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
