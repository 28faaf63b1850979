//! `quita load compare`: two reports beside each other.

use std::fs;
use std::path::{Path, PathBuf};

use clap::Args;
use serde_json::Value;

use super::super::failure::Failure;
use super::super::output;
use super::progress::{NOTHING, time};
use super::report::FORMAT;

/// Percentiles that are compared.
const STATISTICS: [&str; 3] = ["p50", "p99", "max"];

/// Circumstances that must be equal for two figures to be comparable: JSON pointer in the report, and name.
const CIRCUMSTANCES: [(&str, &str); 13] = [
    ("/plan/model", "model"),
    ("/plan/pace", "pace"),
    ("/plan/stages", "stages"),
    ("/plan/durationMs", "duration"),
    ("/plan/mix", "mix"),
    ("/plan/receiverFailPercent", "receiver-fail"),
    ("/circumstances/version", "load tester"),
    ("/circumstances/service/version", "version of the service"),
    ("/circumstances/service/commit", "commit of the service"),
    ("/circumstances/service/store", "store"),
    ("/circumstances/machine/processor", "processor"),
    ("/circumstances/machine/cores", "cores"),
    ("/circumstances/machine/system", "system"),
];

/// Two reports of `quita load --json`.
#[derive(Debug, Args)]
pub(super) struct CompareCommand {
    /// The report to compare with
    #[arg(value_name = "A.json")]
    before: PathBuf,
    /// The report that is compared
    #[arg(value_name = "B.json")]
    after: PathBuf,
}

/// Report that was read.
struct Read {
    name: String,
    report: Value,
}

/// Value of both reports.
struct Row {
    name: String,
    values: [Option<u64>; 2],
    shown: fn(u64) -> String,
}

pub(super) fn run(command: &CompareCommand) -> Result<(), Failure> {
    let [before, after] = [read(&command.before)?, read(&command.after)?];
    output::result(&table(&before, &after))
}

fn read(path: &Path) -> Result<Read, Failure> {
    let name = path.display().to_string();
    let text = fs::read_to_string(path);
    let text = text.map_err(|error| Failure::failed(format!("{name} can't be read: {error}")))?;
    let report: Option<Value> = serde_json::from_str(&text).ok();
    let report = report.filter(|report| number(report, "/format") == Some(FORMAT));
    let report = report.ok_or_else(|| Failure::failed(no_report(&name, &text)))?;
    Ok(Read { name, report })
}

/// Returns the refusal of a file that is no report, with how to get one. The file itself is not to be overwritten.
fn no_report(name: &str, text: &str) -> String {
    let found = if text.trim_start().to_ascii_lowercase().starts_with("<!doctype html") {
        "is a page for people, as --html writes it"
    } else {
        "is no JSON report of this version of `quita load`"
    };
    format!(
        "{name} {found}. Only JSON reports are compared: `quita load … --json FILE` writes one, beside --html in the \
         same run."
    )
}

fn table(before: &Read, after: &Read) -> String {
    let mut lines = vec![heading("A", before), heading("B", after)];
    let differences = differences(&before.report, &after.report);
    if !differences.is_empty() {
        lines.push("\nThe runs are not comparable. They differ in:".into());
        lines.extend(differences.into_iter().map(|difference| format!("  {difference}")));
    }
    lines.push(format!("\n{:<26}{:>14}{:>14}{:>16}", "", "A", "B", "change"));
    lines.extend(rows(&before.report, &after.report).iter().map(Row::line));
    lines.join("\n")
}

/// Returns the line that explains the letter of a report.
fn heading(letter: &str, read: &Read) -> String {
    let of = |place| read.report.pointer(place).and_then(Value::as_str).map(output::printable);
    let started = of("/circumstances/startedAt").unwrap_or_default();
    let note = of("/circumstances/note").map(|note| format!("  {note}")).unwrap_or_default();
    let outcome = outcome(&read.report);
    format!("{letter}  {}  {started}  {outcome}{note}", read.name)
}

