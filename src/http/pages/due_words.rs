//! Terms of a charge with a due date in a payer's words: what is owed today, and what changes it.

use chrono::NaiveDate;
use quita_domain::due_terms::{Discount, DueTerms, Interest, InterestSince, Portion};
use quita_domain::money::Money;
use quita_domain::payment::Payment;
use quita_paper::brazilian::{day, reais};

use super::is_open;

/// Terms of one payment, on one day.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct DueWords {
    /// Amount in cents: what is owed on that day, or what came once nothing is to be paid any more.
    pub(crate) owed_cents: i64,
    /// True if that is another amount on another day.
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
    pub(crate) fn of(payment: &Payment, today: NaiveDate) -> Option<Self> {
        let due = payment.order.terms.due()?;
        let amount = payment.order.amount;
        // Nobody pays after the last day: what is owed then stays as it was.
        let on = today.min(due.payable_until());
        let owed = if is_open(payment.status()) {
            due.owed_on(amount, on, InterestSince::of(payment.method()))
        } else {
            let state = &payment.state;
            state.paid_amount.or(state.captured_amount).unwrap_or(amount)
        };
        Some(Self {
            owed_cents: cents(owed),
            changes: due.changes_the_amount(),
            today: day(on),
            due: day(due.due_date),
            last_day: day(due.payable_until()),
            sentences: sentences(due, amount),
        })
    }
}

impl DueWords {
    /// Returns the terms as a slip prints them, with what is owed on the day of printing.
    pub(crate) fn on_paper(self) -> Vec<String> {
        let owed = format!("Valor para pagamento em {}: R$ {}.", self.today, reais(self.owed_cents));
        self.changes.then_some(owed).into_iter().chain(self.sentences).collect()
    }
}

/// Returns the sentences about discounts, fine and interest; none if the amount is the same on every day.
fn sentences(due: &DueTerms, amount: Money) -> Vec<String> {
    discounts(due, amount).into_iter().chain(surcharges(due, amount)).collect()
}

fn discounts(due: &DueTerms, amount: Money) -> Option<String> {
    let one = |discount: &Discount| {
        let off = discount.portion.of(amount);
        format!("até {}, desconto de {}", day(due.last_day_of(*discount)), in_reais(off))
    };
    let all: Vec<String> = due.discounts.iter().map(one).collect();
    (!all.is_empty()).then(|| format!("Pagando {}.", all.join("; ")))
}

fn surcharges(due: &DueTerms, amount: Money) -> Option<String> {
    let fine = due.fine.map(|fine| match fine {
        Portion::Amount(fixed) => format!("multa de {}", in_reais(fixed)),
        Portion::BasisPoints(points) => {
            format!("multa de {} ({})", percent(points), in_reais(fine.of(amount)))
        }
    });
    let interest = due.interest.map(|interest| match interest {
        Interest::AmountPerDay(daily) => format!("juros de {} por dia", in_reais(daily)),
        Interest::BasisPointsPerMonth(points) => format!("juros de {} ao mês", percent(points)),
    });
    let parts: Vec<String> = fine.into_iter().chain(interest).collect();
    let after = day(due.moved_due_date());
    (!parts.is_empty()).then(|| format!("Após {after}: {}.", parts.join(" e ")))
}

fn in_reais(amount: Money) -> String {
    format!("R$ {}", reais(cents(amount)))
}

/// Writes hundredths of a percent: `2%`, `1,5%`.
fn percent(points: u32) -> String {
    let text = format!("{},{:02}", points / 100, points % 100);
    format!("{}%", text.trim_end_matches('0').trim_end_matches(','))
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
        assert_eq!(sentences(&due, Money::from_cents(10_000)), expected);
        let fixed = DueTerms {
            interest: Some(Interest::AmountPerDay(Money::from_cents(10))),
            ..DueTerms::plain(date("2026-11-27"))
        };
        let expected = ["Após 27/11/2026: juros de R$ 0,10 por dia."];
        assert_eq!(sentences(&fixed, Money::from_cents(10_000)), expected);
        let plain = DueTerms::plain(date("2026-11-27"));
        assert_eq!(sentences(&plain, Money::from_cents(10_000)), [""; 0]);
    }
}
