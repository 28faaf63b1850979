//! Report as one self-contained HTML page.

use std::fmt::{self, Display};

use super::latency::{Latency, LatencyKind};
use super::measures::Slice;
use super::plot::{Scales, Series, TimeAxis, TimeSeries, bars, lines};
use super::progress::{NOTHING, seconds, time};
use super::report::LoadReport;
use super::terminal::{headline, limit_lines, outcome, percentiles};

const STYLE: &str = include_str!("page.css");

const RATES: Scales = Scales { place: axis_time, value: |value| format!("{value}/s") };
const TIMES: Scales = Scales { place: axis_time, value: time };
const SHARES: Scales = Scales { place: time, value: |value| value.to_string() };

/// Report, formatted as HTML.
pub(super) struct HtmlReport<'a>(pub(super) &'a LoadReport);

impl Display for HtmlReport<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self(report) = self;
        let (class, word) = match outcome(report) {
            "PASSED" => ("passed", "Passed"),
            "STOPPED" => ("failed", "Stopped"),
            _ => ("failed", "Failed"),
        };
        write!(
            f,
            "<!doctype html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n\
             <meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n\
             <title>Load on Quita: {word}</title>\n<style>\n{STYLE}</style>\n</head>\n<body>\n<main>\n\
             <h1>Load on Quita: <span class=\"{class}\">{word}</span></h1>\n<p class=\"quiet\">{}</p>\n",
            Text(&headline(report))
        )?;
        let stopped = report.stopped.iter().map(ToString::to_string);
        let stopped = stopped.chain(report.unanswered.iter().map(ToString::to_string));
        for fault in stopped.chain(report.faults()) {
            writeln!(f, "<p class=\"failed\">{}</p>", Text(&fault))?;
        }
        report.freezes.iter().try_for_each(|freeze| writeln!(f, "<p>{freeze}</p>"))?;
        report.own_pauses.iter().try_for_each(|pauses| writeln!(f, "<p>{pauses}</p>"))?;
        plots(f, report)?;
        latencies(f, report)?;
        stages(f, report)?;
        thresholds(f, report)?;
        limits(f, report)?;
        counts(f, report)?;
        pairs(f, "Circumstances", &report.circumstances.lines())?;
        if let Some(cost) = report.own_cost {
            let each = cost.cpu_us_per_request;
            writeln!(f, "<p class=\"quiet\">The load tester itself: {each} µs of CPU a request.</p>")?;
        }
        writeln!(f, "</main>\n</body>\n</html>")
    }
}

/// Text, escaped for HTML.
struct Text<'a>(&'a str);

impl Display for Text<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.chars().try_for_each(|character| match character {
            '&' => f.write_str("&amp;"),
            '<' => f.write_str("&lt;"),
            '>' => f.write_str("&gt;"),
            '"' => f.write_str("&quot;"),
            other => write!(f, "{other}"),
        })
    }
}

fn plots(f: &mut fmt::Formatter<'_>, report: &LoadReport) -> fmt::Result {
    let axis = time_axis(report);
    let over_time = |name, value: fn(&Slice) -> u64| TimeSeries {
        name,
        points: report.timeline.iter().map(|slice| (slice.end_ms, Some(value(slice)))).collect(),
    };
    // A slice without values has no latency.
    let timed = |name, value: fn(&Slice) -> u64| TimeSeries {
        name,
        points: report
            .timeline
            .iter()
            .map(|slice| (slice.end_ms, Some(value(slice)).filter(|us| *us > 0)))
            .collect(),
    };
    let spread = |wanted: &[LatencyKind]| -> Vec<_> {
        let latencies = report.latencies_us.iter().filter(|latency| wanted.contains(&latency.kind));
        latencies.map(distribution).collect()
    };
    let rates = [
        over_time("created", |slice| slice.per_second(slice.creates)),
        over_time("read", |slice| slice.per_second(slice.reads)),
        over_time("webhooks", |slice| slice.per_second(slice.events)),
        over_time("refused", |slice| slice.per_second(slice.refusals)),
        over_time("failed", |slice| slice.per_second(slice.failures)),
    ];
    let created =
        [timed("p50 of create", |slice| slice.create_p50), timed("p99 of create", |slice| slice.create_p99)];
    let told = [
        timed("p50 of delivery", |slice| slice.event_p50),
        timed("p99 of delivery", |slice| slice.event_p99),
    ];
    for (title, plot) in [
        ("Rate over time", lines("Rate over time", RATES, &axis, &rates)),
        ("Latency over time", lines("Latency over time", TIMES, &axis, &created)),
        (
            "Latency distribution",
            bars("Latency distribution", SHARES, &spread(&[LatencyKind::Create, LatencyKind::Read])),
        ),
        ("Event to delivery over time", lines("Event to delivery over time", TIMES, &axis, &told)),
        ("Event to delivery", bars("Event to delivery", SHARES, &spread(&[LatencyKind::Delivery]))),
    ] {
        writeln!(f, "<figure>\n<figcaption>{title}</figcaption>\n{plot}\n</figure>")?;
    }
    Ok(())
}

