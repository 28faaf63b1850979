//! Servers of a serving program: the API with the merchants' console, and the operators' listener.

use std::io;
use std::num::NonZero;
use std::rc::Rc;
use std::sync::Arc;

use actix_web::App;
use actix_web::dev::Server;
use actix_web::middleware::from_fn;
use actix_web::web::Data;
use quita_config::Config;
use quita_ports::trace::Tracer;
use quita_services::access::KeyVerifier;

use super::background::Background;
use super::core::Core;
use super::resources::{Resources, Sockets};
use crate::console::AccountsParts;
use crate::console::merchant::{self, MerchantConsole};
use crate::console::operator::OperatorConsole;
use crate::http::{
    self, CheckoutMetrics, Edge, EdgeParts, Observer, RequestMetrics, Steps, Tokens, announce_public_url,
};
use crate::listener::{ConnectionLimits, ConnectionMetrics, Listener, Places};
use crate::ops::{self, KnownHosts};

/// Servers of both listeners, which accept connections once they run.
pub(super) struct Servers {
    pub(super) edge: Data<Edge>,
    pub(super) console: Data<MerchantConsole>,
    pub(super) api: Server,
    pub(super) ops: Server,
}

impl Servers {
    /// Creates the servers.
    pub(super) fn open(
        config: &Config,
        resources: &Resources,
        sockets: Sockets,
        core: &Core,
        background: &Background,
    ) -> anyhow::Result<Self> {
        let edge = Data::new(edge(config, resources, core)?);
        let console = Data::new(MerchantConsole::new(
            edge.clone(),
            core.store.clone(),
            resources.webhooks.clone(),
            config,
            accounts_parts(core),
        ));
        let connections = ConnectionMetrics::register(&resources.registry)?;
        let of_api = ConnectionLimits::of_api(resources.open_files, config.behind_proxy);
        let of_ops = ConnectionLimits::of_ops(resources.open_files);
        let workers = std::thread::available_parallelism().map_or(2, NonZero::get);
        let listener = |socket, places, workers| Listener {
            socket,
            places,
            workers,
            shutdown_time: config.shutdown_time,
            tells_refusals: config.log.refusals,
        };
        let requests = RequestMetrics::register(&resources.registry)?;
        let observer = Observer::new(requests, edge.clone(), config.log.refusals);
        let operators = OperatorConsole::new(
            core.system.operators(),
            core.system.payments(),
            core.store.clone(),
            Arc::clone(&resources.clock),
            config,
            accounts_parts(core),
        )
        .with_links(resources.links.clone())
        .with_jobs(core.jobs.board())
        .on_node(resources.api_address.to_string(), background.ending_keys.last_count());
        let api = listener(sockets.api, Places::new("api", of_api, &connections), workers);
        let api = listen(api, edge.clone(), console.clone(), resources.traces.tracer(), observer)?;
        // One worker is enough for a few operators, and leaves the cores to payments.
        let ops = listener(sockets.ops, Places::new("ops", of_ops, &connections), 1);
        let payments = core.system.payments();
        let hosts = KnownHosts::new(&config.ops_hosts);
        let ops = ops::listen(ops, payments, resources.registry.clone(), Data::new(operators), hosts)?;
        Ok(Self { edge, console, api, ops })
    }
}

/// Returns the parts that the accounts of a console need.
fn accounts_parts(core: &Core) -> AccountsParts {
    AccountsParts {
        strongbox: core.strongbox.clone(),
        audit: core.audit.clone(),
        refused: Arc::clone(&core.refused_sign_ins),
    }
}

/// Gathers the parts that request handlers need.
fn edge(config: &Config, resources: &Resources, core: &Core) -> anyhow::Result<Edge> {
    let refused = Arc::clone(&core.refused_requests);
    let verifier = KeyVerifier::new(core.store.clone(), Arc::clone(&resources.clock)).with_refused(refused);
    let tokens = Tokens::new(core.store.clone(), core.audit.clone(), &resources.registry)?;
    let checkout_metrics = CheckoutMetrics::register(&resources.registry)?;
    announce_public_url(&resources.public_url);
    let parts = EdgeParts {
        payments: core.system.payments(),
        verifier,
        clock: Arc::clone(&resources.clock),
        public_url: resources.public_url.clone(),
        store: core.store.clone(),
        keyring: Arc::clone(&resources.keyring),
        tokens,
        checkout_metrics,
    };
    Ok(Edge::new(config, parts))
}

fn listen(
    listener: Listener,
    edge: Data<Edge>,
    console: Data<MerchantConsole>,
    tracer: Option<Arc<dyn Tracer>>,
    observer: Observer,
) -> io::Result<Server> {
    listener.serve(move || {
        let edge = edge.clone();
        let console = console.clone();
        let steps = Steps { mount: edge.mount, tracer: tracer.clone(), observer: observer.clone() };
        let steps = Rc::new(steps);
        let store_state = Data::from(edge.payments.store_state());
        App::new()
            .app_data(store_state)
            .wrap(from_fn(move |request, next| http::answer(Rc::clone(&steps), request, next)))
            .configure(|config| merchant::configure(config, console))
            .configure(|config| http::configure(config, edge))
    })
}
