//! Refused sign-ins and refused proofs of identity, for the audit log. The first attempts of a minute have an entry
//! each; the others are counted by network and merchant. So a node adds a bounded number of entries.

mod minute;

use std::net::IpAddr;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use quita_domain::audit::AuditAction;
use quita_domain::card::holds_card_number;
use quita_domain::identity::MerchantId;
use quita_domain::people::Login;
use quita_ports::PeopleStore;
use tokio::sync::Notify;
use tokio::time::timeout;

use super::audit::{Audit, AuditDraft, Initiator};
use super::network::network_of;
use super::refused_requests::{RefusedRequest, RefusedRequests};
use minute::{AttemptKey, Minute, Noted, Summary};

/// Time for which attempts are counted together.
const MINUTE: Duration = Duration::from_secs(60);
/// Console that someone tried to enter.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Door {
    /// The merchants' console.
    Console,
    /// The operators' console.
    Operators,
}

impl Door {
    /// Returns the name in the logs.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Console => "console",
            Self::Operators => "operators' console",
        }
    }
}

/// Occasion on which someone gives a password or a code.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Occasion {
    /// Signing in.
    SignIn,
    /// Proof of identity within a session, before something that a thief of the session must not do.
    Proof,
}

impl Occasion {
    /// Returns the name of a refusal in the audit log.
    const fn action(self) -> AuditAction {
        match self {
            Self::SignIn => AuditAction::SignInRefused,
            Self::Proof => AuditAction::ProofRefused,
        }
    }

    /// Returns the label of the metric.
    const fn refusal(self) -> RefusedRequest {
        match self {
            Self::SignIn => RefusedRequest::SignIn,
            Self::Proof => RefusedRequest::Proof,
        }
    }
}

/// Reason why an attempt was refused.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Why {
    /// Account or password are wrong.
    Wrong,
    /// The password is right, but the code of the second factor is wrong.
    WrongCode,
    /// The password is right, but the account is disabled because it was not used.
    Disabled,
    /// There were too many attempts; this one was not checked.
    TooMany,
    /// A wrong second factor was given as a proof.
    WrongProof,
    /// A wrong password was given as a proof, or as the current one.
    WrongOwnPassword,
    /// The person signed in gave too many proofs; this one was not checked.
    TooManyProofs,
}

impl Why {
    /// Returns the name in the audit log.
    const fn as_str(self) -> &'static str {
        match self {
            Self::Wrong => "wrong password or account",
            Self::WrongCode | Self::WrongProof => "wrong second factor",
            Self::WrongOwnPassword => "wrong password",
            Self::Disabled => "disabled account",
            Self::TooMany | Self::TooManyProofs => "too many attempts",
        }
    }

    /// Returns its occasion.
    const fn occasion(self) -> Occasion {
        match self {
            Self::Wrong | Self::WrongCode | Self::Disabled | Self::TooMany => Occasion::SignIn,
            Self::WrongProof | Self::WrongOwnPassword | Self::TooManyProofs => Occasion::Proof,
        }
    }

    /// Returns true if the attempt was not checked.
    const fn is_unseen(self) -> bool {
        match self {
            Self::TooMany | Self::TooManyProofs => true,
            Self::Wrong | Self::WrongCode | Self::Disabled | Self::WrongProof | Self::WrongOwnPassword => {
                false
            }
        }
    }
}

/// Counter of refused attempts, on this node.
pub struct RefusedSignIns {
    audit: Audit,
    people: Arc<dyn PeopleStore>,
    requests: Arc<RefusedRequests>,
    minute: Mutex<Minute>,
    over: Notify,
}

impl RefusedSignIns {
    /// Creates a counter that records in this log. The store knows to which merchant an account belongs.
    pub fn new(audit: Audit, people: Arc<dyn PeopleStore>, requests: Arc<RefusedRequests>) -> Self {
        Self { audit, people, requests, minute: Mutex::default(), over: Notify::new() }
    }

    /// Returns the counter of other refusals, which the audit log does not have.
    pub fn requests(&self) -> &Arc<RefusedRequests> {
        &self.requests
    }

    /// Records an attempt, now or at the end of the minute. The account is as typed.
    pub async fn note(&self, account: &str, from: IpAddr, door: Door, why: Why) {
        self.requests.count(why.occasion().refusal());
        let account = kept_of(account);
        let merchant = match door {
            Door::Console => self.merchant_of(&account, why).await,
            Door::Operators => None,
        };
        let of = AttemptKey { occasion: why.occasion(), network: network_of(from), merchant, door };
        // The lock is released before anything is awaited.
        let noted = self.minute().count(&of, &account);
        match noted {
            Noted::Counted => {}
            Noted::Alone => {
                let draft = draft(of.merchant, of.occasion.action(), door).after(why.as_str());
                self.audit.note(&Initiator { who: account, from: from.to_string() }, draft).await;
            }
        }
    }

    /// Records the counted attempts once a minute, until it is stopped.
    pub async fn run(&self) {
        loop {
            let is_stopped = timeout(MINUTE, self.over.notified()).await.is_ok();
            self.close_minute().await;
            if is_stopped {
                return;
            }
        }
    }

    /// Makes [`RefusedSignIns::run`] record the counted attempts and end.
    pub fn stop(&self) {
        self.over.notify_one();
    }

    async fn close_minute(&self) {
        let minute = std::mem::take(&mut *self.minute());
        for Summary { occasion, door, merchant, who, from, count } in minute.summaries() {
            let draft =
                draft(merchant, occasion.action(), door).after(format!("{count} more within a minute"));
            self.audit.note(&Initiator { who, from }, draft).await;
        }
    }

