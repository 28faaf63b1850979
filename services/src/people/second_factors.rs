//! Second factors: setting up, giving, renewing and removing them.

use crate::secret_keys::Strongbox;
use quita_domain::people::{
    Credentials, Login, RECOVERY_CODE_BYTES, RECOVERY_CODES, RecoveryCode, SecondFactor, SessionOrigin,
    SessionStage, WrongCodes,
};
use quita_domain::secret::Secret;
use quita_domain::secret_key::StoredSecret;
use quita_machine::random_bytes;

use super::sessions::Signed;
use super::someone::Someone;
use super::{MAX_RACES, NewSession, People, PeopleError, totp};

/// Second factors of the people in a store, with sealed secrets.
#[derive(Clone)]
pub struct SecondFactors {
    people: People,
    strongbox: Strongbox,
}

/// Kind of second factor that was given.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Given {
    /// Code of the authenticator.
    Code,
    /// Recovery code.
    RecoveryCode {
        /// Number of codes left.
        left: usize,
    },
}

/// Parsed input of a person.
enum Typed {
    Code(String),
    RecoveryCode(RecoveryCode),
}

impl Typed {
    fn parse(text: &str) -> Option<Self> {
        let code = totp::code_in(text).map(Self::Code);
        code.or_else(|| RecoveryCode::parse(text).map(Self::RecoveryCode))
    }
}

impl SecondFactors {
    /// Manages the second factors of these people, with their secrets in this strongbox.
    pub fn new(people: People, strongbox: Strongbox) -> Self {
        Self { people, strongbox }
    }

    /// Proposes a secret to be set up. It is stored only when a code proves that an authenticator has it.
    ///
    /// # Errors
    /// Fails if there is no randomness.
    pub fn propose(&self) -> Result<Secret<String>, PeopleError> {
        Ok(totp::new_secret()?)
    }

    /// Returns the address that an authenticator reads from the QR code of a secret.
    pub fn address(&self, login: &Login, secret: &Secret<String>) -> String {
        totp::address(login, secret)
    }

    /// Checks a code of a secret that is about to be set up, without storing anything.
    ///
    /// # Errors
    /// [`PeopleError::WrongCode`] if it is wrong.
    pub fn check_first_code(&self, secret: &Secret<String>, code: &str) -> Result<(), PeopleError> {
        self.first_step(secret, code).map(drop)
    }

    /// Returns the time step of the first code of a secret.
    fn first_step(&self, secret: &Secret<String>, code: &str) -> Result<i64, PeopleError> {
        let code = totp::code_in(code).ok_or(PeopleError::WrongCode)?;
        totp::step_of(secret, &code, self.people.clock.now()).ok_or(PeopleError::WrongCode)
    }

    /// Sets up or replaces the second factor. Returns the recovery codes, to be shown once.
    ///
    /// # Errors
    /// [`PeopleError::WrongCode`] if the code is not one of this secret, and if store, randomness or the strongbox
    /// fail.
    pub async fn set_up<S: Someone>(
        &self,
        person: &S,
        secret: &Secret<String>,
        code: &str,
    ) -> Result<Vec<RecoveryCode>, PeopleError> {
        let now = self.people.clock.now();
        let last_step = self.first_step(secret, code)?;
        let codes = new_codes()?;
        let secret = self.strongbox.seal_secret(secret, &person.factor_place()).await?;
        let recovery_codes = codes.iter().map(RecoveryCode::hash).collect();
        let factor = SecondFactor { secret, recovery_codes, last_step, since: now };
        let change = |person: &mut S| {
            let credentials = person.credentials_mut();
            credentials.second_factor = Some(factor.clone());
            credentials.wrong_codes = WrongCodes::default();
            Ok(())
        };
        self.people.change(person.login(), change).await?;
        Ok(codes)
    }

    /// Replaces the recovery codes. Returns the new ones, to be shown once.
    ///
    /// # Errors
    /// [`PeopleError::NoFactor`], and if store or randomness fail.
    pub async fn renew_recovery_codes<S: Someone>(
        &self,
        person: &S,
    ) -> Result<Vec<RecoveryCode>, PeopleError> {
        let codes = new_codes()?;
        let change = |person: &mut S| {
            let factor = person.credentials_mut().second_factor.as_mut().ok_or(PeopleError::NoFactor)?;
            factor.recovery_codes = codes.iter().map(RecoveryCode::hash).collect();
            Ok(())
        };
        self.people.change(person.login(), change).await?;
        Ok(codes)
    }

