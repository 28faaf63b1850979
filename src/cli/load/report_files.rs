//! Report files of a run, which are written independently of each other.

use std::path::Path;

use super::super::failure::Failure;
use super::html_report::HtmlReport;
use super::report::LoadReport;
use super::report_file::{ReportFile, target_of};

/// Paths that other programs treat as standard output.
const STDOUT: [&str; 4] = ["-", "/dev/stdout", "/dev/fd/1", "/proc/self/fd/1"];

/// Report files that were found writable before the run.
#[derive(Debug)]
pub(super) struct ReportFiles {
    json: Option<ReportFile>,
    html: Option<ReportFile>,
}

impl ReportFiles {
    /// Checks that the files are distinct and writable.
    pub(super) fn prepare(json: Option<&Path>, html: Option<&Path>) -> Result<Self, Failure> {
        for (option, path) in [("--json", json), ("--html", html)] {
            if let Some(path) = path.filter(|path| STDOUT.iter().any(|stdout| Path::new(stdout) == *path)) {
                return Err(Failure::usage(format!(
                    "{option} {} is not a file: stdout has the text report. Pass a file, such as {option} load.{}.",
                    path.display(),
                    option.trim_start_matches('-')
                )));
            }
        }
        if let Some((json, html)) = json.zip(html)
            && target_of(json) == target_of(html)
        {
            return Err(Failure::usage(format!(
                "--json {} and --html {} are the same file. Pass two files: one report would replace the other.",
                json.display(),
                html.display()
            )));
        }
        let prepare = |path: Option<&Path>| path.map(ReportFile::prepare).transpose();
        Ok(Self { json: prepare(json)?, html: prepare(html)? })
    }

    /// Writes every file. If one fails, the others are still written.
    pub(super) fn write(&self, report: &LoadReport) -> [Result<(), Failure>; 2] {
        let json = self.json.as_ref().map(|file| {
            let text = serde_json::to_string_pretty(report).map_err(Failure::failed)?;
            file.write(&text)
        });
        let html = self.html.as_ref().map(|file| file.write(&HtmlReport(report).to_string()));
        [json, html].map(|written| written.unwrap_or(Ok(())))
    }
}

/// Combines all failures into one, with a line for each. A single failure is returned unchanged.
pub(super) fn as_one(outputs: impl IntoIterator<Item = Result<(), Failure>>) -> Result<(), Failure> {
    let mut failures: Vec<_> = outputs.into_iter().filter_map(Result::err).collect();
    match failures.pop() {
        None => Ok(()),
        Some(only) if failures.is_empty() => Err(only),
        Some(last) => {
            let lines: Vec<_> = failures.iter().chain([&last]).map(ToString::to_string).collect();
            // A stdout reader that has seen enough is not worth reporting, and its failure has no line.
            let lines: Vec<_> = lines.into_iter().filter(|line| !line.is_empty()).collect();
            Err(Failure::failed(lines.join("\n")))
        }
    }
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::super::test_report::empty_report;
    use super::*;

    #[test]
    fn a_report_that_cannot_be_written_costs_no_other() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("load.txt");
        let full = Path::new("/dev/full");
        for (json, html) in [(full, path.as_path()), (path.as_path(), full)] {
            let files = ReportFiles::prepare(Some(json), Some(html)).unwrap();
            let failure = as_one(files.write(&empty_report())).unwrap_err();
            assert!(failure.to_string().starts_with("/dev/full can't be written"), "{failure}");
            assert!(fs::metadata(&path).unwrap().len() > 0);
            fs::remove_file(&path).unwrap();
        }
    }

    #[test]
    fn every_failure_is_reported() {
        let failed = |line: &str| Err(Failure::failed(line));
        let several = [failed("stdout is full"), Ok(()), failed("load.json can't be written")];
        assert_eq!(as_one(several), failed("stdout is full\nload.json can't be written"));
        let left = || Err(Failure::interrupted(141, ""));
        assert_eq!(as_one([left(), Ok(())]), left(), "the reader of stdout has enough");
        assert_eq!(as_one([left(), failed("a")]), failed("a"));
        assert_eq!(as_one([Ok(())]), Ok(()));
    }

    #[test]
    fn two_reports_in_one_file_are_wrong_usage() {
        let folder = tempfile::tempdir().unwrap();
        let [file, other, link] = ["load", "other", "link"].map(|name| folder.path().join(name));
        std::os::unix::fs::symlink("load", &link).unwrap();
        let roundabout = folder.path().join(".").join("load");
        for (json, html) in [(&file, &file), (&file, &link), (&roundabout, &file)] {
            let failure = ReportFiles::prepare(Some(json), Some(html)).unwrap_err();
            assert_eq!(failure, Failure::usage(&failure));
            assert!(failure.to_string().contains("the same file"), "{failure}");
        }
        assert!(ReportFiles::prepare(Some(&file), Some(&other)).is_ok());
        assert!(ReportFiles::prepare(None, None).is_ok());
    }

    #[test]
    fn stdout_is_refused_with_advice() {
        for path in ["-", "/dev/stdout"] {
            let failure = ReportFiles::prepare(Some(Path::new(path)), None).unwrap_err();
            assert_eq!(failure, Failure::usage(&failure));
            assert!(failure.to_string().contains("such as --json load.json"), "{failure}");
        }
    }
}
