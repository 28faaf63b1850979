//! The file for spreadsheets.

use std::io::{Read, Write};
use std::net::TcpStream;

use serde_json::json;

use crate::support::{Account, Edit, PATIENCE, TestApp, Visitor, boleto, copy_payment, form, pix};

/// One more than are read at once.
const MORE_THAN_A_PAGE: usize = 501;
/// Number of payments whose lines no buffer between service and reader holds: some 12 MB.
const MORE_THAN_IS_ON_ITS_WAY: usize = 20_000;

/// The cells of every line, as a spreadsheet reads them (RFC 4180), without the mark that tells the encoding.
fn cells(text: &str) -> Vec<Vec<String>> {
    let text = text.strip_prefix('\u{feff}').expect("Excel would not know the encoding");
    let mut lines = vec![vec![String::new()]];
    let mut is_quoted = false;
    let mut characters = text.chars().peekable();
    while let Some(character) = characters.next() {
        let line = lines.last_mut().unwrap();
        match character {
            '"' if is_quoted && characters.peek() == Some(&'"') => {
                characters.next();
                line.last_mut().unwrap().push('"');
            }
            '"' => is_quoted = !is_quoted,
            ',' if !is_quoted => line.push(String::new()),
            '\r' if !is_quoted => {}
            '\n' if !is_quoted => lines.push(vec![String::new()]),
            other => line.last_mut().unwrap().push(other),
        }
    }
    assert_eq!(lines.pop(), Some(vec![String::new()]), "the last line ends as all do");
    lines
}

#[test]
fn an_export_holds_what_the_filter_holds_and_no_formula() {
    let app = TestApp::new();
    let visitor = Visitor::signed_in(&app, &Account::create(&app, "shop", "ana@shop.example", "developer"));
    let client = app.client();
    let evil =
        ["=1+1", "+1", "-1+1", "@SUM(A1)", "=HYPERLINK(\"http://evil.example\",\"x\")", "a\",\"b\r\nc"];
    for text in evil {
        let request = pix(10_027)
            .with("externalReference", json!(text))
            .with("paymentDetails.firstName", json!("=cmd|'/C calc'!A0"));
        let answer = client.post("/pay/payments", &request);
        assert_eq!(answer.status, if text.contains('\n') { 422 } else { 201 }, "{answer}");
    }
    client.create(&boleto(10_027).with("externalReference", json!("Zé; \"o bom\", e só")));
    let answer = visitor.get("/console/test/payments.csv?method=PIX&status=pending");
    assert_eq!(answer.status, 200, "{answer}");
    assert_eq!(answer.header("content-type"), Some("text/csv; charset=utf-8"));
    assert_eq!(answer.header("content-disposition"), Some("attachment; filename=\"quita-test.csv\""));
    let lines = cells(&answer.text());
    assert_eq!(lines.len(), 6, "{lines:#?}");
    assert_eq!(lines[0][..3], ["transactionId", "externalReference", "status"]);
    for (line, text) in lines[1..].iter().zip(evil[..5].iter().rev()) {
        assert_eq!((line.len(), &line[1], &*line[2]), (15, &format!("'{text}"), "pending"));
        assert!(line.iter().all(|cell| !cell.starts_with(['=', '+', '-', '@', '\t', '\r'])), "{line:?}");
    }
    let boletos = cells(&visitor.get("/console/test/payments.csv?method=BOLETO").text());
    assert_eq!((boletos.len(), &*boletos[1][1]), (2, "Zé; \"o bom\", e só"));
    assert_eq!(cells(&visitor.get("/console/live/payments.csv").text()).len(), 1);
}

#[test]
fn the_audit_log_keeps_nothing_of_whom_an_export_was_for() {
    let app = TestApp::new();
    let owner = Visitor::signed_in(&app, &Account::create(&app, "shop", "ana@shop.example", "owner"));
    let email = "maria.secreta@example.com";
    app.client().create(&pix(10_027).with("paymentDetails.email", json!(email)));
    for (searched, told) in [
        ("529.982.247-25", "test by document status=pending"),
        (email, "test by email status=pending"),
        ("pedido-secreto", "test by reference status=pending"),
    ] {
        let query = form(&[("q", searched), ("status", "pending")]);
        let answer = owner.get(&format!("/console/test/payments.csv?{query}"));
        assert_eq!(answer.status, 200, "{answer}");
        let log = owner.page("/console/test/audit");
        assert!(log.contains(told), "{told}: {log}");
        assert!(!log.contains(searched) && !log.contains("52998224725"), "{log}");
    }
    let refused = owner.get(&format!("/console/test/payments.csv?to=never&q={}", "a".repeat(255)));
    assert_eq!(refused.status, 422, "{refused}");
    let told = "Nothing was exported, because this could not be read: search, created to";
    assert!(refused.text().contains(told), "{refused}");
}

