//! Report as text.

use std::fmt::{self, Display};

use super::latency::Latency;
use super::limits::Limits;
use super::progress::{NOTHING, time};
use super::report::LoadReport;
use super::verdict::Verdict;

/// Wait after the last payment from which the headline states its reason, in milliseconds.
const NAMED_WAIT_MS: u64 = 1_000;

/// Report without its outcome, formatted for a terminal.
pub(super) struct Terminal<'a>(pub(super) &'a LoadReport);

/// Last lines of the report: the outcome, and the reasons for it.
pub(super) struct Outcome<'a> {
    /// Report of the run.
    pub(super) report: &'a LoadReport,
    /// Reasons why a report file was not written. Such a run has not passed.
    pub(super) unwritten: &'a [String],
}

impl Display for Terminal<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self(report) = self;
        report.warnings().try_for_each(|warning| writeln!(f, "Warning: {warning}"))?;
        writeln!(f, "{}", headline(report))?;
        for (name, value) in report.circumstances.lines() {
            writeln!(f, "  {name:<12} {value}")?;
        }
        requests(f, report)?;
        latencies(f, report)?;
        stages(f, report)?;
        verdicts(f, report)?;
        writeln!(f, "\nwhat bounds the figure, without the wait for events")?;
        for (name, value) in limit_lines(&report.limits) {
            writeln!(f, "  {name:<12} {value}")?;
        }
        for finding in &report.limits.findings {
            writeln!(f, "  - {finding}")?;
        }
        if let Some(cost) = report.own_cost {
            let each = cost.cpu_us_per_request;
            let all = time(cost.cpu_us);
            let requests = cost.requests;
            writeln!(
                f,
                "\nthe load tester's own cost in the same time: {each} µs of CPU a request ({all} for {requests} requests and webhooks)"
            )?;
        }
        thresholds(f, report)
    }
}

impl Display for Outcome<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { report, unwritten } = self;
        let word = if report.passed && !unwritten.is_empty() { "FAILED" } else { outcome(report) };
        f.write_str(word)?;
        report.stopped.iter().try_for_each(|stopped| write!(f, "\n  {stopped}"))?;
        report.faults().try_for_each(|fault| write!(f, "\n  {fault}"))?;
        unwritten.iter().try_for_each(|reason| write!(f, "\n  report: {reason}"))
    }
}

/// Returns a summary of the run in one line.
pub(super) fn headline(report: &LoadReport) -> String {
    let plan = &report.plan;
    let pace = match (plan.model, plan.stages.as_slice()) {
        ("open", [_]) => format!("{} a second", counted(plan.pace, "payment")),
        ("open", stages) => {
            let stages: Vec<_> = stages.iter().map(ToString::to_string).collect();
            format!("stages {}", stages.join(","))
        }
        _ => counted(plan.pace, "client"),
    };
    let took = time(report.made_in_ms.saturating_mul(1_000));
    let after = report.elapsed_ms.saturating_sub(report.made_in_ms);
    let waited = if after >= NAMED_WAIT_MS {
        format!(" (plus {} waiting for the last answers)", time(after.saturating_mul(1_000)))
    } else {
        String::new()
    };
    let payments = counted(report.payments, "payment");
    format!(
        "{payments} in {took}{waited} at {} ({} model, {pace}): {} created a second",
        plan.url, plan.model, report.rate
    )
}

/// Returns a count with its noun, whose plural ends in `s`.
fn counted(count: u64, noun: &str) -> String {
    let plural = if count == 1 { "" } else { "s" };
    format!("{count} {noun}{plural}")
}

/// Returns the outcome of the run in one word.
pub(super) fn outcome(report: &LoadReport) -> &'static str {
    match (report.passed, &report.stopped) {
        (true, _) => "PASSED",
        (false, Some(_)) if report.faults().next().is_none() => "STOPPED",
        (false, _) => "FAILED",
    }
}

