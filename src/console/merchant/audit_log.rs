//! Audit log of a merchant, for its owners.

use actix_web::HttpResponse;
use actix_web::web::{Data, Query};
use askama::Template;
use quita_domain::audit::AuditScope;
use quita_domain::people::Permission;

use super::MerchantConsole;
use super::frame::{MerchantFrame, MerchantSection};
use super::mode::InMode;
use super::visitor::Visitor;
use crate::console::kit::answer::html;
use crate::console::kit::audit_log::{AuditQuery, LogPart};
use crate::console::kit::page_error::PageError;

#[derive(Template)]
#[template(path = "console/merchant/audit.html")]
struct MerchantAuditPage {
    frame: MerchantFrame,
    log: LogPart,
}

/// Handles `GET /console/{mode}/audit`.
pub(crate) async fn show(
    visitor: Visitor,
    InMode(mode): InMode,
    console: Data<MerchantConsole>,
    at: Query<AuditQuery>,
) -> Result<HttpResponse, PageError> {
    visitor.must(Permission::ManagePeople)?;
    let scope = AuditScope::Merchant(visitor.user.merchant.clone());
    let log = LogPart::read(console.store.as_ref(), &scope, &at.cursor).await?;
    let page = MerchantAuditPage { frame: visitor.frame(mode, MerchantSection::Audit), log };
    html(&page)
}
