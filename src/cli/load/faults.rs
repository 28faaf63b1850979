//! Faults of a run, as sentences: broken promises of the service, and shortfalls of the run itself.

use super::measures::Measures;
use super::reply::{NoAnswer, Reply};
use super::report::{PaymentVerdicts, declined_count};
use super::verdict::Verdict;

/// Lists the violations of the service's promises, as sentences.
pub(super) fn violations(judgement: &PaymentVerdicts, measures: &Measures) -> Vec<String> {
    // If no signature matches, the tester passed the wrong secret. A signature whose time is wrong matches.
    let does_secret_fit_nothing = judgement.does_secret_fit_nothing && measures.webhooks.stale == 0;
    let is_own_secret = |verdict: Verdict| verdict == Verdict::BadSignature && does_secret_fit_nothing;
    let broken =
        Verdict::ALL.into_iter().filter(|verdict| verdict.is_violation() && !is_own_secret(*verdict));
    let counted = broken.map(|verdict| (judgement.count(verdict), verdict));
    let mut violations: Vec<_> = counted
        .filter(|(count, _)| *count > 0)
        .map(|(count, verdict)| format!("payments: {count} {verdict}"))
        .collect();
    // With 429 and 503 the service signals overload: that is reported, but is not a violation.
    let unexpected = measures.failures().saturating_sub(measures.excused());
    if unexpected > 0 {
        violations.push(format!("requests: {unexpected} without the answer that the contract promises"));
    }
    if measures.webhooks.unreadable > 0 {
        violations.push(format!("webhooks: {} were not events", measures.webhooks.unreadable));
    }
    if measures.webhooks.stale > 0 {
        violations.push(format!(
            "webhooks: {} had a valid signature whose time is up to {} s off, so receivers must reject them: the clock \
             of a node, or of this machine, is wrong",
            measures.webhooks.stale, measures.webhooks.stale_by_s
        ));
    }
    violations
}

/// Lists the shortfalls of the run itself, as sentences.
pub(super) fn shortfalls(judgement: &PaymentVerdicts, measures: &Measures) -> Vec<String> {
    let mut shortfalls: Vec<String> = Vec::new();
    shortfalls.extend(measures.contact.store_refusals().map(|refusals| refusals.to_string()));
    if judgement.does_secret_fit_nothing && measures.webhooks.stale == 0 {
        shortfalls.push(
            "webhooks: no signature matches QUITA_SECRET, which is probably for another merchant or mode; set it to \
             what `quita secrets show` prints"
                .into(),
        );
    }
    let has_no_socket = measures.count(|_, reply| reply == Reply::Missing(NoAnswer::NoSocket)) > 0;
    let lacks_events =
        judgement.count(Verdict::Late) + judgement.count(Verdict::MissingEvent) + judgement.untraced > 0;
    if measures.webhooks.received == 0 && lacks_events && !has_no_socket {
        let reason = measures.delivery_error.as_deref();
        let reason = reason.map(|reason| format!("; the service reports: {reason}")).unwrap_or_default();
        shortfalls.push(format!(
            "webhooks: no event reached this load tester, which receives them on 127.0.0.1, so the service must run on \
             this machine{reason}"
        ));
    }
    let refused = measures.refusals();
    let requests = measures.requests();
    if refused.saturating_mul(100) > requests {
        let kinds: Vec<_> =
            [429, 503].into_iter().filter_map(|status| measures.refused_with(status)).collect();
        let kinds = kinds.join("; ");
        shortfalls.push(format!(
            "requests: {refused} of {requests} were refused, so the requested load was not reached ({kinds})"
        ));
    }
    let of_key = measures.key_refusals();
    if of_key > 0 {
        shortfalls
            .push(format!("requests: {of_key} of {requests} were refused because of the key (401 or 403)"));
    }
    for reason in NoAnswer::UNREACHED {
        let unreached = measures.unreached(reason);
        if unreached > 0 {
            let is_mixed = reason.is_of_proxy()
                && measures.creates() > 0
                && measures.contact.absences().iter().all(|absence| absence.cause != reason);
            let mixed = if is_mixed { ", while others were answered" } else { "" };
            shortfalls.push(format!(
                "requests: {unreached} of {requests} did not reach the service ({}){mixed}",
                reason.as_str()
            ));
        }
    }
    if measures.repeated > 0 {
        shortfalls.push(format!(
            "requests: the connection of {} broke, and the same request was answered when it was repeated",
            measures.repeated
        ));
    }
    let cut = measures.contact.cut();
    if cut > 0 {
        shortfalls.push(format!("requests: {cut} were under way when the service went away"));
    }
    if let Some((declined, reasons)) = declined_count(&judgement.declined) {
        let payments = judgement.payments;
        shortfalls.push(format!(
            "payments: {declined} of {payments} were declined, but all should be paid ({reasons}); see /health/ready"
        ));
    }
    let unjudged: u64 = judgement.unjudged.values().sum();
    if unjudged > 0 && !judgement.is_stopped {
        let reasons: Vec<_> =
            judgement.unjudged.iter().map(|(reason, count)| format!("{count} {reason}")).collect();
        let is_limited = judgement.unjudged.contains_key("answered 429");
        let cure = if is_limited {
            "; a longer --settle leaves time to query within the key's rate limit"
        } else {
            ""
        };
        shortfalls.push(format!(
            "payments: {unjudged} not judged, because the service did not report how they ended ({}){cure}",
            reasons.join(", ")
        ));
    }
    let by_tester = judgement.unjudged_by_tester.iter().filter(|_| !judgement.is_stopped);
    shortfalls.extend(by_tester.map(|(reason, count)| format!("payments: {count} not judged: {reason}")));
    if !judgement.is_stopped {
        shortfalls.extend(open_payments(judgement, measures));
    }
    if measures.creates() == 0 && !judgement.is_stopped {
        shortfalls.push("no payment was created".into());
    }
    if measures.skipped > 0 {
        shortfalls.push(format!(
            "payments: {} were due but not sent, because too many requests were under way",
            measures.skipped
        ));
    }
    shortfalls
}

