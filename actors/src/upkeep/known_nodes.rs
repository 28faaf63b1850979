//! The processes on this store as this node last saw them: alive, lost, or unknown while the store is silent.
//!
//! A node is alive while this node sees its heartbeat change. Other nodes' wall clocks play no role.

use std::collections::HashSet;
use std::net::SocketAddr;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use quita_domain::control::Node;
use tokio::time::Instant;
use uuid::Uuid;

use crate::limits::CAUSE_LENGTH;
use crate::upkeep::heartbeats::{ClockNews, Heartbeats, ViewTime};
use crate::upkeep::route_agreement::{RouteAgreement, RoutesNews};

/// Time after which a node without a heartbeat counts as silent: three are missing.
const SILENT_AFTER: Duration = Duration::from_secs(15);

/// A process on this store, as operators see it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NodeView {
    /// The process. The time of its last heartbeat is by the clock of the viewing process.
    pub node: Node,
    /// True for the viewing process itself.
    pub is_own: bool,
    /// State of the process.
    pub state: NodeState,
    /// Seconds since its last heartbeat, if one is overdue: it counts as alive, but may be frozen or dead.
    pub silent_s: Option<u64>,
    /// Difference of its clock from that of the viewing process, in seconds; positive if it is ahead. For the viewing
    /// process itself, the difference from the clock of the store's server. `None` while they agree within a few
    /// seconds, and while the difference is unknown.
    pub clock_ahead_s: Option<i64>,
}

/// State of a process, as far as the store reveals it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum NodeState {
    /// It was seen recently, or it is the viewing process.
    Alive,
    /// It was not seen for a while, and never reported that it stopped. It stays until an operator removes it.
    Lost,
    /// It was alive when the store was last read, or has not been heard since this process started. It may have stopped
    /// or died.
    Unknown,
}

impl NodeState {
    /// Returns its name in pages.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Alive => "alive",
            Self::Lost => "lost",
            Self::Unknown => "unknown",
        }
    }
}

impl NodeView {
    /// Returns true if it was not seen for a while, and never reported that it stopped.
    pub fn is_lost(&self) -> bool {
        self.state == NodeState::Lost
    }

    /// Returns true if it counts as alive, but its heartbeat is overdue.
    pub fn is_silent(&self) -> bool {
        self.state == NodeState::Alive && self.silent_s.is_some()
    }

    /// Returns the difference of its clock, while heartbeats show what its clock says.
    pub fn shown_clock_ahead_s(&self) -> Option<i64> {
        self.clock_ahead_s.filter(|_| self.state == NodeState::Alive && !self.is_silent())
    }
}

/// Nodes that were lost or came back.
#[derive(Debug, Default, PartialEq, Eq)]
pub(crate) struct NodeNews {
    /// Nodes that this process saw alive, and that are no longer alive.
    pub(crate) lost: Vec<Node>,
    /// Nodes that were lost and are alive again.
    pub(crate) back: Vec<Node>,
    /// Nodes that died and were replaced by a new one at their address.
    pub(crate) replaced: Vec<Node>,
    /// Nodes whose clock began to differ from this one's, or agrees again.
    pub(crate) clocks: Vec<(Node, ClockNews)>,
    /// Change of this node's clock against that of the store's server, if there is one.
    pub(crate) own_clock: Option<ClockNews>,
    /// Change of the agreement about routes, if there is one.
    pub(crate) routes: Option<RoutesNews>,
}

#[derive(Debug, Default)]
struct NodeSightings {
    nodes: Vec<NodeView>,
    /// Nodes that this process saw alive.
    alive: HashSet<Uuid>,
    /// Nodes among them that have since been lost.
    lost: HashSet<Uuid>,
    /// Heartbeats of the other nodes.
    heartbeats: Heartbeats,
    agreement: RouteAgreement,
    /// Time of the last view.
    noted_at: Option<Instant>,
    /// Beginning of the views without a gap. During a gap the store was away, or this process was suspended.
    steady_since: Option<Instant>,
}

