//! Running sessions: their person, their last use, their list, and their end.

use base64::Engine;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use quita_domain::money::Money;
use quita_domain::people::{SESSION_TOKEN_BYTES, Session, SessionOf, SessionOrigin, SessionStage};
use quita_domain::secret::Secret;
use quita_domain::time::Timestamp;
use quita_machine::random_bytes;

use super::someone::Someone;
use super::{MAX_RACES, NewSession, People, PeopleError};

/// Longest time between two stored uses of a session, so that not every click is a write.
const NOTED_EVERY_MS: u64 = 60_000;
/// Stored uses within the idle limit. With a limit under 15 minutes, they are more frequent than once a minute.
const NOTES_UNTIL_IDLE: u64 = 15;

/// Time for which a proof of identity counts.
pub const CONFIRMED_FOR_MS: u64 = 5 * 60_000;

/// Person in a session.
#[derive(Clone)]
pub struct Signed<S> {
    /// Person who is signed in.
    pub person: S,
    /// Session of that person.
    pub session: Session,
}

impl People {
    /// Returns the person signed in with this token, and keeps the session alive.
    ///
    /// # Errors
    /// Fails if the store does not answer.
    pub async fn visit<S: Someone>(&self, token: &str) -> Result<Option<Signed<S>>, PeopleError> {
        let Some(signed) = self.watch::<S>(token).await? else { return Ok(None) };
        let session = self.note_use(signed.session).await?;
        Ok(Some(Signed { session, ..signed }))
    }

    /// Records that a session is used, unless that was recorded a moment ago.
    pub(super) async fn note_use(&self, session: Session) -> Result<Session, PeopleError> {
        let now = self.clock.now();
        let note_after_ms = NOTED_EVERY_MS.min(self.idle_ms / NOTES_UNTIL_IDLE);
        if now.ms_since(session.last_seen_at) < note_after_ms {
            return Ok(session);
        }
        let after = Session { last_seen_at: now, ..session.clone() };
        // A faster writer recorded it too, or ended the session, which the next request will notice.
        let is_noted = self.store.replace_session(&session, &after).await?;
        Ok(if is_noted { after } else { session })
    }

    /// Returns the person signed in with this token, without keeping the session alive.
    ///
    /// # Errors
    /// Fails if the store does not answer.
    pub async fn watch<S: Someone>(&self, token: &str) -> Result<Option<Signed<S>>, PeopleError> {
        self.in_stage(token, SessionStage::Whole).await
    }

    /// Returns the person who gave the password in this session, but not yet the second factor.
    ///
    /// # Errors
    /// Fails if the store does not answer.
    pub async fn half<S: Someone>(&self, token: &str) -> Result<Option<Signed<S>>, PeopleError> {
        self.in_stage(token, SessionStage::Half).await
    }

    async fn in_stage<S: Someone>(
        &self,
        token: &str,
        stage: SessionStage,
    ) -> Result<Option<Signed<S>>, PeopleError> {
        let session = self.live_session(token).await?.filter(|session| session.stage == stage);
        let Some(session) = session else { return Ok(None) };
        let person = S::find(self.store.as_ref(), session.of.login()).await?;
        // A session of another kind of person, or under an earlier password, is invalid.
        let person = person.filter(|person| person.session_of() == session.of);
        Ok(person.map(|person| Signed { person, session }))
    }

    /// Returns the running sessions of a person, the most recently used first.
    ///
    /// # Errors
    /// Fails if the store does not answer.
    pub async fn sessions<S: Someone>(&self, person: &S) -> Result<Vec<Session>, PeopleError> {
        let of = person.session_of();
        let now = self.clock.now();
        let mut sessions = self.store.sessions_of(&of.person()).await?;
        sessions.retain(|session| {
            session.of == of && session.stage == SessionStage::Whole && session.is_live(now, self.idle_ms)
        });
        sessions
            .sort_by(|left, right| right.last_seen_at.cmp(&left.last_seen_at).then(left.id.cmp(&right.id)));
        Ok(sessions)
    }

