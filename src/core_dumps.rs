//! Protection of this process's memory from core files and other programs: card data and secrets pass through it.

use std::io;

use rustix::process::{Resource, Rlimit, setrlimit};

/// Forbids core dumps into files. This process can't undo that, because the hard limit becomes 0 too.
///
/// # Errors
/// Fails if the system refuses. Lowering a limit needs no privilege.
pub(crate) fn forbid_files() -> io::Result<()> {
    Ok(setrlimit(Resource::Core, Rlimit { current: Some(0), maximum: Some(0) })?)
}

/// Also forbids core dumps to a program (`core_pattern` with a pipe, which ignores the limit).
///
/// Only the administrator can then read this process's memory or trace it. Only Linux supports this; on other systems,
/// nothing is done.
///
/// # Errors
/// Fails if the system refuses.
pub(crate) fn forbid_reading() -> io::Result<()> {
    #[cfg(target_os = "linux")]
    rustix::process::set_dumpable_behavior(rustix::process::DumpableBehavior::NotDumpable)?;
    Ok(())
}

#[cfg(all(test, target_os = "linux"))]
mod tests {
    use rustix::process::{DumpableBehavior, dumpable_behavior, getrlimit};

    use super::*;

    #[test]
    fn no_core_is_dumped_and_nobody_reads_along() {
        forbid_files().unwrap();
        forbid_reading().unwrap();
        let limit = getrlimit(Resource::Core);
        assert_eq!((limit.current, limit.maximum), (Some(0), Some(0)));
        assert_eq!(dumpable_behavior().unwrap(), DumpableBehavior::NotDumpable);
    }
}
