//! CSV export of payments, streamed page by page while its reader stays signed in.

use std::sync::Arc;

use actix_web::http::header::CONTENT_DISPOSITION;
use actix_web::web::{Bytes, Data};
use actix_web::{HttpRequest, HttpResponse};
use futures_util::stream;
use quita_actors::Denied;
use quita_domain::audit::AuditAction;
use quita_domain::listing::{Cursor, PaymentFilter};
use quita_domain::payment::Payment;
use quita_domain::people::Permission;
use quita_domain::time::Timestamp;
use quita_ports::{Listed, Unreadable, place_of};
use thiserror::Error;

use super::search::{Search, names_of};
use crate::console::kit::csv::Csv;
use crate::console::kit::language::Language;
use crate::console::kit::page_error::PageError;
use crate::console::merchant::MerchantConsole;
use crate::console::merchant::mode::InMode;
use crate::console::merchant::session::StillIn;
use crate::console::merchant::texts::MerchantTexts;
use crate::console::merchant::visitor::Visitor;

/// Number of payments per read.
const PAGE: usize = 500;

const HEAD: [&str; 15] = [
    "transactionId",
    "externalReference",
    "status",
    "statusReason",
    "paymentMethod",
    "amount",
    "paidAmount",
    "refundedAmount",
    "customerName",
    "customerDocument",
    "customerEmail",
    "acquirer",
    "createdAt",
    "paidAt",
    "updatedAt",
];

/// Handles `GET /console/{mode}/payments.csv`.
pub(crate) async fn download(
    visitor: Visitor,
    InMode(mode): InMode,
    console: Data<MerchantConsole>,
    request: HttpRequest,
) -> Result<HttpResponse, PageError> {
    visitor.must(Permission::SeePayers)?;
    let search = Search::parse(request.query_string());
    let owner = visitor.owner(mode);
    let understood = search.understand(&owner, Language::current());
    // Ignoring an unreadable field would export more than requested.
    if !understood.unreadable.is_empty() {
        let texts = MerchantTexts::current();
        let names = names_of(&understood.unreadable, texts);
        return Err(PageError::Unreadable(format!("{} {names}", texts.payments.not_exported)));
    }
    console.user_limits.count_export(&visitor.user)?;
    let mut filter = understood.filter;
    if let Some(otherwise) = understood.otherwise
        && console.edge.payments.list(&filter, None, 1).await?.is_empty()
    {
        filter = otherwise;
    }
    let draft = visitor.draft(AuditAction::PaymentsExported, audit_summary(&filter));
    console.audit.note(&visitor.initiator(), draft).await;
    let csv = Csv::for_reader();
    let reader = StillIn::of(&visitor, &console);
    let export =
        PaymentExport { console: console.into_inner(), reader, csv, filter, after: None, is_over: false };
    let file = format!("attachment; filename=\"quita-{}.csv\"", mode.as_str());
    let head = stream::iter([Ok(Bytes::from(csv.head(HEAD)))]);
    let pages = stream::unfold(export, |export| export.next());
    use futures_util::StreamExt;
    Ok(HttpResponse::Ok()
        .content_type("text/csv; charset=utf-8")
        .insert_header((CONTENT_DISPOSITION, file))
        .streaming(head.chain(pages)))
}

/// Summarises an export for the audit log: the fields by which a payer was searched for.
fn audit_summary(filter: &PaymentFilter) -> String {
    // The values of these fields are left out, because nothing is ever deleted from the log.
    let searched = [
        ("id", filter.id.is_some()),
        ("document", filter.document.is_some()),
        ("email", filter.email.is_some()),
        ("reference", filter.external_reference.is_some()),
    ];
    let searched = searched.into_iter().filter(|(_, is_searched)| *is_searched);
    let day = |at: Timestamp| at.sao_paulo_date();
    std::iter::once(filter.mode.as_str().to_owned())
        .chain(searched.map(|(name, _)| format!("by {name}")))
        .chain(filter.statuses.iter().map(|status| format!("status={status}")))
        .chain(filter.method.map(|method| format!("method={}", method.as_str())))
        .chain(filter.amount.map(|amount| format!("amount={amount}")))
        .chain(filter.created_from.map(|at| format!("from={}", day(at))))
        .chain(filter.created_to.map(|at| format!("before={}", day(at))))
        .collect::<Vec<_>>()
        .join(" ")
}

