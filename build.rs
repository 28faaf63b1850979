//! Says which commit the program is built from, in `BUILD_COMMIT`: hexadecimal digits, with `-dirty` if what it is built
//! from was changed since; empty where nobody knows.
//!
//! The name does not begin with `QUITA_`: Cargo sets it for the program that it runs, too, which would refuse it.

use std::env;
use std::path::Path;
use std::process::Command;

/// Sources of the program. A change of documents or tests makes it no other program, and builds nothing anew.
const SOURCES: [&str; 14] = [
    "Cargo.lock",
    "Cargo.toml",
    "build.rs",
    "rust-toolchain.toml",
    "src",
    "templates",
    "domain/src",
    "ports/src",
    "services/src",
    "actors/src",
    "acquirers/src",
    "adapters",
    "cnab/src",
    "config/src",
];

/// The commit as those know it who build without a repository.
const GIVEN: &str = "SOURCE_COMMIT";

/// Digits of a commit that are shown.
const DIGITS: usize = 12;

fn main() {
    println!("cargo::rerun-if-env-changed={GIVEN}");
    for source in SOURCES.iter().filter(|source| Path::new(source).exists()) {
        println!("cargo::rerun-if-changed={source}");
    }
    let commit = match env::var(GIVEN) {
        Ok(given) if is_commit(&given) => given,
        Ok(given) if !given.is_empty() => {
            println!(
                "cargo::error={GIVEN} is {given:?}; allowed are 7 to 40 hexadecimal digits, and -dirty behind them"
            );
            return;
        }
        Ok(_) | Err(_) => of_repository().unwrap_or_default(),
    };
    println!("cargo::rustc-env=BUILD_COMMIT={commit}");
}

fn is_commit(text: &str) -> bool {
    let digits = text.strip_suffix("-dirty").unwrap_or(text);
    (7..=40).contains(&digits.len()) && digits.bytes().all(|byte| byte.is_ascii_hexdigit())
}

/// The last commit of what the program is built from; `None` if this is no repository of ours, or there is no git.
fn of_repository() -> Option<String> {
    let top = git(&["rev-parse", "--show-toplevel"], false)?;
    let here = env::current_dir().ok()?.canonicalize().ok()?;
    // Sources that were unpacked inside of another repository are not of its commits.
    if Path::new(top.trim()).canonicalize().ok()? != here {
        return None;
    }
    let last = git(&["log", "-1", "--format=%H"], true)?;
    let digits = last.trim().get(..DIGITS)?;
    let changed = git(&["status", "--porcelain"], true)?;
    let commit = format!("{digits}{}", if changed.trim().is_empty() { "" } else { "-dirty" });
    is_commit(&commit).then_some(commit)
}

/// Asks git, about our sources alone if so wanted. It takes no lock: somebody may be working beside.
fn git(arguments: &[&str], of_sources: bool) -> Option<String> {
    let mut command = Command::new("git");
    command.arg("--no-optional-locks").args(arguments);
    if of_sources {
        command.arg("--").args(SOURCES);
    }
    let output = command.output().ok().filter(|output| output.status.success())?;
    String::from_utf8(output.stdout).ok()
}
