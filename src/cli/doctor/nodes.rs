//! Check of the nodes that the store lists.
//!
//! The time of a heartbeat is by the clock of its node, which may be wrong. So a heartbeat of any other time than now is
//! looked at twice: a node is alive if its heartbeat has changed.

use std::collections::HashSet;
use std::time::Duration;

use actix_web::rt::time::sleep;
use quita_actors::NODE_SEEN_WITHIN;
use quita_domain::control::Node;
use quita_domain::time::Timestamp;
use quita_machine::SystemClock;
use quita_ports::{Clock, StoreError, WholeStore};

use super::finding::Finding;

const SUBJECT: &str = "nodes";

/// Largest difference between now and the last heartbeat of a node that is alive and whose clock is right: two
/// intervals of heartbeats.
const HEARTBEAT_WITHIN_MS: u64 = 10_000;

/// Time until the second look, within which a node that is alive stores at least one heartbeat.
const LOOK_AGAIN_AFTER: Duration = Duration::from_secs(11);

/// Reports the live nodes. Warns of silent and lost ones, and of live ones with different routing tables or accounts.
/// Fails for a live node whose clock is wrong. Takes eleven seconds if a heartbeat is not recent.
///
/// # Errors
/// [`StoreError`] if the nodes can't be read.
pub(super) async fn check(store: &dyn WholeStore) -> Result<Vec<Finding>, StoreError> {
    let read = || store.nodes(Timestamp::from_millis(0));
    let first = read().await?;
    let now = SystemClock.now();
    if first.iter().all(|node| is_recent(node, now)) {
        return Ok(judge(&first, &first, now));
    }
    sleep(LOOK_AGAIN_AFTER).await;
    let last = read().await?;
    Ok(judge(&first, &last, SystemClock.now()))
}

/// Judges nodes by two looks at their heartbeats, the last of them now.
fn judge(first: &[Node], last: &[Node], now: Timestamp) -> Vec<Finding> {
    let has_beaten = |node: &Node| {
        first
            .iter()
            .find(|earlier| earlier.id == node.id)
            .is_none_or(|earlier| earlier.seen_at != node.seen_at)
    };
    let mut findings = Vec::new();
    let mut alive = Vec::new();
    for node in last {
        let Node { address, seen_at, .. } = node;
        if is_recent(node, now) {
            alive.push(node);
        } else if has_beaten(node) {
            alive.push(node);
            findings.push(wrong_clock(node, now));
        } else if is_silent_for_long(*seen_at, now) {
            let text = format!(
                "the node at {address} was lost: it did not shut down, and was last seen at {seen_at} by its own clock"
            );
            findings.push(Finding::warn(SUBJECT, text, "see QuitaNodeLost in docs/ops/RUNBOOK.md"));
        } else {
            findings.push(silent(node, now));
        }
    }
    let tables: HashSet<_> = alive.iter().filter_map(|node| node.routing.as_ref()).collect();
    let accounts: HashSet<_> = alive.iter().filter_map(|node| node.accounts.as_ref()).collect();
    if tables.len() > 1 || accounts.len() > 1 {
        let addresses: Vec<_> = alive.iter().map(|node| node.address.as_str()).collect();
        let text = format!("{} route by different tables or accounts", addresses.join(", "));
        let mend = "give all of them the same acquirers and routes, unless a rolling restart is in progress";
        findings.push(Finding::warn(SUBJECT, text, mend));
    }
    if findings.is_empty() {
        findings.extend(all_alive(&alive));
    }
    findings
}

/// Reports that every node is alive. `None` if there is no node.
fn all_alive(nodes: &[&Node]) -> Option<Finding> {
    let addresses: Vec<_> = nodes.iter().map(|node| node.address.as_str()).collect();
    let alive = match addresses.len() {
        0 => return None,
        1 => "1 node is alive".to_owned(),
        several => format!("{several} nodes are alive"),
    };
    Some(Finding::ok(SUBJECT, format!("{alive}: {}", addresses.join(", "))))
}

/// Warns of a node whose heartbeats have stopped, but that does not count as lost yet.
fn silent(Node { address, seen_at, .. }: &Node, now: Timestamp) -> Finding {
    let seconds = now.ms_since(*seen_at) / 1_000;
    let text = format!(
        "the node at {address} has been silent for {seconds} s by its own clock: it is frozen, was killed, or can't reach \
         the store"
    );
    let minute = NODE_SEEN_WITHIN.as_secs();
    let mend = format!(
        "look at its process and its log; after {minute} s it counts as lost: see QuitaNodeLost in docs/ops/RUNBOOK.md"
    );
    Finding::warn(SUBJECT, text, mend)
}

