//! Keeps what is in memory out of files, and from other programs: card data and secrets pass through here.

use std::io;

use rustix::process::{Resource, Rlimit, setrlimit};

/// Lets no core be dumped into a file. Nobody can take that back for this process, not even itself.
///
/// # Errors
/// When the system refuses; lowering a limit needs no right.
pub(crate) fn forbid_files() -> io::Result<()> {
    Ok(setrlimit(Resource::Core, Rlimit { current: Some(0), maximum: Some(0) })?)
}

/// Lets no core be handed to a program either (`core_pattern` with a pipe, which asks for no limit), and nobody but the
/// administrator read this process's memory or trace it. Linux alone knows that; elsewhere nothing is done.
///
/// # Errors
/// When the system refuses.
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
