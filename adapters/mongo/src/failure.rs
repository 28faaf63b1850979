//! Meanings of the driver's errors: for a read, and for a write that may have happened.

use std::time::Duration;

use mongodb::error::{Error, ErrorKind, WriteFailure};
use quita_ports::{StoreError, WriteError};

/// Total time limit of one operation; longer than the wait for a majority.
const OPERATION_TIME_OUT: Duration = Duration::from_secs(15);

/// Time limit that the server enforces for a list or for figures: shorter than the wait for them.
pub(super) const LIST_TIME_OUT: Duration = Duration::from_secs(10);

/// Progress of a command that failed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Reach {
    /// The command never left, or was refused before it did anything.
    Nothing,
    /// The command may have done some or all of its work.
    Perhaps,
}

/// Codes of errors that the server finds before it begins a command.
///
/// Source: `src/mongo/base/error_codes.yml`: `BadValue`, `FailedToParse`, `Unauthorized`, `TypeMismatch`,
/// `AuthenticationFailed`, `CommandNotFound`, `InvalidOptions`, `ReauthenticationRequired`.
const REFUSED_AT_ONCE: [i32; 8] = [2, 9, 13, 14, 18, 59, 72, 391];

/// Returns the progress for each kind of error. A step-down in the middle of a batch stops the rest of it, so "not
/// primary" means `Perhaps`.
fn reach(kind: &ErrorKind) -> Reach {
    match kind {
        ErrorKind::ServerSelection { .. }
        | ErrorKind::DnsResolve { .. }
        | ErrorKind::Authentication { .. }
        | ErrorKind::InvalidTlsConfig { .. }
        | ErrorKind::InvalidArgument { .. }
        | ErrorKind::IncompatibleServer { .. }
        | ErrorKind::SessionsNotSupported => Reach::Nothing,
        ErrorKind::Command(error) if REFUSED_AT_ONCE.contains(&error.code) => Reach::Nothing,
        // A write error concerns one document: the server refused this one and changed nothing.
        ErrorKind::Write(WriteFailure::WriteError(_)) => Reach::Nothing,
        ErrorKind::Command(_)
        | ErrorKind::Write(_)
        | ErrorKind::Io(_)
        // Includes a command that was under way when the driver's monitor gave up the server: such a write has been
        // seen to happen.
        | ErrorKind::ConnectionPoolCleared { .. }
        | ErrorKind::InvalidResponse { .. }
        | ErrorKind::Shutdown
        | ErrorKind::Bson(_)
        | ErrorKind::BsonDeserialization(_)
        | ErrorKind::BsonSerialization(_)
        | ErrorKind::InsertMany(_)
        | ErrorKind::BulkWrite(_)
        | ErrorKind::GridFs(_)
        | ErrorKind::Internal { .. }
        | ErrorKind::Transaction { .. }
        | ErrorKind::MissingResumeToken
        | ErrorKind::Custom(_)
        // The driver may add kinds of errors. An unknown kind must not count as "not written": the write would then
        // happen twice.
        | _ => Reach::Perhaps,
    }
}

/// Translates an error for a caller that only read. Any error may pass, so a later read may succeed.
pub(super) fn store_error(error: &Error) -> StoreError {
    let kind = error.kind.as_ref();
    if let ErrorKind::Write(WriteFailure::WriteError(write)) = kind {
        return refused(write.code);
    }
    if let ErrorKind::Command(command) = kind
        // Commands that the driver does not model as writes report these two as command errors.
        && [OUT_OF_DISK_SPACE, VALIDATION_FAILED].contains(&command.code)
    {
        return refused(command.code);
    }
    let why = if let ErrorKind::ServerSelection { message, .. } = kind {
        no_primary(message)
    } else if let ErrorKind::ConnectionPoolCleared { message, .. } = kind {
        lost_connections(message)
    } else {
        kind.to_string()
    };
    StoreError::Unavailable(why)
}

/// Maximum length of the part of a server's error that is reported.
const CAUSE_LENGTH: usize = 120;

/// Returns why each server could not be chosen. The driver's own message has its whole view of the replica set, and
/// would be repeated with every request during an outage.
fn no_primary(message: &str) -> String {
    let servers = message.split("{ Address: ").skip(1).map(|server| {
        let (address, state) = server.split_once(", ").unwrap_or((server, ""));
        let cause = match state.split_once("Error: ") {
            Some((_, error)) => error.strip_prefix("Kind: ").unwrap_or(error),
            None => state,
        };
        let cause = cause.split([',', '}']).next().unwrap_or_default().trim();
        format!("{address} ({})", cause.chars().take(CAUSE_LENGTH).collect::<String>())
    });
    match servers.collect::<Vec<_>>().join(", ") {
        none if none.is_empty() => String::from("no server of MongoDB takes writes"),
        servers => format!("no server of MongoDB takes writes: {servers}"),
    }
}

/// Returns why the connections to a server were given up, without the labels and sources of the driver's own message.
fn lost_connections(message: &str) -> String {
    let address = message.strip_prefix("Connection pool for ").and_then(|rest| rest.split_once(" cleared"));
    let cause =
        message.split_once("Kind: ").map(|(_, cause)| cause.split(", labels: ").next().unwrap_or(cause));
    match (address, cause) {
        (Some((address, _)), Some(cause)) => {
            let cause: String = cause.chars().take(CAUSE_LENGTH).collect();
            format!("the connections to {address} were lost: {cause}")
        }
        (_, _) => String::from("the connections to MongoDB were lost"),
    }
}

