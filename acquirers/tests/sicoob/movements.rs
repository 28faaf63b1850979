//! Movements of a day as the list for reconciliation.

use quita_domain::acquiring::CallFailure;
use quita_domain::reconciliation::{LineKind, LineSubject, MARGIN_MS, StatementLine};
use quita_domain::time::Timestamp;
use quita_ports::{AcquirerFactory as _, ListPage, ListPart, ListReader, PageCursor, Period};
use serde_json::json;

use crate::world::{NUMBER, World, charge, spec};

/// The period of the day on which charges are made here.
fn period() -> Period {
    let start = Timestamp::parse("2026-11-23T03:00:00Z").unwrap();
    Period { from: start.minus_ms(MARGIN_MS), until: start.plus_ms(24 * 3_600_000 + MARGIN_MS) }
}

/// Two boletos, of which the second was paid twice.
async fn paid() -> World {
    let world = World::with(json!({ "recordsInFile": 2 }));
    for number in [NUMBER, NUMBER + 1] {
        let mut charge = charge();
        charge.query.our_number = Some(number);
        world.adapter().charge(&charge).await;
        world.tell(json!({ "do": "pay", "number": number }));
    }
    world.tell(json!({ "do": "pay_anyway", "number": NUMBER + 1, "by": "pix" }));
    world
}

async fn all(reader: &dyn ListReader) -> Result<Vec<ListPage>, CallFailure> {
    let mut pages = Vec::new();
    let mut next = Some(PageCursor::default());
    while let Some(cursor) = next {
        let page = reader.page(ListPart::All, period(), &cursor).await?;
        next = page.next.clone();
        pages.push(page);
    }
    Ok(pages)
}

fn lines(pages: &[ListPage]) -> Vec<&StatementLine> {
    pages.iter().flat_map(|page| &page.lines).collect()
}

#[tokio::test(start_paused = true)]
async fn every_settlement_of_the_day_is_a_line_with_its_sums() {
    let world = paid().await;
    let pages = all(world.factory().lists().unwrap().as_ref()).await.unwrap();
    let counts: Vec<_> = pages.iter().map(|page| (page.entries, page.total, page.next.is_none())).collect();
    assert_eq!(counts, [(2, Some(3), false), (1, Some(3), true)]);
    let told: Vec<_> = lines(&pages)
        .iter()
        .map(|line| {
            (
                line.kind,
                line.reference.as_deref().unwrap(),
                line.gross.cents(),
                line.fee.unwrap().cents(),
                line.net.unwrap().cents(),
            )
        })
        .collect();
    let kind = LineKind::Boleto;
    let expected = [
        (kind, "4242", 10_010, 75, 9_935),
        (kind, "4243", 10_010, 75, 9_935),
        (kind, "4243", 10_010, 75, 9_935),
    ];
    assert_eq!(told, expected);
    let first = lines(&pages)[0];
    assert_eq!((first.on.to_string().as_str(), first.day), ("2026-11-23", first.on));
    assert_eq!(first.expected_on(), first.on.succ_opt(), "the day of the credit");
    let LineSubject::Boleto { bank, our_number, .. } = &first.subject else { panic!("{first:?}") };
    assert_eq!((bank.as_str(), our_number.as_deref()), ("756", Some("4242")));
    let ids: std::collections::BTreeSet<_> = lines(&pages).iter().map(|line| line.id.clone()).collect();
    assert_eq!(ids.len(), 3);
    let again = all(world.factory().lists().unwrap().as_ref()).await.unwrap();
    let ids_again: std::collections::BTreeSet<_> = lines(&again).iter().map(|line| line.id.clone()).collect();
    assert_eq!(ids, ids_again, "a line that is read twice is one line");
}

