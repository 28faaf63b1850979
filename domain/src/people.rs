//! People who look: users of a merchant, their roles, and the sessions of everybody who signed in.

use std::fmt;

use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};

use crate::identity::MerchantId;
use crate::text::hex;
use crate::time::Timestamp;

/// How long a session lasts, whatever is done in it.
pub const SESSION_MS: u64 = 12 * 3_600_000;

/// Bytes of randomness in a session's token.
pub const SESSION_TOKEN_BYTES: usize = 32;

/// The most characters of an e-mail address (RFC 5321, section 4.5.3.1.3).
const MAX_EMAIL_CHARACTERS: usize = 254;

/// The fewest characters of a password (NIST SP 800-63B-4, section 3.1.1.2, for a password that is the only factor).
pub const MIN_PASSWORD_CHARACTERS: usize = 15;
/// The most characters of a password: enough for any sentence, and a bound on the work of hashing it.
pub const MAX_PASSWORD_CHARACTERS: usize = 256;

/// Whether a text may be a password. Which characters it has is its owner's choice.
pub fn is_password(text: &str) -> bool {
    (MIN_PASSWORD_CHARACTERS..=MAX_PASSWORD_CHARACTERS).contains(&text.chars().count())
}

/// The e-mail address that a user signs in with: in lower case, unique in the whole store.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Login(String);

impl Login {
    /// Reads an address: one `@` with something on both sides, of visible ASCII: no two look the same.
    pub fn parse(text: &str) -> Option<Self> {
        let text = text.trim().to_lowercase();
        let (name, host) = text.split_once('@')?;
        let is_visible = text.chars().all(|character| character.is_ascii_graphic());
        let is_sane = !name.is_empty() && !host.is_empty() && !host.contains('@') && is_visible;
        (is_sane && text.chars().count() <= MAX_EMAIL_CHARACTERS).then_some(Self(text))
    }

    /// The address itself.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl fmt::Display for Login {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

/// What a user of a merchant may do.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Role {
    /// Everything, people and audit log included.
    Owner,
    /// Applications, keys and secrets, payments and deliveries.
    Developer,
    /// Looks, at payers masked, and changes nothing but the own password.
    Viewer,
}

impl Role {
    /// Every role.
    pub const ALL: [Self; 3] = [Self::Owner, Self::Developer, Self::Viewer];

    /// As the command line and the store spell it.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Owner => "owner",
            Self::Developer => "developer",
            Self::Viewer => "viewer",
        }
    }

    /// Reads that spelling.
    pub fn parse(text: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|role| role.as_str() == text)
    }

    /// Whether this role permits something.
    ///
    /// A developer can make a key that refunds, so the buttons that do the same are no secret to that role.
    pub const fn permits(self, permission: Permission) -> bool {
        match (self, permission) {
            (Self::Owner, _) | (_, Permission::Look | Permission::UnmaskPayer) => true,
            (
                Self::Developer,
                Permission::SeePayers | Permission::ChangePayments | Permission::ManageApplications,
            ) => true,
            (Self::Developer, Permission::ManagePeople)
            | (
                Self::Viewer,
                Permission::SeePayers
                | Permission::ChangePayments
                | Permission::ManageApplications
                | Permission::ManagePeople,
            ) => false,
        }
    }
}

/// What somebody in the merchant's console may be permitted.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Permission {
    /// See payments, deliveries, applications and keys without their secrets.
    Look,
    /// Have one payer shown in full, which is noted.
    UnmaskPayer,
    /// See payers in full, and export payments.
    SeePayers,
    /// Cancel, capture, refund, redeliver.
    ChangePayments,
    /// Applications, keys, webhook secrets, test events.
    ManageApplications,
    /// Users, and the audit log.
    ManagePeople,
}

/// Somebody of a merchant who may sign in.
#[derive(Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct User {
    /// With what the user signs in.
    pub login: Login,
    /// Whose user it is.
    pub merchant: MerchantId,
    /// What the user may do.
    pub role: Role,
    /// The Argon2id hash of the password, in the PHC string format.
    pub password_hash: String,
    /// One more for every new password: sessions that began under another one are over.
    pub password_version: u32,
    /// When the user was made.
    pub created_at: Timestamp,
}

impl fmt::Debug for User {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("User").field("login", &self.login).field("role", &self.role).finish_non_exhaustive()
    }
}

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
    /// The operator, under this credential.
    Operator {
        /// A hash of the credential: another credential ends the session.
        credential: String,
    },
}

/// A session as it is stored: never the token, only its SHA-256.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Session {
    /// SHA-256 of the token, in hexadecimal.
    pub id: String,
    /// Whose it is.
    pub of: SessionOf,
    /// When it began.
    pub created_at: Timestamp,
    /// When it ends by itself.
    pub expires_at: Timestamp,
}

impl Session {
    /// What a session is stored under, from the token that its cookie carries.
    pub fn id_of(token: &str) -> String {
        hex(&Sha256::digest(token.as_bytes()))
    }

    /// A session that begins now.
    pub fn begin(token: &str, of: SessionOf, now: Timestamp) -> Self {
        Self { id: Self::id_of(token), of, created_at: now, expires_at: now.plus_ms(SESSION_MS) }
    }

    /// Whether it is still going on.
    pub fn is_live(&self, now: Timestamp) -> bool {
        now < self.expires_at
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_address_is_read_in_lower_case_and_nonsense_is_not() {
        assert_eq!(Login::parse(" Ana@Loja.COM.br ").unwrap().as_str(), "ana@loja.com.br");
        for text in ["", "ana", "@loja.com", "ana@", "a@b@c", "a b@c.d", "a@b\u{0}c", &"a".repeat(260)] {
            assert_eq!(Login::parse(text), None, "{text:?}");
        }
    }

    #[test]
    fn each_role_may_do_what_it_is_for() {
        use Permission::{ChangePayments, Look, ManageApplications, ManagePeople, SeePayers, UnmaskPayer};
        let permitted = |role: Role| {
            [Look, UnmaskPayer, SeePayers, ChangePayments, ManageApplications, ManagePeople]
                .map(|wanted| role.permits(wanted))
        };
        assert_eq!(permitted(Role::Owner), [true; 6]);
        assert_eq!(permitted(Role::Developer), [true, true, true, true, true, false]);
        assert_eq!(permitted(Role::Viewer), [true, true, false, false, false, false]);
        assert_eq!(Role::ALL.map(|role| Role::parse(role.as_str())), Role::ALL.map(Some));
    }

    #[test]
    fn a_password_is_judged_by_its_length_alone() {
        assert!(!is_password(&"é".repeat(14)) && is_password(&"é".repeat(15)));
        assert!(is_password(&"x".repeat(256)) && !is_password(&"x".repeat(257)));
    }

    #[test]
    fn a_session_ends_by_itself_and_its_token_is_not_stored() {
        let now = Timestamp::from_millis(5);
        let of = SessionOf::Operator { credential: String::from("c") };
        let session = Session::begin("token", of, now);
        assert!(session.is_live(now) && session.is_live(now.plus_ms(SESSION_MS - 1)));
        assert!(!session.is_live(now.plus_ms(SESSION_MS)));
        assert!(!format!("{session:?}").contains("token"));
        assert_eq!(session.id, Session::id_of("token"));
    }
}
