//! The processes on this store as this node last saw them, live or lost.

use std::collections::HashSet;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};

use quita_domain::control::Node;
use quita_domain::time::Timestamp;
use uuid::Uuid;

/// A process on this store, as operators see it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NodeView {
    /// The process.
    pub node: Node,
    /// True for the process that makes this view.
    pub is_own: bool,
    /// True if it was not seen for a while and never reported its stop. It stays until an operator removes it.
    pub is_lost: bool,
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
}

/// Known nodes. Until they have been read, other processes are assumed to work on the same store.
#[derive(Debug, Default)]
pub(crate) struct KnownNodes {
    are_none: AtomicBool,
    inner: Mutex<Inner>,
}

impl KnownNodes {
    fn lock(&self) -> MutexGuard<'_, Inner> {
        self.inner.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Returns true if no other process was seen lately.
    pub(crate) fn are_none(&self) -> bool {
        self.are_none.load(Ordering::Relaxed)
    }

    /// Returns every node, in the order of their start.
    pub(crate) fn all(&self) -> Vec<NodeView> {
        self.lock().nodes.clone()
    }

    /// Records the stored nodes. Those seen at `alive_since` or later are alive. If this node is not among them, it was
    /// suspended for that long, and no conclusion is drawn about the others.
    pub(crate) fn note(&self, stored: Vec<Node>, own: Uuid, alive_since: Timestamp) -> NodeNews {
        let view = |node: Node| {
            let is_own = node.id == own;
            let is_lost = !is_own && node.seen_at < alive_since;
            NodeView { node, is_own, is_lost }
        };
        let are_seen = stored.iter().filter(|node| node.seen_at >= alive_since);
        let are_none = are_seen.map(|node| node.id).eq([own]);
        self.are_none.store(are_none, Ordering::Relaxed);
        let nodes: Vec<_> = stored.into_iter().map(view).collect();
        let mut inner = self.lock();
        let mut news = NodeNews::default();
        for NodeView { node, is_lost, .. } in &nodes {
            if *is_lost {
                if inner.alive.remove(&node.id) {
                    inner.lost.insert(node.id);
                    news.lost.push(node.clone());
                }
            } else if inner.alive.insert(node.id) && inner.lost.remove(&node.id) {
                news.back.push(node.clone());
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
    const ALIVE_SINCE: Timestamp = Timestamp::from_millis(60_000);

    fn node(id: u128, seen_ms: i64) -> Node {
        let at = Timestamp::from_millis(0);
        let (address, version) = ("127.0.0.1:1".into(), "1".into());
        let seen_at = Timestamp::from_millis(seen_ms);
        Node { id: Uuid::from_u128(id), address, version, routing: None, started_at: at, seen_at }
    }

    /// Notes these nodes; the ids of those that were lost, and of those that are back.
    fn note(known: &KnownNodes, stored: &[(u128, i64)]) -> (Vec<u128>, Vec<u128>) {
        let stored = stored.iter().map(|(id, seen_ms)| node(*id, *seen_ms)).collect();
        let NodeNews { lost, back } = known.note(stored, Uuid::from_u128(OWN), ALIVE_SINCE);
        let ids = |nodes: Vec<Node>| nodes.iter().map(|node| node.id.as_u128()).collect();
        (ids(lost), ids(back))
    }

    fn lost(known: &KnownNodes) -> Vec<u128> {
        known.all().iter().filter(|view| view.is_lost).map(|view| view.node.id.as_u128()).collect()
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
    fn one_that_was_lost_before_this_process_began_is_shown_and_no_news() {
        let known = KnownNodes::default();
        assert_eq!(note(&known, &[(1, 60_000), (9, 1)]), (vec![], vec![]));
        assert_eq!(lost(&known), [9]);
    }
}
