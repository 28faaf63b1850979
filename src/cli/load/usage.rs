//! Wrong usage that is caused by environment variables.

use std::ffi::{OsStr, OsString};

use clap::Command;
use clap::builder::StyledStr;
use clap::error::{ContextKind, ContextValue, ErrorKind};

/// Adds the variables behind an error about mutually exclusive options. Options on the command line are not mentioned.
pub(super) fn with_variables(
    mut error: clap::Error,
    command: &Command,
    given: &[OsString],
    is_set: impl Fn(&OsStr) -> bool,
) -> clap::Error {
    if error.kind() != ErrorKind::ArgumentConflict {
        return error;
    }
    let in_error: Vec<_> = [ContextKind::InvalidArg, ContextKind::PriorArg]
        .into_iter()
        .filter_map(|kind| error.get(kind))
        .flat_map(names)
        .collect();
    let mut tips = Vec::new();
    for argument in command.get_arguments() {
        let (Some(long), Some(variable)) = (argument.get_long(), argument.get_env()) else { continue };
        let option = format!("--{long}");
        if in_error.contains(&option)
            && is_set(variable)
            && !given.iter().any(|text| is_option(text, &option))
        {
            let variable = variable.to_string_lossy();
            tips.push(StyledStr::from(format!("{option} comes from the variable {variable}: unset it")));
        }
    }
    if !tips.is_empty() {
        error.insert(ContextKind::Suggested, ContextValue::StyledStrs(tips));
    }
    error
}

/// Returns the options in an error context, without their values.
fn names(context: &ContextValue) -> Vec<String> {
    let option = |text: &String| text.split(' ').next().unwrap_or_default().to_owned();
    if let ContextValue::String(text) = context {
        vec![option(text)]
    } else if let ContextValue::Strings(texts) = context {
        texts.iter().map(option).collect()
    } else {
        Vec::new()
    }
}

/// Returns true for `--rate` and `--rate=5`.
fn is_option(text: &OsStr, option: &str) -> bool {
    let text = text.to_string_lossy();
    text.strip_prefix(option).is_some_and(|rest| rest.is_empty() || rest.starts_with('='))
}

#[cfg(test)]
mod tests {
    use clap::Arg;

    use super::*;

    fn error(given: &[&str], variable: &str) -> String {
        let option = |name: &'static str, variable: &'static str| Arg::new(name).long(name).env(variable);
        let command = Command::new("load")
            .arg(option("rate", "QUITA_TEST_RATE").conflicts_with("concurrency"))
            .arg(option("concurrency", "QUITA_TEST_CONCURRENCY"));
        // The environment of a test is not changed: the conflict comes from the command line.
        let both = ["load", "--rate", "5", "--concurrency", "5"];
        let error = command.clone().try_get_matches_from(both).unwrap_err();
        let given: Vec<_> = given.iter().map(OsString::from).collect();
        with_variables(error, &command, &given, |name| name == variable).to_string()
    }

    #[test]
    fn a_conflict_with_the_environment_names_the_variable() {
        let error = error(&["load", "--concurrency", "5"], "QUITA_TEST_RATE");
        assert!(error.contains("--rate comes from the variable QUITA_TEST_RATE: unset it"), "{error}");
        assert!(!error.contains("QUITA_TEST_CONCURRENCY"), "{error}");
    }

    #[test]
    fn a_conflict_of_the_command_line_names_no_variable() {
        for given in
            [&["load", "--rate", "5", "--concurrency", "5"][..], &["load", "--rate=5", "--concurrency=5"]]
        {
            let error = error(given, "QUITA_TEST_RATE");
            assert!(!error.contains("variable"), "{error}");
        }
    }
}