fn is_recent(node: &Node, now: Timestamp) -> bool {
    node.seen_at.millis().abs_diff(now.millis()) <= HEARTBEAT_WITHIN_MS
}

/// Returns true for a heartbeat that can't be recent: one from the future was stored by a wrong clock some time ago.
fn is_silent_for_long(seen_at: Timestamp, now: Timestamp) -> bool {
    let seen_within_ms = u64::try_from(NODE_SEEN_WITHIN.as_millis()).unwrap_or(u64::MAX);
    seen_at > now || now.ms_since(seen_at) > seen_within_ms
}

fn wrong_clock(Node { address, seen_at, .. }: &Node, now: Timestamp) -> Finding {
    let seconds = seen_at.millis().abs_diff(now.millis()) / 1_000;
    let side = if *seen_at > now { "ahead of" } else { "behind" };
    let text =
        format!("the clock of the node at {address} is about {seconds} s {side} the clock of this machine");
    let mend =
        "correct the wrong clock, and sync both with NTP: see QuitaNodeClocksDiffer in docs/ops/RUNBOOK.md";
    Finding::fail(SUBJECT, text, mend)
}

#[cfg(test)]
mod tests {
    use uuid::Uuid;

    use super::super::finding::Level;
    use super::*;

    fn node(address: &str, table: &str, seen_at_ms: i64) -> Node {
        Node {
            id: Uuid::from_u128(address.bytes().map(u128::from).sum()),
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

    fn told(first: &[Node], last: &[Node]) -> Vec<String> {
        let found = judge(first, last, Timestamp::from_millis(100_000));
        found.into_iter().map(|finding| finding.text).collect()
    }

    #[test]
    fn nodes_that_were_lost_or_that_route_differently_are_warned_of() {
        let once = |nodes: &[Node]| told(nodes, nodes);
        assert_eq!(once(&[node("a", "1", 99_000), node("b", "1", 98_000)]), ["2 nodes are alive: a, b"]);
        assert_eq!(once(&[node("a", "1", 99_000)]), ["1 node is alive: a"]);
        assert_eq!(once(&[]), Vec::<String>::new(), "no service runs on this store");
        let different = once(&[node("a", "1", 99_000), node("b", "2", 99_000)]);
        assert_eq!(different, ["a, b route by different tables or accounts"]);
        let lost = once(&[node("a", "1", 99_000), node("b", "2", 39_999)]);
        assert!(lost.len() == 1 && lost[0].starts_with("the node at b was lost"), "{lost:?}");
    }

    #[test]
    fn a_node_that_fell_silent_is_warned_of_before_it_counts_as_lost() {
        let alive = node("a", "1", 99_000);
        for (seen_at_ms, silent_s) in [(89_999, 10), (70_000, 30), (40_000, 60)] {
            let nodes = [alive.clone(), node("b", "1", seen_at_ms)];
            let found = judge(&nodes, &nodes, Timestamp::from_millis(100_000));
            let [finding] = &found[..] else { panic!("{found:?}") };
            assert_eq!(finding.level, Level::Warn, "the others go on");
            let start =
                format!("the node at b has been silent for {silent_s} s by its own clock: it is frozen");
            assert!(finding.text.starts_with(&start), "{finding:?}");
            assert!(finding.mend.as_ref().unwrap().contains("QuitaNodeLost"), "{finding:?}");
        }
        let [before, after] = [60_000, 70_000].map(|seen_at_ms| node("b", "1", seen_at_ms));
        let told = told(&[alive.clone(), before], &[alive, after]);
        assert!(told.iter().all(|text| !text.contains("silent")), "its heartbeat has changed: {told:?}");
    }

    #[test]
    fn a_node_whose_clock_is_wrong_is_alive_while_its_heartbeat_changes_and_lost_once_it_does_not() {
        for (earlier_ms, seen_at_ms, side) in
            [(8_090_000, 8_100_000, "8000 s ahead of"), (5_000, 15_000, "85 s behind")]
        {
            let [before, after] = [node("a", "1", earlier_ms), node("a", "1", seen_at_ms)];
            let alive = told(&[before], std::slice::from_ref(&after));
            assert_eq!(
                alive,
                [format!("the clock of the node at a is about {side} the clock of this machine")]
            );
            let lost = told(std::slice::from_ref(&after), std::slice::from_ref(&after));
            assert!(lost.len() == 1 && lost[0].starts_with("the node at a was lost"), "{lost:?}");
        }
    }
}
