//! Delivery of a triggered event, as far as it got: only completed steps are reported.

use std::time::{Duration, Instant};

use quita_domain::identity::TransactionId;
use serde::Deserialize;

use super::PAUSE;
use super::advice::advice;
use crate::cli::api::{Api, ApiRequest};
use crate::cli::output::printable;
use crate::console::Language;
use crate::console::merchant::delivery_attempts::in_words;

/// Maximum wait for a delivery. A confirmation is stored up to four seconds after it.
const PATIENCE: Duration = Duration::from_secs(8);

/// Maximum wait for an event after which the payer of a PIX is awaited. A confirmation is stored up to fourteen seconds
/// after it.
const PATIENCE_FOR_PAYER: Duration = Duration::from_secs(18);

/// Triggered event, and its receiver.
pub(super) struct TriggeredEvent<'a> {
    pub(super) id: TransactionId,
    pub(super) event: &'a str,
    pub(super) url: &'a str,
    pub(super) awaits_payer: bool,
}

/// Outcome of a delivery, as far as it is known.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Delivered {
    /// The receiver has confirmed the event, or the key may not query that, as a sentence.
    Fine(String),
    /// The event was not delivered; with advice.
    Not(String),
}

/// Deliveries of a payment, the oldest event first.
#[derive(Deserialize)]
struct DeliveryList {
    data: Vec<Delivery>,
}

#[derive(Deserialize)]
struct Delivery {
    sequence: u32,
    event: String,
    state: String,
    attempts: Vec<AttemptOutcome>,
}

/// Attempt with the fields that are parsed.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
pub(super) struct AttemptOutcome {
    pub(super) status: Option<u16>,
    pub(super) error: Option<String>,
}

/// State of the delivery of an event.
#[derive(Debug, PartialEq, Eq)]
enum DeliveryProgress {
    /// The receiver has confirmed the event.
    Delivered,
    /// The last attempt failed.
    Failed(AttemptOutcome),
    /// The event was not attempted, because the last attempt of this earlier event failed.
    Behind(String, AttemptOutcome),
    /// Neither an attempt nor a failure of an earlier event is stored.
    Waiting,
}

impl DeliveryList {
    /// Parses an answer of the API, which lists the newest event first.
    fn read(answer: &str) -> Option<Self> {
        let mut read: Self = serde_json::from_str(answer).ok()?;
        read.data.sort_by_key(|delivery| delivery.sequence);
        Some(read)
    }

    fn progress_of(&self, event: &str) -> DeliveryProgress {
        let Some(place) = self.data.iter().rposition(|delivery| delivery.event == event) else {
            return DeliveryProgress::Waiting;
        };
        let (earlier, rest) = self.data.split_at(place);
        let Some(told) = rest.first() else { return DeliveryProgress::Waiting };
        if told.is_confirmed() {
            return DeliveryProgress::Delivered;
        }
        if let Some(attempt) = told.attempts.last() {
            return DeliveryProgress::Failed(attempt.clone());
        }
        // An earlier event that was given up alone, without a 410, does not hold this one up.
        let is_in_front = |earlier: &&Delivery| !earlier.is_confirmed() && earlier.state == told.state;
        let failed = earlier.iter().rev().filter(is_in_front).find_map(|earlier| {
            let attempt = earlier.attempts.last()?.clone();
            Some(DeliveryProgress::Behind(earlier.event.clone(), attempt))
        });
        failed.unwrap_or(DeliveryProgress::Waiting)
    }
}

impl Delivery {
    fn is_confirmed(&self) -> bool {
        self.state == "delivered"
    }
}

impl AttemptOutcome {
    fn in_words(&self) -> String {
        printable(&in_words(self.status, self.error.as_deref(), Language::English))
    }
}