#[tokio::test(start_paused = true)]
async fn settlements_that_say_the_same_are_two_lines_in_whatever_files_they_stand() {
    let mut known = None;
    for records in [1, 2, 3] {
        let world = World::with(json!({ "recordsInFile": records }));
        world.adapter().charge(&charge()).await;
        for _ in 0..3 {
            world.tell(json!({ "do": "pay_anyway", "number": NUMBER }));
        }
        let reader = world.factory().lists().unwrap();
        let pages = all(reader.as_ref()).await.unwrap();
        let ids: std::collections::BTreeSet<_> = lines(&pages).iter().map(|line| line.id.clone()).collect();
        assert_eq!(ids.len(), 3, "{ids:?}");
        assert_eq!(*known.get_or_insert_with(|| ids.clone()), ids);
    }
    let world = World::with(json!({ "recordsInFile": 1 }));
    world.adapter().charge(&charge()).await;
    world.tell(json!({ "do": "pay_anyway", "number": NUMBER }));
    world.tell(json!({ "do": "pay_anyway", "number": NUMBER }));
    let reader = world.factory().lists().unwrap();
    let from_the_middle = reader.page(ListPart::All, period(), &PageCursor::default().next(None)).await;
    assert!(matches!(from_the_middle, Err(CallFailure::Unknown(_))), "{from_the_middle:?}");
}

#[tokio::test(start_paused = true)]
async fn a_list_that_is_not_ready_is_waited_for_and_ordered_once() {
    let world = paid().await;
    world.tell(json!({ "do": "set", "config": { "movementsAfterMs": 60_000 } }));
    let factory = world.factory();
    assert!(matches!(all(factory.lists().unwrap().as_ref()).await, Err(CallFailure::Unknown(_))));
    world.pass_ms(60_000);
    assert_eq!(lines(&all(factory.lists().unwrap().as_ref()).await.unwrap()).len(), 3);
    assert_eq!(orders(&world), 1);
    world.tell(json!({ "do": "set", "config": { "movementsAfterMs": 0 } }));
    all(factory.lists().unwrap().as_ref()).await.unwrap();
    assert_eq!(orders(&world), 2, "what was read to its end is ordered anew");
}

fn orders(world: &World) -> usize {
    world.sent().iter().filter(|what| *what == "POST /boletos/movimentacoes").count()
}

#[tokio::test(start_paused = true)]
async fn an_order_whose_file_cannot_be_read_is_made_anew() {
    let world = paid().await;
    let factory = world.factory();
    let reader = factory.lists().unwrap();
    reader.page(ListPart::All, period(), &PageCursor::default()).await.unwrap();
    world.strike(json!([{ "fault": "error-before", "status": 400 }]));
    reader.page(ListPart::All, period(), &PageCursor::default().next(None)).await.unwrap_err();
    assert_eq!(orders(&world), 1);
    assert_eq!(lines(&all(reader.as_ref()).await.unwrap()).len(), 3);
    assert_eq!(orders(&world), 2);
}

#[tokio::test(start_paused = true)]
async fn orders_of_two_days_wait_side_by_side() {
    let world = paid().await;
    world.tell(json!({ "do": "set", "config": { "movementsAfterMs": 60_000 } }));
    let reader = world.factory().lists().unwrap();
    let Period { from, until } = period();
    let before = Period { from: from.minus_ms(24 * 3_600_000), until: until.minus_ms(24 * 3_600_000) };
    for period in [before, period(), before, period()] {
        reader.page(ListPart::All, period, &PageCursor::default()).await.unwrap_err();
    }
    assert_eq!(orders(&world), 2, "one for each day");
}

#[tokio::test(start_paused = true)]
async fn a_day_without_movements_has_an_empty_list_and_nothing_is_ever_given_back() {
    let world = World::open();
    let reader = world.factory().lists().unwrap();
    let pages = all(reader.as_ref()).await.unwrap();
    assert_eq!((pages.len(), pages[0].entries, pages[0].total), (1, 0, Some(0)));
    assert!(!reader.has_returned());
    assert!(world.factory_with(|settings| settings.lists = false).lists().is_none());
    assert_eq!(spec().name.as_str(), "sicoob");
}
