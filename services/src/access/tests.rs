//! Access on a real embedded store.

use std::cell::Cell;

use quita_embedded::EmbeddedStore;
use quita_machine::vault::AeadVault;
use tempfile::TempDir;

use super::*;
use quita_memory_store::HandClock;

const DAY: Duration = Duration::from_secs(24 * 3_600);

fn access() -> (Access, Arc<HandClock>, TempDir) {
    let folder = tempfile::tempdir().unwrap();
    let store = Arc::new(EmbeddedStore::open(folder.path().join("quita.db")).unwrap());
    let clock = Arc::new(HandClock::default());
    (Access::new(store.clone(), strongbox(store), clock.clone()), clock, folder)
}

/// Rotates the secret while another process renames the application, `races` times, between reading and writing.
async fn rotate_in_a_race(access: &Access, races: usize) -> Result<Vec<String>, ManageError> {
    let Owner { merchant, application, .. } = owner(Mode::Test);
    let left = Cell::new(races);
    let rival = |_: &[String]| {
        let Some(rest) = left.get().checked_sub(1) else { return Ok(()) };
        left.set(rest);
        let title = format!("renamed, {rest} to go");
        let rename = access.rename_application(&merchant, &application, &title);
        let renamed = || tokio::runtime::Runtime::new().unwrap().block_on(rename);
        std::thread::scope(|scope| scope.spawn(renamed).join().unwrap()).map(drop)
    };
    access.replace_secret(&merchant, &application, Mode::Test, rival).await
}

/// Returns a strongbox for tests.
pub fn strongbox(store: Arc<dyn quita_ports::SecretKeyStore>) -> Strongbox {
    Strongbox::new(store, Arc::new(AeadVault::new([&b"a secret key"[..]], [])))
}

fn owner(mode: Mode) -> Owner {
    Owner { merchant: MerchantId::new("acme"), application: ApplicationName::new("shop"), mode }
}

fn wanted(mode: Mode) -> NewKey {
    NewKey {
        owner: owner(mode),
        kind: KeyKind::Secret,
        scopes: vec![Scope::PaymentsRead],
        expires_in: Some(DAY),
    }
}

#[tokio::test]
async fn a_new_key_is_stored_as_a_hash_with_what_was_wanted() {
    let (access, clock, _folder) = access();
    clock.set(1_000);
    let presented = access.create_key(wanted(Mode::Live)).await.unwrap();
    let keys = access.keys().await.unwrap();
    assert_eq!(keys.len(), 1);
    assert!(keys[0].matches(&presented) && presented.reveal().starts_with("qk_live_"));
    assert_eq!((&keys[0].owner, &keys[0].scopes), (&owner(Mode::Live), &vec![Scope::PaymentsRead]));
    assert_eq!(keys[0].expires_at.map(Timestamp::millis), Some(1_000 + 86_400_000));
    assert!(!format!("{keys:?}").contains(presented.reveal().splitn(4, '_').nth(3).unwrap()));
}

#[tokio::test]
async fn the_first_key_makes_the_application_and_the_second_keeps_its_secret() {
    let (access, _, _folder) = access();
    let owner = owner(Mode::Test);
    access.create_key(wanted(Mode::Test)).await.unwrap();
    let first = access.secrets(&owner.merchant, &owner.application, Mode::Test).await.unwrap();
    assert!(WebhookSecret::parse(&first[0]).is_some(), "{first:?}");
    access.create_key(wanted(Mode::Live)).await.unwrap();
    assert_eq!(access.secrets(&owner.merchant, &owner.application, Mode::Test).await.unwrap(), first);
}

#[tokio::test]
async fn the_demo_is_made_once() {
    let (access, _, _folder) = access();
    let key = access.create_demo_if_empty().await.unwrap();
    assert!(key.is_some_and(|key| key.mode == Mode::Test));
    assert!(access.create_demo_if_empty().await.unwrap().is_none());
    assert_eq!(access.keys().await.unwrap().len(), 1);
}

#[tokio::test]
async fn a_revoked_key_is_marked_and_an_unknown_one_is_told() {
    let (access, clock, _folder) = access();
    let presented = access.create_key(wanted(Mode::Test)).await.unwrap();
    clock.set(5);
    access.revoke_key(&presented.id).await.unwrap();
    assert_eq!(access.keys().await.unwrap()[0].revoked_at, Some(Timestamp::from_millis(5)));
    let error = access.revoke_key("0000").await.unwrap_err();
    assert!(matches!(error, ManageError::NoSuchKey(ref id) if id == "0000"), "{error}");
}

#[tokio::test]
async fn a_rotated_key_works_for_a_day_beside_a_successor_with_as_long_a_life() {
    let (access, clock, _folder) = access();
    clock.set(5);
    let month = NewKey { expires_in: Some(DAY * 30), ..wanted(Mode::Live) };
    let first = access.create_key(month).await.unwrap();
    clock.set(1_000);
    let merchant = MerchantId::new("acme");
    let second = access.rotate_key(&merchant, &first.id).await.unwrap();
    let [old, new] = access.keys_of(&merchant).await.unwrap().try_into().unwrap();
    assert_eq!(old.expires_at.map(Timestamp::millis), Some(1_000 + 86_400_000));
    assert_eq!((&new.id, &new.owner, &new.scopes), (&second.id, &old.owner, &old.scopes));
    assert_eq!(new.expires_at.map(Timestamp::millis), Some(1_000 + 30 * 86_400_000));
    let again = access.rotate_key(&merchant, &first.id).await;
    assert!(matches!(again, Err(ManageError::EndsSoon(_))), "its successor would end with it");
    assert!(access.rotate_key(&MerchantId::new("other"), &second.id).await.is_err());
    access.revoke_key(&second.id).await.unwrap();
    assert!(access.rotate_key(&merchant, &second.id).await.is_err(), "what works no more has no successor");
}

