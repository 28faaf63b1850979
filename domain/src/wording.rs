//! Sentences for people, each in both languages that the API speaks.

use std::borrow::Cow;
use std::fmt;

/// A sentence, or a part of one, in English and in Brazilian Portuguese. English is the default.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Wording {
    english: Cow<'static, str>,
    portuguese: Cow<'static, str>,
}

impl Wording {
    /// Creates a sentence that never varies.
    pub const fn fixed(english: &'static str, portuguese: &'static str) -> Self {
        Self { english: Cow::Borrowed(english), portuguese: Cow::Borrowed(portuguese) }
    }

    /// Creates a sentence with values filled in.
    pub const fn made(english: String, portuguese: String) -> Self {
        Self { english: Cow::Owned(english), portuguese: Cow::Owned(portuguese) }
    }

    /// Returns the text in English.
    pub fn english(&self) -> &str {
        &self.english
    }

    /// Returns the text in Brazilian Portuguese.
    pub fn portuguese(&self) -> &str {
        &self.portuguese
    }

    /// Changes both texts in the same way, such as by a name before each.
    #[must_use]
    pub fn map(&self, change: impl Fn(&str) -> String) -> Self {
        Self::made(change(&self.english), change(&self.portuguese))
    }

    /// Returns this sentence, with another after it.
    #[must_use]
    pub fn then(&self, next: &Self) -> Self {
        Self::made(
            format!("{}{}", self.english, next.english),
            format!("{}{}", self.portuguese, next.portuguese),
        )
    }
}

impl fmt::Display for Wording {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.english)
    }
}

/// Declares a table of sentences: `name = "in English", "em português";`, or with what is filled in,
/// `name(count: usize) = "{count} in English", "{count} em português";`. Each becomes a function of that name.
///
/// A sentence that is missing in one language does not compile.
#[macro_export]
macro_rules! wordings {
    ($($(#[$doc:meta])* $scope:vis $name:ident $(($($part:ident: $kind:ty),+))? = $english:literal, $portuguese:literal;)*) => {
        $(
            $(#[$doc])*
            $scope fn $name($($($part: $kind),+)?) -> $crate::wording::Wording {
                $crate::wordings!(@ ($($($part),+)?), $english, $portuguese)
            }
        )*
    };
    (@ (), $english:literal, $portuguese:literal) => {
        $crate::wording::Wording::fixed($english, $portuguese)
    };
    (@ ($($part:ident),+), $english:literal, $portuguese:literal) => {
        $crate::wording::Wording::made(format!($english), format!($portuguese))
    };
}

#[cfg(test)]
mod tests {
    use super::*;

    crate::wordings! {
        plain = "two words", "duas palavras";
        filled(count: usize, name: &str) = "{count} of {name}", "{name}: {count}";
    }

    #[test]
    fn a_sentence_is_there_in_both_languages() {
        assert_eq!((plain().english(), plain().portuguese()), ("two words", "duas palavras"));
        let filled = filled(2, "x");
        assert_eq!((filled.english(), filled.portuguese()), ("2 of x", "x: 2"));
        assert_eq!(filled.to_string(), "2 of x");
    }

    #[test]
    fn sentences_can_be_led_in_and_joined() {
        let led_in = plain().map(|text| format!("amount: {text}")).then(&Wording::fixed("!", "?"));
        assert_eq!((led_in.english(), led_in.portuguese()), ("amount: two words!", "amount: duas palavras?"));
    }
}
