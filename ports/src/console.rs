//! What the consoles need stored, beyond payments: people, the audit log, keys as they are managed, figures.

use async_trait::async_trait;
use quita_domain::access::{ApiKey, Application};
use quita_domain::audit::chain::{ChainHead, ChainKey, ChainPlace, ChainedEntry, NewAuditEntry};
use quita_domain::audit::{AuditCursor, AuditErasure, AuditScope};
use quita_domain::figures::{Figure, FiguresFilter};
use quita_domain::identity::MerchantId;
use quita_domain::people::{Login, MerchantPolicy, MerchantProfile, Operator, Session, User};
use quita_domain::time::Timestamp;

use crate::erasure::ErasureStore;
use crate::history::HistoryStore;
use crate::reconciliation::ReconciliationStore;
use crate::secret_keys::SecretKeyStore;
use crate::store::{AccessStore, Store, StoreError};

/// Users, operators and sessions.
#[async_trait]
pub trait PeopleStore: Send + Sync + 'static {
    /// Stores a new user; `false` if the login is taken, whosever it is.
    async fn insert_user(&self, user: &User) -> Result<bool, StoreError>;

    /// The user with this login.
    async fn user(&self, login: &Login) -> Result<Option<User>, StoreError>;

    /// A merchant's users, by login.
    async fn users(&self, merchant: &MerchantId) -> Result<Vec<User>, StoreError>;

    /// Whether any merchant has a user.
    async fn has_users(&self) -> Result<bool, StoreError>;

    /// Replaces a user, whose login and merchant stay, if it is still as `before`; `false` if somebody was faster.
    async fn replace_user(&self, before: &User, after: &User) -> Result<bool, StoreError>;

    /// Removes this user of this merchant; `false` if there is none.
    async fn remove_user(&self, user: &User) -> Result<bool, StoreError>;

    /// Users of all merchants, by login, after this one, at most `limit`.
    async fn users_after(&self, after: Option<&Login>, limit: usize) -> Result<Vec<User>, StoreError>;

    /// What the owners of a merchant ask of its people; nothing, if they never said.
    async fn policy(&self, merchant: &MerchantId) -> Result<MerchantPolicy, StoreError>;

    /// Replaces that.
    async fn put_policy(&self, merchant: &MerchantId, policy: &MerchantPolicy) -> Result<(), StoreError>;

    /// Returns what a merchant's payers read of it; an empty profile, if its owners never said.
    async fn profile(&self, merchant: &MerchantId) -> Result<MerchantProfile, StoreError>;

    /// Replaces a merchant's profile.
    async fn put_profile(&self, merchant: &MerchantId, profile: &MerchantProfile) -> Result<(), StoreError>;

    /// Stores a new operator; `false` if another operator has the login.
    async fn insert_operator(&self, operator: &Operator) -> Result<bool, StoreError>;

    /// The operator with this login.
    async fn operator(&self, login: &Login) -> Result<Option<Operator>, StoreError>;

    /// Every operator, by login. There are few.
    async fn operators(&self) -> Result<Vec<Operator>, StoreError>;

    /// Replaces an operator, whose login stays, if it is still as `before`; `false` if somebody was faster.
    async fn replace_operator(&self, before: &Operator, after: &Operator) -> Result<bool, StoreError>;

    /// Removes this operator, if it is still so; `false` if not.
    async fn remove_operator(&self, operator: &Operator) -> Result<bool, StoreError>;

    /// Stores a session. Those that had ended when it began may be forgotten.
    async fn insert_session(&self, session: &Session) -> Result<(), StoreError>;

    /// The session with this id.
    async fn session(&self, id: &str) -> Result<Option<Session>, StoreError>;

    /// The sessions of one person that are not forgotten yet, in any order: [`SessionOf::person`].
    ///
    /// [`SessionOf::person`]: quita_domain::people::SessionOf::person
    async fn sessions_of(&self, person: &str) -> Result<Vec<Session>, StoreError>;

    /// Replaces a session, whose id, owner and end stay, if it is still as `before`; `false` if it is not, or is gone.
    async fn replace_session(&self, before: &Session, after: &Session) -> Result<bool, StoreError>;

    /// Forgets a session, if there is one with this id.
    async fn remove_session(&self, id: &str) -> Result<(), StoreError>;
}

/// An entry of the log, or why what stands at this place can't be read.
pub type AuditRead = (u64, Result<ChainedEntry, StoreError>);

/// What people did: a chain, to which entries are added, and of which only the parts that tell of people are ever taken.
#[async_trait]
pub trait AuditStore: Send + Sync + 'static {
    /// Stores the head of an empty log, unless there is a head already.
    async fn begin_audit(&self, head: &ChainHead) -> Result<(), StoreError>;

    /// Appends one entry behind the last one, with the new head, in one durable step. Appended again with the same id, it
    /// stays where it is. Of many at once, on whichever node, each follows on another. Returns the entry's place.
    async fn append_audit(&self, new: &NewAuditEntry, key: &ChainKey) -> Result<ChainPlace, StoreError>;

    /// The head of the log; none if no log was begun, or if it is gone.
    async fn audit_head(&self) -> Result<Option<ChainHead>, StoreError>;

    /// Entries in the order of their places, behind this place, at most `limit`.
    async fn chained_audit(&self, after: u64, limit: usize) -> Result<Vec<AuditRead>, StoreError>;

    /// Entries, newest first by time and id, after the cursor, at most `limit`.
    async fn audit(
        &self,
        scope: &AuditScope,
        after: Option<AuditCursor>,
        limit: usize,
    ) -> Result<Vec<ChainedEntry>, StoreError>;

    /// Erases parts with their salts, at most `limit` of each kind, and returns how many: fewer than `limit` once nothing of
    /// it is left. Unless it finds none, one durable step erases them and appends `account`, whose subject becomes the
    /// [parts](quita_domain::audit::chain::ErasedParts). Done again with another `account` it goes on; with the same one it
    /// returns what was erased.
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
    /// A merchant's applications, by name.
    async fn applications(&self, merchant: &MerchantId) -> Result<Vec<Application>, StoreError>;

    /// A merchant's keys, oldest first.
    async fn keys_of(&self, merchant: &MerchantId) -> Result<Vec<ApiKey>, StoreError>;

    /// Lets a key end at this time, unless it ends before; `false` if there is none with this id.
    async fn limit_key(&self, id: &str, until: Timestamp) -> Result<bool, StoreError>;

    /// Notes when keys were last used; what is stored never goes back. Unknown ids are left out.
    async fn note_key_uses(&self, uses: &[(String, Timestamp)]) -> Result<(), StoreError>;
}

/// Figures of many payments.
#[async_trait]
pub trait FiguresStore: Send + Sync + 'static {
    /// Counts and sums, one for each kind that occurs, in any order. Looks at every payment of the time.
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
{
}
