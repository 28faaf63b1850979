//! An empty MongoDB database for one test.
//!
//! Making the collections and indexes of a store costs the server more than most tests do with them. So a server that
//! runs for the tests alone (`scripts/mongod run`) keeps its databases: a test gets one that another has given back,
//! without that one's documents.

use std::fs::{self, File};
use std::io::{Read, Seek, Write};
use std::path::Path;
use std::time::{Duration, Instant};

use mongodb::bson::{Bson, Document, doc};
use mongodb::error::Result;
use mongodb::{Client, Database};
use quita_mongo::MongoStore;
use uuid::Uuid;

use crate::fail_point::with_application;

/// Collection whose documents are part of an empty store.
const STORED_FORM: &str = "stored_form";

/// Longest time that connections outlive the processes that had them.
const LEFT_WITHIN: Duration = Duration::from_secs(2);

/// Database that one test has at a time. If it is not given back, the next test gets one that is made anew.
pub struct LentDatabase {
    /// Connection string of the store in it.
    pub uri: String,
    pub name: String,
    /// Place that it was lent from. None if it is for this test alone.
    place: Option<Place>,
}

/// Place of a database that tests take turns with, locked for one of them.
struct Place {
    /// Its file, which has the shape of the database while nobody uses it.
    file: File,
    /// Shape of the database when it was made.
    shape: Document,
}

impl LentDatabase {
    /// Takes an empty database in which the collections of a store may be already.
    pub async fn take(server: &str) -> Self {
        let Some(directory) = std::env::var_os("QUITA_TEST_MONGOD_DIR") else { return Self::alone(server) };
        let directory = Path::new(&directory).join("lent");
        fs::create_dir_all(&directory).unwrap();
        let client = Client::with_uri_str(server).await.unwrap();
        for number in 0_u32.. {
            let path = directory.join(number.to_string());
            let file =
                File::options().create(true).truncate(false).read(true).write(true).open(path).unwrap();
            let name = format!("quita_test_lent_{number}");
            if file.try_lock().is_ok() && is_left(&client, &name).await {
                return Self::lend(server, &client.database(&name), file).await;
            }
        }
        unreachable!("a server has fewer than 4,000,000,000 databases")
    }

    async fn lend(server: &str, database: &Database, mut file: File) -> Self {
        let mut shape = Vec::new();
        file.read_to_end(&mut shape).unwrap();
        // Empty until it is given back: of what a test left that was ended, nothing is used again.
        file.set_len(0).unwrap();
        let name = database.name().to_owned();
        let uri = with_application(&with_database(server, &name), &name);
        let shape = match Document::from_reader(&*shape) {
            Ok(shape) if shape_of(database).await.unwrap() == shape => {
                empty(database).await.unwrap();
                shape
            }
            _ => {
                database.drop().await.unwrap();
                drop(MongoStore::connect(&uri).await.unwrap());
                shape_of(database).await.unwrap()
            }
        };
        Self { uri, name, place: Some(Place { file, shape }) }
    }

    /// Names a database that does not exist, which no other test will see.
    pub fn alone(server: &str) -> Self {
        let name = format!("quita_test_{}", Uuid::now_v7().simple());
        Self { uri: with_database(server, &name), name, place: None }
    }

    /// Gives it back, or drops it if it was for one test alone.
    ///
    /// # Errors
    /// If the server does not answer.
    pub async fn give_back(&self) -> Result<()> {
        let Some(Place { file, shape }) = &self.place else {
            return Client::with_uri_str(&self.uri).await?.database(&self.name).drop().await;
        };
        let mut bytes = Vec::new();
        shape.to_writer(&mut bytes).unwrap();
        let mut file = file;
        file.rewind().unwrap();
        file.write_all(&bytes).unwrap();
        Ok(())
    }
}

/// Waits until the server has no connection of whoever used this database. Returns false if one stays.
async fn is_left(client: &Client, name: &str) -> bool {
    // A process that was killed may have sent a write just before: it is done when its connection is gone.
    let connections = [
        doc! { "$currentOp": { "allUsers": true, "idleConnections": true } },
        doc! { "$match": { "appName": name } },
        doc! { "$limit": 1 },
    ];
    let until = Instant::now() + LEFT_WITHIN;
    loop {
        let mut found = client.database("admin").aggregate(connections.clone()).await.unwrap();
        if !found.advance().await.unwrap() {
            return true;
        }
        if Instant::now() > until {
            return false;
        }
        tokio::time::sleep(Duration::from_millis(20)).await;
    }
}

/// Collections with their options and indexes, and the form of the store. A test that changes one of them has used the
/// database up.
async fn shape_of(database: &Database) -> Result<Document> {
    let mut shape = Vec::new();
    let mut found = database.run_cursor_command(doc! { "listCollections": 1 }).await?;
    while found.advance().await? {
        let collection: Document = found.deserialize_current()?;
        let name = collection.get_str("name").unwrap();
        let mut indexes: Vec<Document> = Vec::new();
        let mut listed = database.run_cursor_command(doc! { "listIndexes": name }).await?;
        while listed.advance().await? {
            indexes.push(listed.deserialize_current()?);
        }
        let options = collection.get_document("options").unwrap();
        // Others than these are made by the first write to them.
        if indexes.len() > 1 || !options.is_empty() {
            shape.push((name.to_owned(), doc! { "options": options, "indexes": indexes }));
        }
    }
    shape.sort_by(|one, other| one.0.cmp(&other.0));
    let form = database.collection::<Document>(STORED_FORM).find_one(doc! {}).await?;
    let collections = shape.into_iter().map(|(name, collection)| (name, Bson::from(collection)));
    Ok(doc! { "form": form, "collections": collections.collect::<Document>() })
}

async fn empty(database: &Database) -> Result<()> {
    for name in database.list_collection_names().await?.iter().filter(|name| *name != STORED_FORM) {
        database.collection::<Document>(name).delete_many(doc! {}).await?;
    }
    Ok(())
}

/// Puts a database into a connection string that may have one, options, or neither.
pub fn with_database(uri: &str, name: &str) -> String {
    let (scheme, rest) = uri.split_once("://").expect("a URI");
    let (hosts, options) =
        rest.split_once('?').map_or((rest, None), |(hosts, options)| (hosts, Some(options)));
    let hosts = hosts.split_once('/').map_or(hosts, |(hosts, _)| hosts);
    let options = options.map(|options| format!("?{options}")).unwrap_or_default();
    format!("{scheme}://{hosts}/{name}{options}")
}
