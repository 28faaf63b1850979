//! The audit log as a chain: `quita audit verify` is clean until somebody changes the store behind the service's back.

pub(crate) mod meddling;
mod watching;

use std::thread;
use std::time::Duration;

use crate::support::{Account, Finished, TestApp, Visitor, is_mongodb, pause, pix};
use meddling::{Meddler, deeds};

const VERIFY: [&str; 2] = ["audit", "verify"];
const VARIABLE: &str = "QUITA_SECRET_KEY";
const OLD: &str = "an-old-secret-key-that-is-long-enough-for-anybody";
const NEW: &str = "a-new-secret-key-that-is-long-enough-for-anybody!";

/// A service whose people did a little of everything.
fn story() -> TestApp {
    story_in(TestApp::new())
}

fn story_in(app: TestApp) -> TestApp {
    let account = Account::create(&app, "shop", "ana@shop.example", "owner");
    let owner = Visitor::signed_in(&app, &account);
    let stranger = Visitor::new(&app);
    assert_eq!(stranger.sign_in(&account.email, "not the password", "").status, 422);
    assert_eq!(owner.post("/console/test/applications", &[("name", "till")]).status, 200);
    assert_eq!(owner.get("/console/test/payments.csv").status, 200);
    Account::create(&app, "shop", "bia@shop.example", "viewer");
    app.client().create(&pix(10_027));
    app
}

/// The end of the log, as a clean check prints it, and how many entries there are.
#[track_caller]
fn clean(finished: &Finished) -> (u64, String) {
    assert_eq!((finished.code, finished.beside_the_store().as_str()), (Some(0), ""), "{finished:?}");
    let line = finished.stdout.trim_end();
    let entries = line.split(' ').next().unwrap();
    let end = line.rsplit(' ').next().unwrap();
    (entries.parse().unwrap(), end.to_owned())
}

#[track_caller]
fn check_told(finished: &Finished, told: &str) {
    assert_eq!((finished.code, finished.stdout.as_str()), (Some(1), ""), "{told}: {finished:?}");
    assert!(finished.stderr.contains(told), "{told}: {finished:?}");
}

#[test]
fn verify_finds_whatever_was_done_behind_the_service_and_nothing_else() {
    let mut app = story();
    // A node that runs would leave entries about what it sees: see `watching`.
    app.kill();
    let (entries, end) = clean(&app.quita(&VERIFY));
    assert!(entries >= 7 && end.starts_with(&format!("{entries}:")), "{end}");
    let meddler = Meddler::of(app.store_url());
    let saved = meddler.save();
    for deed in deeds(entries) {
        meddler.run(&deed);
        check_told(&app.quita(&VERIFY), &deed.told);
        meddler.restore(&saved);
        clean(&app.quita(&VERIFY));
    }
    // Others go on writing, and what was done is told all the same.
    for deed in deeds(entries) {
        meddler.run(&deed);
        Account::create(&app, "shop", &format!("{}@shop.example", deed.name), "viewer");
        check_told(&app.quita(&VERIFY), "not as it was written");
        meddler.restore(&saved);
    }
    clean(&app.quita(&VERIFY));
}

#[test]
fn a_log_that_was_put_back_whole_is_found_by_who_kept_its_end() {
    let mut app = story();
    app.kill();
    let meddler = Meddler::of(app.store_url());
    let saved = meddler.save();
    let (before, earlier) = clean(&app.quita(&VERIFY));
    Account::create(&app, "shop", "eva@shop.example", "owner");
    let (after, later) = clean(&app.quita(&[&VERIFY[..], &["--continues", &earlier]].concat()));
    assert_eq!(after, before + 1);
    meddler.restore(&saved);
    clean(&app.quita(&VERIFY));
    let told = format!("no longer continues from {later}");
    check_told(&app.quita(&[&VERIFY[..], &["--continues", &later]].concat()), &told);
}

