//! Secrets that sign an application's webhooks.

use serde::{Deserialize, Serialize};
use thiserror::Error;

use crate::identity::Mode;
use crate::secret_key::StoredSecret;
use crate::time::Timestamp;

/// Time for which an old webhook secret keeps signing after a new one was created.
pub const SECRET_OVERLAP_MS: u64 = 24 * 3_600_000;

/// Maximum number of secrets of one mode that sign at once: each adds a signature to every webhook.
pub const MAX_LIVE_SECRETS: usize = 5;

/// A webhook secret and the end of its use.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct SigningSecret {
    /// `whsec_…`, sealed.
    #[serde(flatten)]
    pub secret: StoredSecret,
    /// End of its use. If absent, it signs for ever.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub expires_at: Option<Timestamp>,
    /// Creator, who was shown it: a user's e-mail address, `command line` or `first start`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub made_by: Option<String>,
}

impl From<StoredSecret> for SigningSecret {
    fn from(secret: StoredSecret) -> Self {
        Self { secret, expires_at: None, made_by: None }
    }
}

impl SigningSecret {
    /// Returns the secret with its creator.
    #[must_use]
    pub fn made_by(self, who: &str) -> Self {
        Self { made_by: Some(who.into()), ..self }
    }

    fn is_live(&self, now: Timestamp) -> bool {
        self.expires_at.is_none_or(|at| at > now)
    }
}

/// Webhook secrets of an application. Each mode has its own: an event of a test payment never verifies as live.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct SigningSecrets {
    test: Vec<SigningSecret>,
    live: Vec<SigningSecret>,
}

/// Error: the maximum number of secrets is already in use.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Error)]
#[error(
    "{MAX_LIVE_SECRETS} secrets sign already, the oldest until {until}; no further one is made before that"
)]
pub struct TooManySecrets {
    /// Time at which the first of them ends.
    pub until: Timestamp,
}

impl SigningSecrets {
    /// Creates the secrets of an application, one for each mode.
    pub fn new(test: impl Into<SigningSecret>, live: impl Into<SigningSecret>) -> Self {
        Self { test: vec![test.into()], live: vec![live.into()] }
    }

    /// Returns the secrets of this mode that sign at this time, newest first.
    pub fn live(&self, mode: Mode, now: Timestamp) -> impl Iterator<Item = &SigningSecret> {
        let all = match mode {
            Mode::Test => &self.test,
            Mode::Live => &self.live,
        };
        all.iter().filter(move |secret| secret.is_live(now))
    }

    /// Makes `fresh` the newest secret of a mode. The previous one signs for another day, and older ones until their
    /// own end.
    ///
    /// # Errors
    /// [`TooManySecrets`]; nothing is changed then.
    pub fn rotate(
        &mut self,
        mode: Mode,
        fresh: impl Into<SigningSecret>,
        now: Timestamp,
    ) -> Result<(), TooManySecrets> {
        let all = match mode {
            Mode::Test => &mut self.test,
            Mode::Live => &mut self.live,
        };
        let live = || all.iter().filter(|secret| secret.is_live(now));
        if live().count() >= MAX_LIVE_SECRETS {
            let until = live().filter_map(|secret| secret.expires_at).min().unwrap_or(now);
            return Err(TooManySecrets { until });
        }
        all.retain(|secret| secret.is_live(now));
        for old in all.iter_mut() {
            // A secret that is ending keeps its time: another rotation must not prolong it.
            old.expires_at = old.expires_at.or(Some(now.plus_ms(SECRET_OVERLAP_MS)));
        }
        all.insert(0, fresh.into());
        Ok(())
    }

    /// Returns every secret with its mode, including those that no longer sign.
    pub fn each(&self) -> impl Iterator<Item = (Mode, &SigningSecret)> {
        let test = self.test.iter().map(|secret| (Mode::Test, secret));
        test.chain(self.live.iter().map(|secret| (Mode::Live, secret)))
    }

