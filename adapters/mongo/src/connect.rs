//! Reads the URI and sets the options that durability depends on.

use std::time::Duration;

use mongodb::error::ErrorKind;
use mongodb::options::{
    Acknowledgment, ClientOptions, ReadConcern, ReadPreference, SelectionCriteria, WriteConcern,
};
use mongodb::{Client, error};
use quita_ports::StoreError;

use super::uri::uri_mistake;

/// The database to use if the URI names none.
pub(super) const DEFAULT_DATABASE: &str = "quita";

/// Time to look for a primary. An election takes up to 12 s; the caller gets an answer before that.
const SELECTION_TIME_OUT: Duration = Duration::from_secs(5);
const CONNECT_TIME_OUT: Duration = Duration::from_secs(5);
/// Time for which a server counts as unavailable after it refused a command with a shutdown error, if nothing else is
/// heard of it. It is shorter than the search for a primary, so the next caller only has to wait.
const HEARTBEAT: Duration = Duration::from_secs(2);
/// Time that a write may wait for a majority before its outcome counts as unknown.
const MAJORITY_TIME_OUT: Duration = Duration::from_secs(10);

/// A client, and the hosts that it was given, for messages.
pub(super) async fn client(uri: &str) -> Result<(Client, String), StoreError> {
    if let Some(mistake) = uri_mistake(uri) {
        return Err(unusable_uri(&mistake));
    }
    let mut options = ClientOptions::parse(uri).await.map_err(|error| unreadable_uri(&error))?;
    let hosts: Vec<_> = options.hosts.iter().map(ToString::to_string).collect();
    // Time-outs are defaults, because an operator may know that a network is slower. The URI can't change the
    // durability options below.
    options.server_selection_timeout.get_or_insert(SELECTION_TIME_OUT);
    options.connect_timeout.get_or_insert(CONNECT_TIME_OUT);
    options.heartbeat_freq.get_or_insert(HEARTBEAT);
    options.app_name.get_or_insert_with(|| String::from("quita"));
    // The URI can't change these: the store guarantees them.
    options.write_concern = Some(write_concern());
    options.read_concern = Some(ReadConcern::majority());
    options.selection_criteria = Some(SelectionCriteria::ReadPreference(ReadPreference::Primary));
    let client = Client::with_options(options).map_err(|error| unreadable_uri(&error))?;
    Ok((client, hosts.join(", ")))
}

/// Returns the write concern: a write is in the journals of a majority, or its outcome is unknown.
pub(super) fn write_concern() -> WriteConcern {
    WriteConcern::builder().w(Acknowledgment::Majority).journal(true).w_timeout(MAJORITY_TIME_OUT).build()
}

/// Describes a URI that can't be read. The driver's own message may quote part of the password, so it is not passed on.
fn unreadable_uri(error: &error::Error) -> StoreError {
    if let ErrorKind::DnsResolve { message, .. } = error.kind.as_ref() {
        return StoreError::Unavailable(format!("the host in the MongoDB URI can't be resolved: {message}"));
    }
    unusable_uri("its hosts and options do not go together, or a file that it names can't be used")
}

fn unusable_uri(mistake: &str) -> StoreError {
    StoreError::Unavailable(format!("the MongoDB URI can't be used: {mistake}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn a_wrong_uri_is_explained_without_its_password_and_not_called_a_broken_store() {
        for uri in [
            "http://a",
            "mongodb://ana:se/cret@localhost/x",
            "mongodb://ana:se%cret@localhost/x",
            "mongodb://ana:secret@a,b/x?directConnection=true",
        ] {
            let refused = client(uri).await.err().unwrap();
            assert!(matches!(&refused, StoreError::Unavailable(why) if why.contains("URI")), "{refused}");
            let refused = refused.to_string();
            assert!(!refused.contains("cret") && !refused.contains("se/"), "{refused}");
        }
    }

    #[tokio::test]
    async fn the_uri_cannot_weaken_what_the_store_promises() {
        let uri = "mongodb://localhost/?w=1&journal=false&readConcernLevel=local&readPreference=secondary";
        let (client, hosts) = client(uri).await.unwrap();
        assert_eq!(hosts, "localhost:27017");
        assert_eq!(client.write_concern(), Some(&write_concern()));
        assert_eq!(client.read_concern(), Some(&ReadConcern::majority()));
        let primary = SelectionCriteria::ReadPreference(ReadPreference::Primary);
        assert_eq!(client.selection_criteria(), Some(&primary));
    }
}
