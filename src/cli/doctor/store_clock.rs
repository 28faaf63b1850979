//! Comparison of this machine's clock with that of the store's server.

use std::sync::Arc;

use actix_web::rt::time::timeout;
use quita_config::store_url::StoreUrl;
use quita_machine::SystemClock;
use quita_mongo::server_ahead_ms;

use super::STORE_TIME_OUT;
use super::finding::Finding;

/// Difference above which nodes of one store would report each other's clock.
const TOLERANCE_MS: u64 = 5_000;

/// Compares the clocks. `None` if the store is a file, or if its server does not answer, which another finding reports.
pub(super) async fn compare(store: &StoreUrl) -> Option<Finding> {
    let StoreUrl::Mongo(uri) = store else { return None };
    let asked = server_ahead_ms(uri.expose(), Arc::new(SystemClock));
    let server_ahead_ms = timeout(STORE_TIME_OUT, asked).await.ok()?.ok()?;
    Some(judge(server_ahead_ms))
}

/// Judges the number of milliseconds by which the server's clock is ahead of this one.
fn judge(server_ahead_ms: i64) -> Finding {
    let seconds = server_ahead_ms.unsigned_abs() / 1_000;
    if server_ahead_ms.unsigned_abs() <= TOLERANCE_MS {
        return Finding::ok("clock", "it agrees with the clock of the store's server");
    }
    let side = if server_ahead_ms > 0 { "behind" } else { "ahead of" };
    let text = format!("it is {seconds} s {side} the clock of the store's server");
    let mend =
        "correct the wrong clock, and sync both with NTP: leases, expiries and second factors depend on it";
    Finding::fail("clock", text, mend)
}

#[cfg(test)]
mod tests {
    use super::super::finding::Level;
    use super::*;

    #[test]
    fn a_clock_that_differs_from_the_servers_by_more_than_seconds_fails() {
        for (server_ahead_ms, level, words) in [
            (0, Level::Ok, "agrees"),
            (5_000, Level::Ok, "agrees"),
            (-5_000, Level::Ok, "agrees"),
            (-600_200, Level::Fail, "600 s ahead of"),
            (300_900, Level::Fail, "300 s behind"),
            (5_001, Level::Fail, "5 s behind"),
        ] {
            let finding = judge(server_ahead_ms);
            assert_eq!(finding.level, level, "{server_ahead_ms}");
            assert!(finding.to_string().contains(words), "{finding}");
        }
    }
}
