//! `quita serve`: everything wired together, from the first line of the log to the last.

use std::io;
use std::net::TcpListener;
use std::num::NonZero;
use std::sync::Arc;
use std::time::Duration;

use actix_web::App;
use actix_web::dev::Server;
use actix_web::middleware::{Condition, from_fn};
use actix_web::web::Data;
use prometheus::Registry;
use quita_actors::{
    ActorSystem, ErasureFollower, Limits, NodeIdentity, Placement, Ports, WatchedStore, WebhookLimits,
};
use quita_machine::{SystemClock, SystemDice, SystemIds};
use quita_ports::trace::Tracer;
use quita_ports::{AcquirerFactory, Clock, StoreForm, Vault, WebhookSenderFactory, WholeStore};
use quita_services::secret_keys::Strongbox;
use quita_webhook_http::{AddressPolicy, WebhookHttpFactory};
use tokio::signal::unix::{Signal, SignalKind, signal};

pub use crate::acquirers::Reread;
use crate::acquirers::{
    CERTIFICATES, CertificateWatch, Link, LinkMetrics, REGISTRATIONS, Registrations, Reload, ReloadMetrics,
    Site,
};
use crate::archive::{ARCHIVE, ArchiveRunner};
use crate::console::merchant::{self, MerchantConsole};
use crate::console::operator::OperatorConsole;
use crate::http::{
    self, CheckoutMetrics, Edge, Observer, RequestMetrics, Tokens, announce_public_url, as_get, observed,
    refuse_bad_host, refuse_card_number, traced, with_ignored_names, with_key_expiry, with_own_headers,
    with_refusal_pages, with_request_id, with_safe_headers,
};
use crate::jobs::{JobName, JobOutcome, Jobs, Rhythm};
use crate::keyring::{CURRENT_KEY, CurrentKey, Keyring, SEALING, Sealing};
use crate::listener::{ConnectionLimits, ConnectionMetrics, Listener, Places, cannot_listen, open_files};
use crate::messages::{MESSAGES, MessageParts, MessageRunner, WatchedService};
use crate::nightly::{NIGHTLY, Nightly};
use crate::ops::{KnownHosts, ReadyMetric};
use crate::retention::{ERASURES, RETENTION, RetentionRunner, follow_erasures};
use crate::store::{PROBE, Purpose, probe};
use crate::traces::Traces;
use crate::{acquirers, build_info, first_run, ops, store};
use quita_config::{Config, Environment};
use quita_services::access::{Access, EndingKeys, KeyVerifier};
use quita_services::audit::{Audit, AuditMetrics, AuditWatch, Initiator};
use quita_services::people::{InactiveAccounts, People};
use quita_services::refused_requests::RefusedRequests;
use quita_services::refused_sign_ins::RefusedSignIns;

/// Rhythm in which the last uses of API keys are stored.
const LAST_USES: Rhythm =
    Rhythm { name: JobName::LastUses, every: Duration::from_secs(15), first_after: Duration::ZERO };
/// Rhythm of looks for accounts that nobody uses.
const INACTIVE_ACCOUNTS: Rhythm = Rhythm {
    name: JobName::InactiveAccounts,
    every: Duration::from_secs(3_600),
    first_after: Duration::from_secs(60),
};
/// Rhythm in which API keys that end soon are counted.
const ENDING_KEYS: Rhythm =
    Rhythm { name: JobName::EndingKeys, every: Duration::from_secs(60), first_after: Duration::ZERO };
/// Time for each last write at shutdown.
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
    /// Acquirers of the configuration, with the way to read it again.
    Configured(Option<Reread>),
}

impl Outside {
    /// Uses these acquirers and this wall clock. The acquirers must have the configured names, since their notices are
    /// authenticated by name.
    pub fn new(acquirers: Vec<Arc<dyn AcquirerFactory>>, clock: Arc<dyn Clock>) -> Self {
        Self { acquirers: Acquirers::Own(acquirers), clock }
    }

    /// Uses the configured acquirers and the clock of this machine.
    pub fn configured(reread: Option<Reread>) -> Self {
        Self { acquirers: Acquirers::Configured(reread), clock: Arc::new(SystemClock) }
    }
}

