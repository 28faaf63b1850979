//! Second factors: set up, given, renewed, taken away.

use quita_actors::Strongbox;
use quita_domain::people::{
    Credentials, Login, Origin, RECOVERY_CODE_BYTES, RECOVERY_CODES, RecoveryCode, SecondFactor,
    SessionStage, WrongCodes,
};
use quita_domain::secret::Secret;
use quita_domain::secret_key::StoredSecret;
use quita_machine::random_bytes;

use super::sessions::Signed;
use super::someone::Someone;
use super::{MAX_RACES, NewSession, People, PeopleError, totp};

/// Second factors of the people of a store, whose secrets are sealed.
#[derive(Clone)]
pub struct SecondFactors {
    people: People,
    strongbox: Strongbox,
}

/// What somebody gave as the second factor.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Given {
    /// A code of the authenticator.
    Code,
    /// A recovery code; so many are left.
    RecoveryCode {
        /// How many.
        left: usize,
    },
}

/// What somebody typed.
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
    /// Of these people, with their secrets in this strongbox.
    pub fn new(people: People, strongbox: Strongbox) -> Self {
        Self { people, strongbox }
    }

    /// A secret for somebody who is about to set it up. It is not stored before a code proves that an authenticator has it.
    ///
    /// # Errors
    /// When no randomness is there.
    pub fn propose(&self) -> Result<Secret<String>, PeopleError> {
        Ok(totp::new_secret()?)
    }

    /// What an authenticator reads from the QR code of a secret.
    pub fn address(&self, login: &Login, secret: &Secret<String>) -> String {
        totp::address(login, secret)
    }

    /// Says whether a code is one of a secret that is about to be set up. Nothing is taken or stored.
    ///
    /// # Errors
    /// [`PeopleError::WrongCode`] if it is none.
    pub fn check_first_code(&self, secret: &Secret<String>, code: &str) -> Result<(), PeopleError> {
        self.first_step(secret, code).map(drop)
    }

    /// The step of the first code of a secret.
    fn first_step(&self, secret: &Secret<String>, code: &str) -> Result<i64, PeopleError> {
        let code = totp::code_in(code).ok_or(PeopleError::WrongCode)?;
        totp::step_of(secret, &code, self.people.clock.now()).ok_or(PeopleError::WrongCode)
    }

    /// Sets the second factor up, in place of one that there was; returns the recovery codes, to be shown once.
    ///
    /// # Errors
    /// [`PeopleError::WrongCode`] if the code is none of this secret, and when store, randomness or the strongbox fail.
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

    /// New recovery codes in place of those that there were, to be shown once.
    ///
    /// # Errors
    /// [`PeopleError::NoFactor`], and when store or randomness fail.
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

    /// Takes the second factor of half a session, which becomes a whole one under another token. `None` if there is no such
    /// half.
    ///
    /// # Errors
    /// [`PeopleError::WrongCode`], [`PeopleError::CodesWait`], and [`PeopleError::SignInOver`] after too many wrong codes; or
    /// when the store does not answer.
    pub async fn finish_sign_in<S: Someone>(
        &self,
        token: &str,
        text: &str,
        origin: Origin,
    ) -> Result<Option<(NewSession<S>, Given)>, PeopleError> {
        let Some(half) = self.people.half::<S>(token).await? else { return Ok(None) };
        let (person, given) = match self.take::<S>(half.person.login(), text).await {
            Ok(taken) => taken,
            Err(error) => return Err(self.end_if_hopeless(&half, error).await?),
        };
        // What the password proved holds for this password alone.
        if person.credentials().password_version != half.person.credentials().password_version {
            return Ok(None);
        }
        self.people.sign_out(token).await?;
        let session = self.people.begin(person, SessionStage::Whole, origin).await?;
        Ok(Some((session, given)))
    }

    /// Proves with the second factor who it is, in a session that goes on.
    ///
    /// # Errors
    /// [`PeopleError::WrongCode`], [`PeopleError::CodesWait`], and when the store does not answer.
    pub async fn confirm<S: Someone>(&self, signed: &Signed<S>, text: &str) -> Result<Given, PeopleError> {
        let (_, given) = self.take::<S>(signed.person.login(), text).await?;
        self.people.confirm(&signed.session).await?;
        Ok(given)
    }

    /// After so many wrong codes the password is asked for again.
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

    /// Takes a code or a recovery code of somebody, once, on whichever node: what is decided is written before it is told.
    ///
    /// # Errors
    /// [`PeopleError::WrongCode`], [`PeopleError::CodesWait`] after several, [`PeopleError::NoFactor`], and when the store
    /// or the strongbox fail.
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

    /// Whether what was typed is right, and what becomes of the credentials by it.
    fn judge<S: Someone>(
        &self,
        person: &S,
        credentials: &mut Credentials,
        typed: &Typed,
    ) -> Result<Given, PeopleError> {
        let (now, wrong) = (self.people.clock.now(), credentials.wrong_codes);
        let factor = credentials.second_factor.as_mut().ok_or(PeopleError::NoFactor)?;
        let code = match typed {
            Typed::RecoveryCode(code) => {
                let is_right = factor.take_recovery_code(code);
                let given = Given::RecoveryCode { left: factor.recovery_codes.len() };
                // Of 80 bits nobody finds one by guessing, so a wrong one is not counted.
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
    /// Takes somebody's second factor away: it is not asked for any more.
    ///
    /// # Errors
    /// [`PeopleError::NoFactor`], [`PeopleError::NoSuchUser`], and when the store does not answer.
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
