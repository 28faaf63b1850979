//! The audit log: what people changed, merchants' users and operators.

use actix_web::HttpResponse;
use actix_web::web::{Data, Query};
use askama::Template;
use quita_domain::audit::AuditScope;

use super::OperatorConsole;
use super::frame::{Entry, Part, navigation};
use super::visitor::Operator;
use crate::console::answer::html;
use crate::console::audit_log::{At, LogPart};
use crate::console::failure::Failure;
use crate::console::frame::Frame;

#[derive(Template)]
#[template(path = "ops/audit.html")]
struct AuditPage {
    frame: Frame,
    navigation: Vec<Entry>,
    log: LogPart,
}

/// `GET /audit`
pub(super) async fn show(
    operator: Operator,
    console: Data<OperatorConsole>,
    at: Query<At>,
) -> Result<HttpResponse, Failure> {
    let log = LogPart::read(console.store.as_ref(), &AuditScope::Everything, &at.cursor).await?;
    let frame = operator.frame();
    let page = AuditPage { navigation: navigation(Part::Audit, frame.texts), frame, log };
    html(&page)
}
