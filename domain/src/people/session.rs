//! Sessions of everybody who signed in.

use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};

use super::Login;
use crate::money::Money;
use crate::text::hex;
use crate::time::Timestamp;

/// How long a session lasts, whatever is done in it.
pub const SESSION_MS: u64 = 12 * 3_600_000;
/// How long there is for the second factor after the password.
pub const HALF_SESSION_MS: u64 = 10 * 60_000;
/// Bytes of randomness in a session's token.
pub const SESSION_TOKEN_BYTES: usize = 32;

/// Characters of a session's public id.
const PUBLIC_ID_CHARACTERS: usize = 32;
/// Characters that are kept of what a browser says of itself.
const BROWSER_CHARACTERS: usize = 200;

/// Whose session it is.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub enum SessionOf {
    /// A user of a merchant, under this version of the password.
    User {
        /// With what the user signed in.
        login: Login,
        /// The user's `password_version` then.
        password_version: u32,
    },
    /// An operator, under this version of the password.
    Operator {
        /// With what the operator signed in.
        login: Login,
        /// The operator's `password_version` then.
        password_version: u32,
    },
}

impl SessionOf {
    /// With what they signed in.
    pub const fn login(&self) -> &Login {
        match self {
            Self::User { login, .. } | Self::Operator { login, .. } => login,
        }
    }

    /// The same for all sessions of one person, and for no other's: what they are listed by.
    pub fn person(&self) -> String {
        match self {
            Self::User { login, .. } => format!("user {login}"),
            Self::Operator { login, .. } => format!("operator {login}"),
        }
    }
}

/// How far somebody has signed in.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum SessionStage {
    /// The password was right, the second factor is still to be given: nothing else may be done.
    Half,
    /// Everything was given that is asked for.
    Whole,
}

/// Where a session began, as far as we are told.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Origin {
    /// The address of the client.
    pub address: String,
    /// What the browser says of itself, cut to a length; without anything that is not printable.
    pub browser: String,
}

impl Origin {
    /// From this address, with this browser.
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
    /// Whose it is.
    pub of: SessionOf,
    /// How far it has come.
    pub stage: SessionStage,
    /// Where it began.
    pub origin: Origin,
    /// When it began.
    pub created_at: Timestamp,
    /// When it ends by itself, whatever is done.
    pub expires_at: Timestamp,
    /// When somebody last did something in it, to within a minute.
    pub last_seen_at: Timestamp,
    /// When who it is was last proven in it.
    pub confirmed_at: Timestamp,
    /// Refunds that were asked for in it since then, where their sum is limited.
    #[serde(default, skip_serializing_if = "Money::is_zero")]
    pub refunded: Money,
}

impl Session {
    /// What a session is stored under, from the token that its cookie carries.
    pub fn id_of(token: &str) -> String {
        hex(&Sha256::digest(token.as_bytes()))
    }

    /// A session that begins now.
    pub fn begin(token: &str, of: SessionOf, stage: SessionStage, origin: Origin, now: Timestamp) -> Self {
        let lasts_ms = match stage {
            SessionStage::Half => HALF_SESSION_MS,
            SessionStage::Whole => SESSION_MS,
        };
        let (id, expires_at) = (Self::id_of(token), now.plus_ms(lasts_ms));
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

    /// Whether it is still going on, if it ends after so long without anything being done.
    pub fn is_live(&self, now: Timestamp, idle_ms: u64) -> bool {
        now < self.expires_at && now < self.last_seen_at.plus_ms(idle_ms)
    }

    /// Names it to the person whose it is. Neither the token nor what it is stored under follows from it.
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
        Session::begin("token", of, stage, Origin::default(), now)
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
        let origin = Origin::new("10.0.0.1", &format!("a\u{0}\nb\u{202e}{}", "x".repeat(300)));
        assert_eq!((origin.browser.len(), origin.browser.starts_with("abx")), (BROWSER_CHARACTERS, true));
    }
}
