//! `items` and `shipping`: the purchase.

use uuid::Uuid;

use super::fields::Fields;
use super::violation::{Broken, code};
use super::wordings;
use crate::money::Money;
use crate::order::Item;

/// Largest value in cents of any one amount, [`Money::MAX`].
pub(super) const MAX_CENTS: i64 = 9_999_999_999;

/// Maximum number of items of one payment.
const MAX_ITEMS: usize = 100;

/// Reads the items of the purchase.
pub(super) fn items(root: &Fields<'_>) -> Vec<Item> {
    let sent = root.optional("items").objects(MAX_ITEMS);
    // A collected vector would have room for four.
    let mut items = Vec::with_capacity(sent.len());
    items.extend(sent.iter().filter_map(item));
    items
}

fn item(fields: &Fields<'_>) -> Option<Item> {
    let id = fields.optional("id").parsed(hyphenated_uuid);
    let name = fields.required("name").text_of(1..=255);
    let quantity = fields.required("quantity").integer_in(1..=1_000_000);
    let price = fields.required("price").cents_from(0);
    Some(Item { id, name: name?, quantity: quantity?, price: price? })
}

/// Reads only the form with hyphens: in another form it would no longer be the merchant's own id.
fn hyphenated_uuid(text: &str) -> Result<Uuid, Broken> {
    let uuid = if text.len() == 36 { Uuid::try_parse(text).ok() } else { None };
    uuid.ok_or_else(|| Broken::new(code::FORMAT, wordings::no_uuid()))
}

/// Reads the fee for shipping.
pub(super) fn shipping_fee(root: &Fields<'_>) -> Option<Money> {
    let shipping = root.optional("shipping").object()?;
    shipping.optional("fee").cents_from(0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_most_of_an_amount_is_the_most_of_a_payment() {
        assert_eq!(u64::try_from(MAX_CENTS), Ok(Money::MAX.cents()));
    }
}
