//! The name of a charge at Cielo (`MerchantOrderId`): our id in letters and digits.

use quita_domain::identity::TransactionId;
use quita_domain::method::Method;
use uuid::Uuid;

/// Number of digits of an id in hexadecimal, and in base 36.
const HEX_LENGTH: usize = 32;
const BASE_36_LENGTH: usize = 25;

/// Writes the charge's name: the id without hyphens. A boleto's is in base 36, because Bradesco takes 27 characters.
pub(super) fn write(id: TransactionId, method: Method) -> String {
    match method {
        Method::Pix | Method::CreditCard => id.uuid().simple().to_string(),
        Method::Boleto => in_base_36(id.uuid().as_u128()),
    }
}

/// Returns the payment whose charge has this name, if it can be one of ours.
pub(super) fn read(text: &str) -> Option<TransactionId> {
    let number = match text.len() {
        HEX_LENGTH if text.bytes().all(|byte| byte.is_ascii_hexdigit()) => {
            u128::from_str_radix(text, 16).ok()?
        }
        BASE_36_LENGTH if text.bytes().all(|byte| byte.is_ascii_alphanumeric()) => {
            u128::from_str_radix(text, 36).ok()?
        }
        _ => return None,
    };
    Some(TransactionId::new(Uuid::from_u128(number)))
}

/// Returns true if both name the same order: Cielo may change the case of letters.
pub(super) fn is_same(one: &str, other: &str) -> bool {
    one.eq_ignore_ascii_case(other)
}

fn in_base_36(number: u128) -> String {
    let mut rest = number;
    let mut digits = Vec::with_capacity(BASE_36_LENGTH);
    // Always 25 digits, with leading zeros, because `read` tells this form from the hexadecimal one by its length.
    for _ in 0..BASE_36_LENGTH {
        let digit = u32::try_from(rest % 36).unwrap_or_default();
        digits.push(char::from_digit(digit, 36).unwrap_or('0'));
        rest /= 36;
    }
    digits.iter().rev().collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn the_least_and_the_greatest_id_fit_the_length_of_a_boleto() {
        for (number, text) in [(0, "0".repeat(25)), (u128::MAX, "f5lxx1zz5pnorynqglhzmsp33".to_owned())] {
            let id = TransactionId::new(Uuid::from_u128(number));
            assert_eq!(write(id, Method::Boleto), text);
            assert_eq!(read(&text), Some(id));
        }
    }

    #[test]
    fn what_can_be_no_name_of_ours_is_nobodys() {
        let long = "z".repeat(25);
        for text in
            ["", "A1B2C3", "0193_5a1b7c007abc8def0123456789ab", "+1935a1b7c007abc8def0123456789ab", &long]
        {
            assert_eq!(read(text), None, "{text}");
        }
    }

    proptest! {
        #[test]
        fn every_id_is_read_back_whatever_the_case(number in any::<u128>()) {
            let id = TransactionId::new(Uuid::from_u128(number));
            for method in Method::ALL {
                let text = write(id, method);
                prop_assert!(text.len() <= 36 && text.bytes().all(|byte| byte.is_ascii_alphanumeric()));
                prop_assert_eq!(read(&text), Some(id));
                prop_assert_eq!(read(&text.to_ascii_uppercase()), Some(id));
            }
        }
    }
}
