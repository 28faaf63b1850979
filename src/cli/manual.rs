//! `quita completions` and `quita man`: shell completions and manual pages, generated from the commands themselves.

use std::fs;
use std::io;
use std::path::PathBuf;

use clap::{Args, Command, ValueEnum};
use clap_complete::shells;
use clap_mangen::Man;

use super::failure::Failure;
use super::output;

/// The shell that is told.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(super) enum Shell {
    /// GNU bash
    Bash,
    /// Z shell
    Zsh,
    /// fish
    Fish,
}

/// For which shell.
#[derive(Debug, Args)]
#[command(after_help = "bash: quita completions bash > ~/.local/share/bash-completion/completions/quita\n\
    zsh:  quita completions zsh > a file _quita in a directory of $fpath\n\
    fish: quita completions fish > ~/.config/fish/completions/quita.fish")]
pub(super) struct CompletionsCommand {
    /// Name of the shell
    shell: Shell,
}

/// Arguments of `quita man`.
#[derive(Debug, Args)]
#[command(after_help = "To read one: quita man keys create | man -l -")]
pub(super) struct ManCommand {
    /// Command that the page describes [default: the program itself]
    #[arg(value_name = "COMMAND")]
    names: Vec<String>,
    /// Write a page for each command into this directory, instead
    #[arg(long, value_name = "DIRECTORY", conflicts_with = "names")]
    into: Option<PathBuf>,
}

pub(super) fn completions(command: CompletionsCommand, mut program: Command) -> Result<(), Failure> {
    let name = program.get_name().to_owned();
    let mut script = Vec::new();
    match command.shell {
        Shell::Bash => clap_complete::generate(shells::Bash, &mut program, name, &mut script),
        Shell::Zsh => clap_complete::generate(shells::Zsh, &mut program, name, &mut script),
        Shell::Fish => clap_complete::generate(shells::Fish, &mut program, name, &mut script),
    }
    output::result(String::from_utf8_lossy(&script).trim_end())
}

pub(super) fn man(command: ManCommand, program: Command) -> Result<(), Failure> {
    let mut program = program.disable_help_subcommand(true);
    if let Some(directory) = command.into {
        let written =
            fs::create_dir_all(&directory).and_then(|()| clap_mangen::generate_to(program, &directory));
        let failed = |error| format!("the pages can't be written to {}: {error}", directory.display());
        return written.map_err(|error| Failure::failed(failed(error)));
    }
    program.build();
    let mut found = &program;
    for name in &command.names {
        found = found.find_subcommand(name).ok_or_else(|| unknown(found, name))?;
    }
    let page = page(found).map_err(|error| Failure::failed(format!("the page can't be created: {error}")))?;
    output::result(page.trim_end())
}

fn page(command: &Command) -> io::Result<String> {
    let mut page = Vec::new();
    Man::new(command.clone()).render(&mut page)?;
    Ok(String::from_utf8_lossy(&page).into_owned())
}

fn unknown(within: &Command, name: &str) -> Failure {
    let known: Vec<_> = within.get_subcommands().map(Command::get_name).collect();
    let within = within.get_bin_name().unwrap_or_else(|| within.get_name());
    let known = if known.is_empty() { "none".into() } else { known.join(", ") };
    Failure::usage(format!("{within} has no command {}; known: {known}", output::printable(name)))
}
