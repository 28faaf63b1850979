//! Credentials: a password, and a second factor.

use serde::{Deserialize, Serialize};

use super::SecondFactor;
use crate::time::{DAY_MS, Timestamp};

/// Shortest password (NIST SP 800-63B-4, section 3.1.1.2, for a password that is the only factor).
pub const MIN_PASSWORD_CHARACTERS: usize = 15;
/// Longest password: enough for any sentence, and a bound on the cost of hashing it.
pub const MAX_PASSWORD_CHARACTERS: usize = 256;

/// Number of passwords that can't be used again, the current one included (PCI DSS 4.0.1, 8.3.7).
const REMEMBERED_PASSWORDS: usize = 4;

/// Time without a sign-in after which an account is disabled (PCI DSS 4.0.1, 8.2.6).
pub const INACTIVE_AFTER_MS: u64 = 90 * DAY_MS;

/// Longest time by which the stored last use may lag, so that not every sign-in causes a write.
const USE_NOTED_EVERY_MS: u64 = DAY_MS;

/// Returns true if a text has the length of a password. Says nothing about how easily it is guessed.
pub fn is_password(text: &str) -> bool {
    (MIN_PASSWORD_CHARACTERS..=MAX_PASSWORD_CHARACTERS).contains(&text.chars().count())
}

/// Stored data of a person's password and second factor.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Credentials {
    /// Argon2id hash of the password, in the PHC string format.
    pub password_hash: String,
    /// Hashes of earlier passwords that can't be used again, the latest first.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub former_hashes: Vec<String>,
    /// Number of passwords so far: sessions that began with an earlier one are over.
    pub password_version: u32,
    /// True if someone else chose the password, so that its owner must change it first.
    #[serde(default)]
    pub must_change_password: bool,
    /// Time by which a generated password must be changed, even though only its owner has seen it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub made_password_until: Option<Timestamp>,
    /// The second factor, if the person set it up.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub second_factor: Option<SecondFactor>,
    /// Wrong codes in a row.
    #[serde(default)]
    pub wrong_codes: WrongCodes,
    /// Time of the last sign-in, to the day; that of the creation or of a new password until then. Earlier versions did
    /// not store it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub active_at: Option<Timestamp>,
    /// Time at which the account was disabled because nobody used it. Only a new password enables it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub disabled_at: Option<Timestamp>,
}

impl Credentials {
    /// Creates credentials with only a new password.
    pub fn new(password_hash: String, password_version: u32, must_change_password: bool) -> Self {
        Self {
            password_hash,
            former_hashes: Vec::new(),
            password_version,
            must_change_password,
            made_password_until: None,
            second_factor: None,
            wrong_codes: WrongCodes::default(),
            active_at: None,
            disabled_at: None,
        }
    }

    /// Returns true if a sign-in now must be stored.
    pub fn is_use_to_note(&self, now: Timestamp) -> bool {
        self.active_at.is_none_or(|at| now.ms_since(at) >= USE_NOTED_EVERY_MS)
    }

    /// Returns true if the account has been unused for so long that it must be disabled.
    pub fn is_inactive(&self, now: Timestamp) -> bool {
        self.disabled_at.is_none() && self.active_at.is_some_and(|at| now.ms_since(at) >= INACTIVE_AFTER_MS)
    }

    /// Enables the account, and restarts the time without a sign-in.
    pub fn enable(&mut self, now: Timestamp) {
        (self.active_at, self.disabled_at) = (Some(now), None);
    }

    /// Returns the hashes of the current password and of earlier ones that can't be used again.
    pub fn remembered_hashes(&self) -> impl Iterator<Item = &String> {
        std::iter::once(&self.password_hash).chain(&self.former_hashes)
    }

    /// Replaces the password, and remembers the one before.
    pub fn replace_password(&mut self, hash: String, version: u32) {
        self.former_hashes.insert(0, std::mem::replace(&mut self.password_hash, hash));
        self.former_hashes.truncate(REMEMBERED_PASSWORDS.saturating_sub(1));
        self.password_version = version;
        self.must_change_password = false;
        self.made_password_until = None;
    }

    /// Returns true if the password must be changed before anything else: generated ones are not kept (OWASP ASVS 5.0,
    /// 6.4.1).
    pub fn is_password_due(&self, now: Timestamp) -> bool {
        self.must_change_password || self.made_password_until.is_some_and(|until| until <= now)
    }
}

