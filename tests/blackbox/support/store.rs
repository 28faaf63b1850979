//! A store for one test, gone when the test is over.

use std::path::Path;

use mongodb::bson::{Document, RawDocumentBuf};
use uuid::Uuid;

use super::fail_point::FailPoint;

/// Returns true if the tests run on MongoDB.
pub(crate) fn is_mongodb() -> bool {
    match std::env::var("QUITA_TEST_STORE").ok().as_deref() {
        None | Some("" | "sqlite") => false,
        Some("mongodb") => true,
        Some(other) => panic!("QUITA_TEST_STORE is {other}; known are sqlite and mongodb"),
    }
}

/// Host and port of the server for tests, the first member if it has several.
pub(crate) fn mongodb_host() -> String {
    let uri = mongodb_uri();
    let hosts = uri.trim_start_matches("mongodb://");
    hosts.split(['/', ',', '?']).next().unwrap().to_owned()
}

pub(crate) fn mongodb_uri() -> String {
    std::env::var("QUITA_TEST_MONGODB_URI").expect("QUITA_TEST_STORE=mongodb needs QUITA_TEST_MONGODB_URI")
}

/// Waits for this test's turn with the server's fail point. `None`, and a line that says so, without MongoDB.
pub(crate) fn take_fail_point() -> Option<FailPoint> {
    if !is_mongodb() {
        println!("skipped: the commands of an SQLite file can't be made to fail");
        return None;
    }
    block_on(FailPoint::take_turn(&mongodb_uri()))
}

/// A store for one test.
pub(crate) struct TestStore {
    pub(crate) url: String,
    /// Connection string and name of the database that goes with the test.
    dropped_as: Option<(String, String)>,
}

impl TestStore {
    /// An empty one: a file in `directory`, or a database on the server.
    pub(crate) fn new(directory: &Path) -> Self {
        if !is_mongodb() {
            let path = directory.join("data").join("quita.db");
            return Self { url: format!("sqlite:{}", path.display()), dropped_as: None };
        }
        Self::mongodb()
    }

    /// One that somebody else made.
    pub(crate) fn existing(url: &str) -> Self {
        Self { url: url.to_owned(), dropped_as: None }
    }

    /// An empty database on the server, reached by way of another host and port.
    pub(crate) fn by_way_of(address: &str) -> Self {
        let mut store = Self::mongodb();
        let database = &store.dropped_as.as_ref().unwrap().1;
        store.url =
            format!("mongodb://{address}/{database}?directConnection=true&serverSelectionTimeoutMS=1000");
        store
    }

    /// An empty database on the server, whose commands this fail point concerns.
    pub(crate) fn failing_at(point: &FailPoint) -> Self {
        let mut store = Self::mongodb();
        // A server that is told to refuse as if it shut down tells nobody when it is back: it is asked often.
        store.url = format!("{}&heartbeatFrequencyMS=500", point.mark(&store.url));
        store
    }

    /// Every document of a MongoDB database as its bytes, by collection. Empty with SQLite.
    pub(crate) fn documents(&self) -> Vec<(String, Vec<u8>)> {
        let Some((url, database)) = &self.dropped_as else { return Vec::new() };
        block_on(async {
            let database = mongodb::Client::with_uri_str(url).await.unwrap().database(database);
            let mut documents = Vec::new();
            for name in database.list_collection_names().await.unwrap() {
                let collection = database.collection::<RawDocumentBuf>(&name);
                let mut cursor = collection.find(Document::new()).await.unwrap();
                while cursor.advance().await.unwrap() {
                    documents.push((name.clone(), cursor.current().as_bytes().to_vec()));
                }
            }
            documents
        })
    }

    /// Tells whether anything was made of it.
    pub(crate) fn exists(&self) -> bool {
        match &self.dropped_as {
            None => Path::new(self.url.trim_start_matches("sqlite:")).exists(),
            Some((url, database)) => block_on(async {
                let database = mongodb::Client::with_uri_str(url).await.unwrap().database(database);
                !database.list_collection_names().await.unwrap().is_empty()
            }),
        }
    }

    fn mongodb() -> Self {
        let database = format!("quita_test_{}", Uuid::now_v7().simple());
        let url = with_database(&mongodb_uri(), &database);
        Self { url: url.clone(), dropped_as: Some((url, database)) }
    }
}

impl Drop for TestStore {
    fn drop(&mut self) {
        let Some((url, database)) = &self.dropped_as else { return };
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
        let dropped = runtime
            .block_on(async { mongodb::Client::with_uri_str(url).await?.database(database).drop().await });
        if let Err(error) = dropped {
            eprintln!("the database {database} stays behind: {error}");
        }
    }
}

pub(crate) fn block_on<T>(future: impl Future<Output = T>) -> T {
    tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap().block_on(future)
}

/// Puts a database into a connection string that may have one, options, or neither.
fn with_database(uri: &str, database: &str) -> String {
    let (before, options) = uri.split_once('?').map_or((uri, None), |(before, after)| (before, Some(after)));
    let hosts = before.strip_prefix("mongodb://").expect("QUITA_TEST_MONGODB_URI begins with mongodb://");
    let hosts = hosts.split_once('/').map_or(hosts, |(hosts, _)| hosts);
    let options = options.map(|options| format!("?{options}")).unwrap_or_default();
    format!("mongodb://{hosts}/{database}{options}")
}
