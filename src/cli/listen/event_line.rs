//! Rendering of one event as one readable line.

use quita_domain::time::Timestamp;
use serde::Deserialize;

use super::signature_check::SignatureCheck;
use crate::cli::output::printable;

/// Maximum number of characters shown of a text in the body.
const MAX_SHOWN_CHARACTERS: usize = 60;

/// Fields of an event that are parsed.
#[derive(Default, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub(super) struct EventBody {
    event: Option<String>,
    sequence: Option<u64>,
    transaction_id: Option<String>,
    mode: Option<String>,
    /// True for a test event.
    test: bool,
}

impl EventBody {
    /// Parses a body; an unreadable one has no fields.
    pub(super) fn read(body: &[u8]) -> Self {
        serde_json::from_slice(body).unwrap_or_default()
    }

    /// Returns the event's name.
    pub(super) fn name(&self) -> Option<&str> {
        self.event.as_deref()
    }
}

/// Returns a line with time, event, sequence, mode, transaction and signature. A missing field is shown as a question
/// mark.
pub(super) fn event_line(body: &EventBody, check: &SignatureCheck, now: Timestamp) -> String {
    let EventBody { event, sequence, transaction_id, mode, test } = body;
    let sequence = sequence.map_or("#?".into(), |sequence| format!("#{sequence}"));
    let [event, mode, id] = [event, mode, transaction_id].map(|text| shown(text.as_deref()));
    let note = if *test { "  (a test event)" } else { "" };
    format!("{now}  {event:<19}  {sequence:<3}  {mode:<4}  {id}  {check}{note}")
}

fn shown(text: Option<&str>) -> String {
    let text: String = text.unwrap_or_default().chars().take(MAX_SHOWN_CHARACTERS).collect();
    if text.is_empty() { "?".into() } else { printable(&text) }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(body: &str, expected: &str) {
        let body = EventBody::read(body.as_bytes());
        let line = event_line(&body, &SignatureCheck::Good, Timestamp::from_millis(5));
        assert_eq!(line, format!("1970-01-01T00:00:00.005Z  {expected}  signature good"));
    }

    #[test]
    fn an_event_is_one_line_whatever_its_body() {
        check(
            r#"{"event":"payment.paid","sequence":2,"transactionId":"01890a5d","mode":"live","data":{}}"#,
            "payment.paid         #2   live  01890a5d",
        );
        check("{}", "?                    #?   ?     ?");
        check("no JSON", "?                    #?   ?     ?");
        check(r#"{"event":"a\nb\u001b[2J"}"#, "a\\nb\\u{1b}[2J        #?   ?     ?");
    }

    #[test]
    fn a_test_event_is_told_from_a_payments() {
        let body = EventBody::read(br#"{"mode":"live","test":true}"#);
        let line = event_line(&body, &SignatureCheck::Good, Timestamp::default());
        assert!(line.ends_with("signature good  (a test event)"), "{line}");
    }

    #[test]
    fn a_long_text_is_cut() {
        let body = EventBody::read(format!(r#"{{"event":"{}"}}"#, "é".repeat(1_000)).as_bytes());
        let line = event_line(&body, &SignatureCheck::Unsigned, Timestamp::default());
        assert!(line.chars().count() < 120, "{line}");
    }
}
