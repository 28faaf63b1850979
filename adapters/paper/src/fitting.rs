//! Fitting of text into its room on paper: shrunk, then cut, or broken into lines, but never beyond the edge.

use crate::helvetica::Font;
use crate::win_ansi;

/// Text never shrinks below this share of its size: seven tenths.
const SMALLEST_TENTHS: i64 = 7;
/// `…` in Windows-1252.
const ELLIPSIS: u8 = 0x85;

/// Encoded text and the size at which it fits.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct FittedText {
    /// Windows-1252.
    pub(crate) bytes: Vec<u8>,
    /// Font size in micrometres.
    pub(crate) size_um: i64,
}

/// Encodes `text`, shrinks it down to seven tenths, then cuts it with `…`, until it is at most `room_um` wide.
pub(crate) fn fit(text: &str, font: Font, size_um: i64, room_um: i64) -> FittedText {
    let bytes = win_ansi::encode(text.trim());
    let wanted_um = font.measure(&bytes, size_um);
    if wanted_um <= room_um {
        return FittedText { bytes, size_um };
    }
    let smallest_um = size_um * SMALLEST_TENTHS / 10;
    let shrunk_um = size_um * room_um / wanted_um;
    if shrunk_um >= smallest_um {
        return FittedText { bytes, size_um: shrunk_um };
    }
    FittedText { bytes: cut(bytes, font, smallest_um, room_um), size_um: smallest_um }
}

/// Breaks `text` between words into at most `most_lines` lines. The last line has the rest, which still has to be
/// fitted.
pub(crate) fn wrap(text: &str, font: Font, size_um: i64, room_um: i64, most_lines: usize) -> Vec<String> {
    let mut lines: Vec<String> = Vec::new();
    for word in text.split_whitespace() {
        let is_last = lines.len() >= most_lines;
        match lines.last_mut() {
            Some(line) if is_last || fits(&format!("{line} {word}"), font, size_um, room_um) => {
                line.push(' ');
                line.push_str(word);
            }
            Some(_) | None => lines.push(word.to_owned()),
        }
    }
    lines
}

fn fits(text: &str, font: Font, size_um: i64, room_um: i64) -> bool {
    font.measure(&win_ansi::encode(text), size_um) <= room_um
}

fn cut(mut bytes: Vec<u8>, font: Font, size_um: i64, room_um: i64) -> Vec<u8> {
    while bytes.pop().is_some() {
        let mut shown = bytes.trim_ascii_end().to_vec();
        shown.push(ELLIPSIS);
        if font.measure(&shown, size_um) <= room_um {
            return shown;
        }
    }
    Vec::new()
}

#[cfg(test)]
mod tests {
    use super::*;

    const SIZE_UM: i64 = 3_000;

    #[test]
    fn text_with_room_keeps_its_size() {
        let fitted = fit(" Ação ", Font::Regular, SIZE_UM, 20_000);
        assert_eq!(fitted, FittedText { bytes: b"A\xE7\xE3o".to_vec(), size_um: SIZE_UM });
    }

    #[test]
    fn text_slightly_too_long_gets_smaller() {
        let fitted = fit("0123456789", Font::Regular, SIZE_UM, 15_000);
        assert_eq!((fitted.bytes.len(), fitted.size_um), (10, 2_697));
    }

    #[test]
    fn text_far_too_long_is_cut_with_an_ellipsis() {
        let fitted = fit(&"palavra ".repeat(50), Font::Regular, SIZE_UM, 30_000);
        assert_eq!(fitted.size_um, 2_100);
        assert_eq!(fitted.bytes.last(), Some(&ELLIPSIS));
        assert!(Font::Regular.measure(&fitted.bytes, fitted.size_um) <= 30_000);
    }

    #[test]
    fn whatever_the_text_it_never_overflows() {
        for text in ["", "W", "Conceição", "É", &"Ü".repeat(500), "日本 株式会社", "a b c d e f g h i j"]
        {
            for room_um in [0, 500, 4_000, 50_000] {
                let fitted = fit(text, Font::Bold, SIZE_UM, room_um);
                assert!(Font::Bold.measure(&fitted.bytes, fitted.size_um) <= room_um, "{text} in {room_um}");
            }
        }
    }

    #[test]
    fn lines_break_between_words() {
        let lines = wrap("Rua das  Laranjeiras, 100", Font::Regular, SIZE_UM, 25_000, 5);
        assert_eq!(lines, ["Rua das", "Laranjeiras, 100"]);
    }

    #[test]
    fn the_last_line_takes_what_is_left() {
        let lines = wrap("um dois três quatro", Font::Regular, SIZE_UM, 5_000, 2);
        assert_eq!(lines, ["um", "dois três quatro"]);
    }
}
