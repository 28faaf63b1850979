//! Files with secrets, and a check that other users of the machine can't read them.

use std::fs;
use std::io;
use std::os::unix::fs::PermissionsExt;
use std::path::PathBuf;

/// A file that contains a secret.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SecretFile {
    /// The option that names it.
    pub option: String,
    /// The file.
    pub path: PathBuf,
}

/// Permission bits for everybody except owner and group.
const OTHERS: u32 = 0o007;

impl SecretFile {
    /// Returns its permissions, if they give access to others than owner and group. For a symbolic link, those of its
    /// target count.
    ///
    /// # Errors
    /// Fails if the file can't be examined.
    pub fn open_permissions(&self) -> io::Result<Option<u32>> {
        let mode = fs::metadata(&self.path)?.permissions().mode() & 0o7777;
        Ok(Some(mode).filter(|mode| mode & OTHERS != 0))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_others_may_do_counts_and_the_group_is_the_owners_matter() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("secret");
        let file = SecretFile { option: "secret-key-file".into(), path: path.clone() };
        assert!(file.open_permissions().is_err());
        fs::write(&path, "x").unwrap();
        for (mode, is_open) in [(0o600, false), (0o400, false), (0o640, false), (0o644, true), (0o602, true)]
        {
            fs::set_permissions(&path, fs::Permissions::from_mode(mode)).unwrap();
            assert_eq!(file.open_permissions().unwrap(), Some(mode).filter(|_| is_open), "{mode:o}");
        }
        let link = folder.path().join("link");
        std::os::unix::fs::symlink(&path, &link).unwrap();
        assert_eq!(SecretFile { path: link, ..file }.open_permissions().unwrap(), Some(0o602));
    }
}
