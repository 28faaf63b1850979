//! Payer's data: as a role may see it, and in full once, which is recorded in the audit log.

use actix_web::HttpResponse;
use actix_web::web::{Data, Path};
use askama::Template;
use quita_domain::audit::AuditAction;
use quita_domain::order::Payer;

use super::own;
use crate::console::kit::answer::html;
use crate::console::kit::page_error::PageError;
use crate::console::merchant::MerchantConsole;
use crate::console::merchant::frame::{MerchantFrame, MerchantSection};
use crate::console::merchant::mode::InMode;
use crate::console::merchant::visitor::PayerLook;

/// Payer's document and contacts, as shown.
pub(super) struct PayerView {
    /// Kind of document: CPF or CNPJ.
    pub(super) kind: &'static str,
    pub(super) document: String,
    pub(super) email: String,
    pub(super) phone: String,
}

impl PayerView {
    /// Creates the view: in full, or masked in such a way that payers can still be distinguished.
    pub(super) fn of(payer: &Payer, is_masked: bool) -> Self {
        let kind = payer.document.kind().as_str();
        if is_masked {
            let document = payer.document.masked();
            let phone = payer.phone.masked();
            return Self { kind, document, email: payer.masked_email(), phone };
        }
        let document = payer.document.formatted();
        let phone = payer.phone.e164();
        Self { kind, document, email: payer.email.clone(), phone }
    }
}

#[derive(Template)]
#[template(path = "console/merchant/payer.html")]
struct PayerPage {
    frame: MerchantFrame,
    name: String,
    payer: PayerView,
    back: String,
}

/// Handles `POST /console/{mode}/payments/{id}/payer`: shows the payer in full to a role that sees masked payers. The
/// payer is not shown unless the audit log entry was written.
pub(crate) async fn show(
    PayerLook(visitor): PayerLook,
    InMode(mode): InMode,
    path: Path<(String, String)>,
    console: Data<MerchantConsole>,
) -> Result<HttpResponse, PageError> {
    let payment = own(&visitor, mode, &path.1, &console).await?;
    let draft = visitor.draft(AuditAction::PayerShown, payment.id);
    console.audit.append(&visitor.initiator(), draft).await.map_err(|(_, error)| error)?;
    let frame = visitor.frame(mode, MerchantSection::Payments);
    let back = format!("{}/payments/{}", frame.base, payment.id);
    let payer = &payment.order.payer;
    html(&PayerPage { frame, name: payer.full_name(), payer: PayerView::of(payer, false), back })
}
