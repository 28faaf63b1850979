//! Report file that appears complete at the end of a run, or not at all.

use std::fs::{self, File};
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::process;

use super::super::failure::Failure;

/// Maximum number of symbolic links that are followed, as in the kernel.
const MAX_LINKS: usize = 40;

/// Path that was found writable before the run.
#[derive(Debug)]
pub(super) struct ReportFile {
    /// Path as it was given, for messages.
    path: PathBuf,
    /// File that remains once every symbolic link is resolved.
    target: PathBuf,
    /// Draft next to the target, so that a single rename publishes it. `None` if the target is not a regular file, for
    /// example a pipe.
    draft: Option<PathBuf>,
}

impl ReportFile {
    /// Checks that the file can be written, without changing an existing one.
    pub(super) fn prepare(path: &Path) -> Result<Self, Failure> {
        let target = target_of(path);
        let draft = match fs::metadata(path) {
            Ok(found) if found.is_dir() => {
                return Err(cannot_write(path, &io::Error::from(io::ErrorKind::IsADirectory)));
            }
            Ok(found) if !found.is_file() => None,
            Ok(_) | Err(_) => Some(draft_of(&target)),
        };
        if let Some(draft) = &draft {
            // Failing now is better than failing after the run.
            let tried = File::create_new(draft).and_then(|_| fs::remove_file(draft));
            tried.map_err(|error| cannot_write(path, &error))?;
        }
        Ok(Self { path: path.into(), target, draft })
    }

    /// Writes the file atomically.
    pub(super) fn write(&self, text: &str) -> Result<(), Failure> {
        let written = match &self.draft {
            None => fs::write(&self.path, text),
            Some(draft) => write_and_rename(draft, &self.target, text),
        };
        written.map_err(|error| cannot_write(&self.path, &error))
    }
}

/// Returns the file that a path refers to. Symbolic links are resolved, even if the last one points to a file that does
/// not exist yet.
pub(super) fn target_of(path: &Path) -> PathBuf {
    let mut target = path.to_path_buf();
    for _ in 0..MAX_LINKS {
        let Ok(link) = fs::read_link(&target) else { break };
        target = target.with_file_name(link);
    }
    let folder = target.parent().map(|folder| {
        let is_here = folder.as_os_str().is_empty();
        fs::canonicalize(if is_here { Path::new(".") } else { folder })
    });
    match (folder, target.file_name()) {
        (Some(Ok(folder)), Some(name)) => folder.join(name),
        (Some(Ok(_) | Err(_)) | None, _) => target,
    }
}

fn write_and_rename(draft: &Path, path: &Path, text: &str) -> io::Result<()> {
    let written = File::create_new(draft).and_then(|mut file| {
        file.write_all(text.as_bytes())?;
        file.sync_all()
    });
    let renamed = written.and_then(|()| fs::rename(draft, path));
    if renamed.is_err() {
        // A failure to remove the draft is ignored: reporting it would not help.
        drop(fs::remove_file(draft));
    }
    renamed
}

fn draft_of(path: &Path) -> PathBuf {
    let name = path.file_name().unwrap_or_default().to_string_lossy();
    path.with_file_name(format!(".{name}.{}.draft", process::id()))
}

fn cannot_write(path: &Path, error: &io::Error) -> Failure {
    Failure::failed(format!("{} can't be written: {error}", path.display()))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn names_in(folder: &Path) -> Vec<String> {
        let entries = fs::read_dir(folder).unwrap();
        entries.map(|entry| entry.unwrap().file_name().to_string_lossy().into_owned()).collect()
    }

    #[test]
    fn a_file_is_there_only_once_it_is_whole() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("load.json");
        let file = ReportFile::prepare(&path).unwrap();
        assert_eq!(names_in(folder.path()), [""; 0]);
        file.write("first").unwrap();
        let again = ReportFile::prepare(&path).unwrap();
        assert_eq!(
            fs::read_to_string(&path).unwrap(),
            "first",
            "an older report stays until the new one is made"
        );
        again.write("second").unwrap();
        assert_eq!(fs::read_to_string(&path).unwrap(), "second");
        assert_eq!(names_in(folder.path()), ["load.json"]);
    }

    #[test]
    fn what_cannot_be_written_is_told_before_the_run() {
        let folder = tempfile::tempdir().unwrap();
        for path in [folder.path().join("nowhere/load.json"), folder.path().to_owned()] {
            let failure = ReportFile::prepare(&path).unwrap_err().to_string();
            assert!(failure.contains("can't be written"), "{failure}");
        }
    }

    #[test]
    fn a_symbolic_link_stays_and_the_file_behind_it_is_written() {
        let folder = tempfile::tempdir().unwrap();
        fs::create_dir(folder.path().join("reports")).unwrap();
        let path = folder.path().join("load.json");
        std::os::unix::fs::symlink("reports/today.json", &path).unwrap();
        for text in ["first", "second"] {
            ReportFile::prepare(&path).unwrap().write(text).unwrap();
            assert!(fs::symlink_metadata(&path).unwrap().is_symlink());
            assert_eq!(fs::read_to_string(folder.path().join("reports/today.json")).unwrap(), text);
        }
        assert_eq!(names_in(&folder.path().join("reports")), ["today.json"]);
    }

    #[test]
    fn what_is_no_regular_file_is_written_directly() {
        ReportFile::prepare(Path::new("/dev/null")).unwrap().write("text").unwrap();
        assert!(!fs::metadata("/dev/null").unwrap().is_file());
    }
}
