//! Redelivery of everything given up since a given time, to every receiver or to one.

mod given_up;

use actix_web::HttpResponse;
use actix_web::web::{Data, Query};
use askama::Template;
use chrono::{NaiveDateTime, Timelike};
use quita_domain::audit::AuditAction;
use quita_domain::listing::Cursor;
use quita_domain::people::Permission;
use quita_domain::time::Timestamp;
use quita_domain::webhook::address::receiver_of;
use serde::Deserialize;
use url::form_urlencoded;

use crate::console::kit::answer::{html, see_other};
use crate::console::kit::form::Form;
use crate::console::kit::page_error::PageError;
use crate::console::merchant::MerchantConsole;
use crate::console::merchant::frame::{MerchantFrame, MerchantSection};
use crate::console::merchant::mode::{InMode, base_of};
use crate::console::merchant::texts::MerchantTexts;
use crate::console::merchant::visitor::{PaymentChange, Visitor};
use given_up::{Chosen, MOST_AT_ONCE, Redelivered};

/// Period that the form suggests, and the unit to which its start is rounded.
const SUGGESTED_MS: i64 = 24 * 3_600_000;
const MINUTE_MS: i64 = 60_000;
/// Maximum number of characters of a host and its port (RFC 1035, section 2.3.4).
const MAX_RECEIVER_CHARACTERS: usize = 253 + ":65535".len();

#[derive(Template)]
#[template(path = "console/merchant/redeliver.html")]
struct RedeliverPage {
    frame: MerchantFrame,
    since: String,
    receiver: String,
    max_receiver_characters: usize,
    /// Cursor at which an earlier click ended.
    cursor: String,
    most: String,
}

/// Query parameters of the form: its defaults, and the cursor of an earlier click.
#[derive(Deserialize)]
pub(crate) struct RedeliverQuery {
    #[serde(default)]
    since: String,
    #[serde(default)]
    receiver: String,
    #[serde(default)]
    rest: String,
}

/// Handles `GET /console/{mode}/deliveries/redeliver`.
pub(crate) async fn ask(
    visitor: Visitor,
    InMode(mode): InMode,
    console: Data<MerchantConsole>,
    wanted: Query<RedeliverQuery>,
) -> Result<HttpResponse, PageError> {
    visitor.must(Permission::ChangePayments)?;
    let frame = visitor.frame(mode, MerchantSection::Deliveries);
    let page = RedeliverPage {
        since: field_of(read_time(&wanted.since).unwrap_or_else(|| a_day_before(console.clock.now()))),
        receiver: wanted.receiver.clone(),
        max_receiver_characters: MAX_RECEIVER_CHARACTERS,
        cursor: Cursor::parse(&wanted.rest).map(|cursor| cursor.to_string()).unwrap_or_default(),
        most: frame.language().count(u64::try_from(MOST_AT_ONCE).unwrap_or_default()),
        frame,
    };
    html(&page)
}

fn a_day_before(now: Timestamp) -> Timestamp {
    let at = now.millis().saturating_sub(SUGGESTED_MS);
    Timestamp::from_millis(at.saturating_sub(at.rem_euclid(MINUTE_MS)))
}

/// Handles `POST /console/{mode}/deliveries/redeliver`.
pub(crate) async fn act(
    change: PaymentChange,
    InMode(mode): InMode,
    console: Data<MerchantConsole>,
) -> Result<HttpResponse, PageError> {
    let PaymentChange { visitor, form } = change;
    let texts = &MerchantTexts::current().deliveries;
    let since = read_time(form.text("since")).ok_or_else(|| PageError::Unreadable(texts.bad_time.into()))?;
    let chosen = Chosen { owner: visitor.owner(mode), since, receiver: read_receiver(&form)? };
    let done = chosen.redeliver(&console, Cursor::parse(form.text("cursor"))).await?;
    let draft = visitor.draft(AuditAction::EventsRedelivered, mode.as_str());
    console.audit.note(&visitor.initiator(), draft.after(chosen.audit_summary(&done))).await;
    let Redelivered { count, after, has_more, denied } = done;
    if let Some(denied) = denied.filter(|denied| count == 0 && (denied.is_transient() || !has_more)) {
        return Err(denied.into());
    }
    let rest = has_more.then(|| query_of(since, chosen.receiver.as_deref().unwrap_or_default(), after));
    let rest = rest.map(|query| format!("&{query}")).unwrap_or_default();
    Ok(see_other(format!("{}/deliveries?redelivered={count}{rest}", base_of(mode))))
}

