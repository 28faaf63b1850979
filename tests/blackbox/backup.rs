//! `quita backup`: a copy of the embedded store that is whole, made beside the service, and that serves.

use std::collections::BTreeMap;
use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use serde_json::Value;

use crate::support::{Program, TestApp, is_mongodb, pause, pix};

/// Longest time of a backup of a small store that is being written to.
const SOON: Duration = Duration::from_secs(15);

fn is_embedded() -> bool {
    if is_mongodb() {
        println!("skipped: MongoDB has backups of its own");
    }
    !is_mongodb()
}

/// Creates payments until it is told to stop, some forty a second.
fn create_on(app: &TestApp, made: &AtomicUsize, is_over: &AtomicBool) {
    let client = app.client();
    while !is_over.load(Ordering::SeqCst) {
        client.create(&pix(10_027));
        made.fetch_add(1, Ordering::SeqCst);
        pause(Duration::from_millis(20));
    }
}

#[test]
fn a_backup_that_is_made_under_load_is_whole_and_serves_what_it_holds() {
    if !is_embedded() {
        return;
    }
    let app = TestApp::new();
    let client = app.client();
    let known: BTreeMap<String, Value> = (0..40)
        .map(|_| client.create(&pix(10_027)))
        .map(|record| (record["transactionId"].as_str().unwrap().to_owned(), record))
        .collect();
    let made = AtomicUsize::new(0);
    let is_over = AtomicBool::new(false);
    let copy = app.directory().join("copies/quita.db");
    fs::create_dir(copy.parent().unwrap()).unwrap();
    thread::scope(|scope| {
        for _ in 0..2 {
            scope.spawn(|| create_on(&app, &made, &is_over));
        }
        pause(Duration::from_millis(500));
        let begun = Instant::now();
        let before = made.load(Ordering::SeqCst);
        let done = app.quita(&["backup", copy.to_str().unwrap()]);
        let took = begun.elapsed();
        let during = made.load(Ordering::SeqCst) - before;
        is_over.store(true, Ordering::SeqCst);
        done.output();
        assert!(took < SOON && during > 0, "{took:?}, and {during} were created meanwhile");
    });
    assert_eq!(fs::metadata(&copy).unwrap().permissions().mode() & 0o777, 0o600);
    let beside = fs::read_dir(copy.parent().unwrap()).unwrap().count();
    assert_eq!(beside, 1, "nothing but the copy is there");

    let restored = TestApp::builder().store(&format!("sqlite:{}", copy.display())).start();
    for (id, record) in &known {
        assert_eq!(restored.client().payment(id)["pix"]["code"], record["pix"]["code"]);
    }
    let listed = restored.client().get("/pay/payments?limit=100").expect(200);
    assert!(listed["data"].as_array().unwrap().len() > known.len(), "what came after is there too");
    let id = restored.client().create(&pix(10_000))["transactionId"].as_str().unwrap().to_owned();
    restored.client().wait_for_status(&id, "paid");
}

#[test]
fn a_backup_never_takes_the_place_of_a_file() {
    if !is_embedded() {
        return;
    }
    let app = TestApp::new();
    let copy = app.directory().join("copy.db");
    let path = copy.to_str().unwrap();
    for content in ["", "somebody else's"] {
        fs::write(&copy, content).unwrap();
        let refused = app.quita(&["backup", path]);
        assert_eq!(refused.code, Some(1), "{}", refused.said());
        assert!(
            refused.stderr.contains("copy.db") && refused.stderr.contains("exists"),
            "{}",
            refused.stderr
        );
        assert_eq!(fs::read_to_string(&copy).unwrap(), content);
    }
}

#[test]
fn a_backup_of_nothing_is_refused_and_makes_nothing() {
    let folder = tempfile::tempdir().unwrap();
    let program = |store: &str| Program::new(folder.path(), ["backup", "copy.db", "--store", store]).run();
    for (store, told) in
        [("sqlite:data/none.db", "none.db"), ("mongodb://127.0.0.1:9/quita?replicaSet=rs", "mongodump")]
    {
        let refused = program(store);
        assert_eq!(refused.code, Some(1), "{}", refused.said());
        assert!(refused.stderr.contains(told), "{}", refused.stderr);
    }
    assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 0, "nothing was made");
    fs::write(folder.path().join("text.db"), "no database".repeat(100)).unwrap();
    let refused = program("sqlite:text.db");
    assert_eq!(refused.code, Some(1), "{}", refused.said());
    assert!(!folder.path().join("copy.db").exists(), "no half of a copy is left");
}
