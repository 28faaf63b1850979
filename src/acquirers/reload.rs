//! Reload at SIGHUP: rereads priorities, weights, secrets and certificates of acquirers. An invalid configuration
//! changes nothing.

use std::sync::Arc;

use prometheus::{IntCounterVec, Opts, Registry};
use quita_actors::Operators;
use quita_domain::identity::AcquirerName;
use quita_domain::routing::{Gravity, RoutingTable, Standing};
use quita_domain::secret::Secret;

use super::link::Prepared;
use super::{Link, Site};
use crate::keyring::Keyring;
use quita_config::Config;
use quita_config::acquirer::AcquirerConfig;
use quita_config::problem::ConfigError;
use quita_config::route;

/// Function that reads the configuration again, the way it was read at startup.
#[derive(Clone)]
pub struct Reread(Arc<dyn Fn() -> Result<Config, ConfigError> + Send + Sync>);

impl Reread {
    /// Wraps this function.
    pub fn new(read: impl Fn() -> Result<Config, ConfigError> + Send + Sync + 'static) -> Self {
        Self(Arc::new(read))
    }

    fn read(&self) -> Result<Config, ConfigError> {
        let config = (self.0)()?;
        config.refuse_unsafe()?;
        Ok(config)
    }
}

/// Outcome of one reload.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum ReloadOutcome {
    /// Something changed.
    Applied,
    /// The configuration is invalid, and nothing changed.
    Refused,
    /// Nothing that can change in a running service has changed.
    Unchanged,
}

impl ReloadOutcome {
    const ALL: [Self; 3] = [Self::Applied, Self::Refused, Self::Unchanged];

    const fn as_str(self) -> &'static str {
        match self {
            Self::Applied => "applied",
            Self::Refused => "refused",
            Self::Unchanged => "unchanged",
        }
    }
}

/// Counter of reloads by outcome.
pub(crate) struct ReloadMetrics(IntCounterVec);

impl ReloadMetrics {
    /// Registers the metric.
    ///
    /// # Errors
    /// Fails if another metric has its name.
    pub(crate) fn register(registry: &Registry) -> Result<Self, prometheus::Error> {
        let help = "Configuration reloads after SIGHUP, by outcome: applied, refused, unchanged";
        let reloads = IntCounterVec::new(Opts::new("quita_config_reloads_total", help), &["outcome"])?;
        registry.register(Box::new(reloads.clone()))?;
        for outcome in ReloadOutcome::ALL {
            reloads.with_label_values(&[outcome.as_str()]);
        }
        Ok(Self(reloads))
    }
}

/// Reload of the settings that can change in a running service.
pub(crate) struct Reload {
    pub(crate) reread: Reread,
    pub(crate) links: Vec<Arc<Link>>,
    pub(crate) operators: Operators,
    /// Configuration with which the service started.
    pub(crate) started: Config,
    pub(crate) keyring: Arc<Keyring>,
    pub(crate) metrics: ReloadMetrics,
}

impl Reload {
    /// Reads the configuration again, and applies the changes that a running service can apply.
    pub(crate) async fn run(&self) {
        let reread = self.reread.clone();
        // Reading files may block the thread.
        let outcome = match tokio::task::spawn_blocking(move || reread.read()).await {
            Ok(Ok(config)) => self.take(&config),
            Ok(Err(ConfigError(problems))) => {
                for problem in problems {
                    tracing::error!(%problem, "the configuration is refused, and nothing changes");
                }
                ReloadOutcome::Refused
            }
            Err(error) => {
                tracing::error!(%error, "the configuration can't be read, and nothing changes");
                ReloadOutcome::Refused
            }
        };
        self.metrics.0.with_label_values(&[outcome.as_str()]).inc();
        match outcome {
            ReloadOutcome::Applied | ReloadOutcome::Unchanged => {
                tracing::info!(outcome = outcome.as_str(), "the configuration was reloaded");
            }
            // Each reason has been logged at ERROR.
            ReloadOutcome::Refused => {}
        }
    }

    fn take(&self, config: &Config) -> ReloadOutcome {
        let routes = self.routes(config);
        // Everything is checked before the first change is applied: a half-applied configuration is worse than the old
        // one.
        if !self.can_start_with(config) || !self.fits(&routes) {
            return ReloadOutcome::Refused;
        }
        let mut changes = Vec::new();
        for link in &self.links {
            let running = link.config();
            let Some(wanted) = find(config, &running.spec.name) else {
                wants_restart(&running.spec.name, "", "it is no longer configured");
                continue;
            };
            match Change::between(link, &running, wanted) {
                Ok(change) => changes.extend(change),
                Err(error) => {
                    tracing::error!(%error, "the configuration is refused, and nothing changes");
                    return ReloadOutcome::Refused;
                }
            }
        }
        for added in &config.acquirers {
            if find(&self.started, &added.spec.name).is_none() {
                wants_restart(&added.spec.name, "", "it is new");
            }
        }
        let options = changed_options(&self.started, config);
        if !options.is_empty() {
            tracing::warn!(
                options = options.join(", "),
                "options other than those of acquirers have changed: they take effect at the next start"
            );
        }
        // Compared with the routes in use rather than with those at startup, because an earlier reload may have changed
        // them.
        let has_other_routes = self.operators.routing_version() != Some(routes.version());
        if changes.is_empty() && !has_other_routes {
            return ReloadOutcome::Unchanged;
        }
        self.apply(changes);
        if has_other_routes {
            tracing::info!(version = %routes.version(), "new routes are in effect");
            self.operators.route_by(routes);
        }
        ReloadOutcome::Applied
    }

