//! Texts that people enter in the console: what is kept of them, and who reads what receivers answer.

use serde_json::json;

use crate::support::{
    Account, Edit, EventStream, PATIENCE, Reply, TestApp, TestReceiver, Visitor, eventually, pix,
};

const NUMBER: &str = "Loja 4242 4242 4242 4242";

#[test]
fn no_card_number_in_a_text_of_the_console() {
    let app = TestApp::new();
    let owner = Visitor::signed_in(&app, &Account::create(&app, "shop", "ana@shop.example", "owner"));
    let application = "/console/test/applications/default";
    let forms: [(&str, &[(&str, &str)]); 5] = [
        ("/console/test/applications", &[("name", NUMBER)]),
        (&format!("{application}/rename"), &[("title", NUMBER)]),
        (&format!("{application}/test-event"), &[("url", "https://shop.example/4242424242424242")]),
        ("/console/test/people", &[("email", "4242424242424242@shop.example"), ("role", "viewer")]),
        (
            "/console/test/deliveries/redeliver",
            &[("since", "2026-01-01T00:00"), ("receiver", "4242424242424242.example")],
        ),
    ];
    for (path, fields) in forms {
        let answer = owner.post(path, fields);
        let says_why = answer.text().contains("what looks like a card number");
        assert!(answer.status == 422 && says_why, "{path}: {answer}");
    }
    for page in ["/console/test/audit", "/console/test/applications", "/console/test/people"] {
        assert!(!owner.page(page).contains("4242"), "{page}");
    }
    for (place, bytes) in app.store_bytes() {
        assert!(!bytes.windows(8).any(|part| part == b"42424242" || part == b"4242 424"), "{place}");
    }
}

#[test]
fn new_titles_of_applications_are_bounded_and_the_same_one_is_no_change() {
    let app = TestApp::new();
    let owner = Visitor::signed_in(&app, &Account::create(&app, "shop", "ana@shop.example", "owner"));
    let rename = |title: &str| {
        let path = "/console/test/applications/default/rename";
        owner.post(path, &[("title", title)]).status
    };
    assert!((0..30).all(|_| rename("Loja") == 303), "it is called so already");
    let statuses: Vec<_> = (0..100).map(|number| rename(&format!("Loja {number}"))).collect();
    let taken = statuses.iter().filter(|status| **status == 303).count();
    assert!((5..=15).contains(&taken), "{taken}: {statuses:?}");
    assert!(statuses.iter().all(|status| [303, 429].contains(status)), "{statuses:?}");
    let log = owner.page("/console/test/audit");
    assert_eq!(log.matches("renamed the application").count(), taken + 1, "{log}");
}

#[test]
fn the_audit_log_has_no_query_of_the_address_of_a_test_event() {
    let app = TestApp::new();
    let receiver = TestReceiver::start();
    let owner = Visitor::signed_in(&app, &Account::create(&app, "shop", "ana@shop.example", "owner"));
    let url = format!("{}?token=s3cret-of-a-receiver", receiver.url());
    let sent = owner.post("/console/test/applications/default/test-event", &[("url", &url)]);
    assert_eq!(sent.status, 200, "{sent}");
    let log = owner.page("/console/test/audit");
    assert!(log.contains("sent a test event for") && log.contains("?…"), "{log}");
    assert!(!log.contains("s3cret"), "{log}");
}

#[test]
fn viewers_see_no_document_in_what_a_receiver_answered() {
    let app = TestApp::new();
    let receiver = TestReceiver::start();
    receiver.answer_with(|_| Reply::status(200).body("taken: CPF 52998224725, maria.silva@example.com"));
    let request = pix(10_000).with("postbackUrl", json!(receiver.url()));
    let id = app.client().create(&request)["transactionId"].as_str().unwrap().to_owned();
    let owner = Visitor::signed_in(&app, &Account::create(&app, "shop", "ana@shop.example", "owner"));
    let viewer = Visitor::signed_in(&app, &Account::create(&app, "shop", "vera@shop.example", "viewer"));
    let path = format!("/console/test/payments/{id}");
    let seen = eventually(PATIENCE, "the answer is on the page", || {
        Some(owner.page(&path)).filter(|page| page.contains("The receiver&#39;s answer"))
    });
    let of_payer = ["52998224725", "maria.silva"];
    assert!(of_payer.iter().any(|text| seen.contains(text)), "the owner reads it: {seen}");
    let mut stream = EventStream::open(&app, &viewer, &format!("{path}/stream"));
    for page in [viewer.page(&path), stream.next().unwrap()] {
        assert!(page.contains("Only owners and developers can read it"), "{page}");
        for text in of_payer {
            assert!(!page.contains(text), "{text}: {page}");
        }
    }
}
