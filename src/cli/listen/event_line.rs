//! One event as one readable line.

use quita_domain::time::Timestamp;
use serde::Deserialize;

use super::judgement::Judgement;
use crate::cli::output::printable;

/// The most characters of a text of the body that are shown.
const MAX_SHOWN_CHARACTERS: usize = 60;

#[derive(Default, Deserialize)]
#[serde(rename_all = "camelCase", default)]
struct Body {
    event: Option<String>,
    sequence: Option<u64>,
    transaction_id: Option<String>,
    mode: Option<String>,
    /// Whether the event only tries the receiver out.
    test: bool,
}

/// Time, event, sequence, mode, transaction and signature. What the body does not tell is a question mark.
pub(super) fn event_line(body: &[u8], judgement: &Judgement, now: Timestamp) -> String {
    let Body { event, sequence, transaction_id, mode, test } =
        serde_json::from_slice(body).unwrap_or_default();
    let sequence = sequence.map_or("#?".into(), |sequence| format!("#{sequence}"));
    let (event, mode, id) = (shown(event), shown(mode), shown(transaction_id));
    let note = if test { "  (a test event)" } else { "" };
    format!("{now}  {event:<19}  {sequence:<3}  {mode:<4}  {id}  {judgement}{note}")
}

fn shown(text: Option<String>) -> String {
    let text: String = text.unwrap_or_default().chars().take(MAX_SHOWN_CHARACTERS).collect();
    if text.is_empty() { "?".into() } else { printable(&text) }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(body: &str, expected: &str) {
        let line = event_line(body.as_bytes(), &Judgement::Good, Timestamp::from_millis(5));
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
        let line = event_line(br#"{"mode":"live","test":true}"#, &Judgement::Good, Timestamp::default());
        assert!(line.ends_with("signature good  (a test event)"), "{line}");
    }

    #[test]
    fn a_long_text_is_cut() {
        let line = event_line(
            format!(r#"{{"event":"{}"}}"#, "é".repeat(1_000)).as_bytes(),
            &Judgement::Unsigned,
            Timestamp::default(),
        );
        assert!(line.chars().count() < 120, "{line}");
    }
}
