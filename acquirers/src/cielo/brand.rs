//! Brands of cards in Cielo's spelling.

use quita_domain::card::Brand;

/// Returns the spelling for `CreditCard.Brand` (E-commerce API 3.0, "Bandeiras").
pub(super) const fn spelling(brand: Brand) -> &'static str {
    match brand {
        Brand::Visa => "Visa",
        Brand::Mastercard => "Master",
        Brand::Amex => "Amex",
        Brand::Elo => "Elo",
        Brand::Aura => "Aura",
        Brand::Jcb => "JCB",
        Brand::Diners => "Diners",
        Brand::Discover => "Discover",
        Brand::Hipercard => "Hipercard",
        Brand::Hiper => "Hiper",
    }
}
