//! List of payments, with its search form. New payments appear without a reload.

pub(crate) mod export;
mod search;
pub(crate) mod test_payment;

use std::sync::Arc;

use actix_web::web::Data;
use actix_web::{HttpRequest, HttpResponse};
use askama::Template;
use quita_domain::identity::Owner;
use quita_domain::method::Method;
use quita_domain::payment::Payment;
use quita_domain::people::Permission;
use quita_domain::status::Status;
use quita_domain::time::Timestamp;
use quita_ports::{Unreadable, place_of};

use super::MerchantConsole;
use super::frame::{MerchantFrame, MerchantSection};
use super::mode::{InMode, base_of};
use super::session::StillIn;
use super::texts::MerchantTexts;
use super::visitor::{Onlooker, Visitor};
use crate::console::kit::answer::html;
use crate::console::kit::language::Language;
use crate::console::kit::live::LivePart;
use crate::console::kit::page_error::PageError;
use crate::console::kit::stream_permits::Watcher;
pub(super) use search::{Field, names_of, read_cursor, read_from, read_to};
use search::{MAX_TEXT_CHARACTERS, Search};

/// Number of payments per page.
const PAGE: usize = 20;

#[derive(Template)]
#[template(path = "console/merchant/payments.html")]
struct PaymentsPage {
    frame: MerchantFrame,
    search: Search,
    unreadable: Vec<Field>,
    max_text_characters: usize,
    /// Address of the stream that updates the list; only the first page has one.
    stream: Option<String>,
    list: String,
    may_export: bool,
}

/// Live part of the page.
#[derive(Template)]
#[template(path = "console/merchant/payments_list.html")]
struct PaymentsList {
    texts: &'static MerchantTexts,
    language: Language,
    base: String,
    rows: Vec<PaymentRow>,
    /// Ids of payments that can't be read.
    unreadable: String,
    is_first: bool,
    newest: String,
    older: Option<String>,
}

struct PaymentRow {
    id: String,
    version: u32,
    reference: Option<String>,
    status: Status,
    method: Method,
    payer: String,
    email: String,
    created_at: Timestamp,
    amount: String,
}

impl PaymentRow {
    fn of(payment: &Payment, language: Language, sees_payers: bool) -> Self {
        let order = &payment.order;
        Self {
            id: payment.id.to_string(),
            version: payment.state.version,
            reference: order.external_reference.clone(),
            status: payment.status(),
            method: order.method,
            payer: order.payer.full_name(),
            email: if sees_payers { order.payer.email.clone() } else { order.payer.masked_email() },
            created_at: payment.created_at,
            amount: language.money(order.amount),
        }
    }
}

impl PaymentsPage {
    fn is_checked(&self, status: &Status) -> bool {
        self.search.statuses.contains(status)
    }

    fn is_chosen(&self, method: &Method) -> bool {
        self.search.method == Some(*method)
    }

    fn not_understood(&self) -> String {
        names_of(&self.unreadable, self.frame.texts)
    }
}

/// Handles `GET /console/{mode}/payments`.
pub(crate) async fn show(
    visitor: Visitor,
    InMode(mode): InMode,
    console: Data<MerchantConsole>,
    request: HttpRequest,
) -> Result<HttpResponse, PageError> {
    let search = Search::parse(request.query_string());
    let wanted = PaymentsAccess::of(&visitor, mode, search.clone());
    let unreadable = search.understand(&wanted.owner, wanted.language).unreadable;
    let list = wanted.list(&console).await?;
    let frame = visitor.frame(mode, MerchantSection::Payments);
    let stream =
        search.cursor.is_empty().then(|| format!("{}/payments/stream?{}", frame.base, search.query(None)));
    let max_text_characters = MAX_TEXT_CHARACTERS;
    let may_export = wanted.sees_payers;
    let page = PaymentsPage { frame, search, unreadable, max_text_characters, stream, list, may_export };
    html(&page)
}