#[test]
fn an_export_goes_on_beyond_a_page() {
    let app = TestApp::new();
    let visitor = Visitor::signed_in(&app, &Account::create(&app, "shop", "ana@shop.example", "developer"));
    std::thread::scope(|scope| {
        for thread in 0..8 {
            let client = app.client();
            scope.spawn(move || {
                (thread..MORE_THAN_A_PAGE).step_by(8).for_each(|_| drop(client.create(&pix(10_027))))
            });
        }
    });
    let lines = cells(&visitor.get("/console/test/payments.csv").text());
    let ids: std::collections::BTreeSet<_> = lines[1..].iter().map(|line| &line[0]).collect();
    assert_eq!((lines.len(), ids.len()), (MORE_THAN_A_PAGE + 1, MORE_THAN_A_PAGE));
}

/// Function that ends the session of a reader, who has this account.
type End<'a> = &'a dyn Fn(&Visitor, &Account);

/// A download of which nobody has read anything but the beginning.
struct Begun(TcpStream);

impl Begun {
    fn open(app: &TestApp, visitor: &Visitor) -> Self {
        let mut stream = TcpStream::connect(app.address()).unwrap();
        let host = app.address();
        let cookies = visitor.cookie_header();
        let request = format!(
            "GET /console/test/payments.csv HTTP/1.1\r\nHost: {host}\r\nAccept-Language: en\r\nCookie: {cookies}\r\nConnection: close\r\n\r\n"
        );
        stream.write_all(request.as_bytes()).unwrap();
        stream.set_read_timeout(Some(PATIENCE)).unwrap();
        let mut beginning = [0; 12];
        stream.read_exact(&mut beginning).unwrap();
        assert!(beginning.ends_with(b"200"), "{beginning:?}");
        Self(stream)
    }

    /// Reads what is left: how many payments, and whether the answer ended as a whole one does.
    fn finish(mut self) -> (usize, bool) {
        let mut rest = Vec::new();
        // Broken off, perhaps with a reset.
        drop(self.0.read_to_end(&mut rest));
        let lines = rest.windows(9).filter(|bytes| *bytes == b",pending,").count();
        (lines, rest.ends_with(b"\r\n0\r\n\r\n"))
    }
}

#[test]
fn an_export_under_way_ends_with_the_session_of_its_reader() {
    let app = TestApp::new();
    let owner = Visitor::signed_in(&app, &Account::create(&app, "shop", "ana@shop.example", "owner"));
    let long = |count: usize| "\u{1d100}".repeat(count);
    let request = pix(10_027)
        .with("paymentDetails.firstName", json!(long(60)))
        .with("externalReference", json!(long(50)));
    let record = app.client().create(&request);
    copy_payment(app.store_url(), record["transactionId"].as_str().unwrap(), MORE_THAN_IS_ON_ITS_WAY - 1);
    let hire = |email: &str| Account::create(&app, "shop", email, "developer");
    let ends: [(&str, End<'_>); 4] = [
        ("signs-out", &|reader, _| {
            assert_eq!(reader.post("/console/sign-out", &[]).status, 303);
        }),
        ("changes-the-password", &|reader, account| {
            let fields = [("current", account.password.as_str()), ("new", "a quite other sentence")];
            assert_eq!(reader.post("/console/test/account/password", &fields).status, 303);
        }),
        ("becomes-a-viewer", &|_, account| {
            let path = format!("/console/test/people/{}/role", account.email.replace('@', "%40"));
            assert_eq!(owner.post(&path, &[("role", "viewer")]).status, 303);
        }),
        ("is-removed", &|_, account| {
            let path = format!("/console/test/people/{}/remove", account.email.replace('@', "%40"));
            assert_eq!(owner.post(&path, &[]).status, 303);
        }),
    ];
    for (what, end) in ends {
        let account = hire(&format!("{what}@shop.example"));
        let reader = Visitor::signed_in(&app, &account);
        let begun = Begun::open(&app, &reader);
        end(&reader, &account);
        let (lines, is_whole) = begun.finish();
        assert!(!is_whole && lines < MORE_THAN_IS_ON_ITS_WAY, "{what}: {lines} lines");
    }
    let (lines, is_whole) = Begun::open(&app, &owner).finish();
    assert_eq!((lines, is_whole), (MORE_THAN_IS_ON_ITS_WAY, true), "who is signed in gets all");
}
