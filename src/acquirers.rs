//! The configured acquirers, made from their adapters.

use std::sync::Arc;

use quita_adapters::acquirer::sandbox::{SandboxFactory, SandboxSettings};
use quita_ports::{AcquirerFactory, Clock};

use crate::config::Config;
use crate::config::acquirer::{AcquirerConfig, AdapterKind};

/// Makes a factory for each configured acquirer.
pub(crate) fn build(config: &Config, clock: &Arc<dyn Clock>) -> Vec<Arc<dyn AcquirerFactory>> {
    config.acquirers.iter().map(|acquirer| factory(config, acquirer, clock)).collect()
}

fn factory(config: &Config, acquirer: &AcquirerConfig, clock: &Arc<dyn Clock>) -> Arc<dyn AcquirerFactory> {
    match acquirer.adapter {
        AdapterKind::Sandbox => {
            let settle_after_ms = u64::try_from(config.sandbox_settle_after.as_millis()).unwrap_or(u64::MAX);
            let settings = SandboxSettings { settle_after_ms, ..SandboxSettings::default() };
            Arc::new(SandboxFactory::new(acquirer.spec.clone(), settings, Arc::clone(clock)))
        }
    }
}