/// Returns the time axis of every plot: it spans the whole run, and each absence of the service.
fn time_axis(report: &LoadReport) -> TimeAxis {
    let slices = report.timeline.iter().map(|slice| slice.end_ms);
    let edges = report.absences.iter().map(|absence| absence.until_ms.unwrap_or(absence.from_ms));
    let end_ms = slices.chain(edges).max().unwrap_or(0);
    let bands = report.absences.iter().map(|absence| (absence.from_ms, absence.until_ms.unwrap_or(end_ms)));
    TimeAxis { end_ms, bands: bands.collect(), band_name: "service did not answer" }
}

fn distribution(latency: &Latency) -> Series {
    let points = latency.distribution.iter().map(|bin| (bin.below_us, bin.count));
    Series { name: latency.name, points: points.collect() }
}

fn latencies(f: &mut fmt::Formatter<'_>, report: &LoadReport) -> fmt::Result {
    write!(
        f,
        "<h2>Latency</h2>\n<div class=\"wide\"><table>\n<tr><th>of</th><th>count</th><th>p50</th><th>p90</th>\
         <th>p99</th><th>p99.9</th><th>max</th></tr>\n"
    )?;
    for latency in &report.latencies_us {
        write!(f, "<tr><td>{}</td><td>{}</td>", latency.name, latency.count)?;
        for value in percentiles(latency) {
            write!(f, "<td>{value}</td>")?;
        }
        writeln!(f, "</tr>")?;
    }
    writeln!(f, "</table></div>")
}

fn stages(f: &mut fmt::Formatter<'_>, report: &LoadReport) -> fmt::Result {
    if report.stages.is_empty() {
        return Ok(());
    }
    write!(
        f,
        "<h2>Stages</h2>\n<div class=\"wide\"><table>\n<tr><th>stage</th><th>created</th><th>p50</th>\
         <th>p99</th></tr>\n"
    )?;
    for stage in &report.stages {
        let shown = |value| if stage.created == 0 { NOTHING.into() } else { time(value) };
        let name = stage.stage;
        let created = stage.created;
        let p50 = shown(stage.p50);
        let p99 = shown(stage.p99);
        writeln!(f, "<tr><td>{name}</td><td>{created}</td><td>{p50}</td><td>{p99}</td></tr>")?;
    }
    writeln!(f, "</table></div>")
}

fn thresholds(f: &mut fmt::Formatter<'_>, report: &LoadReport) -> fmt::Result {
    if report.thresholds.is_empty() {
        return Ok(());
    }
    write!(
        f,
        "<h2>Fails if</h2>\n<div class=\"wide\"><table>\n<tr><th>condition</th><th>measured</th><th></th></tr>\n"
    )?;
    for threshold in &report.thresholds {
        let measured = threshold.measured.as_deref().unwrap_or(NOTHING);
        let (class, mark) = if threshold.is_crossed { ("failed", "crossed") } else { ("passed", "kept") };
        let condition = Text(&threshold.condition);
        writeln!(
            f,
            "<tr><td>{condition}</td><td>{measured}</td><td><span class=\"{class}\">{mark}</span></td></tr>"
        )?;
    }
    writeln!(f, "</table></div>")
}

