//! Failure of a command, with its exit code.

use std::fmt::{self, Display};
use std::process::ExitCode;

use quita_ports::StoreError;
use quita_services::secret_keys::SecretKeyError;

use crate::store::OpenError;
use quita_config::problem::ConfigError;
use quita_services::access::ManageError;
use quita_services::people::PeopleError;

/// Message for people, and the exit code.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Failure {
    message: String,
    exit_code: u8,
}

impl Failure {
    /// Creates a failure of the work: exit code 1.
    pub fn failed(message: impl Display) -> Self {
        Self { message: message.to_string(), exit_code: 1 }
    }

    /// Creates a failure of the usage: exit code 2.
    pub fn usage(message: impl Display) -> Self {
        Self { message: message.to_string(), exit_code: 2 }
    }

    /// Creates a service failure. A configuration error that a restart can't fix has its own exit code, even if only
    /// the store reveals it.
    pub fn of_service(error: &anyhow::Error) -> Self {
        let message = format!("{error:#}");
        let is_refused = error.downcast_ref::<SecretKeyError>().is_some_and(is_refused_key)
            || error.downcast_ref::<OpenError>().is_some_and(OpenError::is_refusal);
        if is_refused { Self::usage(message) } else { Self::failed(message) }
    }

    /// Creates a failure by a signal, with the exit code that shells use for such programs. An empty message is not
    /// printed.
    pub fn interrupted(exit_code: u8, message: impl Display) -> Self {
        Self { message: message.to_string(), exit_code }
    }

    /// Returns the exit code of the process.
    pub fn exit_code(&self) -> ExitCode {
        ExitCode::from(self.exit_code)
    }
}

impl Display for Failure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.message)
    }
}

impl From<ConfigError> for Failure {
    fn from(error: ConfigError) -> Self {
        // A restart fixes none of these: the exit code tells supervisors not to start the service again.
        Self::usage(error)
    }
}

impl From<OpenError> for Failure {
    fn from(error: OpenError) -> Self {
        if error.is_refusal() { Self::usage(error) } else { Self::failed(error) }
    }
}

impl From<SecretKeyError> for Failure {
    fn from(error: SecretKeyError) -> Self {
        Self::failed(error)
    }
}

/// Returns true if the store uses another secret key than those of the configuration.
const fn is_refused_key(error: &SecretKeyError) -> bool {
    match error {
        SecretKeyError::NotHeld { .. } | SecretKeyError::StillPublic { .. } => true,
        SecretKeyError::Vault(_) | SecretKeyError::Store(_) | SecretKeyError::Raced => false,
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
