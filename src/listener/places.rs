//! Connection limits of a listener: in total, and from one address, so that no client takes all connections.

use std::collections::HashMap;
use std::collections::hash_map::Entry;
use std::net::IpAddr;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use prometheus::{IntCounter, IntCounterVec, IntGauge, IntGaugeVec, Opts, Registry};

use quita_services::network::network_of;

/// Divisor for the share of a listener's connections that one address may have.
const PART_OF_ONE: usize = 4;
/// Maximum for one address, regardless of the total.
const MOST_OF_ONE: usize = 2_000;
/// Maximum for the public listener, and for the operators'.
const MOST_OF_API: usize = 50_000;
const MOST_OF_OPS: usize = 512;
/// Minimum for a listener, and for one address: with fewer, nothing can be served at all.
const LEAST: usize = 16;
const LEAST_OF_ONE: usize = 8;
/// Minimum interval between log lines about refused connections.
const LOGGED_EVERY: Duration = Duration::from_secs(60);

/// Connection limits of a listener.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct ConnectionLimits {
    /// Limit in total.
    pub(crate) all: usize,
    /// Limit for one address.
    pub(crate) of_one: usize,
}

impl ConnectionLimits {
    /// Returns the limits of the public listener for this many open files.
    ///
    /// Half of the files are for clients, an eighth of these for operators. The other half is for webhook receivers,
    /// acquirers and the store. For a proxy, through which all clients come, the limit is the total.
    pub(crate) fn of_api(open_files: u64, is_behind_proxy: bool) -> Self {
        let incoming = incoming(open_files);
        let all = incoming.saturating_sub(incoming / 8).clamp(LEAST, MOST_OF_API);
        Self { of_one: if is_behind_proxy { all } else { of_one(all) }, all }
    }

    /// Returns the limits of the operators' listener.
    pub(crate) fn of_ops(open_files: u64) -> Self {
        let all = (incoming(open_files) / 8).clamp(LEAST, MOST_OF_OPS);
        Self { of_one: of_one(all), all }
    }
}

fn incoming(open_files: u64) -> usize {
    usize::try_from(open_files / 2).unwrap_or(usize::MAX)
}

fn of_one(all: usize) -> usize {
    (all / PART_OF_ONE).clamp(LEAST_OF_ONE, MOST_OF_ONE)
}

/// Metrics of the connections of every listener.
pub(crate) struct ConnectionMetrics {
    open: IntGaugeVec,
    refused: IntCounterVec,
}

impl ConnectionMetrics {
    /// Registers the metrics.
    ///
    /// # Errors
    /// Fails if they are already registered.
    pub(crate) fn register(registry: &Registry) -> prometheus::Result<Self> {
        let open = Opts::new("quita_connections", "Open connections");
        let refused =
            Opts::new("quita_connections_refused_total", "Connections closed because there were too many");
        let metrics = Self {
            open: IntGaugeVec::new(open, &["listener"])?,
            refused: IntCounterVec::new(refused, &["listener"])?,
        };
        registry.register(Box::new(metrics.open.clone()))?;
        registry.register(Box::new(metrics.refused.clone()))?;
        Ok(metrics)
    }
}

/// Connection slots of a listener.
#[derive(Clone)]
pub(crate) struct Places(Arc<Shared>);

struct Shared {
    listener: &'static str,
    limits: ConnectionLimits,
    taken: Mutex<TakenSlots>,
    open: IntGauge,
    refused: IntCounter,
}

#[derive(Default)]
struct TakenSlots {
    all: usize,
    by_network: HashMap<IpAddr, usize>,
    logged_at: Option<Instant>,
}

impl Places {
    /// Creates the slots of a listener.
    pub(crate) fn new(listener: &'static str, limits: ConnectionLimits, metrics: &ConnectionMetrics) -> Self {
        let (open, refused) =
            (metrics.open.with_label_values(&[listener]), metrics.refused.with_label_values(&[listener]));
        Self(Arc::new(Shared { listener, limits, taken: Mutex::default(), open, refused }))
    }

    /// Creates slots whose metrics are not registered.
    #[cfg(test)]
    pub(super) fn uncounted(limits: ConnectionLimits) -> Self {
        Self::new("test", limits, &ConnectionMetrics::register(&Registry::new()).unwrap())
    }

