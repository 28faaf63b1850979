//! Every text of the consoles, in both languages, side by side.
//!
//! A text that is missing in one language does not compile.

mod applications;
mod deliveries;
mod everywhere;
mod failures;
mod operators;
mod overview;
mod payments;
mod people;
mod words;

use super::language::Language;

/// Declares a group of texts: `name: "em português", "in English";`
macro_rules! texts {
    ($(#[$doc:meta])* $group:ident { $($name:ident: $portuguese:literal, $english:literal;)* }) => {
        $(#[$doc])*
        pub(crate) struct $group { $(pub(crate) $name: &'static str,)* }

        impl $group {
            pub(super) const PORTUGUESE: Self = Self { $($name: $portuguese,)* };
            pub(super) const ENGLISH: Self = Self { $($name: $english,)* };
        }
    };
}
use texts;

/// Every text of one language.
pub(crate) struct Texts {
    pub(crate) everywhere: everywhere::Everywhere,
    pub(crate) failures: failures::Failures,
    pub(crate) people: people::People,
    pub(crate) applications: applications::Applications,
    pub(crate) payments: payments::Payments,
    pub(crate) deliveries: deliveries::Deliveries,
    pub(crate) overview: overview::Overview,
    pub(crate) operators: operators::Operators,
}

static PORTUGUESE: Texts = Texts {
    everywhere: everywhere::Everywhere::PORTUGUESE,
    failures: failures::Failures::PORTUGUESE,
    people: people::People::PORTUGUESE,
    applications: applications::Applications::PORTUGUESE,
    payments: payments::Payments::PORTUGUESE,
    deliveries: deliveries::Deliveries::PORTUGUESE,
    overview: overview::Overview::PORTUGUESE,
    operators: operators::Operators::PORTUGUESE,
};

static ENGLISH: Texts = Texts {
    everywhere: everywhere::Everywhere::ENGLISH,
    failures: failures::Failures::ENGLISH,
    people: people::People::ENGLISH,
    applications: applications::Applications::ENGLISH,
    payments: payments::Payments::ENGLISH,
    deliveries: deliveries::Deliveries::ENGLISH,
    overview: overview::Overview::ENGLISH,
    operators: operators::Operators::ENGLISH,
};

impl Texts {
    /// The texts of a language.
    pub(crate) fn of(language: Language) -> &'static Self {
        match language {
            Language::Portuguese => &PORTUGUESE,
            Language::English => &ENGLISH,
        }
    }
}
