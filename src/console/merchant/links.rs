//! Payment links: their list, and the page of a single one.

pub(crate) mod closing;
pub(crate) mod new_link;

use actix_web::HttpResponse;
use actix_web::web::{Data, Path, Query};
use askama::Template;
use quita_domain::link::{KnownPayer, Link, LinkDue, LinkFilter, LinkStatus, LinkUses};
use quita_domain::listing::query::{LinkQuery, PageLimit};
use quita_domain::people::Permission;
use quita_domain::time::Timestamp;
use serde::Deserialize;
use url::form_urlencoded;

use super::MerchantConsole;
use super::frame::{MerchantFrame, MerchantSection};
use super::mode::InMode;
use super::movements::StatusTab;
use super::payment::address_line;
use super::payments::{Field, names_of, read_cursor, render_list};
use super::texts::MerchantTexts;
use super::visitor::Visitor;
use crate::console::kit::answer::{Done, html};
use crate::console::kit::language::Language;
use crate::console::kit::page_error::PageError;
use crate::console::kit::qr;
use crate::http::{link_payments, links as api};

/// Maximum number of characters of a link's `externalReference`.
const MAX_REFERENCE_CHARACTERS: usize = 100;

/// Query parameters of the list.
#[derive(Debug, Default, Deserialize)]
pub(crate) struct LinkSearch {
    #[serde(default)]
    status: String,
    /// Reference of the links to search for.
    #[serde(default)]
    q: String,
    #[serde(default)]
    cursor: String,
}

#[derive(Template)]
#[template(path = "console/merchant/links.html")]
struct LinksPage {
    frame: MerchantFrame,
    tabs: Vec<StatusTab>,
    /// Reference that was searched for; empty if there was no search.
    reference: String,
    status: Option<LinkStatus>,
    max_reference_characters: usize,
    not_understood: String,
    rows: Vec<LinkRow>,
    /// Address of the first page.
    newest: String,
    is_first: bool,
    older: Option<String>,
}

/// Link as a row.
struct LinkRow {
    id: String,
    title: String,
    reference: Option<String>,
    status: LinkStatus,
    badge: &'static str,
    paid: u64,
    uses: u32,
    created_at: Timestamp,
    expires_at: Timestamp,
    amount: String,
}

impl LinkRow {
    fn of(link: Link, uses: &LinkUses, now: Timestamp, language: Language) -> Self {
        let status = link.status(uses, now);
        Self {
            id: link.id.to_string(),
            status,
            badge: badge_of(status),
            paid: uses.paid,
            uses: link.offer.uses,
            created_at: link.created_at,
            expires_at: link.expires_at,
            amount: language.money(link.offer.amount),
            title: link.offer.title,
            reference: link.offer.external_reference,
        }
    }
}

/// Returns the badge kind of a status.
const fn badge_of(status: LinkStatus) -> &'static str {
    match status {
        LinkStatus::Open => "live",
        LinkStatus::Paid => "paid",
        LinkStatus::Expired => "expired",
        LinkStatus::Closed => "cancelled",
    }
}

/// Handles `GET /console/{mode}/links`.
pub(crate) async fn show(
    visitor: Visitor,
    InMode(mode): InMode,
    console: Data<MerchantConsole>,
    search: Query<LinkSearch>,
) -> Result<HttpResponse, PageError> {
    let mut misread = Vec::new();
    let status = LinkStatus::parse(&search.status);
    if status.is_none() && !search.status.is_empty() {
        misread.push(Field::Status);
    }
    let cursor = read_cursor(&search.cursor, &mut misread);
    let reference = search.q.trim();
    let external_reference = Some(reference.to_owned()).filter(|reference| !reference.is_empty());
    let filter = LinkFilter { merchant: visitor.user.merchant.clone(), mode, external_reference };
    let query =
        LinkQuery { filter, statuses: status.into_iter().collect(), cursor, limit: PageLimit::DEFAULT };
    let found = api::page(&console.edge, &query).await?;
    let frame = visitor.frame(mode, MerchantSection::Links);
    let language = frame.language();
    let now = console.clock.now();
    let address = |status, cursor| format!("{}/links{}", frame.base, query_of(status, reference, cursor));
    let tab = |each: Option<LinkStatus>| StatusTab {
        address: address(each, None),
        name: each.map_or(frame.texts.everywhere.all, |status| language.link_status(status)),
        is_here: each == status,
    };
    html(&LinksPage {
        tabs: [None].into_iter().chain(LinkStatus::ALL.map(Some)).map(tab).collect(),
        not_understood: names_of(&misread, MerchantTexts::current()),
        rows: found.links.into_iter().map(|(link, uses)| LinkRow::of(link, &uses, now, language)).collect(),
        is_first: cursor.is_none(),
        older: found.next.map(|cursor| address(status, Some(cursor.to_string()))),
        newest: address(status, None),
        reference: reference.to_owned(),
        max_reference_characters: MAX_REFERENCE_CHARACTERS,
        status,
        frame,
    })
}

