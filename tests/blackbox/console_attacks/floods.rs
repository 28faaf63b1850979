//! Visitors that do more than a person can.

use crate::support::{Account, TestApp, Visitor};

/// More than a user may do in a row, however fast.
const MANY: usize = 400;

#[test]
fn a_program_that_fills_the_store_waits_and_holds_nobody_else_up() {
    let app = TestApp::new();
    let [ana, bia] = ["ana@shop.example", "bia@shop.example"]
        .map(|email| Visitor::signed_in(&app, &Account::create(&app, "shop", email, "developer")));
    let create = |who: &Visitor, name: &str| who.post("/console/test/applications", &[("name", name)]);
    let names = (0..MANY).map(|number| format!("flood {number}"));
    let mut answers = names.map(|name| (create(&ana, &name), name));
    let made = answers.by_ref().take(100).filter(|(answer, _)| answer.status == 200).count();
    assert_eq!(made, 100, "as fast as a person, and faster");
    let (refused, name) = answers.find(|(answer, _)| answer.status != 200).expect("it goes on without end");
    let wait: u64 = refused.header("retry-after").unwrap().parse().unwrap();
    assert!(refused.status == 429 && (1..=2).contains(&wait), "{refused}");
    assert!(!ana.page("/console/test/applications").contains(&name), "looking is free, and nothing was made");
    assert_eq!(create(&bia, "hers").status, 200);
}

#[test]
fn a_program_that_downloads_without_end_waits() {
    let app = TestApp::new();
    let viewer = Visitor::signed_in(&app, &Account::create(&app, "shop", "ana@shop.example", "viewer"));
    let answers: Vec<_> = (0..MANY)
        .map(|_| viewer.get("/console/test/payments.csv"))
        .take_while(|answer| answer.status != 429)
        .collect();
    assert!((5..50).contains(&answers.len()), "{}", answers.len());
    assert!(answers.iter().all(|answer| answer.status == 200));
    assert_eq!(viewer.get("/console/test/payments").status, 200);
}