    /// Returns the merchant of an account, if there is one. An unchecked attempt costs the store nothing.
    async fn merchant_of(&self, account: &str, why: Why) -> Option<MerchantId> {
        let (known, has_room) = {
            let minute = self.minute();
            (minute.merchant_of(account), minute.has_room())
        };
        if let Some(known) = known {
            return known;
        }
        if why.is_unseen() || !has_room {
            return None;
        }
        // If the store does not answer, the attempt is still recorded, without a merchant.
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

/// Returns the part of the typed account that is kept: an e-mail address, or else only its length.
fn kept_of(account: &str) -> String {
    // People type passwords and card numbers into that field, too.
    let address = Login::parse(account).filter(|login| is_address(login.as_str()));
    if let Some(login) = address.filter(|login| !holds_card_number(login.as_str())) {
        return login.to_string();
    }
    match account.trim().chars().count() {
        0 => "nobody".into(),
        1 => "no address, 1 character".into(),
        count => format!("no address, {count} characters"),
    }
}

/// Returns true if a login looks like an e-mail address: a plain name at a host under a domain.
fn is_address(login: &str) -> bool {
    // A password may have an `@`, so that alone does not make an address.
    let Some((name, host)) = login.split_once('@') else { return false };
    let is_name = name.chars().all(|each| each.is_ascii_alphanumeric() || "._%+-".contains(each));
    let is_label = |label: &str| {
        let is_plain = label.chars().all(|each| each.is_ascii_alphanumeric() || each == '-');
        !label.is_empty() && is_plain
    };
    let Some((_, top)) = host.rsplit_once('.') else { return false };
    let is_top = top.len() >= 2 && top.chars().any(|each| each.is_ascii_alphabetic());
    is_name && is_top && host.split('.').all(is_label)
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
    use crate::access::tests::strongbox;
    use crate::people::People;

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
            let requests = Arc::<RefusedRequests>::default();
            let refused = Arc::new(RefusedSignIns::new(audit, store.clone(), requests));
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

    /// Returns the number of attempts that the entries represent.
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
        node.refuse(&"y".repeat(300), "203.0.113.7", Why::TooMany).await;
        let own = node.log(&AuditScope::Merchant(MerchantId::new("loja"))).await;
        assert_eq!(own.len(), 1);
        let who = own[0].who.as_str();
        let from = own[0].from.as_str();
        assert_eq!((who, from, own[0].subject.as_str()), ("ana@loja.com.br", "203.0.113.7", "console"));
        assert_eq!(own[0].after.as_deref(), Some("wrong password or account"));
        let all = node.log(&AuditScope::Everything).await;
        let whose: Vec<_> =
            all[1..].iter().map(|entry| (entry.who.as_str(), entry.merchant.clone())).collect();
        let of_others = ["nobody@loja.com.br", "no address, 5 characters", "no address, 300 characters"];
        assert_eq!(whose, of_others.map(|who| (who, None)));
    }

    #[test]
    fn what_was_typed_for_an_address_and_is_none_is_not_kept() {
        for address in ["ana@loja.com.br", "a.b+c_d%e-f@x-1.example", "ana@loja.xn--p1ai"] {
            assert_eq!(kept_of(&format!(" {} ", address.to_uppercase())), address);
        }
        for typed in [
            "Senha-do-banco-2026!",
            "S3nh@2026",
            "p@ss.word!1",
            "a#b@loja.com.br",
            "4242424242424242@loja.com.br",
            "ana@loja",
            "ana@loja..com",
            "ana@loja.c",
            "529.982.247-25",
        ] {
            assert_eq!(kept_of(typed), format!("no address, {} characters", typed.len()));
        }
        assert_eq!(kept_of(" \r\n"), "nobody");
    }

    #[tokio::test]
    async fn refused_proofs_are_entries_of_their_own_and_as_bounded() {
        let node = Node::start().await;
        for why in [Why::Wrong, Why::WrongProof, Why::WrongOwnPassword, Why::TooManyProofs, Why::WrongCode] {
            node.refuse("ana@loja.com.br", "203.0.113.7", why).await;
        }
        let log = node.log(&AuditScope::Merchant(MerchantId::new("loja"))).await;
        let told: Vec<_> = log.iter().map(|entry| (entry.action, entry.after.as_deref().unwrap())).collect();
        let sign_in = AuditAction::SignInRefused;
        let proof = AuditAction::ProofRefused;
        let expected = [
            (sign_in, "wrong password or account"),
            (proof, "wrong second factor"),
            (proof, "wrong password"),
            (proof, "too many attempts"),
            (sign_in, "wrong second factor"),
        ];
        assert_eq!(told, expected);
        for _ in 0..100 {
            node.refuse("ana@loja.com.br", "203.0.113.7", Why::WrongProof).await;
        }
        node.refused.close_minute().await;
        let log = node.log(&AuditScope::Merchant(MerchantId::new("loja"))).await;
        let proofs: Vec<_> = log.into_iter().filter(|entry| entry.action == proof).collect();
        assert_eq!((proofs.len(), total(&proofs)), (minute::ALONE_PER_NETWORK + 1, 103));
    }

    #[tokio::test]
    async fn a_flood_from_one_network_is_a_few_entries_and_the_right_sum() {
        let node = Node::start().await;
        // The first attempt found the account's merchant.
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
            node.refuse(&format!("{number}@x.yz"), &format!("10.0.{high}.{low}"), Why::Wrong).await;
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
