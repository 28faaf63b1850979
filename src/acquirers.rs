//! The configured acquirers, made from their adapters, and the ways to their providers.

mod certificates;
mod link;
mod metrics;
mod registration;
mod reload;

use std::sync::Arc;

use quita_domain::identity::AcquirerName;
use quita_domain::webhook::signature::WebhookSecret;
use quita_ports::{AcquirerFactory, Clock};

use crate::keyring::Keyring;
use quita_config::Config;
use quita_config::acquirer::CallbackTokens;
use quita_config::acquirer::{AcquirerConfig, ApiPixConfig, SandboxConfig};

pub(crate) use certificates::{ENDS_SOON_MS, watch_certificates};
pub(crate) use link::{Link, LinkState};
pub(crate) use metrics::LinkMetrics;
pub(crate) use registration::keep_registering;
pub use reload::Reread;
pub(crate) use reload::{Reload, ReloadMetrics};

/// What acquirers need of the rest of the configuration.
pub(crate) struct Site {
    keyring: Arc<Keyring>,
    public_url: String,
}

impl Site {
    /// With the keys that the store works with.
    pub(crate) fn new(config: &Config, keyring: Arc<Keyring>) -> Self {
        // Where it matters at which port we listen, nothing is registered at anybody.
        let public_url = config.public_url_at(config.listen);
        Self { keyring, public_url }
    }

    /// For commands, which look into no store: with the newest of the configured keys, which every node knows too.
    pub(crate) fn of(config: &Config) -> Self {
        Self::new(config, Arc::new(Keyring::of_configured(&config.secret_keys)))
    }

    /// The tokens in the address to which a bank calls back.
    pub(crate) fn callback_tokens(
        &self,
        acquirer: &AcquirerConfig,
        api_pix: &ApiPixConfig,
    ) -> CallbackTokens {
        self.keyring.callback_tokens(&acquirer.spec.name, api_pix.callbacks.epoch)
    }

    /// What signs the notices of an acquirer that only pretends: with the key of now.
    pub(crate) fn notification_secret(
        &self,
        name: &AcquirerName,
        sandbox: &SandboxConfig,
    ) -> Option<WebhookSecret> {
        self.keyring.notification_secrets(name, sandbox).into_iter().next()
    }

    /// Where an acquirer's notices arrive.
    pub(crate) fn notifications(&self, acquirer: &AcquirerConfig) -> String {
        format!("{}/acquirers/{}/notifications", self.public_url, acquirer.spec.name)
    }

    /// The address to which a bank calls back, as it wants it.
    pub(crate) fn callback_address(&self, acquirer: &AcquirerConfig, api_pix: &ApiPixConfig) -> String {
        let tokens = self.callback_tokens(acquirer, api_pix);
        api_pix.callbacks.address(&tokens.now, &self.notifications(acquirer))
    }
}

/// Makes each configured acquirer. Nothing is sent yet: one whose provider is down is made too.
///
/// # Errors
/// When a certificate can't be used after all.
pub(crate) fn build(config: &Config, site: &Site, clock: &Arc<dyn Clock>) -> anyhow::Result<Vec<Arc<Link>>> {
    let made = config.acquirers.iter().map(|acquirer| Link::open(acquirer, site, clock).map(Arc::new));
    made.collect()
}

/// The factories behind them.
pub(crate) fn factories(links: &[Arc<Link>]) -> Vec<Arc<dyn AcquirerFactory>> {
    links.iter().map(|link| link.factory()).collect()
}
