//! `quita load compare`: two reports side by side.

use std::fs;
use std::path::{Path, PathBuf};

use clap::Args;
use serde_json::Value;

use super::super::failure::Failure;
use super::super::output;
use super::progress::{NOTHING, seconds, time};
use super::report::FORMAT;
use super::verdict::Verdict;

/// Percentiles that are compared.
const STATISTICS: [&str; 3] = ["p50", "p99", "max"];

/// Maximum number of absences that a line lists.
const MAX_TIMES: usize = 3;

/// Circumstances that must be equal for two figures to be comparable: JSON pointer into the report, and name.
const CIRCUMSTANCES: [(&str, &str); 12] = [
    ("/plan/model", "model"),
    ("/plan/pace", "pace"),
    ("/plan/stages", "stages"),
    ("/plan/durationMs", "duration"),
    ("/plan/settleMs", "settle"),
    ("/plan/mix", "mix"),
    ("/plan/receiverFailPercent", "receiver-fail"),
    ("/circumstances/version", "load tester"),
    ("/circumstances/service/store", "store"),
    ("/circumstances/machine/processor", "processor"),
    ("/circumstances/machine/cores", "cores"),
    ("/circumstances/machine/system", "system"),
];

/// Parts of a report that identify the program under load. Two programs are what one compares.
const PROGRAM: [(&str, &str); 2] = [
    ("/circumstances/service/version", "version of the service"),
    ("/circumstances/service/commit", "commit of the service"),
];

/// Two reports of `quita load --json`.
#[derive(Debug, Args)]
#[command(
    after_help = "Exit code 0: the runs are comparable, whatever their figures; 1: they are not, or a report can't be \
                  read; 2: wrong usage."
)]
pub(super) struct CompareCommand {
    /// The report to compare with
    #[arg(value_name = "A.json")]
    before: PathBuf,
    /// The report that is compared
    #[arg(value_name = "B.json")]
    after: PathBuf,
}

/// Report that was read, and its name.
struct NamedReport {
    name: String,
    report: Value,
}

/// Values from both reports.
struct ComparedValue {
    name: String,
    values: [Option<u64>; 2],
    shown: fn(u64) -> String,
}

pub(super) fn run(command: &CompareCommand) -> Result<(), Failure> {
    if is_same_file(&command.before, &command.after) {
        return Err(Failure::failed("Both reports are the same file; name two runs."));
    }
    let [before, after] = [read(&command.before)?, read(&command.after)?];
    output::result(&table(&before, &after))?;
    require_alike(&before, &after)
}

/// Fails if the runs are not comparable. Their figures have been printed all the same.
fn require_alike(before: &NamedReport, after: &NamedReport) -> Result<(), Failure> {
    if differences(&before.report, &after.report).is_empty() {
        return Ok(());
    }
    Err(Failure::failed("The runs are not comparable: the differences are listed above their figures."))
}

fn is_same_file(one: &Path, other: &Path) -> bool {
    let [one, other] = [one, other].map(|path| fs::canonicalize(path).ok());
    one.is_some() && one == other
}

fn read(path: &Path) -> Result<NamedReport, Failure> {
    let name = path.display().to_string();
    let text = fs::read_to_string(path);
    let text = text.map_err(|error| Failure::failed(format!("{name} can't be read: {error}")))?;
    let report: Option<Value> = serde_json::from_str(&text).ok();
    let report = report.filter(|report| number(report, "/format") == Some(FORMAT));
    let report = report.ok_or_else(|| Failure::failed(no_report(&name, &text)))?;
    if !has_figures(&report) {
        return Err(Failure::failed(format!("{name} has no figures to compare; was it edited by hand?")));
    }
    Ok(NamedReport { name, report })
}

/// Returns true if a report has the fields of every report.
fn has_figures(report: &Value) -> bool {
    let has_latencies =
        report.pointer("/latenciesUs").and_then(Value::as_array).is_some_and(|all| !all.is_empty());
    has_latencies && number(report, "/payments").is_some() && report.pointer("/plan").is_some()
}

