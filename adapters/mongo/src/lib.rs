//! The MongoDB store: for many nodes and machines, on a replica set.
//!
//! Every write is acknowledged by the journals of a majority, and every read sees the primary's majority state: an
//! acknowledged write is never lost. One command carries the new payments of a batch, another the guarded writes of
//! known ones.

mod access;
mod archive;
mod audit;
mod batch;
mod check;
mod connect;
mod erasure;
mod exceptions;
mod failure;
mod figures;
mod form;
mod history;
mod inbox;
mod indexes;
mod keyring;
mod links;
mod listing;
mod numbers;
mod operator;
mod payments;
mod people;
mod reading;
mod reconciliation;
mod secret_keys;
mod server_time;
mod threads;
mod uri;
mod write_trial;

use std::sync::Arc;

use async_trait::async_trait;
use bson::{RawDocumentBuf, doc};
use mongodb::{Collection, Database};
use quita_domain::identity::MerchantId;
use quita_domain::time::Timestamp;
use quita_ports::{Backlog, Store, StoreError};
use tokio::sync::{Mutex, OwnedSemaphorePermit};

pub use server_time::server_ahead_ms;
pub use uri::uri_mistake;

use failure::{LIST_TIME_OUT, within_time};
use form::{Form, Settled};
use quita_stored_form::turns::{Lister, Turns};
use threads::Threads;

/// Lists and figures of one merchant that the server works on at once for this node. The other connections remain for
/// other merchants.
const LISTS_AT_ONCE: usize = 8;

/// A store in one database of a MongoDB replica set.
#[derive(Debug, Clone)]
pub struct MongoStore {
    database: Database,
    threads: Arc<Threads>,
    turns: Arc<Turns>,
    form: Arc<Form>,
    /// Lock that lets one task of this node at a time append to the audit log.
    audit_turn: Arc<Mutex<()>>,
    is_new: bool,
}

impl MongoStore {
    /// Connects to the database that the URI names (`quita` if it names none), checks the server settings that this
    /// store relies on, and creates missing indexes.
    ///
    /// # Errors
    /// [`StoreError::Unavailable`] if the server is unreachable or the URI can't be used. [`StoreError::Broken`] if it
    /// is no replica set, is older than 6.0, or acknowledges writes that are not yet in a journal.
    /// [`StoreError::Unreadable`] if the database is stored in another form. The message never contains the password.
    pub async fn connect(uri: &str) -> Result<Self, StoreError> {
        let threads = Arc::new(Threads::start()?);
        let opened = threads.run(open(uri.to_owned())).await??;
        Ok(Self::over(opened, threads))
    }

    /// Connects as [`MongoStore::connect`] does if the database contains a store. Otherwise returns `None` and creates
    /// nothing.
    ///
    /// # Errors
    /// As [`MongoStore::connect`].
    pub async fn connect_existing(uri: &str) -> Result<Option<Self>, StoreError> {
        let threads = Arc::new(Threads::start()?);
        let opened = threads.run(open_existing(uri.to_owned())).await??;
        Ok(opened.map(|opened| Self::over(opened, threads)))
    }

    /// Returns true if this store was created when it was opened: the database contained none.
    pub const fn is_new(&self) -> bool {
        self.is_new
    }

    fn over(opened: Opened, threads: Arc<Threads>) -> Self {
        let Opened { database, settled: Settled { form, is_new } } = opened;
        let turns = Arc::new(Turns::new(LISTS_AT_ONCE));
        Self { database, threads, turns, form: Arc::new(Form::of(form)), audit_turn: Arc::default(), is_new }
    }

    /// Waits for the turn of a merchant's list.
    async fn turn(&self, merchant: &MerchantId) -> Result<OwnedSemaphorePermit, StoreError> {
        self.turn_of(Lister::Merchant(merchant.as_str().into())).await
    }

    async fn turn_of(&self, lister: Lister) -> Result<OwnedSemaphorePermit, StoreError> {
        self.turns.take(lister, LIST_TIME_OUT).await
    }

    fn collection(&self, name: &str) -> Collection<RawDocumentBuf> {
        self.database.collection(name)
    }
}

#[async_trait]
impl Store for MongoStore {
    async fn ping(&self) -> Result<(), StoreError> {
        within_time(self.database.run_command(doc! { "ping": 1 })).await.map(drop)
    }

    async fn backlog(&self, now: Timestamp, limit: u32) -> Result<Backlog, StoreError> {
        // To MongoDB a limit of zero means none.
        if limit == 0 {
            return Ok(Backlog::default());
        }
        // A bound instead of `$exists`, so that counting along the index is enough.
        let until = |bound: i64| doc! { "$lte": bound };
        let limit = u64::from(limit);
        let count = async |collection, field, bound, index| {
            let collection = self.collection(collection);
            let counted = collection.count_documents(doc! { field: until(bound) });
            within_time(counted.limit(limit).hint(indexes::named(index))).await
        };
        let mut backlog = Backlog {
            inbox: count(indexes::INBOX, "dueAt", i64::MAX, indexes::DUE).await?,
            ..Backlog::default()
        };
        // Archived payments may still have a delivery or an inquiry due: a late chargeback or refund is handled in the
        // archive.
        for collection in [indexes::PAYMENTS, indexes::ARCHIVE] {
            let webhooks = count(collection, "outboxAt", i64::MAX, indexes::OUTBOX).await?;
            let due = count(collection, "dueAt", now.millis(), indexes::DUE).await?;
            backlog.webhooks = backlog.webhooks.saturating_add(webhooks).min(limit);
            backlog.due = backlog.due.saturating_add(due).min(limit);
        }
        Ok(backlog)
    }

    /// Returns false: another node may write at any time.
    fn is_sole_writer(&self) -> bool {
        false
    }
}

/// Returns the database that the URI names, on a deployment that passed the checks. Connections live on the thread that
/// runs this.
async fn reach(uri: &str) -> Result<Database, StoreError> {
    let (client, hosts) = connect::client(uri).await?;
    check::deployment(&client, &hosts).await?;
    // The checks precede any use of the database, so a deployment that may lose acknowledged writes never gets a
    // document.
    Ok(client.default_database().unwrap_or_else(|| client.database(connect::DEFAULT_DATABASE)))
}

/// Database that is ready, and its form.
struct Opened {
    database: Database,
    settled: Settled,
}

async fn open(uri: String) -> Result<Opened, StoreError> {
    make_ready(reach(&uri).await?).await
}

async fn open_existing(uri: String) -> Result<Option<Opened>, StoreError> {
    let database = reach(&uri).await?;
    if form::is_store(&database).await? { make_ready(database).await.map(Some) } else { Ok(None) }
}

/// Records the form and creates missing indexes.
async fn make_ready(database: Database) -> Result<Opened, StoreError> {
    let settled = form::settle(&database).await?;
    // Indexes come after the form: a database of a newer program is refused before anything is added to it.
    indexes::make(&database).await?;
    Ok(Opened { database, settled })
}
