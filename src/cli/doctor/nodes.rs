//! Check of the nodes that the store lists.

use std::collections::HashSet;

use quita_actors::NODE_SEEN_WITHIN;
use quita_domain::control::Node;
use quita_domain::time::Timestamp;

use super::finding::Finding;

const SUBJECT: &str = "nodes";

/// Warns of lost nodes, and of live nodes with different routing tables or accounts.
pub(super) fn examine(nodes: &[Node], now: Timestamp) -> Vec<Finding> {
    let seen_within_ms = u64::try_from(NODE_SEEN_WITHIN.as_millis()).unwrap_or(u64::MAX);
    let is_alive = |node: &&Node| now.ms_since(node.seen_at) <= seen_within_ms;
    let (alive, lost): (Vec<_>, Vec<_>) = nodes.iter().partition(is_alive);
    let mut findings = Vec::new();
    for Node { address, seen_at, .. } in lost {
        let text = format!("the one at {address} was lost: it did not stop, and was last seen at {seen_at}");
        findings.push(Finding::warn(SUBJECT, text, "docs/ops/RUNBOOK.md, QuitaNodeLost"));
    }
    let tables: HashSet<_> = alive.iter().filter_map(|node| node.routing.as_ref()).collect();
    let accounts: HashSet<_> = alive.iter().filter_map(|node| node.accounts.as_ref()).collect();
    if tables.len() > 1 || accounts.len() > 1 {
        let addresses: Vec<_> = alive.iter().map(|node| node.address.as_str()).collect();
        let text = format!("{} route by different tables or accounts", addresses.join(", "));
        let mend = "give all of them the same acquirers and routes, unless a restart of all is under way";
        findings.push(Finding::warn(SUBJECT, text, mend));
    }
    findings
}

#[cfg(test)]
mod tests {
    use uuid::Uuid;

    use super::*;

    fn node(address: &str, table: &str, seen_at_ms: i64) -> Node {
        Node {
            id: Uuid::nil(),
            address: address.into(),
            version: "1".into(),
            routing: serde_json::from_value(table.into()).ok(),
            accounts: None,
            comparison_failure: None,
            knows_form: 1,
            writes_form: 1,
            started_at: Timestamp::from_millis(0),
            seen_at: Timestamp::from_millis(seen_at_ms),
        }
    }

    #[test]
    fn nodes_that_were_lost_or_that_route_differently_are_warned_of() {
        let told = |nodes: &[Node]| {
            let found = examine(nodes, Timestamp::from_millis(100_000));
            found.into_iter().map(|finding| finding.text).collect::<Vec<_>>()
        };
        assert_eq!(told(&[node("a", "1", 99_000), node("b", "1", 40_000)]), Vec::<String>::new());
        let different = told(&[node("a", "1", 99_000), node("b", "2", 99_000)]);
        assert_eq!(different, ["a, b route by different tables or accounts"]);
        let lost = told(&[node("a", "1", 99_000), node("b", "2", 39_999)]);
        assert!(lost.len() == 1 && lost[0].starts_with("the one at b was lost"), "{lost:?}");
    }
}
