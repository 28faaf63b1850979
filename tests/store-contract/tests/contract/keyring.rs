//! Applications and keys as their merchant manages them.

use std::sync::Arc;

use quita_domain::access::{ApiKey, KeyKind};
use quita_domain::identity::MerchantId;
use quita_domain::time::Timestamp;
use quita_ports::KeyringStore;

use crate::access::{application, key};

const fn at(millis: i64) -> Timestamp {
    Timestamp::from_millis(millis)
}

async fn stored(store: &Arc<dyn KeyringStore>, id: &str) -> ApiKey {
    store.key(id).await.unwrap().expect("it is stored")
}

fn of_merchant(id: &str, created_at: i64, merchant: &str) -> ApiKey {
    let mut key = key(id, created_at);
    key.owner.merchant = MerchantId::new(merchant);
    key
}

pub async fn applications_come_by_name_and_of_one_merchant(store: Arc<dyn KeyringStore>) {
    let named = |merchant: &str, name: &str| {
        let mut application = application("whsec_a");
        application.merchant = MerchantId::new(merchant);
        application.name = quita_domain::identity::ApplicationName::new(name);
        application.title = Some(format!("A loja {name}"));
        application
    };
    for (merchant, name) in [
        ("loja", "b"),
        ("lojb", "a"),
        ("loja", "a-2"),
        ("loja", "B"),
        ("loj", "z"),
        ("loja", "a"),
        ("loja", "1"),
    ] {
        assert_eq!(store.insert_application(&named(merchant, name)).await, Ok(true));
    }
    let expected: Vec<_> = ["1", "B", "a", "a-2", "b"].map(|name| named("loja", name)).into();
    assert_eq!(store.applications(&MerchantId::new("loja")).await, Ok(expected));
    assert_eq!(store.applications(&MerchantId::new("lo")).await, Ok(Vec::new()));
}

pub async fn the_keys_of_a_merchant_come_oldest_first(store: Arc<dyn KeyringStore>) {
    let [first, second, third] =
        [("k9", 1), ("k1", 2), ("k2", 2)].map(|(id, at)| of_merchant(id, at, "loja"));
    for key in [&third, &of_merchant("k5", 1, "outra"), &first, &second] {
        store.insert_key(key).await.unwrap();
    }
    assert_eq!(store.keys_of(&MerchantId::new("loja")).await, Ok(vec![first, second, third]));
    assert_eq!(store.keys_of(&MerchantId::new("out")).await, Ok(Vec::new()));
}

pub async fn a_limited_key_ends_no_later_than_it_would_have(store: Arc<dyn KeyringStore>) {
    let ending = ApiKey { expires_at: Some(at(500)), ..key("k2", 1) };
    store.insert_key(&key("k1", 1)).await.unwrap();
    store.insert_key(&ending).await.unwrap();
    assert_eq!(store.limit_key("k1", at(900)).await, Ok(true));
    assert_eq!(stored(&store, "k1").await, ApiKey { expires_at: Some(at(900)), ..key("k1", 1) });
    assert_eq!(store.limit_key("k1", at(1_000)).await, Ok(true));
    assert_eq!(stored(&store, "k1").await.expires_at, Some(at(900)));
    assert_eq!(store.limit_key("k2", at(900)).await, Ok(true));
    assert_eq!(stored(&store, "k2").await, ending);
    assert_eq!(store.limit_key("k2", at(400)).await, Ok(true));
    assert_eq!(stored(&store, "k2").await.expires_at, Some(at(400)));
    assert_eq!(store.limit_key("k9", at(1)).await, Ok(false));
}

pub async fn the_last_use_of_a_key_never_goes_back(store: Arc<dyn KeyringStore>) {
    for id in ["k1", "k2", "k3"] {
        store.insert_key(&key(id, 1)).await.unwrap();
    }
    let note = async |uses: &[(&str, i64)]| {
        let uses: Vec<_> = uses.iter().map(|(id, millis)| ((*id).to_owned(), at(*millis))).collect();
        assert_eq!(store.note_key_uses(&uses).await, Ok(()));
    };
    note(&[]).await;
    note(&[("k9", 5)]).await;
    note(&[("k1", 5), ("k9", 5), ("k2", 7)]).await;
    note(&[("k1", 9), ("k2", 6), ("k1", 8)]).await;
    for (id, last) in [("k1", Some(9)), ("k2", Some(7)), ("k3", None)] {
        assert_eq!(stored(&store, id).await, ApiKey { last_used_at: last.map(at), ..key(id, 1) });
    }
    assert_eq!(store.key("k9").await, Ok(None), "nothing comes to be");
}

pub async fn a_key_that_came_from_a_browser_keeps_the_first_time(store: Arc<dyn KeyringStore>) {
    store.insert_key(&key("k1", 1)).await.unwrap();
    assert_eq!(store.expose_key("k1", at(7)).await, Ok(true));
    assert_eq!(store.expose_key("k1", at(9)).await, Ok(false));
    assert_eq!(stored(&store, "k1").await, ApiKey { exposed_at: Some(at(7)), ..key("k1", 1) });
    assert_eq!(store.expose_key("k9", at(7)).await, Ok(false));
    assert_eq!(store.key("k9").await, Ok(None), "nothing comes to be");
}

pub async fn a_publishable_key_stays_publishable(store: Arc<dyn KeyringStore>) {
    let publishable = ApiKey { kind: KeyKind::Publishable, scopes: Vec::new(), ..key("k1", 1) };
    store.insert_key(&publishable).await.unwrap();
    assert_eq!(stored(&store, "k1").await, publishable);
}

pub async fn a_use_that_is_noted_late_brings_no_revoked_key_back(store: Arc<dyn KeyringStore>) {
    store.insert_key(&key("k1", 1)).await.unwrap();
    assert_eq!(store.revoke_key("k1", at(5)).await, Ok(true));
    store.note_key_uses(&[(String::from("k1"), at(6))]).await.unwrap();
    store.limit_key("k1", at(7)).await.unwrap();
    let expected = ApiKey {
        revoked_at: Some(at(5)),
        last_used_at: Some(at(6)),
        expires_at: Some(at(7)),
        ..key("k1", 1)
    };
    assert_eq!(stored(&store, "k1").await, expected);
    assert_eq!(store.keys().await, Ok(vec![expected]));
}
