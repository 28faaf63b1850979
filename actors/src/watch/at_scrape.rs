//! Metrics of routes and nodes, read at each scrape from where `/health/ready` and the operators' pages read them.

use std::sync::Arc;

use prometheus::core::{Collector, Desc};
use prometheus::proto::MetricFamily;
use prometheus::{IntGauge, IntGaugeVec, Opts, Registry};

use crate::acquirers::route_view::RouteState;
use crate::system::parts::SystemParts;
use crate::upkeep::known_nodes::NodeState;

/// Metrics that are computed at each scrape.
pub(crate) struct AtScrape {
    system: Arc<SystemParts>,
    route_states: IntGaugeVec,
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
        let states = Opts::new("quita_route_state", "1 for the state that a route is in, 0 for the others");
        let metrics = Self {
            system,
            route_states: IntGaugeVec::new(states, &["acquirer", "method", "state"])?,
            nodes_seen: IntGauge::new(
                "quita_nodes_seen",
                "Processes on this store that were seen lately, this one included",
            )?,
            nodes_lost: IntGauge::new(
                "quita_nodes_lost",
                "Processes on this store that were not seen lately and never stopped",
            )?,
            nodes_unknown: IntGauge::new(
                "quita_nodes_unknown",
                "Processes of which nobody knows whether they live, because the store can't be read",
            )?,
            clock_offset: IntGauge::new(
                "quita_node_clock_offset_seconds",
                "Largest difference of another live process's clock from this one's; positive if the other is ahead",
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

    const fn gauges_of_nodes(&self) -> [&IntGauge; 4] {
        [&self.nodes_seen, &self.nodes_lost, &self.nodes_unknown, &self.clock_offset]
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
        let alive = nodes.iter().filter(|view| view.state == NodeState::Alive);
        let offsets = alive.filter_map(|view| view.clock_ahead_s);
        self.clock_offset.set(offsets.max_by_key(|offset| offset.unsigned_abs()).unwrap_or(0));
    }
}

impl Collector for AtScrape {
    fn desc(&self) -> Vec<&Desc> {
        let nodes = self.gauges_of_nodes();
        self.route_states.desc().into_iter().chain(nodes.into_iter().flat_map(Collector::desc)).collect()
    }

    fn collect(&self) -> Vec<MetricFamily> {
        self.read_routes();
        self.read_nodes();
        let nodes = self.gauges_of_nodes();
        self.route_states
            .collect()
            .into_iter()
            .chain(nodes.into_iter().flat_map(Collector::collect))
            .collect()
    }
}
