//! Name of an order at Pagar.me (`code`), which is also its idempotency key: our id without hyphens.

use quita_domain::identity::{OperationId, TransactionId};
use uuid::Uuid;

/// Returns the code of a payment's order: 32 digits, lower-case hexadecimal.
pub(super) fn write(id: TransactionId) -> String {
    id.uuid().simple().to_string()
}

/// Returns the idempotency key of an operation.
pub(super) fn key(id: OperationId) -> String {
    id.uuid().simple().to_string()
}

/// Returns the payment with this code, if it can be one of ours. Only exact codes count.
pub(super) fn read(text: &str) -> Option<TransactionId> {
    let is_ours = text.len() == 32 && text.bytes().all(|byte| matches!(byte, b'0'..=b'9' | b'a'..=b'f'));
    is_ours.then(|| Uuid::try_parse(text).ok().map(TransactionId::new)).flatten()
}

/// Digits of the number on a slip.
const NUMBER_LENGTH: u32 = 16;

/// Digits and capitals without those that are easily confused (Crockford's base 32).
const DIGITS: &[u8; 32] = b"0123456789ABCDEFGHJKMNPQRSTVWXYZ";

/// Returns the document number of a boleto (nº do documento): 80 bits of our id.
pub(super) fn document_number(id: TransactionId) -> String {
    let bits = id.uuid().as_u128();
    let digit = |place: u32| {
        let digit = usize::try_from((bits >> (5 * place)) & 31).unwrap_or_default();
        char::from(DIGITS.get(digit).copied().unwrap_or(b'0'))
    };
    // The last bits of an id are the random ones.
    (0..NUMBER_LENGTH).rev().map(digit).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn what_can_be_no_code_of_ours_is_nobodys() {
        for text in [
            "",
            "A1B2",
            "01935A1B7C007ABC8DEF0123456789AB",
            "01935a1b-7c00-7abc-8def-0123456789ab",
            "01935a1b7c007abc8def0123456789abc",
            "g1935a1b7c007abc8def0123456789ab",
        ] {
            assert_eq!(read(text), None, "{text}");
        }
    }

    proptest! {
        #[test]
        fn every_code_is_read_back_and_every_number_fits(bits in any::<u128>()) {
            let id = TransactionId::new(Uuid::from_u128(bits));
            prop_assert_eq!(read(&write(id)), Some(id));
            let number = document_number(id);
            prop_assert!(number.len() == 16 && number.bytes().all(|byte| DIGITS.contains(&byte)));
        }
    }
}
