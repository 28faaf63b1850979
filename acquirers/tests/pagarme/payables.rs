use std::rc::Rc;

use quita_banks::pagarme::{Config, PagesEnd};
use quita_domain::acquiring::{CallFailure, Identified, Reference};
use quita_domain::identity::TransactionId;
use quita_domain::method::Method;
use quita_domain::reconciliation::{LineKind, StatementLine};
use quita_domain::time::Timestamp;
use quita_ports::{AcquirerFactory as _, ListPart, ListReader, PageCursor, Period};
use serde_json::json;
use uuid::Uuid;

use crate::payment::*;
use crate::there::There;

fn list(there: &There) -> Rc<dyn ListReader> {
    factory(settings(), there.factory()).lists().unwrap()
}

fn day() -> Period {
    let at = |text| Timestamp::parse(text).unwrap();
    Period { from: at("2026-11-21T03:00:00Z"), until: at("2026-11-22T02:59:59Z") }
}

async fn lines(there: &There) -> Vec<StatementLine> {
    let list = list(there);
    let mut found = Vec::new();
    let mut next = Some(PageCursor::default());
    while let Some(cursor) = next {
        let page = list.page(ListPart::All, day(), &cursor).await.unwrap();
        assert_eq!(page.entries, u64::try_from(page.lines.len()).unwrap());
        next = page.next;
        found.extend(page.lines);
    }
    found
}

fn told(lines: &[StatementLine]) -> Vec<(LineKind, Option<u32>, String, String, String)> {
    let text = |line: &StatementLine| {
        let charge = line.charge().unwrap();
        let gross = line.signed_gross();
        let fee = line.fee.unwrap();
        let net = line.net.unwrap();
        (line.kind, charge.instalment, gross.to_string(), fee.to_string(), net.to_string())
    };
    let mut told: Vec<_> = lines.iter().map(text).collect();
    told.sort();
    told
}

#[tokio::test(start_paused = true)]
async fn each_instalment_is_a_receivable_and_what_goes_back_is_negative() {
    let there = There::open();
    there.made(&charge(Method::CreditCard, 10_000)).await;
    there.control(json!({ "do": "cancel", "charge": CODE, "amountCents": 1_000 }));
    there.control(json!({ "do": "chargeback", "charge": CODE, "amountCents": 2_000 }));
    there.control(json!({ "do": "win", "charge": CODE }));
    there.control(json!({ "do": "adjust", "amountCents": -700 }));
    let lines = lines(&there).await;
    let line = |kind, number, gross: &str, fee: &str, net: &str| {
        (kind, number, gross.to_owned(), fee.to_owned(), net.to_owned())
    };
    let expected = [
        line(LineKind::Receivable, Some(1), "20.00", "0.00", "20.00"),
        line(LineKind::Receivable, Some(1), "33.34", "1.33", "32.01"),
        line(LineKind::Receivable, Some(2), "33.33", "1.33", "32.00"),
        line(LineKind::Receivable, Some(3), "33.33", "1.33", "32.00"),
        line(LineKind::Refund, Some(1), "-10.00", "0.00", "-10.00"),
        line(LineKind::Chargeback, Some(1), "-20.00", "0.00", "-20.00"),
        line(LineKind::Other, None, "-7.00", "0.00", "-7.00"),
    ];
    assert_eq!(told(&lines), expected);
    let charge_id = there.only().charge_id;
    let first = lines.iter().find(|line| line.charge().unwrap().instalment == Some(2)).unwrap();
    assert_eq!(first.reference.as_deref(), Some(charge_id.as_str()));
    assert_eq!(first.on.to_string(), "2026-11-21");
    let subject = first.charge().unwrap();
    assert_eq!(subject.charge.get("chargeId"), Some(charge_id.as_str()));
    let expected_on = subject.expected_on.map(|day| day.to_string());
    assert_eq!(
        (expected_on.as_deref(), subject.paid_out_on, subject.is_own),
        (Some("2027-01-20"), None, true)
    );
    let account = lines.iter().find(|line| line.kind == LineKind::Other).unwrap();
    assert_eq!((account.charge().unwrap().name(), account.added_up_with()), (None, None));
}

