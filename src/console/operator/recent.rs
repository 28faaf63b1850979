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

/// Sessions by their ids, never their tokens.
#[derive(Default)]
pub(super) struct RecentSessions(Mutex<HashMap<String, Instant>>);

impl RecentSessions {
    /// Whether a session goes on, as the store says when it is asked. One that it confirmed a while ago goes on while it
    /// says nothing, or nothing soon; any other waits for it.
    pub(super) async fn confirm<E>(
        &self,
        token: &Secret<String>,
        asked: impl Future<Output = Result<bool, E>>,
    ) -> Result<bool, E> {
        let said = match self.knows(token) {
            true => timeout(CONFIRMED_WITHIN, asked).await.ok().and_then(Result::ok),
            false => Some(asked.await?),
        };
        let Some(goes_on) = said else { return Ok(true) };
        self.note(token, goes_on);
        Ok(goes_on)
    }

    /// The store said whether this session goes on.
    pub(super) fn note(&self, token: &Secret<String>, goes_on: bool) {
        let (id, mut sessions) = (Session::id_of(token.expose()), self.lock());
        if !goes_on {
            sessions.remove(&id);
            return;
        }
        if sessions.len() >= REMEMBERED {
            sessions.retain(|_, at| at.elapsed() < BELIEVED_FOR);
        }
        if sessions.len() < REMEMBERED || sessions.contains_key(&id) {
            sessions.insert(id, Instant::now());
        }
    }

    /// Whether the store confirmed this session a while ago.
    pub(super) fn knows(&self, token: &Secret<String>) -> bool {
        let id = Session::id_of(token.expose());
        self.lock().get(&id).is_some_and(|at| at.elapsed() < BELIEVED_FOR)
    }

    fn lock(&self) -> MutexGuard<'_, HashMap<String, Instant>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test(start_paused = true)]
    async fn a_slow_or_absent_store_is_not_waited_for_and_confirms_nothing() {
        let (sessions, token) = (RecentSessions::default(), Secret::new(String::from("token")));
        let [yes, no, away]: [Result<bool, &str>; 3] = [Ok(true), Ok(false), Err("away")];
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
        assert!(!sessions.knows(&token));
        sessions.note(&token, true);
        assert!(sessions.knows(&token) && !sessions.knows(&Secret::new("another".into())));
        tokio::time::advance(BELIEVED_FOR).await;
        assert!(!sessions.knows(&token));
        sessions.note(&token, true);
        sessions.note(&token, false);
        assert!(!sessions.knows(&token));
    }
}
