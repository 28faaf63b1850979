//! Faults of a run, as sentences: broken promises of the service, and shortfalls of the run itself.

use super::measures::Measures;
use super::reply::NoAnswer;
use super::report::Judgement;
use super::verdict::Verdict;

/// Lists the violations of the service's promises, as sentences.
pub(super) fn violations(judgement: &Judgement, measures: &Measures) -> Vec<String> {
    // Where no signature fits, the secret is the tester's mistake.
    let counts = |verdict: Verdict| verdict != Verdict::BadSignature || !judgement.does_secret_fit_nothing;
    let broken = Verdict::ALL.into_iter().filter(|verdict| verdict.is_violation() && counts(*verdict));
    let counted = broken.map(|verdict| (judgement.count(verdict), verdict));
    let mut violations: Vec<_> = counted
        .filter(|(count, _)| *count > 0)
        .map(|(count, verdict)| format!("payments: {count} {verdict}"))
        .collect();
    // With 429 and 503 the service signals overload: reported, but not a violation.
    let unexpected = measures.failures().saturating_sub(measures.excused());
    if unexpected > 0 {
        violations.push(format!("requests: {unexpected} without the answer that the contract promises"));
    }
    if measures.webhooks.unreadable > 0 {
        violations.push(format!("webhooks: {} were no event", measures.webhooks.unreadable));
    }
    violations
}

/// Lists the shortfalls of the run itself, as sentences.
pub(super) fn shortfalls(judgement: &Judgement, measures: &Measures) -> Vec<String> {
    let mut shortfalls = Vec::new();
    if judgement.does_secret_fit_nothing {
        shortfalls.push(
            "webhooks: no signature fits QUITA_SECRET, which is probably of another merchant or mode; set it to what \
             `quita secrets show` prints"
                .into(),
        );
    }
    for reason in NoAnswer::UNREACHED {
        let unreached = measures.unreached(reason);
        if unreached > 0 {
            shortfalls.push(format!("requests: {unreached} reached nobody ({})", reason.as_str()));
        }
    }
    let cut = measures.contact.cut();
    if cut > 0 {
        shortfalls.push(format!("requests: {cut} were under way when the service went away"));
    }
    let unjudged = judgement.count(Verdict::Unjudged);
    if unjudged > 0 && !judgement.is_stopped {
        let reasons: Vec<_> =
            judgement.unjudged.iter().map(|(reason, count)| format!("{count} {reason}")).collect();
        shortfalls.push(format!(
            "payments: {unjudged} not judged, because the service did not tell how they ended ({})",
            reasons.join(", ")
        ));
    }
    if measures.creates() == 0 {
        shortfalls.push("no payment was made".into());
    }
    if measures.skipped > 0 {
        shortfalls.push(format!(
            "payments: {} were due and were not sent, because too much was under way",
            measures.skipped
        ));
    }
    shortfalls
}

#[cfg(test)]
mod tests {
    use std::time::{Duration, Instant};

    use uuid::Uuid;

    use super::super::ledger::Ledger;
    use super::super::measures::Creation;
    use super::super::plan::Method;
    use super::super::reply::Reply;
    use super::super::verdict::Found;
    use super::*;

    const REFUSED: Reply = Reply::Missing(NoAnswer::ConnectionRefused);
    const CLOSED: Reply = Reply::Missing(NoAnswer::ConnectionClosed);

    /// Returns the measures of a run whose creations had these replies, one after the other.
    fn measures(replies: &[Reply]) -> Measures {
        let mut measures = Measures::new(Instant::now(), 1).unwrap();
        for reply in replies {
            measures.created(Creation { method: Method::Pix, stage: 0 }, *reply, Duration::ZERO);
        }
        measures
    }

    #[test]
    fn a_request_that_reached_nobody_is_a_shortfall_and_breaks_no_promise() {
        let judgement = Judgement::of(&Ledger::new(0), false);
        let measures = measures(&[Reply::Status(201), REFUSED, REFUSED]);
        assert_eq!(violations(&judgement, &measures), [""; 0]);
        assert_eq!(shortfalls(&judgement, &measures), ["requests: 2 reached nobody (connection refused)"]);
        assert_eq!(measures.failures(), 2, "a threshold may count them");
    }

    #[test]
    fn a_connection_that_breaks_is_a_fault_unless_the_service_went_away() {
        let judgement = Judgement::of(&Ledger::new(0), false);
        let broken = measures(&[Reply::Status(201), CLOSED, Reply::Status(201)]);
        let expected = ["requests: 1 without the answer that the contract promises"];
        assert_eq!(violations(&judgement, &broken), expected);
        let away = measures(&[Reply::Status(201), CLOSED, CLOSED, REFUSED]);
        assert_eq!(violations(&judgement, &away), [""; 0]);
        assert_eq!(
            shortfalls(&judgement, &away),
            [
                "requests: 1 reached nobody (connection refused)",
                "requests: 2 were under way when the service went away"
            ]
        );
    }

    #[test]
    fn payments_of_which_nobody_knows_the_end_are_counted_and_named_and_accuse_nobody() {
        let mut ledger = Ledger::new(0);
        for (number, found) in [(1, Found::Unanswered(REFUSED)), (2, Found::Unanswered(Reply::Status(503)))] {
            ledger.find(Uuid::from_u128(number), None, found);
        }
        ledger.created(Uuid::from_u128(3));
        let measures = measures(&[Reply::Status(201)]);
        let judgement = Judgement::of(&ledger, false);
        assert_eq!(violations(&judgement, &measures), [""; 0]);
        let expected = "payments: 3 not judged, because the service did not tell how they ended \
                        (1 answered 503, 1 connection refused, 1 not asked)";
        assert_eq!(shortfalls(&judgement, &measures), [expected]);
        let named: Vec<_> = judgement.examples.iter().map(|example| example.found.as_str()).collect();
        assert_eq!(named.len(), 3);
        assert!(named.contains(&"nothing (connection refused)"), "{named:?}");
        let stopped = Judgement::of(&ledger, true);
        assert_eq!(shortfalls(&stopped, &measures), [""; 0], "nobody had the time to ask");
        assert!(stopped.examples.is_empty());
    }

    #[test]
    fn a_promise_that_is_broken_stays_broken_when_the_service_goes_away() {
        let mut ledger = Ledger::new(0);
        ledger.find(Uuid::from_u128(1), None, Found::Unanswered(REFUSED));
        ledger.find(Uuid::from_u128(2), None, Found::Nothing);
        let judgement = Judgement::of(&ledger, false);
        assert_eq!(violations(&judgement, &measures(&[REFUSED])), ["payments: 1 lost"]);
    }
}
