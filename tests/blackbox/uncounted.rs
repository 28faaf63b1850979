//! Numbers that can't be counted are unknown, and neither zero nor green.

use std::time::Duration;

use mongodb::bson::doc;
use serde_json::json;

use crate::support::fail_point::{MAX_TIME_EXPIRED, refuse};
use crate::support::{Edit, TestApp, TestReceiver, Visitor, block_on, eventually, pix, take_fail_point};

/// A count holds for twenty seconds, and the page is read until then.
const UNKNOWN_WITHIN: Duration = Duration::from_secs(60);

/// The light of a tile of the operators' home, and its number.
fn tile(page: &str, name: &str) -> (String, String) {
    let tiles = page.split("<div class=\"tile tile-").skip(1);
    let mut named = tiles.filter(|tile| tile.contains(&format!(">{name}</a></h2>")));
    let tile = named.next().unwrap_or_else(|| panic!("{name}: {page}"));
    let (light, _) = tile.split_once('"').unwrap();
    let (_, value) = tile.split_once("<p class=\"value\">").unwrap();
    (light.to_owned(), value.split_once('<').unwrap().0.to_owned())
}

fn told(app: &TestApp) -> usize {
    app.log().lines().filter(|line| line.contains("could not be counted; they are unknown")).count()
}

const BACKLOGS: [&str; 3] = ["Overdue", "Unprocessed notices", "Unconfirmed webhooks"];

#[test]
fn backlogs_that_can_not_be_counted_are_unknown_and_told_once() {
    let Some(point) = take_fail_point() else { return };
    let mut app = TestApp::builder().store_failing_at(&point).start();
    let receiver = TestReceiver::start();
    receiver.answer(500);
    for _ in 0..3 {
        app.client().create(&pix(10_027).with("postbackUrl", json!(receiver.url())));
    }
    let operator = Visitor::operator(&app);
    let shown = |operator: &Visitor| {
        let page = operator.page("/");
        BACKLOGS.map(|name| tile(&page, name))
    };
    eventually(UNKNOWN_WITHIN, "what waits is counted", || {
        (shown(&operator)[2] == ("well".into(), "3".into())).then_some(())
    });
    block_on(point.fail_on(&["aggregate", "count"], &refuse(MAX_TIME_EXPIRED)));
    let unknown = ("unknown".to_owned(), "Unknown".to_owned());
    let are_unknown = |operator: &Visitor| {
        eventually(UNKNOWN_WITHIN, "what can't be counted is unknown", || {
            shown(operator).iter().all(|tile| *tile == unknown).then_some(())
        });
    };
    are_unknown(&operator);
    eventually(UNKNOWN_WITHIN, "it is told", || told(&app).eq(&1).then_some(()));
    app.restart();
    let operator = Visitor::operator(&app);
    are_unknown(&operator);
    let metrics = app.ops().get("/metrics").text();
    assert!(metrics.contains("quita_backlog_counted_timestamp_seconds 0\n"), "{metrics}");
    eventually(UNKNOWN_WITHIN, "it is told once in each process", || told(&app).eq(&2).then_some(()));
    block_on(point.heal());
    eventually(UNKNOWN_WITHIN, "what waits is counted again", || {
        (shown(&operator)[2] == ("well".into(), "3".into())).then_some(())
    });
    assert!(app.log().contains("the backlogs are counted again"), "{}", app.log());
}

#[test]
fn exceptions_that_can_not_be_listed_are_unknown_and_not_none() {
    let Some(point) = take_fail_point() else { return };
    let app = TestApp::builder().store_failing_at(&point).start();
    let operator = Visitor::operator(&app);
    let shown = || tile(&operator.page("/"), "Open exceptions");
    eventually(UNKNOWN_WITHIN, "they are counted", || (shown() == ("well".into(), "0".into())).then_some(()));
    let (_, after) = app.store_url().rsplit_once('/').unwrap();
    let database = after.split('?').next().unwrap();
    let mut how = refuse(MAX_TIME_EXPIRED);
    how.extend(doc! { "namespace": format!("{database}.exceptions") });
    block_on(point.fail_on(&["find", "aggregate"], &how));
    eventually(UNKNOWN_WITHIN, "what can't be listed is unknown", || {
        (shown() == ("unknown".into(), "Unknown".into())).then_some(())
    });
    block_on(point.heal());
    eventually(UNKNOWN_WITHIN, "they are counted again", || {
        (shown() == ("well".into(), "0".into())).then_some(())
    });
}
