//! Audit log of a merchant, for its owners.

use actix_web::HttpResponse;
use actix_web::web::{Data, Query};
use askama::Template;
use quita_domain::audit::AuditScope;
use quita_domain::people::Permission;

use super::MerchantConsole;
use super::frame::{Frame, Section};
use super::mode::InMode;
use super::visitor::Visitor;
use crate::console::kit::answer::html;
use crate::console::kit::audit_log::{At, LogPart};
use crate::console::kit::failure::Failure;

#[derive(Template)]
#[template(path = "console/merchant/audit.html")]
struct AuditPage {
    frame: Frame,
    log: LogPart,
}

/// Handles `GET /console/{mode}/audit`.
pub(crate) async fn show(
    visitor: Visitor,
    InMode(mode): InMode,
    console: Data<MerchantConsole>,
    at: Query<At>,
) -> Result<HttpResponse, Failure> {
    visitor.must(Permission::ManagePeople)?;
    let scope = AuditScope::Merchant(visitor.user.merchant.clone());
    let log = LogPart::read(console.store.as_ref(), &scope, &at.cursor).await?;
    let page = AuditPage { frame: visitor.frame(mode, Section::Audit), log };
    html(&page)
}
