//! Manual moves of a sandbox payment, in place of its payer or of time. Only in test mode: otherwise no click moves
//! money.

use actix_web::HttpResponse;
use actix_web::web::{Data, Path};
use quita_acquirers::sandbox::{SandboxAction, manual_notice};
use quita_domain::audit::AuditAction;
use quita_domain::identity::Mode;
use quita_domain::payment::Payment;
use quita_domain::people::Permission;
use quita_domain::request::by_hand::PayByHand;
use quita_domain::status::Status;
use uuid::Uuid;

use super::own;
use crate::console::kit::answer::see_other;
use crate::console::kit::page_error::PageError;
use crate::console::merchant::MerchantConsole;
use crate::console::merchant::ask::{AskPage, AskWords, AskedPayment};
use crate::console::merchant::frame::MerchantSection;
use crate::console::merchant::mode::{InMode, base_of};
use crate::console::merchant::texts::MerchantTexts;
use crate::console::merchant::visitor::{PaymentChange, Visitor};

/// Actions offered on the page of a payment. A refund has its own button in every mode.
const OFFERED: [SandboxAction; 3] = [SandboxAction::Pay, SandboxAction::Expire, SandboxAction::Chargeback];

/// Lists the manual actions that a payment allows now; none unless a sandbox accepted it.
pub(super) fn possible(payment: &Payment, console: &MerchantConsole) -> Vec<SandboxAction> {
    let is_pretended = payment.owner.mode == Mode::Test
        && payment.acquirer().is_some_and(|acquirer| console.edge.is_sandbox(acquirer));
    let allowed = OFFERED.into_iter().filter(|action| payment.status().allows(action.target()));
    if is_pretended { allowed.collect() } else { Vec::new() }
}

/// Returns the label of an action's button. Paying after a chargeback wins the dispute.
pub(super) fn name(action: SandboxAction, status: Status, texts: &MerchantTexts) -> &'static str {
    let texts = &texts.payments;
    match action {
        SandboxAction::Pay if status == Status::Chargeback => texts.sandbox_win,
        SandboxAction::Pay => texts.sandbox_pay,
        SandboxAction::Expire => texts.sandbox_expire,
        SandboxAction::Refund => texts.refund,
        SandboxAction::Chargeback => texts.sandbox_chargeback,
    }
}

/// Handles `GET /console/{mode}/payments/{id}/sandbox/{action}`.
pub(crate) async fn ask(
    visitor: Visitor,
    InMode(mode): InMode,
    path: Path<(String, String, String)>,
    console: Data<MerchantConsole>,
) -> Result<HttpResponse, PageError> {
    visitor.must(Permission::ChangePayments)?;
    let payment = own(&visitor, mode, &path.1, &console).await?;
    let action = wanted(&path.2, &payment, &console)?;
    let frame = visitor.frame(mode, MerchantSection::Payments);
    let texts = &frame.texts.payments;
    let button = name(action, payment.status(), frame.texts);
    let back = format!("{}/payments/{}", frame.base, payment.id);
    let words =
        AskWords { question: texts.sandbox_question.into(), sentence: texts.sandbox_sentence, button };
    let mut page = AskPage::new(frame, words, back, &format!("sandbox/{}", action.as_str()));
    page.is_grave = false;
    page.payment = Some(AskedPayment { payment, amount: None, key: Uuid::nil() });
    page.show()
}

/// Handles `POST /console/{mode}/payments/{id}/sandbox/{action}`.
pub(crate) async fn act(
    change: PaymentChange,
    InMode(mode): InMode,
    path: Path<(String, String, String)>,
    console: Data<MerchantConsole>,
) -> Result<HttpResponse, PageError> {
    let PaymentChange { visitor, .. } = change;
    let payment = own(&visitor, mode, &path.1, &console).await?;
    let action = wanted(&path.2, &payment, &console)?;
    let before = payment.status();
    let notice = manual_notice(action, &PayByHand::default(), &payment, console.clock.now());
    let moved = console.edge.payments.submit_and_await(notice, &payment).await?;
    let draft = visitor.draft(AuditAction::SandboxMoved, payment.id).before(before);
    console.audit.note(&visitor.initiator(), draft.after(moved.status())).await;
    Ok(see_other(format!("{}/payments/{}?done=sandbox", base_of(mode), payment.id)))
}

fn wanted(text: &str, payment: &Payment, console: &MerchantConsole) -> Result<SandboxAction, PageError> {
    let action = SandboxAction::parse(text).filter(|action| OFFERED.contains(action));
    let action = action.ok_or(PageError::NotFound)?;
    if possible(payment, console).contains(&action) {
        return Ok(action);
    }
    // The payment has changed since the page was rendered, or was not accepted by a sandbox.
    Err(PageError::Refused(MerchantTexts::current().payments.sandbox_not_possible.into()))
}
