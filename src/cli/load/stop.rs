//! Early end of a run.

use std::fmt::{self, Display};

use serde::{Serialize, Serializer};

use super::interrupts::Interrupt;
use super::progress::seconds;

/// Early end of a run: its reason, and the progress of the run.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct Stop {
    /// Reason for the end.
    #[serde(serialize_with = "as_text")]
    pub(super) cause: StopCause,
    /// Time since the start of the run.
    pub(super) after_ms: u64,
    /// Planned duration of the load.
    pub(super) of_ms: u64,
    /// True if every payment had been created, so that only the verdicts are incomplete.
    pub(super) is_load_whole: bool,
}

/// Reason for an early end.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum StopCause {
    /// A signal.
    Interrupt(Interrupt),
    /// A refusal that every further request would receive as well.
    Refusal(String),
}

impl Display for StopCause {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Interrupt(Interrupt::Interrupt) => f.write_str("interrupted by Ctrl-C"),
            Self::Interrupt(Interrupt::Terminate) => f.write_str("interrupted by SIGTERM"),
            Self::Refusal(refusal) => f.write_str(refusal),
        }
    }
}

impl Display for Stop {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let after = seconds(self.after_ms);
        let of = seconds(self.of_ms);
        match &self.cause {
            StopCause::Interrupt(_) => write!(f, "{} ", self.cause)?,
            StopCause::Refusal(_) => f.write_str("stopped ")?,
        }
        if self.is_load_whole {
            write!(f, "after the load of {of}; what had not arrived or been queried is not judged")?;
        } else {
            write!(f, "after {after} of {of}; every figure covers only that part, and no payment is judged")?;
        }
        match &self.cause {
            StopCause::Interrupt(_) => Ok(()),
            StopCause::Refusal(refusal) => write!(f, ". {}", one_line(refusal)),
        }
    }
}

/// Joins lines into sentences on a single line.
fn one_line(text: &str) -> String {
    let lines: Vec<_> = text.lines().collect();
    let (last, others) = lines.split_last().map_or(("", [].as_slice()), |(last, others)| (*last, others));
    let mut sentences: String = others
        .iter()
        .map(
            |line| {
                if line.ends_with(['.', '!', '?', ':']) { format!("{line} ") } else { format!("{line}. ") }
            },
        )
        .collect();
    sentences.push_str(last);
    sentences
}

fn as_text<S: Serializer>(cause: &StopCause, serializer: S) -> Result<S::Ok, S::Error> {
    serializer.collect_str(cause)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_run_that_was_interrupted_says_of_which_part_its_figures_are() {
        let cause = StopCause::Interrupt(Interrupt::Interrupt);
        let early = Stop { cause, after_ms: 3_290, of_ms: 600_000, is_load_whole: false };
        assert_eq!(
            early.to_string(),
            "interrupted by Ctrl-C after 3.2 s of 600.0 s; every figure covers only that part, and no payment is judged"
        );
        let refused = Stop { cause: StopCause::Refusal("No scope.\nMake a key.".into()), ..early.clone() };
        assert_eq!(
            refused.to_string(),
            "stopped after 3.2 s of 600.0 s; every figure covers only that part, and no payment is judged. No scope. \
             Make a key."
        );
        let unended =
            Stop { cause: StopCause::Refusal("Copy it whole\nMake a key.".into()), ..early.clone() };
        assert!(unended.to_string().ends_with(" Copy it whole. Make a key."), "{unended}");
        let late = Stop { after_ms: 603_000, is_load_whole: true, ..early };
        assert_eq!(
            late.to_string(),
            "interrupted by Ctrl-C after the load of 600.0 s; what had not arrived or been queried is not judged"
        );
    }
}
