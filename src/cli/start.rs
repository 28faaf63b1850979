//! `quita serve`: from the configuration to the end of the service.

use super::failure::Failure;
use super::flags::ServiceFlags;
use crate::build_info::{BuildInfo, build_info};
use crate::core_dumps;
use crate::serve::{self, Reread};
use crate::telemetry;
use quita_config::{Config, Environment, LogConfig, LogFormat};

/// Runs the service until a signal stops it. Failures are reported for people, and also as a record if the log is JSON.
pub(super) async fn run(flags: ServiceFlags) -> Result<(), Failure> {
    // Read first, because refused settings must be logged.
    let log = LogConfig::from_settings(flags.clone().settings());
    telemetry::start(log).map_err(Failure::failed)?;
    start(flags).await.inspect_err(|failure| match log.format {
        LogFormat::Human => {}
        LogFormat::Json => tracing::error!(error = %failure, "the service can't start or can't continue"),
    })
}

async fn start(flags: ServiceFlags) -> Result<(), Failure> {
    let reread = {
        let flags = flags.clone();
        Reread::new(move || Config::from_settings(flags.clone().settings()))
    };
    let config = Config::from_settings(flags.settings())?;
    config.refuse_unsafe()?;
    let BuildInfo { version, commit, .. } = build_info();
    tracing::info!(version, commit, "the service is starting");
    if config.environment == Environment::Production
        && let Err(error) = core_dumps::forbid_reading()
    {
        tracing::warn!(%error, "other programs on this machine may read this process's memory");
    }
    for warning in &config.warnings {
        tracing::warn!("{warning}");
    }
    serve::run(config, reread).await.map_err(|error| Failure::of_service(&error))
}
