//! Delivering again everything that was given up since a time, to every receiver or to one.

use std::ops::ControlFlow;

use actix_web::HttpResponse;
use actix_web::web::{Data, Query};
use askama::Template;
use chrono::{NaiveDateTime, Timelike};
use quita_actors::Denied;
use quita_domain::audit::AuditAction;
use quita_domain::delivery::DeliveryState;
use quita_domain::identity::{Owner, TransactionId};
use quita_domain::listing::{Cursor, DeliveryFilter};
use quita_domain::payment::Payment;
use quita_domain::people::Permission;
use quita_domain::time::Timestamp;
use serde::Deserialize;
use url::form_urlencoded;

use super::health::receiver_of;
use crate::console::Console;
use crate::console::answer::{html, see_other};
use crate::console::failure::Failure;
use crate::console::form::Form;
use crate::console::frame::{Frame, Section};
use crate::console::mode::InMode;
use crate::console::place;
use crate::console::visitor::{PaymentChange, Visitor};

/// Events delivered again by one click.
const MOST_AT_ONCE: usize = 1_000;
/// Payments read at once, and how often for one click.
const READ: usize = 200;
const READS: usize = 50;
/// How far back the form suggests, and to what it is rounded.
const SUGGESTED_MS: i64 = 24 * 3_600_000;
const MINUTE_MS: i64 = 60_000;
/// The most characters of a host and its port (RFC 1035, section 2.3.4).
const MAX_RECEIVER_CHARACTERS: usize = 253 + ":65535".len();

#[derive(Template)]
#[template(path = "console/redeliver.html")]
struct RedeliverPage {
    frame: Frame,
    since: String,
    receiver: String,
    max_receiver_characters: usize,
    /// Where an earlier click ended.
    cursor: String,
    most: String,
}

/// Where an earlier click ended, if there was one, and what the form begins with.
#[derive(Deserialize)]
pub(crate) struct Wanted {
    #[serde(default)]
    since: String,
    #[serde(default)]
    receiver: String,
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

/// `POST /console/{mode}/deliveries/redeliver`
pub(crate) async fn act(
    change: PaymentChange,
    InMode(mode): InMode,
    console: Data<Console>,
) -> Result<HttpResponse, Failure> {
    let PaymentChange { visitor, form } = change;
    let texts = &place::current().texts().deliveries;
    let since = read_time(form.text("since")).ok_or_else(|| Failure::Unreadable(texts.bad_time.into()))?;
    let chosen = Chosen { owner: visitor.owner(mode), since, receiver: read_receiver(&form)? };
    let done = chosen.redeliver(&console, Cursor::parse(form.text("cursor"))).await?;
    let deed = visitor.deed(AuditAction::EventsRedelivered, mode.as_str());
    console.audit.note(&visitor.doer(), deed.after(chosen.told(&done))).await;
    let Redelivered { count, after, has_more, denied } = done;
    if let Some(denied) = denied.filter(|denied| count == 0 && (denied.is_transient() || !has_more)) {
        return Err(denied.into());
    }
    let rest = has_more.then(|| query_of(since, chosen.receiver.as_deref().unwrap_or_default(), after));
    let rest = rest.map(|query| format!("&{query}")).unwrap_or_default();
    Ok(see_other(format!("/console/{}/deliveries?redelivered={count}{rest}", mode.as_str())))
}

/// What was done, in words.
pub(super) fn told(frame: &Frame, count: usize) -> String {
    let count = frame.language().count(u64::try_from(count).unwrap_or(u64::MAX));
    frame.texts.deliveries.redelivered.replace("{count}", &count)
}

/// From where to go on, as a query of the pages that lead there.
pub(super) fn query_of(since: Timestamp, receiver: &str, after: Option<Cursor>) -> String {
    form_urlencoded::Serializer::new(String::new())
        .append_pair("since", &field_of(since))
        .append_pair("receiver", receiver)
        .append_pair("rest", &after.map(|cursor| cursor.to_string()).unwrap_or_default())
        .finish()
}

/// Reads what a field for a date and a time holds, in Brasília's time.
pub(super) fn read_time(text: &str) -> Option<Timestamp> {
    let forms = ["%Y-%m-%dT%H:%M", "%Y-%m-%dT%H:%M:%S"];
    let local = forms.iter().find_map(|form| NaiveDateTime::parse_from_str(text, form).ok())?;
    Timestamp::from_sao_paulo(local)
}

/// A time as such a field takes it: `2026-11-21T18:36`, with seconds if it has some.
fn field_of(at: Timestamp) -> String {
    let local = at.in_sao_paulo();
    let form = if local.second() == 0 { "%Y-%m-%dT%H:%M" } else { "%Y-%m-%dT%H:%M:%S" };
    local.format(form).to_string()
}

/// The receiver to which alone, if one was entered: a host and a port, or an address of it.
fn read_receiver(form: &Form) -> Result<Option<String>, Failure> {
    if form.text("receiver").is_empty() {
        return Ok(None);
    }
    let texts = &place::current().texts().deliveries;
    let given = form.words("receiver", MAX_RECEIVER_CHARACTERS);
    let given = given.ok_or_else(|| Failure::Unreadable(texts.bad_receiver.into()))?;
    Ok(Some(receiver_of(&given).to_lowercase()))
}

/// Which events are delivered again: those that were given up.
struct Chosen {
    owner: Owner,
    since: Timestamp,
    /// To every receiver, if absent.
    receiver: Option<String>,
}

impl Chosen {
    /// Delivers them again, newest payments first, from this place on.
    async fn redeliver(&self, console: &Console, after: Option<Cursor>) -> Result<Redelivered, Failure> {
        let Owner { merchant, mode, .. } = self.owner.clone();
        let state = Some(DeliveryState::Exhausted);
        let filter = DeliveryFilter { merchant, mode, transaction_id: None, state };
        let mut done = Redelivered { count: 0, after, has_more: true, denied: None };
        for _ in 0..READS {
            let payments = match console.edge.payments.list_with_deliveries(&filter, done.after, READ).await {
                Ok(payments) => payments,
                Err(denied) if done.count == 0 => return Err(denied.into()),
                // What was done is told; the next click goes on from there.
                Err(_) => return Ok(done),
            };
            for payment in &payments {
                if done.count >= MOST_AT_ONCE
                    || self.redeliver_of(payment, console, &mut done).await.is_break()
                {
                    return Ok(done);
                }
                done.after = Some(Cursor { created_at: payment.created_at, id: payment.id });
            }
            if payments.len() < READ {
                done.has_more = false;
                return Ok(done);
            }
        }
        Ok(done)
    }

