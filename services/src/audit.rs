//! Writer of the audit log: one entry for every change that a person made, each linked to the previous one.

mod addresses;
mod watch;

use std::sync::Arc;
use std::time::Duration;

use crate::secret_keys::{SecretKeyError, Strongbox};
use async_trait::async_trait;
use quita_domain::audit::chain::{AuditKey, ChainHead, ChainKey, ChainPlace, NewAuditEntry, Salts};
use quita_domain::audit::{AuditAction, AuditEntry, AuditErasure};
use quita_domain::identity::MerchantId;
use quita_machine::{NoRandomness, random_bytes};
use quita_ports::{AuditEraser, AuditStore, Clock, StoreError, VaultError};
use tokio::sync::Notify;
use uuid::Uuid;

pub use addresses::audited_address;
pub use watch::{AuditMetrics, AuditWatch, shown_hash};

/// Waits between attempts to append an entry. The same store took the change itself a moment ago.
const WAITS: [Duration; 3] =
    [Duration::from_millis(100), Duration::from_millis(500), Duration::from_millis(2_000)];

/// Maximum number of parts of one kind that are erased in one step, and accounted for by one entry.
const ERASED_AT_ONCE: usize = 100;

/// Person or service that makes a change, and its origin.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Initiator {
    /// E-mail address of a user or an operator, or `command line`.
    pub who: String,
    /// IP address, or name of the machine's user.
    pub from: String,
}

impl Initiator {
    /// Name of the person who runs a command.
    pub const COMMAND_LINE: &str = "command line";

    /// Returns the person who runs a command of this program.
    pub fn command_line() -> Self {
        let named = |variable| std::env::var(variable).ok().filter(|name| !name.is_empty());
        let from = named("USER").or_else(|| named("LOGNAME")).unwrap_or_else(|| "unknown".into());
        Self { who: Self::COMMAND_LINE.into(), from }
    }

    /// Returns the service itself, on the node that serves at this address.
    pub fn service(address: impl ToString) -> Self {
        Self { who: "quita".into(), from: address.to_string() }
    }
}

/// Entry of the audit log that has no id, time and initiator yet.
#[derive(Debug, Clone)]
pub struct AuditDraft {
    /// Merchant that it concerns. If absent, only the operators.
    pub merchant: Option<MerchantId>,
    /// Action that was done.
    pub action: AuditAction,
    /// Object of the action.
    pub subject: String,
    /// State before the change, in words. Never a secret.
    pub before: Option<String>,
    /// State after the change.
    pub after: Option<String>,
}

impl AuditDraft {
    /// Drafts an entry that concerns a merchant.
    pub fn of(merchant: &MerchantId, action: AuditAction, subject: impl ToString) -> Self {
        let merchant = Some(merchant.clone());
        Self { merchant, action, subject: subject.to_string(), before: None, after: None }
    }

    /// Drafts an entry that concerns the operators alone.
    pub fn of_operators(action: AuditAction, subject: impl ToString) -> Self {
        Self { merchant: None, action, subject: subject.to_string(), before: None, after: None }
    }

    /// Adds the state before the change.
    #[must_use]
    pub fn before(self, before: impl ToString) -> Self {
        Self { before: Some(before.to_string()), ..self }
    }

    /// Adds the state after the change.
    #[must_use]
    pub fn after(self, after: impl ToString) -> Self {
        Self { after: Some(after.to_string()), ..self }
    }
}

/// Writer that appends to the audit log.
#[derive(Clone)]
pub struct Audit {
    store: Arc<dyn AuditStore>,
    key: ChainKey,
    clock: Arc<dyn Clock>,
    /// Wakes the watch at the end of the log.
    appended: Arc<Notify>,
}

