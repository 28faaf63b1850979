//! Metrics of the service during a run: processor time, commits, batches, refusals.

use std::collections::{BTreeMap, HashMap};
use std::time::Duration;

use quita_domain::time::Timestamp;
use serde::Serialize;
use url::Url;

use super::super::http_client::client;
use super::reply::NoAnswer;

/// Default port of the operators' listener.
const OPS_PORT: u16 = 9090;
/// Time limit for the service's answer: it may be busy, and the run must not wait for it.
const WITHIN: Duration = Duration::from_secs(5);
/// Maximum size of the metrics in bytes: ours are about 100 KiB.
const MAX_BYTES: usize = 8 * 1024 * 1024;
/// Decimal places that are kept: values are stored in millionths, so seconds become microseconds.
const DECIMALS: usize = 6;

const CREATED: &str = "quita_payments_created_total";
const DELIVERIES: &str = "quita_webhook_deliveries_total";
const COMMITS: &str = "quita_journal_commit_seconds";
const BATCHES: &str = "quita_journal_batch_size";
const PROCESSOR: &str = "process_cpu_seconds_total";
const ACTORS_REFUSED: &str = "quita_actor_refused_total";
const CONFLICTS: &str = "quita_store_conflicts_total";
const STARTED: &str = "process_start_time_seconds";
const STORE_UP: &str = "quita_store_up";
const STORE_FAILURES: &str = "quita_store_failures_total";
const CONNECTIONS_REFUSED: &str = "quita_connections_refused_total";
const NODES: &str = "quita_nodes_seen";
const BUILD: &str = "quita_build_info";
const STORE: &str = "quita_store_info";

/// Snapshot of the metrics: every value in millionths, by name and labels as written.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct ServiceMetrics(HashMap<String, u64>);

/// Activity of the service between two snapshots.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct ServiceLoad {
    /// Address from which the metrics were read.
    pub(super) metrics_url: String,
    /// Processes that work on its store, this one included, if it reports them. Its figures are of this one alone.
    pub(super) nodes: Option<u64>,
    /// Payments that this service process created.
    pub(super) created: u64,
    /// Attempts to deliver events to any receiver.
    pub(super) deliveries: u64,
    /// Processor time of the service.
    pub(super) cpu_us: Option<u64>,
    /// Batches that were committed to the store.
    pub(super) commits: u64,
    /// Upper edge of the bucket with the median of a commit, in microseconds. `None` if it is beyond every edge.
    pub(super) commit_p50_below_us: Option<u64>,
    /// Upper edge of the bucket with the 99th percentile of a commit, in microseconds. `None` if it is beyond every
    /// edge.
    pub(super) commit_p99_below_us: Option<u64>,
    /// Writes per batch, in tenths.
    pub(super) batch_mean_tenths: u64,
    /// Messages refused because a mailbox was full, by kind of actor.
    pub(super) refused_by_actor: BTreeMap<String, u64>,
    /// Writes that failed because another writer was first.
    pub(super) store_conflicts: u64,
    /// Failures of the store.
    pub(super) store_failures: u64,
    /// Failures by kind: reads, writes, probes, and calls refused meanwhile.
    pub(super) store_failures_by_kind: BTreeMap<String, u64>,
    /// True if the store was away at the end.
    pub(super) is_store_away: bool,
    /// Connections closed because there were too many.
    pub(super) connections_refused: u64,
}

/// Version and store of the service, if the service reports them.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize)]
pub(super) struct ServiceBuild {
    /// Version of the service.
    pub(super) version: Option<String>,
    /// Commit of its build.
    pub(super) commit: Option<String>,
    /// Kind of the service's store.
    pub(super) store: Option<String>,
}

/// Returns the default address of a service's metrics: its host, at the operators' port.
pub(super) fn default_url(service: &Url) -> Option<Url> {
    let mut url = service.clone();
    url.set_path("/metrics");
    url.set_query(None);
    url.set_scheme("http").ok()?;
    url.set_port(Some(OPS_PORT)).ok()?;
    Some(url)
}

/// Returns the address of the metrics at this one: a bare host means the default path on it.
pub(super) fn with_path(mut url: Url) -> Url {
    if url.path() == "/" {
        url.set_path("/metrics");
    }
    url
}

