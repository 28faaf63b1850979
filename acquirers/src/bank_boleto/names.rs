//! Names of a boleto at its bank, in addition to its number.

use quita_domain::identity::TransactionId;
use quita_domain::secret::Secret;
use quita_domain::secret_key::mac;
use uuid::Uuid;

/// Digits and capitals without vowels, so that no name spells a word.
const DIGITS: &[u8; 31] = b"0123456789BCDFGHJKLMNPQRSTVWXYZ";

/// Number of characters of the name that the payer sees (seu número).
const YOUR_NUMBER_LENGTH: usize = 18;

/// Number of bits of a hash that fit into these characters.
const YOUR_NUMBER_BITS: u32 = 89;

/// Purpose of the hash.
const PURPOSE: &[u8] = b"quita your number 1";

/// Number of characters of our id in base 36.
const COMPANY_ID_LENGTH: usize = 25;

/// Returns the name of a boleto that its payer sees: the beginning of a keyed hash of our id.
pub(crate) fn your_number(key: &Secret<String>, id: TransactionId) -> String {
    let hash = mac(key.expose().as_bytes(), &[PURPOSE, id.uuid().as_bytes()]);
    let mut first = [0; 16];
    first.iter_mut().zip(&hash).for_each(|(byte, hashed)| *byte = *hashed);
    let bits = u128::from_be_bytes(first) >> (u128::BITS - YOUR_NUMBER_BITS);
    digits(bits, 31, YOUR_NUMBER_LENGTH, |digit| DIGITS.get(digit).copied().map(char::from))
}

/// Returns our id for the field that only we read (identificação na empresa).
pub(crate) fn company_id(id: TransactionId) -> String {
    let digit = |digit: usize| u32::try_from(digit).ok().and_then(|digit| char::from_digit(digit, 36));
    digits(id.uuid().as_u128(), 36, COMPANY_ID_LENGTH, digit).to_ascii_uppercase()
}

/// Reads our id back; `None` if we did not write it.
pub(crate) fn payment_of(company_id: &str) -> Option<TransactionId> {
    let is_ours = |byte: u8| byte.is_ascii_digit() || byte.is_ascii_uppercase();
    if company_id.len() != COMPANY_ID_LENGTH || !company_id.bytes().all(is_ours) {
        return None;
    }
    let number = u128::from_str_radix(company_id, 36).ok()?;
    Some(TransactionId::new(Uuid::from_u128(number)))
}

fn digits(mut number: u128, base: u128, length: usize, digit: impl Fn(usize) -> Option<char>) -> String {
    let mut reversed = Vec::with_capacity(length);
    for _ in 0..length {
        let rest = usize::try_from(number % base).unwrap_or_default();
        reversed.push(digit(rest).unwrap_or('0'));
        number /= base;
    }
    reversed.into_iter().rev().collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn key(text: &str) -> Secret<String> {
        Secret::new(text.to_owned())
    }

    #[test]
    fn a_name_depends_on_the_key_and_on_every_bit_of_the_id() {
        let id = |bits| TransactionId::new(Uuid::from_u128(bits));
        let name = your_number(&key("a"), id(7));
        assert_eq!(name, your_number(&key("a"), id(7)));
        assert_ne!(name, your_number(&key("b"), id(7)));
        for bit in 0..128 {
            assert_ne!(name, your_number(&key("a"), id(7 ^ (1 << bit))), "{bit}");
        }
    }

    #[test]
    fn what_we_did_not_write_is_nobodys() {
        for text in ["", "A1", "PEDIDO1", &"Z".repeat(25), &"é".repeat(25), &"a".repeat(25)] {
            assert_eq!(payment_of(text), None, "{text}");
        }
    }

    proptest! {
        #[test]
        fn names_fit_and_every_id_is_read_back(bits in any::<u128>()) {
            let id = TransactionId::new(Uuid::from_u128(bits));
            let name = your_number(&key("k"), id);
            prop_assert!(name.len() == 18 && name.bytes().all(|byte| DIGITS.contains(&byte)), "{}", name);
            prop_assert_eq!(company_id(id).len(), 25);
            prop_assert_eq!(payment_of(&company_id(id)), Some(id));
        }
    }
}
