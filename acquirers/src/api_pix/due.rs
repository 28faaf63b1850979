//! The parts of a request that only a charge with a due date has (`CobV`: API Pix 2.9.0, `PUT /cobv/{txid}`).

use quita_domain::acquiring::Charge;
use quita_domain::due_terms::{Discount, DueTerms, Interest, Portion};
use quita_domain::order::Address;
use serde_json::{Map, Value, json};

use super::charge::one_line;

/// Maximum numbers of characters of the payer's street and city.
const MAX_STREET: usize = 200;
const MAX_CITY: usize = 200;

/// `modalidade` of a fine and of a discount.
const FIXED: u8 = 1;
const PERCENT: u8 = 2;

/// `modalidade` of interest, both by calendar days.
const AMOUNT_PER_DAY: u8 = 1;
const PERCENT_PER_MONTH: u8 = 3;

/// Returns the dates of a charge.
pub(super) fn calendar(due: &DueTerms) -> Value {
    json!({
        "dataDeVencimento": due.due_date.to_string(),
        "validadeAposVencimento": due.payable_after_due_days,
    })
}

/// Adds the payer's address, fine, interest and discounts.
pub(super) fn complete(mut body: Map<String, Value>, charge: &Charge, due: &DueTerms) -> Map<String, Value> {
    if let Some(payer) = body.get_mut("devedor").and_then(Value::as_object_mut) {
        payer.extend(charge.order.payer.address.iter().flat_map(address));
    }
    if let Some(value) = body.get_mut("valor").and_then(Value::as_object_mut) {
        value.extend(due.fine.map(|fine| ("multa".into(), of_portion(fine))));
        value.extend(due.interest.map(|interest| ("juros".into(), of_interest(interest))));
        let discounts = due.discounts.first().map(|first| discounts(*first, &due.discounts));
        value.extend(discounts.map(|discounts| ("desconto".into(), discounts)));
    }
    body
}

fn address(given: &Address) -> [(String, Value); 4] {
    let Address { street, number, complement, neighborhood, city, state, zip_code } = given;
    let parts = [Some(street), Some(number), complement.as_ref(), Some(neighborhood)];
    let street = parts.into_iter().flatten().map(String::as_str).collect::<Vec<_>>().join(", ");
    [
        ("logradouro".into(), one_line(&street, MAX_STREET).into()),
        ("cidade".into(), one_line(city, MAX_CITY).into()),
        ("uf".into(), state.as_str().into()),
        ("cep".into(), zip_code.as_str().into()),
    ]
}

fn of_portion(portion: Portion) -> Value {
    let (kind, size) = kind_and_size(portion);
    json!({ "modalidade": kind, "valorPerc": size })
}

fn of_interest(interest: Interest) -> Value {
    let (kind, size) = match interest {
        Interest::AmountPerDay(amount) => (AMOUNT_PER_DAY, amount.to_string()),
        Interest::BasisPointsPerMonth(points) => (PERCENT_PER_MONTH, percent(points)),
    };
    json!({ "modalidade": kind, "valorPerc": size })
}

fn discounts(first: Discount, all: &[Discount]) -> Value {
    // The first stands for all: a request with amounts and percentages side by side is refused (`code::MIXED`).
    let (kind, _) = kind_and_size(first.portion);
    let entry = |discount: &Discount| {
        let (_, size) = kind_and_size(discount.portion);
        json!({ "data": discount.until.to_string(), "valorPerc": size })
    };
    json!({ "modalidade": kind, "descontoDataFixa": all.iter().map(entry).collect::<Vec<_>>() })
}

/// Writes hundredths of a percent with two decimals, as the document's pattern asks.
fn percent(points: u32) -> String {
    format!("{}.{:02}", points / 100, points % 100)
}

fn kind_and_size(portion: Portion) -> (u8, String) {
    match portion {
        Portion::Amount(amount) => (FIXED, amount.to_string()),
        Portion::BasisPoints(points) => (PERCENT, percent(points)),
    }
}
