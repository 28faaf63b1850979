//! Commands as they were released, which scripts of users go on calling.
//!
//! `tests/golden/commands-V.txt` has a line for each command of the released version V and for each of its arguments;
//! the required ones end with `!`. `GOLDEN_FILES=write`, set by `scripts/golden --release`, writes that of this version.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::{env, fs};

use clap::{Arg, Command, CommandFactory};

use super::Cli;

fn folder() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/golden")
}

fn lines_of(command: &Command, path: &str, lines: &mut BTreeSet<String>) {
    lines.insert(path.to_owned());
    for argument in command.get_arguments().filter(|argument| !argument.is_hide_set()) {
        lines.insert(format!("{path} {}", line_of(argument)));
    }
    for below in command.get_subcommands() {
        lines_of(below, &format!("{path} {}", below.get_name()), lines);
    }
}

/// Returns what callers write: names of values and of arguments without a flag are only shown.
fn line_of(argument: &Arg) -> String {
    let name = match (argument.get_long(), argument.get_index()) {
        (Some(long), _) if argument.get_action().takes_values() => format!("--{long}="),
        (Some(long), _) => format!("--{long}"),
        (None, place) => format!("<{}>", place.unwrap()),
    };
    if argument.is_required_set() { format!("{name}!") } else { name }
}

fn commands() -> BTreeSet<String> {
    let mut lines = BTreeSet::new();
    let mut program = Cli::command().disable_help_subcommand(true);
    // Until then, arguments without a flag have no place.
    program.build();
    lines_of(&program, "quita", &mut lines);
    lines
}

/// Returns what a script that was written for `old` can no longer do.
fn breaks(old: &BTreeSet<String>, new: &BTreeSet<String>) -> Vec<String> {
    let gone = old.iter().filter(|line| !new.contains(*line) && !new.contains(line.trim_end_matches('!')));
    let wanted = new.iter().filter(|line| {
        let is_of_old_command = old.iter().any(|command| {
            line.strip_prefix(command.as_str())
                .is_some_and(|rest| rest.starts_with(" <") || rest.starts_with(" --"))
        });
        line.ends_with('!') && is_of_old_command && !old.contains(*line)
    });
    gone.map(|line| format!("{line} is gone"))
        .chain(wanted.map(|line| format!("{line} was not required")))
        .collect()
}

#[test]
fn commands_and_arguments_of_released_versions_are_still_there() {
    if env::var_os("GOLDEN_FILES").is_some_and(|value| value == "write") {
        let version = env!("CARGO_PKG_VERSION").rsplit_once('.').unwrap().0;
        let text: String = commands().iter().map(|line| format!("{line}\n")).collect();
        fs::write(folder().join(format!("commands-{version}.txt")), text).unwrap();
    }
    let released: Vec<_> = fs::read_dir(folder())
        .unwrap()
        .map(|entry| entry.unwrap().path())
        .filter(|path| path.file_name().unwrap().to_str().unwrap().starts_with("commands-"))
        .collect();
    assert!(!released.is_empty());
    for file in released {
        let old = fs::read_to_string(&file).unwrap().lines().map(str::to_owned).collect();
        assert_eq!(breaks(&old, &commands()), Vec::<String>::new(), "{}", file.display());
    }
}

#[test]
fn what_is_gone_or_newly_required_is_found_and_additions_are_not() {
    let lines = |lines: &[&str]| lines.iter().map(|line| (*line).to_owned()).collect::<BTreeSet<_>>();
    let old =
        lines(&["quita keys", "quita keys create", "quita keys create --label=", "quita keys create <1>!"]);
    let more = lines(&["quita keys end", "quita keys end <1>!", "quita keys create --note="]);
    assert_eq!(breaks(&old, &old.union(&more).cloned().collect()), Vec::<String>::new());
    let mut new = old.clone();
    new.remove("quita keys create --label=");
    new.insert("quita keys create --tag=!".into());
    assert_eq!(
        breaks(&old, &new),
        ["quita keys create --label= is gone", "quita keys create --tag=! was not required"]
    );
    new = old.clone();
    new.remove("quita keys create <1>!");
    new.insert("quita keys create <1>".into());
    assert_eq!(breaks(&old, &new), Vec::<String>::new(), "what was required may be left out");
}