/// Reason why an export is aborted.
#[derive(Debug, Error)]
enum PaymentExportError {
    /// A page could not be read.
    #[error("{0}")]
    Denied(#[from] Denied),
    /// The reader has signed out, was removed, or got another password or role.
    #[error("its reader is not signed in any more")]
    SignedOut,
}

/// Export in progress.
struct PaymentExport {
    console: Arc<MerchantConsole>,
    reader: StillIn,
    csv: Csv,
    filter: PaymentFilter,
    after: Option<Cursor>,
    is_over: bool,
}

impl PaymentExport {
    /// Returns the next page as lines. A failure aborts the download, so that nobody mistakes it for complete.
    async fn next(mut self) -> Option<(Result<Bytes, PaymentExportError>, Self)> {
        if self.is_over {
            return None;
        }
        let lines = self.page().await;
        if let Err(why) = &lines {
            self.is_over = true;
            tracing::warn!(%why, "an export was cut short");
        }
        Some((lines, self))
    }

    async fn page(&mut self) -> Result<Bytes, PaymentExportError> {
        // A page is read only after the previous one was sent, so the session is checked for each page, even of a slow
        // download.
        if !self.reader.is_true().await {
            return Err(PaymentExportError::SignedOut);
        }
        let payments = self.console.edge.payments.list(&self.filter, self.after, PAGE).await?;
        self.is_over = payments.len() < PAGE;
        self.after = payments.last().map(place_of);
        let line = |listed| self.csv.line(cells_of(listed, self.csv));
        Ok(Bytes::from(payments.iter().map(line).collect::<String>()))
    }
}

/// Returns the cells of a payment. If it can't be read, they contain its id, its time, and a word instead of its
/// status.
fn cells_of(listed: &Listed, csv: Csv) -> [String; 15] {
    match listed {
        Ok(payment) => cells(payment, csv),
        Err(Unreadable(place)) => {
            let known = [
                ("transactionId", place.id.to_string()),
                ("status", "unreadable".into()),
                ("createdAt", place.created_at.to_string()),
            ];
            HEAD.map(|column| {
                known.iter().find(|(name, _)| *name == column).map_or(String::new(), |(_, cell)| cell.clone())
            })
        }
    }
}

fn cells(payment: &Payment, csv: Csv) -> [String; 15] {
    let order = &payment.order;
    let state = &payment.state;
    let time = |at: Option<Timestamp>| at.map(|at| at.to_string()).unwrap_or_default();
    [
        payment.id.to_string(),
        order.external_reference.clone().unwrap_or_default(),
        payment.status().as_str().into(),
        state.status_reason.clone().unwrap_or_default(),
        order.method.as_str().into(),
        csv.amount(order.amount),
        state.captured_amount.map(|amount| csv.amount(amount)).unwrap_or_default(),
        csv.amount(state.refunded_amount()),
        order.payer.full_name(),
        order.payer.document.as_str().to_owned(),
        order.payer.email.clone(),
        payment.acquirer().map(ToString::to_string).unwrap_or_default(),
        payment.created_at.to_string(),
        time(state.paid_at),
        state.updated_at.to_string(),
    ]
}

#[cfg(test)]
mod tests {
    use super::*;
    use quita_domain::identity::{ApplicationName, MerchantId, Mode, Owner};

    #[test]
    fn the_audit_log_tells_by_what_was_searched_and_not_for_whom() {
        let merchant = MerchantId::new("demo");
        let application = ApplicationName::new("default");
        let owner = Owner { merchant, application, mode: Mode::Live };
        let of =
            |query: &str| audit_summary(&Search::parse(query).understand(&owner, Language::English).filter);
        for (query, expected) in [
            ("", "live"),
            ("q=529.982.247-25", "live by document"),
            ("q=ana%40b.co&status=paid&status=pending", "live by email status=pending status=paid"),
            ("q=pedido-7&method=PIX&amount=0050.1", "live by reference method=PIX amount=50.10"),
            ("q=01980000-0000-7000-8000-00000000000a", "live by id"),
            ("from=2026-11-01&to=2026-11-02", "live from=2026-11-01 before=2026-11-03"),
        ] {
            assert_eq!(of(query), expected);
        }
    }
}
