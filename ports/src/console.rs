//! Storage for the consoles besides payments: people, the audit log, management of keys, figures.

use async_trait::async_trait;
use quita_domain::access::{ApiKey, Application};
use quita_domain::audit::chain::{ChainHead, ChainKey, ChainPlace, ChainedEntry, NewAuditEntry};
use quita_domain::audit::{AuditCursor, AuditErasure, AuditScope};
use quita_domain::figures::{Figure, FiguresFilter};
use quita_domain::identity::MerchantId;
use quita_domain::people::{Login, MerchantPolicy, MerchantProfile, Operator, Session, User};
use quita_domain::time::Timestamp;

use crate::archive::ArchiveStore;
use crate::erasure::ErasureStore;
use crate::history::HistoryStore;
use crate::links::LinkStore;
use crate::reconciliation::ReconciliationStore;
use crate::secret_keys::SecretKeyStore;
use crate::store::{AccessStore, Store, StoreError};

/// Users, operators and sessions.
#[async_trait]
pub trait PeopleStore: Send + Sync + 'static {
    /// Stores a new user; `false` if the login is taken, by a user of any merchant.
    async fn insert_user(&self, user: &User) -> Result<bool, StoreError>;

    /// Returns the user with this login.
    async fn user(&self, login: &Login) -> Result<Option<User>, StoreError>;

    /// Returns a merchant's users, by login.
    async fn users(&self, merchant: &MerchantId) -> Result<Vec<User>, StoreError>;

    /// Returns true if any merchant has a user.
    async fn has_users(&self) -> Result<bool, StoreError>;

    /// Replaces a user if it is still equal to `before`; `false` if another writer was faster. Login and merchant never
    /// change.
    async fn replace_user(&self, before: &User, after: &User) -> Result<bool, StoreError>;

    /// Removes this user of this merchant; `false` if there is none.
    async fn remove_user(&self, user: &User) -> Result<bool, StoreError>;

    /// Returns users of all merchants, by login, after this one, at most `limit`.
    async fn users_after(&self, after: Option<&Login>, limit: usize) -> Result<Vec<User>, StoreError>;

    /// Returns the rules that a merchant's owners set for its users; the default, if they set none.
    async fn policy(&self, merchant: &MerchantId) -> Result<MerchantPolicy, StoreError>;

    /// Replaces a merchant's policy.
    async fn put_policy(&self, merchant: &MerchantId, policy: &MerchantPolicy) -> Result<(), StoreError>;

    /// Returns the details that a merchant shows to its payers. If its owners entered none, the profile is empty.
    async fn profile(&self, merchant: &MerchantId) -> Result<MerchantProfile, StoreError>;

    /// Replaces a merchant's profile.
    async fn put_profile(&self, merchant: &MerchantId, profile: &MerchantProfile) -> Result<(), StoreError>;

    /// Stores a new operator; `false` if another operator has the login.
    async fn insert_operator(&self, operator: &Operator) -> Result<bool, StoreError>;

    /// Returns the operator with this login.
    async fn operator(&self, login: &Login) -> Result<Option<Operator>, StoreError>;

    /// Returns all operators, by login. There are few.
    async fn operators(&self) -> Result<Vec<Operator>, StoreError>;

    /// Replaces an operator if it is still equal to `before`; `false` if another writer was faster. The login never
    /// changes.
    async fn replace_operator(&self, before: &Operator, after: &Operator) -> Result<bool, StoreError>;

    /// Removes this operator if the stored one is still equal to it; `false` if not.
    async fn remove_operator(&self, operator: &Operator) -> Result<bool, StoreError>;

    /// Stores a session. Sessions that had ended when it began may be deleted.
    async fn insert_session(&self, session: &Session) -> Result<(), StoreError>;

    /// Returns the session with this id.
    async fn session(&self, id: &str) -> Result<Option<Session>, StoreError>;

    /// Returns the stored sessions of one person, in any order: [`SessionOf::person`].
    ///
    /// [`SessionOf::person`]: quita_domain::people::SessionOf::person
    async fn sessions_of(&self, person: &str) -> Result<Vec<Session>, StoreError>;

    /// Replaces a session if it is still equal to `before`; `false` if it is not, or is gone. Id, owner and end never
    /// change.
    async fn replace_session(&self, before: &Session, after: &Session) -> Result<bool, StoreError>;

    /// Deletes the session with this id, if there is one.
    async fn remove_session(&self, id: &str) -> Result<(), StoreError>;
}

