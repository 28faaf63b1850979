//! Agreement of the live nodes about routes and accounts: which acquirer gets a payment, and whose money it becomes, must
//! not depend on the node that takes it.

use std::collections::HashSet;
use std::time::Duration;

use quita_domain::control::Node;
use tokio::time::Instant;

/// Time for which live nodes may route by different tables or accounts: a rolling restart, or a reload on each.
const MAY_DIFFER: Duration = Duration::from_secs(5 * 60);

/// Change of the agreement.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum RoutesNews {
    /// Live nodes have been routing by different tables, or to different accounts, for minutes.
    Differ,
    /// They route by the same table to the same accounts again.
    Agree,
}

/// Agreement as this node sees it.
#[derive(Debug, Default)]
pub(crate) struct RouteAgreement {
    /// Time since which live nodes route differently.
    differ_since: Option<Instant>,
    /// True if that was reported.
    is_broken: bool,
}

impl RouteAgreement {
    /// Records how the live nodes route. Returns the change that has to be reported.
    pub(crate) fn compare<'a>(
        &mut self,
        alive: impl Iterator<Item = &'a Node> + Clone,
        now: Instant,
    ) -> Option<RoutesNews> {
        // A node of an earlier version tells less: what it does not tell differs from nothing.
        let tables: HashSet<_> = alive.clone().filter_map(|node| node.routing.as_ref()).collect();
        let accounts: HashSet<_> = alive.filter_map(|node| node.accounts.as_ref()).collect();
        self.differ_since =
            (tables.len() > 1 || accounts.len() > 1).then(|| self.differ_since.unwrap_or(now));
        let is_broken = self.differ_since.is_some_and(|since| since + MAY_DIFFER <= now);
        match (std::mem::replace(&mut self.is_broken, is_broken), is_broken) {
            (false, true) => Some(RoutesNews::Differ),
            (true, false) => Some(RoutesNews::Agree),
            (_, _) => None,
        }
    }

    /// Returns true if the nodes have been routing differently for minutes.
    pub(crate) const fn is_broken(&self) -> bool {
        self.is_broken
    }
}
