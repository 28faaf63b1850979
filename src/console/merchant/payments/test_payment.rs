//! Test payment created with one click, only in test mode.

use std::sync::Arc;

use actix_web::HttpResponse;
use actix_web::web::Data;
use quita_actors::{CreatePayment, Denied};
use quita_domain::audit::AuditAction;
use quita_domain::identity::{Mode, Owner, TransactionId};
use quita_domain::request;
use uuid::Uuid;

use crate::console::kit::answer::see_other;
use crate::console::kit::page_error::PageError;
use crate::console::merchant::MerchantConsole;
use crate::console::merchant::mode::{InMode, base_of};
use crate::console::merchant::texts::MerchantTexts;
use crate::console::merchant::visitor::PaymentChange;
use crate::sample_request;

/// Amount of the test payment. The sandbox leaves amounts that end in 27 pending, to be moved manually.
const AMOUNT_CENTS: u64 = 10_027;

/// Handles `POST /console/{mode}/test-payment`.
pub(crate) async fn create(
    change: PaymentChange,
    InMode(mode): InMode,
    console: Data<MerchantConsole>,
) -> Result<HttpResponse, PageError> {
    if mode != Mode::Test {
        return Err(PageError::NotFound);
    }
    let PaymentChange { visitor, .. } = change;
    let new = new_payment(visitor.owner(mode), &console).await?;
    let created = match console.edge.payments.create(new).await {
        Ok(created) => created,
        Err(Denied::MethodUnavailable) => {
            return Err(PageError::Refused(MerchantTexts::current().payments.no_test_acquirer.into()));
        }
        Err(denied) => return Err(denied.into()),
    };
    let id = created.payment.id;
    let draft = visitor.draft(AuditAction::TestPaymentCreated, id).after(created.payment.status());
    console.audit.note(&visitor.initiator(), draft).await;
    Ok(see_other(format!("{}/payments/{id}", base_of(mode))))
}

/// Returns a PIX payment by the README's payer, whose events go to the endpoint of the application.
async fn new_payment(owner: Owner, console: &MerchantConsole) -> Result<CreatePayment, PageError> {
    let defect = |why: &str| PageError::Defect(format!("the test payment: {why}"));
    let edge = &console.edge;
    let body = sample_request::body_of(AMOUNT_CENTS, None);
    let parsed = request::parse(body.as_bytes(), console.clock.now(), &edge.limits);
    let purchase = parsed.and_then(request::ParsedRequest::into_purchase);
    let mut purchase = purchase.map_err(|_| defect("its request breaks a rule"))?;
    let endpoint = edge.endpoint(&purchase.order, &owner).await?;
    Arc::make_mut(&mut purchase.order).postback_url = endpoint;
    let id = TransactionId::new(Uuid::now_v7());
    // The API responds in the same way while the node's secret keys are not in order.
    let page_token = edge.keyring.page_token(id);
    let page_token = page_token.ok_or_else(|| PageError::Unavailable("the secret key is missing".into()))?;
    Ok(CreatePayment {
        id,
        owner,
        purchase,
        fingerprint: None,
        card_fingerprint: None,
        other_card_fingerprints: Vec::new(),
        used_token: None,
        page_token,
        link: None,
    })
}
