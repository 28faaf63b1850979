//! Problems of a configuration, each with its origin.

use std::fmt;
use std::path::PathBuf;

use thiserror::Error;

/// Origins of a value.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Origin {
    /// Nothing was set.
    Default,
    /// A flag, named without its dashes.
    Flag(&'static str),
    /// An environment variable.
    Variable(String),
    /// A key of the file.
    File {
        /// File.
        path: PathBuf,
        /// Key, as it is written there.
        key: String,
    },
}

impl Origin {
    /// Resolves a path with this origin: in a file it is relative to the file's folder.
    pub(super) fn resolve(&self, path: &str) -> PathBuf {
        match self {
            Self::File { path: file, .. } => {
                file.parent().map_or_else(|| path.into(), |folder| folder.join(path))
            }
            Self::Default | Self::Flag(_) | Self::Variable(_) => path.into(),
        }
    }
}

impl fmt::Display for Origin {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Default => f.write_str("default"),
            Self::Flag(name) => write!(f, "flag --{name}"),
            Self::Variable(name) => write!(f, "environment {name}"),
            Self::File { path, key } => write!(f, "file {} key {key}", path.display()),
        }
    }
}

/// One problem of a configuration.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Problem {
    /// Option that has the problem.
    pub option: String,
    /// Text with the problem, its origin, and the allowed values.
    pub message: String,
}

impl fmt::Display for Problem {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}", self.option, self.message)
    }
}

/// All problems of a configuration.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
pub struct ConfigError(pub Vec<Problem>);

impl fmt::Display for ConfigError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("the configuration is refused:")?;
        self.0.iter().try_for_each(|problem| write!(f, "\n  {problem}"))
    }
}
