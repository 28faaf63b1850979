//! Commands on a store that is not there: none is made, and the message says what to do.

use std::path::Path;

use crate::support::{Finished, PATIENCE, Program, TestApp, TestStore, is_mongodb, pix};

const ID: &str = "01890a5d-ac96-774b-bcce-b302099a8057";
/// A bank's return file that can be read.
const RETURN_FILE: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/cnab/tests/files/cnab400-itau.ret");

/// Every command that works on a store, but `serve`, `backup` and `doctor`.
const COMMANDS: [&[&str]; 24] = [
    &["keys", "create", "--merchant", "shop"],
    &["keys", "list"],
    &["keys", "revoke", "0123456789abcdef"],
    &["users", "create", "--merchant", "shop", "--email", "ana@shop.example"],
    &["users", "list", "--merchant", "shop"],
    &["users", "set-role", "ana@shop.example", "viewer"],
    &["users", "reset-password", "ana@shop.example"],
    &["users", "remove", "ana@shop.example"],
    &["users", "operators", "create", "--email", "olga@ops.example"],
    &["users", "operators", "list"],
    &["users", "operators", "set-role", "olga@ops.example", "auditor"],
    &["users", "operators", "remove", "olga@ops.example"],
    &["secrets", "show", "--merchant", "shop"],
    &["secrets", "rotate", "--merchant", "shop"],
    &["secrets", "rewrap"],
    &["audit", "verify"],
    &["audit", "export"],
    &["audit", "accept"],
    &["privacy", "erase", "--document", "52998224725"],
    &["privacy", "erase", "--transaction", ID],
    &["privacy", "erase", "--login", "ana@shop.example"],
    &["privacy", "erase", "--document", "52998224725", "--dry-run"],
    &["reconcile", "--cnab", RETURN_FILE],
    &["routing", "replay", "--since", "7d", "--with", "new.toml"],
];

/// Runs a command in a folder with this store.
fn run(folder: &Path, store: &str, arguments: &[&str]) -> Finished {
    Program::new(folder, arguments).env("QUITA_STORE", store).run()
}

fn check_missing(refused: &Finished, named: &str) {
    assert_eq!((refused.code, refused.stdout.as_str()), (Some(1), ""), "{refused:?}");
    for part in ["no store at ", named, "quita serve", "QUITA_STORE"] {
        assert!(refused.stderr.contains(part), "{part}: {refused:?}");
    }
}

#[test]
fn a_command_makes_no_store_and_says_what_makes_one() {
    let folder = tempfile::tempdir().unwrap();
    std::fs::write(folder.path().join("new.toml"), "").unwrap();
    let store = TestStore::missing(folder.path());
    let (place, _) = store.url.split_once('?').unwrap_or((&store.url, ""));
    for arguments in COMMANDS {
        let refused = run(folder.path(), &store.url, arguments);
        check_missing(&refused, place);
        assert!(!store.exists(), "{arguments:?} made a store");
    }
}

#[test]
fn a_relative_path_is_told_as_a_whole_one() {
    let folder = tempfile::tempdir().unwrap();
    let whole = folder.path().canonicalize().unwrap();
    let refused = Program::new(folder.path(), ["keys", "list"]).run();
    check_missing(&refused, &format!("sqlite:{}/data/quita.db", whole.display()));
    std::fs::create_dir(folder.path().join("data")).unwrap();
    std::fs::write(folder.path().join("data/quita.db"), "").unwrap();
    check_missing(&Program::new(folder.path(), ["keys", "list"]).run(), "data/quita.db");
    check_missing(&Program::new(folder.path(), ["backup", "copy.db"]).run(), "data/quita.db");
    assert!(!folder.path().join("copy.db").exists());
    assert_eq!(
        std::fs::read_dir(folder.path().join("data")).unwrap().count(),
        1,
        "nothing was made beside it"
    );
}

#[test]
fn the_doctor_warns_of_a_store_that_is_missing_and_makes_none() {
    let folder = tempfile::tempdir().unwrap();
    let store = TestStore::missing(folder.path());
    let found = run(folder.path(), &store.url, &["doctor", "--ops-listen", "127.0.0.1:0"]);
    assert_eq!(found.code, Some(0), "{found:?}");
    let line = found.stdout.lines().find(|line| line.starts_with("warn  store")).unwrap();
    assert!(line.contains("does not exist yet") && line.contains("`quita serve` creates it"), "{line}");
    assert!(!store.exists());
}