impl Audit {
    /// Writes into this store, and begins its log if it has none.
    ///
    /// # Errors
    /// [`SecretKeyError`] if the key of the log can't be opened. Then nothing may be done that the log has to record.
    pub async fn open(
        store: Arc<dyn AuditStore>,
        strongbox: &Strongbox,
        clock: Arc<dyn Clock>,
    ) -> Result<Self, SecretKeyError> {
        let fresh =
            random_bytes().map_err(|_: NoRandomness| SecretKeyError::Vault(VaultError::NoRandomness))?;
        let AuditKey { key, has_begun } = strongbox.establish_audit_key(ChainKey::new(fresh)).await?;
        if !has_begun {
            // The head comes first: a log that has begun but has no head would be reported as missing.
            store.begin_audit(&ChainHead::beginning(&key)).await?;
            strongbox.note_audit_begun().await?;
        }
        Ok(Self { store, key, clock, appended: Arc::default() })
    }

    /// Records a change that was already made, so this does not fail. If the store accepts no entry, the program's log
    /// says so, without personal data.
    pub async fn note(&self, initiator: &Initiator, draft: AuditDraft) {
        if let Err((entry, error)) = self.append(initiator, draft).await {
            tracing::error!(
                %error, id = %entry.id, at = %entry.at, action = entry.action.as_str(), merchant = ?entry.merchant,
                "a change was made, but its audit log entry could not be stored"
            );
        }
    }

    /// Records a change, or returns the entry with the reason why the store did not accept it.
    ///
    /// # Errors
    /// The entry, for a caller that can report it to a person.
    pub async fn append(
        &self,
        initiator: &Initiator,
        draft: AuditDraft,
    ) -> Result<ChainPlace, (Box<AuditEntry>, StoreError)> {
        let entry = self.entry(initiator, draft);
        let salts = match salts() {
            Ok(salts) => salts,
            Err(error) => return Err((Box::new(entry), error)),
        };
        let new = NewAuditEntry { entry, salts };
        let mut waits = WAITS.into_iter();
        loop {
            // If repeated after a lost answer, the entry is found by its id and gets no second index (decision 30).
            match self.store.append_audit(&new, &self.key).await {
                Ok(place) => {
                    self.appended.notify_one();
                    return Ok(place);
                }
                Err(error) => match waits.next() {
                    Some(wait) => tokio::time::sleep(wait).await,
                    None => return Err((Box::new(new.entry), error)),
                },
            }
        }
    }

    /// Returns an eraser of parts of the log. Its entries account for the erasure and name this initiator.
    pub fn eraser(&self, initiator: Initiator) -> Arc<dyn AuditEraser> {
        Arc::new(ErasingAudit { audit: self.clone(), initiator })
    }

    fn entry(&self, initiator: &Initiator, draft: AuditDraft) -> AuditEntry {
        AuditEntry {
            id: Uuid::now_v7(),
            at: self.clock.now(),
            merchant: draft.merchant,
            who: initiator.who.clone(),
            from: initiator.from.clone(),
            action: draft.action,
            subject: draft.subject,
            before: draft.before,
            after: draft.after,
        }
    }
}

/// Eraser on behalf of one initiator.
struct ErasingAudit {
    audit: Audit,
    initiator: Initiator,
}

#[async_trait]
impl AuditEraser for ErasingAudit {
    async fn erase(&self, what: &AuditErasure) -> Result<u64, StoreError> {
        let Self { audit, initiator } = self;
        let mut erased = 0_u64;
        loop {
            // The store sets the erased parts as the subject.
            let entry = audit.entry(initiator, AuditDraft::of_operators(AuditAction::LogErased, ""));
            let account = NewAuditEntry { entry, salts: salts()? };
            let page = audit.store.erase_audit(what, ERASED_AT_ONCE, &account, &audit.key).await?;
            erased = erased.saturating_add(page);
            if page > 0 {
                audit.appended.notify_one();
            }
            if usize::try_from(page).is_ok_and(|page| page < ERASED_AT_ONCE) {
                return Ok(erased);
            }
        }
    }
}

fn salts() -> Result<Salts, StoreError> {
    let random = || random_bytes().map_err(|error: NoRandomness| StoreError::Unavailable(error.to_string()));
    Ok(Salts::new([random()?, random()?, random()?]))
}
