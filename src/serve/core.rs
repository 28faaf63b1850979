//! Core of a serving program: the actors, the store as they monitor it, and the audit log.

use std::sync::Arc;

use quita_actors::{ActorSystem, Limits, NodeIdentity, Placement, Ports, WatchedStore, WebhookLimits};
use quita_config::Config;
use quita_machine::{SystemDice, SystemIds};
use quita_ports::WholeStore;
use quita_services::audit::{Audit, Initiator};
use quita_services::refused_requests::RefusedRequests;
use quita_services::refused_sign_ins::RefusedSignIns;
use quita_services::secret_keys::Strongbox;

use super::resources::Resources;
use crate::jobs::{JobMetrics, Jobs};
use crate::ops::ReadyMetric;
use crate::store::{PROBE, probe};

/// Running actors, and services on the store that they monitor.
pub(super) struct Core {
    pub(super) system: ActorSystem,
    /// Store whose every use updates the state that the actors show.
    pub(super) store: Arc<dyn WholeStore>,
    pub(super) strongbox: Strongbox,
    pub(super) audit: Audit,
    /// This node, as named in the audit log.
    pub(super) node: Initiator,
    pub(super) refused_requests: Arc<RefusedRequests>,
    pub(super) refused_sign_ins: Arc<RefusedSignIns>,
    /// Background jobs; the one that probes the store is already running.
    pub(super) jobs: Jobs,
    /// Number of the last erasure before any payment was in memory.
    pub(super) last_erasure: u64,
}

impl Core {
    /// Starts the actors.
    pub(super) async fn start(config: &Config, resources: &Resources) -> anyhow::Result<Self> {
        // Read before any payment is in memory, so that every later erasure is applied.
        let last_erasure = resources.store.last_erasure().await?;
        let system = start_actors(config, resources)?;
        ReadyMetric::register(system.payments(), &resources.registry)?;
        let state = system.payments().store_state();
        // The actors monitor the store themselves, so they get the bare one; everything else reports through this one.
        let store: Arc<dyn WholeStore> = Arc::new(WatchedStore::new(resources.store.clone(), state));
        let strongbox = Strongbox::new(store.clone(), Arc::clone(&resources.vault));
        let mut jobs = Jobs::new(Arc::clone(&resources.clock));
        JobMetrics::register(jobs.board(), &resources.registry)?;
        let probed = store.clone();
        // The probe runs from the start: without traffic, nothing else would notice that the store went away.
        jobs.start(PROBE, async move || probe(&*probed).await);
        let refused_requests = Arc::new(RefusedRequests::register(&resources.registry)?);
        let audit = Audit::open(store.clone(), &strongbox, Arc::clone(&resources.clock)).await?;
        let refused_sign_ins =
            RefusedSignIns::new(audit.clone(), store.clone(), Arc::clone(&refused_requests));
        Ok(Self {
            system,
            store,
            strongbox,
            audit,
            node: Initiator::service(resources.api_address),
            refused_requests,
            refused_sign_ins: Arc::new(refused_sign_ins),
            jobs,
            last_erasure,
        })
    }
}

fn start_actors(config: &Config, resources: &Resources) -> anyhow::Result<ActorSystem> {
    let identity = NodeIdentity {
        public_url: resources.public_url.clone(),
        address: resources.api_address.to_string(),
        version: env!("CARGO_PKG_VERSION").into(),
    };
    let ports = Ports {
        store: resources.store.clone(),
        vault: Arc::clone(&resources.vault),
        acquirers: resources.acquirers.clone(),
        webhooks: resources.webhooks.clone(),
        clock: Arc::clone(&resources.clock),
        ids: Arc::new(SystemIds),
        dice: Arc::new(SystemDice),
        tracer: resources.traces.tracer(),
    };
    // Clients get half of the files, webhooks a quarter; the store and the acquirers share the rest.
    let limits = Limits {
        idle_after: config.idle_after,
        webhooks: WebhookLimits::with_sockets(resources.open_files / 4),
        ..Limits::default()
    };
    let system = ActorSystem::start(ports, limits, threads(), identity, &resources.registry)?;
    system.operators().route_by(config.routes.clone());
    Ok(system)
}

/// Returns the placement of the actors: half as many threads as cores.
fn threads() -> Placement {
    // HTTP uses as many threads as there are cores, and the store has its own threads.
    Placement::Threads(std::thread::available_parallelism().map_or(1, |cores| cores.get().div_ceil(2)))
}
