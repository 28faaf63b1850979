//! temp
use quita_domain::access::*;
use quita_domain::identity::*;
use quita_ports::*;
use std::sync::Arc;
/// x
pub struct Caller {
    pub owner: Owner,
    pub key_id: String,
    pub scopes: Vec<Scope>,
}
/// x
pub enum AccessError {
    Invalid,
    StoreUnavailable(StoreError),
}
/// x
pub struct KeyVerifier {
    store: Arc<dyn Store>,
    clock: Arc<dyn Clock>,
}
impl KeyVerifier {
    pub fn new(store: Arc<dyn Store>, clock: Arc<dyn Clock>) -> Self {
        Self { store, clock }
    }
    pub async fn verify(&self, header: &str) -> Result<Caller, AccessError> {
        let p = header.strip_prefix("Bearer ").and_then(PresentedKey::parse).ok_or(AccessError::Invalid)?;
        let key = self
            .store
            .key(&p.id)
            .await
            .map_err(AccessError::StoreUnavailable)?
            .ok_or(AccessError::Invalid)?;
        if !key.matches(&p) || !key.is_live(self.clock.now()) {
            return Err(AccessError::Invalid);
        }
        Ok(Caller { owner: key.owner, key_id: key.id, scopes: key.scopes })
    }
}
pub struct NewKey {
    pub owner: Owner,
    pub scopes: Vec<Scope>,
    pub expires_in: Option<std::time::Duration>,
}
pub async fn create_key(store: &dyn Store, clock: &dyn Clock, new: NewKey) -> anyhow::Result<String> {
    let p = PresentedKey::from_random(
        new.owner.mode,
        quita_adapters::system::random_bytes()?,
        quita_adapters::system::random_bytes()?,
    );
    let now = clock.now();
    let secret = quita_domain::webhook::signature::WebhookSecret::from_bytes(
        quita_adapters::system::random_bytes::<32>()?.to_vec(),
    )
    .reveal();
    store
        .insert_application(&Application {
            merchant: new.owner.merchant.clone(),
            name: new.owner.application.clone(),
            secrets: vec![SigningSecret { secret, expires_at: None }],
            created_at: now,
        })
        .await?;
    store
        .insert_key(&ApiKey {
            id: p.id.clone(),
            owner: new.owner,
            secret_hash: p.secret_hash(),
            scopes: new.scopes,
            created_at: now,
            expires_at: None,
            revoked_at: None,
        })
        .await?;
    Ok(p.reveal())
}
