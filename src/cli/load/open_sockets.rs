//! Limit on open files, which bounds the connections of a run.

use super::super::failure::Failure;

/// Files besides the connections to the service: those of the receiver, the reports, the runtime.
const BESIDES: u64 = 96;

/// Minimum number of connections of the open model.
const MIN_OPEN: u64 = 32;

/// Returns the number of connections of a run that requests this many and may open this many files. The open model uses
/// fewer if files are scarce, and measures the wait for one. The closed model needs one for each client.
pub(super) fn connections(wanted: usize, is_open_model: bool, files: u64) -> Result<usize, Failure> {
    let most = usize::try_from(files.saturating_sub(BESIDES)).unwrap_or(usize::MAX);
    let at_least = if is_open_model { MIN_OPEN } else { u64::try_from(wanted).unwrap_or(u64::MAX) };
    let needed = at_least.saturating_add(BESIDES);
    if files >= needed {
        return Ok(wanted.min(most));
    }
    let fewer = if is_open_model { "" } else { ", or use a lower --concurrency" };
    Err(Failure::failed(format!(
        "The load tester may open {files} files and sockets, and needs {needed} for this run: raise the limit \
         (ulimit -n {needed}){fewer}."
    )))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_run_without_enough_open_files_says_so_before_it_begins() {
        for (wanted, is_open_model, files, expected) in [
            (512, true, 8_192, Ok(512)),
            (512, true, 256, Ok(160)),
            (512, true, 128, Ok(32)),
            (512, true, 127, Err("may open 127 files and sockets, and needs 128")),
            (64, false, 160, Ok(64)),
            (64, false, 40, Err("needs 160 for this run: raise the limit (ulimit -n 160), or use a lower")),
        ] {
            match (connections(wanted, is_open_model, files), expected) {
                (Ok(found), Ok(expected)) => assert_eq!(found, expected, "{files}"),
                (Err(failure), Err(expected)) => {
                    assert!(failure.to_string().contains(expected), "{failure}");
                }
                (found, expected) => panic!("{files}: {found:?} {expected:?}"),
            }
        }
    }
}