impl NodeSightings {
    /// Records a view, and returns true if views had no gap for as long as a node may be silent. Otherwise heartbeats
    /// of other nodes may be missing only because the store accepted none.
    fn is_steady(&mut self, time: &ViewTime) -> bool {
        let has_gap = self.noted_at.is_some_and(|noted_at| time.read_at > noted_at + time.longest_gap);
        self.noted_at = Some(time.read_at);
        if has_gap {
            self.steady_since = Some(time.read_at);
        }
        self.steady_since.is_none_or(|since| since + time.seen_within <= time.read_at)
    }
}

/// Removes nodes from `stored` that died and were replaced: the only live node at the same address started later. Returns
/// them.
fn take_replaced(stored: &mut Vec<Node>, is_silent: impl Fn(&Node) -> bool) -> Vec<Node> {
    let live = stored.iter().filter(|node| !is_silent(node) && is_of_one_machine(&node.address));
    let live: Vec<_> = live.map(|node| (node.address.clone(), node.started_at)).collect();
    // Several live nodes on different machines may share an address: then none replaces another.
    let is_replaced = |node: &mut Node| {
        let mut at_address = live.iter().filter(|(address, _)| *address == node.address);
        let successor = at_address.next().filter(|(_, started_at)| *started_at > node.seen_at);
        is_silent(node) && successor.is_some() && at_address.next().is_none()
    };
    stored.extract_if(.., is_replaced).collect()
}

/// Returns false for an address on which any machine may listen, such as 0.0.0.0:8080 in containers.
fn is_of_one_machine(address: &str) -> bool {
    address.parse::<SocketAddr>().map_or(true, |address| !address.ip().is_unspecified())
}

/// Known nodes. Until they have been read, other processes are assumed to work on the same store.
#[derive(Debug, Default)]
pub(crate) struct KnownNodes {
    are_none: AtomicBool,
    inner: Mutex<NodeSightings>,
    /// Failure of this node's comparison of acquirers' lists, for its next heartbeat.
    comparison_failure: Mutex<Option<String>>,
}

impl KnownNodes {
    fn lock(&self) -> MutexGuard<'_, NodeSightings> {
        self.inner.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Returns true if no other process may be alive.
    pub(crate) fn are_none(&self) -> bool {
        self.are_none.load(Ordering::Relaxed)
    }

    /// Sets the failure of this node's comparison, or that there is none. The other nodes get it with the next heartbeat.
    pub(crate) fn set_comparison_failure(&self, failure: Option<&str>) {
        let failure = failure.map(|why| why.chars().take(CAUSE_LENGTH).collect());
        *self.comparison_failure.lock().unwrap_or_else(PoisonError::into_inner) = failure;
    }