#[test]
fn what_is_erased_leaves_the_log_clean_and_nobody_in_it() {
    let app = story();
    let (entries, _) = clean(&app.quita(&VERIFY));
    let erased = Meddler::of(app.store_url()).erase_person("ana@shop.example");
    // Signed in twice or so, an application, an export: by her; made a user and signed in: of her.
    assert!(erased >= 4, "{erased}");
    let finished = app.quita(&VERIFY);
    assert_eq!(clean(&finished).0, entries + 1, "one that accounts for it");
    assert!(finished.stdout.contains(&format!(" {erased} parts erased")), "{finished:?}");
    let operator = Visitor::operator(&app);
    let log = operator.page("/audit");
    assert!(log.contains("erased") && !log.contains("ana@shop.example"), "{log}");
    assert!(log.contains("bia@shop.example"), "{log}");
    clean(&app.quita(&VERIFY));
}

#[test]
fn the_log_is_checked_under_a_new_secret_key_and_not_without_one() {
    let mut app = story_in(TestApp::builder().env(VARIABLE, OLD).start());
    let (_, end) = clean(&app.quita(&VERIFY));
    let without = app.program(&VERIFY).env(VARIABLE, NEW).run();
    check_told(&without, "add that key to QUITA_SECRET_KEY");
    // What nobody could note is not done.
    let making = ["users", "create", "--merchant", "shop", "--email", "eva@shop.example"];
    check_told(&app.program(&making).env(VARIABLE, NEW).run(), "add that key to QUITA_SECRET_KEY");
    let listed = app.program(&["users", "list", "--merchant", "shop"]).env(VARIABLE, NEW).run();
    assert!(listed.code == Some(0) && !listed.stdout.contains("eva@"), "{listed:?}");
    app.restart_with(VARIABLE, &format!("{NEW}\n{OLD}"));
    let said = app.quita(&["secrets", "rewrap"]);
    assert!(said.code == Some(0) && said.stderr.contains("key of the audit log"), "{said:?}");
    app.restart_with(VARIABLE, NEW);
    Account::create(&app, "shop", "eva@shop.example", "viewer");
    clean(&app.quita(&[&VERIFY[..], &["--continues", &end]].concat()));
}

#[test]
fn a_store_that_nobody_served_has_no_log() {
    let app = TestApp::new();
    let elsewhere = format!("sqlite:{}", app.directory().join("elsewhere.db").display());
    let finished = app.program(&VERIFY).env("QUITA_STORE", &elsewhere).run();
    check_told(&finished, "There is no store at");
}

/// Applications that each visitor makes.
const MADE: u64 = 4;

fn makes(visitor: &Visitor, name: &str) -> bool {
    let make = |number| visitor.post("/console/test/applications", &[("name", &*format!("{name} {number}"))]);
    (0..MADE).all(|number| make(number).status == 200)
}

#[test]
fn two_nodes_write_one_log_and_one_that_dies_leaves_it_whole() {
    if !is_mongodb() {
        println!("skipped: an SQLite file belongs to one service");
        return;
    }
    let first = TestApp::new();
    let mut second = TestApp::builder().store(first.store_url()).start();
    let account = Account::create(&first, "shop", "ana@shop.example", "owner");
    let mut visitors: Vec<_> = [&first, &first, &first, &second, &second, &second]
        .map(|app| Visitor::signed_in(app, &account))
        .into_iter()
        .enumerate()
        .collect();
    visitors = thread::scope(|scope| {
        let running = visitors.into_iter().map(|(number, visitor)| {
            scope.spawn(move || {
                assert!(makes(&visitor, &format!("{number}")));
                (number, visitor)
            })
        });
        let running: Vec<_> = running.collect();
        running.into_iter().map(|thread| thread.join().unwrap()).collect()
    });
    let (entries, end) = clean(&first.quita(&VERIFY));
    // The key of each node, the user, six who signed in, and what each of them made.
    assert_eq!(entries, 2 + 1 + 6 + 6 * MADE);
    thread::scope(|scope| {
        let dying = visitors.split_off(3);
        for (number, visitor) in visitors {
            scope.spawn(move || assert!(makes(&visitor, &format!("later {number}"))));
        }
        for (number, visitor) in dying {
            // It is not answered in the end.
            let making = std::panic::AssertUnwindSafe(move || makes(&visitor, &format!("never {number}")));
            scope.spawn(move || drop(std::panic::catch_unwind(making)));
        }
        // Killed in the midst of noting.
        pause(Duration::from_millis(200));
        second.kill();
    });
    let (after, _) = clean(&first.quita(&[&VERIFY[..], &["--continues", &end]].concat()));
    assert!(after > entries, "{after}");
}
