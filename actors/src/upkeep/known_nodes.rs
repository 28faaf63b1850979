//! The processes on this store as this node last saw them: alive, lost, or unknown while the store tells nothing.

use std::collections::HashSet;
use std::net::SocketAddr;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};

use quita_domain::control::Node;
use quita_domain::time::Timestamp;
use uuid::Uuid;

use crate::limits::CAUSE_LENGTH;

/// A process on this store, as operators see it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NodeView {
    /// The process.
    pub node: Node,
    /// True for the process that makes this view.
    pub is_own: bool,
    /// State of the process.
    pub state: NodeState,
}

/// State of a process, as far as the store tells it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum NodeState {
    /// It was seen lately, or it makes this view.
    Alive,
    /// It was not seen for a while and never reported its stop. It stays until an operator removes it.
    Lost,
    /// It was alive when the store was last read. Since then it may have stopped or died.
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
    /// Returns true if it was not seen for a while and never reported its stop.
    pub fn is_lost(&self) -> bool {
        self.state == NodeState::Lost
    }
}

/// Nodes that were lost or came back.
#[derive(Debug, Default, PartialEq, Eq)]
pub(crate) struct NodeNews {
    /// Nodes that this process saw alive, and that are not alive any more.
    pub(crate) lost: Vec<Node>,
    /// Nodes that were lost and are alive again.
    pub(crate) back: Vec<Node>,
}

#[derive(Debug, Default)]
struct Inner {
    nodes: Vec<NodeView>,
    /// Nodes that this process saw alive.
    alive: HashSet<Uuid>,
    /// Nodes among them that have since been lost.
    lost: HashSet<Uuid>,
    /// Time of the last view.
    noted_at: Option<Timestamp>,
    /// Beginning of the views without a gap. During a gap the store was away, or this process was suspended.
    steady_since: Option<Timestamp>,
}

impl Inner {
    /// Records a view, and returns true if views had no gap for as long as a node may be silent. Otherwise heartbeats
    /// of other nodes may be missing only because the store took none.
    fn is_steady(&mut self, now: Timestamp, alive_since: Timestamp, longest_gap_ms: u64) -> bool {
        let has_gap = self.noted_at.is_some_and(|noted_at| noted_at.plus_ms(longest_gap_ms) < now);
        self.noted_at = Some(now);
        if has_gap {
            self.steady_since = Some(now);
        }
        self.steady_since.is_none_or(|since| since <= alive_since)
    }
}

/// Time of a view of the nodes, and the age of heartbeats in it.
#[derive(Debug, Clone, Copy)]
pub(crate) struct ViewTime {
    /// Time of the view.
    pub(crate) now: Timestamp,
    /// A node seen at this time or later is alive.
    pub(crate) alive_since: Timestamp,
    /// Time between two views above which heartbeats could not be written.
    pub(crate) longest_gap_ms: u64,
}

/// Removes nodes from `stored` that died and were replaced: the only live node at the same address started later. Returns
/// them.
pub(crate) fn take_replaced(stored: &mut Vec<Node>, alive_since: Timestamp) -> Vec<Node> {
    let live = stored.iter().filter(|node| node.seen_at >= alive_since && is_of_one_machine(&node.address));
    let live: Vec<_> = live.map(|node| (node.address.clone(), node.started_at)).collect();
    // Several live nodes may share an address behind which each has its own machine: then none replaces another.
    let is_replaced = |node: &mut Node| {
        let mut at_address = live.iter().filter(|(address, _)| *address == node.address);
        let successor = at_address.next().filter(|(_, started_at)| *started_at > node.seen_at);
        node.seen_at < alive_since && successor.is_some() && at_address.next().is_none()
    };
    stored.extract_if(.., is_replaced).collect()
}

/// Returns false for an address that any machine may listen at, such as 0.0.0.0:8080 in containers.
fn is_of_one_machine(address: &str) -> bool {
    address.parse::<SocketAddr>().map_or(true, |address| !address.ip().is_unspecified())
}

/// Known nodes. Until they have been read, other processes are assumed to work on the same store.
#[derive(Debug, Default)]
pub(crate) struct KnownNodes {
    are_none: AtomicBool,
    inner: Mutex<Inner>,
    /// Failure of this node's comparison of acquirers' lists, for its next heartbeat.
    comparison_failure: Mutex<Option<String>>,
}

