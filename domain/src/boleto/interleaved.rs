//! Interleaved 2 of 5: the symbol of the bar code.

/// The width of a bar or a space.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Width {
    /// One module.
    Narrow,
    /// Two and a half to three modules.
    Wide,
}

use Width::{Narrow as N, Wide as W};

/// Bar, space, bar, space.
const START: [Width; 4] = [N, N, N, N];
/// Bar, space, bar.
const STOP: [Width; 3] = [W, N, N];

/// Returns the widths from the first bar to the last, bars and spaces in turn.
///
/// Of each pair of digits the first determines five bars and the second the five spaces between them, so 44 digits make
/// 227 widths. `None` if the text is not an even number of digits.
pub fn modules(digits: &str) -> Option<Vec<Width>> {
    if digits.is_empty() || !digits.len().is_multiple_of(2) {
        return None;
    }
    let mut widths = START.to_vec();
    let mut characters = digits.chars();
    while let Some(first) = characters.next() {
        let bars = pattern(first)?;
        let spaces = pattern(characters.next()?)?;
        widths.extend(bars.into_iter().zip(spaces).flat_map(|(bar, space)| [bar, space]));
    }
    widths.extend(STOP);
    Some(widths)
}

const fn pattern(digit: char) -> Option<[Width; 5]> {
    Some(match digit {
        '0' => [N, N, W, W, N],
        '1' => [W, N, N, N, W],
        '2' => [N, W, N, N, W],
        '3' => [W, W, N, N, N],
        '4' => [N, N, W, N, W],
        '5' => [W, N, W, N, N],
        '6' => [N, W, W, N, N],
        '7' => [N, N, N, W, W],
        '8' => [W, N, N, W, N],
        '9' => [N, W, N, W, N],
        _ => return None,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_digit_has_two_wide_elements_of_its_own() {
        let patterns: Vec<_> = ('0'..='9').map(|digit| pattern(digit).unwrap()).collect();
        for (place, found) in patterns.iter().enumerate() {
            assert_eq!(found.iter().filter(|width| **width == W).count(), 2);
            assert!(!patterns[..place].contains(found));
        }
    }

    #[test]
    fn only_an_even_number_of_digits_can_be_drawn() {
        for digits in ["", "1", "123", "1a", "é", "١٢"] {
            assert_eq!(modules(digits), None, "{digits}");
        }
    }
}
