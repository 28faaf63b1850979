//! `quita serve`: connects all parts, from the first line of the log to the last.

mod background;
mod core;
mod recorders;
mod resources;
mod servers;
mod until_stopped;

use std::sync::Arc;
use std::time::Duration;

use quita_actors::{ActorSystem, Readiness};
use quita_config::store_url::StoreUrl;
use quita_config::{Config, Environment};
use quita_domain::identity::Mode;
use quita_machine::SystemClock;
use quita_ports::{AcquirerFactory, Clock};
use quita_services::access::Access;
use quita_services::people::People;

pub use crate::acquirers::Reread;
use crate::acquirers::{LinkMetrics, Reload, ReloadMetrics};
use crate::first_run;
use background::{Background, store_last_uses};
use core::Core;
use recorders::Recorders;
use resources::Resources;
use servers::Servers;
use until_stopped::serve;

/// Time limit for each last write at shutdown.
const LAST_WRITE_WITHIN: Duration = Duration::from_secs(2);

/// Replaceable parts of a serving program: the acquirers and the clock.
pub struct Outside {
    acquirers: Acquirers,
    clock: Arc<dyn Clock>,
}

/// Acquirers of a serving program.
enum Acquirers {
    /// The program's own acquirers, which are never reconfigured.
    Own(Vec<Arc<dyn AcquirerFactory>>),
    /// Acquirers of the configuration, and the function to read it again.
    Configured(Option<Reread>),
}

impl Outside {
    /// Uses these acquirers and this wall clock. The acquirers must have the configured names, because their notices
    /// are authenticated by name.
    pub fn new(acquirers: Vec<Arc<dyn AcquirerFactory>>, clock: Arc<dyn Clock>) -> Self {
        Self { acquirers: Acquirers::Own(acquirers), clock }
    }

    /// Uses the configured acquirers and the clock of this machine.
    pub fn configured(reread: Option<Reread>) -> Self {
        Self { acquirers: Acquirers::Configured(reread), clock: Arc::new(SystemClock) }
    }
}

/// Runs the service until a signal stops it. At SIGHUP it reads the configuration again with `reread`.
///
/// # Errors
/// Fails if it can't start; the message explains what to do.
pub async fn run(config: Config, reread: Reread) -> anyhow::Result<()> {
    run_with(config, Outside::configured(Some(reread))).await
}

/// Runs the service with the caller's acquirers and clock.
///
/// # Errors
/// Fails if it can't start; the message explains what to do.
pub async fn run_with(config: Config, outside: Outside) -> anyhow::Result<()> {
    let (mut resources, sockets) = Resources::open(&config, outside).await?;
    announce_missing_acquirers(&config);
    // Actors start before the servers accept: the first request must not find a service that can't answer it.
    let mut core = Core::start(&config, &resources).await?;
    let audit_watch = Recorders::begin(&resources, &core).await?;
    let background = Background::prepare(&config, &resources, &core)?;
    let reload = reload(&config, &mut resources, &core.system)?;
    let Servers { edge, console, api, ops } =
        Servers::open(&config, &resources, sockets, &core, &background)?;
    let people = People::new(core.store.clone(), Arc::clone(&resources.clock));
    if let Some(warning) = config.closed_console()
        && !people.has_operators().await?
    {
        tracing::warn!("{warning}");
    }
    // This is the last step that can fail: a password that was created but not printed would be lost.
    let access = Access::new(core.store.clone(), core.strongbox.clone(), Arc::clone(&resources.clock));
    let welcome = first_run::prepare(&config, &access, &people).await?;
    let api_address = resources.api_address;
    let ops_address = resources.ops_address;
    // Printed first: a program that waits for the line in the log then finds the password.
    welcome.print(&config, api_address, ops_address);
    tracing::info!(
        listen = %api_address,
        ops_listen = %ops_address,
        store = %config.store,
        routing_version = %config.routes.version(),
        "{}",
        started(&core.system.payments().readiness())
    );
    // Jobs start only now, because no step after this one can fail and leave them running.
    background.start(&mut core.jobs, edge.clone());
    let recorders = Recorders::start(audit_watch, &core);
    // If a listener fails, pending writes are stored nevertheless.
    let end_streams = || console.streams.close();
    let served =
        serve(api, ops, &core.system, reload, &*resources.store, config.shutdown_time, end_streams).await;
    // Jobs end before the actors: otherwise a run in progress would call actors that are gone.
    core.jobs.stop();
    // The job stores them every 15 seconds, so otherwise the last ones would be lost at each restart.
    if tokio::time::timeout(LAST_WRITE_WITHIN, store_last_uses(&edge)).await.is_err() {
        tracing::debug!("the times at which keys were last used could not be stored in time");
    }
    recorders.stop(LAST_WRITE_WITHIN).await;
    let node = core.system.operators();
    // The actors stop after the servers, so that accepted requests are answered and confirmations are stored.
    core.system.stop().await;
    let has_left = matches!(tokio::time::timeout(LAST_WRITE_WITHIN, node.leave()).await, Ok(Ok(())));
    if !has_left && matches!(config.store, StoreUrl::Mongo(_)) {
        tracing::warn!(
            "the other nodes could not be notified that this one has stopped: they will show it as lost"
        );
    }
    resources.traces.stop().await;
    tracing::info!("the service has stopped");
    Ok(served?)
}

/// Returns the message of a service that has started, in agreement with `/health/ready`.
fn started(readiness: &Readiness) -> String {
    let missing = match (&readiness.store_away, readiness.routes.is_empty()) {
        (None, false) => return String::from("the service is ready"),
        (Some(_), _) => "the store is unavailable",
        (None, true) => "no acquirer is configured",
    };
    format!("the service runs, but is not ready: {missing}")
}

/// Logs, in production, which methods no acquirer accepts with live keys: somebody may expect money from them.
fn announce_missing_acquirers(config: &Config) {
    let missing = config.methods_without_acquirer(Mode::Live);
    if config.environment == Environment::Production && !missing.is_empty() {
        tracing::warn!(
            methods = missing.join(", "),
            "no acquirer takes these methods for live keys: such payments are refused with method_unavailable"
        );
    }
}

/// Registers the acquirers' metrics, and returns the reload to be run at SIGHUP, if any.
fn reload(
    config: &Config,
    resources: &mut Resources,
    system: &ActorSystem,
) -> anyhow::Result<Option<Reload>> {
    let links = resources.links.clone();
    LinkMetrics::register(links.clone(), &resources.registry)?;
    let Some(reread) = resources.reread.take() else { return Ok(None) };
    let metrics = ReloadMetrics::register(&resources.registry)?;
    let operators = system.operators();
    let keyring = Arc::clone(&resources.keyring);
    Ok(Some(Reload { reread, links, operators, started: config.clone(), keyring, metrics }))
}
