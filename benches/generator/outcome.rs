//! Figures of every report: count, duration and cost.

use std::time::Duration;

use rustix::time::{ClockId, clock_gettime};
use serde_json::{Value, json};

/// Adds the count, the rate and the generator's own cost.
pub(crate) fn add(report: &mut Value, good: u64, elapsed: Duration) {
    #[allow(clippy::as_conversions, clippy::cast_precision_loss, reason = "a count of requests")]
    let count = good as f64;
    let own = processor_time();
    merge(
        report,
        json!({
            "good": good,
            "seconds": elapsed.as_secs_f64(),
            "rate": count / elapsed.as_secs_f64(),
            "own_cpu_seconds": own.as_secs_f64(),
            "own_cpu_us_per_request": own.as_secs_f64() * 1e6 / count.max(1.0),
        }),
    );
}

/// Inserts the entries of one object into another.
pub(crate) fn merge(report: &mut Value, more: Value) {
    if let (Value::Object(report), Value::Object(more)) = (report, more) {
        report.extend(more);
    }
}

/// Returns the wall-clock time, in microseconds since 1970.
pub(crate) fn epoch_us() -> i64 {
    let now = clock_gettime(ClockId::Realtime);
    now.tv_sec * 1_000_000 + now.tv_nsec / 1_000
}

/// Returns the processor time that this process has used.
fn processor_time() -> Duration {
    let used = clock_gettime(ClockId::ProcessCPUTime);
    Duration::new(used.tv_sec.unsigned_abs(), u32::try_from(used.tv_nsec).unwrap_or_default())
}
