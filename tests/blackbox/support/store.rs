//! A store for one test, gone or given back when the test is over.

use std::path::Path;
use std::sync::{Arc, Mutex, PoisonError, Weak};

use mongodb::bson::{Document, RawDocumentBuf};
use quita_store_contract::lent_database::LentDatabase;

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

/// Databases of this test's services.
static IN_USE: Mutex<Vec<Weak<Database>>> = Mutex::new(Vec::new());

/// A store for one test.
pub(crate) struct TestStore {
    pub(crate) url: String,
    /// The database that goes with the last service on it.
    database: Option<Arc<Database>>,
}

/// A database that is given back when it is dropped.
struct Database(LentDatabase);

impl TestStore {
    /// An empty one: a file in `directory`, or a database on the server, in which an empty store may be already.
    pub(crate) fn new(directory: &Path) -> Self {
        if is_mongodb() {
            Self::of(block_on(LentDatabase::take(&mongodb_uri())))
        } else {
            Self::file_in(directory)
        }
    }

    /// One that nobody has made yet.
    pub(crate) fn missing(directory: &Path) -> Self {
        if is_mongodb() { Self::alone() } else { Self::file_in(directory) }
    }

    /// One that somebody else made.
    pub(crate) fn existing(url: &str) -> Self {
        let in_use = IN_USE.lock().unwrap_or_else(PoisonError::into_inner);
        let database = in_use.iter().filter_map(Weak::upgrade).find(|database| database.0.uri == url);
        Self { url: url.to_owned(), database }
    }

    /// An empty database on the server, reached by way of another host and port.
    pub(crate) fn by_way_of(address: &str) -> Self {
        let mut store = Self::alone();
        let name = &store.database.as_ref().unwrap().0.name;
        store.url = format!("mongodb://{address}/{name}?directConnection=true&serverSelectionTimeoutMS=1000");
        store
    }

    /// An empty database on the server, whose commands this fail point concerns.
    pub(crate) fn failing_at(point: &FailPoint) -> Self {
        let mut store = Self::alone();
        // A server that is told to refuse as if it shut down tells nobody when it is back: it is asked often.
        store.url = format!("{}&heartbeatFrequencyMS=500", point.mark(&store.url));
        store
    }

    /// Every document of a MongoDB database as its bytes, by collection. Empty with SQLite.
    pub(crate) fn documents(&self) -> Vec<(String, Vec<u8>)> {
        let Some(database) = &self.database else { return Vec::new() };
        let LentDatabase { uri, name, .. } = &database.0;
        block_on(async {
            let database = mongodb::Client::with_uri_str(uri).await.unwrap().database(name);
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
        match &self.database {
            None => Path::new(self.url.trim_start_matches("sqlite:")).exists(),
            Some(database) => block_on(async {
                let LentDatabase { uri, name, .. } = &database.0;
                let database = mongodb::Client::with_uri_str(uri).await.unwrap().database(name);
                !database.list_collection_names().await.unwrap().is_empty()
            }),
        }
    }

    fn file_in(directory: &Path) -> Self {
        let path = directory.join("data").join("quita.db");
        Self { url: format!("sqlite:{}", path.display()), database: None }
    }

    /// A database on the server that nobody has made yet.
    pub(crate) fn alone() -> Self {
        Self::of(LentDatabase::alone(&mongodb_uri()))
    }

    fn of(lent: LentDatabase) -> Self {
        let url = lent.uri.clone();
        let database = Arc::new(Database(lent));
        IN_USE.lock().unwrap_or_else(PoisonError::into_inner).push(Arc::downgrade(&database));
        Self { url, database: Some(database) }
    }
}

impl Drop for Database {
    fn drop(&mut self) {
        if let Err(error) = block_on(self.0.give_back()) {
            eprintln!("the database {} stays behind: {error}", self.0.name);
        }
    }
}

pub(crate) fn block_on<T>(future: impl Future<Output = T>) -> T {
    tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap().block_on(future)
}