    /// Accepts the second factor of half a session, which becomes a whole one under a new token. Returns `None` if
    /// there is no such half.
    ///
    /// # Errors
    /// [`PeopleError::WrongCode`], [`PeopleError::CodesWait`], [`PeopleError::SignInOver`] after too many wrong codes,
    /// and if the store does not answer.
    pub async fn finish_sign_in<S: Someone>(
        &self,
        token: &str,
        text: &str,
        origin: SessionOrigin,
    ) -> Result<Option<(NewSession<S>, Given)>, PeopleError> {
        let Some(half) = self.people.half::<S>(token).await? else { return Ok(None) };
        let (person, given) = match self.take::<S>(half.person.login(), text).await {
            Ok(taken) => taken,
            Err(error) => return Err(self.end_if_hopeless(&half, error).await?),
        };
        // The half session was proven by the old password only.
        if person.credentials().password_version != half.person.credentials().password_version {
            return Ok(None);
        }
        self.people.sign_out(token).await?;
        let session = self.people.begin(person, SessionStage::Whole, origin).await?;
        Ok(Some((session, given)))
    }

    /// Confirms the identity by second factor, in a session that continues.
    ///
    /// # Errors
    /// [`PeopleError::WrongCode`], [`PeopleError::CodesWait`], and if the store does not answer.
    pub async fn confirm<S: Someone>(&self, signed: &Signed<S>, text: &str) -> Result<Given, PeopleError> {
        let (_, given) = self.take::<S>(signed.person.login(), text).await?;
        self.people.confirm(&signed.session).await?;
        Ok(given)
    }

    /// Ends the half session after too many wrong codes, so that the password is required again.
    async fn end_if_hopeless<S: Someone>(
        &self,
        half: &Signed<S>,
        error: PeopleError,
    ) -> Result<PeopleError, PeopleError> {
        let PeopleError::WrongCode = error else { return Ok(error) };
        let person = S::find(self.people.store.as_ref(), half.person.login()).await?;
        if !person.is_some_and(|person| person.credentials().wrong_codes.ends_sign_in()) {
            return Ok(error);
        }
        self.people.remove_session(&half.session.id).await?;
        Ok(PeopleError::SignInOver)
    }

    /// Accepts a code or recovery code of a person, only once across all nodes. The decision is written before it is
    /// returned.
    ///
    /// # Errors
    /// [`PeopleError::WrongCode`], [`PeopleError::CodesWait`] after several, [`PeopleError::NoFactor`], and if the
    /// store or the strongbox fail.
    async fn take<S: Someone>(&self, login: &Login, text: &str) -> Result<(S, Given), PeopleError> {
        let typed = Typed::parse(text).ok_or(PeopleError::WrongCode)?;
        for _ in 0..MAX_RACES {
            let before = self.people.find_someone::<S>(login).await?;
            let mut after = before.clone();
            let judged = self.judge(&before, after.credentials_mut(), &typed);
            if before == after {
                return judged.map(|given| (after, given));
            }
            if self.people.replace(&before, &after).await? {
                return judged.map(|given| (after, given));
            }
        }
        Err(PeopleError::Raced)
    }

    /// Checks the typed code, and changes the credentials accordingly.
    fn judge<S: Someone>(
        &self,
        person: &S,
        credentials: &mut Credentials,
        typed: &Typed,
    ) -> Result<Given, PeopleError> {
        let now = self.people.clock.now();
        let wrong = credentials.wrong_codes;
        let factor = credentials.second_factor.as_mut().ok_or(PeopleError::NoFactor)?;
        let code = match typed {
            Typed::RecoveryCode(code) => {
                let is_right = factor.take_recovery_code(code);
                let given = Given::RecoveryCode { left: factor.recovery_codes.len() };
                // Not even an old code, which has 80 bits, can be guessed, so a wrong one is not counted.
                return if is_right { Ok(given) } else { Err(PeopleError::WrongCode) };
            }
            Typed::Code(code) => code,
        };
        let waits_ms = wrong.next_at().ms_since(now);
        if waits_ms > 0 {
            return Err(PeopleError::CodesWait(waits_ms.div_ceil(1_000)));
        }
        let sealed = StoredSecret::Sealed(factor.secret.clone());
        let secret = self.strongbox.open(&sealed, &person.factor_place())?;
        let step = totp::step_of(&secret, code, now);
        if step.is_some_and(|step| factor.take_step(step)) {
            credentials.wrong_codes = WrongCodes::default();
            return Ok(Given::Code);
        }
        credentials.wrong_codes = wrong.one_more(now);
        Err(PeopleError::WrongCode)
    }
}

impl People {
    /// Removes a person's second factor, which is no longer required then.
    ///
    /// # Errors
    /// [`PeopleError::NoFactor`], [`PeopleError::NoSuchUser`], and if the store does not answer.
    pub async fn remove_factor<S: Someone>(&self, login: &Login) -> Result<(), PeopleError> {
        let change = |person: &mut S| {
            let credentials = person.credentials_mut();
            credentials.wrong_codes = WrongCodes::default();
            credentials.second_factor.take().map(drop).ok_or(PeopleError::NoFactor)
        };
        self.change(login, change).await.map(drop)
    }
}

fn new_codes() -> Result<Vec<RecoveryCode>, PeopleError> {
    let code = |_| Ok(RecoveryCode::of(&random_bytes::<RECOVERY_CODE_BYTES>()?));
    (0..RECOVERY_CODES).map(code).collect()
}
