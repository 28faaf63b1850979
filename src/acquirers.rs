//! The configured acquirers, made from their adapters, and the ways to their providers.

mod link;
mod metrics;
mod registration;
mod reload;

use std::sync::Arc;

use quita_domain::secret::Secret;
use quita_ports::{AcquirerFactory, Clock};

use crate::config::Config;
use crate::config::acquirer::{AcquirerConfig, ApiPixConfig};
use crate::http::Keys;

pub(crate) use link::{Link, LinkState};
pub(crate) use metrics::LinkMetrics;
pub(crate) use registration::keep_registering;
pub use reload::Reread;
pub(crate) use reload::{Reload, ReloadMetrics};

/// What acquirers need of the rest of the configuration.
pub(crate) struct Site {
    keys: Keys,
    public_url: String,
}

impl Site {
    pub(crate) fn of(config: &Config) -> Self {
        // Where it matters at which port we listen, nothing is registered at anybody.
        let public_url = config.public_url_at(config.listen);
        Self { keys: Keys::new(config.secret_key.expose()), public_url }
    }

    /// The token in the address to which a bank calls back.
    pub(crate) fn callback_token(&self, acquirer: &AcquirerConfig, api_pix: &ApiPixConfig) -> Secret<String> {
        self.keys.callback_token(&acquirer.spec.name, api_pix.callbacks.epoch)
    }

    /// Where an acquirer's notices arrive.
    pub(crate) fn notifications(&self, acquirer: &AcquirerConfig) -> String {
        format!("{}/acquirers/{}/notifications", self.public_url, acquirer.spec.name)
    }

    /// The address to which a bank calls back, as it wants it.
    pub(crate) fn callback_address(&self, acquirer: &AcquirerConfig, api_pix: &ApiPixConfig) -> String {
        let token = self.callback_token(acquirer, api_pix);
        api_pix.callbacks.address(&token, &self.notifications(acquirer))
    }
}

/// Makes each configured acquirer. Nothing is sent yet: one whose provider is down is made too.
///
/// # Errors
/// When a certificate can't be used after all.
pub(crate) fn build(config: &Config, clock: &Arc<dyn Clock>) -> anyhow::Result<Vec<Arc<Link>>> {
    let site = Site::of(config);
    let made = config.acquirers.iter().map(|acquirer| Link::open(acquirer, &site, clock).map(Arc::new));
    made.collect()
}

/// The factories behind them.
pub(crate) fn factories(links: &[Arc<Link>]) -> Vec<Arc<dyn AcquirerFactory>> {
    links.iter().map(|link| link.factory()).collect()
}
