//! The audit log.

use std::sync::Arc;

use quita_domain::audit::{AuditAction, AuditCursor, AuditEntry, AuditScope};
use quita_domain::identity::MerchantId;
use quita_domain::time::Timestamp;
use quita_ports::AuditStore;
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

async fn append(store: &Arc<dyn AuditStore>, entries: &[AuditEntry]) {
    for entry in entries {
        assert_eq!(store.append_audit(entry).await, Ok(()));
    }
}

fn of_merchant(name: &str) -> AuditScope {
    AuditScope::Merchant(MerchantId::new(name))
}

/// The whole log, read in pages of three.
async fn pages(store: &Arc<dyn AuditStore>, scope: &AuditScope) -> Vec<AuditEntry> {
    let (mut seen, mut after) = (Vec::new(), None);
    loop {
        let page = store.audit(scope, after, 3).await.unwrap();
        assert!(page.len() <= 3);
        let Some(last) = page.last() else { return seen };
        after = Some(AuditCursor { at: last.at, id: last.id });
        seen.extend(page);
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
    assert_eq!(store.audit(&of_merchant("loja"), None, 100).await, Ok(entries));
}

pub async fn the_newest_entries_come_first_and_pages_neither_skip_nor_repeat(store: Arc<dyn AuditStore>) {
    // Four at each moment, so that the id decides at the edges of pages.
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
    let first = entry(1, 1, Some("loja"));
    append(&store, &[first.clone(), first.clone()]).await;
    let other = AuditEntry { who: String::from("bia@loja.com.br"), ..first.clone() };
    assert!(store.append_audit(&other).await.is_err());
    assert_eq!(pages(&store, &AuditScope::Everything).await, [first]);
}
