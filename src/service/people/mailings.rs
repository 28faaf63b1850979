//! Messages to people by e-mail: the switch of each person, and the claim of each message.

use quita_domain::people::{Login, MailLanguage, Mailing};
use quita_domain::time::Timestamp;
use quita_ports::StoreError;

use super::someone::Someone;
use super::{People, PeopleError};

impl People {
    /// Turns messages to a person on or off, in this language if one is named. Returns the person before and after.
    ///
    /// # Errors
    /// [`PeopleError::NoSuchUser`], and when the store does not answer.
    pub async fn set_mailing<S: Someone>(
        &self,
        login: &Login,
        is_on: bool,
        language: Option<MailLanguage>,
    ) -> Result<(S, S), PeopleError> {
        let now = self.clock.now();
        let change = |person: &mut S| {
            let mailing = person.mailing_mut();
            mailing.turn(is_on, now);
            mailing.language = language.unwrap_or(mailing.language);
            Ok(())
        };
        self.change(login, change).await
    }

    /// Claims a message to a person as it was read. Returns false if another node claimed it, or the person changed.
    pub(crate) async fn claim_message<S: Someone>(&self, person: &S) -> Result<bool, StoreError> {
        let mut claimed = person.clone();
        claimed.mailing_mut().begin(self.clock.now());
        self.replace(person, &claimed).await
    }

    /// Notes that a message was sent: it reported events up to `until`, and these troubles.
    pub(crate) async fn note_message<S: Someone>(
        &self,
        login: &Login,
        until: Timestamp,
        troubles: &[String],
    ) -> Result<(), PeopleError> {
        let now = self.clock.now();
        let change = |person: &mut S| {
            person.mailing_mut().sent(until, troubles.iter().cloned(), now);
            Ok(())
        };
        self.change(login, change).await.map(drop)
    }
}

/// Describes a choice about messages for the audit log.
pub fn mailing_in_words(mailing: &Mailing) -> String {
    if mailing.is_off { "off".into() } else { format!("on, {}", mailing.language.as_str()) }
}
