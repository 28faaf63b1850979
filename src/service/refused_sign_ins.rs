//! Who was not let in, for the audit log: the first attempts of a minute one by one, the others counted by network and
//! merchant. However many come, a node adds a bounded number of entries.

mod minute;

use std::net::IpAddr;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use quita_domain::audit::AuditAction;
use quita_domain::identity::MerchantId;
use quita_domain::people::Login;
use quita_ports::PeopleStore;
use tokio::sync::Notify;
use tokio::time::timeout;

use super::audit::{Audit, AuditDraft, Initiator};
use super::network::network_of;
use minute::{Minute, Noted, Of, Summary};

/// How long attempts are counted together.
const MINUTE: Duration = Duration::from_secs(60);
/// Characters of an account that are kept: no address has more.
const ACCOUNT_CHARACTERS: usize = 254;

/// Where somebody wanted to get in.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(crate) enum Door {
    /// The merchants' console.
    Console,
    /// The operators' console.
    Operators,
}

impl Door {
    /// As the logs name it.
    pub(crate) const fn as_str(self) -> &'static str {
        match self {
            Self::Console => "console",
            Self::Operators => "operators' console",
        }
    }
}

/// Why somebody was not let in.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Why {
    /// Account or password are wrong.
    Wrong,
    /// The password is right, and the code of the second factor is not.
    WrongCode,
    /// There were too many attempts; nobody looked whether this one is right.
    TooMany,
}

impl Why {
    /// As the audit log names it.
    const fn as_str(self) -> &'static str {
        match self {
            Self::Wrong => "wrong password or account",
            Self::WrongCode => "wrong second factor",
            Self::TooMany => "too many attempts",
        }
    }
}

/// Counts who was not let in, on this node.
pub(crate) struct RefusedSignIns {
    audit: Audit,
    people: Arc<dyn PeopleStore>,
    minute: Mutex<Minute>,
    over: Notify,
}

impl RefusedSignIns {
    /// Notes in this log. The store says whose accounts are.
    pub(crate) fn new(audit: Audit, people: Arc<dyn PeopleStore>) -> Self {
        Self { audit, people, minute: Mutex::default(), over: Notify::new() }
    }

    /// Notes an attempt, now or at the end of the minute. The account is as it was typed.
    pub(crate) async fn note(&self, account: &str, from: IpAddr, door: Door, why: Why) {
        let account = bounded(account);
        let merchant = match door {
            Door::Console => self.merchant_of(&account, why).await,
            Door::Operators => None,
        };
        let of = Of { network: network_of(from), merchant, door };
        // The lock is given back before anything is waited for.
        let noted = self.minute().count(&of, &account);
        match noted {
            Noted::Counted => {}
            Noted::Alone => {
                let draft = draft(of.merchant, AuditAction::SignInRefused, door).after(why.as_str());
                self.audit.note(&Initiator { who: account, from: from.to_string() }, draft).await;
            }
        }
    }

    /// Notes what was counted, once a minute, until it is stopped.
    pub(crate) async fn run(&self) {
        loop {
            let is_stopped = timeout(MINUTE, self.over.notified()).await.is_ok();
            self.close_minute().await;
            if is_stopped {
                return;
            }
        }
    }

    /// Has what was counted noted, and [`RefusedSignIns::run`] end.
    pub(crate) fn stop(&self) {
        self.over.notify_one();
    }

    async fn close_minute(&self) {
        let minute = std::mem::take(&mut *self.minute());
        for Summary { door, merchant, who, from, count } in minute.summaries() {
            let draft = draft(merchant, AuditAction::SignInRefused, door)
                .after(format!("{count} more within a minute"));
            self.audit.note(&Initiator { who, from }, draft).await;
        }
    }

    /// Whose account it is, if anybody's. What is refused unseen costs the store nothing.
    async fn merchant_of(&self, account: &str, why: Why) -> Option<MerchantId> {
        let (known, has_room) = {
            let minute = self.minute();
            (minute.merchant_of(account), minute.has_room())
        };
        if let Some(known) = known {
            return known;
        }
        if why == Why::TooMany || !has_room {
            return None;
        }
        let user = self.people.user(&Login::parse(account)?).await.ok()?;
        let merchant = user.map(|user| user.merchant);
        self.minute().know(account, merchant.clone());
        merchant
    }

    fn minute(&self) -> MutexGuard<'_, Minute> {
        self.minute.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

fn draft(merchant: Option<MerchantId>, action: AuditAction, door: Door) -> AuditDraft {
    match merchant {
        Some(merchant) => AuditDraft::of(&merchant, action, door.as_str()),
        None => AuditDraft::of_operators(action, door.as_str()),
    }
}

/// What was typed, as a login if it is one; without what is not printable.
fn bounded(account: &str) -> String {
    if let Some(login) = Login::parse(account) {
        return login.to_string();
    }
    let printable = account.chars().filter(|character| !character.is_control());
    match printable.take(ACCOUNT_CHARACTERS).collect::<String>().trim() {
        "" => "nobody".into(),
        text => text.into(),
    }
}

#[cfg(test)]
mod tests {
    use futures_util::future::join_all;
    use quita_domain::audit::{AuditEntry, AuditScope};
    use quita_domain::people::Role;
    use quita_embedded::EmbeddedStore;
    use quita_machine::SystemClock;
    use quita_ports::AuditStore;

    use super::*;
    use crate::service::access::tests::strongbox;
    use crate::service::people::People;

    struct Node {
        refused: Arc<RefusedSignIns>,
        store: Arc<EmbeddedStore>,
        _folder: tempfile::TempDir,
    }

