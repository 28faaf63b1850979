//! Erasure from the audit log: of former staff, and of text that strangers typed as an account.

use std::collections::BTreeSet;
use std::sync::Arc;

use quita_domain::audit::chain::ChainedEntry;
use quita_domain::audit::{AuditAction, AuditErasure};
use quita_domain::people::{Login, SessionOf};
use quita_ports::{AuditEraser, StoreError, WholeStore};

use super::super::audited;
use super::super::failure::Failure;
use super::super::output;
use quita_services::audit::{Audit, AuditDraft};

/// Number of entries per read and per erasure.
const PAGE: usize = 500;
/// Maximum number of audit log entries that one call may name.
pub(super) const MOST_PLACES: usize = 1_000;

/// Number of audit log parts and of sessions that were erased, or would be.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(super) struct StaffTally {
    pub(super) parts: u64,
    pub(super) sessions: u64,
}

/// Eraser of people from the audit log that also records its work there.
pub(super) struct StaffEraser {
    pub(super) store: Arc<dyn WholeStore>,
    pub(super) audit: Audit,
    pub(super) eraser: Arc<dyn AuditEraser>,
    pub(super) changes_nothing: bool,
}

impl StaffEraser {
    /// Erases a removed person from the audit log, and deletes their sessions.
    ///
    /// # Errors
    /// Fails if the login can still sign in, or the store does not answer. A repeated call continues where it failed.
    pub(super) async fn erase_login(&self, login: &Login) -> Result<StaffTally, Failure> {
        self.must_be_removed(login).await?;
        let mentions = self.mentions(login).await?;
        let mut tally = StaffTally::default();
        for of in kinds_of(login) {
            for session in self.store.sessions_of(&of.person()).await? {
                if !self.changes_nothing {
                    self.store.remove_session(&session.id).await?;
                }
                tally.sessions = tally.sessions.saturating_add(1);
            }
        }
        tally.parts = if self.changes_nothing {
            mentions.parts
        } else {
            let person = self.eraser.erase(&AuditErasure::Person(login.to_string())).await?;
            person.saturating_add(self.erase_places(&mentions.in_contents).await?)
        };
        self.note("a person", tally).await;
        Ok(tally)
    }

    /// Erases the account as typed, and the address it came from, from these entries of refused sign-ins. Every other
    /// entry with the same account is erased too.
    ///
    /// # Errors
    /// Fails if one of them is not such an entry, or the store does not answer.
    pub(super) async fn erase_refused(&self, places: &[u64]) -> Result<StaffTally, Failure> {
        let mut typed = BTreeSet::new();
        for place in places {
            typed.extend(self.typed_at(*place).await?);
        }
        let mut tally = StaffTally::default();
        for who in typed {
            let parts = match self.changes_nothing {
                true => self.count_of(&who).await?,
                false => self.eraser.erase(&AuditErasure::Person(who)).await?,
            };
            tally.parts = tally.parts.saturating_add(parts);
        }
        self.note("refused sign-ins", tally).await;
        Ok(tally)
    }

    async fn must_be_removed(&self, login: &Login) -> Result<(), Failure> {
        if let Some(user) = self.store.user(login).await? {
            return Err(Failure::failed(format!(
                "{login} is still a user of {}; `quita users remove {login}` first",
                output::printable(user.merchant.as_str())
            )));
        }
        if self.store.operator(login).await?.is_some() {
            return Err(Failure::failed(format!(
                "{login} is still an operator; `quita users operators remove {login}` first"
            )));
        }
        Ok(())
    }

    /// Returns the account as typed in the entry with this sequence number, unless it has already been erased.
    async fn typed_at(&self, place: u64) -> Result<Option<String>, Failure> {
        let none = || Failure::failed(format!("the audit log has no entry at {place} that can be read"));
        let found = self.store.chained_audit(place.saturating_sub(1), 1).await?;
        let (_, read) = found.into_iter().find(|(sequence, _)| *sequence == place).ok_or_else(none)?;
        let entry = read.map_err(|_| none())?;
        if ![AuditAction::SignInRefused, AuditAction::ProofRefused].contains(&entry.action) {
            return Err(Failure::failed(format!(
                "the entry at {place} is not a refused sign-in; use --login to erase a person who did something"
            )));
        }
        Ok(entry.initiator.map(|initiator| initiator.who))
    }

