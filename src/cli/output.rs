//! Output of commands: results to stdout, everything else to stderr.

use std::io::{self, Write};

use serde::Serialize;

use super::failure::Failure;

/// Writes one line of the result, and flushes it.
pub(super) fn result(line: &str) -> Result<(), Failure> {
    let mut stdout = io::stdout().lock();
    let written = writeln!(stdout, "{line}").and_then(|()| stdout.flush());
    written.map_err(|error| Failure::failed(format!("the result can't be written: {error}")))
}

/// Writes a value as JSON, each member on a line of its own.
pub(super) fn json(value: &impl Serialize) -> Result<(), Failure> {
    result(&serde_json::to_string_pretty(value).map_err(Failure::failed)?)
}

/// Writes a message for people to stderr. Errors are ignored: the result does not depend on it.
pub(super) fn note(line: &str) {
    drop(writeln!(io::stderr().lock(), "{line}"));
}

/// Escapes the control characters of foreign text, so that a terminal does not obey them.
pub(super) fn printable(text: &str) -> String {
    text.chars()
        .flat_map(|character| {
            let is_control = character.is_control();
            let shown = is_control.then(|| character.escape_default());
            shown.into_iter().flatten().chain((!is_control).then_some(character))
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn control_characters_are_shown_and_not_obeyed() {
        assert_eq!(printable("a\u{1b}[2Jção\n"), "a\\u{1b}[2Jção\\n");
    }
}
