//! Manipulations of the audit log by somebody who may write to the store.

use std::sync::Arc;

use mongodb::Database;
use mongodb::bson::{Document, doc};
use quita_config::Config;
use quita_config::settings::Settings;
use quita_domain::audit::{AuditEntry, AuditErasure, AuditScope};
use quita_embedded::EmbeddedStore;
use quita_machine::SystemClock;
use quita_mongo::MongoStore;
use quita_ports::WholeStore;
use quita_services::audit::{Audit, Initiator};

use crate::support::block_on;

const TABLES: [&str; 5] = ["audit", "audit_initiators", "audit_persons", "audit_contents", "audit_head"];
const COLLECTIONS: [&str; 2] = ["audit", "audit_head"];
const TRIGGERS: [&str; 6] = [
    "audit_is_not_changed",
    "audit_is_not_shortened",
    "audit_is_not_replaced",
    "audit_initiators_are_not_changed",
    "audit_persons_are_not_changed",
    "audit_contents_are_not_changed",
];

/// Something that is done to the log.
pub(super) struct Deed {
    pub(super) name: &'static str,
    sqlite: String,
    mongodb: Vec<Document>,
    /// Text that the check prints then.
    pub(super) told: String,
}

/// Returns everything that can be done to a log of so many entries.
pub(super) fn deeds(last: u64) -> Vec<Deed> {
    let end = i64::try_from(last).unwrap();
    let changed = |name, set: &str, update: Document| Deed {
        name,
        sqlite: set.into(),
        mongodb: vec![update_one(doc! { "sequence": 3_i64 }, doc! { "$set": update })],
        told: "entry 3 (".into(),
    };
    vec![
        changed("subject", "UPDATE audit SET subject = 'x' WHERE sequence = 3", doc! { "subject": "x" }),
        changed("merchant", "UPDATE audit SET merchant = 'x' WHERE sequence = 3", doc! { "merchant": "x" }),
        changed("time", "UPDATE audit SET at = 7 WHERE sequence = 3", doc! { "at": 7_i64 }),
        changed(
            "who",
            "UPDATE audit_initiators SET who = 'eve@x.y' WHERE sequence = 3",
            doc! { "parts.initiator.who": "eve@x.y" },
        ),
        Deed {
            name: "nobody",
            sqlite: "DELETE FROM audit_initiators WHERE sequence = 3".into(),
            mongodb: vec![update_one(
                doc! { "sequence": 3_i64 },
                doc! { "$unset": { "parts.initiator": "" } },
            )],
            told: "entry 3 no longer states who did it, and no entry accounts for that".into(),
        },
        Deed {
            name: "nonsense",
            sqlite: "UPDATE audit SET action = 'x' WHERE sequence = 3".into(),
            mongodb: vec![update_one(doc! { "sequence": 3_i64 }, doc! { "$set": { "action": "x" } })],
            told: "entry 3 was changed: it can't be read".into(),
        },
        Deed {
            name: "missing",
            sqlite: without("sequence = 3"),
            mongodb: vec![delete("audit", doc! { "sequence": 3_i64 })],
            told: "entry 3 is missing".into(),
        },
        Deed {
            name: "swapped",
            sqlite: [(3, 1_000), (4, 3), (1_000, 4)].map(|(from, to)| renumbered(from, to)).concat(),
            mongodb: [(3, 1_000), (4, 3), (1_000, 4)]
                .map(|(from, to): (i64, i64)| {
                    update_one(doc! { "sequence": from }, doc! { "$set": { "sequence": to } })
                })
                .to_vec(),
            told: "was written at another place".into(),
        },
        Deed {
            name: "cut",
            sqlite: without(&format!("sequence >= {}", end - 1)),
            mongodb: vec![delete("audit", doc! { "sequence": { "$gte": end - 1 } })],
            told: format!("entries {} to {end} are missing", end - 1),
        },
        Deed {
            name: "cut-with-head",
            sqlite: without(&format!("sequence = {end}")) + "DELETE FROM audit_head;",
            mongodb: vec![delete("audit", doc! { "sequence": end }), delete("audit_head", doc! {})],
            told: "the record of the log's end is missing".into(),
        },
        Deed {
            name: "cut-with-lower-head",
            sqlite: without(&format!("sequence = {end}"))
                + "UPDATE audit_head SET (sequence, hash) = \
                   (SELECT sequence, hash FROM audit ORDER BY sequence DESC LIMIT 1);",
            mongodb: vec![
                delete("audit", doc! { "sequence": end }),
                doc! { "update": "audit_head", "updates": [{ "q": {}, "u": { "$set": { "sequence": end - 1 } } }] },
            ],
            told: "the record of the log's end was changed".into(),
        },
        Deed {
            name: "all",
            sqlite: without("true") + "DELETE FROM audit_head;",
            mongodb: vec![delete("audit", doc! {}), delete("audit_head", doc! {})],
            told: "the record of the log's end is missing".into(),
        },
    ]
}

fn without(which: &str) -> String {
    TABLES[..4].iter().map(|table| format!("DELETE FROM {table} WHERE {which};")).collect()
}

