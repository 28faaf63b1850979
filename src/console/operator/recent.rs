//! Operators' sessions that this node has verified. While the store is unavailable, they only permit viewing.

use std::collections::HashMap;
use std::pin::pin;
use std::sync::{Mutex, MutexGuard, PoisonError};

use quita_domain::people::{Login, Session};
use quita_domain::secret::Secret;
use tokio::time::{Duration, Instant, timeout};

use super::visitor::OperatorIdentity;
use quita_services::people::SessionMemory;

/// Time for which a session is accepted after the store last confirmed it.
const BELIEVED_FOR: Duration = Duration::from_secs(4 * 3_600);
/// Time limit for the store to confirm a session again.
const CONFIRMED_WITHIN: Duration = Duration::from_secs(1);
/// Maximum number of remembered sessions.
const REMEMBERED: usize = 64;

/// Sessions by their ids, never their tokens, with their operators.
#[derive(Default)]
pub(super) struct RecentSessions(Mutex<SessionCache>);

#[derive(Default)]
struct SessionCache {
    sessions: HashMap<String, (OperatorIdentity, Instant)>,
    /// Number of times that sessions were forgotten. Answers of the store from before the last time are not remembered.
    forgotten: u64,
}

impl RecentSessions {
    /// Returns the operator of a session that continues, according to the store. A recently confirmed session also
    /// continues while the store fails or takes too long; any other one waits for the answer.
    pub(super) async fn confirm<E>(
        &self,
        token: &Secret<String>,
        asked: impl Future<Output = Result<Option<OperatorIdentity>, E>>,
    ) -> Result<Option<OperatorIdentity>, E> {
        let id = Session::id_of(token.expose());
        let forgotten = self.lock().forgotten;
        let mut asked = pin!(asked);
        let said = match self.recall(&id) {
            None => asked.await?,
            // A session forgotten in the meantime is no longer accepted.
            Some(_) => match (timeout(CONFIRMED_WITHIN, asked.as_mut()).await, self.recall(&id)) {
                (Ok(Ok(said)), _) => said,
                (Ok(Err(_)) | Err(_), Some(who)) => return Ok(Some(who)),
                (Ok(Err(error)), None) => return Err(error),
                (Err(_), None) => asked.await?,
            },
        };
        match &said {
            Some(who) => self.note(id, who, forgotten),
            None => self.forget_session(&id),
        }
        Ok(said)
    }

    /// Remembers that the store confirmed a session, unless sessions were forgotten after the query began.
    fn note(&self, id: String, who: &OperatorIdentity, forgotten: u64) {
        let mut remembered = self.lock();
        if remembered.forgotten != forgotten {
            return;
        }
        let sessions = &mut remembered.sessions;
        if sessions.len() >= REMEMBERED {
            sessions.retain(|_, (_, at)| at.elapsed() < BELIEVED_FOR);
        }
        if sessions.len() < REMEMBERED || sessions.contains_key(&id) {
            sessions.insert(id, (who.clone(), Instant::now()));
        }
    }

    /// Returns the operator of a session that the store confirmed recently.
    fn recall(&self, id: &str) -> Option<OperatorIdentity> {
        let remembered = self.lock();
        let (who, at) = remembered.sessions.get(id)?;
        (at.elapsed() < BELIEVED_FOR).then(|| who.clone())
    }

    fn forget(&self, is_forgotten: impl Fn(&str, &OperatorIdentity) -> bool) {
        let mut remembered = self.lock();
        remembered.forgotten = remembered.forgotten.wrapping_add(1);
        remembered.sessions.retain(|id, (who, _)| !is_forgotten(id, who));
    }

    fn lock(&self) -> MutexGuard<'_, SessionCache> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl SessionMemory for RecentSessions {
    fn forget_person(&self, login: &Login) {
        self.forget(|_, who| who.login == *login);
    }

    fn forget_session(&self, id: &str) {
        self.forget(|known, _| known == id);
    }
}

#[cfg(test)]
mod tests {
    use quita_domain::people::OperatorRole;
    use tokio::sync::oneshot;

