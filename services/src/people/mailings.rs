//! Messages to people: the switch for e-mail of each person, and the claim of each message by any channel.

use quita_domain::people::{Login, MailLanguage, Mailing};
use quita_domain::time::Timestamp;
use quita_ports::StoreError;

use super::someone::Someone;
use super::{MAX_RACES, People, PeopleError};

impl People {
    /// Turns messages by e-mail to a person on or off, in this language if one is named. Returns the person before and
    /// after.
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

    /// Claims a message to a person as read. Returns `None` if another node claimed it, or if the person's settings for
    /// this channel changed meanwhile.
    ///
    /// # Errors
    /// If the store does not answer.
    pub async fn claim_message<S: Someone>(
        &self,
        person: &S,
        channel: Channel,
    ) -> Result<Option<Claim>, StoreError> {
        let now = self.clock.now();
        // A change to the other channel's state is no reason not to send by this one.
        for _ in 0..MAX_RACES {
            let Some(before) = S::find(self.store.as_ref(), person.login()).await? else { return Ok(None) };
            if !before.gets_messages() || channel.mailing(&before) != channel.mailing(person) {
                return Ok(None);
            }
            let mut after = before.clone();
            let Some(mailing) = channel.mailing_mut(&mut after) else { return Ok(None) };
            mailing.begin(now);
            let claim = Claim { channel, mailing: mailing.clone() };
            if self.replace(&before, &after).await? {
                return Ok(Some(claim));
            }
        }
        Ok(None)
    }

    /// Records that a claimed message was sent, which reported events up to `until` and these troubles.
    ///
    /// # Errors
    /// [`PeopleError::NoSuchUser`], and when the store does not answer.
    pub async fn note_message<S: Someone>(
        &self,
        login: &Login,
        claim: &Claim,
        until: Timestamp,
        troubles: &[String],
    ) -> Result<(), PeopleError> {
        let now = self.clock.now();
        let change = |person: &mut S| {
            // If messages were turned off and on meanwhile, or go elsewhere now, a new state has begun.
            let claimed = claim.channel.mailing_mut(person);
            if let Some(mailing) = claimed.filter(|mailing| mailing.is_same_claim(&claim.mailing)) {
                mailing.sent(until, troubles.iter().cloned(), now);
            }
            Ok(())
        };
        self.change(login, change).await.map(drop)
    }
}

/// Channel by which messages reach a person. Each has its own state, so a failing channel neither delays nor repeats
/// messages of the other.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Channel {
    /// By e-mail to the login.
    Mail,
    /// By webhook to the URL that the person named.
    Webhook,
}

impl Channel {
    /// Returns a person's settings for this channel and what was reported by it; `None` while it is off.
    pub fn mailing<S: Someone>(self, person: &S) -> Option<&Mailing> {
        let mailing = match self {
            Self::Mail => Some(person.mailing()),
            Self::Webhook => person.message_webhook().map(|webhook| &webhook.mailing),
        };
        mailing.filter(|mailing| !mailing.is_off)
    }

    fn mailing_mut<S: Someone>(self, person: &mut S) -> Option<&mut Mailing> {
        let mailing = match self {
            Self::Mail => Some(person.mailing_mut()),
            Self::Webhook => person.message_webhook_mut().as_mut().map(|webhook| &mut webhook.mailing),
        };
        mailing.filter(|mailing| !mailing.is_off)
    }
}

/// Message that only this node sends.
pub struct Claim {
    channel: Channel,
    /// State of the channel as the claim left it.
    mailing: Mailing,
}

/// Describes a choice about messages for the audit log.
pub fn mailing_in_words(mailing: &Mailing) -> String {
    if mailing.is_off { "off".into() } else { format!("on, {}", mailing.language.as_str()) }
}
