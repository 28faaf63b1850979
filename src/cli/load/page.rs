//! The report as one page that needs nothing else.

use std::fmt::{self, Display};

use super::measures::Slice;
use super::plot::{Scales, Series, bars, lines};
use super::progress::time;
use super::report::{Latency, Report};
use super::terminal::headline;

const STYLE: &str = include_str!("page.css");

const RATES: Scales = Scales { place: seconds, value: |value| format!("{value}/s") };
const TIMES: Scales = Scales { place: seconds, value: time };
const SHARES: Scales = Scales { place: time, value: |value| value.to_string() };

/// Shows a report as HTML.
pub(super) struct Page<'a>(pub(super) &'a Report);

impl Display for Page<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self(report) = self;
        let (class, word) = if report.passed { ("passed", "Passed") } else { ("failed", "Failed") };
        write!(
            f,
            "<!doctype html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n\
             <meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n\
             <title>Load on Quita: {word}</title>\n<style>\n{STYLE}</style>\n</head>\n<body>\n<main>\n\
             <h1>Load on Quita: <span class=\"{class}\">{word}</span></h1>\n<p class=\"quiet\">{}</p>\n",
            Text(&headline(report))
        )?;
        for violation in &report.violations {
            writeln!(f, "<p class=\"failed\">{}</p>", Text(violation))?;
        }
        plots(f, report)?;
        latencies(f, report)?;
        counts(f, report)?;
        if let Some(cost) = report.own_cost {
            let each = cost.cpu_us_per_request;
            writeln!(f, "<p class=\"quiet\">The load tester itself: {each} µs of CPU a request.</p>")?;
        }
        writeln!(f, "</main>\n</body>\n</html>")
    }
}

/// Text in HTML.
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

fn plots(f: &mut fmt::Formatter<'_>, report: &Report) -> fmt::Result {
    let over_time = |name, value: fn(&Slice) -> u64| Series {
        name,
        points: report.timeline.iter().map(|slice| (slice.end_ms, value(slice))).collect(),
    };
    // A slice without any has no latency.
    let timed = |name, value| {
        let mut series = over_time(name, value);
        series.points.retain(|point| point.1 > 0);
        series
    };
    let spread = |wanted: &[&str]| -> Vec<_> {
        let latencies = report.latencies_us.iter().filter(|latency| wanted.contains(&latency.name));
        latencies.map(distribution).collect()
    };
    let rates = [
        over_time("created", |slice| slice.per_second(slice.creates)),
        over_time("read", |slice| slice.per_second(slice.reads)),
        over_time("webhooks", |slice| slice.per_second(slice.events)),
        over_time("failed", |slice| slice.per_second(slice.failures)),
    ];
    let created =
        [timed("p50 of create", |slice| slice.create_p50), timed("p99 of create", |slice| slice.create_p99)];
    let told = [
        timed("p50 of delivery", |slice| slice.event_p50),
        timed("p99 of delivery", |slice| slice.event_p99),
    ];
    for (title, plot) in [
        ("Rate over time", lines("Rate over time", RATES, &rates)),
        ("Latency over time", lines("Latency over time", TIMES, &created)),
        ("Latency distribution", bars("Latency distribution", SHARES, &spread(&["create", "read"]))),
        ("Event to delivery over time", lines("Event to delivery over time", TIMES, &told)),
        ("Event to delivery", bars("Event to delivery", SHARES, &spread(&["event to delivery"]))),
    ] {
        writeln!(f, "<figure>\n<figcaption>{title}</figcaption>\n{plot}\n</figure>")?;
    }
    Ok(())
}

fn distribution(latency: &Latency) -> Series {
    let points = latency.distribution.iter().map(|bin| (bin.below_us, bin.count));
    Series { name: latency.name, points: points.collect() }
}

fn latencies(f: &mut fmt::Formatter<'_>, report: &Report) -> fmt::Result {
    write!(
        f,
        "<h2>Latency</h2>\n<div class=\"wide\"><table>\n<tr><th>of</th><th>count</th><th>p50</th><th>p90</th>\
         <th>p99</th><th>p99.9</th><th>max</th></tr>\n"
    )?;
    for latency in &report.latencies_us {
        write!(f, "<tr><td>{}</td><td>{}</td>", latency.name, latency.count)?;
        for value in [latency.p50, latency.p90, latency.p99, latency.p999, latency.max] {
            write!(f, "<td>{}</td>", time(value))?;
        }
        writeln!(f, "</tr>")?;
    }
    writeln!(f, "</table></div>")
}

fn counts(f: &mut fmt::Formatter<'_>, report: &Report) -> fmt::Result {
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
        let status = row.status.map_or("none".into(), |status| status.to_string());
        writeln!(f, "<tr><td>{}</td><td>{status}</td><td>{}</td></tr>", row.call.as_str(), row.count)?;
    }
    writeln!(f, "</table></div>")
}

fn seconds(ms: u64) -> String {
    if ms.is_multiple_of(1_000) {
        format!("{} s", ms / 1_000)
    } else {
        format!("{}.{} s", ms / 1_000, ms % 1_000 / 100)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn text_of_others_is_shown_and_not_obeyed() {
        assert_eq!(Text(r#"<a href="x">&"#).to_string(), "&lt;a href=&quot;x&quot;&gt;&amp;");
    }
}
