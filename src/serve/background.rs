//! Background jobs of a serving program, and their schedules.

use std::sync::Arc;
use std::time::Duration;

use actix_web::web::Data;
use quita_actors::ErasureFollower;
use quita_config::Config;
use quita_ports::Clock;
use quita_services::access::EndingKeys;
use quita_services::people::InactiveAccounts;
use quita_services::secret_keys::Strongbox;

use super::core::Core;
use super::resources::Resources;
use crate::acquirers::{CERTIFICATES, CertificateWatch, Link, REGISTRATIONS, Registrations};
use crate::archive::{ARCHIVE, ArchiveRunner};
use crate::http::Edge;
use crate::jobs::{JobName, JobOutcome, Jobs, Rhythm};
use crate::keyring::{CURRENT_KEY, CurrentKey, Keyring, SEALING, Sealing};
use crate::messages::{MESSAGES, MessageParts, MessageRunner, WatchedService};
use crate::nightly::{NIGHTLY, Nightly};
use crate::retention::{ERASURES, RETENTION, RetentionRunner, follow_erasures};

/// Schedule of storing the last uses of API keys.
const LAST_USES: Rhythm =
    Rhythm { name: JobName::LastUses, every: Duration::from_secs(15), first_after: Duration::ZERO };
/// Schedule of the search for unused accounts.
const INACTIVE_ACCOUNTS: Rhythm = Rhythm {
    name: JobName::InactiveAccounts,
    every: Duration::from_secs(3_600),
    first_after: Duration::from_secs(60),
};
/// Schedule of counting API keys that expire soon.
const ENDING_KEYS: Rhythm =
    Rhythm { name: JobName::EndingKeys, every: Duration::from_secs(60), first_after: Duration::ZERO };

/// Jobs that are ready to start.
pub(super) struct Background {
    nightly: Nightly,
    retention: RetentionRunner,
    archive: ArchiveRunner,
    follower: ErasureFollower,
    messages: MessageRunner,
    inactive: InactiveAccounts,
    pub(super) ending_keys: EndingKeys,
    links: Vec<Arc<Link>>,
    strongbox: Strongbox,
    keyring: Arc<Keyring>,
    clock: Arc<dyn Clock>,
}

impl Background {
    /// Prepares the jobs, and registers their metrics.
    pub(super) fn prepare(config: &Config, resources: &Resources, core: &Core) -> anyhow::Result<Self> {
        let store = &core.store;
        let clock = &resources.clock;
        let registry = &resources.registry;
        let Core { system, strongbox, audit, node, .. } = core;
        let links = &resources.links;
        let eraser = audit.eraser(node.clone());
        let watched = WatchedService {
            operators: system.operators(),
            payments: system.payments(),
            links: links.clone(),
        };
        let parts = MessageParts {
            store: store.clone(),
            clock: Arc::clone(clock),
            strongbox: strongbox.clone(),
            sender: resources.webhooks.build(),
            mail: config.mail.as_ref(),
            public_url: resources.public_url.clone(),
            audit: audit.clone(),
            node: node.clone(),
        };
        Ok(Self {
            nightly: Nightly::new(
                config,
                store.clone(),
                Arc::clone(clock),
                links.clone(),
                system.operators(),
            ),
            retention: RetentionRunner::new(config, store.clone(), eraser, Arc::clone(clock), registry)?,
            archive: ArchiveRunner::new(config, store.clone(), Arc::clone(clock), registry)?,
            follower: ErasureFollower::new(store.clone(), system.payments(), core.last_erasure),
            messages: MessageRunner::new(parts, watched, registry)?,
            inactive: InactiveAccounts::new(store.clone(), Arc::clone(clock), audit.clone(), node.clone()),
            ending_keys: EndingKeys::register(store.clone(), Arc::clone(clock), registry)?,
            links: links.clone(),
            strongbox: strongbox.clone(),
            keyring: Arc::clone(&resources.keyring),
            clock: Arc::clone(clock),
        })
    }

    /// Starts the jobs that the configuration requires.
    pub(super) fn start(self, jobs: &mut Jobs, edge: Data<Edge>) {
        let Self { mut nightly, mut retention, archive, mut follower, mut messages, .. } = self;
        if nightly.is_needed() {
            jobs.start(NIGHTLY, async move || nightly.pass().await);
        }
        if retention.is_needed() {
            jobs.start(RETENTION, async move || retention.pass().await);
        }
        if archive.is_needed() {
            jobs.start(ARCHIVE, async move || archive.pass().await);
        }
        if follower.is_needed() {
            jobs.start(ERASURES, async move || follow_erasures(&mut follower).await);
        }
        jobs.start(MESSAGES, async move || messages.pass().await);
        let inactive = self.inactive;
        let ending = self.ending_keys;
        jobs.start(LAST_USES, async move || store_last_uses(&edge).await);
        jobs.start(INACTIVE_ACCOUNTS, async move || disable_inactive(&inactive).await);
        jobs.start(ENDING_KEYS, async move || count_ending_keys(&ending).await);
        let mut certificates = CertificateWatch::new(self.links.clone(), self.clock);
        jobs.start(CERTIFICATES, async move || {
            certificates.look();
            JobOutcome::Ok(())
        });
        let mut registrations = Registrations::new(self.links);
        jobs.start(REGISTRATIONS, async move || registrations.pass().await);
        let mut sealing = Sealing::new(self.strongbox.clone());
        jobs.start(SEALING, async move || sealing.pass().await);
        let mut current_key = CurrentKey::new(self.strongbox, self.keyring);
        jobs.start(CURRENT_KEY, async move || current_key.pass().await);
    }
}

/// Stores the times at which API keys were last used.
pub(super) async fn store_last_uses(edge: &Edge) -> JobOutcome {
    edge.verifier.store_last_uses().await.map(drop).map_err(|error| {
        tracing::debug!(%error, "the times at which keys were last used could not be stored; this will be retried");
        error.to_string()
    })
}

/// Disables accounts that are not used.
async fn disable_inactive(inactive: &InactiveAccounts) -> JobOutcome {
    inactive.look().await.map_err(|error| {
        tracing::warn!(%error, "unused accounts could not be looked for; this will be retried");
        error.to_string()
    })
}

/// Counts the API keys that expire soon.
async fn count_ending_keys(ending: &EndingKeys) -> JobOutcome {
    ending.count().await.map_err(|error| {
        tracing::debug!(%error, "keys that expire soon could not be counted; this will be retried");
        error.to_string()
    })
}
