//! Sealing the second factors of people with another key.

use quita_domain::people::{Login, Operator, SecondFactor, User};
use quita_domain::secret_key::{SecretKeyId, SecretPlace};

use super::{MAX_RACES, SecretKeyError, Strongbox, Which};

/// What became of the second factors of one page of people.
#[derive(Debug, Default, PartialEq, Eq)]
pub struct MovedPeople {
    /// Secrets that were looked at.
    pub looked_at: u64,
    /// Those of them that were sealed anew.
    pub sealed: u64,
    /// People whose secret stays as it is, and why.
    pub unmoved: Vec<UnmovedPerson>,
    /// After whom the next page begins; `None` after the last one.
    pub next: Option<Login>,
}

/// Somebody whose secret stays as it is.
#[derive(Debug, PartialEq, Eq)]
pub struct UnmovedPerson {
    /// Who.
    pub login: Login,
    /// Why.
    pub why: SecretKeyError,
}

impl MovedPeople {
    fn note(&mut self, login: &Login, moved: Result<bool, SecretKeyError>) -> Result<(), SecretKeyError> {
        self.looked_at = self.looked_at.saturating_add(1);
        match moved {
            Ok(is_sealed) => self.sealed = self.sealed.saturating_add(u64::from(is_sealed)),
            Err(SecretKeyError::Store(error)) => return Err(error.into()),
            Err(why) => self.unmoved.push(UnmovedPerson { login: login.clone(), why }),
        }
        Ok(())
    }
}

impl Strongbox {
    /// Seals the second factors of one page of users anew, each in one guarded write. As [`Strongbox::move_page`].
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
        for user in page.into_iter().filter(|user| user.credentials.second_factor.is_some()) {
            let login = user.login.clone();
            moved.note(&login, self.move_user(which, user).await)?;
        }
        Ok(moved)
    }

    /// The same of all operators, of whom there are few.
    ///
    /// # Errors
    /// As [`Strongbox::move_users`].
    pub async fn move_operators(&self, which: Which) -> Result<MovedPeople, SecretKeyError> {
        let operators = self.store.operators().await?;
        let mut moved = MovedPeople::default();
        for operator in operators.into_iter().filter(|one| one.credentials.second_factor.is_some()) {
            let login = operator.login.clone();
            moved.note(&login, self.move_operator(which, operator).await)?;
        }
        Ok(moved)
    }

    async fn move_user(&self, which: Which, mut before: User) -> Result<bool, SecretKeyError> {
        let (current, place) = (self.current().await?, SecretPlace::user_factor(&before.login));
        for _ in 0..MAX_RACES {
            let mut after = before.clone();
            let factor = after.credentials.second_factor.as_mut();
            if !self.seal_factor(which, factor, (&current, &place))? {
                return Ok(false);
            }
            if self.store.replace_user(&before, &after).await? {
                return Ok(true);
            }
            let Some(again) = self.store.user(&before.login).await? else { return Ok(false) };
            before = again;
        }
        Err(SecretKeyError::Raced)
    }

    async fn move_operator(&self, which: Which, mut before: Operator) -> Result<bool, SecretKeyError> {
        let (current, place) = (self.current().await?, SecretPlace::operator_factor(&before.login));
        for _ in 0..MAX_RACES {
            let mut after = before.clone();
            let factor = after.credentials.second_factor.as_mut();
            if !self.seal_factor(which, factor, (&current, &place))? {
                return Ok(false);
            }
            if self.store.replace_operator(&before, &after).await? {
                return Ok(true);
            }
            let Some(again) = self.store.operator(&before.login).await? else { return Ok(false) };
            before = again;
        }
        Err(SecretKeyError::Raced)
    }

    /// Says whether the factor was sealed anew.
    fn seal_factor(
        &self,
        which: Which,
        factor: Option<&mut SecondFactor>,
        (current, place): (&SecretKeyId, &SecretPlace),
    ) -> Result<bool, SecretKeyError> {
        let Some(factor) = factor else { return Ok(false) };
        if self.key_stays(which, &factor.secret.key, current) {
            return Ok(false);
        }
        let secret = self.vault.open(&factor.secret, place)?;
        factor.secret = self.vault.seal(current, &secret, place)?;
        Ok(true)
    }
}