/// Returns the confirmation of a redelivery.
pub(super) fn notice(frame: &MerchantFrame, count: usize) -> String {
    let count = frame.language().count(u64::try_from(count).unwrap_or(u64::MAX));
    frame.texts.deliveries.redelivered.replace("{count}", &count)
}

/// Returns the query for continuing a redelivery.
pub(super) fn query_of(since: Timestamp, receiver: &str, after: Option<Cursor>) -> String {
    form_urlencoded::Serializer::new(String::new())
        .append_pair("since", &field_of(since))
        .append_pair("receiver", receiver)
        .append_pair("rest", &after.map(|cursor| cursor.to_string()).unwrap_or_default())
        .finish()
}

/// Parses the value of a date and time field, in Brasília's time zone.
pub(super) fn read_time(text: &str) -> Option<Timestamp> {
    let forms = ["%Y-%m-%dT%H:%M", "%Y-%m-%dT%H:%M:%S"];
    let local = forms.iter().find_map(|form| NaiveDateTime::parse_from_str(text, form).ok())?;
    Timestamp::from_sao_paulo(local)
}

/// Returns a time in the format of such a field: `2026-11-21T18:36`, with seconds unless they are zero.
fn field_of(at: Timestamp) -> String {
    let local = at.in_sao_paulo();
    let form = if local.second() == 0 { "%Y-%m-%dT%H:%M" } else { "%Y-%m-%dT%H:%M:%S" };
    local.format(form).to_string()
}

/// Reads the only receiver to redeliver to, if one was entered: a host and a port, or one of its addresses.
fn read_receiver(form: &Form) -> Result<Option<String>, PageError> {
    if form.text("receiver").is_empty() {
        return Ok(None);
    }
    let texts = &MerchantTexts::current().deliveries;
    let given = form.words("receiver", MAX_RECEIVER_CHARACTERS, texts.bad_receiver)?;
    Ok(Some(receiver_of(&given).to_lowercase()))
}

#[cfg(test)]
mod tests {
    use quita_domain::identity::TransactionId;

    use super::*;

    #[test]
    fn a_time_is_of_brasilia_with_or_without_seconds() {
        let expected = Timestamp::parse("2026-11-21T15:30:00Z");
        for text in ["2026-11-21T12:30", "2026-11-21T12:30:00"] {
            assert_eq!(read_time(text), expected, "{text}");
        }
        for text in ["", "2026-11-21", "12:30", "2026-13-01T00:00"] {
            assert_eq!(read_time(text), None, "{text}");
        }
    }

    #[test]
    fn a_time_and_a_place_are_the_same_after_they_went_through_an_address() {
        let cursor =
            Cursor { created_at: Timestamp::from_millis(5), id: TransactionId::new(uuid::Uuid::nil()) };
        for text in ["2026-11-21T12:30", "2026-11-21T12:30:59"] {
            let since = read_time(text).unwrap();
            assert_eq!(field_of(since), text);
            let query = query_of(since, "127.0.0.1:8090&x", Some(cursor));
            let read: Vec<_> = form_urlencoded::parse(query.as_bytes()).collect();
            let pairs = [("since", text), ("receiver", "127.0.0.1:8090&x"), ("rest", &cursor.to_string())];
            assert_eq!(read, pairs.map(|(name, value)| (name.into(), value.into())));
        }
        let rounded = a_day_before(Timestamp::parse("2026-11-21T15:30:59.999Z").unwrap());
        assert_eq!(field_of(rounded), "2026-11-20T12:30");
    }
}
