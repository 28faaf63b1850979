//! JSON as providers actually send it: in UTF-8, with or without a byte order mark, and in Latin-1.

use serde_json::Value;

/// Reads a JSON document in any of these encodings; `None` if it is not JSON.
///
/// The encoding only affects letters in names. Digits, signs and field names are ASCII, which is the same in all
/// encodings; amounts are read from ASCII only.
pub(crate) fn json(body: &[u8]) -> Option<Value> {
    match body {
        [0xef, 0xbb, 0xbf, text @ ..] => serde_json::from_slice(text).ok(),
        [0xff, 0xfe, text @ ..] => of_utf_16(text, u16::from_le_bytes),
        [0xfe, 0xff, text @ ..] => of_utf_16(text, u16::from_be_bytes),
        text => match std::str::from_utf8(text) {
            Ok(text) => serde_json::from_str(text).ok(),
            Err(_) => of_latin_1(text),
        },
    }
}

/// Reads Latin-1, where every byte is the character with its number.
fn of_latin_1(text: &[u8]) -> Option<Value> {
    let characters: String = text.iter().copied().map(char::from).collect();
    serde_json::from_str(&characters).ok()
}

fn of_utf_16(text: &[u8], unit: fn([u8; 2]) -> u16) -> Option<Value> {
    let pairs = text.chunks(2).map(|pair| <[u8; 2]>::try_from(pair).ok().map(unit));
    let units: Vec<u16> = pairs.collect::<Option<_>>()?;
    serde_json::from_str(&String::from_utf16(&units).ok()?).ok()
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn utf_16(text: &str, mark: &[u8; 2], bytes: fn(u16) -> [u8; 2]) -> Vec<u8> {
        mark.iter().copied().chain(text.encode_utf16().flat_map(bytes)).collect()
    }

    #[test]
    fn the_same_document_is_read_in_every_encoding() {
        let text = "{\"nome\":\"José\",\"valor\":\"10.00\"}";
        let latin_1: Vec<u8> = text.chars().map(|each| u8::try_from(each).unwrap()).collect();
        let marked = [&[0xef, 0xbb, 0xbf], text.as_bytes()].concat();
        let little = utf_16(text, &[0xff, 0xfe], u16::to_le_bytes);
        let big = utf_16(text, &[0xfe, 0xff], u16::to_be_bytes);
        for body in [text.as_bytes().to_vec(), latin_1, marked, little, big] {
            assert_eq!(json(&body), Some(json!({"nome": "José", "valor": "10.00"})), "{body:?}");
        }
    }

    #[test]
    fn what_is_no_json_in_any_encoding_is_none() {
        let deep = "[".repeat(10_000);
        for body in [
            &b""[..],
            b"<xml/>",
            &[0xff],
            &[0xff, 0xfe],
            &[0xff, 0xfe, 0x7b],
            &[0xef, 0xbb, 0xbf],
            deep.as_bytes(),
        ] {
            assert_eq!(json(body), None, "{body:?}");
        }
    }
}
