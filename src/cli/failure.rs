//! Why a command ended without having done its work.

use std::fmt::{self, Display};
use std::process::ExitCode;

use quita_actors::SecretKeyError;
use quita_ports::StoreError;

use crate::service::access::ManageError;
use crate::service::people::PeopleError;
use crate::store::OpenError;
use quita_config::problem::ConfigError;

/// A message for people, and whether it was the usage that was wrong.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Failure {
    message: String,
    is_usage: bool,
}

impl Failure {
    /// The work failed: exit code 1.
    pub fn failed(message: impl Display) -> Self {
        Self { message: message.to_string(), is_usage: false }
    }

    /// The usage was wrong: exit code 2.
    pub fn usage(message: impl Display) -> Self {
        Self { message: message.to_string(), is_usage: true }
    }

    /// With what the process ends.
    pub fn exit_code(&self) -> ExitCode {
        if self.is_usage { ExitCode::from(2) } else { ExitCode::FAILURE }
    }
}

impl Display for Failure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.message)
    }
}

impl From<ConfigError> for Failure {
    fn from(error: ConfigError) -> Self {
        if error.is_malformed() { Self::usage(error) } else { Self::failed(error) }
    }
}

impl From<OpenError> for Failure {
    fn from(error: OpenError) -> Self {
        Self::failed(error)
    }
}

impl From<SecretKeyError> for Failure {
    fn from(error: SecretKeyError) -> Self {
        Self::failed(error)
    }
}

impl From<PeopleError> for Failure {
    fn from(error: PeopleError) -> Self {
        Self::failed(error)
    }
}

impl From<StoreError> for Failure {
    fn from(error: StoreError) -> Self {
        Self::failed(error)
    }
}

impl From<ManageError> for Failure {
    fn from(error: ManageError) -> Self {
        Self::failed(error)
    }
}