fn limits(f: &mut fmt::Formatter<'_>, report: &LoadReport) -> fmt::Result {
    pairs(f, "What bounds the figure", &limit_lines(&report.limits))?;
    report.limits.findings.iter().try_for_each(|finding| writeln!(f, "<p>{}</p>", Text(finding)))
}

/// Writes a table of names and values.
fn pairs(f: &mut fmt::Formatter<'_>, title: &str, lines: &[(&'static str, String)]) -> fmt::Result {
    writeln!(f, "<h2>{title}</h2>\n<div class=\"wide\"><table class=\"pairs\">")?;
    for (name, value) in lines {
        writeln!(f, "<tr><th>{name}</th><td>{}</td></tr>", Text(value))?;
    }
    writeln!(f, "</table></div>")
}

fn counts(f: &mut fmt::Formatter<'_>, report: &LoadReport) -> fmt::Result {
    writeln!(
        f,
        "<h2>Payments</h2>\n<div class=\"wide\"><table>\n<tr><th>verdict</th><th>payments</th></tr>"
    )?;
    for (verdict, count) in report.counts() {
        writeln!(f, "<tr><td>{verdict}</td><td>{count}</td></tr>")?;
    }
    write!(
        f,
        "</table></div>\n<h2>Requests</h2>\n<div class=\"wide\"><table>\n\
         <tr><th>call</th><th>answer</th><th>requests</th></tr>\n"
    )?;
    for row in &report.requests {
        let outcome = row.status.map(|status| status.to_string());
        let outcome = outcome.or(row.error.map(str::to_owned)).unwrap_or_default();
        writeln!(f, "<tr><td>{}</td><td>{outcome}</td><td>{}</td></tr>", row.call.as_str(), row.count)?;
    }
    writeln!(f, "</table></div>")?;
    if let Some(declined) = report.declined_line() {
        writeln!(f, "<p>Declined: {}</p>", Text(&declined))?;
    }
    let hints = report.hints.iter().cloned().chain(report.examples.iter().map(ToString::to_string));
    hints.into_iter().try_for_each(|line| writeln!(f, "<p class=\"quiet\">{}</p>", Text(&line)))
}

fn axis_time(ms: u64) -> String {
    if ms.is_multiple_of(1_000) { format!("{} s", ms / 1_000) } else { seconds(ms) }
}

#[cfg(test)]
mod tests {
    use quita_domain::time::Timestamp;

    use super::super::reply::NoAnswer;
    use super::super::test_report::empty_report;
    use super::super::troubles::Absence;
    use super::*;

    #[test]
    fn an_absence_is_a_band_on_one_time_axis_and_a_gap_in_the_latencies() {
        let mut report = empty_report();
        report.timeline = (1..=10)
            .map(|second| {
                let is_away = (4..=7).contains(&second);
                let create_p50 = if is_away || second > 8 { 0 } else { 5_000 };
                Slice { end_ms: second * 1_000, length_ms: 1_000, create_p50, ..Slice::default() }
            })
            .collect();
        report.absences = vec![Absence {
            from_ms: 3_100,
            until_ms: Some(7_000),
            since: Timestamp::from_millis(0),
            cause: NoAnswer::ConnectionRefused,
            is_after_load: false,
            is_store_away: false,
        }];
        let page = HtmlReport(&report).to_string();
        assert_eq!(page.matches(r#"<title>service did not answer</title>"#).count(), 3, "{page}");
        assert_eq!(page.matches(">10 s</text>").count(), 3, "every axis ends with the run: {page}");
        let (_, plot) = page.split_once(r#"aria-label="Latency over time""#).unwrap();
        let (plot, _) = plot.split_once("</svg>").unwrap();
        assert_eq!(plot.matches(r#"<polyline class="line s0""#).count(), 2, "{plot}");
        report.absences[0].until_ms = None;
        assert_eq!(time_axis(&report).bands, [(3_100, 10_000)], "it lasted until the end");
    }

    #[test]
    fn text_of_others_is_shown_and_not_obeyed() {
        assert_eq!(Text(r#"<a href="x">&"#).to_string(), "&lt;a href=&quot;x&quot;&gt;&amp;");
    }
}