    /// Returns the name of the listener.
    pub(super) fn listener(&self) -> &'static str {
        self.0.listener
    }

    /// Returns the connection limit of each worker, with some slack.
    pub(super) fn share_of(&self, workers: usize) -> usize {
        let all = self.0.limits.all;
        // The slack is for connections that are about to be refused: beyond the limit, a worker would leave them
        // waiting.
        all.saturating_add(all / 8).div_ceil(workers.max(1))
    }

    /// Takes a slot for a connection from this address, if one is free.
    pub(super) fn take(&self, from: IpAddr) -> Option<ConnectionSlot> {
        // The IPv6 network of a single subscriber has more addresses than a limit could count.
        let network = network_of(from);
        let mut taken = self.0.lock();
        let own = taken.by_network.get(&network).copied().unwrap_or_default();
        let ConnectionLimits { all, of_one } = self.0.limits;
        if own >= of_one || taken.all >= all {
            self.0.refused.inc();
            self.0.log_refusal(&mut taken, from, own);
            return None;
        }
        taken.all = taken.all.saturating_add(1);
        taken.by_network.insert(network, own.saturating_add(1));
        self.0.open.inc();
        Some(ConnectionSlot { network, shared: Arc::clone(&self.0) })
    }
}

impl Shared {
    fn lock(&self) -> MutexGuard<'_, TakenSlots> {
        self.taken.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn log_refusal(&self, taken: &mut TakenSlots, from: IpAddr, own: usize) {
        if taken.logged_at.is_some_and(|at| at.elapsed() < LOGGED_EVERY) {
            return;
        }
        taken.logged_at = Some(Instant::now());
        let listener = self.listener;
        let all = taken.all;
        tracing::warn!(
            listener, %from, connections.of_address = own, connections.all = all,
            "connections are refused because there are too many; if a proxy is in front, set behind-proxy"
        );
    }
}

/// Slot of one connection, released on drop.
pub(super) struct ConnectionSlot {
    network: IpAddr,
    shared: Arc<Shared>,
}

impl Drop for ConnectionSlot {
    fn drop(&mut self) {
        let mut taken = self.shared.lock();
        taken.all = taken.all.saturating_sub(1);
        if let Entry::Occupied(mut own) = taken.by_network.entry(self.network) {
            if *own.get() > 1 {
                *own.get_mut() = own.get().saturating_sub(1);
            } else {
                // Removed at zero; otherwise the map would keep every address that ever connected.
                own.remove();
            }
        }
        self.shared.open.dec();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn address(text: &str) -> IpAddr {
        text.parse().unwrap()
    }

    #[test]
    fn one_address_cannot_take_all_places_and_returns_its_own() {
        let places = Places::uncounted(ConnectionLimits { all: 5, of_one: 3 });
        let own: Vec<_> = (0..3).map(|_| places.take(address("10.0.0.1")).unwrap()).collect();
        assert!(places.take(address("10.0.0.1")).is_none());
        assert!(places.take(address("::ffff:10.0.0.1")).is_none(), "the same in other words");
        let other = places.take(address("10.0.0.2")).unwrap();
        let third = places.take(address("10.0.0.3")).unwrap();
        assert!(places.take(address("10.0.0.4")).is_none(), "altogether there are five");
        drop((own, other, third));
        assert!(places.take(address("10.0.0.1")).is_some());
        assert!(places.0.lock().by_network.is_empty() && places.0.lock().all == 0, "nobody is left over");
        assert_eq!((places.0.open.get(), places.0.refused.get()), (0, 3));
    }

    #[test]
    fn a_network_that_one_person_has_counts_as_one_address() {
        let places = Places::uncounted(ConnectionLimits { all: 5, of_one: 1 });
        let first = places.take(address("2001:db8::1"));
        assert!(first.is_some() && places.take(address("2001:db8::2")).is_none());
        assert!(places.take(address("2001:db8:0:1::1")).is_some());
    }

    #[test]
    fn limits_follow_from_the_files_that_may_be_open() {
        let limits = |all, of_one| ConnectionLimits { all, of_one };
        for (open_files, api, ops) in [
            (0, limits(16, 8), limits(16, 8)),
            (1_024, limits(448, 112), limits(64, 16)),
            (20_000, limits(8_750, 2_000), limits(512, 128)),
            (u64::MAX, limits(50_000, 2_000), limits(512, 128)),
        ] {
            assert_eq!(ConnectionLimits::of_api(open_files, false), api, "{open_files}");
            assert_eq!(ConnectionLimits::of_ops(open_files), ops, "{open_files}");
            assert_eq!(ConnectionLimits::of_api(open_files, true), limits(api.all, api.all), "{open_files}");
        }
    }
}