/// Factories of all acquirers, links to the configured ones, and the way to read the configuration again.
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

/// Runs the service until a signal stops it. At SIGHUP it reads the configuration again with `reread`.
///
/// # Errors
/// Fails if it can't start; the message says what to do.
pub async fn run(config: Config, reread: Reread) -> anyhow::Result<()> {
    run_with(config, Outside::configured(Some(reread))).await
}

/// Runs the service with the caller's acquirers and clock.
///
/// # Errors
/// Fails if it can't start; the message says what to do.
pub async fn run_with(config: Config, outside: Outside) -> anyhow::Result<()> {
    let open_files = allow_open_files();
    let store = store::open(&config.store, Purpose::Serve).await?;
    let form = store.clone();
    let vault: Arc<dyn Vault> = Arc::new(config.secret_keys.vault());
    let strongbox = Strongbox::new(store.clone(), Arc::clone(&vault));
    let keyring = Keyring::establish(&strongbox, &config.secret_keys).await?;
    let clock = Arc::clone(&outside.clock);
    let (acquirers, links, reread) = connect(&config, outside, &keyring)?;
    let registry = Registry::new();
    #[cfg(target_os = "linux")]
    ops::process_metrics::register(&registry)?;
    store::register(&config.store, &registry)?;
    build_info::register(&registry)?;
    let traces = Traces::start(&config, &registry)?;
    // Bound first: the addresses of payers' pages name the port.
    let [api_socket, ops_socket] =
        [("--listen", config.listen), ("--ops-listen", config.ops_listen)].map(|(option, address)| {
            TcpListener::bind(address).map_err(|error| cannot_listen(option, address, &error))
        });
    let (api_socket, ops_socket) = (api_socket?, ops_socket?);
    let (api_address, ops_address) = (api_socket.local_addr()?, ops_socket.local_addr()?);
    let public_url = config.public_url_at(api_address);
    let webhooks = webhooks(&config, &clock)?;
    let identity = NodeIdentity {
        public_url: public_url.clone(),
        address: api_address.to_string(),
        version: env!("CARGO_PKG_VERSION").into(),
    };
    let ports = Ports {
        store: store.clone(),
        vault: Arc::clone(&vault),
        acquirers,
        webhooks: webhooks.clone(),
        clock: Arc::clone(&clock),
        ids: Arc::new(SystemIds),
        dice: Arc::new(SystemDice),
        tracer: traces.tracer(),
    };
    // Clients get half of the files, webhooks a quarter; the store and acquirers share the rest.
    let limits = Limits {
        idle_after: config.idle_after,
        webhooks: WebhookLimits::with_sockets(open_files / 4),
        ..Limits::default()
    };
    // Read before any payment is in memory, so that every later erasure is followed.
    let last_erasure = store.last_erasure().await?;
    let system = ActorSystem::start(ports, limits, threads(), identity, &registry)?;
    system.operators().route_by(config.routes.clone());
    ReadyMetric::register(system.payments(), &registry)?;
    // From here on, every use of the store updates its state.
    let store: Arc<dyn WholeStore> = Arc::new(WatchedStore::new(store, system.payments().store_state()));
    let strongbox = Strongbox::new(store.clone(), vault);
    let mut jobs = Jobs::new(Arc::clone(&clock));
    let probed = store.clone();
    jobs.start(PROBE, async move || probe(&*probed).await);
    let refused = Arc::new(RefusedRequests::register(&registry)?);
    let verifier = KeyVerifier::new(store.clone(), Arc::clone(&clock)).with_refused(Arc::clone(&refused));
    let audit = Audit::open(store.clone(), &strongbox, Arc::clone(&clock)).await?;
    let tokens = Tokens::new(store.clone(), audit.clone(), &registry)?;
    let parts = (&config, Arc::clone(&keyring), tokens, CheckoutMetrics::register(&registry)?);
    announce_public_url(&public_url);
    let message_url = public_url.clone();
    let edge = Edge::new(system.payments(), verifier, Arc::clone(&clock), public_url, store.clone(), parts);
    let edge = Data::new(edge);
    let console = (&config, strongbox.clone());
    let node = Initiator::service(api_address);
    let message_node = node.clone();
    let inactive = InactiveAccounts::new((store.clone(), Arc::clone(&clock)), (audit.clone(), node.clone()));
    let eraser = audit.eraser(node.clone());
    let watch = AuditWatch::begin(audit.clone(), node, AuditMetrics::register(&registry)?).await?;
    let refused = Arc::new(RefusedSignIns::new(audit.clone(), store.clone(), refused));
    let message_audit = audit.clone();
    let log = (audit, Arc::clone(&refused));
    let message_sender = webhooks.build();
    let console = MerchantConsole::new(edge.clone(), store.clone(), webhooks, console, log.clone());
    let console = Data::new(console);
    let streams = Arc::clone(&console.streams);
    let used = edge.clone();
    jobs.start(LAST_USES, async move || store_last_uses(&used).await);
    let ending = EndingKeys::register(store.clone(), Arc::clone(&clock), &registry)?;
    let connections = ConnectionMetrics::register(&registry)?;
    let limits = ConnectionLimits::of_api(open_files, config.behind_proxy);
    let listener = Listener {
        socket: api_socket,
        places: Places::new("api", limits, &connections),
        workers: std::thread::available_parallelism().map_or(2, NonZero::get),
        shutdown_time: config.shutdown_time,
    };
    let observer = Observer::new(RequestMetrics::register(&registry)?, edge.clone(), config.log.refusals);
    let api = listen(listener, (edge.clone(), console), (traces.tracer(), observer))?;
    let access = Access::new(store.clone(), strongbox.clone(), clock.clone());
    let people = People::new(store.clone(), clock.clone());
    let reload = reload(reread, &links, &system, (&config, &keyring), &registry)?;
    let mut nightly =
        Nightly::new(&config, store.clone(), Arc::clone(&clock), (links.clone(), system.operators()));
    let mut retention =
        RetentionRunner::new(&config, (store.clone(), eraser), Arc::clone(&clock), &registry)?;
    let archive = ArchiveRunner::new(&config, store.clone(), Arc::clone(&clock), &registry)?;
    let mut follower = ErasureFollower::new(store.clone(), system.payments(), last_erasure);
    let watched =
        WatchedService { operators: system.operators(), payments: system.payments(), links: links.clone() };
    let message_parts = MessageParts {
        store: store.clone(),
        clock: Arc::clone(&clock),
        strongbox: strongbox.clone(),
        sender: message_sender,
        mail: config.mail.as_ref(),
        public_url: message_url,
        audit: message_audit,
        node: message_node,
    };
    let mut messages = MessageRunner::new(message_parts, watched, &registry)?;
    let console = (&config, strongbox.clone());
    let operators = OperatorConsole::new(
        system.operators(),
        system.payments(),
        (store, Arc::clone(&clock)),
        console,
        log,
    )
    .with_links(links.clone())
    .with_jobs(jobs.board())
    .on_node(api_address.to_string(), ending.last_count());
    let listener = Listener {
        socket: ops_socket,
        places: Places::new("ops", ConnectionLimits::of_ops(open_files), &connections),
        workers: 1,
        shutdown_time: config.shutdown_time,
    };
    let hosts = KnownHosts::new(&config.ops_hosts);
    let ops = ops::listen(listener, system.payments(), registry, (Data::new(operators), hosts))?;
    // The last step that can fail: a password that is made but not printed would be lost.
    let welcome = first_run::prepare(&config, &access, &people).await?;
    tracing::info!(
        listen = %api_address,
        ops_listen = %ops_address,
        store = %config.store,
        routing_version = %config.routes.version(),
        "the service is ready"
    );
    welcome.print(&config, api_address, ops_address);
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
    jobs.start(INACTIVE_ACCOUNTS, async move || disable_inactive(&inactive).await);
    jobs.start(ENDING_KEYS, async move || count_ending_keys(&ending).await);
    let mut certificates = CertificateWatch::new(links.clone(), Arc::clone(&clock));
    jobs.start(CERTIFICATES, async move || {
        certificates.look();
        JobOutcome::Ok(())
    });
    let mut registrations = Registrations::new(links);
    jobs.start(REGISTRATIONS, async move || registrations.pass().await);
    let mut sealing = Sealing::new(strongbox.clone());
    jobs.start(SEALING, async move || sealing.pass().await);
    let mut current_key = CurrentKey::new(strongbox, keyring);
    jobs.start(CURRENT_KEY, async move || current_key.pass().await);
    let watch_is_over = watch.over();
    let watching = actix_web::rt::spawn(watch.run());
    let noting = Arc::clone(&refused);
    let noting = actix_web::rt::spawn(async move { noting.run().await });
    // If a listener fails, what waits to be stored is stored all the same.
    let served = serve(api, ops, (&system, reload, &*form), config.shutdown_time, || streams.close()).await;
    jobs.stop();
    if tokio::time::timeout(LAST_WRITE_WITHIN, store_last_uses(&edge)).await.is_err() {
        tracing::debug!("when keys were last used could not be stored in time");
    }
    refused.stop();
    if tokio::time::timeout(LAST_WRITE_WITHIN, noting).await.is_err() {
        tracing::warn!("who was not let in could not be noted in time");
    }
    watch_is_over.notify_one();
    if tokio::time::timeout(LAST_WRITE_WITHIN, watching).await.is_err() {
        tracing::warn!("the last entries of the audit log could not be told in time");
    }
    let node = system.operators();
    system.stop().await;
    if !matches!(tokio::time::timeout(LAST_WRITE_WITHIN, node.leave()).await, Ok(Ok(()))) {
        tracing::warn!("the other nodes could not be told that this one has stopped: they show it as lost");
    }
    traces.stop().await;
    tracing::info!("the service has stopped");
    Ok(served?)
}

