//! Resources of a serving program: everything that is opened before the first actor starts.

use std::net::{SocketAddr, TcpListener};
use std::sync::Arc;

use prometheus::Registry;
use quita_config::{Config, Environment};
use quita_ports::{AcquirerFactory, Clock, Vault, WebhookSenderFactory, WholeStore};
use quita_services::secret_keys::Strongbox;
use quita_webhook_http::{AddressPolicy, WebhookHttpFactory};

use super::{Acquirers, Outside};
use crate::acquirers::{self, Link, Reread, Site};
use crate::failing_webhooks::FailingWebhooks;
use crate::keyring::Keyring;
use crate::listener::{cannot_listen, open_files};
use crate::traces::Traces;
use crate::{build_info, store};

/// Store, keys, acquirers, sockets and metrics.
pub(super) struct Resources {
    /// Store whose state is not monitored.
    pub(super) store: Arc<dyn WholeStore>,
    pub(super) vault: Arc<dyn Vault>,
    pub(super) keyring: Arc<Keyring>,
    pub(super) clock: Arc<dyn Clock>,
    pub(super) acquirers: Vec<Arc<dyn AcquirerFactory>>,
    /// Links to the configured acquirers.
    pub(super) links: Vec<Arc<Link>>,
    /// Function that reads the configuration again, if SIGHUP does so.
    pub(super) reread: Option<Reread>,
    pub(super) webhooks: Arc<dyn WebhookSenderFactory>,
    pub(super) registry: Registry,
    pub(super) traces: Traces,
    pub(super) api_address: SocketAddr,
    pub(super) ops_address: SocketAddr,
    /// URL of the API and of payers' pages.
    pub(super) public_url: String,
    /// Number of files and sockets that may be open.
    pub(super) open_files: u64,
}

/// Sockets that are bound, but do not accept yet.
pub(super) struct Sockets {
    pub(super) api: TcpListener,
    pub(super) ops: TcpListener,
}

impl Resources {
    /// Opens everything.
    pub(super) async fn open(config: &Config, outside: Outside) -> anyhow::Result<(Self, Sockets)> {
        let open_files = allow_open_files();
        // Nothing is created if the program can't listen. The sockets are bound once all else is ready: until then,
        // clients should be refused rather than kept waiting.
        drop(bind("--listen", config.listen)?);
        drop(bind("--ops-listen", config.ops_listen)?);
        let store = store::open_to_serve(&config.store, config.environment).await?;
        let vault: Arc<dyn Vault> = Arc::new(config.secret_keys.vault());
        let strongbox = Strongbox::new(store.clone(), Arc::clone(&vault));
        // The store names the key that derives ids, so nothing that derives an id may exist before that is read
        // (decision 29).
        let keyring = Keyring::establish(&strongbox, &config.secret_keys).await?;
        let clock = Arc::clone(&outside.clock);
        let (acquirers, links, reread) = connect(config, outside, &keyring)?;
        let registry = registry(config)?;
        let traces = Traces::start(config, &registry)?;
        // Bound first: the addresses of payers' pages contain the port.
        let api = bind("--listen", config.listen)?;
        let ops = bind("--ops-listen", config.ops_listen)?;
        let api_address = api.local_addr()?;
        let ops_address = ops.local_addr()?;
        let resources = Self {
            store,
            vault,
            keyring,
            acquirers,
            links,
            reread,
            webhooks: webhooks(config, &clock)?,
            clock,
            registry,
            traces,
            public_url: config.public_url_at(api_address),
            api_address,
            ops_address,
            open_files,
        };
        Ok((resources, Sockets { api, ops }))
    }
}

fn bind(option: &str, address: SocketAddr) -> anyhow::Result<TcpListener> {
    TcpListener::bind(address).map_err(|error| cannot_listen(option, address, &error))
}

/// Creates the registry, with the metrics of this process and of its store.
fn registry(config: &Config) -> anyhow::Result<Registry> {
    let registry = Registry::new();
    #[cfg(target_os = "linux")]
    crate::ops::process_metrics::register(&registry)?;
    store::register(&config.store, &registry)?;
    build_info::register(&registry)?;
    Ok(registry)
}

/// Factories of all acquirers, links to the configured ones, and the function to read the configuration again.
type Connected = (Vec<Arc<dyn AcquirerFactory>>, Vec<Arc<Link>>, Option<Reread>);

fn connect(config: &Config, outside: Outside, keyring: &Arc<Keyring>) -> anyhow::Result<Connected> {
    match outside.acquirers {
        Acquirers::Own(acquirers) => Ok((acquirers, Vec::new(), None)),
        Acquirers::Configured(reread) => {
            let site = Site::new(config, Arc::clone(keyring));
            let links = acquirers::build(config, &site, &outside.clock)?;
            Ok((acquirers::factories(&links), links, reread))
        }
    }
}

/// Creates the sender of webhooks and test events, with its address policy and its log.
fn webhooks(config: &Config, clock: &Arc<dyn Clock>) -> anyhow::Result<Arc<dyn WebhookSenderFactory>> {
    let policy = match config.environment {
        Environment::Development => AddressPolicy::Any,
        // Merchants choose these addresses. In production, none of them may reach the network behind the service.
        Environment::Production => AddressPolicy::PublicOnly,
    };
    let senders = Arc::new(WebhookHttpFactory::new(policy, Arc::clone(clock))?);
    let is_told = config.environment == Environment::Development;
    Ok(Arc::new(FailingWebhooks::new(senders, is_told)))
}

/// Raises the limit on open files and sockets as far as the system allows, and returns it. Warns if it is low.
fn allow_open_files() -> u64 {
    let allowed = open_files::raise();
    if allowed < open_files::ENOUGH {
        tracing::warn!(
            allowed,
            enough = open_files::ENOUGH,
            "the limit on open files is low: many simultaneous clients would be refused"
        );
    }
    allowed
}