/// Wrong codes of the second factor in a row. Stored with the person, so that the bound covers all nodes.
///
/// A code has six digits, and three steps are valid at once. After five wrong codes the wait doubles with each further
/// attempt, up to an hour. So an attacker with the password has a chance of 2.6 % to guess right within a year.
/// Meanwhile the person can use a recovery code, which can't be guessed and never waits.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct WrongCodes {
    /// Their number.
    pub count: u32,
    /// Time of the last one.
    pub last_at: Timestamp,
}

impl WrongCodes {
    /// Number of wrong codes without a wait. They only end a sign-in that had just begun.
    pub const FREE: u32 = 5;
    const FIRST_WAIT_MS: u64 = 30_000;
    const LONGEST_WAIT_MS: u64 = 3_600_000;

    /// Returns the time from which the next code is checked.
    pub fn next_at(&self) -> Timestamp {
        let Some(beyond) = self.count.checked_sub(Self::FREE) else { return Timestamp::default() };
        let factor = 1_u64.checked_shl(beyond.min(32)).unwrap_or(u64::MAX);
        self.last_at.plus_ms(Self::FIRST_WAIT_MS.saturating_mul(factor).min(Self::LONGEST_WAIT_MS))
    }

    /// Counts one more.
    #[must_use]
    pub fn one_more(&self, now: Timestamp) -> Self {
        Self { count: self.count.saturating_add(1), last_at: now }
    }

    /// Returns true if the last wrong code ends the sign-in in which it was entered.
    pub const fn ends_sign_in(&self) -> bool {
        self.count >= Self::FREE
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_password_has_a_length() {
        assert!(!is_password(&"é".repeat(14)) && is_password(&"é".repeat(15)));
        assert!(is_password(&"x".repeat(256)) && !is_password(&"x".repeat(257)));
    }

    #[test]
    fn a_password_that_was_made_here_does_not_last() {
        let now = Timestamp::from_millis(1_000);
        let hash = String::from("hash");
        assert!(Credentials::new(hash.clone(), 1, true).is_password_due(now));
        let own = Credentials::new(hash, 1, false);
        assert!(!own.is_password_due(now), "chosen by who has it");
        let made = Credentials { made_password_until: Some(now), ..own };
        assert!(!made.is_password_due(now.minus_ms(1)) && made.is_password_due(now));
    }

    #[test]
    fn an_account_is_inactive_after_ninety_days_without_a_sign_in_and_until_a_new_password() {
        let now = Timestamp::from_millis(200 * 86_400_000);
        let mut credentials = Credentials::new("hash".into(), 1, false);
        assert!(!credentials.is_inactive(now) && credentials.is_use_to_note(now), "nothing is known of it");
        credentials.enable(now.minus_ms(INACTIVE_AFTER_MS));
        assert!(credentials.is_inactive(now) && !credentials.is_inactive(now.minus_ms(1)));
        credentials.disabled_at = Some(now);
        assert!(!credentials.is_inactive(now), "once");
        credentials.enable(now);
        assert_eq!((credentials.disabled_at, credentials.is_inactive(now)), (None, false));
        assert!(!credentials.is_use_to_note(now) && credentials.is_use_to_note(now.plus_ms(86_400_000)));
    }

    #[test]
    fn the_last_four_passwords_are_remembered() {
        let mut credentials = Credentials::new("0".into(), 1, true);
        for number in 1..6_u32 {
            credentials.replace_password(number.to_string(), number + 1);
        }
        assert_eq!(credentials.remembered_hashes().collect::<Vec<_>>(), ["5", "4", "3", "2"]);
        assert_eq!((credentials.password_version, credentials.must_change_password), (6, false));
    }

    #[test]
    fn wrong_codes_wait_twice_as_long_each_time_and_never_more_than_an_hour() {
        let now = Timestamp::from_millis(1_000_000);
        let after = |count| WrongCodes { count, last_at: now }.next_at();
        assert!((0..5).all(|count| after(count) == Timestamp::default()));
        assert_eq!([5, 6, 7].map(|count| after(count).ms_since(now)), [30_000, 60_000, 120_000]);
        assert_eq!(
            [11, 12, 64, u32::MAX].map(|count| after(count).ms_since(now)),
            [1_920_000, 3_600_000, 3_600_000, 3_600_000]
        );
        let four = WrongCodes { count: 4, last_at: now };
        assert!(!four.ends_sign_in() && four.one_more(now).ends_sign_in());
    }
}