/// Returns how a run ended: figures of a part of a run are not those of a whole one.
fn outcome(report: &Value) -> String {
    let seconds = |place| number(report, place).unwrap_or(0) / 1_000;
    if report.pointer("/passed").and_then(Value::as_bool) == Some(true) {
        "passed".into()
    } else if report.pointer("/stopped").is_some_and(Value::is_object) {
        format!("stopped after {} s of {} s", seconds("/stopped/afterMs"), seconds("/stopped/ofMs"))
    } else if number(report, "/absences/0/fromMs").is_some() {
        format!("not passed: the service was away from {} s on", seconds("/absences/0/fromMs"))
    } else {
        "not passed".into()
    }
}

impl Row {
    fn line(&self) -> String {
        let [before, after] = self.values.map(|value| value.map_or_else(|| NOTHING.into(), self.shown));
        format!("{:<26}{before:>14}{after:>14}{:>16}", self.name, change(self.values))
    }
}

/// Lists the circumstances that differ, with both values.
fn differences(before: &Value, after: &Value) -> Vec<String> {
    let different = CIRCUMSTANCES.into_iter().filter_map(|(place, name)| {
        let [before, after] = [before, after].map(|report| shown(report.pointer(place)));
        (before != after).then(|| format!("{name}: {before} / {after}"))
    });
    different.collect()
}

fn shown(value: Option<&Value>) -> String {
    match value {
        None | Some(Value::Null) => "unknown".into(),
        Some(Value::String(text)) => output::printable(text),
        Some(other) => output::printable(&other.to_string()),
    }
}

fn rows(before: &Value, after: &Value) -> Vec<Row> {
    let plain: fn(u64) -> String = |value| value.to_string();
    let row = |name: String, place: String, shown| Row {
        name,
        values: [before, after].map(|report| number(report, &place)),
        shown,
    };
    let mut rows = vec![
        row("payments".into(), "/payments".into(), plain),
        row("created a second".into(), "/createsPerSecond".into(), plain),
    ];
    let latencies = before.pointer("/latenciesUs").and_then(Value::as_array);
    for latency in latencies.into_iter().flatten() {
        let [Some(id), Some(name)] = ["id", "name"].map(|key| latency.get(key).and_then(Value::as_str))
        else {
            continue;
        };
        rows.extend(STATISTICS.map(|statistic| Row {
            name: output::printable(&format!("{name} {statistic}")),
            values: [before, after].map(|report| percentile(report, id, statistic)),
            shown: time,
        }));
    }
    rows.push(row("CPU a request, tester".into(), "/ownCost/cpuUsPerRequest".into(), time));
    rows.push(row("late events".into(), "/verdicts/late event".into(), plain));
    rows.push(row("not sent".into(), "/skipped".into(), plain));
    rows
}

/// Returns a percentile. `None` if nothing was measured.
fn percentile(report: &Value, id: &str, statistic: &str) -> Option<u64> {
    let mut latencies = report.pointer("/latenciesUs")?.as_array()?.iter();
    let latency = latencies.find(|latency| latency.get("id").and_then(Value::as_str) == Some(id))?;
    let count = latency.get("count")?.as_u64()?;
    latency.get(statistic)?.as_u64().filter(|_| count > 0)
}

fn number(report: &Value, place: &str) -> Option<u64> {
    report.pointer(place)?.as_u64()
}

