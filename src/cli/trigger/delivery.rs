//! Delivery of a triggered event, as far as it got: what is said of it has happened.

use std::time::{Duration, Instant};

use quita_domain::identity::TransactionId;
use serde::Deserialize;

use super::PAUSE;
use crate::cli::api::{Api, Call};
use crate::cli::output::printable;

/// Time for which a failure is waited for. It is stored at once, whereas a confirmation may wait for another write.
const PATIENCE: Duration = Duration::from_secs(2);

/// Page of deliveries, the oldest event first.
#[derive(Deserialize)]
struct Deliveries {
    data: Vec<Delivery>,
}

#[derive(Deserialize)]
struct Delivery {
    event: String,
    state: String,
    attempts: Vec<Attempt>,
}

#[derive(Deserialize)]
struct Attempt {
    status: Option<u16>,
    error: Option<String>,
}

/// State of the delivery of an event.
#[derive(Debug, PartialEq, Eq)]
enum Progress {
    /// The receiver has confirmed it.
    Delivered,
    /// An attempt failed, of this event or of the one before it, for which it waits.
    Failed(String),
    /// No attempt has failed, and no confirmation is stored.
    Waiting,
}

impl Deliveries {
    fn progress_of(&self, event: &str) -> Progress {
        let is_confirmed = |delivery: &Delivery| delivery.state == "delivered";
        if self.data.iter().any(|delivery| delivery.event == event && is_confirmed(delivery)) {
            return Progress::Delivered;
        }
        let mut open = self.data.iter().filter(|delivery| !is_confirmed(delivery));
        let failed = open.find_map(|delivery| delivery.attempts.last());
        failed.map_or(Progress::Waiting, |attempt| Progress::Failed(attempt.in_words()))
    }
}

impl Attempt {
    fn in_words(&self) -> String {
        match (self.status, self.error.as_deref()) {
            (Some(status), _) => format!("it answered {status}"),
            (None, Some("connect")) => "nobody accepts connections there".into(),
            (None, Some("timeout")) => "it did not answer in time".into(),
            (None, error) => format!("no answer, {}", printable(error.unwrap_or("no reason given"))),
        }
    }
}

/// Waits for a failure, and returns what is known of the delivery.
pub(super) async fn outcome(api: &Api, id: TransactionId, event: &str, url: &str) -> String {
    let until = Instant::now() + PATIENCE;
    let url = printable(url);
    loop {
        let query = vec![("transactionId", id.to_string())];
        let answer = api.call("deliveries", Call::get("/pay/webhooks/deliveries").with_query(query)).await;
        let read = answer.ok().and_then(|answer| serde_json::from_str::<Deliveries>(&answer).ok());
        let Some(deliveries) = read else {
            return format!(
                "{event} happened and goes to {url}; a key with the scope webhooks shows if it arrives."
            );
        };
        match deliveries.progress_of(event) {
            Progress::Delivered => return format!("{event} was delivered to {url}."),
            Progress::Failed(why) => {
                return format!(
                    "{event} happened, and was not delivered to {url}: {why}.\nStart `quita listen`, or name another \
                     receiver with --postback-url. The service tries again by itself."
                );
            }
            Progress::Waiting if Instant::now() > until => {
                let waited = PATIENCE.as_secs();
                return format!("{event} happened and is on its way to {url}: no failure within {waited} s.");
            }
            Progress::Waiting => tokio::time::sleep(PAUSE).await,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(deliveries: &str, expected: Progress) {
        let read: Deliveries = serde_json::from_str(deliveries).unwrap();
        assert_eq!(read.progress_of("payment.paid"), expected, "{deliveries}");
    }

    #[test]
    fn an_event_waits_for_the_one_before_it() {
        let failed = |why: &str| Progress::Failed(why.into());
        check(r#"{"data":[]}"#, Progress::Waiting);
        let paid = r#"{"event":"payment.paid","state":"pending","attempts":[]}"#;
        let pending = |state: &str, attempts: &str| {
            format!(
                r#"{{"data":[{{"event":"payment.pending","state":"{state}","attempts":[{attempts}]}},{paid}]}}"#
            )
        };
        check(&pending("pending", ""), Progress::Waiting);
        check(&pending("delivered", r#"{"status":200,"error":null}"#), Progress::Waiting);
        check(
            &pending("pending", r#"{"status":null,"error":"connect"}"#),
            failed("nobody accepts connections there"),
        );
        check(
            &pending("pending", r#"{"status":null,"error":"timeout"}"#),
            failed("it did not answer in time"),
        );
        check(&pending("exhausted", r#"{"status":410,"error":null}"#), failed("it answered 410"));
        check(&pending("pending", r#"{"status":null,"error":"tls"}"#), failed("no answer, tls"));
        let done = r#"{"data":[{"event":"payment.paid","state":"delivered","attempts":[]}]}"#;
        check(done, Progress::Delivered);
    }
}
