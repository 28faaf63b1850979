//! `when`: the conditions of a rule or of a cost.

use quita_domain::card::Brand;
use quita_domain::identity::MerchantId;
use quita_domain::method::Method;
use quita_domain::money::Money;
use quita_domain::routing::{Bin, Criteria, Criterion, Hours, Weekday};

use crate::MAX_INSTALLMENTS;
use crate::acquirer::number;
use crate::table::OptionTable;

const CENTS: &str = "1 to 9999999999 cents";

/// Reads `when`; if it is absent or empty, everything matches.
pub(super) fn read(table: &mut OptionTable<'_>) -> Criteria {
    if !table.open("when") {
        return Criteria::default();
    }
    let criteria = [
        method(table),
        brand(table),
        bin(table),
        amount(table),
        installments(table),
        merchant(table),
        weekday(table),
        hours(table),
        metadata(table),
    ];
    Criteria::new(criteria.into_iter().flatten().collect())
}

fn method(table: &mut OptionTable<'_>) -> Option<Criterion> {
    let methods = table.one_or_list("when.method", &names(Method::ALL.map(Method::label)), Method::parse);
    methods.map(Criterion::Method)
}

fn brand(table: &mut OptionTable<'_>) -> Option<Criterion> {
    let parse = |text: &str| Brand::ALL.into_iter().find(|brand| brand.as_str() == text);
    table.one_or_list("when.brand", &names(Brand::ALL.map(Brand::as_str)), parse).map(Criterion::Brand)
}

fn bin(table: &mut OptionTable<'_>) -> Option<Criterion> {
    table.one_or_list("when.bin", "texts of 4 to 6 digits", Bin::parse).map(Criterion::Bin)
}

fn amount(table: &mut OptionTable<'_>) -> Option<Criterion> {
    let cents = |text: &str| number(text, 1, Money::MAX.cents()).map(Money::from_cents);
    let least = table.optional("when.min-amount", CENTS, cents);
    let most = table.optional("when.max-amount", CENTS, cents);
    (least.is_some() || most.is_some())
        .then(|| Criterion::Amount(least.unwrap_or(Money::from_cents(1)), most.unwrap_or(Money::MAX)))
}

/// Reads `"1"` or `"2-12"`, both ends included.
fn installments(table: &mut OptionTable<'_>) -> Option<Criterion> {
    let part = |text: &str| number(text, 1, MAX_INSTALLMENTS);
    let parse = |text: &str| {
        let (least, most) = text.split_once('-').unwrap_or((text, text));
        Some(Criterion::Installments(part(least)?, part(most)?))
    };
    table.optional("when.installments", "1 to 12, or a range such as \"2-12\"", parse)
}

fn merchant(table: &mut OptionTable<'_>) -> Option<Criterion> {
    let parse = |text: &str| (!text.is_empty()).then(|| MerchantId::new(text));
    table.one_or_list("when.merchant", "names of merchants", parse).map(Criterion::Merchant)
}

fn weekday(table: &mut OptionTable<'_>) -> Option<Criterion> {
    let days = names(Weekday::ALL.map(Weekday::as_str));
    table.one_or_list("when.weekday", &days, Weekday::parse).map(Criterion::Weekday)
}

fn hours(table: &mut OptionTable<'_>) -> Option<Criterion> {
    let form = "two different times of the day in Brasília, such as \"08:00-20:00\"";
    table.optional("when.hours", form, Hours::parse).map(Criterion::Hours)
}

fn metadata(table: &mut OptionTable<'_>) -> Option<Criterion> {
    let is_set = table.contains("when.metadata");
    let notes = table.texts("when.metadata");
    if is_set && notes.is_empty() && !table.is_refused() {
        table.refuse("when.metadata", "it is empty; write { NAME = \"TEXT\" }, or remove it");
    }
    (!notes.is_empty()).then(|| Criterion::Metadata(notes.into_iter().collect()))
}

fn names<const N: usize>(names: [&str; N]) -> String {
    names.join(", ")
}
