//! The configured acquirers, created from their adapters, and the links to their providers.

mod certificates;
mod link;
mod metrics;
mod registration;
mod reload;

use std::sync::Arc;

use quita_acquirers::sicoob::settings::SicoobSettings;
use quita_domain::identity::AcquirerName;
use quita_domain::secret_key::SecretKeyId;
use quita_domain::webhook::signature::WebhookSecret;
use quita_ports::{AcquirerFactory, Clock};

use crate::keyring::Keyring;
use quita_config::Config;
use quita_config::acquirer::{AcquirerConfig, CallbackConfig, CallbackTokens, SandboxConfig, SicoobConfig};

pub(crate) use certificates::{CERTIFICATES, CertificateWatch, ENDS_SOON_MS};
pub(crate) use link::{Link, LinkState};
pub(crate) use metrics::LinkMetrics;
pub(crate) use registration::{REGISTRATIONS, Registrations};
pub use reload::Reread;
pub(crate) use reload::{Reload, ReloadMetrics};

/// Epoch before the first epoch of callback addresses.
const NO_EPOCH: u32 = 0;

/// Settings that acquirers need besides their own.
pub(crate) struct Site {
    keyring: Arc<Keyring>,
    public_url: String,
}

impl Site {
    /// Creates a site with this keyring.
    pub(crate) fn new(config: &Config, keyring: Arc<Keyring>) -> Self {
        // The actually bound port matters only without a public URL, and then no address is registered anywhere.
        let public_url = config.public_url_at(config.listen);
        Self { keyring, public_url }
    }

    /// Creates a site for commands, which open no store. It uses the newest configured key, which every node has too.
    pub(crate) fn of(config: &Config) -> Self {
        Self::with_key(config, &config.secret_keys.newest().id())
    }

    /// Creates a site for commands that know which of the configured keys the store uses.
    pub(crate) fn with_key(config: &Config, current: &SecretKeyId) -> Self {
        Self::new(config, Arc::new(Keyring::of_configured(&config.secret_keys, current)))
    }

    /// Returns the tokens in the address that a bank calls back.
    pub(crate) fn callback_tokens(
        &self,
        acquirer: &AcquirerConfig,
        callbacks: &CallbackConfig,
    ) -> CallbackTokens {
        self.keyring.callback_tokens(&acquirer.spec.name, callbacks.epoch)
    }

    /// Returns the keys of the names that payers see on a bank's boletos. No address uses their epoch.
    pub(crate) fn name_keys(&self, acquirer: &AcquirerConfig) -> CallbackTokens {
        // The epoch changes the callback address. Names that payers see on boletos must stay the same.
        self.keyring.callback_tokens(&acquirer.spec.name, NO_EPOCH)
    }

    /// Returns the settings of a Sicoob customer.
    pub(crate) fn sicoob(&self, acquirer: &AcquirerConfig, sicoob: &SicoobConfig) -> SicoobSettings {
        let tokens = self.callback_tokens(acquirer, &sicoob.callbacks);
        sicoob.settings(tokens, self.name_keys(acquirer), &self.notifications(acquirer))
    }

    /// Returns the secret that signs a sandbox's notices, derived from the current key.
    pub(crate) fn notification_secret(
        &self,
        name: &AcquirerName,
        sandbox: &SandboxConfig,
    ) -> Option<WebhookSecret> {
        self.keyring.notification_secrets(name, sandbox).into_iter().next()
    }

    /// Returns the address for an acquirer's notices.
    pub(crate) fn notifications(&self, acquirer: &AcquirerConfig) -> String {
        format!("{}/acquirers/{}/notifications", self.public_url, acquirer.spec.name)
    }

    /// Returns the address for a bank's callbacks, in the form that the bank wants.
    pub(crate) fn callback_address(&self, acquirer: &AcquirerConfig, callbacks: &CallbackConfig) -> String {
        let tokens = self.callback_tokens(acquirer, callbacks);
        callbacks.address(&tokens.now, &self.notifications(acquirer))
    }
}

/// Creates each configured acquirer. Nothing is sent yet, so an acquirer whose provider is down is created too.
///
/// # Errors
/// Fails if a certificate turns out to be unusable.
pub(crate) fn build(config: &Config, site: &Site, clock: &Arc<dyn Clock>) -> anyhow::Result<Vec<Arc<Link>>> {
    let made = config.acquirers.iter().map(|acquirer| Link::open(acquirer, site, clock).map(Arc::new));
    made.collect()
}

/// Returns the factories behind these links.
pub(crate) fn factories(links: &[Arc<Link>]) -> Vec<Arc<dyn AcquirerFactory>> {
    links.iter().map(|link| link.factory()).collect()
}
