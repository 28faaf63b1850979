//! The end of the audit log, known outside of the store: in the program's log, in a metric, to the nodes that run, and to
//! whoever collects what `quita audit export` prints.

use std::collections::BTreeSet;

use serde_json::Value;

use super::meddling::Meddler;
use super::{VERIFY, check_told, clean, story, story_in};
use crate::support::{Account, Finished, PATIENCE, TestApp, Visitor, eventually};

/// Places and hashes of the lines that entries left in the program's log, in order.
fn lines(log: &str) -> Vec<(u64, String)> {
    let lines = log.lines().filter_map(|line| line.split_once("audit entry ")).map(|(_, line)| line);
    let read = |line: &str| {
        let mut words = line.split([' ', '"', ',']);
        Some((words.next()?.parse().ok()?, words.next()?.to_owned()))
    };
    lines.filter_map(read).collect()
}

fn metric(app: &TestApp, name: &str) -> Option<u64> {
    let metrics = app.ops().get("/metrics").text();
    let value = metrics.lines().find_map(|line| line.strip_prefix(&format!("{name} ")));
    value.and_then(|value| value.parse().ok())
}

fn wait_for_line(app: &TestApp, place: u64) {
    eventually(PATIENCE, "the entry left its line", || {
        lines(&app.log()).iter().any(|(sequence, _)| *sequence == place).then_some(())
    });
}

#[test]
fn each_entry_leaves_one_line_without_persons_and_the_end_is_a_metric() {
    let mut app = story();
    let (entries, end) = clean(&app.quita(&VERIFY));
    wait_for_line(&app, entries);
    let told = lines(&app.log());
    let places: Vec<_> = told.iter().map(|(place, _)| *place).collect();
    assert_eq!(places, (1..=entries).collect::<Vec<_>>(), "those of commands, too");
    let hash = end.split_once(':').unwrap().1.to_owned();
    assert_eq!(told.last(), Some(&(entries, hash.clone())));
    assert_eq!(metric(&app, "quita_audit_log_end"), Some(entries));
    let digits = u64::from_str_radix(&hash[..12], 16).unwrap();
    assert_eq!(metric(&app, "quita_audit_log_end_hash"), Some(digits));
    assert_eq!(metric(&app, "quita_audit_log_faults_total"), Some(0));
    assert!(!app.log().contains("shop.example"), "{}", app.log());
    // Whoever collects the log finds where it begins again.
    app.restart();
    assert!(app.log().contains(&format!("audit log ends at {entries} {hash}")), "{}", app.log());
}

#[test]
fn a_log_that_is_cut_under_a_service_that_runs_is_told_by_the_service_and_for_ever() {
    let app = story_in(TestApp::builder().expects_errors().start());
    let meddler = Meddler::of(app.store_url());
    let saved = meddler.save();
    let refused = |name: &str| {
        let visitor = Visitor::new(&app);
        assert_eq!(visitor.sign_in(&format!("{name}@shop.example"), "not the password", "").status, 422);
    };
    refused("one");
    refused("two");
    let (entries, end) = clean(&app.quita(&VERIFY));
    wait_for_line(&app, entries);
    meddler.restore(&saved);
    refused("three");
    eventually(PATIENCE, "the service tells it", || {
        let told = format!("the audit log no longer continues from {end}");
        let log = app.log();
        log.lines().find(|line| line.contains(&told) && line.contains("\"level\":\"ERROR\"")).map(drop)
    });
    assert_eq!(metric(&app, "quita_audit_log_faults_total"), Some(1));
    let told = format!("reports that the log no longer continued from {end}, which a node had seen");
    eventually(PATIENCE, "the service left an entry about it", || {
        app.quita(&VERIFY).stderr.contains(&told).then_some(())
    });
    check_told(&app.quita(&VERIFY), &told);
}

#[test]
fn what_was_taken_away_is_told_until_a_person_accepts_it() {
    let app = story();
    let (entries, _) = clean(&app.quita(&VERIFY));
    let meddler = Meddler::of(app.store_url());
    meddler.take_initiators();
    let told = format!("entries 1 to {entries} no longer state who did it");
    check_told(&app.quita(&VERIFY), &told);
    // An erasure accounts for what it took, and for nothing else.
    assert!(meddler.erase_person("ana@shop.example") > 0);
    check_told(&app.quita(&VERIFY), &told);
    let accepted = app.quita(&["audit", "accept"]);
    assert_eq!(accepted.output(), format!("{entries} parts accepted as erased"));
    assert_eq!(clean(&app.quita(&VERIFY)).0, entries + 2);
    let log = Visitor::operator(&app).page("/audit");
    assert!(log.contains(&format!("initiator 1-{entries}")), "{log}");
    assert_eq!(app.quita(&["audit", "accept"]).output(), "0 parts accepted as erased");
}

#[track_caller]
fn exported(finished: &Finished) -> Vec<Value> {
    assert_eq!((finished.code, finished.beside_the_store().as_str()), (Some(0), ""), "{finished:?}");
    finished.stdout.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
}

fn places(entries: &[Value]) -> Vec<u64> {
    entries.iter().map(|entry| entry["sequence"].as_u64().unwrap()).collect()
}

#[test]
fn the_log_is_exported_as_lines_of_json_from_where_a_collector_ended() {
    let app = story();
    let (entries, end) = clean(&app.quita(&VERIFY));
    let export = |since: &[&str]| app.quita(&[&["audit", "export"], since].concat());
    let all = exported(&export(&[]));
    assert_eq!(places(&all), (1..=entries).collect::<Vec<_>>());
    let last = all.last().unwrap();
    assert_eq!(format!("{entries}:{}", last["hash"].as_str().unwrap()), end);
    let of_ana = |entry: &&Value| entry["who"] == "ana@shop.example" && entry["action"] == "session.began";
    let signed_in = all.iter().find(of_ana).unwrap();
    assert_eq!((&signed_in["merchant"], &signed_in["from"]), (&"shop".into(), &"127.0.0.1".into()));
    assert!(signed_in.get("erased").is_none(), "{signed_in}");
    // From a place, from a place that is proven, and from a time.
    assert_eq!(exported(&export(&["--since", "2"])), all[2..]);
    assert_eq!(exported(&export(&["--since", &end])), [] as [Value; 0]);
    let at = all[3]["at"].as_str().unwrap();
    let later: Vec<_> = all.iter().filter(|entry| entry["at"].as_str() >= Some(at)).cloned().collect();
    assert_eq!(exported(&export(&["--since", at])), later);
    Account::create(&app, "shop", "eva@shop.example", "viewer");
    let more = exported(&export(&["--since", &end]));
    assert_eq!((places(&more), &more[0]["subject"]), (vec![entries + 1], &"eva@shop.example".into()));
    let other = format!("{entries}:{}", "0".repeat(64));
    check_told(&export(&["--since", &other]), &format!("no longer continues from {other}"));
    // What is erased is named, and the rest is there.
    assert!(Meddler::of(app.store_url()).erase_person("ana@shop.example") > 0);
    let erased = exported(&export(&[]));
    assert!(!export(&[]).stdout.contains("ana@"));
    let again = erased.iter().find(|entry| entry["id"] == signed_in["id"]).unwrap();
    assert_eq!(again["erased"], serde_json::json!(["initiator", "person"]));
    assert!(again.get("who").is_none() && again["hash"] == signed_in["hash"], "{again}");
    let actions: BTreeSet<_> = erased.iter().map(|entry| entry["action"].as_str().unwrap()).collect();
    assert!(actions.contains("audit.erased"), "{actions:?}");
}
