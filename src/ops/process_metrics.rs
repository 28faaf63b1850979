//! Metrics of this process, with the names that all Prometheus clients use.
#![expect(
    clippy::as_conversions,
    clippy::cast_precision_loss,
    clippy::float_arithmetic,
    reason = "metrics are floating-point numbers, and bytes and descriptors stay far below 2^53"
)]

use procfs::process::{LimitValue, Process};
use procfs::{ProcResult, boot_time_secs, page_size, ticks_per_second};
use prometheus::core::{Collector, Desc};
use prometheus::proto::MetricFamily;
use prometheus::{Counter, Gauge, Registry};

/// Collector that reads the figures at each scrape.
struct ProcessMetrics {
    cpu: Counter,
    open_files: Gauge,
    most_files: Gauge,
    memory: Gauge,
    address_space: Gauge,
    threads: Gauge,
    started: Gauge,
}

/// Registers the figures of this process.
///
/// # Errors
/// Fails if another metric has one of their names.
pub(crate) fn register(registry: &Registry) -> Result<(), prometheus::Error> {
    registry.register(Box::new(ProcessMetrics {
        cpu: Counter::new("process_cpu_seconds_total", "User and system CPU time, in seconds")?,
        open_files: Gauge::new("process_open_fds", "Open file descriptors")?,
        most_files: Gauge::new("process_max_fds", "Maximum number of open file descriptors")?,
        memory: Gauge::new("process_resident_memory_bytes", "Resident memory, in bytes")?,
        address_space: Gauge::new("process_virtual_memory_bytes", "Virtual memory, in bytes")?,
        threads: Gauge::new("process_threads", "Operating system threads")?,
        started: Gauge::new(
            "process_start_time_seconds",
            "Start time of the process, in seconds since the Unix epoch",
        )?,
    }))
}

/// Converts a figure to the type used by metrics: exact up to 2^53.
const fn figure(number: u64) -> f64 {
    number as f64
}

impl ProcessMetrics {
    fn refresh(&self) -> ProcResult<()> {
        let process = Process::myself()?;
        let stat = process.stat()?;
        let seconds = |ticks: u64| figure(ticks) / figure(ticks_per_second().max(1));
        let used = seconds(stat.utime.saturating_add(stat.stime));
        // Two concurrent scrapes may count in another order than they read, but a counter must never decrease.
        self.cpu.inc_by((used - self.cpu.get()).max(0.0));
        self.memory.set(figure(stat.rss.saturating_mul(page_size())));
        self.address_space.set(figure(stat.vsize));
        self.threads.set(figure(u64::try_from(stat.num_threads).unwrap_or_default()));
        self.started.set(figure(boot_time_secs()?) + seconds(stat.starttime));
        self.open_files.set(figure(u64::try_from(process.fd_count()?).unwrap_or(u64::MAX)));
        self.most_files.set(match process.limits()?.max_open_files.soft_limit {
            LimitValue::Value(most) => figure(most),
            LimitValue::Unlimited => f64::INFINITY,
        });
        Ok(())
    }

    fn all(&self) -> [&dyn Collector; 7] {
        [
            &self.cpu,
            &self.open_files,
            &self.most_files,
            &self.memory,
            &self.address_space,
            &self.threads,
            &self.started,
        ]
    }
}

impl Collector for ProcessMetrics {
    fn desc(&self) -> Vec<&Desc> {
        self.all().into_iter().flat_map(Collector::desc).collect()
    }

    fn collect(&self) -> Vec<MetricFamily> {
        if let Err(error) = self.refresh() {
            tracing::debug!(%error, "the metrics of this process could not be read");
        }
        self.all().into_iter().flat_map(Collector::collect).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_figures_are_those_of_this_process() {
        let registry = Registry::new();
        register(&registry).unwrap();
        let families = registry.gather();
        let value = |name: &str| {
            let family = families.iter().find(|family| family.name() == name).unwrap();
            let metric = &family.get_metric()[0];
            metric.get_gauge().get_value() + metric.get_counter().get_value()
        };
        assert!(value("process_resident_memory_bytes") > 100_000.0);
        assert!(value("process_virtual_memory_bytes") >= value("process_resident_memory_bytes"));
        assert!(value("process_open_fds") >= 3.0);
        assert!(value("process_max_fds") >= value("process_open_fds"));
        assert!(value("process_threads") >= 1.0);
        assert!(value("process_cpu_seconds_total") >= 0.0);
        assert!(value("process_start_time_seconds") >= figure(boot_time_secs().unwrap()));
    }
}
