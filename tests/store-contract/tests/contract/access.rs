//! Applications and API keys.

use std::sync::Arc;

use quita_domain::access::{ApiKey, Application, Endpoints, KeyKind, Origins, Scope, SigningSecrets};
use quita_domain::identity::{ApplicationName, MerchantId, Mode, Owner};
use quita_domain::secret_key::StoredSecret;
use quita_domain::time::Timestamp;
use quita_ports::Store;

pub fn application(secret: &str) -> Application {
    let mut endpoints = Endpoints::default();
    endpoints.set(Mode::Test, Some("https://shop.example.com/webhooks?a=1".into()));
    Application {
        merchant: MerchantId::new("loja"),
        name: ApplicationName::new("default"),
        secrets: SigningSecrets::new(StoredSecret::clear(secret), StoredSecret::clear("whsec_live")),
        title: None,
        endpoints,
        origins: Origins::parse(["https://shop.example.com", "http://localhost:3000"], true).unwrap(),
        created_at: Timestamp::from_millis(1),
    }
}

fn rotated(before: &Application, secret: &str) -> Application {
    let mut after = before.clone();
    let fresh = StoredSecret::clear(secret);
    after.secrets.rotate(Mode::Test, fresh, Timestamp::from_millis(2)).unwrap();
    after
}

async fn stored(store: &Arc<dyn Store>) -> Option<Application> {
    store.application(&MerchantId::new("loja"), &ApplicationName::new("default")).await.unwrap()
}

pub fn key(id: &str, at: i64) -> ApiKey {
    ApiKey {
        id: id.into(),
        owner: Owner {
            merchant: MerchantId::new("loja"),
            application: ApplicationName::new("default"),
            mode: Mode::Live,
        },
        secret_hash: "ab".repeat(32),
        kind: KeyKind::Secret,
        scopes: Scope::ALL.to_vec(),
        created_at: Timestamp::from_millis(at),
        made_by: Some("ana@shop.example".into()),
        expires_at: None,
        revoked_at: None,
        exposed_at: None,
        last_used_at: None,
    }
}

pub async fn an_application_is_made_once(store: Arc<dyn Store>) {
    assert_eq!(stored(&store).await, None);
    assert_eq!(store.insert_application(&application("whsec_a")).await, Ok(true));
    assert_eq!(store.insert_application(&application("whsec_b")).await, Ok(false));
    assert_eq!(stored(&store).await, Some(application("whsec_a")));
    let other = store.application(&MerchantId::new("loja"), &ApplicationName::new("app")).await;
    assert_eq!(other, Ok(None));
}

pub async fn an_application_is_replaced_only_if_it_is_as_expected(store: Arc<dyn Store>) {
    let first = application("whsec_a");
    let second = rotated(&first, "whsec_b");
    assert_eq!(store.replace_application(&first, &second).await, Ok(false), "there is none");
    store.insert_application(&first).await.unwrap();
    assert_eq!(store.replace_application(&first, &second).await, Ok(true));
    assert_eq!(store.replace_application(&first, &rotated(&first, "whsec_c")).await, Ok(false));
    assert_eq!(stored(&store).await, Some(second));
}

pub async fn of_many_replacements_of_an_application_one_wins(store: Arc<dyn Store>) {
    let first = application("whsec_a");
    store.insert_application(&first).await.unwrap();
    let tasks: Vec<_> = (0..10)
        .map(|index| {
            let store = Arc::clone(&store);
            let first = first.clone();
            tokio::spawn(async move {
                let after = rotated(&first, &format!("whsec_{index}"));
                (store.replace_application(&first, &after).await.unwrap(), after)
            })
        })
        .collect();
    let mut winners = Vec::new();
    for task in tasks {
        let (won, after) = task.await.unwrap();
        winners.extend(won.then_some(after));
    }
    assert_eq!(winners, [stored(&store).await.unwrap()]);
}

pub async fn a_key_is_found_by_its_id(store: Arc<dyn Store>) {
    for (id, at) in [("k2", 2), ("k1", 1), ("k3", 3)] {
        store.insert_key(&key(id, at)).await.unwrap();
    }
    assert_eq!(store.key("k2").await, Ok(Some(key("k2", 2))));
    assert_eq!(store.key("k4").await, Ok(None));
    assert_eq!(store.keys().await, Ok(vec![key("k1", 1), key("k2", 2), key("k3", 3)]));
}

pub async fn the_id_of_a_key_is_never_taken_twice(store: Arc<dyn Store>) {
    store.insert_key(&key("k1", 1)).await.unwrap();
    assert!(store.insert_key(&key("k1", 2)).await.is_err());
    assert_eq!(store.keys().await, Ok(vec![key("k1", 1)]));
}

pub async fn a_revoked_key_keeps_its_first_date(store: Arc<dyn Store>) {
    let at = Timestamp::from_millis;
    store.insert_key(&key("k1", 1)).await.unwrap();
    store.insert_key(&key("k2", 2)).await.unwrap();
    assert_eq!(store.revoke_key("k1", at(5)).await, Ok(true));
    assert_eq!(store.revoke_key("k1", at(6)).await, Ok(true));
    assert_eq!(store.revoke_key("k9", at(5)).await, Ok(false));
    let revoked = store.key("k1").await.unwrap().unwrap();
    assert_eq!(revoked, ApiKey { revoked_at: Some(at(5)), ..key("k1", 1) });
    assert_eq!(store.key("k2").await, Ok(Some(key("k2", 2))));
}