impl KnownNodes {
    fn lock(&self) -> MutexGuard<'_, Inner> {
        self.inner.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Returns true if no other process was seen lately.
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

    /// Returns every node as it was last noted, in the order of their start.
    pub(crate) fn all(&self) -> Vec<NodeView> {
        self.lock().nodes.clone()
    }

    /// Returns every node as it is known now, in the order of their start. While the store is away, and after a time
    /// without a view, nobody knows of the other live ones whether they still are.
    pub(crate) fn known(&self, now: Timestamp, longest_gap_ms: u64, is_store_away: bool) -> Vec<NodeView> {
        let inner = self.lock();
        let is_old = inner.noted_at.is_some_and(|noted_at| noted_at.plus_ms(longest_gap_ms) < now);
        let mut nodes = inner.nodes.clone();
        drop(inner);
        if is_store_away || is_old {
            let are_doubtful = nodes.iter_mut().filter(|view| !view.is_own && !view.is_lost());
            are_doubtful.for_each(|view| view.state = NodeState::Unknown);
        }
        nodes
    }

    /// Records the stored nodes. Those seen at `alive_since` or later are alive. If this node is not among them, it was
    /// suspended for that long, and no conclusion is drawn about the others. A silent node that was alive before an
    /// outage of the store is unknown, and not lost until it had time for a heartbeat after it.
    pub(crate) fn note(&self, stored: Vec<Node>, own: Uuid, time: ViewTime) -> NodeNews {
        let ViewTime { now, alive_since, longest_gap_ms } = time;
        let mut inner = self.lock();
        let is_steady = inner.is_steady(now, alive_since, longest_gap_ms);
        let view = |node: Node| {
            let is_own = node.id == own;
            let is_silent = !is_own && node.seen_at < alive_since;
            let had_time = is_steady || !inner.alive.contains(&node.id);
            let state = match (is_silent, had_time) {
                (false, _) => NodeState::Alive,
                (true, true) => NodeState::Lost,
                (true, false) => NodeState::Unknown,
            };
            NodeView { node, is_own, state }
        };
        let are_seen = stored.iter().filter(|node| node.seen_at >= alive_since);
        let are_none = are_seen.map(|node| node.id).eq([own]);
        self.are_none.store(are_none, Ordering::Relaxed);
        let nodes: Vec<_> = stored.into_iter().map(view).collect();
        let mut news = NodeNews::default();
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
                // It is still among those that were seen alive.
                NodeState::Unknown => {}
            }
        }
        // Forget nodes that stopped or were removed.
        let stored: HashSet<_> = nodes.iter().map(|view| view.node.id).collect();
        inner.alive.retain(|id| stored.contains(id));
        inner.lost.retain(|id| stored.contains(id));
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
    use super::*;

    const OWN: u128 = 1;

    fn node(id: u128, seen_ms: i64) -> Node {
        let at = Timestamp::from_millis(0);
        let (address, version) = ("127.0.0.1:1".into(), "1".into());
        let seen_at = Timestamp::from_millis(seen_ms);
        Node {
            id: Uuid::from_u128(id),
            address,
            version,
            routing: None,
            comparison_failure: None,
            knows_form: 1,
            writes_form: 1,
            started_at: at,
            seen_at,
        }
    }

    /// Notes these nodes; the ids of those that were lost, and of those that are back.
    fn note(known: &KnownNodes, stored: &[(u128, i64)]) -> (Vec<u128>, Vec<u128>) {
        note_at(known, 120_000, stored)
    }

    fn note_at(known: &KnownNodes, now_ms: i64, stored: &[(u128, i64)]) -> (Vec<u128>, Vec<u128>) {
        let stored = stored.iter().map(|(id, seen_ms)| node(*id, *seen_ms)).collect();
        let now = Timestamp::from_millis(now_ms);
        let time = ViewTime { now, alive_since: now.minus_ms(60_000), longest_gap_ms: 15_000 };
        let NodeNews { lost, back } = known.note(stored, Uuid::from_u128(OWN), time);
        let ids = |nodes: Vec<Node>| nodes.iter().map(|node| node.id.as_u128()).collect();
        (ids(lost), ids(back))
    }

    fn lost(known: &KnownNodes) -> Vec<u128> {
        in_state(known, NodeState::Lost)
    }

    fn in_state(known: &KnownNodes, state: NodeState) -> Vec<u128> {
        known.all().iter().filter(|view| view.state == state).map(|view| view.node.id.as_u128()).collect()
    }

    #[test]
    fn a_node_is_alone_that_sees_itself_and_nobody_else() {
        let known = KnownNodes::default();
        let is_alone_among = |ids: &[u128]| {
            note(&known, &ids.iter().map(|id| (*id, 60_000)).collect::<Vec<_>>());
            known.are_none()
        };
        assert!(is_alone_among(&[1]));
        assert!(!is_alone_among(&[1, 2]));
        assert!(!is_alone_among(&[2]));
        assert!(is_alone_among(&[1]));
        assert!(!is_alone_among(&[]));
        note(&known, &[(1, 60_000), (2, 59_999)]);
        assert!(known.are_none(), "a lost one does nothing");
    }

    #[test]
    fn a_node_that_dies_is_told_once_and_stays_lost_and_one_that_stops_is_gone() {
        let known = KnownNodes::default();
        let alive = [(1, 60_000), (2, 60_000), (3, 60_000)];
        assert_eq!(note(&known, &alive), (vec![], vec![]));
        let dead = [(1, 60_000), (2, 59_999)];
        assert_eq!(note(&known, &dead), (vec![2], vec![]));
        assert_eq!((note(&known, &dead), lost(&known)), ((vec![], vec![]), vec![2]));
        assert_eq!(note(&known, &alive), (vec![], vec![2]));
        assert_eq!((note(&known, &dead).0, lost(&known)), (vec![2], vec![2]));
        known.forget(Uuid::from_u128(2));
        assert_eq!((note(&known, &[(1, 60_000)]), known.all().len()), ((vec![], vec![]), 1));
    }

    #[test]
    fn nobody_is_lost_for_heartbeats_that_an_outage_of_the_store_kept_away() {
        let known = KnownNodes::default();
        note_at(&known, 100_000, &[(1, 100_000), (2, 99_000), (3, 30_000)]);
        assert_eq!(lost(&known), [3], "it was lost before this process began");
        // The store was away for ninety seconds. The others have not written yet.
        assert_eq!(note_at(&known, 190_000, &[(1, 190_000), (2, 99_000), (3, 30_000)]), (vec![], vec![]));
        assert_eq!(lost(&known), [3], "it stays lost");
        assert_eq!(in_state(&known, NodeState::Unknown), [2], "it may live");
        // One of them is back, the other died during the outage: that shows after its time.
        for now_ms in (195_000..250_000).step_by(5_000) {
            assert_eq!(note_at(&known, now_ms, &[(1, now_ms), (2, 99_000)]), (vec![], vec![]), "{now_ms}");
            assert_eq!(in_state(&known, NodeState::Unknown), [2], "{now_ms}");
        }
        assert_eq!(note_at(&known, 250_000, &[(1, 250_000), (2, 99_000)]), (vec![2], vec![]));
    }

    #[test]
    fn what_was_alive_is_unknown_while_the_store_is_away_or_no_view_comes_and_the_rest_is_as_it_was() {
        let known = KnownNodes::default();
        let states = |now_ms, is_store_away| {
            let nodes = known.known(Timestamp::from_millis(now_ms), 15_000, is_store_away);
            nodes.into_iter().map(|view| view.state).collect::<Vec<_>>()
        };
        assert_eq!(states(100_000, true), [], "nothing was read yet");
        note_at(&known, 100_000, &[(1, 100_000), (2, 99_000), (3, 30_000)]);
        let known_states = [NodeState::Alive, NodeState::Alive, NodeState::Lost];
        let doubtful = [NodeState::Alive, NodeState::Unknown, NodeState::Lost];
        assert_eq!(states(115_000, false), known_states);
        assert_eq!(states(115_000, true), doubtful);
        assert_eq!(states(115_001, false), doubtful);
        note_at(&known, 120_000, &[(1, 120_000), (2, 119_000), (3, 30_000)]);
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
            let replaced = take_replaced(&mut stored, Timestamp::from_millis(60_000));
            let left = stored.len();
            (replaced.iter().map(|node| node.id.as_u128()).collect::<Vec<_>>(), left)
        };
        let (here, there) = ("10.0.0.1:8080", "10.0.0.2:8080");
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

    #[test]
    fn one_that_was_lost_before_this_process_began_is_shown_and_no_news() {
        let known = KnownNodes::default();
        assert_eq!(note(&known, &[(1, 60_000), (9, 1)]), (vec![], vec![]));
        assert_eq!(lost(&known), [9]);
    }
}