/// Returns the resources that the run used, as names and values.
pub(super) fn limit_lines(limits: &Limits) -> Vec<(&'static str, String)> {
    let percent =
        |share: Option<u64>| share.map_or_else(|| NOTHING.to_owned(), |percent| format!("{percent}%"));
    let mut lines = vec![(
        "processors",
        format!(
            "machine {} busy; load tester {} of a core, service {}",
            percent(limits.machine_busy_percent),
            percent(limits.own_cpu_percent),
            percent(limits.service_cpu_percent)
        ),
    )];
    lines.extend(limits.others_percent.map(|others| {
        let stolen = limits.stolen_percent.filter(|stolen| *stolen > 0);
        let stolen = stolen.map(|stolen| format!("; {stolen}% went to the hypervisor's other guests"));
        let stolen = stolen.unwrap_or_default();
        ("others", format!("{} took {others}% of the machine's processors{stolen}", limits.others()))
    }));
    let Some(service) = &limits.service else {
        let gap = limits.metrics_gap.as_deref().unwrap_or("the metrics were not read");
        lines.push(("store", format!("unknown: {gap}")));
        return lines;
    };
    lines.extend(service.nodes.filter(|nodes| *nodes > 1).map(|nodes| {
        ("one node", format!("the figures for service, store and refusals cover one of {nodes} nodes"))
    }));
    let edge = |edge: Option<u64>| match (edge, service.commits) {
        (_, 0) => NOTHING.to_owned(),
        (Some(us), _) => format!("below {}", time(us)),
        (None, _) => "above 10 s".into(),
    };
    // The metrics count a commit that failed as well, with its time.
    let tries = if service.store_failures == 0 { "commits" } else { "tries to commit" };
    let whole = service.batch_mean_tenths / 10;
    let tenths = service.batch_mean_tenths % 10;
    lines.push((
        "store",
        format!(
            "{} {tries} of {whole}.{tenths} writes, p50 {}, p99 {}; {} conflicts, {} failures",
            service.commits,
            edge(service.commit_p50_below_us),
            edge(service.commit_p99_below_us),
            service.store_conflicts,
            service.store_failures
        ),
    ));
    let actors: Vec<_> =
        service.refused_by_actor.iter().map(|(actor, count)| format!("{actor} {count}")).collect();
    let actors = if actors.is_empty() { "none".into() } else { actors.join(", ") };
    let cut = service.connections_refused;
    lines.push((
        "refusals",
        format!("messages refused by full mailboxes: {actors}; connections closed because there were too many: {cut}"),
    ));
    lines
}

/// Formats the percentiles of a latency. If nothing was measured, they are dashes, not zeros.
pub(super) fn percentiles(latency: &Latency) -> [String; 5] {
    let values = [latency.p50, latency.p90, latency.p99, latency.p999, latency.max];
    values.map(|value| if latency.count == 0 { NOTHING.into() } else { time(value) })
}

fn requests(f: &mut fmt::Formatter<'_>, report: &LoadReport) -> fmt::Result {
    writeln!(f, "\nrequests")?;
    for row in &report.requests {
        let outcome = row.status.map(|status| status.to_string());
        let outcome = outcome.or(row.error.map(str::to_owned)).unwrap_or_default();
        writeln!(f, "  {:<12}{outcome:<20}{:>10}", row.call.as_str(), row.count)?;
    }
    let webhooks = report.webhooks;
    writeln!(
        f,
        "  webhooks received {}, refused on purpose {}, unreadable {}",
        webhooks.received, webhooks.refused, webhooks.unreadable
    )
}

fn latencies(f: &mut fmt::Formatter<'_>, report: &LoadReport) -> fmt::Result {
    writeln!(
        f,
        "\n{:<20}{:>9}{:>10}{:>10}{:>10}{:>10}{:>10}",
        "latency", "count", "p50", "p90", "p99", "p99.9", "max"
    )?;
    for latency in &report.latencies_us {
        write!(f, "  {:<18}{:>9}", latency.name, latency.count)?;
        for value in percentiles(latency) {
            write!(f, "{value:>10}")?;
        }
        writeln!(f)?;
    }
    Ok(())
}

fn stages(f: &mut fmt::Formatter<'_>, report: &LoadReport) -> fmt::Result {
    if report.stages.is_empty() {
        return Ok(());
    }
    writeln!(f, "\n{:<20}{:>9}{:>10}{:>10}", "stage", "created", "p50", "p99")?;
    for stage in &report.stages {
        let shown = |value| if stage.created == 0 { NOTHING.into() } else { time(value) };
        let name = stage.stage.to_string();
        writeln!(f, "  {name:<18}{:>9}{:>10}{:>10}", stage.created, shown(stage.p50), shown(stage.p99))?;
    }
    Ok(())
}

fn verdicts(f: &mut fmt::Formatter<'_>, report: &LoadReport) -> fmt::Result {
    writeln!(f, "\npayments")?;
    for (verdict, count) in
        report.counts().filter(|(verdict, count)| *count > 0 || *verdict == Verdict::Complete)
    {
        writeln!(f, "  {verdict:<26}{count:>10}")?;
    }
    if let Some(declined) = report.declined_line() {
        writeln!(f, "  declined {declined}")?;
    }
    for hint in &report.hints {
        writeln!(f, "  {hint}")?;
    }
    for example in &report.examples {
        writeln!(f, "  {example}")?;
    }
    Ok(())
}

