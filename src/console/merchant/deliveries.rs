//! Webhook deliveries: pending, failing, exhausted and delivered ones, and the health of the receivers.

mod health;
pub(crate) mod redeliver;

use actix_web::HttpResponse;
use actix_web::web::{Data, Query};
use askama::Template;
use quita_domain::delivery::{Delivery, DeliveryAttempt, DeliveryState};
use quita_domain::event::Event;
use quita_domain::identity::{MerchantId, Mode};
use quita_domain::listing::{Cursor, DeliveryFilter};
use quita_domain::payment::Payment;
use quita_domain::time::{DAY_MS, Timestamp};
use quita_ports::{Unreadable, place_of};
use serde::Deserialize;
use url::form_urlencoded;

use super::MerchantConsole;
use super::delivery_attempts::outcome_of;
use super::frame::{MerchantFrame, MerchantSection};
use super::mode::InMode;
use super::texts::MerchantTexts;
use super::visitor::Visitor;
use crate::console::kit::answer::html;
use crate::console::kit::language::Language;
use crate::console::kit::page_error::PageError;
use health::ReceiverHealth;

/// Minimum number of deliveries per page, if that many exist.
const PAGE: usize = 20;
/// Payments per read, and maximum number of reads per page.
const READ: (usize, usize) = (100, 10);

/// Tabs of the page.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Tab {
    Pending,
    Failing,
    Exhausted,
    Delivered,
}

impl Tab {
    const ALL: [Self; 4] = [Self::Pending, Self::Failing, Self::Exhausted, Self::Delivered];

    const fn as_str(self) -> &'static str {
        match self {
            Self::Pending => "pending",
            Self::Failing => "failing",
            Self::Exhausted => "exhausted",
            Self::Delivered => "delivered",
        }
    }

    fn parse(text: &str) -> Self {
        Self::ALL.into_iter().find(|tab| tab.as_str() == text).unwrap_or(Self::Failing)
    }

    const fn name(self, texts: &MerchantTexts) -> &'static str {
        let texts = &texts.deliveries;
        match self {
            Self::Pending => texts.pending,
            Self::Failing => texts.failing,
            Self::Exhausted => texts.exhausted,
            Self::Delivered => texts.delivered,
        }
    }

    const fn state(self) -> DeliveryState {
        match self {
            Self::Pending | Self::Failing => DeliveryState::Pending,
            Self::Exhausted => DeliveryState::Exhausted,
            Self::Delivered => DeliveryState::Delivered,
        }
    }

    fn shows(self, delivery: &Delivery) -> bool {
        Self::of(delivery) == self
    }

    fn of(delivery: &Delivery) -> Self {
        match delivery.state {
            DeliveryState::Pending if delivery.attempts.is_empty() => Self::Pending,
            DeliveryState::Pending => Self::Failing,
            DeliveryState::Delivered => Self::Delivered,
            DeliveryState::Exhausted => Self::Exhausted,
        }
    }
}

/// Returns the badge kind of a delivery's state, and its word.
pub(super) fn state_of(delivery: &Delivery, language: Language) -> (&'static str, &'static str) {
    let tab = Tab::of(delivery);
    let texts = &MerchantTexts::of(language).deliveries;
    let word = match tab {
        Tab::Pending => texts.state_pending,
        Tab::Failing => texts.state_failing,
        Tab::Exhausted => texts.state_exhausted,
        Tab::Delivered => texts.state_delivered,
    };
    (tab.as_str(), word)
}

/// Returns the colour class of an attempt.
pub(super) fn tone_of_attempt(attempt: &DeliveryAttempt) -> &'static str {
    if attempt.is_confirmed() { "tone-done" } else { "tone-over" }
}

#[derive(Template)]
#[template(path = "console/merchant/deliveries.html")]
struct DeliveriesPage {
    frame: MerchantFrame,
    tab: Tab,
    rows: Vec<ListedDelivery>,
    /// Ids of payments that can't be read.
    unreadable: String,
    older: Option<String>,
    is_first: bool,
    receivers: Vec<ReceiverHealth>,
    looked_at: usize,
    /// Confirmation of the last redelivery.
    redelivered: Option<String>,
    /// Address that continues the redelivery, if there may be more.
    rest: Option<String>,
}

impl DeliveriesPage {
    /// Returns the address that redelivers the exhausted deliveries of a receiver.
    fn again(&self, health: &ReceiverHealth) -> String {
        let mut query = form_urlencoded::Serializer::new(String::new());
        let query = query.append_pair("receiver", &health.receiver).finish();
        format!("{}/deliveries/redeliver?{query}", self.frame.base)
    }
}

struct ListedDelivery {
    payment_id: String,
    reference: Option<String>,
    index: usize,
    event: String,
    receiver: String,
    is_redelivery: bool,
    attempts: usize,
    /// Time and outcome of the last attempt.
    last: Option<(Timestamp, String)>,
    next_at: Option<Timestamp>,
}

impl ListedDelivery {
    fn of(payment: &Payment, index: usize, delivery: &Delivery) -> Self {
        Self {
            payment_id: payment.id.to_string(),
            reference: payment.order.external_reference.clone(),
            index,
            event: payment.event(delivery.sequence).map(Event::name).unwrap_or_default(),
            receiver: payment.order.postback_url.clone().unwrap_or_default(),
            is_redelivery: delivery.repeats.is_some(),
            attempts: delivery.attempts.len(),
            last: delivery
                .attempts
                .last()
                .map(|attempt| (attempt.at, outcome_of(attempt, Language::current()))),
            next_at: delivery.next_attempt_at.filter(|_| delivery.state == DeliveryState::Pending),
        }
    }
}

