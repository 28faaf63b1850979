//! Sessions of people who signed in.

use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};

use super::Login;
use crate::money::Money;
use crate::text::hex;
use crate::time::Timestamp;

/// Duration of a session, whatever its activity.
pub const SESSION_MS: u64 = 12 * 3_600_000;
/// Milliseconds without a request after which a session ends by default.
///
/// Source: PCI DSS 4.0.1, 8.2.8.
pub const DEFAULT_IDLE_MS: u64 = 15 * 60_000;
/// Time for the second factor after the password.
pub const HALF_SESSION_MS: u64 = 10 * 60_000;
/// Bytes of randomness in a session's token.
pub const SESSION_TOKEN_BYTES: usize = 32;

/// Characters of a session's public id.
const PUBLIC_ID_CHARACTERS: usize = 32;
/// Number of characters of a browser's name that are stored.
const BROWSER_CHARACTERS: usize = 200;

/// Owner of a session.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub enum SessionOf {
    /// A user of a merchant, under this version of the password.
    User {
        /// Login of the user.
        login: Login,
        /// The user's `password_version` at the time.
        password_version: u32,
    },
    /// An operator, under this version of the password.
    Operator {
        /// Login of the operator.
        login: Login,
        /// The operator's `password_version` at the time.
        password_version: u32,
    },
}

impl SessionOf {
    /// Returns the login.
    pub const fn login(&self) -> &Login {
        match self {
            Self::User { login, .. } | Self::Operator { login, .. } => login,
        }
    }

    /// Returns a key that all sessions of one person share, and no others. Sessions are listed by it.
    pub fn person(&self) -> String {
        match self {
            Self::User { login, .. } => format!("user {login}"),
            Self::Operator { login, .. } => format!("operator {login}"),
        }
    }
}

/// Progress of a sign-in.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum SessionStage {
    /// The password was right, but the second factor is missing: nothing else may be done.
    Half,
    /// Complete: every required factor was given.
    Whole,
}

/// Origin of a session, as far as it is known.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct SessionOrigin {
    /// Address of the client.
    pub address: String,
    /// Name that the browser sends, truncated and without unprintable characters.
    pub browser: String,
}

impl SessionOrigin {
    /// Creates an origin from an address and a browser's name.
    pub fn new(address: impl ToString, browser: &str) -> Self {
        let printable = browser.chars().filter(|character| matches!(character, ' '..='~'));
        Self { address: address.to_string(), browser: printable.take(BROWSER_CHARACTERS).collect() }
    }
}

/// A session as it is stored: never the token, only its SHA-256.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Session {
    /// SHA-256 of the token, in hexadecimal.
    pub id: String,
    /// Its owner.
    pub of: SessionOf,
    /// Its progress.
    pub stage: SessionStage,
    /// Its origin.
    pub origin: SessionOrigin,
    /// Time at which it began.
    pub created_at: Timestamp,
    /// Time at which it expires, whatever its activity.
    pub expires_at: Timestamp,
    /// Time of the last activity, to within a minute.
    pub last_seen_at: Timestamp,
    /// Time at which the person's identity was last proven in it.
    pub confirmed_at: Timestamp,
    /// Sum of the refunds requested in it since then, if that sum is limited.
    #[serde(default, skip_serializing_if = "Money::is_zero")]
    pub refunded: Money,
}

impl Session {
    /// Returns the id under which a session is stored, from the token in its cookie.
    pub fn id_of(token: &str) -> String {
        hex(&Sha256::digest(token.as_bytes()))
    }

    /// Creates a session that begins now.
    pub fn begin(
        token: &str,
        of: SessionOf,
        stage: SessionStage,
        origin: SessionOrigin,
        now: Timestamp,
    ) -> Self {
        let lasts_ms = match stage {
            SessionStage::Half => HALF_SESSION_MS,
            SessionStage::Whole => SESSION_MS,
        };
        let id = Self::id_of(token);
        let expires_at = now.plus_ms(lasts_ms);
        Self {
            id,
            of,
            stage,
            origin,
            created_at: now,
            expires_at,
            last_seen_at: now,
            confirmed_at: now,
            refunded: Money::ZERO,
        }
    }

    /// Returns true if it is valid, with this limit on inactivity.
    pub fn is_live(&self, now: Timestamp, idle_ms: u64) -> bool {
        now < self.expires_at && now < self.last_seen_at.plus_ms(idle_ms)
    }

    /// Returns an id to be shown to its owner. Neither the token nor the stored id can be derived from it.
    pub fn public_id(&self) -> String {
        let hash = Sha256::new_with_prefix(b"quita session id 1 ").chain_update(self.id.as_bytes());
        hex(&hash.finalize()).chars().take(PUBLIC_ID_CHARACTERS).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const IDLE_MS: u64 = 900_000;

    fn session(stage: SessionStage, now: Timestamp) -> Session {
        let of =
            SessionOf::Operator { login: Login::parse("olga@ops.example").unwrap(), password_version: 1 };
        Session::begin("token", of, stage, SessionOrigin::default(), now)
    }

    #[test]
    fn a_session_ends_by_itself_and_its_token_is_not_stored() {
        let now = Timestamp::from_millis(5);
        let session = session(SessionStage::Whole, now);
        let busy = Session { last_seen_at: now.plus_ms(SESSION_MS), ..session.clone() };
        assert!(busy.is_live(now, IDLE_MS) && busy.is_live(now.plus_ms(SESSION_MS - 1), IDLE_MS));
        assert!(!busy.is_live(now.plus_ms(SESSION_MS), IDLE_MS));
        assert!(!format!("{session:?}").contains("token"));
        assert_eq!(session.id, Session::id_of("token"));
    }

    #[test]
    fn a_session_ends_when_nothing_is_done_in_it() {
        let now = Timestamp::from_millis(5);
        let session = session(SessionStage::Whole, now);
        assert!(session.is_live(now.plus_ms(IDLE_MS - 1), IDLE_MS));
        assert!(!session.is_live(now.plus_ms(IDLE_MS), IDLE_MS));
    }

    #[test]
    fn half_a_session_lasts_minutes() {
        let now = Timestamp::from_millis(5);
        let half = session(SessionStage::Half, now);
        assert!(half.is_live(now.plus_ms(HALF_SESSION_MS - 1), u64::MAX));
        assert!(!half.is_live(now.plus_ms(HALF_SESSION_MS), u64::MAX));
    }

    #[test]
    fn the_public_id_tells_nothing_that_opens_a_session() {
        let session = session(SessionStage::Whole, Timestamp::default());
        let public = session.public_id();
        assert_eq!(public.len(), PUBLIC_ID_CHARACTERS);
        assert!(!session.id.contains(&public) && Session::id_of(&public) != session.id);
    }

    #[test]
    fn sessions_of_a_user_and_of_an_operator_of_one_login_are_apart() {
        let login = Login::parse("ana@loja.example").unwrap();
        let user = SessionOf::User { login: login.clone(), password_version: 1 };
        let operator = SessionOf::Operator { login, password_version: 1 };
        assert_ne!(user.person(), operator.person());
    }

    #[test]
    fn what_a_browser_says_of_itself_is_short_and_printable() {
        let origin = SessionOrigin::new("10.0.0.1", &format!("a\u{0}\nb\u{202e}{}", "x".repeat(300)));
        assert_eq!((origin.browser.len(), origin.browser.starts_with("abx")), (BROWSER_CHARACTERS, true));
    }
}
