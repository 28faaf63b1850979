//! Reports to operators: each is stored with its change, or kept until its cause is repeated.

use quita_domain::payment::{Command, Decision, Effect, MAX_REPORTS, Payment};

pub(super) fn check(before: &Payment, decision: &Decision, command: &Command) {
    let after = decision.next.as_ref().unwrap_or(before);
    assert!(after.reports.len() <= MAX_REPORTS, "the document is bounded");
    for found in &decision.discrepancies {
        let is_stored = after.reports.iter().any(|report| report.kind == found.kind);
        let is_left = decision.unstored.contains(found);
        assert!(is_stored || is_left, "{found:?} is lost with the process");
        let is_kept = matches!(command, Command::Notified { .. }) || after.reports.len() == MAX_REPORTS;
        assert!(!is_left || is_kept, "{found:?} is left to nobody");
    }
    for report in &after.reports {
        assert!(after.due_at().is_some_and(|at| at <= report.due_at), "nobody brings it on");
        let is_new = before.reports.iter().all(|known| known.key() != report.key());
        assert!(!is_new || decision.effects.contains(&Effect::Report), "it waits for its lease");
    }
    let taken_off =
        before.reports.iter().filter(|known| after.reports.iter().all(|one| one.key() != known.key()));
    for report in taken_off {
        assert!(
            matches!(command, Command::Reported(keys) if keys.contains(&report.key())),
            "it is forgotten"
        );
    }
}