/// Returns the refusal of a file that is not a report, with how to get one. The file itself must not be overwritten.
fn no_report(name: &str, text: &str) -> String {
    let found = if text.trim_start().to_ascii_lowercase().starts_with("<!doctype html") {
        "is an HTML page written by --html"
    } else {
        "is not a JSON report of this version of `quita load`"
    };
    format!(
        "{name} {found}. Only JSON reports can be compared: `quita load … --json FILE` writes one, also together \
         with --html."
    )
}

fn table(before: &NamedReport, after: &NamedReport) -> String {
    let mut lines = vec![heading("A", before), heading("B", after)];
    let differences = differences(&before.report, &after.report);
    if !differences.is_empty() {
        lines.push("\nThe runs are not comparable. They differ in:".into());
        lines.extend(differences.into_iter().map(|difference| format!("  {difference}")));
    }
    let programs = unequal(&PROGRAM, &before.report, &after.report);
    if !programs.is_empty() {
        lines.push("\nTwo programs are compared:".into());
        lines.extend(programs.into_iter().map(|difference| format!("  {difference}")));
    }
    lines.push(format!("\n{:<26}{:>14}{:>14}{:>16}", "", "A", "B", "change"));
    lines.extend(rows(&before.report, &after.report).iter().map(ComparedValue::line));
    lines.join("\n")
}

/// Returns the line that explains a report's letter.
fn heading(letter: &str, read: &NamedReport) -> String {
    let of = |place| read.report.pointer(place).and_then(Value::as_str).map(output::printable);
    let started = of("/circumstances/startedAt").unwrap_or_default();
    let note = of("/circumstances/note").map(|note| format!("  {note}")).unwrap_or_default();
    let outcome = outcome(&read.report);
    format!("{letter}  {}  {started}  {outcome}{note}", read.name)
}

/// Returns how a run ended: figures of a partial run can't be compared with those of a complete one.
fn outcome(report: &Value) -> String {
    let at = |place| number(report, place).unwrap_or(0);
    if report.pointer("/passed").and_then(Value::as_bool) == Some(true) {
        return "passed".into();
    }
    if report.pointer("/stopped").is_some_and(Value::is_object) {
        let after = seconds(at("/stopped/afterMs"));
        let of = seconds(at("/stopped/ofMs"));
        if report.pointer("/stopped/isLoadWhole").and_then(Value::as_bool) == Some(true) {
            return format!("whole load of {of}, stopped while waiting for events");
        }
        return format!("stopped after {after} of {of}");
    }
    let absences = report.pointer("/absences").and_then(Value::as_array);
    let times: Vec<_> = absences.into_iter().flatten().filter_map(absence).collect();
    match times.as_slice() {
        [] => match number(report, "/freezes/lengthMs") {
            Some(length) => format!("not passed: nothing was answered for {}", seconds(length)),
            None => "not passed".into(),
        },
        [first, .., _] if times.len() > MAX_TIMES => {
            let all = times.len();
            let more = at("/absencesLeftOut") + u64::try_from(all).unwrap_or(u64::MAX);
            format!("not passed: the service was away {more} times, the first time {first}")
        }
        _ => format!("not passed: the service was away {}", times.join(", ")),
    }
}

/// Returns the time of an absence. One without an end lasted until the end of the run.
fn absence(absence: &Value) -> Option<String> {
    let from = seconds(number(absence, "/fromMs")?);
    Some(match number(absence, "/untilMs") {
        Some(until) => format!("from {from} to {}", seconds(until)),
        None => format!("from {from} on"),
    })
}

impl ComparedValue {
    fn line(&self) -> String {
        let [before, after] = self.values.map(|value| value.map_or_else(|| NOTHING.into(), self.shown));
        format!("{:<26}{before:>14}{after:>14}{:>16}", self.name, change(self.values))
    }
}

/// Lists the circumstances that differ, with both values.
fn differences(before: &Value, after: &Value) -> Vec<String> {
    let mut different = unequal(&CIRCUMSTANCES, before, after);
    let ends = [before, after].map(outcome);
    let is_partly = |report: &&Value| {
        let has_absences =
            report.pointer("/absences").and_then(Value::as_array).is_some_and(|all| !all.is_empty());
        has_absences || report.pointer("/stopped").is_some_and(Value::is_object)
    };
    let [before_end, after_end] = &ends;
    let ended = [before, after].iter().any(is_partly).then(|| format!("end: {before_end} / {after_end}"));
    different.extend(ended.filter(|_| before_end != after_end));
    different
}

