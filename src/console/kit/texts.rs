//! Texts of pages in both languages, side by side: those that both consoles share, and the macros with which each
//! console declares its own.
//!
//! A text that is missing in one language does not compile.

mod everywhere;
mod failures;
mod people;
mod proof;

pub(crate) use everywhere::Everywhere;
use failures::Failures;
pub(crate) use people::People;
pub(crate) use proof::Proof;

/// Declares a group of texts: `name: "em português", "in English";`
macro_rules! group {
    ($(#[$doc:meta])* $group:ident { $($name:ident: $portuguese:literal, $english:literal;)* }) => {
        $(#[$doc])*
        pub(crate) struct $group { $(pub(crate) $name: &'static str,)* }

        impl $group {
            pub(crate) const PORTUGUESE: Self = Self { $($name: $portuguese,)* };
            pub(crate) const ENGLISH: Self = Self { $($name: $english,)* };
        }
    };
}
pub(crate) use group;

/// Declares all texts of one part of the consoles: `Name { field: Group, }`
macro_rules! texts {
    ($(#[$doc:meta])* $texts:ident { $($name:ident: $group:ident,)* }) => {
        $(#[$doc])*
        pub(crate) struct $texts { $(pub(crate) $name: $group,)* }

        impl $texts {
            /// Returns the texts of a language.
            pub(crate) fn of(language: $crate::console::kit::language::Language) -> &'static Self {
                static PORTUGUESE: $texts = $texts { $($name: $group::PORTUGUESE,)* };
                static ENGLISH: $texts = $texts { $($name: $group::ENGLISH,)* };
                match language {
                    $crate::console::kit::language::Language::Portuguese => &PORTUGUESE,
                    $crate::console::kit::language::Language::English => &ENGLISH,
                }
            }

            /// Returns the texts in the language of the current request.
            pub(crate) fn current() -> &'static Self {
                Self::of($crate::console::kit::language::Language::current())
            }
        }
    };
}
pub(crate) use texts;

texts! {
    /// Texts that both consoles share.
    SharedTexts {
        everywhere: Everywhere,
        failures: Failures,
        people: People,
        proof: Proof,
    }
}