/// Registers the acquirers' metrics, and returns what SIGHUP reloads, if anything.
fn reload(
    reread: Option<Reread>,
    links: &[Arc<Link>],
    system: &ActorSystem,
    (config, keyring): (&Config, &Arc<Keyring>),
    registry: &Registry,
) -> anyhow::Result<Option<Reload>> {
    LinkMetrics::register(links.to_vec(), registry)?;
    let Some(reread) = reread else { return Ok(None) };
    let metrics = ReloadMetrics::register(registry)?;
    let (links, operators) = (links.to_vec(), system.operators());
    let keyring = Arc::clone(keyring);
    Ok(Some(Reload { reread, links, operators, started: config.clone(), keyring, metrics }))
}

/// Stores when API keys were last used.
async fn store_last_uses(edge: &Edge) -> JobOutcome {
    edge.verifier.store_last_uses().await.map(drop).map_err(|error| {
        tracing::debug!(%error, "when keys were last used could not be stored; it is done later");
        error.to_string()
    })
}

/// Disables accounts that nobody uses.
async fn disable_inactive(inactive: &InactiveAccounts) -> JobOutcome {
    inactive.look().await.map_err(|error| {
        tracing::warn!(%error, "accounts that nobody uses could not be looked for; it is done later");
        error.to_string()
    })
}

