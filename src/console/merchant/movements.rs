//! Refunds and disputes of all payments, newest payment first.

mod rows;

use actix_web::HttpResponse;
use actix_web::web::{Data, Query};
use askama::Template;
use quita_domain::identity::Mode;
use quita_domain::listing::{Cursor, MovementFilter, Movements};
use quita_domain::payment::DisputeStatus;
use quita_domain::state::RefundStatus;
use quita_ports::{Unreadable, place_of};
use serde::Deserialize;
use url::form_urlencoded;

use super::MerchantConsole;
use super::frame::{MerchantFrame, MerchantSection};
use super::mode::InMode;
use super::payments::{Field, names_of, read_cursor, read_from, read_to};
use super::texts::MerchantTexts;
use super::visitor::Visitor;
use crate::console::kit::answer::html;
use crate::console::kit::language::Language;
use crate::console::kit::page_error::PageError;
use rows::{MovementRow, rows_of};

/// Minimum number of rows per page, if that many exist.
const PAGE: usize = 20;

/// Query parameters of both lists.
#[derive(Debug, Default, Deserialize)]
pub(crate) struct MovementSearch {
    #[serde(default)]
    status: String,
    #[serde(default)]
    from: String,
    #[serde(default)]
    to: String,
    #[serde(default)]
    cursor: String,
}

impl MovementSearch {
    /// Returns the query of a page for the same period.
    fn query(&self, status: &str, cursor: Option<Cursor>) -> String {
        let mut query = form_urlencoded::Serializer::new(String::new());
        let cursor = cursor.map(|cursor| cursor.to_string()).unwrap_or_default();
        for (name, value) in
            [("status", status), ("from", &*self.from), ("to", &*self.to), ("cursor", &*cursor)]
        {
            if !value.is_empty() {
                query.append_pair(name, value);
            }
        }
        query.finish()
    }
}

/// Tab of a list: one status, or all of them.
pub(super) struct StatusTab {
    pub(super) address: String,
    pub(super) name: &'static str,
    pub(super) is_here: bool,
}

#[derive(Template)]
#[template(path = "console/merchant/movements.html")]
struct MovementsPage {
    frame: MerchantFrame,
    words: ListWords,
    /// Address of the list.
    address: String,
    tabs: Vec<StatusTab>,
    status: &'static str,
    search: MovementSearch,
    not_understood: String,
    rows: Vec<MovementRow>,
    /// Ids of payments that can't be read.
    unreadable: String,
    is_first: bool,
    older: Option<String>,
}

impl MovementsPage {
    fn newest(&self) -> String {
        format!("{}?{}", self.address, self.search.query(self.status, None))
    }
}

/// List of refunds or of disputes.
struct MovementList {
    section: MerchantSection,
    path: &'static str,
    /// Statuses with the names of their tabs; the first one stands for every status.
    statuses: Vec<(&'static str, &'static str)>,
    movements: Movements,
    words: ListWords,
}

/// Texts that differ between the lists.
struct ListWords {
    title: &'static str,
    lead: &'static str,
    empty_sentence: &'static str,
    /// Header of the column with the first time, and of the second one if it exists.
    times: (&'static str, Option<&'static str>),
}

/// Handles `GET /console/{mode}/refunds`.
pub(crate) async fn refunds(
    visitor: Visitor,
    InMode(mode): InMode,
    console: Data<MerchantConsole>,
    search: Query<MovementSearch>,
) -> Result<HttpResponse, PageError> {
    let all = MerchantTexts::current();
    let texts = &all.movements;
    let name = |status| match status {
        RefundStatus::Processing => texts.processing,
        RefundStatus::Succeeded => texts.succeeded,
        RefundStatus::Failed => texts.failed,
    };
    let statuses = RefundStatus::ALL.map(|status| (status.as_str(), name(status)));
    let movements = Movements::Refunds(RefundStatus::parse(&search.status).into_iter().collect());
    let statuses = [("", texts.every)].into_iter().chain(statuses).collect();
    let words = ListWords {
        title: all.everywhere.refunds,
        lead: texts.refunds_lead,
        empty_sentence: texts.no_refund,
        times: (texts.asked_at, None),
    };
    let list =
        MovementList { section: MerchantSection::Refunds, path: "refunds", statuses, movements, words };
    show(&visitor, mode, &console, search.into_inner(), list).await
}

