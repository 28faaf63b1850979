//! Logging: to stderr, for people or as JSON.
//!
//! Lines contain ids, never bodies, names, documents, e-mail addresses or tokens. Third-party crates may log the data
//! that they send, so they are limited to `warn`, whatever level is configured.

use std::io::{self, IsTerminal};

use thiserror::Error;
use tracing_subscriber::filter::{LevelFilter, Targets};
use tracing_subscriber::layer::SubscriberExt;
use tracing_subscriber::registry::Registry;
use tracing_subscriber::util::SubscriberInitExt;
use tracing_subscriber::{Layer, fmt};

use quita_config::{LogConfig, LogFormat, LogLevel};

/// Prefix of the names of our crates.
const OURS: &str = "quita";

/// Log target at which the HTTP server reports bytes that are not HTTP. Anyone can send them, so they are not our
/// errors.
const MALFORMED_REQUESTS: &str = "actix_http::h1::dispatcher";

/// Error if logging is started a second time.
#[derive(Debug, Error)]
#[error("logging can't be started: {0}")]
pub struct TelemetryError(#[from] tracing_subscriber::util::TryInitError);

/// Starts logging for the whole process.
///
/// # Errors
/// [`TelemetryError`] if it has already been started.
pub fn start(config: LogConfig) -> Result<(), TelemetryError> {
    let layer: Box<dyn Layer<Registry> + Send + Sync> = match config.format {
        LogFormat::Human => {
            fmt::layer().with_writer(io::stderr).with_ansi(io::stderr().is_terminal()).boxed()
        }
        LogFormat::Json => fmt::layer().with_writer(io::stderr).json().flatten_event(true).boxed(),
    };
    tracing_subscriber::registry().with(layer.with_filter(filter(config.level))).try_init()?;
    Ok(())
}

fn filter(level: LogLevel) -> Targets {
    let level = match level {
        LogLevel::Off => LevelFilter::OFF,
        LogLevel::Error => LevelFilter::ERROR,
        LogLevel::Warn => LevelFilter::WARN,
        LogLevel::Info => LevelFilter::INFO,
        LogLevel::Debug => LevelFilter::DEBUG,
        LogLevel::Trace => LevelFilter::TRACE,
    };
    Targets::new()
        .with_default(level.min(LevelFilter::WARN))
        .with_target(OURS, level)
        .with_target(MALFORMED_REQUESTS, LevelFilter::OFF)
}

#[cfg(test)]
mod tests {
    use tracing::Level;

    use super::*;

    #[test]
    fn others_are_held_at_warn_whatever_is_asked_for() {
        for level in [LogLevel::Info, LogLevel::Trace] {
            let filter = filter(level);
            assert!(filter.would_enable("quita_actors::journal", &Level::INFO));
            assert!(filter.would_enable("actix_http::h1", &Level::WARN));
            assert!(!filter.would_enable("actix_http::h1", &Level::INFO));
        }
    }

    #[test]
    fn requests_that_are_no_http_are_not_logged() {
        assert!(!filter(LogLevel::Trace).would_enable(MALFORMED_REQUESTS, &Level::ERROR));
    }

    #[test]
    fn a_quieter_level_is_for_everybody() {
        let filter = filter(LogLevel::Error);
        for target in ["quita", "mongodb"] {
            assert!(filter.would_enable(target, &Level::ERROR));
            assert!(!filter.would_enable(target, &Level::WARN), "{target}");
        }
    }
}