/// Returns the query of the list with this status, reference and cursor; empty if there are none.
fn query_of(status: Option<LinkStatus>, reference: &str, cursor: Option<String>) -> String {
    let mut query = form_urlencoded::Serializer::new(String::new());
    if let Some(status) = status {
        query.append_pair("status", status.as_str());
    }
    if !reference.is_empty() {
        query.append_pair("q", reference);
    }
    if let Some(cursor) = cursor {
        query.append_pair("cursor", &cursor);
    }
    let query = query.finish();
    if query.is_empty() { query } else { format!("?{query}") }
}

#[derive(Template)]
#[template(path = "console/merchant/link.html")]
struct LinkPage {
    frame: MerchantFrame,
    link: Link,
    status: LinkStatus,
    badge: &'static str,
    paid: u64,
    /// Address that payers open, with its QR code; `None` while this node can't create it.
    address: Option<(String, String)>,
    /// Payer data that the merchant entered, for roles that may see payers.
    customer: Vec<(&'static str, String)>,
    /// Newest payments of the link as a list; `None` if there are none.
    payments: Option<String>,
}

impl LinkPage {
    /// Returns the due date of the link's payments in words.
    fn due(&self) -> Option<String> {
        match self.link.offer.due? {
            LinkDue::On(date) => Some(self.frame.language().day(date)),
            LinkDue::InDays(days) => {
                Some(self.frame.texts.links.due_in_days.replace("{days}", &days.to_string()))
            }
        }
    }

    /// Returns true if the visitor may close the link, and closing would change it.
    fn may_close(&self) -> bool {
        self.status == LinkStatus::Open && self.frame.may_change_payments()
    }
}

/// Handles `GET /console/{mode}/links/{id}`.
pub(crate) async fn show_one(
    visitor: Visitor,
    InMode(mode): InMode,
    path: Path<(String, String)>,
    console: Data<MerchantConsole>,
    done: Query<Done>,
) -> Result<HttpResponse, PageError> {
    let edge = &console.edge;
    let link = api::own(edge, &path.1, &visitor.owner(mode)).await?;
    let (status, uses) = api::status_of(edge, &link).await?;
    let sees_payers = visitor.user.role.permits(Permission::SeePayers);
    let mut frame = visitor.frame(mode, MerchantSection::Links);
    frame.notice = notice(frame.texts, &done.done);
    let payments = link_payments::newest(edge, &link, api::NEWEST_PAYMENTS).await?;
    let payments = match payments.is_empty() {
        true => None,
        false => Some(render_list(&payments, frame.base.clone(), sees_payers)?),
    };
    let address = match api::url_of(edge, link.id) {
        Some(url) => Some((qr::data_address(&url)?, url)),
        None => None,
    };
    let customer = link.offer.customer.as_ref().filter(|_| sees_payers);
    html(&LinkPage {
        status,
        badge: badge_of(status),
        paid: uses.paid,
        address: address.map(|(code, url)| (url, code)),
        customer: customer.map(|customer| rows_of(customer, frame.texts)).unwrap_or_default(),
        payments,
        link,
        frame,
    })
}

/// Returns the known payer data, with names.
fn rows_of(customer: &KnownPayer, all: &'static MerchantTexts) -> Vec<(&'static str, String)> {
    let texts = &all.payments;
    let names = [&customer.first_name, &customer.last_name].into_iter().flatten();
    let name = names.map(String::as_str).collect::<Vec<_>>().join(" ");
    let document = customer.document.as_ref();
    let rows = [
        Some((texts.name, name)).filter(|(_, name)| !name.is_empty()),
        document.map(|document| (document.kind().as_str(), document.formatted())),
        customer.email.clone().map(|email| (all.everywhere.email, email)),
        customer.phone.as_ref().map(|phone| (texts.phone, phone.e164())),
        customer.address.as_ref().map(|address| (texts.address, address_line(address))),
    ];
    rows.into_iter().flatten().collect()
}

fn notice(texts: &MerchantTexts, done: &str) -> Option<&'static str> {
    let texts = &texts.links;
    match done {
        "made" => Some(texts.notice_made),
        "closed" => Some(texts.notice_closed),
        "cancelled" => Some(texts.notice_cancelled),
        "cancelling" => Some(texts.notice_cancelling),
        "unchanged" => Some(texts.notice_unchanged),
        _ => None,
    }
}
