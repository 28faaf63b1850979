//! Current problems as this node sees them, for the home page and the counts in the navigation.

use std::collections::{BTreeMap, BTreeSet};
use std::time::Duration;

use quita_actors::{
    FailingReads, MethodOutage, NodeState, NodeView, RouteHealth, RouteKey, RouteState, StoreAway,
};
use quita_domain::identity::Mode;
use quita_domain::method::Method;
use quita_domain::time::Timestamp;
use tokio::sync::Mutex;
use tokio::time::{Instant, timeout};

use super::OperatorConsole;
use crate::acquirers::ENDS_SOON_MS;
use crate::jobs::{JobName, JobState, Rhythm};
use crate::nightly::BETWEEN_FAILURES;

/// Maximum number of exceptions counted; the exceptions page states if there are more.
const COUNTED: usize = 1_000;
/// Time for which a count is reused on all pages.
const FRESH_FOR: Duration = Duration::from_secs(5);
/// Time limit for the store to list them.
const TIME_OUT: Duration = Duration::from_secs(1);
/// Time for which a count holds. One that is older, because listing them fails or is slow, is no longer current.
const CURRENT_FOR: Duration = Duration::from_secs(15);

/// Latest counts of open exceptions by kind.
#[derive(Default)]
pub(super) struct OpenExceptions(Mutex<LatestCount>);

#[derive(Default)]
struct LatestCount {
    /// Time of the last try, whether it succeeded or not: no page waits for a store that has just been slow.
    tried_at: Option<Instant>,
    counted: Option<(Instant, BTreeMap<String, usize>)>,
}

/// Numbers of open exceptions.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) struct ExceptionCounts {
    /// Number of each kind.
    pub(super) kinds: BTreeMap<String, usize>,
    /// False if they could not be counted lately: others may have been reported since.
    pub(super) are_current: bool,
}

impl OpenExceptions {
    /// Returns the number of exceptions of each kind. While the store does not answer, returns the last counts, or
    /// `None` if there are none.
    pub(super) async fn by_kind(&self, console: &OperatorConsole) -> Option<ExceptionCounts> {
        let mut latest = self.0.lock().await;
        let is_fresh = latest.tried_at.is_some_and(|at| at.elapsed() < FRESH_FOR);
        if !is_fresh && console.payments.store_away().is_none() {
            let listed = timeout(TIME_OUT, console.operators.exceptions(COUNTED)).await;
            let now = Instant::now();
            latest.tried_at = Some(now);
            if let Ok(Ok(open)) = listed {
                let mut kinds = BTreeMap::new();
                for exception in open {
                    let count: &mut usize = kinds.entry(exception.kind).or_default();
                    *count = count.saturating_add(1);
                }
                latest.counted = Some((now, kinds));
            }
        }
        let counts = |(at, kinds): &(Instant, BTreeMap<String, usize>)| ExceptionCounts {
            kinds: kinds.clone(),
            are_current: at.elapsed() < CURRENT_FOR,
        };
        latest.counted.as_ref().map(counts)
    }
}

/// Current problems, as the home page shows them.
pub(super) struct Troubles {
    pub(super) away: Option<StoreAway>,
    /// Reads of the store that are failing while it answers otherwise.
    pub(super) failing_reads: Option<FailingReads>,
    pub(super) nodes: Vec<NodeView>,
    /// True if live nodes have been routing payments with different tables or accounts for minutes.
    pub(super) routes_differ: bool,
    pub(super) routes: Vec<RouteHealth>,
    /// Routes that open payments need but that are not configured.
    pub(super) missing_routes: Vec<RouteKey>,
    /// Methods that no acquirer can take, because every open one is failing.
    pub(super) method_outages: Vec<MethodOutage>,
    /// Open exceptions by kind; `None` if they could not be counted yet.
    pub(super) exceptions: Option<ExceptionCounts>,
    /// False if the three backlogs that follow could not be counted lately.
    pub(super) knows_backlogs: bool,
    /// Number of payments that are due but still waiting.
    pub(super) overdue: i64,
    /// Number of payments with an unconfirmed event.
    pub(super) webhooks: i64,
    /// Time since which delivery attempts have been made without any confirmation, if that is a problem.
    pub(super) webhooks_failing_since: Option<Timestamp>,
    /// Number of acquirers' notices waiting to be processed.
    pub(super) notices: i64,
    pub(super) ending_keys: i64,
    pub(super) ending_certificates: usize,
    /// Background jobs of this node that are running too long, or whose last run failed. Failures of the nightly
    /// comparison are not included.
    pub(super) failed_jobs: Vec<(JobName, JobTrouble)>,
    /// Nightly comparison of acquirers' lists; `None` if nothing is compared.
    pub(super) comparison: Option<NightlyComparison>,
}

/// Trouble of a background job.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum JobTrouble {
    /// The last run failed, for this reason.
    Failed(String),
    /// The current run has taken this long, which is much longer than expected.
    Overrun(Duration),
}