/// Handles `GET /console/{mode}/payments/stream`: streams the list whenever it changes.
pub(crate) async fn stream(
    Onlooker(visitor): Onlooker,
    InMode(mode): InMode,
    console: Data<MerchantConsole>,
    request: HttpRequest,
) -> Result<HttpResponse, PageError> {
    let wanted = PaymentsAccess::of(&visitor, mode, Search::parse(request.query_string()));
    let session = StillIn::of(&visitor, &console);
    let streams = Arc::clone(&console.streams);
    streams.open(LivePayments { wanted, session, console: console.into_inner() })
}

/// Requested payments, with the visitor's permissions.
struct PaymentsAccess {
    owner: Owner,
    search: Search,
    language: Language,
    /// Start of the addresses in the list, stored because a stream renders outside of any request.
    base: String,
    sees_payers: bool,
}

impl PaymentsAccess {
    fn of(visitor: &Visitor, mode: quita_domain::identity::Mode, search: Search) -> Self {
        let sees_payers = visitor.user.role.permits(Permission::SeePayers);
        let owner = visitor.owner(mode);
        let base = base_of(mode);
        Self { owner, search, language: Language::current(), base, sees_payers }
    }

    async fn list(&self, console: &MerchantConsole) -> Result<String, PageError> {
        let understood = self.search.understand(&self.owner, self.language);
        let after = understood.cursor;
        let most = PAGE.saturating_add(1);
        let mut payments = console.edge.payments.list(&understood.filter, after, most).await?;
        if let Some(otherwise) = understood.otherwise.filter(|_| payments.is_empty()) {
            payments = console.edge.payments.list(&otherwise, after, most).await?;
        }
        let has_more = payments.len() > PAGE;
        payments.truncate(PAGE);
        let unreadable = payments.iter().filter_map(|listed| listed.as_ref().err());
        let unreadable: Vec<_> = unreadable.map(|Unreadable(place)| place.id.to_string()).collect();
        let base = self.base.clone();
        let at = |cursor: Option<&str>| format!("{base}/payments?{}", self.search.query(cursor));
        let older = payments.last().filter(|_| has_more).map(|last| place_of(last).to_string());
        let list = PaymentsList {
            texts: MerchantTexts::of(self.language),
            language: self.language,
            unreadable: unreadable.join(", "),
            rows: payments
                .iter()
                .flatten()
                .map(|payment| PaymentRow::of(payment, self.language, self.sees_payers))
                .collect(),
            is_first: understood.cursor.is_none(),
            newest: at(None),
            older: older.map(|cursor| at(Some(&cursor))),
            base,
        };
        Ok(list.render()?)
    }
}

/// Renders payments, newest first, for another page's list.
pub(super) fn render_list(
    payments: &[Payment],
    base: String,
    sees_payers: bool,
) -> Result<String, PageError> {
    let language = Language::current();
    let list = PaymentsList {
        texts: MerchantTexts::of(language),
        language,
        base,
        rows: payments.iter().map(|payment| PaymentRow::of(payment, language, sees_payers)).collect(),
        unreadable: String::new(),
        is_first: true,
        newest: String::new(),
        older: None,
    };
    Ok(list.render()?)
}

/// List as a stream polls it.
struct LivePayments {
    wanted: PaymentsAccess,
    session: StillIn,
    console: Arc<MerchantConsole>,
}

impl LivePart for LivePayments {
    fn key(&self) -> String {
        let PaymentsAccess { owner, search, language, base: _, sees_payers } = &self.wanted;
        let mode = owner.mode.as_str();
        let search = search.query(Some(&search.cursor));
        format!("payments {mode} {} {sees_payers} {search} {}", language.tag(), owner.merchant)
    }

    async fn render(&self) -> Result<String, PageError> {
        self.wanted.list(&self.console).await
    }

    fn watcher(&self) -> Watcher {
        self.session.watcher()
    }

    async fn may_watch(&self) -> bool {
        self.session.is_true().await
    }
}
