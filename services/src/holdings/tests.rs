use quita_domain::access::{KeyKind, Scope};
use quita_domain::identity::Owner;
use quita_embedded::EmbeddedStore;
use tempfile::TempDir;

use super::*;
use crate::access::{Access, NewKey};
use quita_memory_store::HandClock;

struct Shop {
    access: Access,
    keyholders: Keyholders,
    clock: Arc<HandClock>,
    _folder: TempDir,
}

fn merchant() -> MerchantId {
    MerchantId::new("shop")
}

fn login(text: &str) -> Login {
    Login::parse(text).unwrap()
}

fn shop() -> Shop {
    let folder = tempfile::tempdir().unwrap();
    let store = Arc::new(EmbeddedStore::open(folder.path().join("quita.db")).unwrap());
    let clock = Arc::new(HandClock::default());
    let strongbox = crate::access::tests::strongbox(store.clone());
    let access = Access::new(store.clone(), strongbox, clock.clone());
    Shop { access, keyholders: Keyholders::new(store, clock.clone()), clock, _folder: folder }
}

impl Shop {
    async fn make_key(&self, who: &str, application: &str) -> String {
        let owner =
            Owner { merchant: merchant(), application: ApplicationName::new(application), mode: Mode::Test };
        let wanted = NewKey { owner, kind: KeyKind::Secret, scopes: Scope::ALL.to_vec(), expires_in: None };
        self.access.by(who).create_key(wanted).await.unwrap().id
    }

    async fn keys_of(&self, who: &str) -> Vec<String> {
        let holdings = self.keyholders.holdings(&merchant(), &login(who)).await.unwrap();
        holdings.keys.into_iter().map(|key| key.id).collect()
    }
}

const ANA: &str = "ana@shop.example";
const BIA: &str = "bia@shop.example";

#[tokio::test]
async fn who_made_or_rotated_a_key_knows_it_while_it_works() {
    let shop = shop();
    let first = shop.make_key(ANA, "site").await;
    let revoked = shop.make_key(ANA, "site").await;
    shop.access.revoke_key(&revoked).await.unwrap();
    shop.make_key("command line", "site").await;
    assert_eq!(shop.keys_of(ANA).await, [first.as_str()]);
    let successor = shop.access.by(BIA).rotate_key(&merchant(), &first).await.unwrap().id;
    assert_eq!((shop.keys_of(ANA).await, shop.keys_of(BIA).await), (vec![first], vec![successor]));
    shop.clock.set(2 * 86_400_000);
    assert!(shop.keys_of(ANA).await.is_empty(), "the old one has ended");
}

#[tokio::test]
async fn who_made_or_rotated_a_webhook_secret_knows_it_while_it_signs() {
    let shop = shop();
    let site = ApplicationName::new("site");
    assert!(shop.access.by(ANA).create_application(merchant(), site.clone()).await.unwrap());
    shop.access.by(BIA).rotate_secret(&merchant(), &site, Mode::Live).await.unwrap();
    let known = async |who: &str| {
        let holdings = shop.keyholders.holdings(&merchant(), &login(who)).await.unwrap();
        holdings.secrets.into_iter().map(|secret| (secret.title, secret.mode)).collect::<Vec<_>>()
    };
    let [test, live] = [Mode::Test, Mode::Live].map(|mode| (String::from("site"), mode));
    assert_eq!(known(ANA).await, [test.clone(), live.clone()]);
    assert_eq!(known(BIA).await, [live]);
    shop.clock.set(2 * 86_400_000);
    assert_eq!(known(ANA).await, [test], "the replaced one signs no more");
}

#[tokio::test]
async fn the_keys_of_one_person_are_revoked_but_for_those_that_are_kept() {
    let shop = shop();
    let kept = shop.make_key(ANA, "site").await;
    let gone = shop.make_key(ANA, "app").await;
    let other = shop.make_key(BIA, "site").await;
    let revoked = shop.keyholders.revoke(&merchant(), &login(ANA), |key| key.id == kept).await.unwrap();
    assert_eq!(revoked.into_iter().map(|key| key.id).collect::<Vec<_>>(), [gone]);
    assert_eq!((shop.keys_of(ANA).await, shop.keys_of(BIA).await), (vec![kept], vec![other]));
    let another = MerchantId::new("another");
    assert!(shop.keyholders.revoke(&another, &login(BIA), |_| false).await.unwrap().is_empty());
}