/// Query parameters of the list.
#[derive(Deserialize)]
pub(crate) struct DeliveriesQuery {
    #[serde(default)]
    state: String,
    #[serde(default)]
    cursor: String,
    #[serde(default)]
    redelivered: Option<usize>,
    #[serde(default)]
    since: String,
    #[serde(default)]
    receiver: String,
    /// Cursor at which a redelivery stopped early; empty at the very beginning.
    rest: Option<String>,
}

/// Handles `GET /console/{mode}/deliveries`.
pub(crate) async fn show(
    visitor: Visitor,
    InMode(mode): InMode,
    console: Data<MerchantConsole>,
    wanted: Query<DeliveriesQuery>,
) -> Result<HttpResponse, PageError> {
    let tab = Tab::parse(&wanted.state);
    let cursor = Cursor::parse(&wanted.cursor);
    let FoundDeliveries { rows, unreadable, older } = find(&visitor, mode, &console, tab, cursor).await?;
    let (receivers, looked_at) = health::read(&filter(&visitor.user.merchant, mode, None), &console).await?;
    let frame = visitor.frame(mode, MerchantSection::Deliveries);
    let page = DeliveriesPage {
        redelivered: wanted.redelivered.map(|count| redeliver::notice(&frame, count)),
        rest: rest_of(&frame, &wanted),
        unreadable: unreadable.join(", "),
        older: older.map(|at| format!("{}/deliveries?state={}&cursor={at}", frame.base, tab.as_str())),
        frame,
        tab,
        rows,
        is_first: cursor.is_none(),
        receivers,
        looked_at,
    };
    html(&page)
}

/// Returns the address that continues a redelivery, if it stopped early.
fn rest_of(frame: &MerchantFrame, wanted: &DeliveriesQuery) -> Option<String> {
    let (rest, since) = wanted.rest.as_deref().zip(redeliver::read_time(&wanted.since))?;
    let query = redeliver::query_of(since, &wanted.receiver, Cursor::parse(rest));
    Some(format!("{}/deliveries/redeliver?{query}", frame.base))
}

fn filter(merchant: &MerchantId, mode: Mode, state: Option<DeliveryState>) -> DeliveryFilter {
    DeliveryFilter { merchant: merchant.clone(), mode, transaction_id: None, state }
}

/// Counts of deliveries that need attention, among the newest payments with such deliveries.
#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct Trouble {
    /// Failed deliveries that will be retried.
    pub(super) failing: u64,
    /// Deliveries that were given up during the last day.
    pub(super) given_up: u64,
}

/// Counts failing deliveries, and those given up recently, in the newest payments.
pub(super) async fn trouble(
    merchant: &MerchantId,
    mode: Mode,
    console: &MerchantConsole,
) -> Result<Trouble, PageError> {
    let (at_once, _) = READ;
    let day_ago = console.clock.now().minus_ms(DAY_MS);
    let mut trouble = Trouble::default();
    for state in [DeliveryState::Pending, DeliveryState::Exhausted] {
        let filter = filter(merchant, mode, Some(state));
        let listed = console.edge.payments.list_with_deliveries(&filter, None, at_once).await?;
        for delivery in listed.iter().flatten().flat_map(|payment| &payment.outbox) {
            let is_recent = delivery.attempts.last().is_some_and(|attempt| attempt.at > day_ago);
            match Tab::of(delivery) {
                Tab::Failing if state == DeliveryState::Pending => trouble.failing += 1,
                Tab::Exhausted if state == DeliveryState::Exhausted && is_recent => trouble.given_up += 1,
                Tab::Pending | Tab::Failing | Tab::Exhausted | Tab::Delivered => {}
            }
        }
    }
    Ok(trouble)
}

/// Content of a page.
struct FoundDeliveries {
    rows: Vec<ListedDelivery>,
    /// Ids of payments that can't be read.
    unreadable: Vec<String>,
    /// Cursor after which there may be more deliveries.
    older: Option<Cursor>,
}

/// Finds the deliveries of a tab, newest payments first. Pending and failing ones are only separated here, so a page
/// may end before it is full.
async fn find(
    visitor: &Visitor,
    mode: Mode,
    console: &MerchantConsole,
    tab: Tab,
    mut after: Option<Cursor>,
) -> Result<FoundDeliveries, PageError> {
    let filter = filter(&visitor.user.merchant, mode, Some(tab.state()));
    let (at_once, times) = READ;
    let mut rows = Vec::new();
    let mut unreadable = Vec::new();
    for _ in 0..times {
        let payments = console.edge.payments.list_with_deliveries(&filter, after, at_once).await?;
        for (place, listed) in payments.iter().enumerate() {
            match listed {
                Ok(payment) => {
                    let outbox = payment.outbox.iter().enumerate().rev();
                    let shown = outbox.filter(|(_, delivery)| tab.shows(delivery));
                    rows.extend(shown.map(|(index, delivery)| ListedDelivery::of(payment, index, delivery)));
                }
                Err(Unreadable(place)) => unreadable.push(place.id.to_string()),
            }
            after = Some(place_of(listed));
            let is_last = payments.len() < at_once && place.saturating_add(1) == payments.len();
            if rows.len() >= PAGE && !is_last {
                return Ok(FoundDeliveries { rows, unreadable, older: after });
            }
        }
        if payments.len() < at_once {
            return Ok(FoundDeliveries { rows, unreadable, older: None });
        }
    }
    Ok(FoundDeliveries { rows, unreadable, older: after })
}