/// Counts the API keys that end soon.
async fn count_ending_keys(ending: &EndingKeys) -> JobOutcome {
    ending.count().await.map_err(|error| {
        tracing::debug!(%error, "the keys that end soon could not be counted; it is done later");
        error.to_string()
    })
}

/// Makes the sender of webhooks and test events, with its policy of addresses.
fn webhooks(config: &Config, clock: &Arc<dyn Clock>) -> anyhow::Result<Arc<dyn WebhookSenderFactory>> {
    let policy = match config.environment {
        Environment::Development => AddressPolicy::Any,
        Environment::Production => AddressPolicy::PublicOnly,
    };
    Ok(Arc::new(WebhookHttpFactory::new(policy, Arc::clone(clock))?))
}

/// Returns the placement of the actors: half as many threads as cores.
fn threads() -> Placement {
    // As many threads read and write HTTP as there are cores, and the store has threads of its own.
    Placement::Threads(std::thread::available_parallelism().map_or(1, |cores| cores.get().div_ceil(2)))
}

fn listen(
    listener: Listener,
    (edge, console): (Data<Edge>, Data<MerchantConsole>),
    (tracer, observer): (Option<Arc<dyn Tracer>>, Observer),
) -> io::Result<Server> {
    listener.serve(move || {
        let (is_traced, tracer) = (tracer.is_some(), tracer.clone());
        let (edge, console, observer) = (edge.clone(), console.clone(), observer.clone());
        let (mount, store_state) = (edge.mount, Data::from(edge.payments.store_state()));
        let traced = from_fn(move |request, next| traced(tracer.clone(), request, next));
        App::new()
            .app_data(store_state)
            .wrap(from_fn(as_get))
            .wrap(Condition::new(is_traced, traced))
            .wrap(from_fn(with_key_expiry))
            .wrap(from_fn(with_ignored_names))
            .wrap(from_fn(refuse_bad_host))
            .wrap(from_fn(refuse_card_number))
            .wrap(from_fn(move |request, next| observed(observer.clone(), request, next)))
            .wrap(from_fn(with_refusal_pages))
            .wrap(from_fn(with_request_id))
            .wrap(from_fn(move |request, next| with_safe_headers(mount, request, next)))
            .wrap(from_fn(with_own_headers))
            .configure(|config| merchant::configure(config, console))
            .configure(|config| http::configure(config, edge))
    })
}