impl JobTrouble {
    fn of(rhythm: Rhythm, state: JobState) -> Option<Self> {
        let has_own_tile = rhythm.name == JobName::NightlyComparison;
        let failed = || state.failure.clone().filter(|_| !has_own_tile).map(Self::Failed);
        state.overrun(rhythm).map(Self::Overrun).or_else(failed)
    }
}

/// State of the nightly comparison, across all nodes.
pub(super) struct NightlyComparison {
    /// False until this node has checked for the first time.
    pub(super) is_known: bool,
    /// Failures that have not been made up for, on this node and on other live nodes.
    pub(super) failures: Vec<String>,
}

/// Counts of problems in the navigation.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(super) struct Counts {
    pub(super) exceptions: usize,
    pub(super) acquirers: usize,
    /// Number of lost nodes, plus one while the store is unavailable.
    pub(super) store_and_nodes: usize,
}

impl OperatorConsole {
    /// Collects the current problems.
    pub(super) async fn troubles(&self) -> Troubles {
        let sample = self.operators.sample();
        let webhooks_failing_since = sample.webhooks_failing_since();
        let store = sample.store.clone();
        let ends_soon_at = self.clock.now().millis().saturating_add(ENDS_SOON_MS);
        let states = self.links.iter().filter_map(|link| link.state());
        let certificates = states.filter_map(|state| state.certificate_until);
        let nodes = self.operators.nodes();
        Troubles {
            away: self.payments.store_away(),
            failing_reads: self.payments.failing_reads(),
            routes_differ: self.operators.routes_differ(),
            routes: self.payments.acquirers(),
            missing_routes: self.payments.missing_routes(),
            method_outages: self.payments.method_outages(),
            exceptions: self.open_exceptions.by_kind(self).await,
            knows_backlogs: sample.knows_backlogs(),
            overdue: store.timer_backlog,
            webhooks: store.webhook_backlog,
            webhooks_failing_since,
            notices: store.inbox_backlog,
            ending_keys: self.ending_keys.as_ref().map_or(0, |ending| ending.get()),
            failed_jobs: self.failed_jobs(),
            comparison: self.comparison(&nodes),
            nodes,
            ending_certificates: certificates.filter(|until| until.millis() <= ends_soon_at).count(),
        }
    }
}

impl OperatorConsole {
    fn failed_jobs(&self) -> Vec<(JobName, JobTrouble)> {
        let jobs = self.jobs.states().into_iter();
        jobs.filter_map(|(rhythm, state)| Some((rhythm.name, JobTrouble::of(rhythm, state)?))).collect()
    }

    /// Returns the state of the nightly comparison, or `None` if nothing is compared.
    fn comparison<'n>(&self, nodes: &'n [NodeView]) -> Option<NightlyComparison> {
        let mut jobs = self.jobs.states().into_iter();
        let (_, own) = jobs.find(|(rhythm, _)| rhythm.name == JobName::NightlyComparison)?;
        let of_other = |view: &'n NodeView| {
            let failures = view.node.comparison_failure.as_deref()?;
            (!view.is_own && !view.is_lost()).then_some((view.node.address.as_str(), failures))
        };
        let others = nodes.iter().filter_map(of_other);
        Some(NightlyComparison {
            is_known: own.runs > 0,
            failures: named_once(own.failure.as_deref(), others),
        })
    }
}

/// Lists each failure once: those of this node, then those that only others have, with their addresses.
fn named_once<'f>(own: Option<&'f str>, others: impl Iterator<Item = (&'f str, &'f str)>) -> Vec<String> {
    let own = own.map(|failures| (None, failures));
    let mut named: Vec<(Vec<&str>, &str)> = Vec::new();
    for (address, failures) in
        own.into_iter().chain(others.map(|(address, failures)| (Some(address), failures)))
    {
        for failure in failures.split(BETWEEN_FAILURES) {
            // A heartbeat contains only the beginning of a long text.
            let is_same = |known: &str| known.starts_with(failure) || failure.starts_with(known);
            match named.iter_mut().find(|(_, known)| is_same(known)) {
                None => named.push((address.into_iter().collect(), failure)),
                // This node's own failure needs no address.
                Some((addresses, _)) if addresses.is_empty() => {}
                Some((addresses, _)) => {
                    addresses.extend(address.filter(|address| !addresses.contains(address)));
                }
            }
        }
    }
    let in_words = |(addresses, failure): (Vec<&str>, &str)| {
        if addresses.is_empty() { failure.to_owned() } else { format!("{}: {failure}", addresses.join(", ")) }
    };
    named.into_iter().map(in_words).collect()
}

impl Troubles {
    /// Returns the number of lost nodes.
    pub(super) fn lost_nodes(&self) -> usize {
        self.nodes_in(NodeState::Lost)
    }

    /// Returns the number of nodes in this state.
    pub(super) fn nodes_in(&self, state: NodeState) -> usize {
        self.nodes.iter().filter(|view| view.state == state).count()
    }

    /// Returns true if the clock of another live node differs from this node's.
    pub(super) fn clocks_differ(&self) -> bool {
        self.nodes.iter().any(|view| view.shown_clock_ahead_s().is_some())
    }

