//! Secret key that is changed while payments are created. Each node has the keys that it was given, and those with
//! which it derives ids.

use std::sync::Arc;

use quita_domain::identity::TransactionId;
use quita_domain::secret_key::{IdKeys, SecretKeyId};
use quita_memory_store::TestVault;
use quita_ports::WholeStore;
use quita_services::secret_keys::Strongbox;
use tokio::sync::OnceCell;

use crate::orders::Request;
use crate::planted::Mistake;
use crate::store::owner_of;
use crate::world::World;

/// Key that every world begins with.
const OLD: &[u8] = b"simulated";
/// Key that replaces it.
const NEW: &[u8] = b"simulated after a leak";

/// Secret keys that a node may be given at its start, the newest first.
type Given = &'static [&'static [u8]];
const BEFORE: Given = &[OLD];
const BETWEEN: Given = &[NEW, OLD];
const AFTER: Given = &[NEW];

/// Secret keys of one node, from its start to its death.
pub(crate) struct NodeKeys {
    strongbox: Strongbox,
    given: Given,
    /// Keys that derive ids, once the store has reported them.
    id_keys: OnceCell<IdKeys>,
}

impl NodeKeys {
    /// Draws the keys that this node of the world is given. The operator checks the key that the store works with, as
    /// the documentation requires. A node that was given fewer keys earlier continues beside it.
    pub(crate) fn of(world: &World, store: Arc<dyn WholeStore>) -> Self {
        let given = match current(world) {
            _ if !world.changes_keys => BEFORE,
            Some(key) if key == SecretKeyId::of(NEW) => world.chance.pick(&[BETWEEN, AFTER]),
            Some(_) | None => world.chance.pick(&[BEFORE, BETWEEN]),
        };
        Self { strongbox: Strongbox::new(store, Arc::new(vault(given))), given, id_keys: OnceCell::new() }
    }

    /// Returns the vault that seals and opens on this node.
    pub(crate) fn vault(&self) -> TestVault {
        vault(self.given)
    }

    /// Returns the id under which this node knows a request with a key, as the edge derives it. Returns `None` while
    /// the store does not report the keys for that.
    pub(crate) async fn id_of(&self, world: &World, request: Request) -> Option<TransactionId> {
        if !world.changes_keys || !request.has_key {
            return Some(request.id());
        }
        let owner = owner_of(request.merchant);
        let key = format!("order {}", request.number);
        let derived = match world.mistake {
            Some(Mistake::DeriveByOwnConfiguration) => IdKeys::of(self.given[0]).transaction_id(&owner, &key),
            Some(_) | None => self.id_keys().await?.transaction_id(&owner, &key),
        };
        // Judges know a payment by its request: the one id that it may have stands for that.
        let right = IdKeys::of(OLD).transaction_id(&owner, &key);
        Some(if derived == right { request.id() } else { derived })
    }

    async fn id_keys(&self) -> Option<&IdKeys> {
        let oldest = IdKeys::of(self.given.last()?);
        let asked = self.id_keys.get_or_try_init(|| async {
            let (_, id_keys) = self.strongbox.establish(&oldest).await?;
            Ok::<_, quita_services::secret_keys::SecretKeyError>(id_keys)
        });
        asked.await.ok()
    }

    /// Returns true if it was not given the store's key, and does not know yet which keys derive ids. Such a node does
    /// not start.
    pub(crate) fn is_locked_out(&self, world: &World) -> bool {
        let held = |key: &&[u8]| current(world).is_none_or(|current| current == SecretKeyId::of(key));
        !self.id_keys.initialized() && !self.given.iter().any(held)
    }

    /// Makes the store work with the newest key that this node has, as an operator does. May fail, and may be repeated.
    pub(crate) async fn work_with_newest(&self) {
        let oldest = IdKeys::of(self.given[self.given.len() - 1]);
        drop(self.strongbox.work_with_newest(&oldest).await);
    }
}

fn vault(given: Given) -> TestVault {
    TestVault::with(given)
}

/// Returns the id of the key that the store works with, if there is one.
fn current(world: &World) -> Option<SecretKeyId> {
    world.store.lock().key_record.as_ref().map(|record| record.current.clone())
}