/// Reads the metrics. A run works without them, so an error is only kept for the report.
pub(super) async fn read(url: &Url) -> Result<ServiceMetrics, String> {
    let request = client().get(url.as_str()).timeout(WITHIN);
    let mut answer = request.send().await.map_err(|error| NoAnswer::from(error).as_str().to_owned())?;
    let status = answer.status();
    if !status.is_success() {
        return Err(format!("answered {}{}", status.as_u16(), advice(url)));
    }
    let body = answer.body().limit(MAX_BYTES).await;
    let body = body.map_err(|error| NoAnswer::from(error).as_str().to_owned())?;
    let metrics = std::str::from_utf8(&body).ok().map(ServiceMetrics::parse);
    // Another program may answer there; Prometheus itself uses the same port.
    metrics.filter(|metrics| metrics.has(CREATED)).ok_or_else(|| {
        let advice = advice(url);
        if advice.is_empty() { "another program answers there".into() } else { format!("no metrics{advice}") }
    })
}

/// Returns advice about an address that is unlikely to be that of the metrics; empty for any other.
fn advice(url: &Url) -> &'static str {
    if url.path().trim_end_matches('/').ends_with("/metrics") {
        ""
    } else {
        "; the address must be that of /metrics"
    }
}

impl ServiceMetrics {
    /// Parses the text format of Prometheus.
    pub(super) fn parse(text: &str) -> Self {
        let lines = text.lines().filter(|line| !line.starts_with('#'));
        let values = lines.filter_map(|line| {
            let (name, value) = line.rsplit_once(' ')?;
            Some((name.to_owned(), millionths(value)?))
        });
        Self(values.collect())
    }

    /// Summarises the activity since an earlier snapshot of the same process.
    pub(super) fn since(&self, earlier: &Self, metrics_url: &Url) -> ServiceLoad {
        let whole = |name: &str| self.grown(earlier, name) / 1_000_000;
        let commits = whole(&format!("{COMMITS}_count"));
        let batches = whole(&format!("{BATCHES}_count"));
        let writes = self.grown(earlier, &format!("{BATCHES}_sum"));
        ServiceLoad {
            metrics_url: metrics_url.to_string(),
            nodes: self.has(NODES).then(|| self.value(NODES) / 1_000_000),
            created: whole(CREATED),
            deliveries: whole(DELIVERIES),
            cpu_us: self.has(PROCESSOR).then(|| self.grown(earlier, PROCESSOR)),
            commits,
            commit_p50_below_us: self.quantile_edge(earlier, COMMITS, 50),
            commit_p99_below_us: self.quantile_edge(earlier, COMMITS, 99),
            batch_mean_tenths: (writes / 100_000).checked_div(batches).unwrap_or(0),
            refused_by_actor: self.grown_by_label(earlier, ACTORS_REFUSED, "actor"),
            store_conflicts: whole(CONFLICTS),
            store_failures: whole(STORE_FAILURES),
            store_failures_by_kind: self.grown_by_label(earlier, STORE_FAILURES, "kind"),
            is_store_away: self.has(STORE_UP) && self.value(STORE_UP) == 0,
            connections_refused: whole(CONNECTIONS_REFUSED),
        }
    }

    /// Returns true if both snapshots are of the same process, as far as can be told.
    pub(super) fn is_of_process_of(&self, earlier: &Self) -> bool {
        self.value(STARTED) == earlier.value(STARTED)
    }

    /// Returns true if the process started after this time of the machine's clock.
    pub(super) fn began_after(&self, time: Timestamp) -> bool {
        let time_us = u64::try_from(time.millis()).unwrap_or(0).saturating_mul(1_000);
        self.value(STARTED) > time_us
    }

    /// Returns the version and the store that the service reports.
    pub(super) fn build(&self) -> ServiceBuild {
        let label = |metric, name| {
            let series = self.0.keys().find(|series| name_of(series) == metric)?;
            label(series, name)
        };
        ServiceBuild {
            version: label(BUILD, "version"),
            commit: label(BUILD, "commit"),
            store: label(STORE, "kind"),
        }
    }

    fn has(&self, name: &str) -> bool {
        self.series(name).next().is_some()
    }