    impl Node {
        async fn start() -> Self {
            let folder = tempfile::tempdir().unwrap();
            let store = Arc::new(EmbeddedStore::open(folder.path().join("quita.db")).unwrap());
            let clock = Arc::new(SystemClock);
            let audit = Audit::open(store.clone(), &strongbox(store.clone()), clock.clone()).await.unwrap();
            let login = Login::parse("ana@loja.com.br").unwrap();
            let people = People::new(store.clone(), clock);
            people.create(MerchantId::new("loja"), login, Role::Owner).await.unwrap();
            let refused = Arc::new(RefusedSignIns::new(audit, store.clone()));
            Self { refused, store, _folder: folder }
        }

        async fn refuse(&self, account: &str, from: &str, why: Why) {
            self.refused.note(account, from.parse().unwrap(), Door::Console, why).await;
        }

        async fn log(&self, scope: &AuditScope) -> Vec<AuditEntry> {
            let log = self.store.audit(scope, None, 10_000).await.unwrap();
            log.iter().rev().map(|chained| chained.entry()).collect()
        }
    }

    /// For how many attempts the entries stand.
    fn total(log: &[AuditEntry]) -> u64 {
        let of = |entry: &AuditEntry| {
            let after = entry.after.as_deref().unwrap();
            after.strip_suffix(" more within a minute").map_or(1, |count| count.parse().unwrap())
        };
        log.iter().map(of).sum()
    }

    #[tokio::test]
    async fn who_is_refused_is_noted_with_account_and_address_where_the_account_is() {
        let node = Node::start().await;
        node.refuse(" Ana@Loja.com.br", "203.0.113.7", Why::Wrong).await;
        node.refuse("nobody@loja.com.br", "203.0.113.7", Why::Wrong).await;
        node.refuse("\u{1b}[2Jx\n", "203.0.113.7", Why::Wrong).await;
        node.refuse(&"y".repeat(5_000), "203.0.113.7", Why::TooMany).await;
        let own = node.log(&AuditScope::Merchant(MerchantId::new("loja"))).await;
        assert_eq!(own.len(), 1);
        let (who, from) = (own[0].who.as_str(), own[0].from.as_str());
        assert_eq!((who, from, own[0].subject.as_str()), ("ana@loja.com.br", "203.0.113.7", "console"));
        assert_eq!(own[0].after.as_deref(), Some("wrong password or account"));
        let all = node.log(&AuditScope::Everything).await;
        let whose: Vec<_> =
            all[1..].iter().map(|entry| (entry.who.as_str(), entry.merchant.clone())).collect();
        let long = "y".repeat(254);
        assert_eq!(whose, [("nobody@loja.com.br", None), ("[2Jx", None), (long.as_str(), None)]);
    }

    #[tokio::test]
    async fn a_flood_from_one_network_is_a_few_entries_and_the_right_sum() {
        let node = Node::start().await;
        // Whose account it is was found out by the first.
        node.refuse("ana@loja.com.br", "203.0.113.7", Why::Wrong).await;
        let many = [Why::Wrong, Why::TooMany].into_iter().cycle().take(799);
        join_all(many.map(|why| node.refuse("ana@loja.com.br", "203.0.113.7", why))).await;
        node.refused.close_minute().await;
        let log = node.log(&AuditScope::Merchant(MerchantId::new("loja"))).await;
        assert_eq!((log.len(), total(&log)), (minute::ALONE_PER_NETWORK + 1, 800));
        let last = log.last().unwrap();
        assert_eq!((last.who.as_str(), last.from.as_str()), ("ana@loja.com.br", "203.0.113.7"));
        assert_eq!(node.log(&AuditScope::Everything).await.len(), log.len());
        node.refused.close_minute().await;
        assert_eq!(node.log(&AuditScope::Everything).await.len(), log.len(), "nothing came meanwhile");
    }

    #[tokio::test]
    async fn a_flood_from_everywhere_is_a_bounded_number_of_entries_and_the_right_sum() {
        let node = Node::start().await;
        for number in 0..3_000_u16 {
            let [high, low] = number.to_be_bytes();
            node.refuse(&format!("{number}@x.y"), &format!("10.0.{high}.{low}"), Why::Wrong).await;
        }
        node.refused.close_minute().await;
        let log = node.log(&AuditScope::Everything).await;
        assert_eq!(total(&log), 3_000);
        assert_eq!(log.len(), minute::ALONE + minute::SUMMARIES + 1);
        assert_eq!(log.last().unwrap().from, "other networks");
    }

    #[tokio::test]
    async fn what_was_counted_is_noted_after_a_minute_and_when_the_node_stops() {
        let node = Node::start().await;
        let flood = async |count: u64| {
            for _ in 0..count {
                node.refuse("ana@loja.com.br", "203.0.113.7", Why::TooMany).await;
            }
        };
        flood(10).await;
        let running = Arc::clone(&node.refused);
        let running = tokio::spawn(async move { running.run().await });
        assert_eq!(total(&node.log(&AuditScope::Everything).await), 5);
        tokio::time::pause();
        tokio::time::sleep(MINUTE + Duration::from_secs(1)).await;
        tokio::time::resume();
        for _ in 0..1_000 {
            if total(&node.log(&AuditScope::Everything).await) == 10 {
                break;
            }
            tokio::task::yield_now().await;
        }
        assert_eq!(total(&node.log(&AuditScope::Everything).await), 10);
        flood(20).await;
        node.refused.stop();
        running.await.unwrap();
        assert_eq!(total(&node.log(&AuditScope::Everything).await), 30);
    }
}