/// Reports the payments that are still open, by cause.
fn open_payments(judgement: &PaymentVerdicts, measures: &Measures) -> impl Iterator<Item = String> {
    let in_trouble = judgement.open_in_trouble;
    let trouble = if measures.contact.store_refusals().is_some() {
        "the service's store was unavailable"
    } else {
        "the service was away; a charge whose process died is resumed at the end of its lease of 30 s, so a --settle of \
         2m judges it"
    };
    let cause = if measures.contact.lost_after_load().is_zero() {
        "--settle was no longer than their payers take"
    } else {
        "the service did not answer for part of the time allowed for them"
    };
    let others = judgement.count(Verdict::StillOpen).saturating_sub(in_trouble);
    let causes = [(in_trouble, trouble), (others, cause)].into_iter().filter(|(count, _)| *count > 0);
    causes.map(|(count, cause)| format!("payments: {count} still open, because {cause}"))
}

#[cfg(test)]
mod tests {
    use std::time::{Duration, Instant};

    use quita_domain::status::Status;
    use uuid::Uuid;

    use super::super::ledger::{Ledger, Notice};
    use super::super::measures::{CallKind, Creation};
    use super::super::plan::Method;
    use super::super::verdict::{ReportedDeliveries, ReportedStatus};
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
        let judgement = PaymentVerdicts::of(&Ledger::new(0), false);
        let measures = measures(&[Reply::Status(201), REFUSED, REFUSED]);
        assert_eq!(violations(&judgement, &measures), [""; 0]);
        assert_eq!(
            shortfalls(&judgement, &measures),
            ["requests: 2 of 3 did not reach the service (connection refused)"]
        );
        assert_eq!(measures.failures(), 2, "a threshold may count them");
    }

    #[test]
    fn a_key_that_was_revoked_is_no_fault_of_the_service() {
        let judgement = PaymentVerdicts::of(&Ledger::new(0), true);
        let revoked = measures(&[Reply::Status(201), Reply::Status(401)]);
        assert_eq!(violations(&judgement, &revoked), [""; 0]);
        let expected = "requests: 1 of 2 were refused because of the key (401 or 403)";
        assert_eq!(shortfalls(&judgement, &revoked), [expected]);
    }

    #[test]
    fn one_dead_server_of_several_behind_a_proxy_is_told_from_an_absence() {
        let judgement = PaymentVerdicts::of(&Ledger::new(0), false);
        let good = Reply::Status(201);
        let gateway = Reply::Missing(NoAnswer::BadGateway);
        let mixed = measures(&[good, gateway, good, good]);
        assert_eq!(violations(&judgement, &mixed), [""; 0]);
        let expected =
            "requests: 1 of 4 did not reach the service (502 of a proxy), while others were answered";
        assert_eq!(shortfalls(&judgement, &mixed), [expected]);
        let away = measures(&[good, gateway, gateway]);
        assert_eq!(
            shortfalls(&judgement, &away),
            ["requests: 2 of 3 did not reach the service (502 of a proxy)"]
        );
    }

    #[test]
    fn a_connection_that_breaks_is_a_fault_unless_the_service_went_away() {
        let judgement = PaymentVerdicts::of(&Ledger::new(0), false);
        let broken = measures(&[Reply::Status(201), CLOSED, Reply::Status(201)]);
        let expected = ["requests: 1 without the answer that the contract promises"];
        assert_eq!(violations(&judgement, &broken), expected);
        let away = measures(&[Reply::Status(201), CLOSED, CLOSED, REFUSED]);
        assert_eq!(violations(&judgement, &away), [""; 0]);
        assert_eq!(
            shortfalls(&judgement, &away),
            [
                "requests: 1 of 4 did not reach the service (connection refused)",
                "requests: 2 were under way when the service went away"
            ]
        );
    }

    #[test]
    fn payments_of_which_nobody_knows_the_end_are_counted_and_named_and_accuse_nobody() {
        let mut ledger = Ledger::new(0);
        for (number, found) in
            [(1, ReportedStatus::Unanswered(REFUSED)), (2, ReportedStatus::Unanswered(Reply::Status(503)))]
        {
            ledger.find(Uuid::from_u128(number), None, found);
        }
        ledger.find(Uuid::from_u128(3), None, ReportedStatus::NotAsked);
        let measures = measures(&[Reply::Status(201)]);
        let judgement = PaymentVerdicts::of(&ledger, false);
        assert_eq!(violations(&judgement, &measures), [""; 0]);
        let expected = "payments: 3 not judged, because the service did not report how they ended \
                        (1 answered 503, 1 connection refused, 1 not asked)";
        assert_eq!(shortfalls(&judgement, &measures), [expected]);
        ledger.find(Uuid::from_u128(4), None, ReportedStatus::Unanswered(Reply::Status(429)));
        let limited = shortfalls(&PaymentVerdicts::of(&ledger, false), &measures).remove(0);
        assert!(
            limited.ends_with("; a longer --settle leaves time to query within the key's rate limit"),
            "{limited}"
        );
        let named: Vec<_> = judgement.examples.iter().map(|example| example.found.as_str()).collect();
        assert_eq!(named.len(), 3);
        assert!(named.contains(&"nothing (connection refused)"), "{named:?}");
        let stopped = PaymentVerdicts::of(&ledger, true);
        assert_eq!(shortfalls(&stopped, &measures), [""; 0], "nobody had the time to ask");
        assert!(stopped.examples.is_empty());
    }

    #[test]
    fn a_load_that_was_mostly_refused_falls_short_and_a_few_refusals_do_not() {
        let judgement = PaymentVerdicts::of(&Ledger::new(0), false);
        let good = Reply::Status(201);
        let refused = Reply::Status(429);
        let mut mostly = measures(&[good, refused, Reply::Status(503), good]);
        mostly.note_error(CallKind::Create, 503, || "overloaded: The service is busy.".into());
        assert_eq!(violations(&judgement, &mostly), [""; 0], "overload is signalled, and breaks no promise");
        let expected = "requests: 2 of 4 were refused, so the requested load was not reached (1 with 429; 1 with 503: \
             overloaded: The service is busy.)";
        assert_eq!(shortfalls(&judgement, &mostly), [expected]);
        let few = measures(&[&[refused][..], &[good; 99]].concat());
        assert_eq!(shortfalls(&judgement, &few), [""; 0]);
    }

    #[test]
    fn a_store_out_of_reach_explains_the_refusals_and_stands_first() {
        let judgement = PaymentVerdicts::of(&Ledger::new(0), false);
        let mut away = measures(&[Reply::Status(201), Reply::Status(503)]);
        away.contact.store_refused(true, Instant::now(), Instant::now());
        let found = shortfalls(&judgement, &away);
        assert!(
            found[0].starts_with("the service's store was unavailable: 1 request was refused"),
            "{found:?}"
        );
        assert!(found[1].contains("1 of 2 were refused"), "{found:?}");
    }

    #[test]
    fn a_run_without_any_event_falls_short_and_says_why_the_service_could_not_deliver() {
        let mut ledger = Ledger::new(0);
        let transaction = Uuid::from_u128(1);
        ledger.find(transaction, None, ReportedStatus::Is(Status::Paid));
        ledger.find_deliveries(transaction, ReportedDeliveries::Pending);
        let late = PaymentVerdicts::of(&ledger, false);
        let mut measures = measures(&[Reply::Status(201)]);
        measures.delivery_error = Some("connection refused".into());
        let found = shortfalls(&late, &measures).join("\n");
        assert!(found.contains("no event reached this load tester"), "{found}");
        assert!(found.ends_with("; the service reports: connection refused"), "{found}");
        ledger.find_deliveries(transaction, ReportedDeliveries::Forbidden);
        let unknown = PaymentVerdicts::of(&ledger, false);
        assert_eq!(violations(&unknown, &measures), [""; 0], "it may be the way to the tester");
        assert_eq!(shortfalls(&unknown, &measures).len(), 2);
        measures.webhooks.received = 1;
        assert_eq!(violations(&unknown, &measures), [""; 0], "it may be late");
        let expected = "payments: 1 not judged: the key lacks the scope webhooks, so a late event can't be \
                        distinguished from a missing one";
        assert_eq!(shortfalls(&unknown, &measures), [expected]);
    }

    #[test]
    fn trouble_of_the_load_tester_or_its_key_is_not_the_services() {
        let mut ledger = Ledger::new(0);
        let no_socket = ReportedStatus::Unanswered(Reply::Missing(NoAnswer::NoSocket));
        for (number, found) in [(1, ReportedStatus::KeyRefused(401)), (2, no_socket), (3, no_socket)] {
            ledger.find(Uuid::from_u128(number), None, found);
        }
        let judgement = PaymentVerdicts::of(&ledger, false);
        let measures = measures(&[Reply::Status(201)]);
        assert_eq!(violations(&judgement, &measures), [""; 0]);
        assert_eq!(
            shortfalls(&judgement, &measures),
            [
                "payments: 1 not judged: the key is no longer accepted",
                "payments: 2 not judged: the load tester had no socket left; allow it more open files (ulimit -n)",
            ]
        );
    }

    #[test]
    fn genuine_signatures_of_another_time_accuse_a_clock_and_not_the_secret() {
        let mut ledger = Ledger::new(0);
        let transaction = Uuid::from_u128(1);
        let status = Status::Paid;
        ledger.created(transaction, Method::Pix, Instant::now());
        ledger.hear(&Notice { transaction, sequence: 1, status, webhook_id: "a", is_signed_well: false });
        ledger.find(transaction, Some(status), ReportedStatus::Is(status));
        let judgement = PaymentVerdicts::of(&ledger, true);
        let mut measures = measures(&[Reply::Status(201)]);
        assert!(shortfalls(&judgement, &measures)[0].contains("no signature matches QUITA_SECRET"));
        (measures.webhooks.stale, measures.webhooks.stale_by_s) = (1, 17_999);
        let broken = violations(&judgement, &measures);
        assert_eq!(broken[0], "payments: 1 bad signature");
        assert!(
            broken[1].contains("up to 17999 s off") && broken[1].contains("clock of a node"),
            "{}",
            broken[1]
        );
        assert_eq!(shortfalls(&judgement, &measures), [""; 0]);
    }

    #[test]
    fn payments_that_are_still_open_are_a_matter_of_the_testers_patience() {
        let mut ledger = Ledger::new(0);
        let transaction = Uuid::from_u128(1);
        let status = Status::Pending;
        ledger.created(transaction, Method::Pix, Instant::now());
        ledger.hear(&Notice { transaction, sequence: 1, status, webhook_id: "a", is_signed_well: true });
        ledger.find(transaction, Some(status), ReportedStatus::Is(status));
        let judgement = PaymentVerdicts::of(&ledger, false);
        let measures = measures(&[Reply::Status(201)]);
        assert_eq!(violations(&judgement, &measures), [""; 0]);
        let expected = "payments: 1 still open, because --settle was no longer than their payers take";
        assert_eq!(shortfalls(&judgement, &measures), [expected]);
    }

    #[test]
    fn payments_that_are_still_open_after_a_trouble_are_its_matter() {
        let start = Instant::now();
        let mut ledger = Ledger::new(0);
        ledger.created(Uuid::from_u128(1), Method::Pix, start);
        ledger.allow(Duration::ZERO, Some(start + Duration::from_millis(1)));
        ledger.find(Uuid::from_u128(1), None, ReportedStatus::Is(Status::Initial));
        let judgement = PaymentVerdicts::of(&ledger, false);
        let mut measures = measures(&[Reply::Status(201)]);
        let found = shortfalls(&judgement, &measures);
        assert!(
            found[0].starts_with("payments: 1 still open, because the service was away; a charge"),
            "{found:?}"
        );
        assert_eq!(found.len(), 1);
        measures.contact.store_refused(true, start, start);
        let found = shortfalls(&judgement, &measures);
        assert_eq!(found[1], "payments: 1 still open, because the service's store was unavailable");
    }

    #[test]
    fn payments_that_were_declined_fall_short_with_their_reason_and_break_no_promise() {
        let mut ledger = Ledger::new(0);
        for (number, status) in [(1, Status::Paid), (2, Status::Declined), (3, Status::Declined)] {
            let transaction = Uuid::from_u128(number);
            ledger.created(transaction, Method::Pix, Instant::now());
            ledger.hear(&Notice { transaction, sequence: 1, status, webhook_id: "a", is_signed_well: true });
            ledger.find(transaction, Some(status), ReportedStatus::Is(status));
            if status == Status::Declined {
                ledger.explain(transaction, "no_acquirer_available");
            }
        }
        let measures = measures(&[Reply::Status(201)]);
        let judgement = PaymentVerdicts::of(&ledger, false);
        assert_eq!((judgement.count(Verdict::Complete), violations(&judgement, &measures)), (3, vec![]));
        let expected = "payments: 2 of 3 were declined, but all should be paid (no_acquirer_available); \
                        see /health/ready";
        assert_eq!(shortfalls(&judgement, &measures), [expected]);
        let transaction = Uuid::from_u128(4);
        let status = Status::Declined;
        ledger.hear(&Notice { transaction, sequence: 1, status, webhook_id: "b", is_signed_well: true });
        ledger.find(transaction, Some(status), ReportedStatus::NotAsked);
        let found = shortfalls(&PaymentVerdicts::of(&ledger, false), &measures).remove(0);
        assert!(found.contains("(1 for no known reason, 2 no_acquirer_available)"), "{found}");
    }

    #[test]
    fn calls_of_a_freeze_are_excused_and_one_that_hung_alone_is_not() {
        let judgement = PaymentVerdicts::of(&Ledger::new(0), false);
        let start = Instant::now();
        let at = |ms| start + Duration::from_millis(ms);
        let late = Reply::Missing(NoAnswer::TimeOut);
        for (answered_at, hung, expected) in [
            (1_005, 4, [vec![], vec!["requests: 4 were under way when the service went away".to_owned()]]),
            (
                20_005,
                1,
                [vec!["requests: 1 without the answer that the contract promises".to_owned()], vec![]],
            ),
        ] {
            let mut measures = Measures::new(start, 1).unwrap();
            *measures.replies.entry((CallKind::Create, Reply::Status(201))).or_default() += 1;
            measures.contact.replied(Reply::Status(201), at(answered_at - 4), at(answered_at), true);
            for number in 0..hung {
                let began = if number < 2 { 1_000 } else { 1_006 };
                *measures.replies.entry((CallKind::Create, late)).or_default() += 1;
                measures.contact.replied(late, at(began), at(began + 30_000), true);
            }
            measures.contact.confirm_loss();
            assert_eq!([violations(&judgement, &measures), shortfalls(&judgement, &measures)], expected);
        }
    }

    #[test]
    fn a_promise_that_is_broken_stays_broken_when_the_service_goes_away() {
        let mut ledger = Ledger::new(0);
        ledger.find(Uuid::from_u128(1), None, ReportedStatus::Unanswered(REFUSED));
        ledger.find(Uuid::from_u128(2), None, ReportedStatus::Nothing);
        let judgement = PaymentVerdicts::of(&ledger, false);
        assert_eq!(violations(&judgement, &measures(&[REFUSED])), ["payments: 1 lost"]);
    }
}
