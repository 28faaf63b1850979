//! Terms of a charge with a due date, in words for the payer: the amount owed today, and how it changes.

use chrono::NaiveDate;
use quita_domain::due_terms::{Discount, DueTerms, Interest, InterestSince, Portion};
use quita_domain::money::Money;
use quita_domain::order::Order;
use quita_domain::payment::Payment;
use quita_paper::brazilian::reais;

use super::checkout_words::{day, money, pick};
use super::is_open;
use crate::console::Language;

/// Terms of one payment, on one day.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct DueWords {
    /// Amount owed on that day or, once nothing is left to pay, the amount that came in.
    pub(crate) owed: Money,
    /// True if the amount depends on the day.
    pub(crate) changes: bool,
    /// The day, as it is written.
    pub(crate) today: String,
    /// Due date, as it is written.
    pub(crate) due: String,
    /// Last day on which it may be paid, as it is written.
    pub(crate) last_day: String,
    /// Discounts, fine and interest, one sentence for each.
    pub(crate) sentences: Vec<String>,
}

impl DueWords {
    /// Puts the terms of a payment into words, if it has a due date.
    pub(crate) fn of(payment: &Payment, today: NaiveDate, language: Language) -> Option<Self> {
        let words = Self::of_order(&payment.order, today, language)?;
        if is_open(payment.status()) {
            return Some(words);
        }
        let state = &payment.state;
        let came = state.paid_amount.or(state.captured_amount);
        Some(Self { owed: came.unwrap_or(payment.order.amount), ..words })
    }

    /// Puts the terms of an order that nobody has paid into words, if it has a due date.
    pub(crate) fn of_order(order: &Order, today: NaiveDate, language: Language) -> Option<Self> {
        let due = order.terms.due()?;
        // Nobody pays after the last day, so the amount owed stays the same from then on.
        let on = today.min(due.payable_until());
        Some(Self {
            owed: due.owed_on(order.amount, on, InterestSince::of(order.method)),
            changes: due.changes_the_amount(),
            today: day(language, on),
            due: day(language, due.due_date),
            last_day: day(language, due.payable_until()),
            sentences: sentences(due, order.amount, language),
        })
    }

    /// Returns the amount owed or received, in cents.
    pub(crate) fn owed_cents(&self) -> i64 {
        cents(self.owed)
    }

    /// Returns the terms as a slip prints them, with the amount owed on the day of printing.
    pub(crate) fn on_paper(self) -> Vec<String> {
        let owed = format!("Valor para pagamento em {}: R$ {}.", self.today, reais(self.owed_cents()));
        self.changes.then_some(owed).into_iter().chain(self.sentences).collect()
    }
}

/// Returns the sentences about discounts, fine and interest; none if the amount is the same on every day.
fn sentences(due: &DueTerms, amount: Money, language: Language) -> Vec<String> {
    discounts(due, amount, language).into_iter().chain(surcharges(due, amount, language)).collect()
}

fn discounts(due: &DueTerms, amount: Money, language: Language) -> Option<String> {
    let one = |discount: &Discount| {
        let (until, off) = (day(language, due.last_day_of(*discount)), discount.portion.of(amount));
        let off = in_reais(language, off);
        match language {
            Language::Portuguese => format!("até {until}, desconto de {off}"),
            Language::English => format!("by {until}, a discount of {off}"),
        }
    };
    let all: Vec<String> = due.discounts.iter().map(one).collect();
    let start = pick(language, "Pagando", "If paid");
    (!all.is_empty()).then(|| format!("{start} {}.", all.join("; ")))
}

fn surcharges(due: &DueTerms, amount: Money, language: Language) -> Option<String> {
    let fine_of = pick(language, "multa de", "a fine of");
    let interest_of = pick(language, "juros de", "interest of");
    let [a_day, a_month] = [pick(language, "por dia", "a day"), pick(language, "ao mês", "a month")];
    let percent = |points| percent(language, points);
    let fine = due.fine.map(|fine| match fine {
        Portion::Amount(fixed) => format!("{fine_of} {}", in_reais(language, fixed)),
        Portion::BasisPoints(points) => {
            format!("{fine_of} {} ({})", percent(points), in_reais(language, fine.of(amount)))
        }
    });
    let interest = due.interest.map(|interest| match interest {
        Interest::AmountPerDay(daily) => format!("{interest_of} {} {a_day}", in_reais(language, daily)),
        Interest::BasisPointsPerMonth(points) => format!("{interest_of} {} {a_month}", percent(points)),
    });
    let parts: Vec<String> = fine.into_iter().chain(interest).collect();
    let after = day(language, due.moved_due_date());
    let [start, and] = [pick(language, "Após", "After"), pick(language, " e ", " and ")];
    (!parts.is_empty()).then(|| format!("{start} {after}: {}.", parts.join(and)))
}

fn in_reais(language: Language, amount: Money) -> String {
    match language {
        Language::Portuguese => format!("R$ {}", reais(cents(amount))),
        Language::English => money(language, amount),
    }
}

/// Writes hundredths of a percent: `2%`, `1,5%`, `1.5%`.
fn percent(language: Language, points: u32) -> String {
    let comma = pick(language, ",", ".");
    let text = format!("{}{comma}{:02}", points / 100, points % 100);
    format!("{}%", text.trim_end_matches('0').trim_end_matches(comma))
}

fn cents(amount: Money) -> i64 {
    i64::try_from(amount.cents()).unwrap_or(i64::MAX)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn date(text: &str) -> NaiveDate {
        text.parse().unwrap()
    }

    #[test]
    fn a_payer_reads_days_amounts_and_percentages() {
        let discount =
            |until: &str, points| Discount { until: date(until), portion: Portion::BasisPoints(points) };
        let due = DueTerms {
            fine: Some(Portion::BasisPoints(200)),
            interest: Some(Interest::BasisPointsPerMonth(150)),
            discounts: vec![discount("2026-11-10", 500), discount("2026-11-21", 250)],
            ..DueTerms::plain(date("2026-11-21"))
        };
        let expected = [
            "Pagando até 10/11/2026, desconto de R$ 5,00; até 23/11/2026, desconto de R$ 2,50.",
            "Após 23/11/2026: multa de 2% (R$ 2,00) e juros de 1,5% ao mês.",
        ];
        assert_eq!(sentences(&due, Money::from_cents(10_000), Language::Portuguese), expected);
        let expected = [
            "If paid by Nov 10, 2026, a discount of R$5.00; by Nov 23, 2026, a discount of R$2.50.",
            "After Nov 23, 2026: a fine of 2% (R$2.00) and interest of 1.5% a month.",
        ];
        assert_eq!(sentences(&due, Money::from_cents(10_000), Language::English), expected);
        let fixed = DueTerms {
            interest: Some(Interest::AmountPerDay(Money::from_cents(10))),
            ..DueTerms::plain(date("2026-11-27"))
        };
        let expected = ["Após 27/11/2026: juros de R$ 0,10 por dia."];
        assert_eq!(sentences(&fixed, Money::from_cents(10_000), Language::Portuguese), expected);
        let plain = DueTerms::plain(date("2026-11-27"));
        assert_eq!(sentences(&plain, Money::from_cents(10_000), Language::Portuguese), [""; 0]);
    }
}