/// Raises the limit of open files and sockets as far as the system grants it, and returns it. Warns if it is low.
fn allow_open_files() -> u64 {
    let allowed = open_files::raise();
    if allowed < open_files::ENOUGH {
        tracing::warn!(
            allowed,
            enough = open_files::ENOUGH,
            "few files may be open: many clients at once are refused"
        );
    }
    allowed
}

/// Explains why a service ends whose store was upgraded beside it.
fn outdated(StoreForm { number, known, .. }: StoreForm) -> io::Error {
    io::Error::other(format!(
        "the store was upgraded to stored form {number} while this service was silent, and this version of Quita knows \
         forms up to {known}: nothing more is written; start the version that upgraded it"
    ))
}

/// Waits for the next SIGHUP, or for ever if none is expected.
async fn hung_up(signal: &mut Option<Signal>) -> Option<()> {
    match signal {
        Some(signal) => signal.recv().await,
        None => std::future::pending().await,
    }
}

/// Serves until a signal comes. Then stops accepting, and finishes what was accepted.
async fn serve(
    api: Server,
    ops: Server,
    (system, reload, store): (&ActorSystem, Option<Reload>, &dyn WholeStore),
    within: Duration,
    end_streams: impl Fn(),
) -> io::Result<()> {
    let (api_handle, ops_handle) = (api.handle(), ops.handle());
    let (mut api, mut ops) = (actix_web::rt::spawn(api), actix_web::rt::spawn(ops));
    let mut terminate = signal(SignalKind::terminate())?;
    let mut interrupt = signal(SignalKind::interrupt())?;
    let mut hang_up = reload.is_some().then(|| signal(SignalKind::hangup())).transpose()?;
    let mut watch = tokio::time::interval(Duration::from_secs(1));
    loop {
        tokio::select! {
            _ = watch.tick() => {
                system.watch();
                if store.form().is_too_new() {
                    end_streams();
                    api_handle.stop(false).await;
                    ops_handle.stop(false).await;
                    return Err(outdated(store.form()));
                }
            }
            Some(()) = hung_up(&mut hang_up) => {
                if let Some(reload) = &reload {
                    reload.run().await;
                }
            }
            _ = terminate.recv() => break,
            _ = interrupt.recv() => break,
            ended = &mut api => return ended?,
            ended = &mut ops => return ended?,
        }
    }
    tracing::info!(within_s = within.as_secs(), "stopping: what was accepted is finished");
    end_streams();
    if tokio::time::timeout(within, api_handle.stop(true)).await.is_err() {
        tracing::warn!("some connections did not end in time");
        api_handle.stop(false).await;
    }
    ops_handle.stop(false).await;
    Ok(())
}