    fn series<'a>(&'a self, name: &'a str) -> impl Iterator<Item = (&'a String, u64)> {
        let of_name = self.0.iter().filter(move |(series, _)| name_of(series) == name);
        of_name.map(|(series, value)| (series, *value))
    }

    /// Returns the increase of all series of a metric.
    fn grown(&self, earlier: &Self, name: &str) -> u64 {
        self.series(name).map(|(series, value)| value.saturating_sub(earlier.value(series))).sum()
    }

    fn value(&self, series: &str) -> u64 {
        self.0.get(series).copied().unwrap_or(0)
    }

    fn grown_by_label(&self, earlier: &Self, name: &str, by: &str) -> BTreeMap<String, u64> {
        let mut grown = BTreeMap::new();
        for (series, value) in self.series(name) {
            let growth = value.saturating_sub(earlier.value(series)) / 1_000_000;
            if let Some(label) = label(series, by).filter(|_| growth > 0) {
                *grown.entry(label).or_default() += growth;
            }
        }
        grown
    }

    /// Returns the upper edge of the bucket with this percentile. `None` if there is none, or nothing was counted.
    fn quantile_edge(&self, earlier: &Self, histogram: &str, percent: u64) -> Option<u64> {
        let name = format!("{histogram}_bucket");
        let mut buckets: Vec<_> = self
            .series(&name)
            .filter_map(|(series, value)| {
                let edge = millionths(&label(series, "le")?);
                Some((edge.unwrap_or(u64::MAX), value.saturating_sub(earlier.value(series))))
            })
            .collect();
        buckets.sort_unstable();
        let (_, all) = buckets.last().copied().filter(|(_, all)| *all > 0)?;
        let enough = |count: u64| u128::from(count) * 100 >= u128::from(all) * u128::from(percent);
        let (edge, _) = buckets.into_iter().find(|(_, count)| enough(*count))?;
        Some(edge).filter(|edge| *edge < u64::MAX)
    }
}

fn name_of(series: &str) -> &str {
    series.split_once('{').map_or(series, |(name, _)| name)
}

/// Returns the value of a label. Our labels need no escaping.
fn label(series: &str, name: &str) -> Option<String> {
    let (_, labels) = series.split_once('{')?;
    labels.strip_suffix('}')?.split("\",").find_map(|label| {
        let (key, value) = label.split_once("=\"")?;
        (key == name).then(|| value.trim_end_matches('"').to_owned())
    })
}

/// Parses a decimal number as millionths. `None` for anything else, including `+Inf`.
fn millionths(text: &str) -> Option<u64> {
    let (whole, decimals) = text.split_once('.').unwrap_or((text, ""));
    let is_digits = |text: &str| text.bytes().all(|byte| byte.is_ascii_digit());
    if whole.is_empty() || !is_digits(whole) || !is_digits(decimals) {
        return None;
    }
    let decimals: String = decimals.chars().chain("000000".chars()).take(DECIMALS).collect();
    whole.parse::<u64>().ok()?.checked_mul(1_000_000)?.checked_add(decimals.parse().ok()?)
}

#[cfg(test)]
mod tests {
    use actix_web::HttpResponse;
    use actix_web::http::StatusCode;

    use super::super::super::test_server::test_server;
    use super::*;

    const BEFORE: &str = "# HELP quita_payments_created_total Payments that were created\n\
        quita_payments_created_total{method=\"PIX\"} 5\n\
        quita_journal_commit_seconds_bucket{le=\"0.005\"} 10\n\
        quita_journal_commit_seconds_bucket{le=\"0.01\"} 10\n\
        quita_journal_commit_seconds_bucket{le=\"+Inf\"} 10\n\
        quita_journal_commit_seconds_count 10\n";

    const AFTER: &str = "quita_payments_created_total{method=\"PIX\"} 65\n\
        quita_payments_created_total{method=\"BOLETO\"} 40\n\
        quita_build_info{commit=\"abc1234\",version=\"0.1.0\"} 1\n\
        quita_webhook_deliveries_total{outcome=\"failed\"} 30\n\
        quita_webhook_deliveries_total{outcome=\"delivered\"} 12\n\
        quita_store_info{kind=\"embedded\"} 1\n\
        process_cpu_seconds_total 12.345678\n\
        quita_store_up 0\nquita_store_failures_total{kind=\"write\"} 4\n\
        quita_store_failures_total{kind=\"probe\"} 2\nquita_store_failures_total{kind=\"read\"} 0\n\
        quita_actor_refused_total{actor=\"transaction\"} 7\nquita_actor_refused_total{actor=\"journal\"} 0\n\
        quita_journal_commit_seconds_bucket{le=\"0.005\"} 100\n\
        quita_journal_commit_seconds_bucket{le=\"0.01\"} 109\n\
        quita_journal_commit_seconds_bucket{le=\"+Inf\"} 110\n\
        quita_journal_commit_seconds_count 110\n\
        quita_journal_batch_size_sum 1234\nquita_journal_batch_size_count 100\n";

    fn load() -> ServiceLoad {
        let url = Url::parse("http://127.0.0.1:9090/metrics").unwrap();
        ServiceMetrics::parse(AFTER).since(&ServiceMetrics::parse(BEFORE), &url)
    }

    #[test]
    fn the_load_is_what_grew_between_two_looks() {
        let load = load();
        assert_eq!((load.created, load.commits, load.batch_mean_tenths), (100, 100, 123));
        assert_eq!((load.cpu_us, load.deliveries), (Some(12_345_678), 42));
        assert_eq!(load.refused_by_actor, BTreeMap::from([("transaction".into(), 7)]));
    }