fn renumbered(from: u64, to: u64) -> String {
    let tables = TABLES[..4].iter();
    tables.map(|table| format!("UPDATE {table} SET sequence = {to} WHERE sequence = {from};")).collect()
}

fn update_one(filter: Document, update: Document) -> Document {
    doc! { "update": "audit", "updates": [{ "q": filter, "u": update }] }
}

fn delete(collection: &str, filter: Document) -> Document {
    doc! { "delete": collection, "deletes": [{ "q": filter, "limit": 0 }] }
}

/// Somebody who may write to the store.
pub(crate) struct Meddler {
    url: String,
}

/// The log as it was; in SQLite it is in tables beside it.
pub(super) type Saved = Vec<(&'static str, Vec<Document>)>;

impl Meddler {
    pub(crate) fn of(store_url: &str) -> Self {
        Self { url: store_url.to_owned() }
    }

    fn in_sqlite(&self, sql: &str) -> bool {
        let Some(path) = self.url.strip_prefix("sqlite:") else { return false };
        let store = rusqlite::Connection::open(path).unwrap();
        store.busy_timeout(std::time::Duration::from_secs(5)).unwrap();
        let disarmed: String =
            TRIGGERS.iter().map(|name| format!("DROP TRIGGER IF EXISTS {name};")).collect();
        store.execute_batch(&format!("BEGIN IMMEDIATE; {disarmed} {sql}; COMMIT")).unwrap();
        true
    }

    async fn database(&self) -> Database {
        mongodb::Client::with_uri_str(&self.url).await.unwrap().default_database().unwrap()
    }

    pub(super) fn run(&self, deed: &Deed) {
        if self.in_sqlite(&deed.sqlite) {
            return;
        }
        block_on(async {
            let database = self.database().await;
            for command in &deed.mongodb {
                let reply = database.run_command(command.clone()).await.unwrap();
                assert!(reply.get_i32("n").unwrap() > 0, "{}: {reply}", deed.name);
            }
        });
    }

    /// Takes who did it from every entry.
    pub(super) fn take_initiators(&self) {
        if self.in_sqlite("DELETE FROM audit_initiators") {
            return;
        }
        block_on(async {
            let audit = self.database().await.collection::<Document>("audit");
            audit.update_many(doc! {}, doc! { "$unset": { "parts.initiator": "" } }).await.unwrap();
        });
    }

    pub(super) fn save(&self) -> Saved {
        let copies: String = TABLES
            .iter()
            .map(|table| format!("CREATE TABLE saved_{table} AS SELECT * FROM {table};"))
            .collect();
        if self.in_sqlite(&copies) {
            return Vec::new();
        }
        block_on(async {
            let database = self.database().await;
            let mut saved = Vec::new();
            for name in COLLECTIONS {
                let mut found = database.collection::<Document>(name).find(doc! {}).await.unwrap();
                let mut documents = Vec::new();
                while found.advance().await.unwrap() {
                    documents.push(found.deserialize_current().unwrap());
                }
                saved.push((name, documents));
            }
            saved
        })
    }

    pub(super) fn restore(&self, saved: &Saved) {
        let back = |table| format!("DELETE FROM {table}; INSERT INTO {table} SELECT * FROM saved_{table};");
        if self.in_sqlite(&TABLES.map(back).concat()) {
            return;
        }
        block_on(async {
            let database = self.database().await;
            let mut session = database.client().start_session().await.unwrap();
            // At once, as in SQLite: whoever watches sees nothing between.
            session.start_transaction().await.unwrap();
            for (name, documents) in saved {
                let collection = database.collection::<Document>(name);
                collection.delete_many(doc! {}).session(&mut session).await.unwrap();
                collection.insert_many(documents).session(&mut session).await.unwrap();
            }
            session.commit_transaction().await.unwrap();
        });
    }

    async fn store(&self) -> Arc<dyn WholeStore> {
        match self.url.strip_prefix("sqlite:") {
            Some(path) => Arc::new(EmbeddedStore::open(path).unwrap()),
            None => Arc::new(MongoStore::connect(&self.url).await.unwrap()),
        }
    }

    /// Erases as privacy wants it: with the salts, and an entry that accounts for it.
    pub(super) fn erase_person(&self, login: &str) -> u64 {
        let person = AuditErasure::Person(login.to_owned());
        block_on(async {
            let store = self.store().await;
            let keys = Config::from_settings(Settings::gather([], [])).unwrap().secret_keys;
            let audit =
                Audit::open(store.clone(), &keys.strongbox(store), Arc::new(SystemClock)).await.unwrap();
            audit.eraser(Initiator::command_line()).erase(&person).await.unwrap()
        })
    }

    /// The log, the oldest entry first.
    pub(crate) fn log(&self) -> Vec<AuditEntry> {
        block_on(async {
            let log = self.store().await.audit(&AuditScope::Everything, None, 10_000).await.unwrap();
            log.iter().rev().map(|chained| chained.entry()).collect()
        })
    }
}
