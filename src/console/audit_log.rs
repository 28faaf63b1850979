//! The audit log, for owners: what people changed.

use actix_web::HttpResponse;
use actix_web::web::{Data, Query};
use askama::Template;
use quita_domain::audit::{AuditCursor, AuditEntry, AuditScope};
use quita_domain::people::Permission;
use quita_ports::AuditStore;
use serde::Deserialize;

use super::Console;
use super::answer::html;
use super::failure::Failure;
use super::frame::{Frame, Section};
use super::mode::InMode;
use super::visitor::Visitor;

/// Entries on a page.
const PAGE: usize = 50;

#[derive(Template)]
#[template(path = "console/audit.html")]
struct AuditPage {
    frame: Frame,
    log: LogPart,
}

/// One page of the log, in either console.
pub(crate) struct LogPart {
    pub(crate) entries: Vec<AuditEntry>,
    pub(crate) older: Option<String>,
    pub(crate) is_first: bool,
}

impl LogPart {
    /// Reads the page after this place.
    pub(crate) async fn read(
        store: &(impl AuditStore + ?Sized),
        scope: &AuditScope,
        cursor: &str,
    ) -> Result<Self, Failure> {
        let after = AuditCursor::parse(cursor);
        let mut entries = store.audit(scope, after, PAGE.saturating_add(1)).await?;
        let has_more = entries.len() > PAGE;
        entries.truncate(PAGE);
        let last = entries.last().filter(|_| has_more);
        let older = last.map(|last| AuditCursor { at: last.at, id: last.id }.to_string());
        Ok(Self { entries, older, is_first: after.is_none() })
    }
}

/// Where in the log to begin.
#[derive(Deserialize)]
pub(crate) struct At {
    #[serde(default)]
    pub(crate) cursor: String,
}

/// `GET /console/{mode}/audit`
pub(crate) async fn show(
    visitor: Visitor,
    InMode(mode): InMode,
    console: Data<Console>,
    at: Query<At>,
) -> Result<HttpResponse, Failure> {
    visitor.must(Permission::ManagePeople)?;
    let scope = AuditScope::Merchant(visitor.user.merchant.clone());
    let log = LogPart::read(console.store.as_ref(), &scope, &at.cursor).await?;
    let page = AuditPage { frame: visitor.frame(mode, Section::Audit), log };
    html(&page)
}