    /// Ends one of a person's sessions by its public id. Returns false if there is none.
    ///
    /// # Errors
    /// Fails if the store does not answer.
    pub async fn end_session<S: Someone>(&self, person: &S, public_id: &str) -> Result<bool, PeopleError> {
        let sessions = self.sessions(person).await?;
        let Some(session) = sessions.iter().find(|session| session.public_id() == public_id) else {
            return Ok(false);
        };
        self.remove_session(&session.id).await?;
        Ok(true)
    }

    /// Ends every session of a person except this one, and returns their number.
    ///
    /// # Errors
    /// Fails if the store does not answer. The sessions ended before stay ended.
    pub async fn end_other_sessions<S: Someone>(&self, signed: &Signed<S>) -> Result<usize, PeopleError> {
        let sessions = self.sessions(&signed.person).await?;
        let others: Vec<_> = sessions.iter().filter(|session| session.id != signed.session.id).collect();
        for session in &others {
            self.remove_session(&session.id).await?;
        }
        Ok(others.len())
    }

    /// Ends a session.
    ///
    /// # Errors
    /// Fails if the store does not answer.
    pub async fn sign_out(&self, token: &str) -> Result<(), PeopleError> {
        Ok(self.remove_session(&Session::id_of(token)).await?)
    }

    /// Returns true if the identity was proven in this session a short while ago.
    pub fn is_confirmed(&self, session: &Session) -> bool {
        self.clock.now().ms_since(session.confirmed_at) < CONFIRMED_FOR_MS
    }

    /// Records that the identity was proven just now.
    pub(super) async fn confirm(&self, session: &Session) -> Result<(), PeopleError> {
        for _ in 0..MAX_RACES {
            let now = self.clock.now();
            let Some(before) = self.store.session(&session.id).await? else { return Ok(()) };
            // Refunds are summed from the last proof of identity on, which this is.
            let refunded = Money::ZERO;
            let after = Session { confirmed_at: now, last_seen_at: now, refunded, ..before.clone() };
            if self.store.replace_session(&before, &after).await? {
                return Ok(());
            }
        }
        Err(PeopleError::Raced)
    }

    /// Begins a session of a person whose identity is proven now.
    pub(super) async fn begin<S: Someone>(
        &self,
        person: S,
        stage: SessionStage,
        origin: SessionOrigin,
    ) -> Result<NewSession<S>, PeopleError> {
        // A password without the required second factor does not count as a use of the account yet.
        if stage == SessionStage::Whole {
            self.note_sign_in(&person).await?;
        }
        self.begin_with(person, |token, of, now| Session::begin(token, of, stage, origin, now)).await
    }

    /// Begins a session in place of another. It has the same proof of identity, and no more.
    pub(super) async fn begin_instead<S: Someone>(
        &self,
        person: S,
        of_before: &Session,
    ) -> Result<NewSession<S>, PeopleError> {
        let begin = |token: &str, of, now| {
            let session = Session::begin(token, of, SessionStage::Whole, of_before.origin.clone(), now);
            let confirmed_at = of_before.confirmed_at;
            let refunded = of_before.refunded;
            Session { confirmed_at, refunded, ..session }
        };
        self.begin_with(person, begin).await
    }

    async fn begin_with<S: Someone>(
        &self,
        person: S,
        begin: impl FnOnce(&str, SessionOf, Timestamp) -> Session,
    ) -> Result<NewSession<S>, PeopleError> {
        let token = URL_SAFE_NO_PAD.encode(random_bytes::<SESSION_TOKEN_BYTES>()?);
        let session = begin(&token, person.session_of(), self.clock.now());
        self.store.insert_session(&session).await?;
        Ok(NewSession { person, stage: session.stage, token: Secret::new(token) })
    }

    pub(super) async fn live_session(&self, token: &str) -> Result<Option<Session>, PeopleError> {
        let session = self.store.session(&Session::id_of(token)).await?;
        Ok(session.filter(|session| session.is_live(self.clock.now(), self.idle_ms)))
    }
}