    /// Returns true if the next start can use these secret keys.
    fn can_start_with(&self, config: &Config) -> bool {
        let Some(current) = self.keyring.missing_in(&config.secret_keys) else { return true };
        tracing::error!(
            %current,
            "the store uses a secret key that is not among the new ones, so the next start would fail: the \
             configuration is refused, and nothing changes. Put that key back, after the newest one"
        );
        false
    }

    /// Returns the routes of this configuration for the running acquirers. An acquirer that is no longer configured
    /// keeps its priority and weight.
    fn routes(&self, config: &Config) -> RoutingTable {
        let standing = |link: &Arc<Link>| {
            let running = link.config();
            let wanted = find(config, &running.spec.name).unwrap_or(&running);
            (running.spec.name.clone(), route::standing(wanted))
        };
        RoutingTable { standings: self.links.iter().map(standing).collect(), ..config.routes.clone() }
    }

    /// Returns true if the routes are valid for the running acquirers, which may differ from those in the file.
    /// Questionable routes are logged.
    fn fits(&self, routes: &RoutingTable) -> bool {
        let running: Vec<_> = self.links.iter().map(|link| link.config()).collect();
        let mut is_wrong = false;
        for finding in route::findings(routes, &running) {
            match finding.gravity() {
                Gravity::Doubtful => {
                    tracing::warn!(%finding, "a questionable route for the running acquirers")
                }
                Gravity::Wrong => {
                    is_wrong = true;
                    tracing::error!(
                        %finding,
                        "the routes do not fit the running acquirers, which only a restart changes: the configuration \
                         is refused, and nothing changes"
                    );
                }
            }
        }
        !is_wrong
    }

    fn apply(&self, changes: Vec<Change<'_>>) {
        // Addresses come from the configuration at startup: a changed public URL only takes effect at the next start.
        let site = Site::new(&self.started, Arc::clone(&self.keyring));
        for Change { link, acquirer, standing, prepared } in changes {
            if let Some(Standing { priority, weight }) = standing {
                link.note_standing(priority, weight);
                tracing::info!(%acquirer, priority, weight, "new priority and weight are in effect");
            }
            if let Some(prepared) = prepared {
                link.take(prepared, &site);
                tracing::info!(%acquirer, "new secrets and certificates are in effect");
            }
        }
    }
}

/// Changes of an acquirer that a running service can apply.
struct Change<'a> {
    link: &'a Link,
    acquirer: AcquirerName,
    standing: Option<Standing>,
    prepared: Option<Prepared>,
}

impl<'a> Change<'a> {
    /// Returns the change between two configurations, or `None` if there is none. Changes that need a restart are
    /// logged.
    fn between(
        link: &'a Link,
        running: &AcquirerConfig,
        wanted: &AcquirerConfig,
    ) -> anyhow::Result<Option<Self>> {
        let mut changed = running.clone();
        changed.spec.priority = wanted.spec.priority;
        changed.spec.weight = wanted.spec.weight;
        let new_standing = Some(route::standing(wanted)).filter(|wanted| *wanted != route::standing(running));
        changed.adapter = running.adapter.with_secrets_of(&wanted.adapter);
        let has_other_secrets = changed.adapter != running.adapter;
        let prepared = has_other_secrets.then(|| link.prepare(&changed)).transpose()?;
        let keys = running.written.changed(&wanted.written);
        changed.written.clone_from(&wanted.written);
        if changed != *wanted {
            let keys: Vec<_> = keys.into_iter().filter(|key| !is_read_again(key)).collect();
            let keys = if keys.is_empty() { "none of its own".to_owned() } else { keys.join(", ") };
            wants_restart(&running.spec.name, &keys, "other keys of it have changed");
        }
        let acquirer = running.spec.name.clone();
        let is_change = new_standing.is_some() || prepared.is_some();
        Ok(is_change.then_some(Self { link, acquirer, standing: new_standing, prepared }))
    }
}

fn find<'a>(config: &'a Config, name: &AcquirerName) -> Option<&'a AcquirerConfig> {
    config.acquirers.iter().find(|acquirer| acquirer.spec.name == *name)
}

/// Returns true if a running service can apply a change of this acquirer key: priority, weight, secrets and
/// certificates.
fn is_read_again(key: &str) -> bool {
    ["priority", "weight"].contains(&key) || key.ends_with("-file")
}

fn wants_restart(acquirer: &AcquirerName, keys: &str, what: &str) {
    tracing::warn!(
        %acquirer, keys, what,
        "changes to an acquirer take effect only at the next start"
    );
}

/// Returns the changed options that take effect at the next start. Files with secrets are compared by content.
fn changed_options<'a>(started: &'a Config, config: &'a Config) -> Vec<&'a str> {
    let mut changed = started.written.changed(&config.written);
    for (option, is_other) in [
        ("secret-key", started.secret_keys != config.secret_keys),
        ("operator-password", started.operator_password != config.operator_password),
        ("mail-password", mail_password(started) != mail_password(config)),
    ] {
        if is_other && !changed.iter().any(|name| name.starts_with(option)) {
            changed.push(option);
        }
    }
    changed
}

fn mail_password(config: &Config) -> Option<&Secret<String>> {
    let (_, password) = config.mail.as_ref()?.credentials.as_ref()?;
    Some(password)
}