#[tokio::test(start_paused = true)]
async fn an_anticipated_instalment_costs_more_and_was_paid_out() {
    let there = There::open();
    there.made(&charge(Method::CreditCard, 9_000)).await;
    there.control(json!({ "do": "anticipate", "charge": CODE, "feeCents": 50 }));
    let lines = lines(&there).await;
    assert_eq!(lines.len(), 3);
    for line in &lines {
        let charge = line.charge().unwrap();
        assert_eq!(line.fee.unwrap().cents(), 119 + if charge.instalment == Some(1) { 2 } else { 0 } + 50);
        assert_eq!(charge.paid_out_on.map(|day| day.to_string()).as_deref(), Some("2026-11-21"));
        assert_eq!(charge.expected_on, None);
    }
}

#[tokio::test(start_paused = true)]
async fn lines_of_another_recipient_are_not_the_accounts_own() {
    let there = There::open();
    let split = quita_domain::order::Split {
        recipient_id: "loja-a".into(),
        share: quita_domain::order::Share::BasisPoints(2_500),
    };
    there.made(&changed(Method::Pix, 10_000, |order| order.splits = vec![split])).await;
    there.control(json!({ "do": "pay", "charge": CODE }));
    let mut told: Vec<_> = lines(&there)
        .await
        .iter()
        .map(|line| (line.charge().unwrap().is_own, line.gross.cents(), line.fee.unwrap().cents()))
        .collect();
    told.sort_unstable();
    assert_eq!(told, [(false, 2_500, 0), (true, 7_500, 119)]);
}

#[tokio::test(start_paused = true)]
async fn pages_are_followed_by_their_cursors() {
    for end in [PagesEnd::Null, PagesEnd::Repeated] {
        let there = There::at(Config { page_size: 2, payables_end: end, ..Config::default() });
        there.made(&charge(Method::CreditCard, 9_000)).await;
        let list = list(&there);
        let first = list.page(ListPart::All, day(), &PageCursor::default()).await.unwrap();
        let next = first.next.unwrap();
        assert_eq!((next.number, next.name.as_deref()), (1, Some("c2")));
        let last = list.page(ListPart::All, day(), &next).await.unwrap();
        let repeated = (end == PagesEnd::Repeated).then(|| String::from("c2"));
        assert_eq!((last.lines.len(), last.next.and_then(|next| next.name)), (1, repeated));
    }
}

#[tokio::test(start_paused = true)]
async fn a_charge_is_asked_for_with_all_its_lines_and_its_payment() {
    let there = There::at(Config { page_size: 2, ..Config::default() });
    there.made(&charge(Method::CreditCard, 9_000)).await;
    let list = list(&there);
    let charges = list.charges().unwrap();
    let reference = Reference::none().with(charges.name(), &there.only().charge_id);
    assert_eq!(charges.lines_of(&reference).await.unwrap().len(), 3);
    let payment = TransactionId::new(Uuid::from_u128(ID));
    assert_eq!(charges.identify(&reference).await, Identified::Payment(payment));
    let nobodys = Reference::none().with(charges.name(), "ch_nobodys");
    assert_eq!(charges.identify(&nobodys).await, Identified::NotFound);
    assert_eq!(charges.lines_of(&nobodys).await, Ok(Vec::new()));
}

#[tokio::test(start_paused = true)]
async fn a_page_that_cannot_be_had_is_no_empty_one() {
    let there = There::open();
    there.made(&charge(Method::CreditCard, 9_000)).await;
    for fault in [
        json!({ "fault": "error-before", "status": 404 }),
        json!({ "fault": "error-before", "status": 400 }),
        json!({ "fault": "unreadable" }),
        json!({ "fault": "reset-before" }),
    ] {
        there.strike(json!([fault]));
        let page = list(&there).page(ListPart::All, day(), &PageCursor::default()).await;
        assert!(matches!(page, Err(CallFailure::Unknown(_))), "{fault}: {page:?}");
    }
}

#[tokio::test(start_paused = true)]
async fn without_lists_there_is_no_reader_and_a_paid_card_is_looked_at() {
    let there = There::open();
    let settings = quita_acquirers::pagarme::settings::PagarmeSettings { lists: false, ..settings() };
    let without = factory(settings, there.factory());
    assert!(without.lists().is_none() && without.looks_at_paid(Method::CreditCard));
    without.ask_something_unknown().await.unwrap();
    assert_eq!(there.left(), ["GET /orders"]);
    let with = factory(crate::payment::settings(), there.factory());
    assert!(!with.looks_at_paid(Method::CreditCard));
    with.ask_something_unknown().await.unwrap();
    assert_eq!(there.left()[1..], ["GET /orders", "GET /payables"]);
    there.strike(json!([null, { "fault": "error-before", "status": 403 }]));
    with.ask_something_unknown().await.unwrap_err();
}