/// Translates an error for every write of the command that it ended.
pub(super) fn write_error(error: &Error) -> WriteError {
    let cause = store_error(error);
    match reach(error.kind.as_ref()) {
        Reach::Nothing => WriteError::NotWritten(cause),
        Reach::Perhaps => WriteError::Unknown(cause),
    }
}

/// Code of a server whose disk is full.
///
/// Source: `src/mongo/base/error_codes.yml`: `OutOfDiskSpace`.
const OUT_OF_DISK_SPACE: i32 = 14_031;

/// Code of a document that the validator of its collection refuses (`DocumentValidationFailure`). The only validators
/// are those of the stored form.
const VALIDATION_FAILED: i32 = 121;

/// Returns the error of a write whose form is older than the one that the database was upgraded to.
pub(super) fn older_form() -> StoreError {
    StoreError::Unavailable("MongoDB refused a write in the stored form of before an upgrade".into())
}

/// Returns the error of a single write that was refused. The server's message may quote the document, so only the code
/// is kept.
pub(super) fn refused(code: i32) -> StoreError {
    if code == VALIDATION_FAILED {
        return older_form();
    }
    let why = format!("MongoDB refused a write with code {code}");
    if code == OUT_OF_DISK_SPACE { StoreError::Full(why) } else { StoreError::Unavailable(why) }
}

/// Returns the error for an answer that did not come in time.
pub(super) fn no_answer() -> StoreError {
    StoreError::Unavailable(format!("MongoDB did not answer within {} s", OPERATION_TIME_OUT.as_secs()))
}

/// Waits for an operation for a limited time. Returns `None` if no answer came in time.
pub(super) async fn answer_within_time<T>(
    operation: impl IntoFuture<Output = Result<T, Error>>,
) -> Option<Result<T, Error>> {
    tokio::time::timeout(OPERATION_TIME_OUT, operation.into_future()).await.ok()
}

/// Waits for an operation whose failure only has to be reported.
pub(super) async fn within_time<T>(
    operation: impl IntoFuture<Output = Result<T, Error>>,
) -> Result<T, StoreError> {
    match answer_within_time(operation).await {
        Some(result) => result.map_err(|error| store_error(&error)),
        None => Err(no_answer()),
    }
}

#[cfg(test)]
mod tests {
    use mongodb::error::CommandError;

    use super::*;

    fn command_error(code: i32) -> ErrorKind {
        let body = bson::doc! { "code": code, "codeName": "Any", "errmsg": "any" };
        ErrorKind::Command(bson::deserialize_from_document::<CommandError>(body).unwrap())
    }

    #[test]
    fn a_lost_connection_and_a_step_down_leave_the_outcome_open() {
        let closed = std::io::Error::from(std::io::ErrorKind::ConnectionReset);
        assert_eq!(reach(&ErrorKind::Io(closed.into())), Reach::Perhaps);
        // ExceededTimeLimit, InterruptedAtShutdown, NotWritablePrimary, InterruptedDueToReplStateChange,
        // ShutdownInProgress, WriteConcernFailed, PrimarySteppedDown, MaxTimeMSExpired
        for code in [262, 11600, 10107, 11602, 91, 64, 189, 50] {
            assert_eq!(reach(&command_error(code)), Reach::Perhaps, "{code}");
        }
    }

    #[test]
    fn a_server_whose_disk_is_full_says_so() {
        let seen = |code| store_error(&Error::from(command_error(code)));
        assert!(matches!(seen(OUT_OF_DISK_SPACE), StoreError::Full(_)));
        assert!(matches!(seen(91), StoreError::Unavailable(_)));
        assert!(matches!(refused(OUT_OF_DISK_SPACE), StoreError::Full(_)));
    }

    #[test]
    fn what_is_refused_at_once_is_certainly_not_written() {
        for code in REFUSED_AT_ONCE {
            assert_eq!(reach(&command_error(code)), Reach::Nothing, "{code}");
        }
    }

    #[test]
    fn a_missing_primary_is_told_by_the_servers_and_not_by_the_whole_topology() {
        let message = "Server selection timeout: No available servers. Topology: { Type: ReplicaSetNoPrimary, \
            Set Name: quita, Max Set Version: 1, Servers: [ { Address: db1:27017, Type: Unknown, Error: Kind: I/O error: \
            Connection refused (os error 111), labels: {\"RetryableWriteError\"}, source: None }, { Address: db2:27017, \
            Type: RsSecondary, Average RTT: 1ms, Last Update Time: 2026-11-25 } ] }";
        let told = "no server of MongoDB takes writes: db1:27017 (I/O error: Connection refused (os error 111)), \
            db2:27017 (Type: RsSecondary)";
        assert_eq!(no_primary(message), told);
        assert_eq!(no_primary("anything"), "no server of MongoDB takes writes");
    }

    #[test]
    fn lost_connections_are_told_by_server_and_cause_alone() {
        let message = "Connection pool for db1:27017 cleared because another operation failed with: Kind: I/O error: \
            timed out, labels: {}, source: None, server response: None";
        assert_eq!(lost_connections(message), "the connections to db1:27017 were lost: I/O error: timed out");
        assert_eq!(lost_connections("anything"), "the connections to MongoDB were lost");
    }

    #[tokio::test(start_paused = true)]
    async fn an_answer_is_not_waited_for_for_ever() {
        assert_eq!(within_time(std::future::pending::<Result<(), Error>>()).await, Err(no_answer()));
    }
}
