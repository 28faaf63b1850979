//! Audit log of all changes by people: merchants' users and operators.

use actix_web::HttpResponse;
use actix_web::web::{Data, Query};
use askama::Template;
use quita_domain::audit::AuditScope;

use super::OperatorConsole;
use super::frame::{Frame, Section};
use super::visitor::Operator;
use crate::console::kit::answer::html;
use crate::console::kit::audit_log::{At, LogPart};
use crate::console::kit::failure::Failure;

#[derive(Template)]
#[template(path = "console/operator/audit.html")]
struct AuditPage {
    frame: Frame,
    log: LogPart,
}

/// Handles `GET /audit`.
pub(super) async fn show(
    operator: Operator,
    console: Data<OperatorConsole>,
    at: Query<At>,
) -> Result<HttpResponse, Failure> {
    let log = LogPart::read(console.store.as_ref(), &AuditScope::Everything, &at.cursor).await?;
    let frame = operator.frame(Section::Audit);
    let page = AuditPage { frame, log };
    html(&page)
}
