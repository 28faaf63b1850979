//! Sample files that the tests share, and reading one as a whole.

use std::fs;
use std::path::PathBuf;

use quita_cnab::{BankCode, Layout, Line, ReadError, ReturnFile};

/// A file that was read to its end.
#[derive(Debug, PartialEq)]
pub(crate) struct Whole {
    pub(crate) bank: BankCode,
    pub(crate) layout: Layout,
    pub(crate) lines: Vec<Line>,
}

pub(crate) fn read(bytes: &[u8]) -> Result<Whole, ReadError> {
    let file = ReturnFile::open(bytes)?;
    let bank = file.bank();
    let layout = file.layout();
    let lines = file.collect::<Result<_, _>>()?;
    Ok(Whole { bank, layout, lines })
}

/// The number of the line with which a file is refused, and why.
pub(crate) fn refused(bytes: &[u8]) -> (u64, String) {
    match read(bytes).unwrap_err() {
        ReadError::Refused { line, problem } => (line, problem.to_string()),
        error @ ReadError::Io(_) => panic!("{error}"),
    }
}

pub(crate) fn path(name: &str) -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("tests/files").join(name)
}

pub(crate) fn sample(name: &str) -> Vec<u8> {
    fs::read(path(name)).unwrap()
}

/// The names of all samples.
pub(crate) fn samples() -> Vec<String> {
    let names =
        fs::read_dir(path("")).unwrap().map(|entry| entry.unwrap().file_name().into_string().unwrap());
    let mut samples: Vec<_> = names.filter(|name| name.ends_with(".ret")).collect();
    samples.sort();
    samples
}

/// A file with other characters at a position of a line, both from 1.
pub(crate) fn with(file: &[u8], line: usize, position: usize, text: &str) -> Vec<u8> {
    let mut lines: Vec<Vec<u8>> = file.split_inclusive(|byte| *byte == b'\n').map(<[u8]>::to_vec).collect();
    lines[line - 1].splice(position - 1..position - 1 + text.len(), text.bytes());
    lines.concat()
}

/// A file without one of its lines, from 1.
pub(crate) fn without(file: &[u8], line: usize) -> Vec<u8> {
    let lines = file.split_inclusive(|byte| *byte == b'\n').enumerate();
    lines.filter(|(index, _)| index + 1 != line).flat_map(|(_, line)| line.to_vec()).collect()
}
