//! Opening of the store that a URL names.

mod probe;

use std::sync::Arc;

use prometheus::{IntGaugeVec, Opts, Registry};
use quita_embedded::{EmbeddedStore, SoleWriterError};
use quita_mongo::MongoStore;
use quita_ports::{StoreError, UpgradeStore, WholeStore};
use thiserror::Error;

use quita_config::store_url::StoreUrl;

pub(crate) use probe::{PROBE, probe};

/// Purpose for which a store is opened.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Purpose {
    /// To serve payments. One process at a time does so on an embedded store.
    Serve,
    /// To work on a store that a service has made and may be serving: keys, secrets, checks. Makes none.
    Maintenance,
}

/// Failure to open the store. URLs are without their password.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
pub enum OpenError {
    /// There is none, and it was not opened to serve it.
    #[error(
        "There is no store at {url}, and only `quita serve` makes one.\nStart it once with the same store, then call \
         this again; or name another store with --store URL or QUITA_STORE."
    )]
    Missing {
        /// URL at which none was found.
        url: String,
    },
    /// Another process serves it, and it was opened to serve it.
    #[error(
        "another process serves the store {url}.\nStop that process first, or give this one a store of its own with \
         --store sqlite:PATH or QUITA_STORE."
    )]
    Served {
        /// URL of the store.
        url: String,
    },
    /// There is one, or one is to be made, and that failed.
    #[error("the store {url} can't be used: {cause}\n{advice}")]
    Unusable {
        /// URL of the store.
        url: String,
        /// Cause of the failure.
        cause: StoreError,
        /// Advice for the person who started the program.
        advice: &'static str,
    },
}

impl OpenError {
    /// Returns the error for a missing store at this URL.
    pub fn missing(url: &StoreUrl) -> Self {
        Self::Missing { url: url.clone().with_whole_path().to_string() }
    }
}

/// Opens the store. For serving, it is made if missing.
///
/// # Errors
/// [`OpenError`], to be shown to the person who started the program.
pub async fn open(url: &StoreUrl, purpose: Purpose) -> Result<Arc<dyn WholeStore>, OpenError> {
    let store = match (url, purpose) {
        (StoreUrl::Embedded(path), Purpose::Serve) => match EmbeddedStore::open_sole_writer(path) {
            Ok(store) => Ok(Some(shared(store))),
            Err(SoleWriterError::Store(error)) => Err(error),
            Err(SoleWriterError::Served(_)) => {
                return Err(OpenError::Served { url: url.clone().with_whole_path().to_string() });
            }
        },
        (StoreUrl::Embedded(path), Purpose::Maintenance) => {
            EmbeddedStore::open_existing(path).map(|store| store.map(shared))
        }
        (StoreUrl::Mongo(uri), Purpose::Serve) => {
            MongoStore::connect(uri.expose()).await.map(|store| Some(shared(store)))
        }
        (StoreUrl::Mongo(uri), Purpose::Maintenance) => {
            MongoStore::connect_existing(uri.expose()).await.map(|store| store.map(shared))
        }
    };
    let unusable = |cause| OpenError::Unusable { url: url.to_string(), advice: advice(url, &cause), cause };
    store.map_err(unusable)?.ok_or_else(|| OpenError::missing(url))
}

/// A store, and the same one as an upgrade works on it.
pub(crate) type ToUpgrade = (Arc<dyn WholeStore>, Arc<dyn UpgradeStore>);

/// Opens a store that is there to bring it into the newest form of this program.
///
/// # Errors
/// As [`open`].
pub(crate) async fn open_to_upgrade(url: &StoreUrl) -> Result<ToUpgrade, OpenError> {
    fn both<S: WholeStore + UpgradeStore>(store: S) -> ToUpgrade {
        let store = Arc::new(store);
        (store.clone(), store)
    }
    let store = match url {
        StoreUrl::Embedded(path) => EmbeddedStore::open_existing(path).map(|store| store.map(both)),
        StoreUrl::Mongo(uri) => MongoStore::connect_existing(uri.expose()).await.map(|store| store.map(both)),
    };
    let unusable = |cause| OpenError::Unusable { url: url.to_string(), advice: advice(url, &cause), cause };
    store.map_err(unusable)?.ok_or_else(|| OpenError::missing(url))
}

/// Shows in the metrics which kind of store holds the payments.
///
/// # Errors
/// Fails if the registry has that metric already.
pub fn register(url: &StoreUrl, registry: &Registry) -> Result<(), prometheus::Error> {
    let help = "1 for the kind of store that holds the payments: embedded or mongodb";
    let info = IntGaugeVec::new(Opts::new("quita_store_info", help), &["kind"])?;
    let kind = match url {
        StoreUrl::Embedded(_) => "embedded",
        StoreUrl::Mongo(_) => "mongodb",
    };
    info.with_label_values(&[kind]).set(1);
    registry.register(Box::new(info))
}

