//! Resealing the secrets of people with another key: second factors, and signing secrets of their message webhooks.

use quita_domain::people::{Login, Operator, User};
use quita_domain::secret_key::{SealedSecret, SecretKeyId, SecretPlace};

use super::{MAX_RACES, SecretKeyError, Strongbox, Which};

/// Result of resealing one page of people.
#[derive(Debug, Default, PartialEq, Eq)]
pub struct MovedPeople {
    /// Secrets examined.
    pub looked_at: u64,
    /// Secrets resealed.
    pub sealed: u64,
    /// People whose secrets were left as they were, with the reason.
    pub unmoved: Vec<UnmovedPerson>,
    /// Person after whom the next page begins; `None` after the last page.
    pub next: Option<Login>,
}

/// A person whose secrets were left as they were.
#[derive(Debug, PartialEq, Eq)]
pub struct UnmovedPerson {
    /// Login of the person.
    pub login: Login,
    /// Reason.
    pub why: SecretKeyError,
}

impl MovedPeople {
    fn note(
        &mut self,
        login: &Login,
        secrets: u64,
        moved: Result<u64, SecretKeyError>,
    ) -> Result<(), SecretKeyError> {
        self.looked_at = self.looked_at.saturating_add(secrets);
        match moved {
            Ok(sealed) => self.sealed = self.sealed.saturating_add(sealed),
            // If the store fails, nobody can be moved; any other failure concerns one person.
            Err(SecretKeyError::Store(error)) => return Err(error.into()),
            Err(why) => self.unmoved.push(UnmovedPerson { login: login.clone(), why }),
        }
        Ok(())
    }
}

impl Strongbox {
    /// Reseals the secrets of one page of users, each user in one guarded write. As [`Strongbox::move_page`].
    ///
    /// # Errors
    /// [`SecretKeyError`], if the page can't be read, or nothing can be sealed.
    pub async fn move_users(
        &self,
        which: Which,
        after: Option<&Login>,
        limit: usize,
    ) -> Result<MovedPeople, SecretKeyError> {
        let page = self.store.users_after(after, limit).await?;
        let mut moved = MovedPeople::default();
        if page.len() >= limit {
            moved.next = page.last().map(|user| user.login.clone());
        }
        for mut user in page {
            let login = user.login.clone();
            let secrets = count(&secrets_of_user(&mut user));
            if secrets > 0 {
                moved.note(&login, secrets, self.move_user(which, user).await)?;
            }
        }
        Ok(moved)
    }

    /// Reseals the secrets of all operators. They are few, so there are no pages.
    ///
    /// # Errors
    /// As [`Strongbox::move_users`].
    pub async fn move_operators(&self, which: Which) -> Result<MovedPeople, SecretKeyError> {
        let operators = self.store.operators().await?;
        let mut moved = MovedPeople::default();
        for mut operator in operators {
            let login = operator.login.clone();
            let secrets = count(&secrets_of_operator(&mut operator));
            if secrets > 0 {
                moved.note(&login, secrets, self.move_operator(which, operator).await)?;
            }
        }
        Ok(moved)
    }

    async fn move_user(&self, which: Which, mut before: User) -> Result<u64, SecretKeyError> {
        let current = self.current().await?;
        for _ in 0..MAX_RACES {
            let mut after = before.clone();
            let sealed = self.seal_anew(which, secrets_of_user(&mut after), &current)?;
            if sealed == 0 || self.store.replace_user(&before, &after).await? {
                return Ok(sealed);
            }
            let Some(again) = self.store.user(&before.login).await? else { return Ok(0) };
            before = again;
        }
        Err(SecretKeyError::Raced)
    }

    async fn move_operator(&self, which: Which, mut before: Operator) -> Result<u64, SecretKeyError> {
        let current = self.current().await?;
        for _ in 0..MAX_RACES {
            let mut after = before.clone();
            let sealed = self.seal_anew(which, secrets_of_operator(&mut after), &current)?;
            if sealed == 0 || self.store.replace_operator(&before, &after).await? {
                return Ok(sealed);
            }
            let Some(again) = self.store.operator(&before.login).await? else { return Ok(0) };
            before = again;
        }
        Err(SecretKeyError::Raced)
    }

    /// Reseals secrets, and returns the number of those that changed.
    fn seal_anew(
        &self,
        which: Which,
        secrets: SecretsOfPerson<'_>,
        current: &SecretKeyId,
    ) -> Result<u64, SecretKeyError> {
        let mut sealed = 0_u64;
        for (secret, place) in secrets.into_iter().flatten() {
            if !self.key_stays(which, &secret.key, current) {
                let text = self.vault.open(secret, &place)?;
                *secret = self.vault.seal(current, &text, &place)?;
                sealed = sealed.saturating_add(1);
            }
        }
        Ok(sealed)
    }
}

/// Secrets that a person may have: the second factor's, and the message webhook's.
type SecretsOfPerson<'a> = [Option<(&'a mut SealedSecret, SecretPlace)>; 2];

fn secrets_of_user(user: &mut User) -> SecretsOfPerson<'_> {
    let factor = user.credentials.second_factor.as_mut().map(|factor| &mut factor.secret);
    let webhook = user.message_webhook.as_mut().map(|webhook| &mut webhook.secret);
    [
        factor.map(|secret| (secret, SecretPlace::user_factor(&user.login))),
        webhook.map(|secret| (secret, SecretPlace::user_messages(&user.login))),
    ]
}

fn secrets_of_operator(operator: &mut Operator) -> SecretsOfPerson<'_> {
    let factor = operator.credentials.second_factor.as_mut().map(|factor| &mut factor.secret);
    let webhook = operator.message_webhook.as_mut().map(|webhook| &mut webhook.secret);
    [
        factor.map(|secret| (secret, SecretPlace::operator_factor(&operator.login))),
        webhook.map(|secret| (secret, SecretPlace::operator_messages(&operator.login))),
    ]
}

fn count(secrets: &SecretsOfPerson<'_>) -> u64 {
    secrets.iter().flatten().map(|_| 1).sum()
}