    /// Returns the failure of this node's comparison.
    pub(crate) fn comparison_failure(&self) -> Option<String> {
        self.comparison_failure.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// Returns true if live nodes have been routing by different tables or accounts for minutes.
    pub(crate) fn routes_differ(&self) -> bool {
        self.lock().agreement.is_broken()
    }

    /// Returns the seconds by which this node's clock is ahead of that of the store's server, if they differ by more
    /// than a few.
    pub(crate) fn own_clock_ahead_s(&self) -> Option<i64> {
        self.lock().heartbeats.own_clock_ahead_s()
    }

    /// Returns every node as last recorded, in the order of their start.
    pub(crate) fn all(&self) -> Vec<NodeView> {
        self.lock().nodes.clone()
    }

    /// Returns every node as it is known now, in the order of their start. While the store is away, and after a gap in
    /// the views, it is unknown whether the other live ones are still alive.
    pub(crate) fn known(&self, now: Instant, longest_gap: Duration, is_store_away: bool) -> Vec<NodeView> {
        let inner = self.lock();
        let is_old = inner.noted_at.is_some_and(|noted_at| noted_at + longest_gap < now);
        let mut nodes = inner.nodes.clone();
        for view in nodes.iter_mut().filter(|view| !view.is_own && view.state == NodeState::Alive) {
            let silent_for = inner.heartbeats.silent_for(view.node.id, now);
            view.silent_s = silent_for.filter(|time| *time >= SILENT_AFTER).map(|time| time.as_secs());
        }
        drop(inner);
        if is_store_away || is_old {
            let are_doubtful = nodes.iter_mut().filter(|view| !view.is_own && !view.is_lost());
            are_doubtful.for_each(|view| (view.state, view.silent_s) = (NodeState::Unknown, None));
        }
        nodes
    }

    /// Records the stored nodes. Those whose heartbeat changed recently are alive. A node that was silent before this
    /// process started has the time of a few heartbeats to be heard. A silent node that was alive before an outage of
    /// the store is unknown. It is not lost until it had time for a heartbeat after the outage. If this node is not
    /// among the stored ones, no conclusion is drawn about the others.
    pub(crate) fn note(&self, mut stored: Vec<Node>, own: Uuid, time: &ViewTime) -> NodeNews {
        let mut inner = self.lock();
        let is_steady = inner.is_steady(time);
        let others = stored.iter().filter(|node| node.id != own);
        let clocks = inner.heartbeats.hear(others, time);
        let own_clock = inner.heartbeats.compare_with_server(time);
        let NodeSightings { heartbeats, alive, .. } = &*inner;
        let is_silent = |node: &Node| node.id != own && heartbeats.is_silent(node.id, time);
        let replaced = take_replaced(&mut stored, is_silent);
        let view = |node: Node| {
            let had_time = is_steady || !alive.contains(&node.id);
            let state = match (is_silent(&node), had_time) {
                (false, _) if heartbeats.is_awaited(node.id) => NodeState::Unknown,
                (false, _) => NodeState::Alive,
                (true, true) => NodeState::Lost,
                (true, false) => NodeState::Unknown,
            };
            let seen_at = heartbeats.last_seen_at(node.id).unwrap_or(node.seen_at);
            let is_own = node.id == own;
            let clock_ahead_s =
                if is_own { heartbeats.own_clock_ahead_s() } else { heartbeats.clock_ahead_s(node.id) };
            NodeView { is_own, state, silent_s: None, clock_ahead_s, node: Node { seen_at, ..node } }
        };
        let nodes: Vec<_> = stored.into_iter().map(view).collect();
        // A node of unknown state may be alive. Confirmations may wait for long only if certainly no other node is
        // (decision 32).
        let may_live = nodes.iter().filter(|view| !view.is_lost());
        let are_none = may_live.map(|view| view.node.id).eq([own]);
        self.are_none.store(are_none, Ordering::Relaxed);
        let alive = nodes.iter().filter(|view| view.state == NodeState::Alive);
        let routes = inner.agreement.compare(alive.map(|view| &view.node), time.read_at);
        let mut news = NodeNews { replaced, clocks, own_clock, routes, ..NodeNews::default() };
        for NodeView { node, state, .. } in &nodes {
            match state {
                NodeState::Alive => {
                    if inner.alive.insert(node.id) && inner.lost.remove(&node.id) {
                        news.back.push(node.clone());
                    }
                }
                NodeState::Lost => {
                    if inner.alive.remove(&node.id) {
                        inner.lost.insert(node.id);
                        news.lost.push(node.clone());
                    }
                }
                // It stays in the set of nodes seen alive.
                NodeState::Unknown => {}
            }
        }
        // Forget nodes that stopped or were removed.
        let stored: HashSet<_> = nodes.iter().map(|view| view.node.id).collect();
        inner.alive.retain(|id| stored.contains(id));
        inner.lost.retain(|id| stored.contains(id));
        inner.heartbeats.retain(|id| stored.contains(id));
        inner.nodes = nodes;
        news
    }

    /// Forgets a node that an operator removed.
    pub(crate) fn forget(&self, id: Uuid) {
        let mut inner = self.lock();
        inner.nodes.retain(|view| view.node.id != id);
        inner.alive.remove(&id);
        inner.lost.remove(&id);
    }
}

#[cfg(test)]
mod tests {
    use quita_domain::time::Timestamp;

