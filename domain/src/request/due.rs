//! Terms of a due date: `dueDate`, `payableAfterDueDays`, `fine`, `interest`, `discounts`, `instructions`.

use std::ops::RangeInclusive;

use chrono::{Days, NaiveDate};

use super::fields::{Fields, check_text};
use super::splits::basis_points;
use super::terms::SentDates;
use super::violation::{Broken, code};
use super::wordings;
use crate::due_terms::{Discount, DueTerms, Interest, Portion};
use crate::money::Money;
use crate::text::is_digits;
use crate::time::Timestamp;

/// Default number of days until a boleto is due.
const DEFAULT_DUE_DAYS: u64 = 3;

/// Maximum number of days until a charge is due.
pub(super) const MAX_DUE_DAYS: u64 = 365;

/// Maximum number of days after the due date on which a charge may be paid.
const MAX_PAYABLE_DAYS: i64 = 180;

/// Default number of those days for a PIX, and for a boleto with fine or interest.
const DEFAULT_PAYABLE_DAYS: u16 = 30;

/// Fine, and interest in a month, in hundredths of a percent.
const SURCHARGE_POINTS: RangeInclusive<u32> = 1..=2_000;

/// A discount in hundredths of a percent.
const DISCOUNT_POINTS: RangeInclusive<u32> = 1..=9_999;

const MAX_DISCOUNTS: usize = 3;
const MAX_INSTRUCTIONS: usize = 5;
const INSTRUCTION_LENGTHS: RangeInclusive<usize> = 1..=40;

/// Terms as sent, regardless of the method.
pub(super) struct SentDue {
    pub(super) dates: SentDates,
    /// Absent if a part could not be read.
    due_date: Option<NaiveDate>,
    pub(super) payable_days: Option<u16>,
    pub(super) fine: Option<Portion>,
    pub(super) interest: Option<Interest>,
    pub(super) discounts: Vec<Discount>,
    pub(super) instructions: Vec<String>,
}

impl SentDue {
    /// Returns the terms of a boleto.
    pub(super) fn of_boleto(self) -> Option<DueTerms> {
        // Without a day after the due date, a fine or interest would never apply.
        let may_be_late = self.fine.is_some() || self.interest.is_some();
        self.with_default(if may_be_late { DEFAULT_PAYABLE_DAYS } else { 0 })
    }

    /// Returns the terms of a PIX.
    pub(super) fn of_pix(self) -> Option<DueTerms> {
        self.with_default(DEFAULT_PAYABLE_DAYS)
    }

    fn with_default(self, days: u16) -> Option<DueTerms> {
        Some(DueTerms {
            due_date: self.due_date?,
            payable_after_due_days: self.payable_days.unwrap_or(days),
            fine: self.fine,
            interest: self.interest,
            discounts: self.discounts,
            instructions: self.instructions,
        })
    }
}

/// Reads all terms. Without a due date, a boleto's default applies.
pub(super) fn read(root: &Fields<'_>, amount: Option<Money>, now: Timestamp) -> SentDue {
    let sent = root.optional("dueDate").text();
    let due_date = due_date(root, sent, now);
    read_of(root, amount, due_date, now)
}

/// Reads the terms that belong to this due date.
pub(super) fn read_of(
    root: &Fields<'_>,
    amount: Option<Money>,
    due_date: Option<NaiveDate>,
    now: Timestamp,
) -> SentDue {
    let days = root.optional("payableAfterDueDays");
    let payable_days = days.integer_in(0..=MAX_PAYABLE_DAYS).and_then(|days| u16::try_from(days).ok());
    let fine = root.optional("fine").object().and_then(|fine| portion(&fine, amount, SURCHARGE_POINTS));
    let interest = root.optional("interest").object().and_then(|fields| interest(&fields, amount));
    if payable_days == Some(0) && (fine.is_some() || interest.is_some()) {
        days.refuse(Broken::new(code::RANGE, wordings::late_without_days()));
    }
    SentDue {
        dates: SentDates { due_date: root.optional("dueDate").is_present(), payable_days: days.is_present() },
        due_date,
        payable_days,
        fine,
        interest,
        discounts: discounts(root, amount, due_date, now),
        instructions: instructions(root),
    }
}

pub(super) fn due_date(root: &Fields<'_>, sent: Option<&str>, now: Timestamp) -> Option<NaiveDate> {
    let today = now.sao_paulo_date();
    let in_days = |days| today.checked_add_days(Days::new(days)).unwrap_or(today);
    let Some(sent) = sent else { return Some(in_days(DEFAULT_DUE_DAYS)) };
    let date = root.keep("dueDate", read_date(sent))?;
    if !(today..=in_days(MAX_DUE_DAYS)).contains(&date) {
        root.refuse_today("dueDate", Broken::new(code::RANGE, wordings::due_out_of_range()));
    }
    Some(date)
}

/// Reads `{"percentage"}` or `{"amount"}`: an amount is below that of the payment.
fn portion(fields: &Fields<'_>, whole: Option<Money>, bounds: RangeInclusive<u32>) -> Option<Portion> {
    let percentage = fields.optional("percentage");
    let amount = fields.optional("amount");
    match (percentage.is_present(), amount.is_present()) {
        (true, false) => {
            let points = basis_points(percentage.number()?, bounds);
            fields.keep("percentage", points).map(Portion::BasisPoints)
        }
        (false, true) => below(fields, "amount", whole).map(Portion::Amount),
        (true, true) => {
            fields.refuse("", Broken::new(code::MIXED, wordings::mixed_portion()));
            None
        }
        (false, false) => {
            fields.refuse_without("", wordings::needs_one_of("percentage", "amount"));
            None
        }
    }
}

