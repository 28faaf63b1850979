//! Advice after a failed attempt, for people who are testing a receiver.

use super::delivery::AttemptOutcome;
use crate::console::merchant::delivery_attempts::GONE;

/// Sentence for every failure that is retried.
const AGAIN: &str = "The service retries automatically.";

impl AttemptOutcome {
    /// Returns true if no further attempt of the payment follows.
    pub(super) fn is_last(&self) -> bool {
        self.status == Some(GONE)
    }
}

/// Returns advice against the failure of an attempt.
pub(super) fn advice(attempt: &AttemptOutcome) -> String {
    let advice = match (attempt.status, attempt.error.as_deref()) {
        (Some(GONE), _) => {
            "The receiver wants no more events of this payment. Trigger an event of a new one."
        }
        (Some(401 | 403), _) => {
            "The receiver refuses the signature: is its QUITA_SECRET the one that `quita secrets show --mode test` prints?"
        }
        (Some(300..=399), _) => "Pass the final address with --postback-url.",
        (Some(_), _) => "This is an error of the receiver: see its log.",
        (None, Some("connect")) => "Start `quita listen`, or pass another receiver with --postback-url.",
        (None, Some("timeout")) => {
            "A receiver has 15 s to answer: store the event first, and process it later."
        }
        (None, Some("dns" | "invalid_url" | "address_not_allowed")) => {
            "Pass another receiver with --postback-url."
        }
        (None, _) => {
            "A test event from the console says why, and the log of the service says it for one of several reasons in a \
             row. Is the URL http:// or https://, as its port expects?"
        }
    };
    if attempt.is_last() { advice.to_owned() } else { format!("{advice} {AGAIN}") }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn advice_fits_the_kind_of_failure() {
        let status = |status| AttemptOutcome { status: Some(status), error: None };
        let error = |error: &str| AttemptOutcome { status: None, error: Some(error.to_owned()) };
        for (attempt, part) in [
            (error("connect"), "Start `quita listen`, or pass another receiver with --postback-url."),
            (error("timeout"), "15 s"),
            (error("dns"), "Pass another receiver"),
            (error("tls"), "http:// or https://"),
            (error("protocol"), "http:// or https://"),
            (error("of_yore"), "test event from the console"),
            (status(301), "Pass the final address with --postback-url."),
            (status(399), "Pass the final address"),
            (status(400), "an error of the receiver"),
            (status(401), "is its QUITA_SECRET the one"),
            (status(402), "an error of the receiver"),
            (status(403), "is its QUITA_SECRET the one"),
            (status(404), "an error of the receiver"),
            (status(409), "an error of the receiver"),
            (status(411), "an error of the receiver"),
            (status(503), "an error of the receiver"),
        ] {
            let advice = advice(&attempt);
            assert!(advice.contains(part) && advice.ends_with(AGAIN), "{attempt:?}: {advice}");
        }
        let gone = advice(&status(410));
        assert!(gone.contains("no more events of this payment") && !gone.contains(AGAIN), "{gone}");
    }
}