    use super::*;

    const OWN: u128 = 1;

    fn node(id: u128, seen_ms: i64) -> Node {
        let at = Timestamp::from_millis(0);
        let address = "127.0.0.1:1".into();
        let version = "1".into();
        let seen_at = Timestamp::from_millis(seen_ms);
        Node {
            id: Uuid::from_u128(id),
            address,
            version,
            routing: None,
            accounts: None,
            comparison_failure: None,
            knows_form: 1,
            writes_form: 1,
            started_at: at,
            seen_at,
        }
    }

    /// A node among others, with a clock that agrees with the monotonic one.
    struct Here {
        known: KnownNodes,
        start: Instant,
    }

    impl Here {
        fn new() -> Self {
            Self { known: KnownNodes::default(), start: Instant::now() }
        }

        fn at(&self, ms: i64) -> Instant {
            self.start + Duration::from_millis(u64::try_from(ms).unwrap())
        }

        fn note_all(&self, now_ms: i64, stored: &[(u128, i64)]) -> NodeNews {
            self.note_nodes(now_ms, stored.iter().map(|(id, seen_ms)| node(*id, *seen_ms)).collect())
        }

        fn note_nodes(&self, now_ms: i64, stored: Vec<Node>) -> NodeNews {
            let time = ViewTime {
                begun_at: self.at(now_ms),
                read_at: self.at(now_ms),
                now: Timestamp::from_millis(now_ms),
                seen_within: Duration::from_secs(60),
                longest_gap: Duration::from_secs(15),
                ahead_of_server_ms: None,
            };
            self.known.note(stored, Uuid::from_u128(OWN), &time)
        }

        /// Notes these nodes; the ids of those that were lost, and of those that are back.
        fn note(&self, now_ms: i64, stored: &[(u128, i64)]) -> (Vec<u128>, Vec<u128>) {
            let NodeNews { lost, back, .. } = self.note_all(now_ms, stored);
            let ids = |nodes: Vec<Node>| nodes.iter().map(|node| node.id.as_u128()).collect();
            (ids(lost), ids(back))
        }

        /// Notes, every five seconds, a node whose heartbeat is what this makes of the time. The nodes that were lost.
        fn watch(&self, from_ms: i64, until_ms: i64, heartbeat: impl Fn(i64) -> i64) -> Vec<(i64, u128)> {
            let mut lost = Vec::new();
            for now_ms in (from_ms..=until_ms).step_by(5_000) {
                let news = self.note(now_ms, &[(OWN, now_ms), (2, heartbeat(now_ms))]);
                lost.extend(news.0.into_iter().map(|id| (now_ms, id)));
            }
            lost
        }

        fn in_state(&self, state: NodeState) -> Vec<u128> {
            let nodes = self.known.all().into_iter();
            nodes.filter(|view| view.state == state).map(|view| view.node.id.as_u128()).collect()
        }

        fn lost(&self) -> Vec<u128> {
            self.in_state(NodeState::Lost)
        }

        fn clock_ahead_s(&self) -> Option<i64> {
            self.known.all().iter().find(|view| !view.is_own).unwrap().clock_ahead_s
        }
    }