fn thresholds(f: &mut fmt::Formatter<'_>, report: &LoadReport) -> fmt::Result {
    if report.thresholds.is_empty() {
        return Ok(());
    }
    writeln!(f, "\nfails if")?;
    for threshold in &report.thresholds {
        let measured = threshold.measured.as_deref().unwrap_or(NOTHING);
        let mark = if threshold.is_crossed { "crossed" } else { "kept" };
        writeln!(f, "  {:<28}{measured:>16}  {mark}", threshold.condition)?;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use super::super::service_metrics::ServiceLoad;
    use super::super::test_report::empty_report;
    use super::*;

    #[test]
    fn the_headline_tells_the_time_of_the_payments_from_the_wait_after_it() {
        let mut report = empty_report();
        (report.payments, report.made_in_ms, report.elapsed_ms) = (646, 4_000, 32_060);
        let said = headline(&report);
        assert!(
            said.starts_with("646 payments in 4.00 s (plus 28.06 s waiting for the last answers) at "),
            "{said}"
        );
        report.elapsed_ms = 4_020;
        assert!(headline(&report).starts_with("646 payments in 4.00 s at "));
        report.payments = 1;
        (report.plan.model, report.plan.pace) = ("closed", 1);
        let said = headline(&report);
        assert!(said.starts_with("1 payment in ") && said.contains(" model, 1 client): "), "{said}");
    }

    #[test]
    fn a_run_whose_report_was_not_written_has_not_passed() {
        let mut report = empty_report();
        report.passed = true;
        report.shortfalls.clear();
        assert_eq!(Outcome { report: &report, unwritten: &[] }.to_string(), "PASSED");
        let unwritten = ["/dev/full can't be written".to_owned()];
        let said = Outcome { report: &report, unwritten: &unwritten }.to_string();
        assert_eq!(said, "FAILED\n  report: /dev/full can't be written");
        assert!(
            !Terminal(&report).to_string().contains("PASSED"),
            "it is printed before the files are written"
        );
    }

    #[test]
    fn declined_payments_are_listed_under_the_payments_with_their_reason() {
        let mut report = empty_report();
        assert!(!Terminal(&report).to_string().contains("declined"));
        report.declined = BTreeMap::from([("no_acquirer_available".to_owned(), 60)]);
        let said = Terminal(&report).to_string();
        assert!(said.contains("\n  declined 60 (no_acquirer_available)\n"), "{said}");
    }

    #[test]
    fn figures_of_one_node_among_several_are_said_to_be_of_one() {
        let one_node = |nodes| {
            let service = Some(ServiceLoad { nodes, ..ServiceLoad::default() });
            let lines = limit_lines(&Limits { service, ..Limits::default() });
            lines.into_iter().find(|(name, _)| *name == "one node")
        };
        let words = "the figures for service, store and refusals cover one of 3 nodes";
        assert_eq!(one_node(Some(3)), Some(("one node", words.to_owned())));
        assert_eq!((one_node(Some(1)), one_node(None)), (None, None));
    }

    #[test]
    fn commits_that_may_have_failed_are_called_tries() {
        for (store_failures, expected) in
            [(0, "410 commits of 4.0 writes"), (3, "410 tries to commit of 4.0 writes")]
        {
            let service =
                ServiceLoad { commits: 410, batch_mean_tenths: 40, store_failures, ..ServiceLoad::default() };
            let lines = limit_lines(&Limits { service: Some(service), ..Limits::default() });
            let store = lines.into_iter().find(|(name, _)| *name == "store").map(|(_, store)| store);
            assert!(store.as_ref().is_some_and(|store| store.starts_with(expected)), "{store:?}");
        }
    }

    #[test]
    fn messages_that_actors_refused_are_not_called_requests() {
        let refused_by_actor = BTreeMap::from([("webhook_pool".to_owned(), 4_559)]);
        let service = Some(ServiceLoad { refused_by_actor, ..ServiceLoad::default() });
        let lines = limit_lines(&Limits { service, ..Limits::default() });
        let (name, refusals) = lines.last().unwrap();
        assert_eq!(*name, "refusals");
        assert!(refusals.starts_with("messages refused by full mailboxes: webhook_pool 4559;"), "{refusals}");
    }
}