    /// Returns the number of nodes whose heartbeat is overdue.
    pub(super) fn silent_nodes(&self) -> usize {
        self.nodes.iter().filter(|view| view.is_silent()).count()
    }

    /// Returns the failing routes.
    pub(super) fn failing(&self) -> impl Iterator<Item = &RouteHealth> {
        self.routes.iter().filter(|route| route.state == RouteState::Failing)
    }

    /// Returns the methods of a mode that no acquirer accepts, although acquirers are configured for them.
    pub(super) fn closed(&self) -> BTreeSet<(Mode, Method)> {
        let kinds: BTreeSet<_> = self.routes.iter().map(|route| (route.mode, route.method)).collect();
        let takes = |kind: &(Mode, Method)| {
            let mut of_kind = self.routes.iter().filter(|route| (route.mode, route.method) == *kind);
            of_kind.any(|route| route.state.takes_new_payments())
        };
        kinds.into_iter().filter(|kind| !takes(kind)).collect()
    }

    /// Returns the routes that an operator closed.
    pub(super) fn paused(&self) -> impl Iterator<Item = &RouteHealth> {
        self.routes.iter().filter(|route| !route.state.takes_new_payments())
    }

    /// Returns the number of open routes in an unknown state: no call has been answered since the start.
    pub(super) fn not_called(&self) -> usize {
        self.routes.iter().filter(|route| route.state == RouteState::NotCalled).count()
    }

    /// Returns the number of open exceptions of every kind.
    pub(super) fn open_exceptions(&self) -> Option<usize> {
        self.exceptions.as_ref().map(|counts| counts.kinds.values().sum())
    }

    /// Returns the counts for the navigation.
    pub(super) fn counts(&self) -> Counts {
        Counts {
            exceptions: self.open_exceptions().unwrap_or_default(),
            acquirers: self.failing().count().saturating_add(self.missing_routes.len()),
            store_and_nodes: self
                .lost_nodes()
                .saturating_add(usize::from(self.clocks_differ()))
                .saturating_add(usize::from(self.routes_differ))
                .saturating_add(usize::from(self.away.is_some()))
                .saturating_add(usize::from(self.failing_reads.is_some())),
        }
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use quita_machine::SystemClock;
    use tokio::time::sleep;

    use super::*;
    use crate::jobs::{JobOutcome, Jobs};

    #[actix_web::test]
    async fn a_job_that_fails_or_hangs_is_a_trouble_and_a_comparison_that_failed_has_its_own_tile() {
        tokio::time::pause();
        let mut jobs = Jobs::new(Arc::new(SystemClock));
        let every = Duration::from_secs(3_600);
        let first_after = Duration::ZERO;
        let rhythm = |name| Rhythm { name, every, first_after };
        let failed = |why: &str| JobOutcome::Err(why.into());
        jobs.start(rhythm(JobName::Messages), async || std::future::pending::<JobOutcome>().await);
        jobs.start(rhythm(JobName::Sealing), async move || failed("away"));
        jobs.start(rhythm(JobName::NightlyComparison), async move || failed("bank: 503"));
        let troubles = || {
            let states = jobs.board().states().into_iter();
            states.filter_map(|(rhythm, state)| JobTrouble::of(rhythm, state)).collect::<Vec<_>>()
        };
        sleep(Duration::from_secs(1)).await;
        assert_eq!(troubles(), [JobTrouble::Failed("away".into())]);
        sleep(JobName::Messages.may_take()).await;
        let [JobTrouble::Overrun(running_for), JobTrouble::Failed(_)] = &troubles()[..] else {
            panic!("{:?}", troubles());
        };
        assert!(*running_for >= JobName::Messages.may_take(), "{running_for:?}");
        jobs.stop();
    }

    #[test]
    fn a_failure_is_named_once_however_many_nodes_and_tasks_met_it() {
        let bank = "bank, 2026-11-20: 503";
        let named = |own, others: &[(&'static str, &'static str)]| named_once(own, others.iter().copied());
        assert_eq!(named(Some(bank), &[("a:1", bank), ("b:1", bank)]), [bank]);
        assert_eq!(named(Some("bank, 2026-11-20: 503; bank, 2026-11-20: 503"), &[]), [bank]);
        assert_eq!(named(None, &[("a:1", bank), ("b:1", bank)]), ["a:1, b:1: bank, 2026-11-20: 503"]);
        let two = "bank, 2026-11-20: 503; store, 2026-11-20: 500";
        assert_eq!(named(Some(bank), &[("a:1", two)]), [bank, "a:1: store, 2026-11-20: 500"]);
        assert_eq!(named(Some(bank), &[("a:1", "bank, 2026-11-2")]), [bank], "a heartbeat cuts it");
        assert_eq!(named(Some(bank), &[("a:1", "bank, 2026-11-20: 404")]).len(), 2, "another reason");
        assert_eq!(named(None, &[]), Vec::<String>::new());
    }
}
