//! Words of the program about itself: help, version, completions, manual pages.

use std::path::Path;
use std::process::Command;

use crate::support::Program;

fn run(arguments: &[&str]) -> String {
    let directory = tempfile::tempdir().unwrap();
    Program::new(directory.path(), arguments).run().output()
}

#[test]
fn help_and_version_exit_with_0() {
    let help = run(&["--help"]);
    for command in ["serve", "keys", "secrets", "sandbox", "listen", "doctor"] {
        assert!(help.contains(command), "{command}: {help}");
    }
    assert!(run(&["--version"]).starts_with("quita "));
    let serve = run(&["serve", "--help"]);
    for option in [
        "--listen",
        "--ops-listen",
        "--public-url",
        "--store",
        "--rate-limit",
        "--environment",
        "QUITA_LISTEN",
    ] {
        assert!(serve.contains(option), "{option}: {serve}");
    }
}

#[test]
fn the_version_names_the_commit_and_the_stored_form() {
    let version = run(&["--version"]);
    let rest = version.strip_prefix(concat!("quita ", env!("CARGO_PKG_VERSION"), " (")).unwrap();
    let (commit, form) = rest.strip_suffix(')').unwrap().split_once(", stored form ").unwrap();
    assert!(form.parse::<u32>().is_ok(), "{version}");
    let digits = commit.strip_suffix("-dirty").unwrap_or(commit);
    let is_hexadecimal =
        (7..=40).contains(&digits.len()) && digits.bytes().all(|byte| byte.is_ascii_hexdigit());
    // Sources from an archive are of no commit that anybody knows.
    let is_unknown =
        commit == "commit unknown" && !Path::new(env!("CARGO_MANIFEST_DIR")).join(".git").exists();
    assert!(is_hexadecimal || is_unknown, "{version}");
}

#[test]
fn the_help_of_serve_has_groups_and_names_the_secrets_that_are_no_flags() {
    let help = run(&["serve", "--help"]);
    let place = |part: &str| help.find(part).unwrap_or_else(|| panic!("no {part}: {help}"));
    let groups = ["Addresses:", "Store:", "Logs and traces:", "Acquirers, routes and reconciliation:"];
    let places = groups.map(place);
    assert!(places.is_sorted(), "{help}");
    assert!((place("Addresses:")..place("Store:")).contains(&place("--public-url")), "{help}");
    for secret in ["QUITA_SECRET_KEY\n", "QUITA_OPERATOR_PASSWORD\n", "QUITA_ACQUIRER_{NAME}_{KEY}\n"] {
        place(secret);
    }
}

#[test]
fn each_shell_gets_completions_that_it_can_read() {
    for (shell, part) in [("bash", "_quita()"), ("zsh", "#compdef quita"), ("fish", "complete -c quita")] {
        let script = run(&["completions", shell]);
        assert!(script.contains(part) && script.contains("ops-listen"), "{shell}");
    }
    let directory = tempfile::tempdir().unwrap();
    let script = directory.path().join("quita.bash");
    std::fs::write(&script, run(&["completions", "bash"])).unwrap();
    let complete = "source \"$1\"; COMP_WORDS=(quita keys cr); COMP_CWORD=2; _quita quita cr keys; echo \"${COMPREPLY[@]}\"";
    let arguments = ["--norc", "-c", complete, "bash"];
    let completed = Command::new("bash").args(arguments).arg(&script).output().unwrap();
    let told = String::from_utf8_lossy(&completed.stdout).into_owned();
    assert_eq!(told.trim(), "create", "{completed:?}");
    let refused = Program::new(directory.path(), ["completions", "tcsh"]).run();
    assert!(refused.code == Some(2) && refused.stderr.contains("fish"), "{refused:?}");
}

#[test]
fn there_is_a_manual_page_for_each_command() {
    let page = run(&["man"]);
    assert!(page.contains(".TH quita 1") && page.contains("serve"), "{page}");
    let page = run(&["man", "keys", "create"]);
    assert!(page.contains("quita\\-keys\\-create") || page.contains("quita-keys-create"), "{page}");
    assert!(page.contains("expires") && page.contains("merchant"), "{page}");
    let directory = tempfile::tempdir().unwrap();
    let into = directory.path().join("man1");
    Program::new(directory.path(), ["man", "--into", into.to_str().unwrap()]).run().output();
    for name in ["quita.1", "quita-serve.1", "quita-keys-create.1", "quita-users-operators-list.1"] {
        assert!(std::fs::metadata(into.join(name)).is_ok_and(|page| page.len() > 100), "{name}");
    }
    let refused = Program::new(directory.path(), ["man", "keys", "steal"]).run();
    assert!(refused.code == Some(2) && refused.stderr.contains("revoke"), "{refused:?}");
}

#[test]
fn of_alternatives_one_of_which_is_needed_all_are_named() {
    let directory = tempfile::tempdir().unwrap();
    let cases: [(&[&str], &[&str]); 2] = [
        (&["merchants", "set-profile", "--merchant", "shop"], &["--display-name", "--contact", "--logo"]),
        (&["reconcile"], &["--acquirer", "--cnab"]),
    ];
    for (arguments, alternatives) in cases {
        let refused = Program::new(directory.path(), arguments).run();
        assert_eq!(refused.code, Some(2), "{refused:?}");
        let (missing, _) = refused.stderr.split_once("Usage:").unwrap();
        for alternative in alternatives {
            assert!(missing.contains(alternative), "{alternative}: {refused:?}");
        }
    }
}

#[test]
fn the_help_names_every_status_that_a_list_takes() {
    let help = run(&["payments", "list", "--help"]);
    for status in quita_domain::status::Status::ALL {
        assert!(help.contains(status.as_str()), "{status}: {help}");
    }
}
