//! Opening of the store that a URL names.

mod probe;

use std::sync::Arc;

use prometheus::{IntGaugeVec, Opts, Registry};
use quita_embedded::{EmbeddedStore, SoleWriterError};
use quita_mongo::{MongoStore, uri_mistake};
use quita_ports::{StoreError, UpgradeStore, WholeStore};
use thiserror::Error;

use quita_config::Environment;
use quita_config::store_url::StoreUrl;

pub(crate) use probe::{PROBE, probe};
// For scripts/upgrade, whose newer version is a program of the tests.
#[doc(hidden)]
pub use quita_stored_form::form::learn_made_up_form;

/// Purpose for which a store is opened.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Purpose {
    /// Serving payments. An embedded store allows one such process at a time.
    Serve,
    /// Working on a store that a service has created and may be serving: keys, secrets, checks. Never creates a store.
    Maintenance,
}

/// Failure to open the store. URLs are shown without their password.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
pub enum OpenError {
    /// There is no store, and it was not opened for serving.
    #[error(
        "There is no store at {url}, and only `quita serve` makes one.\nStart it once with the same store, then call \
         this again; or name another store with --store URL or QUITA_STORE."
    )]
    Missing {
        /// URL at which no store was found.
        url: String,
    },
    /// Another process is serving the store, and it was opened for serving.
    #[error(
        "another process serves the store {url}.\nStop that process first, or give this one a store of its own with \
         --store sqlite:PATH or QUITA_STORE."
    )]
    Served {
        /// URL of the store.
        url: String,
    },
    /// The URL is invalid, which no restart fixes.
    #[error(
        "the store {url} can't be used, because its URI is invalid: {mistake}.\nCorrect it in the option store or in \
         QUITA_STORE."
    )]
    Misnamed {
        /// URL of the store.
        url: String,
        /// Mistake in the URL.
        mistake: String,
    },
    /// An existing store could not be opened, or a new one could not be created.
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

    /// Returns true if the configuration is wrong, which a restart does not fix.
    pub const fn is_refusal(&self) -> bool {
        match self {
            Self::Misnamed { .. } => true,
            // A restart may fix these: the other process ends, the volume is mounted, or the database answers again.
            Self::Missing { .. } | Self::Served { .. } | Self::Unusable { .. } => false,
        }
    }

    fn unusable(url: &StoreUrl, cause: StoreError) -> Self {
        Self::Unusable { url: url.to_string(), advice: advice(url, &cause), cause }
    }
}

/// Opens the store. If it is opened for serving, it is created if missing.
///
/// # Errors
/// [`OpenError`], to be shown to the person who started the program.
pub async fn open(url: &StoreUrl, purpose: Purpose) -> Result<Arc<dyn WholeStore>, OpenError> {
    let opened = match purpose {
        Purpose::Serve => open_or_make(url).await?,
        Purpose::Maintenance => open_existing(url).await?,
    };
    Ok(opened.whole())
}

/// Opens the store for serving. Logs the creation of a new store: if the wrong one was named, nothing has been lost
/// yet.
///
/// # Errors
/// Same as for [`open`].
pub(crate) async fn open_to_serve(
    url: &StoreUrl,
    environment: Environment,
) -> Result<Arc<dyn WholeStore>, OpenError> {
    let opened = open_or_make(url).await?;
    if opened.is_new() {
        let store = url.clone().with_whole_path();
        match environment {
            Environment::Development => tracing::info!(%store, "a new, empty store was created"),
            Environment::Production => tracing::warn!(
                %store,
                "a new, empty store was created: if there are payments already, stop the service, and check that the \
                 option store is right and its volume is mounted"
            ),
        }
    }
    Ok(opened.whole())
}

/// Store of a known kind, which offers more than all stores have in common.
#[derive(Debug, Clone)]
pub(crate) enum OpenedStore {
    /// One file on this machine.
    Embedded(Arc<EmbeddedStore>),
    /// One database of a replica set.
    Mongo(Arc<MongoStore>),
}

impl OpenedStore {
    /// Returns the store as a store of any kind.
    pub(crate) fn whole(&self) -> Arc<dyn WholeStore> {
        match self {
            Self::Embedded(store) => store.clone(),
            Self::Mongo(store) => store.clone(),
        }
    }

    /// Checks whether the store accepts writes, without leaving one behind.
    ///
    /// # Errors
    /// Fails with the reason why it accepts none.
    pub(crate) async fn try_write(&self) -> Result<(), StoreError> {
        match self {
            Self::Embedded(store) => store.try_write().await,
            Self::Mongo(store) => store.try_write().await,
        }
    }

    fn is_new(&self) -> bool {
        match self {
            Self::Embedded(store) => store.is_new(),
            Self::Mongo(store) => store.is_new(),
        }
    }
}

/// Returns the mistake in a URL that can be found without a connection, if there is one.
pub(crate) fn mistake(url: &StoreUrl) -> Option<String> {
    match url {
        StoreUrl::Embedded(_) => None,
        StoreUrl::Mongo(uri) => uri_mistake(uri.expose()),
    }
}

fn refuse_mistake(url: &StoreUrl) -> Result<(), OpenError> {
    let misnamed = |mistake| OpenError::Misnamed { url: url.to_string(), mistake };
    mistake(url).map_or(Ok(()), |mistake| Err(misnamed(mistake)))
}

