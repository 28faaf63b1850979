//! Check digits of slips: modulo 10 and modulo 11.

/// Computes modulo 10: weights 2, 1, 2, … from right to left, the digits of each product added together.
pub(super) fn modulo_10(digits: &str) -> u32 {
    let products = from_right(digits).zip([2, 1].into_iter().cycle()).map(|(value, weight)| value * weight);
    let sum: u32 = products.map(|product| product / 10 + product % 10).sum();
    (10 - sum % 10) % 10
}

/// Computes the general digit of a bar code: modulo 11 with weights 2 to 9; 1 instead of 0, 10 and 11.
pub(super) fn general(digits: &str) -> u32 {
    match 11 - remainder_11(digits, 9) {
        digit @ 2..=9 => digit,
        _ => 1,
    }
}

/// Computes the digit of a field of a utility's slip: modulo 11 with weights 2 to 9; 0 instead of 10 and 11.
pub(super) fn collection_11(digits: &str) -> u32 {
    match 11 - remainder_11(digits, 9) {
        digit @ 0..=9 => digit,
        _ => 0,
    }
}

/// Returns the remainder of division by 11, with weights 2 to `top`, repeated from right to left.
pub(super) fn remainder_11(digits: &str, top: u32) -> u32 {
    let products = from_right(digits).zip((2..=top).cycle()).map(|(value, weight)| value * weight);
    products.sum::<u32>() % 11
}

/// Returns the remainder of division by 11, with weights 3, 1, 9, 7, repeated from left to right.
pub(super) fn remainder_3197(digits: &str) -> u32 {
    let values = digits.chars().filter_map(|character| character.to_digit(10));
    let products = values.zip([3, 1, 9, 7].into_iter().cycle()).map(|(value, weight)| value * weight);
    products.sum::<u32>() % 11
}

fn from_right(digits: &str) -> impl Iterator<Item = u32> {
    digits.chars().rev().filter_map(|character| character.to_digit(10))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_general_digit_is_never_zero() {
        for (digits, remainder, digit) in [("0", 0, 1), ("6", 1, 1), ("4", 8, 3), ("1", 2, 9), ("5", 10, 1)] {
            assert_eq!((remainder_11(digits, 9), general(digits)), (remainder, digit), "{digits}");
        }
    }

    #[test]
    fn modulo_10_adds_the_digits_of_a_product() {
        for (digits, digit) in [("0", 0), ("5", 9), ("9", 1), ("341910121", 1), ("3456788005", 8)] {
            assert_eq!(modulo_10(digits), digit, "{digits}");
        }
    }
}
