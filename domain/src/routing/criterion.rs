//! Conditions of rules: a closed set, each with its sentence.

use std::collections::BTreeMap;
use std::fmt;

use serde::Serialize;

use super::RouteInputs;
use crate::card::Brand;
use crate::identity::MerchantId;
use crate::method::Method;
use crate::money::Money;
use crate::text::is_digits;

/// One condition. A list contains the allowed values, and is never empty.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Criterion {
    /// The method is one of these.
    Method(Vec<Method>),
    /// The card is of one of these brands.
    Brand(Vec<Brand>),
    /// The card's number begins with one of these.
    Bin(Vec<Bin>),
    /// The amount is from the first to the second, both included.
    Amount(Money, Money),
    /// The number of instalments is in this range, both included.
    Installments(u8, u8),
    /// The merchant is one of these.
    Merchant(Vec<MerchantId>),
    /// The weekday of its creation in Brasília is one of these.
    Weekday(Vec<Weekday>),
    /// The time of its creation in Brasília is in this range.
    Hours(Hours),
    /// It has all these entries in its metadata.
    Metadata(Metadata),
}

/// A merchant's notes: names with their values.
pub type Metadata = BTreeMap<String, String>;

impl Criterion {
    /// Returns true if the payment fulfils it.
    pub fn holds(&self, inputs: &RouteInputs<'_>) -> bool {
        match self {
            Self::Method(methods) => methods.contains(&inputs.method),
            Self::Brand(brands) => inputs.brand.is_some_and(|brand| brands.contains(&brand)),
            Self::Bin(bins) => {
                inputs.first_digits.is_some_and(|digits| bins.iter().any(|bin| bin.begins(digits)))
            }
            Self::Amount(least, most) => (*least..=*most).contains(&inputs.amount),
            Self::Installments(least, most) => {
                inputs.installments.is_some_and(|count| (*least..=*most).contains(&count))
            }
            Self::Merchant(merchants) => merchants.contains(inputs.merchant),
            Self::Weekday(days) => days.contains(&inputs.weekday),
            Self::Hours(hours) => hours.contain(inputs.minute),
            Self::Metadata(notes) => {
                notes.iter().all(|(name, value)| inputs.metadata.get(name) == Some(value))
            }
        }
    }

    /// Returns true if it holds whenever the other one does; false if that is uncertain.
    fn covers(&self, other: &Self) -> bool {
        match (self, other) {
            (Self::Method(all), Self::Method(some)) => includes(all, some),
            // Only card payments have these properties.
            (Self::Method(all), Self::Brand(_) | Self::Bin(_) | Self::Installments(..)) => {
                all.contains(&Method::CreditCard)
            }
            (Self::Brand(all), Self::Brand(some)) => includes(all, some),
            (Self::Bin(all), Self::Bin(some)) => {
                some.iter().all(|bin| all.iter().any(|shorter| shorter.begins(bin.as_str())))
            }
            (Self::Amount(least, most), Self::Amount(from, to)) => least <= from && to <= most,
            (Self::Installments(least, most), Self::Installments(from, to)) => least <= from && to <= most,
            (Self::Merchant(all), Self::Merchant(some)) => includes(all, some),
            (Self::Weekday(all), Self::Weekday(some)) => includes(all, some),
            (Self::Hours(all), Self::Hours(some)) => all.cover(*some),
            (Self::Metadata(fewer), Self::Metadata(more)) => {
                fewer.iter().all(|(name, value)| more.get(name) == Some(value))
            }
            (
                Self::Method(_)
                | Self::Brand(_)
                | Self::Bin(_)
                | Self::Amount(..)
                | Self::Installments(..)
                | Self::Merchant(_)
                | Self::Weekday(_)
                | Self::Hours(_)
                | Self::Metadata(_),
                _,
            ) => false,
        }
    }

    /// Returns true if a payment by this method can fulfil it.
    fn allows(&self, method: Method) -> bool {
        match self {
            Self::Method(methods) => methods.contains(&method),
            Self::Brand(_) | Self::Bin(_) | Self::Installments(..) => method == Method::CreditCard,
            Self::Amount(..) | Self::Merchant(_) | Self::Weekday(_) | Self::Hours(_) | Self::Metadata(_) => {
                true
            }
        }
    }

    fn brands(&self) -> Option<&[Brand]> {
        if let Self::Brand(brands) = self { Some(brands) } else { None }
    }

    fn bins(&self) -> Option<&[Bin]> {
        if let Self::Bin(bins) = self { Some(bins) } else { None }
    }

