//! The one application of every world, and its webhook secret.

use async_trait::async_trait;
use quita_domain::access::{ApiKey, Application, SigningSecret};
use quita_domain::identity::{ApplicationName, MerchantId, Mode, Owner};
use quita_domain::time::Timestamp;
use quita_domain::webhook::signature::WebhookSecret;
use quita_ports::{AccessStore, StoreError};

use super::NodeStore;

/// Whose every payment is.
pub(crate) fn owner() -> Owner {
    let (merchant, application) = (MerchantId::new("demo"), ApplicationName::new("default"));
    Owner { merchant, application, mode: Mode::Test }
}

/// What signs every webhook.
pub(crate) fn webhook_secret() -> WebhookSecret {
    WebhookSecret::from_bytes(vec![7; WebhookSecret::BYTES])
}

#[async_trait]
impl AccessStore for NodeStore {
    async fn application(
        &self,
        merchant: &MerchantId,
        name: &ApplicationName,
    ) -> Result<Option<Application>, StoreError> {
        self.read().await?;
        let secrets = vec![SigningSecret { secret: webhook_secret().reveal(), expires_at: None }];
        let (merchant, name) = (merchant.clone(), name.clone());
        Ok(Some(Application { merchant, name, secrets, title: None, created_at: Timestamp::default() }))
    }

    async fn insert_application(&self, _: &Application) -> Result<bool, StoreError> {
        Ok(false)
    }

    async fn replace_application(&self, _: &Application, _: &Application) -> Result<bool, StoreError> {
        Ok(false)
    }

    async fn insert_key(&self, _: &ApiKey) -> Result<(), StoreError> {
        Ok(())
    }

    async fn key(&self, _: &str) -> Result<Option<ApiKey>, StoreError> {
        Ok(None)
    }

    async fn keys(&self) -> Result<Vec<ApiKey>, StoreError> {
        Ok(Vec::new())
    }

    async fn revoke_key(&self, _: &str, _: Timestamp) -> Result<bool, StoreError> {
        Ok(false)
    }
}