async fn open_or_make(url: &StoreUrl) -> Result<OpenedStore, OpenError> {
    refuse_mistake(url)?;
    let opened = match url {
        StoreUrl::Embedded(path) => match EmbeddedStore::open_sole_writer(path) {
            Ok(store) => Ok(OpenedStore::Embedded(Arc::new(store))),
            Err(SoleWriterError::Store(error)) => Err(error),
            Err(SoleWriterError::Served(_)) => {
                return Err(OpenError::Served { url: url.clone().with_whole_path().to_string() });
            }
        },
        StoreUrl::Mongo(uri) => {
            MongoStore::connect(uri.expose()).await.map(|store| OpenedStore::Mongo(Arc::new(store)))
        }
    };
    opened.map_err(|cause| OpenError::unusable(url, cause))
}

/// Opens an existing store, to work on it alongside the process that serves it.
///
/// # Errors
/// Same as for [`open`].
pub(crate) async fn open_existing(url: &StoreUrl) -> Result<OpenedStore, OpenError> {
    refuse_mistake(url)?;
    let opened = match url {
        StoreUrl::Embedded(path) => EmbeddedStore::open_existing(path)
            .map(|store| store.map(|store| OpenedStore::Embedded(Arc::new(store)))),
        StoreUrl::Mongo(uri) => MongoStore::connect_existing(uri.expose())
            .await
            .map(|store| store.map(|store| OpenedStore::Mongo(Arc::new(store)))),
    };
    opened.map_err(|cause| OpenError::unusable(url, cause))?.ok_or_else(|| OpenError::missing(url))
}

/// Store, and the same store for an upgrade.
pub(crate) type ToUpgrade = (Arc<dyn WholeStore>, Arc<dyn UpgradeStore>);

/// Opens an existing store to convert it to this program's newest form.
///
/// # Errors
/// Same as for [`open`].
pub(crate) async fn open_to_upgrade(url: &StoreUrl) -> Result<ToUpgrade, OpenError> {
    Ok(match open_existing(url).await? {
        OpenedStore::Embedded(store) => (store.clone(), store),
        OpenedStore::Mongo(store) => (store.clone(), store),
    })
}

/// Shows in the metrics which kind of store holds the payments.
///
/// # Errors
/// Fails if the registry already has that metric.
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

/// Returns advice for a store that can't be used.
pub fn advice(url: &StoreUrl, cause: &StoreError) -> &'static str {
    match url {
        StoreUrl::Embedded(_) => match cause {
            StoreError::Unreadable(_) => {
                "Is it the right file? If not, leave it where it is, and name another place with --store sqlite:PATH or \
                 QUITA_STORE. If it is a store that is to be moved away, take the files beside it along whose names are \
                 its own with -wal and -shm behind."
            }
            StoreError::Broken(_) => {
                "Delete none of the files whose name begins with its name. docs/ops/RUNBOOK.md, Broken store, says what to \
                 do; docs/OPERATIONS.md, Backup, how a backup is restored."
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
    async fn no_store_is_missing_whose_log_is_left() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("quita.db");
        std::fs::write(folder.path().join("quita.db-wal"), "the newest payments").unwrap();
        let url = StoreUrl::Embedded(path.clone());
        for purpose in [Purpose::Serve, Purpose::Maintenance] {
            let error = open(&url, purpose).await.err().unwrap().to_string();
            assert!(error.contains("quita.db-wal") && error.contains("docs/ops/RUNBOOK.md"), "{error}");
        }
        assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 1, "nothing was made");
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
    async fn a_mongodb_uri_with_a_mistake_is_refused_and_not_called_broken() {
        let url = StoreUrl::parse("mongodb://ana:hunter2@127.0.0.1:1/quita?replicaSte=rs").unwrap();
        for purpose in [Purpose::Serve, Purpose::Maintenance] {
            let error = open(&url, purpose).await.err().unwrap();
            assert!(error.is_refusal(), "{error}");
            let told = error.to_string();
            assert!(told.contains("no option replicaSte") && told.contains("QUITA_STORE"), "{told}");
            assert!(!told.contains("hunter2") && !told.contains("broken"), "{told}");
        }
    }

    #[actix_web::test]
    async fn nobody_is_sent_to_move_away_a_file_that_is_no_store() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("key");
        std::fs::write(&path, "a secret key, and no database at all: ".repeat(100)).unwrap();
        let error = open(&StoreUrl::Embedded(path), Purpose::Serve).await.err().unwrap().to_string();
        assert!(error.contains("Is it the right file? If not, leave it where it is"), "{error}");
        assert!(!error.contains("begins with its name"), "{error}");
    }

    #[actix_web::test]
    async fn a_place_that_cannot_be_written_is_named_with_what_to_do() {
        let error = open(&StoreUrl::Embedded("/proc/nowhere/q.db".into()), Purpose::Serve).await;
        let error = error.err().unwrap().to_string();
        assert!(error.starts_with("the store sqlite:/proc/nowhere/q.db can't be used"), "{error}");
        assert!(error.contains("--store sqlite:PATH"), "{error}");
    }
}
