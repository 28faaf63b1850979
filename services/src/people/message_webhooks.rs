//! Messages to people by webhook: the URL of each person, and the secret that signs the messages.

use crate::secret_keys::Strongbox;
use quita_domain::people::{Login, MailLanguage, Mailing, MessageWebhook};
use quita_domain::secret::Secret;
use quita_domain::secret_key::StoredSecret;
use quita_domain::webhook::signature::WebhookSecret;
use quita_machine::random_bytes;

use super::someone::Someone;
use super::{People, PeopleError};

/// Receivers of messages of the people in a store, with sealed secrets.
#[derive(Clone)]
pub struct MessageWebhooks {
    people: People,
    strongbox: Strongbox,
}

/// Change of a person's receiver.
pub struct ChangedWebhook<S> {
    /// Person before the change.
    pub before: S,
    /// Person after it.
    pub after: S,
    /// New secret, to be shown once; `None` if the URL is unchanged.
    pub secret: Option<Secret<String>>,
}

impl MessageWebhooks {
    /// Manages the receivers of these people, with their secrets in this strongbox.
    pub fn new(people: People, strongbox: Strongbox) -> Self {
        Self { people, strongbox }
    }

    /// Sends the messages to a person to this URL, in this language if one is named. A new URL gets a new secret, so
    /// that the previous receiver can't sign messages that the new one accepts.
    ///
    /// # Errors
    /// [`PeopleError::NoSuchUser`], and if store, randomness or the strongbox fail.
    pub async fn set<S: Someone>(
        &self,
        login: &Login,
        url: &str,
        language: Option<MailLanguage>,
    ) -> Result<ChangedWebhook<S>, PeopleError> {
        let person: S = self.people.find_someone(login).await?;
        let bytes: [u8; WebhookSecret::BYTES] = random_bytes()?;
        let secret = Secret::new(WebhookSecret::from_bytes(bytes.to_vec()).reveal());
        // Sealed before the change, which may be repeated and can't await anything.
        let sealed = self.strongbox.seal_secret(&secret, &person.messages_place()).await?;
        let now = self.people.clock.now();
        let change = |person: &mut S| {
            let place = person.message_webhook_mut();
            if let Some(webhook) = place.as_mut().filter(|webhook| webhook.url == url) {
                webhook.mailing.language = language.unwrap_or(webhook.mailing.language);
                return Ok(());
            }
            let language = language.or_else(|| place.as_ref().map(|webhook| webhook.mailing.language));
            // Earlier events are not reported to a receiver that was only just set.
            let mailing = Mailing {
                language: language.unwrap_or_default(),
                reported_until: Some(now),
                ..Mailing::default()
            };
            *place = Some(MessageWebhook { url: url.into(), secret: sealed.clone(), mailing });
            Ok(())
        };
        let (before, after) = self.people.change(login, change).await?;
        let is_new = before.message_webhook().map(|webhook| &webhook.secret)
            != after.message_webhook().map(|webhook| &webhook.secret);
        Ok(ChangedWebhook { before, after, secret: is_new.then_some(secret) })
    }

    /// Returns the secret that signs the messages to a person; none if the person named no receiver.
    ///
    /// # Errors
    /// [`PeopleError::SecretKey`] if it does not open.
    pub fn secret<S: Someone>(&self, person: &S) -> Result<Option<WebhookSecret>, PeopleError> {
        let Some(webhook) = person.message_webhook() else { return Ok(None) };
        let sealed = StoredSecret::Sealed(webhook.secret.clone());
        let text = self.strongbox.open(&sealed, &person.messages_place())?;
        Ok(WebhookSecret::parse(text.expose()))
    }
}

impl People {
    /// Sends no more messages to a person by webhook, and forgets the URL with its secret. Returns the person before
    /// and after.
    ///
    /// # Errors
    /// [`PeopleError::NoSuchUser`], and when the store does not answer.
    pub async fn remove_message_webhook<S: Someone>(&self, login: &Login) -> Result<(S, S), PeopleError> {
        let change = |person: &mut S| {
            *person.message_webhook_mut() = None;
            Ok(())
        };
        self.change(login, change).await
    }

    /// Removes a receiver that wants no more messages (410). Returns false if the person has set another one meanwhile.
    ///
    /// # Errors
    /// [`PeopleError::NoSuchUser`], and when the store does not answer.
    pub async fn remove_gone_webhook<S: Someone>(
        &self,
        login: &Login,
        gone: &MessageWebhook,
    ) -> Result<bool, PeopleError> {
        let change = |person: &mut S| {
            person.message_webhook_mut().take_if(|webhook| webhook.secret == gone.secret);
            Ok(())
        };
        let (before, after) = self.change(login, change).await?;
        Ok(before.message_webhook().is_some() && after.message_webhook().is_none())
    }
}

/// Describes the receiver of messages by webhook for the audit log: only by host, since the rest of a URL may be
/// secret.
pub fn message_webhook_in_words(webhook: Option<&MessageWebhook>) -> String {
    let described =
        |webhook: &MessageWebhook| format!("{}, {}", webhook.receiver(), webhook.mailing.language.as_str());
    webhook.map_or_else(|| "off".into(), described)
}