/// Handles `GET /console/{mode}/disputes`.
pub(crate) async fn disputes(
    visitor: Visitor,
    InMode(mode): InMode,
    console: Data<MerchantConsole>,
    search: Query<MovementSearch>,
) -> Result<HttpResponse, PageError> {
    let all = MerchantTexts::current();
    let texts = &all.movements;
    let name = |status| match status {
        DisputeStatus::Open => texts.open,
        DisputeStatus::Won => texts.won,
    };
    let statuses = DisputeStatus::ALL.map(|status| (status.as_str(), name(status)));
    let movements = Movements::Disputes(DisputeStatus::parse(&search.status).into_iter().collect());
    let statuses = [("", texts.every)].into_iter().chain(statuses).collect();
    let words = ListWords {
        title: all.everywhere.disputes,
        lead: texts.disputes_lead,
        empty_sentence: texts.no_dispute,
        times: (texts.charged_back_at, Some(texts.won_at)),
    };
    let list =
        MovementList { section: MerchantSection::Disputes, path: "disputes", statuses, movements, words };
    show(&visitor, mode, &console, search.into_inner(), list).await
}

async fn show(
    visitor: &Visitor,
    mode: Mode,
    console: &MerchantConsole,
    search: MovementSearch,
    list: MovementList,
) -> Result<HttpResponse, PageError> {
    let mut misread = Vec::new();
    let known = list.statuses.iter().map(|(status, _)| *status).find(|status| *status == search.status);
    if known.is_none() {
        misread.push(Field::Status);
    }
    let status = known.unwrap_or_default();
    let filter = MovementFilter {
        merchant: visitor.user.merchant.clone(),
        mode,
        movements: list.movements,
        created_from: read_from(&search.from, &mut misread),
        created_to: read_to(&search.to, &mut misread),
    };
    let cursor = read_cursor(&search.cursor, &mut misread);
    let FoundRows { rows, unreadable, older } = find(console, &filter, cursor).await?;
    let frame = visitor.frame(mode, list.section);
    let address = format!("{}/{}", frame.base, list.path);
    let tab = |(each, name): (&'static str, &'static str)| StatusTab {
        address: format!("{address}?{}", search.query(each, None)),
        name,
        is_here: each == status,
    };
    html(&MovementsPage {
        words: list.words,
        tabs: list.statuses.into_iter().map(tab).collect(),
        status,
        not_understood: names_of(&misread, MerchantTexts::current()),
        rows,
        unreadable: unreadable.join(", "),
        is_first: cursor.is_none(),
        older: older.map(|older| format!("{address}?{}", search.query(status, Some(older)))),
        frame,
        address,
        search,
    })
}

/// Content of a page.
struct FoundRows {
    rows: Vec<MovementRow>,
    /// Ids of payments that can't be read.
    unreadable: Vec<String>,
    /// Cursor after which there are more rows.
    older: Option<Cursor>,
}

/// Finds the rows of a page. The page always ends with a complete payment.
async fn find(
    console: &MerchantConsole,
    filter: &MovementFilter,
    after: Option<Cursor>,
) -> Result<FoundRows, PageError> {
    let payments = console.edge.payments.list_with_movements(filter, after, PAGE.saturating_add(1)).await?;
    let (mut found, language) =
        (FoundRows { rows: Vec::new(), unreadable: Vec::new(), older: None }, Language::current());
    // Cursor of the payment whose rows were added last.
    let mut last = None;
    for listed in &payments {
        if found.rows.len().saturating_add(found.unreadable.len()) >= PAGE {
            found.older = last;
            break;
        }
        last = Some(place_of(listed));
        match listed {
            Ok(payment) => found.rows.extend(rows_of(payment, &filter.movements, language)),
            Err(Unreadable(place)) => found.unreadable.push(place.id.to_string()),
        }
    }
    Ok(found)
}
