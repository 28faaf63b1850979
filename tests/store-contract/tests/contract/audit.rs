//! The audit log.

use std::collections::BTreeSet;
use std::sync::Arc;

use quita_domain::audit::chain::{
    ChainCheck, ChainFault, ChainHead, ChainKey, ChainedEntry, NewAuditEntry, SALT_BYTES, Salts,
};
use quita_domain::audit::{AuditAction, AuditCursor, AuditEntry, AuditErasure, AuditScope};
use quita_domain::identity::MerchantId;
use quita_domain::time::Timestamp;
use quita_ports::{AuditStore, StoreError};
use uuid::Uuid;

pub fn entry(number: u128, at: i64, merchant: Option<&str>) -> AuditEntry {
    AuditEntry {
        id: Uuid::from_u128(number),
        at: Timestamp::from_millis(at),
        merchant: merchant.map(MerchantId::new),
        who: String::from("ana@loja.com.br"),
        from: String::from("203.0.113.7"),
        action: AuditAction::KeyRevoked,
        subject: String::from("0123456789abcdef"),
        before: Some(String::from("live")),
        after: None,
    }
}

pub fn chain_key() -> ChainKey {
    ChainKey::new([7; 32])
}

/// Adds salts to an entry.
pub fn new(entry: &AuditEntry) -> NewAuditEntry {
    let salt = |kind: u8| {
        let mut salt = [kind; SALT_BYTES];
        salt[..8].copy_from_slice(&entry.id.as_bytes()[8..]);
        salt
    };
    NewAuditEntry { entry: entry.clone(), salts: Salts::new([salt(1), salt(2), salt(3)]) }
}

async fn begin(store: &Arc<dyn AuditStore>) {
    assert_eq!(store.begin_audit(&ChainHead::beginning(&chain_key())).await, Ok(()));
}

async fn append(store: &Arc<dyn AuditStore>, entries: &[AuditEntry]) {
    for entry in entries {
        store.append_audit(&new(entry), &chain_key()).await.unwrap();
    }
}

/// Erases, with an accounting entry of this number.
async fn erase(
    store: &Arc<dyn AuditStore>,
    what: &AuditErasure,
    limit: usize,
    number: u128,
) -> Result<u64, StoreError> {
    store.erase_audit(what, limit, &account(number), &chain_key()).await
}

/// Returns an entry that accounts for an erasure.
pub fn account(number: u128) -> NewAuditEntry {
    let action = AuditAction::LogErased;
    let who = String::from("olga@ops.example");
    new(&AuditEntry { action, who, subject: String::new(), before: None, ..entry(number, 1, None) })
}

/// Returns the entries of a page.
fn said(page: Vec<ChainedEntry>) -> Vec<AuditEntry> {
    page.iter().map(ChainedEntry::entry).collect()
}

async fn read(store: &Arc<dyn AuditStore>, scope: &AuditScope) -> Vec<AuditEntry> {
    said(store.audit(scope, None, 100).await.unwrap())
}

/// Reads the chain in pages of three.
async fn chain(store: &Arc<dyn AuditStore>) -> Vec<ChainedEntry> {
    let mut chain: Vec<ChainedEntry> = Vec::new();
    loop {
        let last = chain.last().map_or(0, |last| last.sequence);
        let page = store.chained_audit(last, 3).await.unwrap();
        assert!(page.len() <= 3);
        if page.is_empty() {
            return chain;
        }
        for (sequence, entry) in page {
            let entry = entry.unwrap();
            assert_eq!(entry.sequence, sequence);
            chain.push(entry);
        }
    }
}

/// Returns the faults of the chain.
pub async fn faults(store: &Arc<dyn AuditStore>) -> Vec<ChainFault> {
    let mut check = ChainCheck::new(chain_key(), None);
    let mut faults: Vec<_> = chain(store).await.iter().flat_map(|entry| check.next(entry)).collect();
    faults.extend(check.end(store.audit_head().await.unwrap().as_ref()));
    faults
}

fn of_merchant(name: &str) -> AuditScope {
    AuditScope::Merchant(MerchantId::new(name))
}

/// Reads the whole log in pages of three.
async fn pages(store: &Arc<dyn AuditStore>, scope: &AuditScope) -> Vec<AuditEntry> {
    let mut seen = Vec::new();
    let mut after = None;
    loop {
        let page = store.audit(scope, after, 3).await.unwrap();
        assert!(page.len() <= 3);
        let Some(last) = page.last() else { return seen };
        after = Some(AuditCursor { at: last.at, id: last.id });
        seen.extend(said(page));
    }
}

pub async fn every_action_reads_back_as_it_was(store: Arc<dyn AuditStore>) {
    let mut entries: Vec<_> = (1..)
        .zip(AuditAction::ALL)
        .map(|(number, action)| AuditEntry { action: *action, ..entry(number, 5, Some("loja")) })
        .collect();
    entries[0].after = Some(String::from("now"));
    entries[1].before = None;
    append(&store, &entries).await;
    entries.reverse();
    assert_eq!(read(&store, &of_merchant("loja")).await, entries);
}

