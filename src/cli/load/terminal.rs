//! The report as text.

use std::fmt::{self, Display};

use super::progress::time;
use super::report::Report;
use super::verdict::Verdict;

/// Shows a report on a terminal.
pub(super) struct Terminal<'a>(pub(super) &'a Report);

impl Display for Terminal<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self(report) = self;
        writeln!(f, "{}", headline(report))?;
        writeln!(f, "\nrequests")?;
        for row in &report.requests {
            let status = row.status.map_or("no answer".into(), |status| status.to_string());
            writeln!(f, "  {:<8}{status:<10}{:>10}", row.call.as_str(), row.count)?;
        }
        let webhooks = report.webhooks;
        writeln!(
            f,
            "  webhooks received {}, refused on purpose {}, unreadable {}",
            webhooks.received, webhooks.refused, webhooks.unreadable
        )?;
        writeln!(
            f,
            "\n{:<20}{:>9}{:>11}{:>11}{:>11}{:>11}{:>11}",
            "latency", "count", "p50", "p90", "p99", "p99.9", "max"
        )?;
        for latency in &report.latencies_us {
            write!(f, "  {:<18}{:>9}", latency.name, latency.count)?;
            for value in [latency.p50, latency.p90, latency.p99, latency.p999, latency.max] {
                write!(f, "{:>11}", time(value))?;
            }
            writeln!(f)?;
        }
        verdicts(f, report)?;
        if let Some(cost) = report.own_cost {
            let (each, all) = (cost.cpu_us_per_request, time(cost.cpu_us));
            let requests = cost.requests;
            writeln!(
                f,
                "\nthe load tester's own cost: {each} µs of CPU a request ({all} for {requests} requests and webhooks)"
            )?;
        }
        write!(f, "\n{}", if report.passed { "PASSED" } else { "FAILED" })?;
        report.violations.iter().try_for_each(|violation| write!(f, "\n  {violation}"))
    }
}

/// What was run, in one line.
pub(super) fn headline(report: &Report) -> String {
    let plan = &report.plan;
    let pace = match plan.model {
        "open" => format!("{} payments a second", plan.pace),
        _ => format!("{} clients", plan.pace),
    };
    let took = time(report.elapsed_ms.saturating_mul(1_000));
    format!(
        "{} payments in {took} at {} ({} model, {pace}): {} created a second",
        report.payments, plan.url, plan.model, report.creates_per_second
    )
}

fn verdicts(f: &mut fmt::Formatter<'_>, report: &Report) -> fmt::Result {
    writeln!(f, "\npayments")?;
    for (verdict, count) in
        report.counts().filter(|(verdict, count)| *count > 0 || *verdict == Verdict::Complete)
    {
        writeln!(f, "  {verdict:<26}{count:>10}")?;
    }
    if !report.plan.are_signatures_checked {
        writeln!(f, "  signatures were not checked: set QUITA_SECRET to what `quita secrets show` prints")?;
    }
    for example in &report.examples {
        let told = if example.told.is_empty() { "nothing".into() } else { example.told.join(", ") };
        let (id, verdict, found) = (example.transaction_id, example.verdict, example.found);
        writeln!(f, "  {id}  {verdict}: told {told}; the service says {found}")?;
    }
    Ok(())
}