    async fn redeliver_of(
        &self,
        payment: &Payment,
        console: &Console,
        done: &mut Redelivered,
    ) -> ControlFlow<()> {
        if !self.is_to_receiver(payment) {
            return ControlFlow::Continue(());
        }
        for index in given_up(payment, self.since) {
            let answer = console.edge.payments.redeliver(payment.id, self.owner.clone(), index).await;
            done.take(payment.id, answer.map(drop))?;
        }
        ControlFlow::Continue(())
    }

    fn is_to_receiver(&self, payment: &Payment) -> bool {
        let Some(wanted) = &self.receiver else { return true };
        payment.order.postback_url.as_deref().is_some_and(|url| receiver_of(url) == *wanted)
    }

    /// What was done, for the audit log.
    fn told(&self, done: &Redelivered) -> String {
        let receiver = self.receiver.as_ref().map(|receiver| format!(" to {receiver}")).unwrap_or_default();
        let is_unknown = done.denied.as_ref().is_some_and(Denied::is_transient);
        let unknown = if is_unknown { ", outcome unknown of one more" } else { "" };
        format!("{} since {}{receiver}{unknown}", done.count, self.since)
    }
}

/// What came of one click.
struct Redelivered {
    count: usize,
    /// Where it ended.
    after: Option<Cursor>,
    /// Whether there may be more after that.
    has_more: bool,
    /// The last failure; it ended there if that may pass.
    denied: Option<Denied>,
}

impl Redelivered {
    /// Counts what came of one event. Nobody's click waits for a payment that would fail every time.
    fn take(&mut self, id: TransactionId, answer: Result<(), Denied>) -> ControlFlow<()> {
        let denied = match answer {
            Ok(()) => {
                self.count = self.count.saturating_add(1);
                return ControlFlow::Continue(());
            }
            // It holds as many deliveries as it can.
            Err(Denied::Refused(_)) => return ControlFlow::Continue(()),
            Err(denied) => denied,
        };
        let may_pass = denied.is_transient();
        if !may_pass {
            tracing::error!(transaction.id = %id, %denied, "an event can't be delivered again");
        }
        self.denied = Some(denied);
        if may_pass { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
    }
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
    use quita_domain::identity::{ApplicationName, MerchantId, Mode};
    use quita_domain::payment::Refusal;

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

    #[test]
    fn what_fails_every_time_is_passed_over_and_what_may_pass_is_waited_for() {
        let id = TransactionId::new(uuid::Uuid::nil());
        let mut done = Redelivered { count: 0, after: None, has_more: true, denied: None };
        for answer in
            [Ok(()), Err(Denied::Refused(Refusal::NoSuchDelivery)), Err(Denied::Defect("x")), Ok(())]
        {
            assert!(done.take(id, answer).is_continue());
        }
        assert!(done.count == 2 && matches!(done.denied, Some(Denied::Defect(_))));
        assert!(done.take(id, Err(Denied::Interrupted)).is_break());
        let (merchant, application) = (MerchantId::new("demo"), ApplicationName::new("default"));
        let owner = Owner { merchant, application, mode: Mode::Test };
        let chosen = Chosen { owner, since: Timestamp::default(), receiver: Some("loja.example".into()) };
        assert_eq!(
            chosen.told(&done),
            "2 since 1970-01-01T00:00:00.000Z to loja.example, outcome unknown of one more"
        );
    }
}
