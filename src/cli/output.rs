//! Output of commands: results to stdout, everything else to stderr.

use std::io::{self, Write};

use quita_domain::text::turns_direction;
use serde::Serialize;

use super::failure::Failure;

/// Exit code of a program that ended because its reader did: 128 plus the number of SIGPIPE.
const READER_LEFT: u8 = 141;

/// Writes one line of the result, and flushes it.
pub(super) fn result(line: &str) -> Result<(), Failure> {
    let mut stdout = io::stdout().lock();
    let written = writeln!(stdout, "{line}").and_then(|()| stdout.flush());
    written.map_err(|error| unwritten(error.kind()))
}

/// Returns the failure to write the result. It is silent if the reader has seen enough, for example `head`.
pub(super) fn unwritten(kind: io::ErrorKind) -> Failure {
    if kind == io::ErrorKind::BrokenPipe {
        return Failure::interrupted(READER_LEFT, "");
    }
    Failure::failed(format!("the result can't be written: {kind}"))
}

/// Writes a value as JSON, with each member on its own line.
pub(super) fn json(value: &impl Serialize) -> Result<(), Failure> {
    result(&serde_json::to_string_pretty(value).map_err(Failure::failed)?)
}

/// Writes a message for people to stderr. Errors are ignored: the result does not depend on them.
pub(super) fn note(line: &str) {
    drop(writeln!(io::stderr().lock(), "{line}"));
}

/// Escapes characters of foreign text that a terminal would interpret: control characters, and those that change its
/// direction.
pub(super) fn printable(text: &str) -> String {
    text.chars()
        .flat_map(|character| {
            let is_control = character.is_control() || turns_direction(character);
            let shown = is_control.then(|| character.escape_default());
            shown.into_iter().flatten().chain((!is_control).then_some(character))
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_reader_that_has_enough_is_no_failure_to_speak_of() {
        assert!(unwritten(io::ErrorKind::BrokenPipe).to_string().is_empty());
        assert!(unwritten(io::ErrorKind::StorageFull).to_string().contains("can't be written"));
    }

    #[test]
    fn control_characters_are_shown_and_not_obeyed() {
        assert_eq!(printable("a\u{1b}[2Jção\n"), "a\\u{1b}[2Jção\\n");
        assert_eq!(printable("a\u{202e}b"), "a\\u{202e}b");
    }
}
