//! Strength of passwords.

use quita_domain::people::is_password;
use quita_domain::secret::Secret;
use zxcvbn::Score;
use zxcvbn::feedback::Warning;

use super::PeopleError;

/// Maximum number of characters that are examined. The work grows with their number, and the rest can't make a password
/// weaker.
const LOOKED_AT: usize = 100;

/// Reason why a password is easily guessed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Weakness {
    /// Keys in a row on a keyboard.
    Keyboard,
    /// Repetition of a few characters.
    Repeats,
    /// Common password, or one like it.
    Common,
    /// Sequence of numbers or of the alphabet.
    Sequence,
    /// Date or year.
    Date,
    /// Single word, name, or known fact about its owner.
    Word,
    /// Combination of things like these.
    Guessable,
}

impl From<Option<Warning>> for Weakness {
    fn from(warning: Option<Warning>) -> Self {
        let Some(warning) = warning else { return Self::Guessable };
        match warning {
            Warning::StraightRowsOfKeysAreEasyToGuess | Warning::ShortKeyboardPatternsAreEasyToGuess => {
                Self::Keyboard
            }
            Warning::RepeatsLikeAaaAreEasyToGuess
            | Warning::RepeatsLikeAbcAbcAreOnlySlightlyHarderToGuess => Self::Repeats,
            Warning::ThisIsATop10Password
            | Warning::ThisIsATop100Password
            | Warning::ThisIsACommonPassword
            | Warning::ThisIsSimilarToACommonlyUsedPassword => Self::Common,
            Warning::SequencesLikeAbcAreEasyToGuess => Self::Sequence,
            Warning::RecentYearsAreEasyToGuess | Warning::DatesAreOftenEasyToGuess => Self::Date,
            Warning::AWordByItselfIsEasyToGuess
            | Warning::NamesAndSurnamesByThemselvesAreEasyToGuess
            | Warning::CommonNamesAndSurnamesAreEasyToGuess => Self::Word,
        }
    }
}

/// Refuses a text that is not a valid password, or that can be guessed within ten billion tries.
///
/// # Errors
/// [`PeopleError::NotAPassword`], [`PeopleError::Weak`].
pub(super) async fn must_be_strong(password: &Secret<String>, known: Vec<String>) -> Result<(), PeopleError> {
    if !is_password(password.expose()) {
        return Err(PeopleError::NotAPassword);
    }
    let password = password.clone();
    // It takes milliseconds, so it runs off the serving threads.
    let judged = tokio::task::spawn_blocking(move || judge(password.expose(), &known));
    // A failed check does not refuse a password that is long enough.
    judged.await.unwrap_or(Ok(())).map_err(PeopleError::Weak)
}

/// Judges a password with zxcvbn, with these words known about its owner.
fn judge(password: &str, known: &[String]) -> Result<(), Weakness> {
    let looked_at: String = password.chars().take(LOOKED_AT).collect();
    let known: Vec<&str> = known.iter().map(String::as_str).collect();
    let found = zxcvbn::zxcvbn(&looked_at, &known);
    if found.score() >= Score::Three {
        return Ok(());
    }
    Err(found.feedback().and_then(zxcvbn::feedback::Feedback::warning).into())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_common_repetitive_or_known_of_the_owner_is_refused_with_the_reason() {
        let known = [String::from("ana@loja-da-esquina.example"), String::from("loja-da-esquina")];
        for (password, weakness) in [
            ("aaaaaaaaaaaaaaaaaaaa", Weakness::Repeats),
            ("abcabcabcabcabcabcabc", Weakness::Repeats),
            ("password1password1", Weakness::Repeats),
            ("abcdefghijklmnopqrstuvw", Weakness::Sequence),
            ("qwertyuiopasdfghjkl", Weakness::Common),
        ] {
            assert_eq!(judge(password, &known), Err(weakness), "{password}");
        }
        for password in ["ana@loja-da-esquina.example", "loja-da-esquina1", "password12345678"] {
            assert!(judge(password, &known).is_err(), "{password}");
        }
    }

    #[test]
    fn sentences_and_random_passwords_are_taken() {
        for password in
            ["um céu de cada vez, devagar", "correct horse battery staple", "Ux0qYwHk3vT9aZbLr2Qd"]
        {
            assert_eq!(judge(password, &[]), Ok(()), "{password}");
        }
    }

    #[test]
    fn a_password_of_any_length_is_judged_in_a_moment() {
        let long = "ab1!".repeat(64);
        let begun = std::time::Instant::now();
        assert!(judge(&long, &[]).is_err());
        assert!(begun.elapsed() < std::time::Duration::from_secs(2), "{:?}", begun.elapsed());
    }
}
