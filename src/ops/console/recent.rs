//! Sessions of the operator that this node has verified, for when the store can't be asked: then operators look.

use std::collections::HashMap;
use std::sync::{Mutex, MutexGuard, PoisonError};

use quita_domain::people::Session;
use quita_domain::secret::Secret;
use tokio::time::{Duration, Instant};

/// How long a session is believed after the store confirmed it last.
const BELIEVED_FOR: Duration = Duration::from_secs(4 * 3_600);
/// Sessions that are remembered.
const REMEMBERED: usize = 64;

/// Sessions by their ids, never their tokens.
#[derive(Default)]
pub(super) struct RecentSessions(Mutex<HashMap<String, Instant>>);

impl RecentSessions {
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