/// Index of an entry of the log, with the entry or the reason why it can't be read.
pub type AuditRead = (u64, Result<ChainedEntry, StoreError>);

/// The audit log: a chain to which entries are appended. Only the parts of entries that identify people can be erased.
#[async_trait]
pub trait AuditStore: Send + Sync + 'static {
    /// Stores the head of an empty log, unless there already is a head.
    async fn begin_audit(&self, head: &ChainHead) -> Result<(), StoreError>;

    /// Appends one entry after the last one, with the new head, in one durable step. Returns the entry's index.
    ///
    /// An entry with the same id that was appended before stays at its index. Entries that are appended at the same
    /// time, on any nodes, follow each other.
    async fn append_audit(&self, new: &NewAuditEntry, key: &ChainKey) -> Result<ChainPlace, StoreError>;

    /// Returns the head of the log; `None` if no log was begun, or if the head is lost.
    async fn audit_head(&self) -> Result<Option<ChainHead>, StoreError>;

    /// Returns entries in the order of their indexes, after this index, at most `limit`.
    async fn chained_audit(&self, after: u64, limit: usize) -> Result<Vec<AuditRead>, StoreError>;

    /// Returns entries, newest first by time and id, after the cursor, at most `limit`.
    async fn audit(
        &self,
        scope: &AuditScope,
        after: Option<AuditCursor>,
        limit: usize,
    ) -> Result<Vec<ChainedEntry>, StoreError>;

    /// Erases parts with their salts, at most `limit` of each kind, and returns the number erased. Fewer than `limit`
    /// means that none are left.
    ///
    /// One durable step erases the parts and appends `account`, whose subject becomes the
    /// [parts](quita_domain::audit::chain::ErasedParts). If no part is found, nothing is appended. A repetition with
    /// another `account` erases further parts; one with the same `account` returns the number erased before.
    async fn erase_audit(
        &self,
        what: &AuditErasure,
        limit: usize,
        account: &NewAuditEntry,
        key: &ChainKey,
    ) -> Result<u64, StoreError>;
}

/// Applications and keys as their merchant manages them.
#[async_trait]
pub trait KeyringStore: AccessStore {
    /// Returns a merchant's applications, by name.
    async fn applications(&self, merchant: &MerchantId) -> Result<Vec<Application>, StoreError>;

    /// Returns a merchant's keys, oldest first.
    async fn keys_of(&self, merchant: &MerchantId) -> Result<Vec<ApiKey>, StoreError>;

    /// Makes a key expire at this time, unless it ends earlier; `false` if there is none with this id.
    async fn limit_key(&self, id: &str, until: Timestamp) -> Result<bool, StoreError>;

    /// Records that a browser sent a secret key; `true` if this is the first time. The first time is kept, and an
    /// unknown id is ignored.
    async fn expose_key(&self, id: &str, at: Timestamp) -> Result<bool, StoreError>;

    /// Records the last use of keys; a stored time never moves back. Unknown ids are ignored.
    async fn note_key_uses(&self, uses: &[(String, Timestamp)]) -> Result<(), StoreError>;
}

/// Figures of many payments.
#[async_trait]
pub trait FiguresStore: Send + Sync + 'static {
    /// Returns counts and sums, one for each kind that occurs, in any order. Reads every payment of the period.
    async fn figures(&self, filter: &FiguresFilter) -> Result<Vec<Figure>, StoreError>;
}

/// A store that serves payments, consoles, reconciliation and replays.
pub trait WholeStore:
    Store
    + PeopleStore
    + AuditStore
    + KeyringStore
    + SecretKeyStore
    + FiguresStore
    + ReconciliationStore
    + HistoryStore
    + ErasureStore
    + LinkStore
    + ArchiveStore
{
}

impl<S> WholeStore for S where
    S: Store
        + PeopleStore
        + AuditStore
        + KeyringStore
        + SecretKeyStore
        + FiguresStore
        + ReconciliationStore
        + HistoryStore
        + ErasureStore
        + LinkStore
        + ArchiveStore
{
}