fn shared(store: impl WholeStore) -> Arc<dyn WholeStore> {
    Arc::new(store)
}

/// Returns advice for a store that can't be used.
pub fn advice(url: &StoreUrl, cause: &StoreError) -> &'static str {
    match url {
        StoreUrl::Embedded(_) => match cause {
            StoreError::Unreadable(_) => {
                "To move it away, take every file whose name begins with its name; or name another place with \
                 --store sqlite:PATH or QUITA_STORE."
            }
            StoreError::Broken(_) => {
                "Keep every file whose name begins with its name, and restore the newest backup: docs/OPERATIONS.md, \
                 Backup, says how."
            }
            StoreError::Unavailable(_) | StoreError::Full(_) => {
                "Check that the folder exists or can be made, that this user may write there, and that the disk is \
                 not full; or name another place with --store sqlite:PATH or QUITA_STORE."
            }
        },
        StoreUrl::Mongo(_) => "If it should be another store, name it with QUITA_STORE.",
    }
}

#[cfg(test)]
mod tests {
    use quita_stored_form::VERSION;

    use super::*;

    #[actix_web::test]
    async fn an_embedded_store_is_made_and_can_be_used_beside_the_service() {
        let folder = tempfile::tempdir().unwrap();
        let url = StoreUrl::Embedded(folder.path().join("deep/quita.db"));
        let serving = open(&url, Purpose::Serve).await.unwrap();
        assert!(serving.is_sole_writer());
        let beside = open(&url, Purpose::Maintenance).await.unwrap();
        assert!(!beside.is_sole_writer());
        assert_eq!(beside.ping().await, Ok(()));
    }

    #[actix_web::test]
    async fn a_store_is_made_by_serving_alone() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("data/quita.db");
        let url = StoreUrl::Embedded(path.clone());
        let missing = Some(OpenError::Missing { url: url.to_string() });
        assert_eq!(open(&url, Purpose::Maintenance).await.err(), missing);
        assert!(!folder.path().join("data").exists(), "not even the folder is made");
        std::fs::create_dir(folder.path().join("data")).unwrap();
        std::fs::write(&path, "").unwrap();
        assert_eq!(open(&url, Purpose::Maintenance).await.err(), missing, "an empty file is no store");
        drop(open(&url, Purpose::Serve).await.unwrap());
        assert!(open(&url, Purpose::Maintenance).await.is_ok());
    }

    #[actix_web::test]
    async fn a_second_service_on_one_file_is_told_why_it_may_not_start() {
        let folder = tempfile::tempdir().unwrap();
        let url = StoreUrl::Embedded(folder.path().join("quita.db"));
        let _serving = open(&url, Purpose::Serve).await.unwrap();
        let error = open(&url, Purpose::Serve).await.err().unwrap().to_string();
        let [why, advice] = error.split('\n').collect::<Vec<_>>().try_into().unwrap();
        assert!(why.starts_with("another process serves the store sqlite:"), "{error}");
        assert!(why.ends_with("quita.db."), "{error}");
        assert!(advice.starts_with("Stop that process first") && advice.contains("QUITA_STORE"), "{error}");
    }

    #[actix_web::test]
    async fn a_store_in_a_newer_form_is_refused_with_the_version_to_install() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("quita.db");
        let url = StoreUrl::Embedded(path.clone());
        drop(open(&url, Purpose::Serve).await.unwrap());
        let file = rusqlite::Connection::open(&path).unwrap();
        file.execute("UPDATE stored_form SET program = '7.0.0'", []).unwrap();
        file.pragma_update(None, "user_version", VERSION + 1).unwrap();
        for purpose in [Purpose::Serve, Purpose::Maintenance] {
            let error = open(&url, purpose).await.err().unwrap().to_string();
            for part in [
                format!("its stored form has number {}", VERSION + 1),
                format!("reads forms up to number {VERSION}: install Quita 7.0.0 or newer"),
            ] {
                assert!(error.contains(&part), "{error}");
            }
        }
    }

    #[actix_web::test]
    async fn a_place_that_cannot_be_written_is_named_with_what_to_do() {
        let error = open(&StoreUrl::Embedded("/proc/nowhere/q.db".into()), Purpose::Serve).await;
        let error = error.err().unwrap().to_string();
        assert!(error.starts_with("the store sqlite:/proc/nowhere/q.db can't be used"), "{error}");
        assert!(error.contains("--store sqlite:PATH"), "{error}");
    }
}
