//! Agreement of the live nodes about routes and accounts. The acquirer and the account of a payment must not depend on
//! the node that takes it.

use std::collections::HashSet;
use std::time::Duration;

use quita_domain::control::Node;
use tokio::time::Instant;

/// Time for which live nodes may route by different tables or accounts, as during a rolling restart or a reload on
/// each.
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
        // A node of an earlier version reports less. A value that it does not report counts as equal to any other.
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

#[cfg(test)]
mod tests {
    use quita_domain::time::Timestamp;
    use uuid::Uuid;

    use super::*;

    fn node(id: u128, accounts: Option<&str>) -> Node {
        let version = |digits: &str| serde_json::from_value(digits.into()).ok();
        Node {
            id: Uuid::from_u128(id),
            address: "127.0.0.1:1".into(),
            version: "1".into(),
            routing: version("a"),
            accounts: accounts.and_then(version),
            comparison_failure: None,
            knows_form: 1,
            writes_form: 1,
            started_at: Timestamp::from_millis(0),
            seen_at: Timestamp::from_millis(0),
        }
    }

    #[test]
    fn different_accounts_for_minutes_are_reported_as_different_routes_are_and_untold_ones_are_not() {
        let start = Instant::now();
        let mut agreement = RouteAgreement::default();
        let mut compare = |minute: u64, accounts: Option<&str>| {
            let nodes = [node(1, Some("c")), node(2, accounts)];
            agreement.compare(nodes.iter(), start + Duration::from_secs(minute * 60))
        };
        for minute in 0..10 {
            assert_eq!(compare(minute, None), None, "an earlier version tells none");
        }
        for minute in 10..15 {
            assert_eq!(compare(minute, Some("d")), None, "{minute}");
        }
        assert_eq!(compare(15, Some("d")), Some(RoutesNews::Differ));
        assert_eq!(compare(16, Some("c")), Some(RoutesNews::Agree));
    }
}
