//! A disk of a few MiB that can be filled and made read-only.

use std::fs::File;
use std::io::{ErrorKind, Write};
use std::path::{Path, PathBuf};
use std::process::Command;

use tempfile::TempDir;

/// A file system in memory. Dropping it takes it down.
pub(crate) struct SmallDisk {
    directory: TempDir,
}

impl SmallDisk {
    /// `None`, and a line that says so, if this user may not mount.
    pub(crate) fn mount(mebibytes: u32) -> Option<Self> {
        let directory = tempfile::Builder::new().prefix("quita-test-disk-").tempdir().unwrap();
        let size = format!("size={mebibytes}m");
        let place = directory.path();
        let mounted = Command::new("mount").args(["-t", "tmpfs", "-o", &size, "tmpfs"]).arg(place).output();
        if mounted.is_ok_and(|mounted| mounted.status.success()) {
            return Some(Self { directory });
        }
        println!("skipped: this user may not mount a disk that can be full (root may)");
        None
    }

    pub(crate) fn path(&self) -> &Path {
        self.directory.path()
    }

    /// Takes all the room that is left.
    pub(crate) fn fill(&self) {
        let mut filler = File::options().create(true).append(true).open(self.filler()).unwrap();
        for block in [64 * 1024, 4 * 1024, 1] {
            let error = loop {
                if let Err(error) = filler.write_all(&vec![0; block]) {
                    break error;
                }
            };
            assert_eq!(error.kind(), ErrorKind::StorageFull);
        }
    }

    /// Gives the room back.
    pub(crate) fn free(&self) {
        std::fs::remove_file(self.filler()).unwrap();
    }

    /// Lets nobody write any more. Nobody may have a file open for writing.
    pub(crate) fn make_read_only(&self) {
        let done = Command::new("mount").args(["-o", "remount,ro"]).arg(self.path()).status().unwrap();
        assert!(done.success(), "the disk is in use");
    }

    fn filler(&self) -> PathBuf {
        self.path().join("filler")
    }
}

impl Drop for SmallDisk {
    fn drop(&mut self) {
        // Lazily: a service on it may not have ended yet.
        drop(Command::new("umount").arg("-l").arg(self.path()).status());
    }
}
