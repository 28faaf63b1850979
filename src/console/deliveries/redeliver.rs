//! Delivering again everything that was given up since a time.

use actix_web::HttpResponse;
use actix_web::http::header::LOCATION;
use actix_web::web::{Data, Query};
use askama::Template;
use chrono::NaiveDateTime;
use quita_actors::Denied;
use quita_domain::audit::AuditAction;
use quita_domain::delivery::DeliveryState;
use quita_domain::identity::Mode;
use quita_domain::listing::Cursor;
use quita_domain::payment::Payment;
use quita_domain::people::Permission;
use quita_domain::time::Timestamp;
use serde::Deserialize;

use super::filter;
use crate::console::Console;
use crate::console::failure::Failure;
use crate::console::frame::{Frame, Section};
use crate::console::mode::InMode;
use crate::console::place;
use crate::console::visitor::{PaymentChange, Visitor};

/// Events delivered again by one click.
const MOST_AT_ONCE: usize = 1_000;
/// Payments read at once, and how often for one click.
const READ: usize = 200;
const READS: usize = 50;
/// How far back the form suggests.
const SUGGESTED_MS: i64 = 24 * 3_600_000;

#[derive(Template)]
#[template(path = "console/redeliver.html")]
struct RedeliverPage {
    frame: Frame,
    since: String,
    /// Where an earlier click ended.
    cursor: String,
    most: String,
}

/// Where an earlier click ended, if there was one.
#[derive(Deserialize)]
pub(crate) struct Wanted {
    #[serde(default)]
    since: String,
    #[serde(default)]
    rest: String,
}

/// `GET /console/{mode}/deliveries/redeliver`
pub(crate) async fn ask(
    visitor: Visitor,
    InMode(mode): InMode,
    console: Data<Console>,
    wanted: Query<Wanted>,
) -> Result<HttpResponse, Failure> {
    visitor.must(Permission::ChangePayments)?;
    let frame = visitor.frame(mode, Section::Deliveries);
    let a_day_ago = Timestamp::from_millis(console.clock.now().millis().saturating_sub(SUGGESTED_MS));
    let since = read_time(&wanted.since).unwrap_or(a_day_ago);
    let most = frame.language().count(u64::try_from(MOST_AT_ONCE).unwrap_or_default());
    let cursor = Cursor::parse(&wanted.rest).map(|cursor| cursor.to_string()).unwrap_or_default();
    let page = RedeliverPage { since: frame.language().time_field(since), cursor, most, frame };
    Ok(HttpResponse::Ok().content_type("text/html; charset=utf-8").body(page.render()?))
}

/// `POST /console/{mode}/deliveries/redeliver`
pub(crate) async fn act(
    change: PaymentChange,
    InMode(mode): InMode,
    console: Data<Console>,
) -> Result<HttpResponse, Failure> {
    let PaymentChange { visitor, form } = change;
    let since = form.text("since");
    let texts = &place::current().texts().deliveries;
    let at = read_time(since).ok_or_else(|| Failure::Unreadable(texts.bad_time.into()))?;
    let from = Cursor::parse(form.text("cursor"));
    let (count, rest) = redeliver_since((&visitor, mode), &console, at, from).await?;
    let deed = visitor.deed(AuditAction::EventsRedelivered, mode.as_str());
    console.audit.note(&visitor.doer(), deed.after(format!("{count} since {at}"))).await;
    let rest = rest.map(|cursor| format!("&since={since}&rest={cursor}")).unwrap_or_default();
    let address = format!("/console/{}/deliveries?redelivered={count}{rest}", mode.as_str());
    Ok(HttpResponse::SeeOther().insert_header((LOCATION, address)).finish())
}

/// What was done, in words.
pub(super) fn told(frame: &Frame, count: usize) -> String {
    let count = frame.language().count(u64::try_from(count).unwrap_or(u64::MAX));
    frame.texts.deliveries.redelivered.replace("{count}", &count)
}

/// Reads what a field for a date and a time holds, in Brasília's time.
fn read_time(text: &str) -> Option<Timestamp> {
    let forms = ["%Y-%m-%dT%H:%M", "%Y-%m-%dT%H:%M:%S"];
    let local = forms.iter().find_map(|form| NaiveDateTime::parse_from_str(text, form).ok())?;
    Timestamp::parse(&format!("{}-03:00", local.format("%Y-%m-%dT%H:%M:%S")))
}

/// How many events are delivered again, and where to go on if there may be more.
async fn redeliver_since(
    (visitor, mode): (&Visitor, Mode),
    console: &Console,
    since: Timestamp,
    mut after: Option<Cursor>,
) -> Result<(usize, Option<Cursor>), Failure> {
    let filter = filter(visitor, mode, Some(DeliveryState::Exhausted));
    let mut count = 0_usize;
    for _ in 0..READS {
        let payments = console.edge.payments.list_with_deliveries(&filter, after, READ).await?;
        for payment in &payments {
            if count >= MOST_AT_ONCE {
                return Ok((count, after));
            }
            for index in given_up(payment, since) {
                match console.edge.payments.redeliver(payment.id, visitor.owner(mode), index).await {
                    Ok(_) => count = count.saturating_add(1),
                    // It holds as many deliveries as it can; the others need not wait for it.
                    Err(Denied::Refused(_)) => {}
                    // What was done is told; the next click goes on from there.
                    Err(_) if count > 0 => return Ok((count, after)),
                    Err(denied) => return Err(denied.into()),
                }
            }
            after = Some(Cursor { created_at: payment.created_at, id: payment.id });
        }
        if payments.len() < READ {
            return Ok((count, None));
        }
    }
    Ok((count, after))
}

/// The exhausted deliveries of events since then that no later delivery of the same event makes up for.
fn given_up(payment: &Payment, since: Timestamp) -> Vec<u32> {
    let repeated = |index: u32, sequence: u32| {
        let later =
            payment.outbox.iter().skip(usize::try_from(index).unwrap_or(usize::MAX).saturating_add(1));
        later.clone().any(|other| other.sequence == sequence)
    };
    let is_recent = |sequence| payment.event(sequence).is_some_and(|event| event.occurred_at >= since);
    let numbered = payment.outbox.iter().enumerate();
    numbered
        .filter(|(_, delivery)| delivery.state == DeliveryState::Exhausted && is_recent(delivery.sequence))
        .filter_map(|(index, delivery)| Some((u32::try_from(index).ok()?, delivery.sequence)))
        .filter(|(index, sequence)| !repeated(*index, *sequence))
        .map(|(index, _)| index)
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_time_is_brasilia_s_with_or_without_seconds() {
        let expected = Timestamp::parse("2026-11-21T15:30:00Z");
        for text in ["2026-11-21T12:30", "2026-11-21T12:30:00"] {
            assert_eq!(read_time(text), expected, "{text}");
        }
        for text in ["", "2026-11-21", "12:30", "2026-13-01T00:00"] {
            assert_eq!(read_time(text), None, "{text}");
        }
    }
}