/// Every file of a folder, with its bytes.
fn files(folder: &Path) -> Vec<(String, Vec<u8>)> {
    let files = std::fs::read_dir(folder).unwrap().map(|file| file.unwrap().path());
    let mut files: Vec<_> =
        files.map(|path| (path.display().to_string(), std::fs::read(&path).unwrap())).collect();
    files.sort();
    files
}

#[test]
fn nothing_is_made_beside_the_log_of_a_store_whose_file_is_gone() {
    if is_mongodb() {
        println!("skipped: MongoDB has the files");
        return;
    }
    let mut app = TestApp::new();
    let record = app.client().create(&pix(10_027));
    app.kill();
    let data = app.directory().join("data");
    let file = data.join("quita.db");
    let kept = std::fs::read(&file).unwrap();
    std::fs::remove_file(&file).unwrap();
    let left = files(&data);
    assert!(left.iter().any(|(name, log)| name.ends_with("quita.db-wal") && !log.is_empty()), "the newest");
    let serve = ["serve", "--listen", "127.0.0.1:0", "--ops-listen", "127.0.0.1:0"];
    for arguments in [&serve[..], &["keys", "list"], &["backup", "copy.db"]] {
        let refused = app.quita(arguments);
        assert_eq!(refused.code, Some(1), "{refused:?}");
        for part in ["quita.db is gone", "quita.db-wal", "Put ", "restore a backup", "new, empty store"] {
            assert!(refused.stderr.contains(part), "{part}: {refused:?}");
        }
        assert_eq!(files(&data), left, "{arguments:?}");
    }
    let found = app.quita(&["doctor"]);
    assert_eq!(found.code, Some(1), "{found:?}");
    let line = found.stdout.lines().find(|line| line.starts_with("fail  store")).unwrap();
    assert!(line.contains("quita.db-wal") && line.contains("RUNBOOK.md"), "{line}");
    assert_eq!(files(&data), left, "the doctor changes nothing");
    std::fs::write(&file, kept).unwrap();
    app.restart();
    let id = record["transactionId"].as_str().unwrap();
    assert_eq!(app.client().payment(id)["transactionId"], record["transactionId"]);
}

#[test]
fn a_new_store_is_a_line_of_the_log_once() {
    for (environment, level) in [("development", "INFO"), ("production", "WARN")] {
        let mut app = TestApp::builder()
            .makes_store()
            .arg("--environment", environment)
            .arg("--public-url", "https://pay.example.com")
            .env("QUITA_SECRET_KEY", "a-key-for-tests-that-is-long-enough-to-be-taken")
            .start();
        app.terminate(PATIENCE);
        app.restart();
        let log = app.log();
        let told: Vec<_> =
            log.lines().filter(|line| line.contains("a new, empty store was created")).collect();
        let [line] = told[..] else { panic!("{told:#?}") };
        let (place, _) = app.store_url().split_once('?').unwrap_or((app.store_url(), ""));
        let is_named = line.contains(place) && line.contains(&format!("\"level\":\"{level}\""));
        assert!(is_named, "{environment}: {line}");
    }
}

#[test]
fn a_command_says_which_store_it_used_and_prints_its_result_alone() {
    let app = TestApp::new();
    let (place, _) = app.store_url().split_once('?').unwrap_or((app.store_url(), ""));
    let commands: [&[&str]; 5] = [
        &["keys", "create", "--merchant", "shop"],
        &["users", "list", "--merchant", "shop"],
        &["secrets", "show", "--merchant", "shop"],
        &["audit", "verify"],
        &["privacy", "erase", "--document", "52998224725"],
    ];
    for arguments in commands {
        let done = app.quita(arguments);
        assert_eq!(done.code, Some(0), "{done:?}");
        let named = done.stderr.lines().filter(|line| line.starts_with("Store: "));
        assert_eq!(named.collect::<Vec<_>>(), [format!("Store: {place}")], "{done:?}");
        assert!(!done.stdout.contains("Store: "), "{done:?}");
    }
    if !is_mongodb() {
        let copy = app.directory().join("copy.db");
        let done = app.quita(&["backup", copy.to_str().unwrap()]);
        assert!(done.stderr.starts_with(&format!("Store: {place}\n")), "{done:?}");
    }
}

#[test]
fn what_a_service_made_is_worked_on_after_it_has_stopped() {
    let mut app = TestApp::new();
    app.kill();
    let operator = ["users", "operators", "create", "--email", "olga@ops.example"];
    assert!(!app.quita(&operator).output().is_empty(), "its password");
    let key = app.create_key(&["--merchant", "shop"]);
    app.restart();
    assert_eq!(app.client_with(&key).get("/pay/payments").status, 200);
}
