//! Sessions of the operator that this node has verified, for when the store can't be asked: then operators look.

use std::collections::HashMap;
use std::sync::{Mutex, MutexGuard, PoisonError};

use quita_domain::people::Session;
use quita_domain::secret::Secret;
use tokio::time::{Duration, Instant, timeout};

/// How long a session is believed after the store confirmed it last.
const BELIEVED_FOR: Duration = Duration::from_secs(4 * 3_600);
/// How long the store may take to say so again.
const CONFIRMED_WITHIN: Duration = Duration::from_secs(1);
/// Sessions that are remembered.
const REMEMBERED: usize = 64;

/// Sessions by their ids, never their tokens, with whose they are.
pub(super) struct RecentSessions<W>(Mutex<HashMap<String, (W, Instant)>>);

impl<W> Default for RecentSessions<W> {
    fn default() -> Self {
        Self(Mutex::default())
    }
}

impl<W: Clone> RecentSessions<W> {
    /// Whose session it is if it goes on, as the store says when it is asked. One that it confirmed a while ago goes on
    /// while it says nothing, or nothing soon; any other waits for it.
    pub(super) async fn confirm<E>(
        &self,
        token: &Secret<String>,
        asked: impl Future<Output = Result<Option<W>, E>>,
    ) -> Result<Option<W>, E> {
        let said = match self.recall(token) {
            Some(who) => match timeout(CONFIRMED_WITHIN, asked).await {
                Ok(Ok(said)) => said,
                Ok(Err(_)) | Err(_) => return Ok(Some(who)),
            },
            None => asked.await?,
        };
        match &said {
            Some(who) => self.note(token, who),
            None => self.forget(token),
        }
        Ok(said)
    }

    /// The session is over.
    pub(super) fn forget(&self, token: &Secret<String>) {
        self.lock().remove(&Session::id_of(token.expose()));
    }

    /// The store said that this session goes on.
    fn note(&self, token: &Secret<String>, who: &W) {
        let (id, mut sessions) = (Session::id_of(token.expose()), self.lock());
        if sessions.len() >= REMEMBERED {
            sessions.retain(|_, (_, at)| at.elapsed() < BELIEVED_FOR);
        }
        if sessions.len() < REMEMBERED || sessions.contains_key(&id) {
            sessions.insert(id, (who.clone(), Instant::now()));
        }
    }

    /// Whose session it is, if the store confirmed it a while ago.
    fn recall(&self, token: &Secret<String>) -> Option<W> {
        let id = Session::id_of(token.expose());
        let sessions = self.lock();
        let (who, at) = sessions.get(&id)?;
        (at.elapsed() < BELIEVED_FOR).then(|| who.clone())
    }

    fn lock(&self) -> MutexGuard<'_, HashMap<String, (W, Instant)>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const ANA: Option<&str> = Some("ana");

    #[tokio::test(start_paused = true)]
    async fn a_slow_or_absent_store_is_not_waited_for_and_confirms_nothing() {
        let (sessions, token) = (RecentSessions::default(), Secret::new(String::from("token")));
        let [yes, no, away]: [Result<Option<&str>, &str>; 3] = [Ok(ANA), Ok(None), Err("away")];
        assert_eq!(sessions.confirm(&token, async { away }).await, away, "nobody confirmed it");
        assert_eq!(sessions.confirm(&token, async { yes }).await, yes);
        let begun = Instant::now();
        assert_eq!(sessions.confirm(&token, std::future::pending()).await, yes);
        assert_eq!(begun.elapsed(), CONFIRMED_WITHIN);
        tokio::time::advance(BELIEVED_FOR - CONFIRMED_WITHIN * 2).await;
        assert_eq!(sessions.confirm(&token, async { away }).await, yes);
        tokio::time::advance(CONFIRMED_WITHIN).await;
        assert_eq!(sessions.confirm(&token, async { away }).await, away, "counted from what the store said");
        assert_eq!(sessions.confirm(&token, async { yes }).await, yes);
        assert_eq!(sessions.confirm(&token, async { no }).await, no);
        assert_eq!(sessions.confirm(&token, async { away }).await, away);
    }

    #[tokio::test(start_paused = true)]
    async fn a_session_is_believed_for_a_while_and_not_once_it_is_over() {
        let (sessions, token) = (RecentSessions::default(), Secret::new(String::from("token")));
        assert_eq!(sessions.recall(&token), None);
        sessions.note(&token, &"ana");
        assert_eq!((sessions.recall(&token), sessions.recall(&Secret::new("another".into()))), (ANA, None));
        tokio::time::advance(BELIEVED_FOR).await;
        assert_eq!(sessions.recall(&token), None);
        sessions.note(&token, &"ana");
        sessions.forget(&token);
        assert_eq!(sessions.recall(&token), None);
    }
}