fn interest(fields: &Fields<'_>, whole: Option<Money>) -> Option<Interest> {
    let percentage = fields.optional("percentagePerMonth");
    let amount = fields.optional("amountPerDay");
    match (percentage.is_present(), amount.is_present()) {
        (true, false) => {
            let points = basis_points(percentage.number()?, SURCHARGE_POINTS);
            fields.keep("percentagePerMonth", points).map(Interest::BasisPointsPerMonth)
        }
        (false, true) => below(fields, "amountPerDay", whole).map(Interest::AmountPerDay),
        (true, true) => {
            fields.refuse("", Broken::new(code::MIXED, wordings::mixed_portion()));
            None
        }
        (false, false) => {
            fields.refuse_without("", wordings::needs_one_of("percentagePerMonth", "amountPerDay"));
            None
        }
    }
}

/// Reads an amount from one cent to a cent less than the whole.
fn below(fields: &Fields<'_>, name: &str, whole: Option<Money>) -> Option<Money> {
    let amount = fields.optional(name).cents_from(1)?;
    if let Some(whole) = whole.filter(|whole| amount >= *whole) {
        let most = i64::try_from(whole.cents().saturating_sub(1)).unwrap_or(i64::MAX);
        fields.refuse(name, Broken::new(code::RANGE, wordings::cents_out_of_range(1, most)));
        return None;
    }
    Some(amount)
}

fn discounts(
    root: &Fields<'_>,
    amount: Option<Money>,
    due_date: Option<NaiveDate>,
    now: Timestamp,
) -> Vec<Discount> {
    let field = root.optional("discounts");
    let entries = field.objects(MAX_DISCOUNTS);
    if field.is_empty_list() {
        field.refuse(Broken::new(code::TOO_FEW, wordings::no_discount()));
    }
    let mut discounts: Vec<Discount> = Vec::new();
    for fields in &entries {
        let until = fields.required("until").parsed(read_date);
        let portion = portion(fields, amount, DISCOUNT_POINTS);
        let (Some(until), Some(portion)) = (until, portion) else { continue };
        check_until(fields, until, due_date, now);
        if amount.is_some_and(|amount| portion.of(amount) >= amount) {
            fields.refuse(name_of(portion), Broken::new(code::RANGE, wordings::nothing_left()));
        }
        if let Some(before) = discounts.last() {
            check_order(fields, *before, Discount { until, portion });
        }
        discounts.push(Discount { until, portion });
    }
    // Banks have one kind for all discounts of a charge (API Pix: `desconto.modalidade`).
    let are_amounts = discounts.iter().filter(|discount| name_of(discount.portion) == "amount").count();
    if are_amounts != 0 && are_amounts != discounts.len() {
        field.refuse(Broken::new(code::MIXED, wordings::mixed_discounts()));
    }
    discounts
}

fn check_until(fields: &Fields<'_>, until: NaiveDate, due_date: Option<NaiveDate>, now: Timestamp) {
    if due_date.is_some_and(|due_date| until > due_date) {
        fields.refuse("until", Broken::new(code::RANGE, wordings::until_after_due_date()));
    } else if until < now.sao_paulo_date() {
        fields.refuse_today("until", Broken::new(code::RANGE, wordings::until_has_passed()));
    }
}

fn check_order(fields: &Fields<'_>, before: Discount, this: Discount) {
    if this.until <= before.until {
        fields.refuse("until", Broken::new(code::ORDER, wordings::until_does_not_rise()));
    }
    let falls = match (before.portion, this.portion) {
        (Portion::Amount(before), Portion::Amount(this)) => this < before,
        (Portion::BasisPoints(before), Portion::BasisPoints(this)) => this < before,
        // A mixture of both kinds is refused by its own rule.
        (Portion::Amount(_), Portion::BasisPoints(_)) | (Portion::BasisPoints(_), Portion::Amount(_)) => true,
    };
    if !falls {
        fields.refuse(name_of(this.portion), Broken::new(code::ORDER, wordings::discount_does_not_fall()));
    }
}

const fn name_of(portion: Portion) -> &'static str {
    match portion {
        Portion::Amount(_) => "amount",
        Portion::BasisPoints(_) => "percentage",
    }
}

fn instructions(root: &Fields<'_>) -> Vec<String> {
    root.optional("instructions").texts_by(MAX_INSTRUCTIONS, |text| {
        let text = text.trim();
        match check_text(text, INSTRUCTION_LENGTHS) {
            Ok(()) => Ok(text.to_owned()),
            Err(broken) if broken.code == code::CHARACTER => Err(Broken { code: code::FORMAT, ..broken }),
            Err(broken) => Err(broken),
        }
    })
}

/// Reads `YYYY-MM-DD`; chrono alone would also accept `2026-1-2`.
pub(crate) fn read_date(text: &str) -> Result<NaiveDate, Broken> {
    let parts: Vec<&str> = text.split('-').collect();
    let has_form =
        parts.iter().map(|part| part.len()).eq([4, 2, 2]) && parts.iter().all(|part| is_digits(part));
    let date = if has_form { text.parse().ok() } else { None };
    date.ok_or_else(|| Broken::new(code::FORMAT, wordings::no_date()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_date_has_ten_characters_and_exists() {
        assert!(read_date("2028-02-29").is_ok());
        for text in [
            "",
            "2026-02-29",
            "2026-13-01",
            "2026-1-2",
            "+2026-01-02",
            "2026-01-02T00:00:00Z",
            "02/01/2026",
            " 2026-01-02",
            "２０２６-01-02",
        ] {
            assert_eq!(read_date(text).unwrap_err().code, code::FORMAT, "{text}");
        }
    }
}
