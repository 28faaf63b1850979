//! `when`: the conditions of a route or of a cost.

use quita_domain::card::Brand;
use quita_domain::identity::MerchantId;
use quita_domain::method::Method;
use quita_domain::money::Money;
use quita_domain::routing::{Bin, Criteria, Criterion, Hours, Weekday};

use crate::config::acquirer::number;
use crate::config::table::KeyTable;

/// Reads the conditions; none if there is no `when`. `None` if one was refused.
pub(super) fn read(table: &mut KeyTable<'_>) -> Option<Criteria> {
    if !table.contains("when") {
        return Some(Criteria::default());
    }
    if !table.open("when") {
        return None;
    }
    let brands = Brand::ALL.map(Brand::as_str).join(", ");
    let brand = |text: &str| Brand::ALL.into_iter().find(|brand| brand.as_str() == text);
    let merchant = |text: &str| (!text.is_empty()).then(|| MerchantId::new(text));
    let found = [
        table.one_or_more("when.method", "pix, boleto, credit_card", Method::parse).map(Criterion::Method),
        table.one_or_more("when.brand", &brands, brand).map(Criterion::Brand),
        table.one_or_more("when.bin", "4 to 6 digits", Bin::parse).map(Criterion::Bin),
        amount(table),
        table.optional("when.installments", "a number such as 1, or a range such as 2-12", installments),
        table.one_or_more("when.merchant", "names of merchants", merchant).map(Criterion::Merchant),
        table
            .one_or_more("when.weekday", "mon, tue, wed, thu, fri, sat, sun", Weekday::parse)
            .map(Criterion::Weekday),
        table
            .optional("when.hours", "a time of the day in Brasília, such as 08:00-20:00", Hours::parse)
            .map(Criterion::Hours),
        metadata(table),
    ];
    (!table.is_refused()).then(|| Criteria::new(found.into_iter().flatten().collect()))
}

fn amount(table: &mut KeyTable<'_>) -> Option<Criterion> {
    let cents = |text: &str| number(text, 1, Money::MAX.cents()).map(Money::from_cents);
    let least = table.optional("when.min-amount", "1 to 9999999999 cents", cents);
    let most = table.optional("when.max-amount", "1 to 9999999999 cents", cents);
    let is_bounded = least.is_some() || most.is_some();
    let (least, most) = (least.unwrap_or(Money::from_cents(1)), most.unwrap_or(Money::MAX));
    is_bounded.then_some(Criterion::Amount(least, most))
}

/// `3`, or `2-12`. Whether the range holds anything is looked at later, with a word on it.
fn installments(text: &str) -> Option<Criterion> {
    let (least, most) = text.split_once('-').unwrap_or((text, text));
    let parts = |text: &str| number(text, 1, 99);
    Some(Criterion::Installments(parts(least)?, parts(most)?))
}

fn metadata(table: &mut KeyTable<'_>) -> Option<Criterion> {
    let notes = table.texts("when.metadata");
    (!notes.is_empty()).then(|| Criterion::Metadata(notes.into_iter().collect()))
}
