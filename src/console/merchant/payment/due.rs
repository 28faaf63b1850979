//! Terms of a charge with a due date, as rows of the payment's page.

use quita_domain::due_terms::{Discount, DueTerms, Interest, Portion};
use quita_domain::payment::Payment;

use crate::console::kit::language::Language;
use crate::console::merchant::texts::MerchantTexts;

/// Returns the terms with their names; none for a payment without a due date.
pub(super) fn rows(
    payment: &Payment,
    texts: &MerchantTexts,
    language: Language,
) -> Vec<(&'static str, String)> {
    let texts = &texts.payments;
    let Some(due) = payment.order.terms.due() else { return Vec::new() };
    let mut rows = vec![
        (texts.due_date, language.day(due.due_date)),
        (texts.payable_until, language.day(due.payable_until())),
    ];
    rows.extend(discounts(due, language).into_iter().map(|discount| (texts.discount, discount)));
    rows.extend(due.fine.map(|fine| (texts.fine, portion(fine, language))));
    rows.extend(due.interest.map(|interest| match interest {
        Interest::AmountPerDay(amount) => (texts.interest_per_day, language.money(amount)),
        Interest::BasisPointsPerMonth(points) => (texts.interest_per_month, language.basis_points(points)),
    }));
    rows.extend(due.instructions.iter().map(|text| (texts.instruction, text.clone())));
    rows.extend(payment.state.paid_amount.map(|amount| (texts.paid_amount, language.money(amount))));
    rows.extend(payment.state.paid_on.map(|day| (texts.paid_on, language.day(day))));
    rows
}

fn discounts(due: &DueTerms, language: Language) -> Vec<String> {
    let until = |discount: &Discount| {
        let size = portion(discount.portion, language);
        let day = language.day(due.last_day_of(*discount));
        format!("{size} · {} {day}", language.pick("até", "until"))
    };
    due.discounts.iter().map(until).collect()
}

fn portion(portion: Portion, language: Language) -> String {
    match portion {
        Portion::Amount(amount) => language.money(amount),
        Portion::BasisPoints(points) => language.basis_points(points),
    }
}