/// Lists those of these parts that differ, with both values.
fn unequal(parts: &[(&str, &str)], before: &Value, after: &Value) -> Vec<String> {
    let different = parts.iter().filter_map(|(place, name)| {
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

fn rows(before: &Value, after: &Value) -> Vec<ComparedValue> {
    let plain: fn(u64) -> String = |value| value.to_string();
    let row = |name: String, place: String, shown| ComparedValue {
        name,
        values: [before, after].map(|report| number(report, &place)),
        shown,
    };
    let counted = |name: &str, call, of_outcome: fn(&Value) -> bool| ComparedValue {
        name: name.into(),
        values: [before, after].map(|report| requests(report, call, of_outcome)),
        shown: plain,
    };
    let created_per_second = ComparedValue {
        name: "created a second".into(),
        values: [before, after].map(created_per_thousand_seconds),
        shown: |rate| format!("{}.{:02}", rate / 1_000, rate % 1_000 / 10),
    };
    let mut rows = vec![
        row("payments".into(), "/payments".into(), plain),
        created_per_second,
        counted("creations refused", "create", is_refused),
        counted("creations failed", "create", is_failed),
        counted("reads refused", "read", is_refused),
        counted("reads failed", "read", is_failed),
    ];
    let latencies = before.pointer("/latenciesUs").and_then(Value::as_array);
    for latency in latencies.into_iter().flatten() {
        let [Some(id), Some(name)] = ["id", "name"].map(|key| latency.get(key).and_then(Value::as_str))
        else {
            continue;
        };
        rows.extend(STATISTICS.map(|statistic| ComparedValue {
            name: output::printable(&format!("{name} {statistic}")),
            values: [before, after].map(|report| percentile(report, id, statistic)),
            shown: time,
        }));
    }
    rows.push(row("CPU a request, tester".into(), "/ownCost/cpuUsPerRequest".into(), time));
    rows.push(row("not sent".into(), "/skipped".into(), plain));
    let verdicts = Verdict::ALL.map(|verdict| {
        let verdict = verdict.as_str();
        row(verdict.into(), format!("/verdicts/{verdict}"), plain)
    });
    let is_found = |row: &ComparedValue| row.values.iter().flatten().any(|count| *count > 0);
    rows.extend(verdicts.into_iter().filter(is_found));
    rows
}

/// Counts the calls with a matching outcome. `None` if the report has no calls.
fn requests(report: &Value, call: &str, of_outcome: fn(&Value) -> bool) -> Option<u64> {
    let requests = report.pointer("/requests")?.as_array()?.iter();
    let matching = requests.filter(|row| row.get("call").and_then(Value::as_str) == Some(call));
    Some(matching.filter(|row| of_outcome(row)).filter_map(|row| number(row, "/count")).sum())
}

fn is_answered(row: &Value) -> bool {
    matches!(number(row, "/status"), Some(200 | 201))
}

fn is_refused(row: &Value) -> bool {
    matches!(number(row, "/status"), Some(429 | 503))
}

fn is_failed(row: &Value) -> bool {
    !is_answered(row) && !is_refused(row)
}

/// Returns the creation rate that the report itself shows.
fn created_per_thousand_seconds(report: &Value) -> Option<u64> {
    thousandths(report.pointer("/rate").or_else(|| report.pointer("/createsPerSecond"))?)
}

/// Reads a rate in thousandths from a whole number, a decimal number, or text.
fn thousandths(rate: &Value) -> Option<u64> {
    let text = rate.as_str().map_or_else(|| rate.to_string(), str::to_owned);
    let (whole, decimals) = text.split_once('.').unwrap_or((&text, ""));
    let decimals: String = decimals.chars().chain("000".chars()).take(3).collect();
    whole.parse::<u64>().ok()?.checked_mul(1_000)?.checked_add(decimals.parse().ok()?)
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

/// Formats the change from the first to the second value in percent, with one decimal.
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

    fn report(rate: u64, p99: u64, count: u64) -> NamedReport {
        let report = json!({
            "format": FORMAT, "passed": true, "payments": 10, "createsPerSecond": rate, "skipped": 0,
            "plan": { "model": "open", "pace": 20 },
            "circumstances": { "startedAt": "2026-11-26T00:00:00.000Z", "note": "a\u{1b}[2J", "machine": { "cores": count } },
            "latenciesUs": [{ "id": "create", "name": "create", "count": count, "p50": 5, "p99": p99, "max": p99 }],
        });
        NamedReport { name: "a.json".into(), report }
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
            ("<!doctype html>\n<html>", "load.html is an HTML page"),
            (" <!DOCTYPE HTML>", "load.html is an HTML page"),
            ("{}", "load.html is not a JSON report of this version"),
        ] {
            let said = no_report("load.html", text);
            assert!(said.starts_with(expected) && said.contains("--json FILE"), "{said}");
            assert!(!said.contains("--json load.html"), "{said}");
        }
    }

    #[test]
    fn a_run_that_was_stopped_or_had_no_service_for_a_time_is_unlike_a_whole_one() {
        let whole = json!({ "passed": true, "stopped": null, "absences": [] });
        let stopped = json!({ "passed": false, "stopped": { "afterMs": 3_200, "ofMs": 60_000 } });
        let away = json!({ "passed": false, "absences": [{ "fromMs": 4_100, "untilMs": 5_000 }] });
        let failed = json!({ "passed": false, "stopped": null, "absences": [] });
        let unlike = |other| differences(&whole, other).iter().any(|line| line.starts_with("end: passed / "));
        assert_eq!([&stopped, &away, &failed, &whole].map(unlike), [true, true, false, false]);
    }

    #[test]
    fn a_part_of_a_run_is_said_to_be_one() {
        for (report, expected) in [
            (json!({ "passed": true, "stopped": null, "absences": [] }), "passed"),
            (json!({ "passed": false, "stopped": null, "absences": [] }), "not passed"),
            (
                json!({ "passed": false, "absences": [], "freezes": { "count": 1, "fromMs": 4_000, "lengthMs": 6_000 } }),
                "not passed: nothing was answered for 6.0 s",
            ),
            (
                json!({ "passed": false, "stopped": { "afterMs": 3_200, "ofMs": 60_000 } }),
                "stopped after 3.2 s of 60.0 s",
            ),
            (
                json!({ "passed": false, "stopped": { "afterMs": 3_900, "ofMs": 3_000, "isLoadWhole": true } }),
                "whole load of 3.0 s, stopped while waiting for events",
            ),
            (
                json!({ "passed": false, "stopped": null, "absences": [{ "fromMs": 4_100, "untilMs": null }] }),
                "not passed: the service was away from 4.1 s on",
            ),
            (
                json!({ "passed": false, "absences": [{ "fromMs": 3_900, "untilMs": 7_100 }, { "fromMs": 9_000 }] }),
                "not passed: the service was away from 3.9 s to 7.1 s, from 9.0 s on",
            ),
        ] {
            assert_eq!(outcome(&report), expected);
        }
        let absences = vec![json!({ "fromMs": 4_100, "untilMs": 4_200 }); 20];
        let many = json!({ "passed": false, "absences": absences, "absencesLeftOut": 5 });
        assert_eq!(
            outcome(&many),
            "not passed: the service was away 25 times, the first time from 4.1 s to 4.2 s"
        );
    }

    #[test]
    fn values_stand_beside_each_other() {
        let table = table(&report(100, 2_000, 4), &report(150, 1_000, 4));
        let row = |name| table.lines().find(|line: &&str| line.starts_with(name)).unwrap().split_whitespace();
        assert_eq!(row("created a second").collect::<Vec<_>>()[3..], ["100.00", "150.00", "+50.0%"]);
        assert_eq!(row("create p99").collect::<Vec<_>>()[2..], ["2.0", "ms", "1.0", "ms", "-50.0%"]);
        assert!(!table.contains("not comparable"), "{table}");
        assert!(!table.contains('\u{1b}'), "text of a file is shown and not obeyed");
    }

    #[test]
    fn rates_are_those_of_the_reports_themselves() {
        let of = |rate: Value, ms: u64| json!({ "createsPerSecond": 1, "rate": rate, "elapsedMs": ms });
        let rate = rows(&of(json!(20.0), 9_000), &of(json!(0.71), 4_000)).remove(1).line();
        assert_eq!(rate.split_whitespace().collect::<Vec<_>>()[3..], ["20.00", "0.71", "-96.5%"]);
        assert_eq!(created_per_thousand_seconds(&json!({ "createsPerSecond": 9 })), Some(9_000));
    }

    #[test]
    fn a_rate_without_counts_is_read_in_every_form() {
        for (rate, expected) in [
            (json!(10), Some(10_000)),
            (json!(10.1), Some(10_100)),
            (json!(9.82), Some(9_820)),
            (json!("9.82"), Some(9_820)),
            (json!("fast"), None),
            (json!(null), None),
        ] {
            assert_eq!(thousandths(&rate), expected, "{rate}");
        }
    }

    #[test]
    fn refusals_failures_and_verdicts_are_compared() {
        let with = |refused: u64, lost: u64| {
            let mut named = report(10, 5, 4);
            named.report["requests"] = json!([
                { "call": "create", "status": 201, "count": 62 },
                { "call": "create", "status": 503, "count": refused },
                { "call": "read", "status": 429, "count": refused },
                { "call": "read", "status": null, "error": "time-out", "count": lost },
            ]);
            named.report["verdicts"] = json!({ "complete": 62, "lost": lost, "out of order": 0 });
            named
        };
        let table = table(&with(0, 0), &with(38, 3));
        let row = |name: &str| {
            let line = table.lines().find(|line| line.starts_with(&format!("{name:<26}")));
            line.map(|line| line.split_whitespace().rev().take(3).map(str::to_owned).collect::<Vec<_>>())
        };
        for (name, before, after, change) in [
            ("creations refused", "0", "38", "–"),
            ("creations failed", "0", "0", "0.0%"),
            ("reads refused", "0", "38", "–"),
            ("reads failed", "0", "3", "–"),
            ("complete", "62", "62", "0.0%"),
            ("lost", "0", "3", "–"),
        ] {
            assert_eq!(row(name).unwrap(), [change, after, before], "{name}: {table}");
        }
        assert_eq!(row("out of order"), None, "found in neither");
    }

    #[test]
    fn a_report_without_figures_is_refused() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("a.json");
        for (text, is_report) in [
            (json!({ "format": FORMAT }).to_string(), false),
            (json!({ "format": FORMAT, "payments": 1, "plan": {}, "latenciesUs": [] }).to_string(), false),
            (report(1, 2, 3).report.to_string(), true),
        ] {
            fs::write(&path, &text).unwrap();
            assert_eq!(read(&path).is_ok(), is_report, "{text}");
        }
    }

    #[test]
    fn even_the_greatest_change_stands_apart_from_its_values() {
        let table = table(&report(100, 33, 4), &report(100, 600_000_000, 4));
        let p99 = table.lines().find(|line| line.starts_with("create p99")).unwrap();
        assert!(p99.ends_with("600.00 s  +1818181718.2%"), "{p99}");
        assert!(table.lines().all(|line| line.chars().count() <= 80), "{table}");
    }

    #[test]
    fn unlike_runs_are_said_to_be_unlike_and_fail() {
        let table = table(&report(100, 2_000, 4), &report(100, 2_000, 0));
        assert!(table.contains("cores: 4 / 0"), "{table}");
        let failed = require_alike(&report(100, 2_000, 4), &report(100, 2_000, 0)).unwrap_err();
        assert_eq!(failed, Failure::failed(&failed), "a script sees it too, by exit code 1");
        assert_eq!(require_alike(&report(100, 2_000, 4), &report(999, 9, 4)), Ok(()), "figures may differ");
        let p99 = table.lines().find(|line| line.starts_with("create p99")).unwrap();
        assert!(p99.trim_end().ends_with('–'), "nothing was measured in the second: {p99}");
    }

    #[test]
    fn two_versions_of_the_service_are_named_and_compared() {
        let at = |commit: &str| {
            let mut named = report(100, 2_000, 4);
            named.report["circumstances"]["service"] = json!({ "version": "1.0.0", "commit": commit });
            named
        };
        let table = table(&at("aaaa"), &at("bbbb"));
        assert!(
            table.contains("Two programs are compared:\n  commit of the service: aaaa / bbbb\n"),
            "{table}"
        );
        assert_eq!(require_alike(&at("aaaa"), &at("bbbb")), Ok(()), "{table}");
    }
}
