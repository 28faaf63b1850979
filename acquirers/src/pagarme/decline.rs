//! Reason for a card's decline, if Pagar.me states that the code is the brand's.
//!
//! Since 2026-08-28 `acquirer_return_code` is the brand's ABECS code for accounts of v5. Before, and for accounts of
//! the gateway, it was a four-digit code of Pagar.me or of the acquirer. `retry_info` always has the brand's.

use quita_domain::acquiring::Decline;
use quita_domain::card::Brand;

use super::order::Transaction;
use crate::decline::decline;

/// Returns the decline of a card. A code that is not the brand's says nothing, so no other acquirer is tried.
pub(super) fn of_card(brand: Option<Brand>, last: &Transaction) -> Decline {
    if last.is_reproved {
        return Decline::of(Decline::ANTIFRAUD);
    }
    decline(brand, brands_code(brand, last), None)
}

/// Returns the decline of a PIX or boleto: no issuer is involved.
pub(super) fn of_code() -> Decline {
    Decline::of(Decline::ACQUIRER_REFUSED)
}

/// Returns the brand's code, if the answer has it.
fn brands_code(brand: Option<Brand>, last: &Transaction) -> Option<&str> {
    let told = last.brand_code.as_deref();
    let longest = if brand == Some(Brand::Amex) { 3 } else { 2 };
    let is_brands =
        |code: &&str| (2..=longest).contains(&code.len()) && !code.bytes().all(|byte| byte == b'0');
    told.or_else(|| last.return_code.as_deref().filter(is_brands))
}
