use std::path::PathBuf;

use quita_domain::audit::{AuditEntry, AuditErasure, AuditScope};
use quita_embedded::EmbeddedStore;
use quita_machine::SystemClock;
use quita_ports::AuditStore;

use super::*;
use crate::access::tests::strongbox;

/// A node that watches a log to which another process appends.
struct TestNode {
    watch: AuditWatch,
    beside: Audit,
    store: Arc<EmbeddedStore>,
    path: PathBuf,
    _folder: tempfile::TempDir,
}

impl TestNode {
    async fn start() -> Self {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("quita.db");
        let store = Arc::new(EmbeddedStore::open(&path).unwrap());
        let open = async || {
            let clock = Arc::new(SystemClock);
            Audit::open(store.clone(), &strongbox(store.clone()), clock).await.unwrap()
        };
        let beside = open().await;
        let own = open().await;
        let metrics = AuditMetrics::register(&Registry::new()).unwrap();
        let watch = AuditWatch::begin(own, Initiator::service("127.0.0.1:8080"), metrics).await.unwrap();
        Self { watch, beside, store, path, _folder: folder }
    }

    async fn append(&self, subject: &str) -> ChainPlace {
        let draft = AuditDraft::of_operators(AuditAction::KeyRevoked, subject).before("live");
        self.beside.append(&Initiator::command_line(), draft).await.unwrap()
    }

    /// Does what anybody with write access to the store can do.
    fn meddle(&self, sql: &str) {
        let disarmed = "DROP TRIGGER audit_is_not_changed; DROP TRIGGER audit_is_not_shortened;";
        let store = rusqlite::Connection::open(&self.path).unwrap();
        drop(store.execute_batch(disarmed));
        store.execute_batch(sql).unwrap();
    }

    fn keep_head(&self) {
        self.meddle("CREATE TABLE kept AS SELECT * FROM audit_head");
    }

    /// Removes the entries that were appended since the head was kept.
    fn cut(&self) {
        let tables = ["audit", "audit_initiators", "audit_persons", "audit_contents"];
        let cut =
            tables.map(|table| format!("DELETE FROM {table} WHERE sequence > (SELECT sequence FROM kept);"));
        self.meddle(&(cut.concat() + "DELETE FROM audit_head; INSERT INTO audit_head SELECT * FROM kept;"));
    }

    async fn log(&self) -> Vec<AuditEntry> {
        let log = self.store.audit(&AuditScope::Everything, None, 1_000).await.unwrap();
        log.iter().rev().map(|chained| chained.entry()).collect()
    }

    fn shown(&self) -> (i64, u64) {
        (self.watch.metrics.end.get(), self.watch.metrics.faults.get())
    }
}

#[tokio::test]
async fn what_others_append_is_seen_and_nothing_is_wrong_with_it() {
    let mut node = TestNode::start().await;
    assert_eq!(node.shown(), (0, 0));
    node.watch.look().await.unwrap();
    let mut last = node.append("k0").await;
    for number in 1..250 {
        last = node.append(&format!("k{number}")).await;
    }
    node.watch.look().await.unwrap();
    assert_eq!((node.shown(), node.watch.check.last()), ((250, 0), &last));
    let digits = format!("{:012x}", node.watch.metrics.hash.get());
    assert!(last.hash.starts_with(&digits), "{last} {digits}");
    let eraser = node.beside.eraser(Initiator::command_line());
    let what = AuditErasure::Person(Initiator::COMMAND_LINE.into());
    // These include those of its own accounting entries that exist by then.
    assert!(eraser.erase(&what).await.unwrap() >= 250);
    node.watch.look().await.unwrap();
    assert_eq!(node.shown().1, 0);
    assert_eq!(node.log().await.last().unwrap().action, AuditAction::LogErased);
}

#[tokio::test]
async fn a_log_that_was_cut_at_its_end_is_told_whether_or_not_it_goes_on() {
    for goes_on in 0..4_u64 {
        let mut node = TestNode::start().await;
        node.append("k1").await;
        node.keep_head();
        node.append("k2").await;
        let seen = node.append("k3").await;
        node.watch.look().await.unwrap();
        node.cut();
        for number in 0..goes_on {
            node.append(&format!("later {number}")).await;
        }
        node.watch.look().await.unwrap();
        assert_eq!(node.shown().1, 1, "{goes_on}");
        let log = node.log().await;
        let told = log.last().unwrap();
        assert_eq!((told.action, told.subject.as_str()), (AuditAction::LogCutFound, &*seen.to_string()));
        assert_eq!((told.who.as_str(), told.from.as_str()), ("quita", "127.0.0.1:8080"));
        // The entries after the cut were seen, and the node reports it once.
        assert_eq!(node.shown().0, i64::try_from(goes_on).unwrap() + 2);
        node.watch.look().await.unwrap();
        assert_eq!((node.shown().1, node.log().await.len()), (1, log.len()));
    }
}

#[tokio::test]
async fn a_second_node_that_saw_the_same_end_tells_it_too_and_then_there_is_peace() {
    let mut node = TestNode::start().await;
    node.append("k1").await;
    node.keep_head();
    node.append("k2").await;
    node.watch.look().await.unwrap();
    let metrics = AuditMetrics::register(&Registry::new()).unwrap();
    let other = Initiator::service("127.0.0.1:8081");
    let mut other = AuditWatch::begin(node.beside.clone(), other, metrics).await.unwrap();
    node.cut();
    for _ in 0..3 {
        node.watch.look().await.unwrap();
        other.look().await.unwrap();
    }
    let told = node.log().await.iter().filter(|entry| entry.action == AuditAction::LogCutFound).count();
    // The other node also reports the entry that the first one wrote.
    assert_eq!((told, node.shown().1, other.metrics.faults.get()), (2, 1, 2));
}

#[tokio::test]
async fn a_head_that_was_put_back_or_removed_alone_is_told_once() {
    for deed in ["INSERT INTO audit_head SELECT * FROM kept;", ""] {
        let mut node = TestNode::start().await;
        node.append("k1").await;
        node.keep_head();
        // One entry behind it may be: see `quita_domain::audit::chain::ChainCheck::at_end`.
        node.append("k2").await;
        node.append("k3").await;
        node.watch.look().await.unwrap();
        node.meddle(&format!("DELETE FROM audit_head; {deed}"));
        node.watch.look().await.unwrap();
        node.watch.look().await.unwrap();
        assert_eq!(node.shown(), (3, 1), "{deed}");
    }
}

#[tokio::test]
async fn a_log_of_which_nothing_is_left_is_told() {
    let mut node = TestNode::start().await;
    node.append("k1").await;
    node.watch.look().await.unwrap();
    node.meddle("DELETE FROM audit; DELETE FROM audit_initiators; DELETE FROM audit_contents; DELETE FROM audit_head;");
    node.watch.look().await.unwrap();
    assert!(node.shown().1 >= 1);
    assert_eq!(node.log().await.last().unwrap().action, AuditAction::LogCutFound);
}