    /// Returns true if only a card can fulfil it.
    const fn wants_card(&self) -> bool {
        match self {
            Self::Brand(_) | Self::Bin(_) | Self::Installments(..) => true,
            Self::Method(_)
            | Self::Amount(..)
            | Self::Merchant(_)
            | Self::Weekday(_)
            | Self::Hours(_)
            | Self::Metadata(_) => false,
        }
    }
}

fn includes<T: PartialEq>(all: &[T], some: &[T]) -> bool {
    some.iter().all(|one| all.contains(one))
}

/// Writes "the card is Visa or Elo", to follow "when".
impl fmt::Display for Criterion {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Method(methods) => {
                write!(f, "the method is {}", one_of(methods.iter().map(|one| one.label())))
            }
            Self::Brand(brands) => write!(f, "the card is {}", one_of(brands.iter().map(|one| one.as_str()))),
            Self::Bin(bins) => write!(f, "the card begins with {}", one_of(bins.iter().map(Bin::as_str))),
            Self::Amount(least, most) => match (least.cents() <= 1, *most >= Money::MAX) {
                (true, true) => f.write_str("the amount is any"),
                (true, false) => write!(f, "the amount is at most {most}"),
                (false, true) => write!(f, "the amount is at least {least}"),
                (false, false) => write!(f, "the amount is from {least} to {most}"),
            },
            Self::Installments(1, 1) => f.write_str("it is paid in one instalment"),
            Self::Installments(least, most) if least == most => {
                write!(f, "it is paid in {least} instalments")
            }
            Self::Installments(least, most) => write!(f, "it is paid in {least} to {most} instalments"),
            Self::Merchant(names) => {
                write!(f, "the merchant is {}", one_of(names.iter().map(MerchantId::as_str)))
            }
            Self::Weekday(days) => write!(f, "the day is {}", one_of(days.iter().map(|one| one.as_str()))),
            Self::Hours(hours) => write!(f, "the time in Brasília is {hours}"),
            Self::Metadata(notes) => {
                let notes: Vec<_> = notes.iter().map(|(name, value)| format!("{name} is {value}")).collect();
                write!(f, "the metadata's {}", notes.join(" and "))
            }
        }
    }
}

fn one_of<'a>(names: impl Iterator<Item = &'a str>) -> String {
    names.collect::<Vec<_>>().join(" or ")
}

/// Conditions that must all hold. An empty list is always fulfilled. No two are of the same kind.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize)]
#[serde(transparent)]
pub struct Criteria(Vec<Criterion>);

impl Criteria {
    /// Combines these conditions.
    pub const fn new(criteria: Vec<Criterion>) -> Self {
        Self(criteria)
    }

    /// Returns true if all hold.
    pub fn hold(&self, inputs: &RouteInputs<'_>) -> bool {
        self.0.iter().all(|criterion| criterion.holds(inputs))
    }

    /// Returns true if they hold whenever the others do; false if that is uncertain.
    pub fn cover(&self, others: &Self) -> bool {
        self.0.iter().all(|one| others.0.iter().any(|other| one.covers(other)))
    }

    /// Returns the reason why they can never hold together, if there is one.
    pub fn contradiction(&self) -> Option<String> {
        let mut why = self.0.iter().filter_map(|criterion| match criterion {
            Criterion::Amount(least, most) if least > most => {
                Some(format!("no amount is at least {least} and at most {most}"))
            }
            Criterion::Installments(least, most) if least > most => {
                Some(format!("no number of instalments is at least {least} and at most {most}"))
            }
            Criterion::Method(_)
            | Criterion::Brand(_)
            | Criterion::Bin(_)
            | Criterion::Amount(..)
            | Criterion::Installments(..)
            | Criterion::Merchant(_)
            | Criterion::Weekday(_)
            | Criterion::Hours(_)
            | Criterion::Metadata(_) => None,
        });
        why.next().or_else(|| self.card_without_card()).or_else(|| self.bin_of_another_brand())
    }

    fn card_without_card(&self) -> Option<String> {
        let is_other = |one: &&Criterion| matches!(one, Criterion::Method(methods) if !methods.contains(&Method::CreditCard));
        let method = self.0.iter().find(is_other)?;
        let of_card = self.0.iter().find(|one| one.wants_card())?;
        Some(format!("never both: {method}, and {of_card}"))
    }

