//! Sign-in by password, and changes of passwords.

use quita_domain::people::{Credentials, Login, SessionOrigin, SessionStage};
use quita_domain::secret::Secret;
use quita_domain::time::DAY_MS;

use super::sessions::Signed;
use super::someone::Someone;
use super::strength::must_be_strong;
use super::{NewSession, People, PeopleError, next_version, password};

/// Time for which the only person who saw a generated password may keep it.
const MADE_PASSWORD_MS: u64 = DAY_MS;

/// Person who is shown a generated password.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Reader {
    /// The person who signs in with it.
    Owner,
    /// Someone else, so that it must be changed at the first sign-in.
    Another,
}

impl People {
    /// Signs a person in. Returns `None` if login or password is wrong, without revealing which. A person with a second
    /// factor gets half a session, which still requires it.
    ///
    /// # Errors
    /// [`PeopleError::Disabled`] with the right password of a disabled account, and if store, randomness or hasher
    /// fail.
    pub async fn sign_in<S: Someone>(
        &self,
        login: Option<&Login>,
        password: &Secret<String>,
        origin: SessionOrigin,
    ) -> Result<Option<NewSession<S>>, PeopleError> {
        let person = match login {
            Some(login) => S::find(self.store.as_ref(), login).await?,
            None => None,
        };
        let hash = person.as_ref().map(|person| person.credentials().password_hash.clone());
        let is_right = self.passwords.verify(password, hash).await?;
        let Some(person) = person.filter(|_| is_right) else { return Ok(None) };
        // Only someone with the right password learns that the account is disabled.
        if person.credentials().disabled_at.is_some() {
            return Err(PeopleError::Disabled);
        }
        let stage = match person.credentials().second_factor {
            Some(_) => SessionStage::Half,
            None => SessionStage::Whole,
        };
        self.begin(person, stage, origin).await.map(Some)
    }

    /// Changes the person's own password, which ends all their sessions. The new session has no more proof of identity
    /// than this one had.
    ///
    /// # Errors
    /// [`PeopleError::WrongPassword`], [`PeopleError::NotAPassword`], [`PeopleError::Weak`],
    /// [`PeopleError::SamePassword`], and if store, randomness or hasher fail.
    pub async fn change_password<S: Someone>(
        &self,
        signed: &Signed<S>,
        current: &Secret<String>,
        new: &Secret<String>,
    ) -> Result<NewSession<S>, PeopleError> {
        let hash = signed.person.credentials().password_hash.clone();
        if !self.passwords.verify(current, Some(hash)).await? {
            return Err(PeopleError::WrongPassword);
        }
        self.set_own_password(signed, new).await
    }

    /// Changes a password that someone else chose, as [`People::change_password`]. The current password is not asked
    /// for again: it was given at the sign-in a moment ago.
    ///
    /// # Errors
    /// As [`People::change_password`]; [`PeopleError::WrongPassword`] if the person made it.
    pub async fn replace_given_password<S: Someone>(
        &self,
        signed: &Signed<S>,
        new: &Secret<String>,
    ) -> Result<NewSession<S>, PeopleError> {
        if !self.must_change_password(signed.person.credentials()) {
            return Err(PeopleError::WrongPassword);
        }
        self.set_own_password(signed, new).await
    }

    /// Confirms the identity by password, for people without a second factor.
    ///
    /// # Errors
    /// [`PeopleError::WrongPassword`], [`PeopleError::WrongCode`] if there is a second factor, and if store or hasher
    /// fail.
    pub async fn confirm_by_password<S: Someone>(
        &self,
        signed: &Signed<S>,
        password: &Secret<String>,
    ) -> Result<(), PeopleError> {
        let credentials = signed.person.credentials();
        if credentials.second_factor.is_some() {
            return Err(PeopleError::WrongCode);
        }
        if !self.passwords.verify(password, Some(credentials.password_hash.clone())).await? {
            return Err(PeopleError::WrongPassword);
        }
        self.confirm(&signed.session).await
    }

    async fn set_own_password<S: Someone>(
        &self,
        signed: &Signed<S>,
        new: &Secret<String>,
    ) -> Result<NewSession<S>, PeopleError> {
        let seen = signed.person.credentials();
        must_be_strong(new, signed.person.known_words()).await?;
        for hash in seen.remembered_hashes() {
            if self.passwords.verify(new, Some(hash.clone())).await? {
                return Err(PeopleError::SamePassword);
            }
        }
        let hash = self.passwords.hash(new).await?;
        let now = self.clock.now();
        let change = |person: &mut S| {
            let credentials = person.credentials_mut();
            // Hashing takes a while. The verified password may have been reset meanwhile, to lock someone out.
            if credentials.password_version != seen.password_version {
                return Err(PeopleError::WrongPassword);
            }
            credentials.replace_password(hash.clone(), next_version(credentials.password_version, now));
            Ok(())
        };
        let (_, person) = self.change(signed.person.login(), change).await?;
        match person.credentials().second_factor {
            // A password alone proves nothing more for a person with a second factor.
            Some(_) => self.begin_instead(person, &signed.session).await,
            None => self.begin(person, SessionStage::Whole, signed.session.origin.clone()).await,
        }
    }

    /// Generates a password, to be shown once to this reader, and the credentials of a new person.
    pub(super) async fn new_credentials(
        &self,
        reader: Reader,
    ) -> Result<(Secret<String>, Credentials), PeopleError> {
        let password = password::random_password()?;
        let hash = self.passwords.hash(&password).await?;
        let now = self.clock.now();
        let mut credentials = Credentials::new(hash, next_version(0, now), reader == Reader::Another);
        credentials.enable(now);
        credentials.made_password_until = (reader == Reader::Owner).then(|| now.plus_ms(MADE_PASSWORD_MS));
        Ok((password, credentials))
    }

    /// Gives a person a new password and ends all their sessions. The password is returned, shown once, and changed at
    /// the first sign-in.
    pub(super) async fn give_password<S: Someone>(
        &self,
        login: &Login,
    ) -> Result<Secret<String>, PeopleError> {
        let password = password::random_password()?;
        let hash = self.passwords.hash(&password).await?;
        let now = self.clock.now();
        let change = |person: &mut S| {
            let credentials = person.credentials_mut();
            credentials.replace_password(hash.clone(), next_version(credentials.password_version, now));
            credentials.must_change_password = true;
            credentials.enable(now);
            Ok(())
        };
        self.change(login, change).await?;
        Ok(password)
    }
}
