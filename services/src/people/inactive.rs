//! Unused accounts, which are disabled after 90 days (PCI DSS 4.0.1, 8.2.6).

use std::sync::Arc;

use quita_domain::audit::AuditAction;
use quita_domain::people::{Login, Operator, User};
use quita_ports::{Clock, PeopleStore};

use super::someone::Someone;
use super::{People, PeopleError};
use crate::audit::{Audit, AuditDraft, Initiator};

/// Users that are read at once.
const PAGE: usize = 200;

impl People {
    /// Records that a person signs in, unless that was recorded within a day. The first sign-in is always recorded. The
    /// session begins for the person as authenticated, whatever others change meanwhile.
    pub(super) async fn note_sign_in<S: Someone>(&self, person: &S) -> Result<(), PeopleError> {
        let now = self.clock.now();
        if !person.is_never_used() && !person.credentials().is_use_to_note(now) {
            return Ok(());
        }
        let noted = self.change(person.login(), |person: &mut S| {
            person.credentials_mut().active_at = Some(now);
            Ok(())
        });
        match noted.await {
            // The account was removed just now, so the session will be invalid.
            Ok(_) | Err(PeopleError::NoSuchUser(_)) => Ok(()),
            Err(error) => Err(error),
        }
    }

    /// Disables an account that was not used for 90 days, and returns true if it did. For an account without a known
    /// use, the time starts now.
    async fn look_at_use<S: Someone>(&self, person: &S) -> Result<bool, PeopleError> {
        let now = self.clock.now();
        let credentials = person.credentials();
        if credentials.active_at.is_some() && !credentials.is_inactive(now) {
            return Ok(false);
        }
        let changed = self.change(person.login(), |person: &mut S| {
            let credentials = person.credentials_mut();
            // Decided on the stored state: the person may have signed in since the list was read.
            if credentials.active_at.is_none() {
                credentials.active_at = Some(now);
            } else if credentials.is_inactive(now) {
                credentials.disabled_at = Some(now);
            }
            Ok(())
        });
        match changed.await {
            Ok((before, after)) => {
                let before = before.credentials().disabled_at;
                let after = after.credentials().disabled_at;
                Ok(before.is_none() && after.is_some())
            }
            Err(PeopleError::NoSuchUser(_)) => Ok(false),
            Err(error) => Err(error),
        }
    }
}

/// Disables unused accounts.
pub struct InactiveAccounts {
    store: Arc<dyn PeopleStore>,
    people: People,
    audit: Audit,
    /// This node, which does it.
    node: Initiator,
}

impl InactiveAccounts {
    /// Works on this store.
    pub fn new(store: Arc<dyn PeopleStore>, clock: Arc<dyn Clock>, audit: Audit, node: Initiator) -> Self {
        Self { people: People::new(Arc::clone(&store), clock), store, audit, node }
    }

    /// Looks at every account once.
    ///
    /// # Errors
    /// [`PeopleError`]; some accounts were looked at, and the next call does the rest.
    pub async fn look(&self) -> Result<(), PeopleError> {
        for operator in self.store.operators().await? {
            self.look_at::<Operator>(&operator).await?;
        }
        let mut after: Option<Login> = None;
        loop {
            let users = self.store.users_after(after.as_ref(), PAGE).await?;
            for user in &users {
                self.look_at::<User>(user).await?;
            }
            let Some(last) = users.last().filter(|_| users.len() >= PAGE) else { return Ok(()) };
            after = Some(last.login.clone());
        }
    }

    async fn look_at<S: Someone>(&self, person: &S) -> Result<(), PeopleError> {
        if self.people.look_at_use(person).await? {
            let draft: AuditDraft = person.draft(AuditAction::AccountDisabled);
            tracing::info!("an account unused for 90 days was disabled");
            self.audit.note(&self.node, draft).await;
        }
        Ok(())
    }
}