    #[tokio::test(start_paused = true)]
    async fn nodes_that_route_by_different_tables_for_minutes_are_reported_once() {
        let here = Here::new();
        let note = |minute: i64, other: &str| {
            let now_ms = minute * 60_000;
            let version = |digits: &str| serde_json::from_value(digits.into()).ok();
            let own = Node { routing: version("a"), ..node(OWN, now_ms) };
            let other = Node { routing: version(other), ..node(2, now_ms) };
            let news = here.note_nodes(now_ms, vec![own, other]).routes;
            (news, here.known.routes_differ())
        };
        assert_eq!(note(0, "a"), (None, false));
        assert_eq!(note(1, "b"), (None, false), "a reload reaches one after the other");
        assert_eq!(note(2, "a"), (None, false));
        assert_eq!(note(3, "b"), (None, false));
        assert_eq!(note(7, "b"), (None, false));
        assert_eq!(note(8, "b"), (Some(RoutesNews::Differ), true));
        assert_eq!(note(9, "c"), (None, true));
        assert_eq!(note(10, "a"), (Some(RoutesNews::Agree), false));
    }

    #[tokio::test(start_paused = true)]
    async fn a_node_is_alone_that_sees_itself_and_nobody_else() {
        let here = Here::new();
        let is_alone_among = |ids: &[u128]| {
            here.note(120_000, &ids.iter().map(|id| (*id, 60_000)).collect::<Vec<_>>());
            here.known.are_none()
        };
        assert!(is_alone_among(&[1]));
        assert!(!is_alone_among(&[1, 2]));
        assert!(!is_alone_among(&[2]));
        assert!(is_alone_among(&[1]));
        assert!(!is_alone_among(&[]));
        let here = Here::new();
        here.watch(0, 65_000, |_| 0);
        assert!(here.known.are_none(), "a lost one does nothing");
    }

    #[tokio::test(start_paused = true)]
    async fn a_node_that_dies_is_told_once_and_stays_lost_and_one_that_stops_is_gone() {
        let here = Here::new();
        assert_eq!(here.watch(0, 100_000, |now_ms| now_ms.min(20_000)), [(85_000, 2)]);
        assert_eq!(here.lost(), [2]);
        assert_eq!(here.note(105_000, &[(OWN, 105_000), (2, 105_000)]), (vec![], vec![2]));
        assert_eq!(here.watch(110_000, 180_000, |_| 105_000), [(170_000, 2)]);
        here.known.forget(Uuid::from_u128(2));
        assert_eq!(here.note(185_000, &[(OWN, 185_000)]), (vec![], vec![]));
        assert_eq!(here.known.all().len(), 1);
    }

    #[tokio::test(start_paused = true)]
    async fn a_node_without_a_heartbeat_for_fifteen_seconds_is_silent_until_it_beats_or_is_lost() {
        let here = Here::new();
        let silent_s = |now_ms| {
            let nodes = here.known.known(here.at(now_ms), Duration::from_secs(15), false);
            let other = nodes.iter().find(|view| !view.is_own).unwrap();
            assert_eq!(other.is_silent(), other.silent_s.is_some());
            other.silent_s
        };
        here.watch(0, 30_000, |now_ms| now_ms.min(20_000));
        assert_eq!(silent_s(34_999), None);
        here.watch(35_000, 60_000, |_| 20_000);
        assert_eq!(silent_s(60_500), Some(40));
        here.watch(65_000, 65_000, |_| 65_000);
        assert_eq!(silent_s(66_000), None, "it beats again");
        here.watch(70_000, 130_000, |_| 65_000);
        assert_eq!((here.lost(), silent_s(130_000)), (vec![2], None), "it is lost");
    }

    #[tokio::test(start_paused = true)]
    async fn a_dead_node_is_lost_after_a_minute_however_fast_its_clock_was() {
        let here = Here::new();
        let fast = |now_ms: i64| now_ms.min(20_000) + 600_000;
        assert_eq!(here.watch(0, 100_000, fast), [(85_000, 2)]);
        let view = here.known.all().into_iter().find(|view| !view.is_own).unwrap();
        assert_eq!(view.node.seen_at, Timestamp::from_millis(20_000), "by the clock of who shows it");
        let here = Here::new();
        here.note(0, &[(OWN, 0), (2, 620_000)]);
        assert_eq!(here.watch(5_000, 65_000, |_| 620_000), [(65_000, 2)], "dead before this one began");
    }

