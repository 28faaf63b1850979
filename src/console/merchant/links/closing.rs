//! Closing of a link, with or without its pending payments.

use actix_web::HttpResponse;
use actix_web::web::{Data, Path};
use quita_domain::audit::AuditAction;
use quita_domain::link::{Link, LinkStatus};
use quita_domain::people::Permission;

use crate::console::kit::answer::see_other;
use crate::console::kit::page_error::PageError;
use crate::console::merchant::MerchantConsole;
use crate::console::merchant::ask::{AskPage, AskWords};
use crate::console::merchant::frame::MerchantSection;
use crate::console::merchant::mode::{InMode, base_of};
use crate::console::merchant::visitor::{PaymentChange, Visitor};
use crate::http::{ErrorCode, link_payments, links as api};

/// Form field that requests the cancellation of pending payments.
const CANCEL_PENDING: &str = "cancelPending";

/// Handles `GET /console/{mode}/links/{id}/close`.
pub(crate) async fn ask(
    visitor: Visitor,
    InMode(mode): InMode,
    path: Path<(String, String)>,
    console: Data<MerchantConsole>,
) -> Result<HttpResponse, PageError> {
    visitor.must(Permission::ChangePayments)?;
    let link = api::own(&console.edge, &path.1, &visitor.owner(mode)).await?;
    let frame = visitor.frame(mode, MerchantSection::Links);
    let texts = &frame.texts.links;
    let question = texts.close_question.replace("{title}", &link.offer.title);
    let words = AskWords { question, sentence: texts.close_sentence, button: texts.close };
    let choice = texts.cancel_pending;
    let back = format!("{}/links/{}", frame.base, link.id);
    let mut page = AskPage::new(frame, words, back, "close");
    page.choice = Some((CANCEL_PENDING, choice));
    page.show()
}

/// Handles `POST /console/{mode}/links/{id}/close`.
pub(crate) async fn close(
    change: PaymentChange,
    InMode(mode): InMode,
    path: Path<(String, String)>,
    console: Data<MerchantConsole>,
) -> Result<HttpResponse, PageError> {
    let PaymentChange { visitor, form } = change;
    let edge = &console.edge;
    let link = api::own(edge, &path.1, &visitor.owner(mode)).await?;
    let (before, _) = api::status_of(edge, &link).await?;
    let link = api::closed(edge, link).await?;
    let (after, _) = api::status_of(edge, &link).await?;
    let draft = visitor.draft(AuditAction::LinkClosed, link.id).before(before.as_str());
    if form.text(CANCEL_PENDING).is_empty() {
        if before != after {
            console.audit.note(&visitor.initiator(), draft.after(after.as_str())).await;
        }
        let done = if after == LinkStatus::Closed { "closed" } else { "unchanged" };
        return Ok(back_to(&link, done));
    }
    let cancelled = link_payments::cancel_all(edge, &link).await;
    let (words, done) = match &cancelled {
        Ok(()) => ("no payment waits", "cancelled"),
        Err(_) => ("not every payment is cancelled yet", "cancelling"),
    };
    let draft = draft.after(format!("{}, {words}", after.as_str()));
    console.audit.note(&visitor.initiator(), draft).await;
    match cancelled {
        Err(error) if error.error_code() != ErrorCode::OutcomeUnknown => Err(error.into()),
        Ok(()) | Err(_) => Ok(back_to(&link, done)),
    }
}

fn back_to(link: &Link, done: &str) -> HttpResponse {
    see_other(format!("{}/links/{}?done={done}", base_of(link.owner.mode), link.id))
}