    use super::*;

    fn ana() -> OperatorIdentity {
        OperatorIdentity {
            login: Login::parse("ana@ops.example").unwrap(),
            role: OperatorRole::Operator,
            duty: None,
        }
    }

    fn token() -> Secret<String> {
        Secret::new(String::from("token"))
    }

    /// Answer of the store.
    type Said = Result<Option<OperatorIdentity>, &'static str>;
    const AWAY: Said = Err("away");

    #[tokio::test(start_paused = true)]
    async fn a_slow_or_absent_store_is_not_waited_for_and_confirms_nothing() {
        let sessions = RecentSessions::default();
        let token = token();
        let (yes, no): (Said, Said) = (Ok(Some(ana())), Ok(None));
        assert_eq!(sessions.confirm(&token, async { AWAY }).await, AWAY, "nobody confirmed it");
        assert_eq!(sessions.confirm(&token, async { yes.clone() }).await, yes);
        let begun = Instant::now();
        assert_eq!(sessions.confirm(&token, std::future::pending()).await, yes);
        assert_eq!(begun.elapsed(), CONFIRMED_WITHIN);
        tokio::time::advance(BELIEVED_FOR - CONFIRMED_WITHIN * 2).await;
        assert_eq!(sessions.confirm(&token, async { AWAY }).await, yes);
        tokio::time::advance(CONFIRMED_WITHIN).await;
        assert_eq!(sessions.confirm(&token, async { AWAY }).await, AWAY, "counted from what the store said");
        assert_eq!(sessions.confirm(&token, async { yes.clone() }).await, yes);
        assert_eq!(sessions.confirm(&token, async { no.clone() }).await, no);
        assert_eq!(sessions.confirm(&token, async { AWAY }).await, AWAY);
    }

    #[tokio::test(start_paused = true)]
    async fn a_session_is_believed_no_more_once_it_or_its_operator_was_changed() {
        let sessions = RecentSessions::default();
        let token = token();
        let yes: Said = Ok(Some(ana()));
        let changes: [&dyn Fn(); 2] = [&|| sessions.forget_person(&ana().login), &|| {
            sessions.forget_session(&Session::id_of(token.expose()))
        }];
        for change in changes {
            assert_eq!(sessions.confirm(&token, async { yes.clone() }).await, yes);
            change();
            assert_eq!(sessions.confirm(&token, async { AWAY }).await, AWAY);
        }
        assert_eq!(sessions.confirm(&token, async { yes.clone() }).await, yes);
        sessions.forget_person(&Login::parse("bia@ops.example").unwrap());
        assert_eq!(
            sessions.confirm(&token, async { AWAY }).await,
            yes,
            "another's change is none of this one"
        );
    }

    #[tokio::test(start_paused = true)]
    async fn what_the_store_said_before_a_change_is_not_remembered_after_it() {
        let sessions = RecentSessions::default();
        let token = token();
        let (tell, told) = oneshot::channel();
        let asked = sessions.confirm(&token, async { Said::Ok(told.await.ok()) });
        let change = async {
            tokio::task::yield_now().await;
            sessions.forget_person(&ana().login);
            tell.send(ana()).unwrap();
        };
        let (said, ()) = tokio::join!(asked, change);
        assert_eq!(said, Ok(Some(ana())));
        assert_eq!(sessions.confirm(&token, async { AWAY }).await, AWAY);
    }

    #[tokio::test(start_paused = true)]
    async fn who_is_removed_while_the_store_is_silent_is_not_believed_meanwhile() {
        let sessions = RecentSessions::default();
        let token = token();
        assert!(sessions.confirm(&token, async { Said::Ok(Some(ana())) }).await.is_ok());
        let silent = async {
            tokio::time::sleep(CONFIRMED_WITHIN * 3).await;
            AWAY
        };
        let remove = async {
            tokio::time::sleep(CONFIRMED_WITHIN / 2).await;
            sessions.forget_person(&ana().login);
        };
        let (said, ()) = tokio::join!(sessions.confirm(&token, silent), remove);
        assert_eq!(said, AWAY);
    }
}
