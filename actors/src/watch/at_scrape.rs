//! Metrics of routes and nodes, read at each scrape from where `/health/ready` and the operators' pages read them.

use std::sync::Arc;

use prometheus::core::{Collector, Desc};
use prometheus::proto::MetricFamily;
use prometheus::{IntGauge, IntGaugeVec, Opts, Registry};
use quita_domain::identity::Mode;
use quita_domain::method::Method;

use crate::acquirers::route_view::RouteState;
use crate::system::parts::SystemParts;
use crate::upkeep::known_nodes::{NodeState, NodeView};

/// Metrics that are computed at each scrape.
pub(crate) struct AtScrape {
    system: Arc<SystemParts>,
    route_states: IntGaugeVec,
    unable_methods: IntGaugeVec,
    missing_routes: IntGaugeVec,
    accounts: IntGaugeVec,
    reads_failing: IntGauge,
    nodes_seen: IntGauge,
    nodes_lost: IntGauge,
    nodes_unknown: IntGauge,
    clock_offset: IntGauge,
}

impl AtScrape {
    /// Registers the metrics.
    ///
    /// # Errors
    /// Fails if another metric has the name of one.
    pub(crate) fn register(system: Arc<SystemParts>, registry: &Registry) -> Result<(), prometheus::Error> {
        let states = Opts::new("quita_route_state", "1 for the current state of a route, 0 for the others");
        let unable = Opts::new(
            "quita_method_unable",
            "1 for a method that no acquirer can take because every open one is failing, 0 otherwise",
        );
        let missing = Opts::new(
            "quita_route_missing",
            "1 for a route that open payments need but that is not configured",
        );
        let accounts = Opts::new(
            "quita_accounts_version",
            "1 for the version of the addresses and accounts used to reach acquirers",
        );
        let metrics = Self {
            system,
            accounts: IntGaugeVec::new(accounts, &["version"])?,
            unable_methods: IntGaugeVec::new(unable, &["mode", "method"])?,
            missing_routes: IntGaugeVec::new(missing, &["acquirer", "method"])?,
            reads_failing: IntGauge::new(
                "quita_store_reads_failing",
                "1 if store reads have failed for a minute, or found damaged data, while other calls succeed",
            )?,
            route_states: IntGaugeVec::new(states, &["acquirer", "method", "state"])?,
            nodes_seen: IntGauge::new(
                "quita_nodes_seen",
                "Processes on this store seen within the last minute, including this one",
            )?,
            nodes_lost: IntGauge::new(
                "quita_nodes_lost",
                "Processes on this store not seen within the last minute that never announced a stop",
            )?,
            nodes_unknown: IntGauge::new(
                "quita_nodes_unknown",
                "Other processes on this store that may be alive, for example while the store can't be read",
            )?,
            clock_offset: IntGauge::new(
                "quita_node_clock_offset_seconds",
                "Largest offset of a live process's clock from this one's, or of this one's from the store server's",
            )?,
        };
        registry.register(Box::new(metrics))
    }

    fn read_routes(&self) {
        for route in self.system.route_health() {
            for state in RouteState::ALL {
                let labels = [route.acquirer.as_str(), route.method.label(), state.as_str()];
                self.route_states.with_label_values(&labels).set(i64::from(state == route.state));
            }
        }
    }

    fn read_unable_methods(&self) {
        let outages = self.system.method_outages();
        for mode in [Mode::Test, Mode::Live] {
            for method in Method::ALL {
                let is_unable = outages.iter().any(|outage| (outage.mode, outage.method) == (mode, method));
                let labels = [mode.as_str(), method.label()];
                self.unable_methods.with_label_values(&labels).set(i64::from(is_unable));
            }
        }
    }

    fn read_missing_routes(&self) {
        // A route that is no longer configured has no series at all, not even zero.
        self.missing_routes.reset();
        let system = &self.system;
        for route in system.route_health() {
            self.missing_routes.with_label_values(&[route.acquirer.as_str(), route.method.label()]).set(0);
        }
        for (acquirer, method) in system.missing_routes.known(system.clock.now()) {
            self.missing_routes.with_label_values(&[acquirer.as_str(), method.label()]).set(1);
        }
    }

    fn read_accounts(&self) {
        self.accounts.reset();
        if let Some(routes) = self.system.routes.get() {
            self.accounts.with_label_values(&[routes.accounts().as_str()]).set(1);
        }
    }

    const fn gauges_of_routes(&self) -> [&IntGaugeVec; 4] {
        [&self.route_states, &self.unable_methods, &self.missing_routes, &self.accounts]
    }

    const fn gauges_of_nodes(&self) -> [&IntGauge; 5] {
        [&self.reads_failing, &self.nodes_seen, &self.nodes_lost, &self.nodes_unknown, &self.clock_offset]
    }

    fn read_nodes(&self) {
        let nodes = self.system.nodes();
        for (gauge, state) in [
            (&self.nodes_seen, NodeState::Alive),
            (&self.nodes_lost, NodeState::Lost),
            (&self.nodes_unknown, NodeState::Unknown),
        ] {
            let count = nodes.iter().filter(|view| view.state == state).count();
            gauge.set(i64::try_from(count).unwrap_or(i64::MAX));
        }
        let offsets = nodes.iter().filter_map(NodeView::shown_clock_ahead_s);
        self.clock_offset.set(offsets.max_by_key(|offset| offset.unsigned_abs()).unwrap_or(0));
    }
}

impl Collector for AtScrape {
    fn desc(&self) -> Vec<&Desc> {
        let nodes = self.gauges_of_nodes();
        let routes = self.gauges_of_routes();
        routes
            .into_iter()
            .flat_map(Collector::desc)
            .chain(nodes.into_iter().flat_map(Collector::desc))
            .collect()
    }

    fn collect(&self) -> Vec<MetricFamily> {
        self.read_routes();
        self.read_unable_methods();
        self.read_missing_routes();
        self.read_accounts();
        self.reads_failing.set(i64::from(self.system.books.state.failing_reads().is_some()));
        self.read_nodes();
        let routes = self.gauges_of_routes().into_iter().flat_map(Collector::collect);
        routes.chain(self.gauges_of_nodes().into_iter().flat_map(Collector::collect)).collect()
    }
}
