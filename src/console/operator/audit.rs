//! Audit log of all changes by people: merchants' users and operators.

use actix_web::HttpResponse;
use actix_web::web::{Data, Query};
use askama::Template;
use quita_domain::audit::AuditScope;

use super::OperatorConsole;
use super::frame::{OperatorFrame, OperatorSection};
use super::visitor::Operator;
use crate::console::kit::answer::html;
use crate::console::kit::audit_log::{AuditQuery, LogPart};
use crate::console::kit::page_error::PageError;

#[derive(Template)]
#[template(path = "console/operator/audit.html")]
struct OperatorAuditPage {
    frame: OperatorFrame,
    log: LogPart,
}

/// Handles `GET /audit`.
pub(super) async fn show(
    operator: Operator,
    console: Data<OperatorConsole>,
    at: Query<AuditQuery>,
) -> Result<HttpResponse, PageError> {
    let log = LogPart::read(console.store.as_ref(), &AuditScope::Everything, &at.cursor).await?;
    let frame = operator.frame(OperatorSection::Audit);
    let page = OperatorAuditPage { frame, log };
    html(&page)
}