    fn bin_of_another_brand(&self) -> Option<String> {
        let brands = self.0.iter().find_map(Criterion::brands)?;
        let bins = self.0.iter().find_map(Criterion::bins)?;
        let may_be = |bin: &Bin| brands.iter().any(|brand| brand.may_begin_with(bin.as_str()));
        let names = || one_of(brands.iter().map(|one| one.as_str()));
        (!bins.iter().any(may_be))
            .then(|| format!("no card of {} begins with {}", names(), one_of(bins.iter().map(Bin::as_str))))
    }

    /// Returns the payment methods for which they can hold.
    pub fn methods(&self) -> Vec<Method> {
        let allows = |method: Method| self.0.iter().all(|criterion| criterion.allows(method));
        Method::ALL.into_iter().filter(|method| allows(*method)).collect()
    }
}

/// Writes "the method is pix, and the amount is at least 1.00"; "always" if there is none.
impl fmt::Display for Criteria {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.0.is_empty() {
            return f.write_str("always");
        }
        let sentences: Vec<_> = self.0.iter().map(ToString::to_string).collect();
        f.write_str(&sentences.join(", and "))
    }
}

/// First digits of a card's number: four to six.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(transparent)]
pub struct Bin(String);

impl Bin {
    /// Reads four to six digits.
    pub fn parse(text: &str) -> Option<Self> {
        ((4..=6).contains(&text.len()) && is_digits(text)).then(|| Self(text.into()))
    }

    /// Returns the digits.
    pub fn as_str(&self) -> &str {
        &self.0
    }

    fn begins(&self, digits: &str) -> bool {
        digits.starts_with(&self.0)
    }
}

/// A range of the time of day in Brasília, in minutes since midnight. The end is excluded; an end before the beginning
/// is on the next day.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
pub struct Hours {
    from: u16,
    to: u16,
}

impl Hours {
    /// Reads `08:00-20:00`. An empty range is refused.
    pub fn parse(text: &str) -> Option<Self> {
        let (from, to) = text.split_once('-')?;
        let from = minutes(from)?;
        let to = minutes(to)?;
        let is_the_end_of_the_day = |minute| minute == 24 * 60;
        (from != to && !is_the_end_of_the_day(from)).then_some(Self { from, to })
    }

    const fn contain(self, minute: u16) -> bool {
        if self.from < self.to {
            self.from <= minute && minute < self.to
        } else {
            self.from <= minute || minute < self.to
        }
    }

    fn cover(self, other: Self) -> bool {
        (0..24 * 60).all(|minute| self.contain(minute) || !other.contain(minute))
    }
}

impl fmt::Display for Hours {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { from, to } = self;
        write!(f, "{:02}:{:02}-{:02}:{:02}", from / 60, from % 60, to / 60, to % 60)
    }
}

/// Reads minutes since midnight from `08:30`; `24:00` is the end of the day.
fn minutes(text: &str) -> Option<u16> {
    let (hour, minute) = text.split_once(':')?;
    let number =
        |text: &str| (text.len() == 2 && is_digits(text)).then(|| text.parse::<u16>().ok()).flatten();
    let hour = number(hour)?;
    let minute = number(minute)?;
    let is_time = hour < 24 && minute < 60 || hour == 24 && minute == 0;
    is_time.then_some(hour * 60 + minute)
}

/// A day of the week.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Weekday {
    /// Monday.
    Mon,
    /// Tuesday.
    Tue,
    /// Wednesday.
    Wed,
    /// Thursday.
    Thu,
    /// Friday.
    Fri,
    /// Saturday.
    Sat,
    /// Sunday.
    Sun,
}

impl Weekday {
    /// Every day.
    pub const ALL: [Self; 7] = [Self::Mon, Self::Tue, Self::Wed, Self::Thu, Self::Fri, Self::Sat, Self::Sun];

    /// Returns the spelling of the configuration.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Mon => "mon",
            Self::Tue => "tue",
            Self::Wed => "wed",
            Self::Thu => "thu",
            Self::Fri => "fri",
            Self::Sat => "sat",
            Self::Sun => "sun",
        }
    }

    /// Reads the spelling of the configuration.
    pub fn parse(text: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|day| day.as_str() == text)
    }
}

impl From<chrono::Weekday> for Weekday {
    fn from(day: chrono::Weekday) -> Self {
        match day {
            chrono::Weekday::Mon => Self::Mon,
            chrono::Weekday::Tue => Self::Tue,
            chrono::Weekday::Wed => Self::Wed,
            chrono::Weekday::Thu => Self::Thu,
            chrono::Weekday::Fri => Self::Fri,
            chrono::Weekday::Sat => Self::Sat,
            chrono::Weekday::Sun => Self::Sun,
        }
    }
}

#[cfg(test)]
mod tests;