pub async fn the_newest_entries_come_first_and_pages_neither_skip_nor_repeat(store: Arc<dyn AuditStore>) {
    // Four entries have the same time, so that the id decides at the edges of pages.
    let mut entries: Vec<_> =
        (0..22).map(|number: i64| entry(number.unsigned_abs().into(), number / 4, Some("loja"))).collect();
    append(&store, &entries[11..]).await;
    append(&store, &entries[..11]).await;
    entries.reverse();
    assert_eq!(pages(&store, &of_merchant("loja")).await, entries);
    assert_eq!(pages(&store, &AuditScope::Everything).await, entries);
}

pub async fn a_merchant_sees_only_what_is_its_own(store: Arc<dyn AuditStore>) {
    let entries = [entry(1, 1, Some("loja")), entry(2, 1, Some("loja2")), entry(3, 1, None)];
    append(&store, &entries).await;
    assert_eq!(pages(&store, &of_merchant("loja")).await, entries[..1]);
    assert_eq!(pages(&store, &of_merchant("loja2")).await, entries[1..2]);
    assert_eq!(pages(&store, &of_merchant("lo")).await, []);
    let everything: Vec<_> = entries.into_iter().rev().collect();
    assert_eq!(pages(&store, &AuditScope::Everything).await, everything);
    assert_eq!(store.audit(&AuditScope::Everything, None, 0).await, Ok(Vec::new()));
}

pub async fn an_entry_that_is_appended_again_stands_once_and_as_it_was(store: Arc<dyn AuditStore>) {
    begin(&store).await;
    let first = entry(1, 1, Some("loja"));
    append(&store, &[first.clone(), first.clone(), entry(2, 2, None), first.clone()]).await;
    let other = AuditEntry { who: String::from("bia@loja.com.br"), ..first.clone() };
    assert!(store.append_audit(&new(&other), &chain_key()).await.is_err());
    assert_eq!(pages(&store, &of_merchant("loja")).await, [first]);
    assert_eq!(chain(&store).await.len(), 2);
    assert_eq!(faults(&store).await, []);
}

pub async fn a_log_is_begun_once_and_its_entries_follow_on_each_other(store: Arc<dyn AuditStore>) {
    assert_eq!(store.audit_head().await, Ok(None));
    begin(&store).await;
    assert_eq!(faults(&store).await, []);
    // One entry without earlier and later values, and one about a person.
    let bare = AuditEntry { before: None, ..entry(2, 7, None) };
    let of_person = AuditEntry { subject: String::from("bia@loja.com.br"), ..entry(3, 5, Some("loja")) };
    append(&store, &[entry(1, 9, Some("loja")), bare, of_person]).await;
    begin(&store).await;
    let head = store.audit_head().await.unwrap().unwrap();
    assert_eq!(head.sequence, 3);
    let chain = chain(&store).await;
    assert_eq!(chain.iter().map(|entry| entry.id.as_u128()).collect::<Vec<_>>(), [1, 2, 3]);
    assert!(chain[1].content.is_none() && chain[1].links.content.is_none());
    assert!(chain[2].subject.is_none() && chain[2].person.is_some());
    assert_eq!(faults(&store).await, []);
    assert_eq!(store.chained_audit(0, 0).await, Ok(Vec::new()));
}

pub async fn what_many_append_at_once_is_one_chain(store: Arc<dyn AuditStore>) {
    begin(&store).await;
    check_many_at_once(&[store]).await;
}

/// Appends many entries at once through these stores, which share their data, and some of them twice.
pub async fn check_many_at_once<S: AuditStore + ?Sized>(stores: &[Arc<S>]) {
    let tasks: Vec<_> = (0..40_u128)
        .map(|number| {
            let index = usize::try_from(number).unwrap() % stores.len();
            let store = Arc::clone(&stores[index]);
            let new = new(&entry(number / 2, 1, Some("loja")));
            tokio::spawn(async move { store.append_audit(&new, &chain_key()).await })
        })
        .collect();
    for task in tasks {
        // If two callers append the same entry at once, one may have to ask again.
        drop(task.await.unwrap());
    }
    for number in 0..20 {
        let new = new(&entry(number, 1, Some("loja")));
        stores[0].append_audit(&new, &chain_key()).await.unwrap();
    }
    let mut check = ChainCheck::new(chain_key(), None);
    let chain = stores[0].chained_audit(0, 100).await.unwrap();
    let faults: Vec<_> = chain.iter().flat_map(|(_, entry)| check.next(entry.as_ref().unwrap())).collect();
    assert_eq!((faults, check.read()), (Vec::new(), 20));
    assert_eq!(check.end(stores[0].audit_head().await.unwrap().as_ref()), []);
}