    /// Returns every secret with its mode, to be stored in another form.
    pub fn each_mut(&mut self) -> impl Iterator<Item = (Mode, &mut SigningSecret)> {
        let test = self.test.iter_mut().map(|secret| (Mode::Test, secret));
        test.chain(self.live.iter_mut().map(|secret| (Mode::Live, secret)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::secret_key::{SealedSecret, SecretKeyId};

    const HOUR_MS: i64 = 3_600_000;

    fn clear(text: &str) -> StoredSecret {
        StoredSecret::clear(text)
    }

    fn text(secret: &StoredSecret) -> &str {
        match secret {
            StoredSecret::Clear(text) => text.expose(),
            StoredSecret::Sealed(sealed) => &sealed.text,
        }
    }

    const fn at(hour: i64) -> Timestamp {
        Timestamp::from_millis(hour * HOUR_MS)
    }

    fn live(secrets: &SigningSecrets, mode: Mode, hour: i64) -> Vec<&str> {
        secrets.live(mode, at(hour)).map(|secret| text(&secret.secret)).collect()
    }

    #[test]
    fn every_secret_signs_for_a_day_after_it_was_replaced() {
        let mut secrets = SigningSecrets::new(clear("a"), clear("z"));
        for (hour, fresh) in [(0, "b"), (1, "c"), (1, "d")] {
            secrets.rotate(Mode::Test, clear(fresh), at(hour)).unwrap();
        }
        assert_eq!(live(&secrets, Mode::Test, 1), ["d", "c", "b", "a"]);
        assert_eq!(live(&secrets, Mode::Test, 24), ["d", "c", "b"]);
        assert_eq!(live(&secrets, Mode::Test, 25), ["d"]);
        assert_eq!(live(&secrets, Mode::Test, 10_000), ["d"]);
    }

    #[test]
    fn a_mode_has_nothing_of_the_other() {
        let mut secrets = SigningSecrets::new(clear("a"), clear("z"));
        secrets.rotate(Mode::Live, clear("y"), at(0)).unwrap();
        assert_eq!(live(&secrets, Mode::Test, 0), ["a"]);
        assert_eq!(live(&secrets, Mode::Live, 0), ["y", "z"]);
    }

    #[test]
    fn a_sixth_secret_is_refused_until_the_oldest_has_ended() {
        let mut secrets = SigningSecrets::new(clear("a"), clear("z"));
        for (hour, fresh) in [(0, "b"), (2, "c"), (4, "d"), (6, "e")] {
            secrets.rotate(Mode::Test, clear(fresh), at(hour)).unwrap();
        }
        let before = secrets.clone();
        for hour in [6, 23] {
            let refused = secrets.rotate(Mode::Test, clear("f"), at(hour));
            assert_eq!(refused, Err(TooManySecrets { until: at(24) }));
        }
        assert_eq!(secrets, before);
        secrets.rotate(Mode::Live, clear("y"), at(6)).expect("of the other mode");
        secrets.rotate(Mode::Test, clear("f"), at(24)).unwrap();
        assert_eq!(live(&secrets, Mode::Test, 24), ["f", "e", "d", "c", "b"]);
    }

    #[test]
    fn a_secret_is_not_printed() {
        let secrets = SigningSecrets::new(clear("whsec_a"), clear("whsec_z"));
        assert!(!format!("{secrets:?}").contains("whsec"), "{secrets:?}");
    }

    #[test]
    fn what_was_stored_in_clear_is_read_and_what_is_sealed_is_stored_apart() {
        let old = r#"{"test":[{"secret":"whsec_a"}],"live":[{"secret":"whsec_z","expiresAt":7}]}"#;
        let mut secrets: SigningSecrets = serde_json::from_str(old).unwrap();
        assert_eq!(serde_json::to_string(&secrets).unwrap(), old);
        for (_, secret) in secrets.each_mut() {
            let sealed = SealedSecret { key: SecretKeyId::of(b"key"), text: "AAAA".into() };
            secret.secret = StoredSecret::Sealed(sealed);
        }
        let stored = serde_json::to_string(&secrets).unwrap();
        assert!(!stored.contains("whsec") && stored.contains(r#"{"sealed":{"key":""#), "{stored}");
        assert_eq!(serde_json::from_str::<SigningSecrets>(&stored).unwrap(), secrets);
        assert!(secrets.each().map(|(mode, _)| mode).eq([Mode::Test, Mode::Live]));
    }
}
