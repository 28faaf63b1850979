//! The secret key that the store works with, and all sealed values.

use std::sync::Arc;

use quita_domain::access::Application;
use quita_domain::identity::{ApplicationName, MerchantId};
use quita_domain::secret_key::{KeyRecord, SealedSecret, SecretKeyId, StoredSecret};
use quita_ports::WholeStore;

use crate::access::application;

pub fn sealed(text: &str) -> SealedSecret {
    SealedSecret { key: SecretKeyId::of(text.as_bytes()), text: text.into() }
}

pub fn record(key: &str) -> KeyRecord {
    KeyRecord { current: SecretKeyId::of(key.as_bytes()), id_keys: sealed(key) }
}

pub async fn a_record_is_noted_once_and_replaced_only_if_it_is_as_expected(store: Arc<dyn WholeStore>) {
    let [first, second, third] = ["a", "b", "c"].map(record);
    assert_eq!(store.key_record().await, Ok(None));
    assert_eq!(store.replace_key_record(Some(&first), &second).await, Ok(false), "there is none");
    assert_eq!(store.replace_key_record(None, &first).await, Ok(true));
    assert_eq!(store.replace_key_record(None, &second).await, Ok(false));
    assert_eq!(store.key_record().await, Ok(Some(first.clone())));
    assert_eq!(store.replace_key_record(Some(&first), &second).await, Ok(true));
    assert_eq!(store.replace_key_record(Some(&first), &third).await, Ok(false));
    assert_eq!(store.key_record().await, Ok(Some(second)));
}

pub async fn of_many_who_note_a_record_one_does(store: Arc<dyn WholeStore>) {
    for before in [None, Some(record("first"))] {
        if let Some(before) = &before {
            let noted = store.key_record().await.unwrap();
            assert_eq!(store.replace_key_record(noted.as_ref(), before).await, Ok(true));
        }
        let tasks: Vec<_> = (0..10)
            .map(|index| {
                let store = Arc::clone(&store);
                let before = before.clone();
                tokio::spawn(async move {
                    let after = record(&index.to_string());
                    (store.replace_key_record(before.as_ref(), &after).await.unwrap(), after)
                })
            })
            .collect();
        let mut winners = Vec::new();
        for task in tasks {
            let (won, after) = task.await.unwrap();
            winners.extend(won.then_some(after));
        }
        assert_eq!(winners, [store.key_record().await.unwrap().unwrap()]);
    }
}

pub async fn the_key_of_the_audit_log_is_noted_once_and_replaced_only_if_it_is_as_expected(
    store: Arc<dyn WholeStore>,
) {
    let [first, second, third] = ["a", "b", "c"].map(sealed);
    assert_eq!(store.audit_key().await, Ok(None));
    assert_eq!(store.replace_audit_key(Some(&first), &second).await, Ok(false), "there is none");
    assert_eq!(store.replace_audit_key(None, &first).await, Ok(true));
    assert_eq!(store.replace_audit_key(None, &second).await, Ok(false));
    assert_eq!(store.audit_key().await, Ok(Some(first.clone())));
    assert_eq!(store.replace_audit_key(Some(&first), &second).await, Ok(true));
    assert_eq!(store.replace_audit_key(Some(&first), &third).await, Ok(false));
    assert_eq!(store.audit_key().await, Ok(Some(second)));
    assert_eq!(store.key_record().await, Ok(None), "it stands apart");
}

pub async fn applications_of_everybody_come_page_by_page(store: Arc<dyn WholeStore>) {
    let of = |merchant: &str, name: &str| {
        let merchant = MerchantId::new(merchant);
        let name = ApplicationName::new(name);
        Application { merchant, name, ..application("whsec_a") }
    };
    let all = [of("a", "x"), of("a", "y"), of("ab", "a"), of("b", "a"), of("b", "aa")];
    for one in all.iter().rev() {
        store.insert_application(one).await.unwrap();
    }
    let mut found = Vec::new();
    let mut after = None;
    loop {
        let page = store.applications_after(after.as_ref(), 2).await.unwrap();
        let Some(last) = page.last() else { break };
        assert!(page.len() <= 2);
        after = Some((last.merchant.clone(), last.name.clone()));
        found.extend(page);
    }
    assert_eq!(found, all);
    assert_eq!(store.applications_after(None, 0).await, Ok(Vec::new()));
}

pub async fn a_sealed_secret_reads_back_as_it_was(store: Arc<dyn WholeStore>) {
    let before = application("whsec_a");
    store.insert_application(&before).await.unwrap();
    let mut after = before.clone();
    for (mode, secret) in after.secrets.each_mut() {
        secret.secret = StoredSecret::Sealed(sealed(mode.as_str()));
    }
    assert_eq!(store.replace_application(&before, &after).await, Ok(true));
    assert_eq!(store.replace_application(&before, &before).await, Ok(false));
    assert_eq!(store.applications_after(None, 9).await, Ok(vec![after]));
    assert_eq!(store.forget_replaced().await, Ok(()));
}