#[tokio::test]
async fn a_rotation_shows_the_newest_secret_first_even_if_another_was_faster() {
    let (access, _, _folder) = access();
    let owner = owner(Mode::Test);
    access.create_key(wanted(Mode::Test)).await.unwrap();
    let first = access.secrets(&owner.merchant, &owner.application, Mode::Test).await.unwrap();
    let both = rotate_in_a_race(&access, 3).await.unwrap();
    assert_eq!((both.len(), &both[1]), (2, &first[0]));
    assert_ne!(both[0], first[0]);
    assert_eq!(access.secrets(&owner.merchant, &owner.application, Mode::Test).await.unwrap(), both);
    let raced = rotate_in_a_race(&access, MAX_RACES).await;
    assert!(matches!(raced, Err(ManageError::Raced)), "{raced:?}");
}

#[tokio::test]
async fn each_mode_has_a_secret_of_its_own_and_is_rotated_alone() {
    let (access, _, _folder) = access();
    let Owner { merchant, application, .. } = owner(Mode::Test);
    access.create_key(wanted(Mode::Test)).await.unwrap();
    let of_mode = |mode| access.secrets(&merchant, &application, mode);
    let [test, live] = [of_mode(Mode::Test).await.unwrap(), of_mode(Mode::Live).await.unwrap()];
    assert!(test.len() == 1 && live.len() == 1 && test != live);
    let both = access.rotate_secret(&merchant, &application, Mode::Live).await.unwrap();
    assert_eq!((both.len(), &both[1]), (2, &live[0]));
    assert_eq!(of_mode(Mode::Test).await.unwrap(), test);
}

#[tokio::test]
async fn a_form_that_is_sent_again_replaces_nothing() {
    let (access, _, _folder) = access();
    let Owner { merchant, application, .. } = owner(Mode::Test);
    access.create_key(wanted(Mode::Test)).await.unwrap();
    let first = access.secrets(&merchant, &application, Mode::Test).await.unwrap();
    let rotate = |newest: String| {
        let access = &access;
        let merchant = &merchant;
        let application = &application;
        async move { access.rotate_secret_after(merchant, application, Mode::Test, &newest).await }
    };
    let both = rotate(fingerprint(&first[0])).await.unwrap();
    assert_eq!((both.len(), &both[1]), (2, &first[0]));
    for stale in [fingerprint(&first[0]), String::new()] {
        let again = rotate(stale).await;
        assert!(matches!(again, Err(ManageError::RotatedMeanwhile)), "{again:?}");
    }
    assert_eq!(access.secrets(&merchant, &application, Mode::Test).await.unwrap(), both);
}

#[tokio::test]
async fn five_secrets_sign_at_most() {
    let (access, clock, _folder) = access();
    let Owner { merchant, application, .. } = owner(Mode::Test);
    access.create_key(wanted(Mode::Test)).await.unwrap();
    let rotate = || access.rotate_secret(&merchant, &application, Mode::Test);
    for count in 2..=5 {
        assert_eq!(rotate().await.unwrap().len(), count);
    }
    let refused = rotate().await;
    assert!(matches!(refused, Err(ManageError::TooManySecrets(_))), "{refused:?}");
    clock.set(86_400_000);
    assert_eq!(rotate().await.unwrap().len(), 2, "after a day only the newest was left");
}

#[tokio::test]
async fn keys_of_an_application_are_bounded_and_a_revoked_one_makes_room() {
    let (access, _, _folder) = access();
    let create = async || access.create_key(wanted(Mode::Test)).await;
    for _ in 1..MAX_APPLICATION_KEYS {
        create().await.unwrap();
    }
    let last = access.create_key(NewKey { expires_in: None, ..wanted(Mode::Test) }).await.unwrap();
    let refused = create().await.unwrap_err();
    assert!(refused.to_string().contains("application \"shop\" has 100 active keys"), "{refused}");
    let rotated = access.rotate_key(&owner(Mode::Test).merchant, &last.id).await;
    assert!(matches!(rotated, Err(ManageError::TooManyKeys(_))), "{rotated:?}");
    let application = ApplicationName::new("another");
    let other = NewKey { owner: Owner { application, ..owner(Mode::Test) }, ..wanted(Mode::Test) };
    access.create_key(other).await.unwrap();
    access.revoke_key(&last.id).await.unwrap();
    create().await.unwrap();
    assert!(matches!(create().await, Err(ManageError::TooManyKeys(_))), "one made room for one");
}

#[tokio::test]
async fn keys_of_a_merchant_are_bounded_however_fast_they_are_revoked() {
    let (access, clock, _folder) = access();
    let create = async || access.create_key(wanted(Mode::Test)).await;
    for _ in 0..MAX_MERCHANT_KEYS {
        let key = create().await.unwrap();
        access.revoke_key(&key.id).await.unwrap();
    }
    let refused = create().await.unwrap_err();
    assert!(matches!(refused, ManageError::TooManyMerchantKeys(_)), "{refused}");
    let merchant = MerchantId::new("another");
    let other = NewKey { owner: Owner { merchant, ..owner(Mode::Test) }, ..wanted(Mode::Test) };
    access.create_key(other).await.unwrap();
    clock.set(i64::try_from(COUNTED_FOR_MS).unwrap());
    create().await.unwrap();
}

#[tokio::test]
async fn secrets_of_nobody_are_reported_as_such() {
    let (access, _, _folder) = access();
    let owner = owner(Mode::Test);
    let error = access.secrets(&owner.merchant, &owner.application, Mode::Test).await.unwrap_err();
    assert!(error.to_string().contains("has no application \"shop\""), "{error}");
}