impl TriggeredEvent<'_> {
    /// Waits until the outcome of the delivery is known, or the time limit is reached.
    pub(super) async fn outcome(&self, api: &Api) -> Delivered {
        let patience = if self.awaits_payer { PATIENCE_FOR_PAYER } else { PATIENCE };
        let until = Instant::now() + patience;
        loop {
            let query = vec![("transactionId", self.id.to_string())];
            let answer =
                api.call("deliveries", ApiRequest::get("/pay/webhooks/deliveries").with_query(query)).await;
            let Some(deliveries) = answer.ok().and_then(|answer| DeliveryList::read(&answer)) else {
                let event = self.event;
                let url = printable(self.url);
                return Delivered::Fine(format!(
                    "{event} happened and goes to {url}; a key with the scope webhooks shows if it arrives."
                ));
            };
            let progress = deliveries.progress_of(self.event);
            if progress != DeliveryProgress::Waiting || Instant::now() >= until {
                return self.sentence(&progress, patience);
            }
            tokio::time::sleep(PAUSE).await;
        }
    }

    fn sentence(&self, progress: &DeliveryProgress, waited: Duration) -> Delivered {
        let event = self.event;
        let url = printable(self.url);
        let not = |why: &str, advice: &str| {
            Delivered::Not(format!("{event} happened, and was not delivered to {url}: {why}.\n{advice}"))
        };
        match progress {
            DeliveryProgress::Delivered => Delivered::Fine(format!("{event} was delivered to {url}.")),
            DeliveryProgress::Failed(attempt) => not(&attempt.in_words(), &advice(attempt)),
            DeliveryProgress::Behind(earlier, attempt) => {
                let why = format!(
                    "it waits for {}, whose attempt failed: {}",
                    printable(earlier),
                    attempt.in_words()
                );
                let why = if attempt.is_last() { why.replace("waits for", "was given up with") } else { why };
                not(&why, &advice(attempt))
            }
            DeliveryProgress::Waiting => Delivered::Not(format!(
                "{event} happened, and is not known to be delivered to {url} after {} s.\nThe receiver takes long to \
                 answer (a time-out comes after 15 s), or other events are sent before this one.",
                waited.as_secs()
            )),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const PAID: &str = r#"{"event":"payment.paid","state":"pending","attempts":[]}"#;

    fn attempt(status: Option<u16>, error: Option<&str>) -> AttemptOutcome {
        AttemptOutcome { status, error: error.map(str::to_owned) }
    }

    fn delivery(event: &str, state: &str, attempts: &str) -> String {
        format!(r#"{{"event":"payment.{event}","state":"{state}","attempts":[{attempts}]}}"#)
    }

    #[track_caller]
    fn check(deliveries: &[&str], expected: DeliveryProgress) {
        let entries =
            deliveries.iter().enumerate().rev().map(|(sequence, delivery)| {
                delivery.replacen('{', &format!(r#"{{"sequence":{sequence},"#), 1)
            });
        let page = format!(r#"{{"data":[{}]}}"#, entries.collect::<Vec<_>>().join(","));
        let read = DeliveryList::read(&page).unwrap();
        assert_eq!(read.progress_of("payment.paid"), expected, "{page}");
    }

    #[test]
    fn a_delivery_is_known_when_it_was_confirmed_or_failed() {
        check(&[], DeliveryProgress::Waiting);
        check(&[PAID], DeliveryProgress::Waiting);
        let pending = delivery("pending", "delivered", r#"{"status":200,"error":null}"#);
        check(&[&pending, PAID], DeliveryProgress::Waiting);
        let done = delivery("paid", "delivered", r#"{"status":200,"error":null}"#);
        check(&[&pending, &done], DeliveryProgress::Delivered);
        let failed =
            delivery("paid", "pending", r#"{"status":500,"error":null},{"status":null,"error":"tls"}"#);
        check(&[&pending, &failed], DeliveryProgress::Failed(attempt(None, Some("tls"))));
        // What came after it is not what was triggered.
        let refund = delivery("refund_succeeded", "pending", r#"{"status":500,"error":null}"#);
        check(&[&pending, &done, &refund], DeliveryProgress::Delivered);
        check(&[&pending, PAID, &refund], DeliveryProgress::Waiting);
    }

    #[test]
    fn an_event_behind_one_that_failed_is_not_said_to_have_failed_itself() {
        let behind =
            |status, error| DeliveryProgress::Behind("payment.pending".into(), attempt(status, error));
        let failed = |attempt: &str| delivery("pending", "pending", attempt);
        check(&[&failed(""), PAID], DeliveryProgress::Waiting);
        check(&[&failed(r#"{"status":null,"error":"connect"}"#), PAID], behind(None, Some("connect")));
        check(&[&failed(r#"{"status":401,"error":null}"#), PAID], behind(Some(401), None));
        let gone = delivery("pending", "exhausted", r#"{"status":410,"error":null}"#);
        check(&[&gone, &delivery("paid", "exhausted", "")], behind(Some(410), None));
        let given_up = delivery("pending", "exhausted", r#"{"status":500,"error":null}"#);
        check(&[&given_up, PAID], DeliveryProgress::Waiting);
    }

    #[test]
    fn what_was_not_delivered_names_the_event_that_was_triggered() {
        let id = TransactionId::new(uuid::Uuid::from_u128(7));
        let triggered = TriggeredEvent { id, event: "payment.paid", url: "http://r/", awaits_payer: false };
        let said = |progress: DeliveryProgress| match triggered.sentence(&progress, PATIENCE) {
            Delivered::Fine(text) => (true, text),
            Delivered::Not(text) => (false, text),
        };
        assert_eq!(
            said(DeliveryProgress::Delivered),
            (true, "payment.paid was delivered to http://r/.".into())
        );
        let before = "payment.paid happened, and was not delivered to http://r/: ";
        let (is_fine, text) = said(DeliveryProgress::Failed(attempt(Some(302), None)));
        let rest = text.strip_prefix(before).expect(&text);
        assert!(!is_fine && rest.starts_with("302, redirects are not followed.\n"), "{text}");
        let behind = |attempt| said(DeliveryProgress::Behind("payment.pending".into(), attempt)).1;
        let text = behind(attempt(None, Some("dns")));
        let rest = text.strip_prefix(before).expect(&text);
        let expected = "it waits for payment.pending, whose attempt failed: host name not found.\n";
        assert!(rest.starts_with(expected), "{text}");
        let text = behind(attempt(Some(410), None));
        let rest = text.strip_prefix(before).expect(&text);
        assert!(
            rest.starts_with("it was given up with payment.pending, whose attempt failed: 410, "),
            "{text}"
        );
        let (is_fine, text) = said(DeliveryProgress::Waiting);
        assert!(!is_fine && text.starts_with("payment.paid happened, and is not known to be"), "{text}");
        let foreign = said(DeliveryProgress::Failed(attempt(None, Some("of\u{1b}[2Jyore")))).1;
        assert!(foreign.contains("of\\u{1b}[2Jyore"), "{foreign:?}");
    }
}