    #[tokio::test(start_paused = true)]
    async fn a_living_node_is_alive_however_slow_its_clock_is() {
        let here = Here::new();
        here.note(0, &[(OWN, 0), (2, -300_000)]);
        assert_eq!(here.in_state(NodeState::Unknown), [2], "it may live");
        for now_ms in (5_000..=120_000).step_by(5_000) {
            assert_eq!(here.note(now_ms, &[(OWN, now_ms), (2, now_ms - 300_000)]), (vec![], vec![]));
            assert_eq!(here.in_state(NodeState::Alive), [OWN, 2], "{now_ms}");
        }
        assert!(!here.known.are_none());
    }

    #[tokio::test(start_paused = true)]
    async fn a_clock_that_differs_is_told_once_and_so_is_that_it_agrees_again() {
        for (offset_ms, shown) in [(600_000, 602), (-300_000, -297), (9_000, 11)] {
            let here = Here::new();
            let clocks = |now_ms: i64, offset_ms: i64| {
                let news = here.note_all(now_ms, &[(OWN, now_ms), (2, now_ms + offset_ms)]);
                news.clocks.into_iter().map(|(node, news)| (node.id.as_u128(), news)).collect::<Vec<_>>()
            };
            assert_eq!(clocks(0, 0), []);
            assert_eq!(clocks(5_000, 0), []);
            assert_eq!(here.clock_ahead_s(), None);
            let differs = ClockNews::Differs { ahead_s: shown };
            assert_eq!(clocks(10_000, offset_ms), [(2, differs)]);
            assert_eq!(clocks(15_000, offset_ms), []);
            assert_eq!(here.clock_ahead_s(), Some(shown));
            assert_eq!(clocks(20_000, 0), [(2, ClockNews::Agrees)]);
            assert_eq!((clocks(25_000, 0), here.clock_ahead_s()), (vec![], None));
        }
    }

    #[tokio::test(start_paused = true)]
    async fn clocks_that_agree_are_never_told_to_differ_whenever_a_heartbeat_came() {
        let here = Here::new();
        for (view, age_ms) in [0, 4_999, 1, 2_500, 3_000, 100].into_iter().cycle().take(60).enumerate() {
            let now_ms = i64::try_from(view).unwrap() * 5_000;
            let news = here.note_all(now_ms, &[(OWN, now_ms), (2, now_ms - age_ms)]);
            assert_eq!((news.clocks, here.clock_ahead_s()), (vec![], None), "{now_ms}");
        }
        // The store was away: nobody knows when the heartbeat after it was written.
        let after = 60 * 5_000 + 100_000;
        let news = here.note_all(after, &[(OWN, after), (2, after - 90_000)]);
        assert_eq!((news.clocks, here.clock_ahead_s()), (vec![], None));
    }

    #[tokio::test(start_paused = true)]
    async fn nobody_is_lost_for_heartbeats_that_an_outage_of_the_store_kept_away() {
        let here = Here::new();
        for now_ms in (80_000..=100_000).step_by(5_000) {
            here.note(now_ms, &[(1, now_ms), (2, now_ms - 1_000), (3, 10_000)]);
        }
        assert_eq!(here.lost(), [3], "it was lost before this process began");
        // The store was away for ninety seconds. The others have not written yet.
        assert_eq!(here.note(190_000, &[(1, 190_000), (2, 99_000), (3, 10_000)]), (vec![], vec![]));
        assert_eq!(here.lost(), [3], "it stays lost");
        assert_eq!(here.in_state(NodeState::Unknown), [2], "it may live");
        assert!(!here.known.are_none());
        // One of them is back, the other died during the outage: that shows after its time.
        for now_ms in (195_000..250_000).step_by(5_000) {
            assert_eq!(here.note(now_ms, &[(1, now_ms), (2, 99_000)]), (vec![], vec![]), "{now_ms}");
            assert_eq!(here.in_state(NodeState::Unknown), [2], "{now_ms}");
        }
        assert_eq!(here.note(250_000, &[(1, 250_000), (2, 99_000)]), (vec![2], vec![]));
    }

