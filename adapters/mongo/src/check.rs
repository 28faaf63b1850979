//! Requirements of this store, checked at the server at the start.

use bson::{Document, doc};
use mongodb::Client;
use mongodb::error::{Error, ErrorKind};
use quita_ports::StoreError;

use super::failure::within_time;

/// The wire version of MongoDB 6.0.
const MIN_WIRE_VERSION: i32 = 17;

/// The server's code for a command that this user may not run (`Unauthorized`).
const UNAUTHORIZED: i32 = 13;

/// Refuses a deployment that could lose what it acknowledged.
pub(super) async fn deployment(client: &Client, hosts: &str) -> Result<(), StoreError> {
    let admin = client.database("admin");
    let hello = within_time(admin.run_command(doc! { "hello": 1 })).await;
    let hello = hello.map_err(|error| unreachable_server(hosts, &error))?;
    let refused = |why| StoreError::Broken(format!("MongoDB at {hosts} {why}"));
    if judge_hello(&hello).map_err(refused)? == Deployment::Sharded {
        return Ok(());
    }
    match admin.run_command(doc! { "replSetGetConfig": 1 }).await {
        Ok(reply) => judge_config(&reply).map_err(refused),
        // The service itself has no other use for the privilege to
        // read the configuration, so a user without it is accepted.
        Err(error) if is_unauthorized(&error) => {
            tracing::warn!(
                hosts,
                "this user may not read the replica set's configuration: \
                 make sure that writeConcernMajorityJournalDefault is true"
            );
            Ok(())
        }
        Err(error) => Err(unreachable_server(hosts, &super::failure::store_error(&error))),
    }
}

fn unreachable_server(hosts: &str, error: &StoreError) -> StoreError {
    let (StoreError::Unavailable(why)
    | StoreError::Full(why)
    | StoreError::Broken(why)
    | StoreError::Unreadable(why)) = error;
    StoreError::Unavailable(format!(
        "no primary of a MongoDB replica set answered at {hosts} ({why}); {}",
        remedy(why)
    ))
}

/// Words in messages of the driver and of the system, and the remedy for each.
const REMEDIES: [(&[&str], &str); 7] = [
    (
        &["Authentication failed", "authentication", "SCRAM"],
        "check that user and password are right, and that authSource names their database",
    ),
    (
        &["Name or service not known", "failed to lookup address", "Temporary failure in name resolution"],
        "check the name of the host, and this machine's DNS",
    ),
    (&["Connection refused"], "check that MongoDB runs, and listens there"),
    (
        &["tls handshake", "invalid peer certificate", "TLS"],
        "check that MongoDB speaks TLS there (tls=), and that its certificate is trusted (tlsCAFile=)",
    ),
    (&["RsSecondary", "RsOther"], "check with rs.status() that a majority of its members runs"),
    (
        &["timed out", "Type: Unknown"],
        "it does not answer: check that it is not hung, that no firewall drops packets on the way, and that replicaSet \
         has its name",
    ),
    (
        &["RsGhost"],
        "check that the replica set was initiated (rs.initiate()), and that replicaSet has its name",
    ),
];

/// Returns the remedy that the words of a failure suggest.
fn remedy(why: &str) -> &'static str {
    let is_told = |words: &[&str]| words.iter().any(|word| why.contains(word));
    REMEDIES.iter().find(|(words, _)| is_told(words)).map_or(
        "check that it runs and can be reached, that it was initiated (rs.initiate()), that replicaSet has its name, \
         and that user and password are right",
        |(_, remedy)| remedy,
    )
}

fn is_unauthorized(error: &Error) -> bool {
    matches!(error.kind.as_ref(), ErrorKind::Command(command) if command.code == UNAUTHORIZED)
}

#[derive(Debug, PartialEq, Eq)]
enum Deployment {
    ReplicaSet,
    Sharded,
}

fn judge_hello(hello: &Document) -> Result<Deployment, String> {
    let wire_version = hello.get_i32("maxWireVersion").unwrap_or(0);
    if wire_version < MIN_WIRE_VERSION {
        return Err(format!("is too old (wire version {wire_version}): version 6.0 or newer is needed"));
    }
    if hello.get_str("msg").is_ok_and(|message| message == "isdbgrid") {
        return Ok(Deployment::Sharded);
    }
    match hello.get_str("setName") {
        Ok(_) => Ok(Deployment::ReplicaSet),
        Err(_) => Err(String::from(
            "is not a replica set, so it can't promise that a write survives: start it with --replSet NAME and \
             run rs.initiate() once; one member is enough",
        )),
    }
}

fn judge_config(reply: &Document) -> Result<(), String> {
    let config = reply.get_document("config").map_err(|_| "answered replSetGetConfig without a config")?;
    // Absent means the server's default, which is true.
    if config.get_bool("writeConcernMajorityJournalDefault").unwrap_or(true) {
        return Ok(());
    }
    Err(String::from(
        "acknowledges majority writes before they are in the journals: set \
         writeConcernMajorityJournalDefault to true (rs.reconfig)",
    ))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_replica_set_and_a_sharded_cluster_will_do() {
        let set = doc! { "maxWireVersion": 17, "setName": "rs0" };
        assert_eq!(judge_hello(&set), Ok(Deployment::ReplicaSet));
        let router = doc! { "maxWireVersion": 21, "msg": "isdbgrid" };
        assert_eq!(judge_hello(&router), Ok(Deployment::Sharded));
    }

    #[test]
    fn a_lone_server_and_an_old_one_are_refused() {
        let lone = judge_hello(&doc! { "maxWireVersion": 17 }).unwrap_err();
        assert!(lone.contains("--replSet"), "{lone}");
        let old = judge_hello(&doc! { "maxWireVersion": 13, "setName": "rs0" }).unwrap_err();
        assert!(old.contains("6.0"), "{old}");
    }

    #[test]
    fn the_advice_follows_from_the_cause() {
        for (why, advice) in [
            ("SCRAM failure: Authentication failed.", "authSource"),
            (
                "no server of MongoDB takes writes: db:27017 (I/O error: Connection refused (os error 111))",
                "runs",
            ),
            ("db:1 (I/O error: failed to lookup address information: Name or service not known)", "DNS"),
            ("no server of MongoDB takes writes: db:27017 (Type: RsGhost)", "rs.initiate()"),
            ("no server of MongoDB takes writes: db:27017 (Type: RsSecondary)", "rs.status()"),
            (
                "no server of MongoDB takes writes: a:1 (Type: RsSecondary), b:1 (I/O error: timed out)",
                "rs.status()",
            ),
            ("no server of MongoDB takes writes: db:27017 (I/O error: timed out)", "hung"),
            ("no server of MongoDB takes writes: db:27017 (I/O error: tls handshake eof)", "tls="),
        ] {
            let told = unreachable_server("db", &StoreError::Unavailable(why.into())).to_string();
            let (_, told) = told.split_once("; ").unwrap();
            assert!(told.contains(advice), "{told}");
            assert_eq!(told.contains("password"), why.contains("SCRAM"), "{told}");
        }
        assert!(remedy("anything").contains("replicaSet") && remedy("anything").contains("password"));
    }

    #[test]
    fn a_majority_without_journals_is_refused() {
        let config = |journals| doc! { "config": { "writeConcernMajorityJournalDefault": journals } };
        assert_eq!(judge_config(&config(true)), Ok(()));
        assert_eq!(judge_config(&doc! { "config": {} }), Ok(()), "true unless it is said");
        assert!(judge_config(&config(false)).unwrap_err().contains("rs.reconfig"));
    }
}