/// Formats the change from the first to the second in percent, with one decimal.
fn change([before, after]: [Option<u64>; 2]) -> String {
    let (Some(before), Some(after)) = (before, after) else { return NOTHING.into() };
    let difference = u128::from(before.abs_diff(after));
    // Rounded to the nearest tenth of a percent.
    let twice = u128::from(before) * 2;
    let Some(tenths) = (difference * 2_000 + u128::from(before)).checked_div(twice) else {
        return if after == 0 { "0.0%".into() } else { NOTHING.into() };
    };
    let sign = match (tenths, before < after) {
        (0, _) => "",
        (_, true) => "+",
        (_, false) => "-",
    };
    format!("{sign}{}.{}%", tenths / 10, tenths % 10)
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn report(rate: u64, p99: u64, count: u64) -> Read {
        let report = json!({
            "format": FORMAT, "passed": true, "payments": 10, "createsPerSecond": rate, "skipped": 0,
            "plan": { "model": "open", "pace": 20 },
            "circumstances": { "startedAt": "2026-11-26T00:00:00.000Z", "note": "a\u{1b}[2J", "machine": { "cores": count } },
            "latenciesUs": [{ "id": "create", "name": "create", "count": count, "p50": 5, "p99": p99, "max": p99 }],
        });
        Read { name: "a.json".into(), report }
    }

    #[test]
    fn a_change_is_shown_in_percent() {
        for (before, after, expected) in [
            (100, 150, "+50.0%"),
            (150, 100, "-33.3%"),
            (1_000, 1_001, "+0.1%"),
            (7, 7, "0.0%"),
            (0, 0, "0.0%"),
            (0, 5, "–"),
        ] {
            assert_eq!(change([Some(before), Some(after)]), expected, "{before} {after}");
        }
        assert_eq!(change([None, Some(1)]), "–");
    }

    #[test]
    fn a_file_that_is_no_report_is_not_advised_to_be_overwritten() {
        for (text, expected) in [
            ("<!doctype html>\n<html>", "load.html is a page for people"),
            (" <!DOCTYPE HTML>", "load.html is a page for people"),
            ("{}", "load.html is no JSON report of this version"),
        ] {
            let said = no_report("load.html", text);
            assert!(said.starts_with(expected) && said.contains("--json FILE"), "{said}");
            assert!(!said.contains("--json load.html"), "{said}");
        }
    }

    #[test]
    fn a_part_of_a_run_is_said_to_be_one() {
        for (report, expected) in [
            (json!({ "passed": true, "stopped": null, "absences": [] }), "passed"),
            (json!({ "passed": false, "stopped": null, "absences": [] }), "not passed"),
            (
                json!({ "passed": false, "stopped": { "afterMs": 3_200, "ofMs": 60_000 } }),
                "stopped after 3 s of 60 s",
            ),
            (
                json!({ "passed": false, "stopped": null, "absences": [{ "fromMs": 4_100 }] }),
                "not passed: the service was away from 4 s on",
            ),
        ] {
            assert_eq!(outcome(&report), expected);
        }
    }

    #[test]
    fn values_stand_beside_each_other() {
        let table = table(&report(100, 2_000, 4), &report(150, 1_000, 4));
        let row = |name| table.lines().find(|line: &&str| line.starts_with(name)).unwrap().split_whitespace();
        assert_eq!(row("created a second").collect::<Vec<_>>()[3..], ["100", "150", "+50.0%"]);
        assert_eq!(row("create p99").collect::<Vec<_>>()[2..], ["2.0", "ms", "1.0", "ms", "-50.0%"]);
        assert!(!table.contains("not comparable"), "{table}");
        assert!(!table.contains('\u{1b}'), "text of a file is shown and not obeyed");
    }

    #[test]
    fn even_the_greatest_change_stands_apart_from_its_values() {
        let table = table(&report(100, 33, 4), &report(100, 600_000_000, 4));
        let p99 = table.lines().find(|line| line.starts_with("create p99")).unwrap();
        assert!(p99.ends_with("600.00 s  +1818181718.2%"), "{p99}");
        assert!(table.lines().all(|line| line.chars().count() <= 80), "{table}");
    }

    #[test]
    fn unlike_runs_are_said_to_be_unlike() {
        let table = table(&report(100, 2_000, 4), &report(100, 2_000, 0));
        assert!(table.contains("cores: 4 / 0"), "{table}");
        let p99 = table.lines().find(|line| line.starts_with("create p99")).unwrap();
        assert!(p99.trim_end().ends_with('–'), "nothing was measured in the second: {p99}");
    }
}
