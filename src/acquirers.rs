//! The configured acquirers, made from their adapters.

use std::sync::Arc;

use quita_acquirers::sandbox::{SandboxFactory, SandboxSettings};
use quita_ports::{AcquirerFactory, Clock};

use crate::config::Config;
use crate::config::acquirer::{AcquirerConfig, AdapterConfig};
use crate::http::Keys;

/// Makes a factory for each configured acquirer.
pub(crate) fn build(config: &Config, clock: &Arc<dyn Clock>) -> Vec<Arc<dyn AcquirerFactory>> {
    let keys = Keys::new(config.secret_key.expose());
    config.acquirers.iter().map(|acquirer| factory(acquirer, &keys, clock)).collect()
}

fn factory(acquirer: &AcquirerConfig, keys: &Keys, clock: &Arc<dyn Clock>) -> Arc<dyn AcquirerFactory> {
    match &acquirer.adapter {
        AdapterConfig::Sandbox(sandbox) => {
            let settle_after_ms = u64::try_from(sandbox.settle_after.as_millis()).unwrap_or(u64::MAX);
            let settings = SandboxSettings { settle_after_ms, ..SandboxSettings::default() };
            let secret = keys.notification_secret(acquirer);
            Arc::new(SandboxFactory::new(acquirer.spec.clone(), settings, secret, Arc::clone(clock)))
        }
    }
}