    #[tokio::test(start_paused = true)]
    async fn what_was_alive_is_unknown_while_the_store_is_away_or_no_view_comes_and_the_rest_is_as_it_was() {
        let here = Here::new();
        let states = |now_ms, is_store_away| {
            let nodes = here.known.known(here.at(now_ms), Duration::from_secs(15), is_store_away);
            nodes.into_iter().map(|view| view.state).collect::<Vec<_>>()
        };
        assert_eq!(states(100_000, true), [], "nothing was read yet");
        for now_ms in (80_000..=100_000).step_by(5_000) {
            here.note(now_ms, &[(1, now_ms), (2, now_ms - 1_000), (3, 10_000)]);
        }
        let known_states = [NodeState::Alive, NodeState::Alive, NodeState::Lost];
        let doubtful = [NodeState::Alive, NodeState::Unknown, NodeState::Lost];
        assert_eq!(states(115_000, false), known_states);
        assert_eq!(states(115_000, true), doubtful);
        assert_eq!(states(115_001, false), doubtful);
        here.note(120_000, &[(1, 120_000), (2, 119_000), (3, 10_000)]);
        assert_eq!(states(120_000, false), known_states);
    }

    #[test]
    fn a_dead_node_is_replaced_by_one_that_started_later_at_its_address() {
        let node_of = |id, address: &str, started_ms, seen_ms| {
            let started_at = Timestamp::from_millis(started_ms);
            Node { address: address.into(), started_at, ..node(id, seen_ms) }
        };
        let replaced = |stored: &[Node]| {
            let mut stored = stored.to_vec();
            let silent_before = Timestamp::from_millis(60_000);
            let replaced = take_replaced(&mut stored, |node| node.seen_at < silent_before);
            let left = stored.len();
            (replaced.iter().map(|node| node.id.as_u128()).collect::<Vec<_>>(), left)
        };
        let here = "10.0.0.1:8080";
        let there = "10.0.0.2:8080";
        let dead = node_of(1, here, 0, 50_000);
        assert_eq!(replaced(&[dead.clone(), node_of(2, here, 50_001, 90_000)]), (vec![1], 1));
        assert_eq!(replaced(&[dead.clone(), node_of(2, there, 50_001, 90_000)]), (vec![], 2));
        assert_eq!(replaced(&[dead.clone(), node_of(2, here, 40_000, 90_000)]), (vec![], 2), "beside it");
        let alive = node_of(1, here, 0, 60_000);
        assert_eq!(replaced(&[alive, node_of(2, here, 61_000, 90_000)]), (vec![], 2));
        assert_eq!(replaced(std::slice::from_ref(&dead)), (vec![], 1));
        let shared = [dead, node_of(2, here, 50_001, 90_000), node_of(3, here, 50_002, 90_000)];
        assert_eq!(replaced(&shared), (vec![], 3), "two share the address: any of them may be beside it");
        for any in ["0.0.0.0:8080", "[::]:8080"] {
            let anywhere = [node_of(1, any, 0, 50_000), node_of(2, any, 50_001, 90_000)];
            assert_eq!(replaced(&anywhere), (vec![], 2), "{any}");
        }
    }

    #[tokio::test(start_paused = true)]
    async fn one_that_was_lost_before_this_process_began_is_shown_after_some_heartbeats_and_no_news() {
        let here = Here::new();
        for now_ms in [120_000, 125_000, 130_000, 135_000] {
            assert_eq!(here.note(now_ms, &[(1, now_ms), (9, 1)]), (vec![], vec![]));
            assert_eq!(here.in_state(NodeState::Unknown), [9]);
        }
        assert_eq!(here.note(140_000, &[(1, 140_000), (9, 1)]), (vec![], vec![]));
        assert_eq!(here.lost(), [9]);
    }
}