pub async fn what_is_erased_is_gone_and_the_chain_stays_whole(store: Arc<dyn AuditStore>) {
    begin(&store).await;
    let by_bia =
        |number| AuditEntry { who: String::from("bia@loja.com.br"), ..entry(number, 1, Some("loja")) };
    let of_bia = AuditEntry { subject: String::from("bia@loja.com.br"), ..entry(4, 1, Some("loja")) };
    let other = AuditEntry { subject: String::from("another"), ..entry(5, 1, Some("loja")) };
    let entries = [entry(1, 1, Some("loja")), entry(2, 1, None), by_bia(3), of_bia, other, by_bia(6)];
    append(&store, &entries).await;
    let whole = chain(&store).await;
    let of_subject = AuditErasure::ContentOf(vec![String::from("nobody"), entries[0].subject.clone()]);
    assert_eq!(erase(&store, &of_subject, 3, 101).await, Ok(3));
    // The answer was lost: nothing more is erased.
    assert_eq!(erase(&store, &of_subject, 3, 101).await, Ok(3));
    assert_eq!(erase(&store, &of_subject, 3, 102).await, Ok(1));
    assert_eq!(erase(&store, &of_subject, 3, 103).await, Ok(0));
    let bia = AuditErasure::Person(String::from("bia@loja.com.br"));
    assert_eq!(erase(&store, &bia, 1, 104).await, Ok(2), "one of each kind");
    assert_eq!(erase(&store, &bia, 9, 105).await, Ok(1));
    assert_eq!(erase(&store, &bia, 9, 106).await, Ok(0));
    let places = AuditErasure::ContentAt(vec![4, 5, 77]);
    assert_eq!(erase(&store, &places, 1, 107).await, Ok(1));
    assert_eq!(erase(&store, &places, 9, 108).await, Ok(1));
    assert_eq!(erase(&store, &places, 9, 109).await, Ok(0));
    assert_eq!(erase(&store, &places, 0, 110).await, Ok(0));
    assert!(erase(&store, &places, 9, 1).await.is_err(), "there is another entry with this id");
    let log = chain(&store).await;
    let (erased, accounts) = log.split_at(6);
    assert!(erased.iter().all(|entry| entry.content.is_none() && entry.links.content.is_some()));
    let initiators: Vec<_> = erased.iter().map(|entry| entry.initiator.is_some()).collect();
    assert_eq!(initiators, [true, true, false, true, true, false]);
    assert!(erased[3].person.is_none() && erased[3].links.person.is_some());
    for (erased, whole) in erased.iter().zip(&whole) {
        let restored = ChainedEntry {
            initiator: whole.initiator.clone(),
            person: whole.person.clone(),
            content: whole.content.clone(),
            ..erased.clone()
        };
        assert_eq!(restored, *whole, "everything else stays");
    }
    // Each erasure that removed something has an entry that names it.
    let ids: Vec<_> = accounts.iter().map(|account| account.id.as_u128()).collect();
    assert_eq!(ids, [101, 102, 104, 105, 107, 108]);
    let subjects: Vec<_> = accounts.iter().map(|account| account.entry().subject).collect();
    assert_eq!(subjects[..2], ["content 1-3", "content 6"]);
    assert_eq!(subjects[2..4], ["initiator 3; person 4", "initiator 6"]);
    assert_eq!(
        subjects[4..].iter().cloned().collect::<BTreeSet<_>>(),
        ["content 4", "content 5"].map(String::from).into()
    );
    assert!(accounts.iter().all(|account| account.entry().who == "olga@ops.example"));
    assert_eq!(faults(&store).await, []);
    // A repeated call after a lost answer restores nothing.
    append(&store, &entries).await;
    assert_eq!(chain(&store).await, log);
    append(&store, &[entry(7, 1, None)]).await;
    assert_eq!(faults(&store).await, []);
}

pub async fn an_entry_is_returned_with_its_place(store: Arc<dyn AuditStore>) {
    begin(&store).await;
    let places =
        async |number| store.append_audit(&new(&entry(number, 1, None)), &chain_key()).await.unwrap();
    let first = places(1).await;
    let second = places(2).await;
    let again = places(1).await;
    assert_eq!((first.sequence, second.sequence), (1, 2));
    assert_eq!(first, again);
    assert_eq!(store.audit_head().await.unwrap().unwrap().position(), second);
    assert_eq!(chain(&store).await.iter().map(ChainedEntry::position).collect::<Vec<_>>(), [first, second]);
}

pub async fn what_is_appended_without_a_head_goes_on_and_is_told(store: Arc<dyn AuditStore>) {
    append(&store, &[entry(1, 1, None), entry(2, 1, None)]).await;
    let moved = ChainFault::Moved { sequence: 1, id: Uuid::from_u128(1) };
    assert_eq!(faults(&store).await, [moved]);
}