    /// Finds the parts of the log that name somebody.
    async fn mentions(&self, login: &Login) -> Result<Mentions, StoreError> {
        let mut mentions = Mentions::default();
        self.read_log(|entry| mentions.look(entry, login.as_str())).await?;
        Ok(mentions)
    }

    /// Counts the parts of the log that name somebody.
    async fn count_of(&self, who: &str) -> Result<u64, StoreError> {
        let mut mentions = Mentions::default();
        self.read_log(|entry| mentions.look(entry, who)).await?;
        Ok(mentions.parts)
    }

    /// Reads the whole log from the start. Unreadable entries are skipped.
    async fn read_log(&self, mut look: impl FnMut(&ChainedEntry)) -> Result<(), StoreError> {
        let mut place = 0;
        loop {
            let page = self.store.chained_audit(place, PAGE).await?;
            let Some((last, _)) = page.last() else { return Ok(()) };
            place = *last;
            page.iter().filter_map(|(_, read)| read.as_ref().ok()).for_each(&mut look);
        }
    }

    async fn erase_places(&self, places: &[u64]) -> Result<u64, StoreError> {
        let mut erased = 0_u64;
        for places in places.chunks(PAGE) {
            erased =
                erased.saturating_add(self.eraser.erase(&AuditErasure::ContentAt(places.to_vec())).await?);
        }
        Ok(erased)
    }

    /// Records the erasure in the audit log.
    async fn note(&self, subject: &str, tally: StaffTally) {
        if self.changes_nothing || tally == StaffTally::default() {
            return;
        }
        let StaffTally { parts, sessions } = tally;
        // The log must not name the erased person again.
        let draft = AuditDraft::of_operators(AuditAction::StaffErased, subject);
        audited::note(&self.audit, draft.after(format!("parts={parts} sessions={sessions}"))).await;
    }
}

/// Parts of the log that name somebody.
#[derive(Default)]
struct Mentions {
    parts: u64,
    /// Sequence numbers of entries that name the person in the old or new value.
    in_contents: Vec<u64>,
}

impl Mentions {
    fn look(&mut self, entry: &ChainedEntry, who: &str) {
        let is_initiator = entry.initiator.as_ref().is_some_and(|initiator| initiator.who == who);
        let is_person = entry.person.as_ref().is_some_and(|person| person.subject == who);
        let content = entry.content.as_ref();
        let texts = content.into_iter().flat_map(|content| [&content.before, &content.after]).flatten();
        let is_in_content = texts.into_iter().any(|text| names(text, who));
        if is_in_content {
            self.in_contents.push(entry.sequence);
        }
        let parts = [is_initiator, is_person, is_in_content].into_iter().filter(|names| *names).count();
        self.parts = self.parts.saturating_add(u64::try_from(parts).unwrap_or_default());
    }
}

/// Returns true if a text contains this address as a separate word.
fn names(text: &str, who: &str) -> bool {
    text.split(|each: char| each.is_whitespace() || ",;:()<>\"".contains(each))
        .any(|word| word.trim_end_matches('.').eq_ignore_ascii_case(who))
}

/// Returns the session owners with this login: as a user and as an operator.
fn kinds_of(login: &Login) -> [SessionOf; 2] {
    let password_version = 0;
    let login = login.clone();
    [
        SessionOf::User { login: login.clone(), password_version },
        SessionOf::Operator { login, password_version },
    ]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_address_is_found_as_a_word_and_not_within_another() {
        for text in [
            "made by ana@loja.example",
            "Ana@Loja.example, bia",
            "asked (ana@loja.example).",
            "ana@loja.example.",
        ] {
            assert!(names(text, "ana@loja.example"), "{text}");
        }
        for text in ["", "mariana@loja.example", "ana@loja.example.br", "ana"] {
            assert!(!names(text, "ana@loja.example"), "{text}");
        }
    }
}
