//! People on a real embedded store.

mod duties;
mod inactive;
mod memory;
mod operators;
mod refunds;
mod second_factors;
mod sessions;
mod users;

use crate::secret_keys::Strongbox;
use quita_domain::identity::MerchantId;
use quita_domain::people::{Role, SessionOrigin, User};
use quita_embedded::EmbeddedStore;
use quita_machine::vault::AeadVault;
use tempfile::TempDir;

use super::*;
use quita_memory_store::HandClock;

const KEY: &[u8] = b"the secret key of the tests";

struct Office {
    people: People,
    factors: SecondFactors,
    store: Arc<EmbeddedStore>,
    clock: Arc<HandClock>,
    _folder: TempDir,
}

fn office() -> Office {
    let folder = tempfile::tempdir().unwrap();
    let store = Arc::new(EmbeddedStore::open(folder.path().join("quita.db")).unwrap());
    let clock = Arc::new(HandClock::default());
    clock.set(1_795_262_400_000);
    let people = People::new(store.clone(), clock.clone());
    let factors = SecondFactors::new(people.clone(), strongbox(&store, &[KEY]));
    Office { people, factors, store, clock, _folder: folder }
}

fn strongbox(store: &Arc<EmbeddedStore>, keys: &[&'static [u8]]) -> Strongbox {
    Strongbox::new(store.clone(), Arc::new(AeadVault::new(keys.iter().copied(), [])))
}

fn login(text: &str) -> Login {
    Login::parse(text).unwrap()
}

fn origin() -> SessionOrigin {
    SessionOrigin::new("10.0.0.1", "Firefox")
}

fn merchant(name: &str) -> MerchantId {
    MerchantId::new(name)
}

impl Office {
    async fn create(&self, of: &str, email: &str, role: Role) -> Secret<String> {
        self.people.create(merchant(of), login(email), role).await.unwrap()
    }

    async fn sign_in(&self, email: &str, password: &Secret<String>) -> Option<NewSession<User>> {
        self.people.sign_in(Some(&login(email)), password, origin()).await.unwrap()
    }

    async fn signed(&self, token: &Secret<String>) -> Signed<User> {
        self.people.watch(token.expose()).await.unwrap().unwrap()
    }

    fn pass(&self, ms: u64) {
        let now = self.clock.now().plus_ms(ms);
        self.clock.set(now.millis());
    }

    /// Returns the code that an authenticator shows for a secret now.
    fn code(&self, secret: &Secret<String>) -> String {
        let secret = totp_rs::Secret::try_from_base32(secret.expose()).unwrap();
        let totp = totp_rs::Builder::new().with_secret(secret).build().unwrap();
        totp.generate(self.clock.now().millis().unsigned_abs() / 1_000).to_string()
    }

    async fn is_in(&self, token: &Secret<String>) -> bool {
        self.people.watch::<User>(token.expose()).await.unwrap().is_some()
    }
}
