//! A MongoDB server that fails commands on demand (`configureFailPoint`, which `scripts/mongod run` enables).
//!
//! A fail point applies to the whole server, so tests take turns. The application name in the URI selects the commands
//! that fail, so that other clients are not affected.

use std::fs::File;
use std::time::Duration;

use mongodb::Client;
use mongodb::bson::{Bson, Document, doc};
use mongodb::error::ErrorKind;
use uuid::Uuid;

/// Codes of MongoDB's errors, after `src/mongo/base/error_codes.yml`.
pub const BAD_VALUE: i32 = 2;
pub const UNKNOWN_ERROR: i32 = 8;
pub const MAX_TIME_EXPIRED: i32 = 50;
pub const WRITE_CONCERN_FAILED: i32 = 64;
pub const SHUTDOWN_IN_PROGRESS: i32 = 91;
pub const PRIMARY_STEPPED_DOWN: i32 = 189;
pub const EXCEEDED_TIME_LIMIT: i32 = 262;
pub const NOT_WRITABLE_PRIMARY: i32 = 10_107;
pub const INTERRUPTED_AT_SHUTDOWN: i32 = 11_600;

/// One test's turn with the fail point `failCommand`.
pub struct FailPoint {
    uri: String,
    application: String,
    _turn: File,
}

impl FailPoint {
    /// Waits for this test's turn. Returns `None` and prints a line if the server has no fail points.
    ///
    /// # Panics
    /// If `scripts/mongod run` started the server but it has no fail points.
    pub async fn take_turn(uri: &str) -> Option<Self> {
        let (_, hosts) = uri.split_once("://").expect("a URI");
        let name: String = hosts.chars().filter(char::is_ascii_alphanumeric).take(60).collect();
        let lock = std::env::temp_dir().join(format!("quita-fail-point-{name}.lock"));
        let turn = File::options().create(true).truncate(false).write(true).open(lock).unwrap();
        turn.lock().unwrap();
        let application = format!("quita-{}", Uuid::now_v7().simple());
        let point = Self { uri: uri.to_owned(), application, _turn: turn };
        match point.configure(doc! { "mode": "off" }).await {
            Ok(_) => Some(point),
            Err(error) => {
                let is_ours = std::env::var_os("QUITA_TEST_MONGOD_DIR").is_some();
                assert!(!is_ours, "scripts/mongod run starts servers with fail points: {error}");
                println!("skipped: the server was not started with enableTestCommands=1");
                None
            }
        }
    }

    /// Adds to this connection string the application name whose commands are to fail.
    pub fn mark(&self, uri: &str) -> String {
        with_application(uri, &self.application)
    }

    /// Makes the next `times` of these commands fail like this. Returns the number of commands that have hit the fail
    /// point before.
    pub async fn fail(&self, times: u32, commands: &[&str], how: &Document) -> i64 {
        self.set(doc! { "times": i64::from(times) }, commands, how).await
    }

    /// Makes all of these commands fail like this until it is healed. Returns the number of commands that have hit it
    /// before.
    pub async fn fail_on(&self, commands: &[&str], how: &Document) -> i64 {
        self.set("alwaysOn", commands, how).await
    }

    /// Skips this many of these commands, and then makes all of them fail like this until it is healed. Returns the
    /// number of commands that have hit it before.
    pub async fn fail_after(&self, skipped: u32, commands: &[&str], how: &Document) -> i64 {
        let mode =
            if skipped == 0 { Bson::from("alwaysOn") } else { doc! { "skip": i64::from(skipped) }.into() };
        self.set(mode, commands, how).await
    }

    /// Waits until `count` commands have hit the fail point since the server started, or the time is over.
    pub async fn wait_for(&self, count: i64, within: Duration) {
        let within = i64::try_from(within.as_millis()).unwrap();
        let command = doc! { "waitForFailPoint": "failCommand", "timesEntered": count, "maxTimeMS": within };
        if let Err(error) = self.run(command).await {
            let is_over = matches!(&*error.kind, ErrorKind::Command(told) if told.code == MAX_TIME_EXPIRED);
            assert!(is_over, "{error}");
        }
    }

    /// Stops all failures. Returns the number of commands that have hit the fail point.
    pub async fn heal(&self) -> i64 {
        self.configure(doc! { "mode": "off" }).await.unwrap()
    }

    /// Stops the server from noticing that its writes are on a majority, or lets it notice again. Meanwhile all reads
    /// see the earlier state, and all writes wait.
    pub async fn hide_majority(&self, hides: bool) {
        let mode = if hides { "alwaysOn" } else { "off" };
        self.run(doc! { "configureFailPoint": "disableSnapshotting", "mode": mode }).await.unwrap();
    }

    async fn set(&self, mode: impl Into<Bson>, commands: &[&str], how: &Document) -> i64 {
        let mut data = doc! { "failCommands": commands, "appName": &self.application };
        data.extend(how.clone());
        self.configure(doc! { "mode": mode, "data": data }).await.unwrap()
    }

    /// Configures the fail point, and returns the number of commands that hit the previous one. Only commands of the
    /// named application count.
    async fn configure(&self, what: Document) -> mongodb::error::Result<i64> {
        let mut command = doc! { "configureFailPoint": "failCommand" };
        command.extend(what);
        let told = self.run(command).await?;
        Ok(told.get_i64("count").or_else(|_| told.get_i32("count").map(i64::from)).unwrap())
    }

    /// Runs a command with a client of its own, because a test may use another runtime for each call.
    async fn run(&self, command: Document) -> mongodb::error::Result<Document> {
        Client::with_uri_str(&self.uri).await?.database("admin").run_command(command).await
    }
}

/// Adds the name under which the server knows a client's connections.
pub(crate) fn with_application(uri: &str, name: &str) -> String {
    let joint = if uri.contains('?') { '&' } else { '?' };
    format!("{uri}{joint}appName={name}")
}

/// Makes the server close the connection instead of running the command.
pub fn hang_up() -> Document {
    doc! { "closeConnection": true }
}

/// Makes the server refuse with this code instead of running the command.
pub fn refuse(code: i32) -> Document {
    doc! { "errorCode": code }
}

/// Makes the server run the command, and report that no majority confirmed it.
pub fn no_majority(code: i32) -> Document {
    doc! { "writeConcernError": { "code": code, "codeName": "Any", "errmsg": "told to fail" } }
}

/// Makes the server run the command after this delay.
pub fn delay(time: Duration) -> Document {
    let time = i64::try_from(time.as_millis()).unwrap();
    doc! { "blockConnection": true, "blockTimeMS": time }
}