    #[test]
    fn a_store_that_failed_or_is_away_is_seen() {
        let load = load();
        assert_eq!((load.store_failures, load.is_store_away), (6, true));
        let expected = [("probe", 2), ("write", 4)].map(|(kind, count)| (kind.to_owned(), count));
        assert_eq!(load.store_failures_by_kind, BTreeMap::from(expected));
        let url = Url::parse("http://127.0.0.1:9090/metrics").unwrap();
        let unknown = ServiceMetrics::parse(BEFORE).since(&ServiceMetrics::parse(BEFORE), &url);
        assert!(!unknown.is_store_away, "nothing says so");
    }

    #[test]
    fn a_service_that_was_started_again_is_another_process() {
        let [first, second] = ["1764300000.12", "1764300007.5"]
            .map(|started| ServiceMetrics::parse(&format!("process_start_time_seconds {started}\n")));
        assert!(first.is_of_process_of(&first) && !second.is_of_process_of(&first));
    }

    #[actix_web::test]
    async fn metrics_that_cannot_be_read_have_the_reason() {
        for (path, status, body, expected) in [
            ("/metrics", 200, "quita_payments_created_total 5\n", None),
            ("/any", 200, "quita_payments_created_total 5\n", None),
            ("/metrics", 200, "up 1\n", Some("another program answers there")),
            ("/metrics", 404, "", Some("answered 404")),
            ("/health/ready", 200, "{}", Some("no metrics; the address must be that of /metrics")),
            ("/health/ready", 503, "{}", Some("answered 503; the address must be that of /metrics")),
        ] {
            let server =
                test_server(move |_| HttpResponse::build(StatusCode::from_u16(status).unwrap()).body(body));
            let found = read(&server.url.join(path).unwrap()).await;
            server.stop().await;
            assert_eq!(found.err().as_deref(), expected, "{path} {status} {body}");
        }
        let nobody = Url::parse("http://127.0.0.1:1/metrics").unwrap();
        assert_eq!(read(&nobody).await.err().as_deref(), Some("connection refused"));
    }

    #[test]
    fn a_percentile_is_below_the_edge_of_its_bucket() {
        let load = load();
        assert_eq!((load.commit_p50_below_us, load.commit_p99_below_us), (Some(5_000), Some(10_000)));
        let before = ServiceMetrics::parse(BEFORE);
        let after = ServiceMetrics::parse(AFTER);
        assert_eq!(after.quantile_edge(&before, COMMITS, 100), None, "it is beyond every edge");
        assert_eq!(after.quantile_edge(&after, COMMITS, 50), None, "nothing was counted");
    }

    #[test]
    fn the_service_says_what_it_is() {
        let build = ServiceMetrics::parse(AFTER).build();
        let [version, commit, store] = [build.version, build.commit, build.store].map(Option::unwrap);
        assert_eq!([version.as_str(), &commit, &store], ["0.1.0", "abc1234", "embedded"]);
        assert_eq!(ServiceMetrics::parse(BEFORE).build(), ServiceBuild::default());
    }

    #[test]
    fn numbers_are_read_to_the_millionth() {
        for (text, expected) in [
            ("0", Some(0)),
            ("12", Some(12_000_000)),
            ("0.00001", Some(10)),
            ("1.2345678", Some(1_234_567)),
            ("+Inf", None),
            ("NaN", None),
            ("-1", None),
            ("1e5", None),
            (".5", None),
            ("", None),
        ] {
            assert_eq!(millionths(text), expected, "{text}");
        }
    }

    #[test]
    fn a_host_alone_means_the_usual_path() {
        for (given, expected) in [
            ("http://127.0.0.1:9090", "http://127.0.0.1:9090/metrics"),
            ("http://127.0.0.1:9090/", "http://127.0.0.1:9090/metrics"),
            ("http://127.0.0.1:9090/quita/metrics", "http://127.0.0.1:9090/quita/metrics"),
        ] {
            assert_eq!(with_path(Url::parse(given).unwrap()).as_str(), expected);
        }
    }

    #[test]
    fn metrics_are_looked_for_beside_the_service() {
        let service = Url::parse("https://pay.example.com:8443/base/").unwrap();
        assert!(
            default_url(&service).is_some_and(|url| url.as_str() == "http://pay.example.com:9090/metrics")
        );
        let service = Url::parse("http://127.0.0.1:8080").unwrap();
        assert_eq!(default_url(&service).unwrap().as_str(), "http://127.0.0.1:9090/metrics");
    }
}
