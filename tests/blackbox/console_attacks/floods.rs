//! Visitors that do more than a person can.

use std::thread;

use crate::support::{Account, EventStream, TestApp, Visitor, pix};

/// More than a user may do in a row, however fast.
const MANY: usize = 400;

#[test]
fn a_program_that_fills_the_store_waits_and_holds_nobody_else_up() {
    let app = TestApp::new();
    let [ana, bia] = ["ana@shop.example", "bia@shop.example"]
        .map(|email| Account::create(&app, "shop", email, "developer"));
    let create = |who: &Visitor, token: &str, name: &str| {
        who.post_with("/console/test/applications", &[], &[("formToken", token), ("name", name)])
    };
    // Several at once, and without a page before each: on a busy machine one alone would be no flood.
    let flood = |number: usize| {
        let ana = Visitor::signed_in(&app, &ana);
        let token = ana.form_token();
        let names = (0..MANY).map(|place| format!("flood {number} {place}"));
        let mut answers = names.map(|name| (create(&ana, &token, &name), name));
        let mut made = 0;
        let refused = answers.find(|(answer, _)| {
            made += usize::from(answer.status == 200);
            answer.status != 200
        });
        (made, refused.expect("it goes on without end"))
    };
    let mut ended = thread::scope(|scope| {
        let threads: Vec<_> = (0..4).map(|number| scope.spawn(move || flood(number))).collect();
        threads.into_iter().map(|thread| thread.join().unwrap()).collect::<Vec<_>>()
    });
    let made: usize = ended.iter().map(|(made, _)| made).sum();
    assert!(made >= 100, "as fast as a person, and faster: {made}");
    let (_, (refused, name)) = ended.remove(0);
    let wait: u64 = refused.header("retry-after").unwrap().parse().unwrap();
    assert!(refused.status == 429 && (1..=2).contains(&wait), "{refused}");
    let [ana, bia] = [ana, bia].map(|account| Visitor::signed_in(&app, &account));
    assert!(!ana.page("/console/test/applications").contains(&name), "looking is free, and nothing was made");
    assert_eq!(create(&bia, &bia.form_token(), "hers").status, 200);
}

#[test]
fn a_program_that_downloads_without_end_waits() {
    let app = TestApp::new();
    let developer = Visitor::signed_in(&app, &Account::create(&app, "shop", "ana@shop.example", "developer"));
    let answers: Vec<_> = (0..MANY)
        .map(|_| developer.get("/console/test/payments.csv"))
        .take_while(|answer| answer.status != 429)
        .collect();
    assert!((5..50).contains(&answers.len()), "{}", answers.len());
    assert!(answers.iter().all(|answer| answer.status == 200));
    assert_eq!(developer.get("/console/test/payments").status, 200);
}

/// A login belongs to one user of one merchant, so a refused one tells that somebody has it.
#[test]
fn an_owner_who_asks_which_addresses_sign_in_somewhere_is_told_of_few() {
    let app = TestApp::new();
    let owner = Visitor::signed_in(&app, &Account::create(&app, "shop", "ana@shop.example", "owner"));
    let taken = Account::create(&app, "another", "bia@another.example", "owner");
    let token = owner.form_token();
    let fields = [("formToken", &*token), ("email", &*taken.email), ("role", "viewer")];
    let answers = (0..MANY).map(|_| owner.post_with("/console/test/people", &[], &fields).status);
    let answers: Vec<_> = answers.take_while(|status| *status != 429).collect();
    assert!((10..50).contains(&answers.len()), "{}", answers.len());
    assert!(answers.iter().all(|status| *status == 409));
}

#[test]
fn a_program_that_has_payers_shown_one_by_one_waits() {
    let app = TestApp::new();
    let viewer = Visitor::signed_in(&app, &Account::create(&app, "shop", "ana@shop.example", "viewer"));
    let record = app.client().create(&pix(10_027));
    let path = format!("/console/test/payments/{}/payer", record["transactionId"].as_str().unwrap());
    let token = viewer.form_token();
    let answers: Vec<_> = (0..MANY)
        .map(|_| viewer.post_with(&path, &[], &[("formToken", &*token)]))
        .take_while(|answer| answer.status != 429)
        .collect();
    assert!((100..MANY).contains(&answers.len()), "{}", answers.len());
    assert!(answers.iter().all(|answer| answer.status == 200));
}

#[test]
fn live_pages_of_one_person_are_bounded_whatever_the_sessions() {
    let app = TestApp::new();
    let ana = Account::create(&app, "shop", "ana@shop.example", "viewer");
    let [here, there] = [(); 2].map(|()| Visitor::signed_in(&app, &ana));
    let bia = Account::create(&app, "shop", "bia@shop.example", "viewer");
    let bia = Visitor::signed_in(&app, &bia);
    let path = "/console/test/payments/stream";
    let open: Vec<_> = (0..24).map(|_| EventStream::open(&app, &here, path)).collect();
    for visitor in [&here, &there] {
        assert_eq!(visitor.get(path).status, 503);
    }
    assert!(EventStream::open(&app, &bia, path).next().is_some(), "somebody else's are not theirs");
    drop(open);
    crate::support::eventually(crate::support::PATIENCE, "there is room again", || {
        is_open(&app, &there, path).then_some(())
    });
}

/// Returns true if a stream can be opened. It is closed again.
fn is_open(app: &TestApp, visitor: &Visitor, path: &str) -> bool {
    let request = format!(
        "GET {path} HTTP/1.0\r\nHost: {}\r\nCookie: {}\r\n\r\n",
        app.address(),
        visitor.cookie_header()
    );
    let mut stream = std::net::TcpStream::connect(app.address()).unwrap();
    std::io::Write::write_all(&mut stream, request.as_bytes()).unwrap();
    let mut status = [0; 12];
    std::io::Read::read_exact(&mut stream, &mut status).unwrap();
    status.ends_with(b"200")
}
