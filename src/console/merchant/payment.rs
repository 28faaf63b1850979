//! Page of one payment: its record, its history, and the operations that it allows.

pub(crate) mod by_hand;
mod due;
pub(crate) mod operations;
pub(crate) mod payer;
mod route;
mod timeline;

use std::sync::Arc;

use actix_web::HttpResponse;
use actix_web::web::{Data, Path, Query};
use askama::Template;
use quita_acquirers::sandbox::SandboxAction;
use quita_domain::acquiring::Issued;
use quita_domain::delivery::{Delivery, DeliveryState};
use quita_domain::event::Event;
use quita_domain::identity::{Mode, Owner, TransactionId};
use quita_domain::money::Money;
use quita_domain::operation::RequestedOperation;
use quita_domain::order::{Address, Share};
use quita_domain::payment::Payment;
use quita_domain::people::Permission;

use super::MerchantConsole;
use super::deliveries::state_of;
use super::frame::{MerchantFrame, MerchantSection};
use super::mode::{InMode, base_of};
use super::session::StillIn;
use super::texts::MerchantTexts;
use super::visitor::{Onlooker, Visitor};
use crate::console::kit::answer::{Done, html};
use crate::console::kit::cost::cost_beside;
use crate::console::kit::language::Language;
use crate::console::kit::live::LivePart;
use crate::console::kit::page_error::PageError;
use crate::console::kit::stream_permits::Watcher;
use payer::PayerView;
use route::RouteStep;
use timeline::Moment;
pub(super) use timeline::tone_of_refund;

#[derive(Template)]
#[template(path = "console/merchant/payment.html")]
struct PaymentPage {
    frame: MerchantFrame,
    title: String,
    stream: String,
    body: String,
    /// Address that shows the payer in full, for a role that sees masked payers.
    unmask: Option<String>,
}

/// Live part of the page, which is all of it.
#[derive(Template)]
#[template(path = "console/merchant/payment_body.html")]
struct PaymentBody {
    texts: &'static MerchantTexts,
    language: Language,
    /// Address of this payment's pages.
    base: String,
    payment: Arc<Payment>,
    payer: PayerView,
    public_url: String,
    may_change: bool,
    sees_payers: bool,
    /// Manual actions on a payment that a sandbox accepted.
    by_hand: Vec<SandboxAction>,
    moments: Vec<Moment>,
    route: Vec<RouteStep>,
    /// Cost according to the table of costs.
    reckoned: Option<Money>,
}

/// Delivery as a row.
struct DeliveryRow {
    index: usize,
    event: String,
    state: &'static str,
    state_name: &'static str,
    attempts: usize,
    version: usize,
}

impl PaymentBody {
    fn allows(&self, requested: RequestedOperation) -> bool {
        self.may_change && self.payment.permits(requested).is_ok()
    }

    fn by_hand_name(&self, action: &SandboxAction) -> &'static str {
        by_hand::name(*action, self.payment.status(), self.texts)
    }

    fn may_cancel(&self) -> bool {
        self.allows(RequestedOperation::Cancel)
    }

    fn may_capture(&self) -> bool {
        self.allows(RequestedOperation::Capture(None))
    }

    fn may_refund(&self) -> bool {
        self.allows(RequestedOperation::Refund(None))
    }

    fn due_rows(&self) -> Vec<(&'static str, String)> {
        due::rows(&self.payment, self.texts, self.language)
    }

    /// Returns the acquirer's ids of the charge, with their names.
    fn reference(&self) -> Vec<(&str, &str)> {
        let attempt = self.payment.state.attempts.last();
        attempt.map(|attempt| attempt.reference.shown().collect()).unwrap_or_default()
    }

    fn issued(&self) -> Option<&Issued> {
        self.payment.state.issued.as_deref()
    }

    fn pix_page(&self) -> String {
        format!("{}/pix/{}", self.public_url, self.payment.page_token)
    }

    /// Returns the address of the boleto page. The page shows the payer in full, so a role that sees masked payers gets
    /// none.
    fn boleto_page(&self) -> Option<String> {
        let page = || format!("{}/boletos/{}", self.public_url, self.payment.page_token);
        self.sees_payers.then(page)
    }

    fn address(&self) -> String {
        let address = self.payment.order.payer.address.as_ref();
        address.map_or_else(|| String::from("–"), address_line)
    }

    fn share(&self, share: &Share) -> String {
        match *share {
            Share::Amount(amount) => self.language.money(amount),
            Share::BasisPoints(points) => self.language.basis_points(points),
        }
    }

    /// Returns the cost stated by the acquirer, next to the calculated one.
    fn cost(&self) -> Option<String> {
        cost_beside(
            self.payment.state.cost,
            self.reckoned,
            self.language,
            self.texts.everywhere.reckoned_cost,
        )
    }

    fn captured(&self) -> Money {
        self.payment.state.captured_amount.unwrap_or_default()
    }

    fn deliveries(&self) -> Vec<DeliveryRow> {
        let rows = self.payment.outbox.iter().enumerate();
        rows.map(|(index, delivery)| self.delivery(index, delivery)).collect()
    }

    fn delivery(&self, index: usize, delivery: &Delivery) -> DeliveryRow {
        let event = self.payment.event(delivery.sequence).map(Event::name).unwrap_or_default();
        let (state, state_name) = state_of(delivery, self.language);
        let is_over = usize::from(delivery.state != DeliveryState::Pending);
        let attempts = delivery.attempts.len();
        DeliveryRow {
            index,
            event,
            state,
            state_name,
            attempts,
            version: attempts.saturating_mul(2) + is_over,
        }
    }
}

/// Returns a postal address as one line.
pub(super) fn address_line(address: &Address) -> String {
    let complement = address.complement.as_ref().map(|text| format!(", {text}")).unwrap_or_default();
    let city = format!("{} – {}, {}", address.city, address.state.as_str(), address.zip_code.formatted());
    format!("{}, {}{complement}, {}, {city}", address.street, address.number, address.neighborhood)
}

/// Handles `GET /console/{mode}/payments/{id}`.
pub(crate) async fn show(
    visitor: Visitor,
    InMode(mode): InMode,
    path: Path<(String, String)>,
    console: Data<MerchantConsole>,
    done: Query<Done>,
) -> Result<HttpResponse, PageError> {
    let wanted = PaymentAccess::of(&visitor, mode, &path.1)?;
    let payment = wanted.read(&console).await?;
    let mut frame = visitor.frame(mode, MerchantSection::Payments);
    frame.notice = notice(frame.texts, &done.done);
    let stream = format!("{}/payments/{}/stream", frame.base, payment.id);
    let unmask = (!wanted.sees_payers).then(|| format!("{}/payments/{}/payer", frame.base, payment.id));
    let title = payment.order.external_reference.clone().unwrap_or_else(|| payment.id.to_string());
    let page = PaymentPage { frame, title, stream, body: wanted.body(&console, payment)?, unmask };
    html(&page)
}

fn notice(texts: &MerchantTexts, done: &str) -> Option<&'static str> {
    let texts = &texts.payments;
    match done {
        "cancel" => Some(texts.notice_cancelled),
        "capture" => Some(texts.notice_captured),
        "refund" => Some(texts.notice_refunded),
        "redeliver" => Some(texts.notice_redelivered),
        "sandbox" => Some(texts.notice_sandbox),
        "processing" => Some(texts.notice_processing),
        _ => None,
    }
}

/// Handles `GET /console/{mode}/payments/{id}/stream`.
pub(crate) async fn stream(
    Onlooker(visitor): Onlooker,
    InMode(mode): InMode,
    path: Path<(String, String)>,
    console: Data<MerchantConsole>,
) -> Result<HttpResponse, PageError> {
    let wanted = PaymentAccess::of(&visitor, mode, &path.1)?;
    wanted.read(&console).await?;
    let session = StillIn::of(&visitor, &console);
    let streams = Arc::clone(&console.streams);
    streams.open(LivePayment { wanted, session, console: console.into_inner() })
}

/// Finds the payment with this id among those of the visitor's merchant.
pub(crate) async fn own(
    visitor: &Visitor,
    mode: Mode,
    id: &str,
    console: &MerchantConsole,
) -> Result<Arc<Payment>, PageError> {
    PaymentAccess::of(visitor, mode, id)?.read(console).await
}

/// Requested payment, with the visitor's permissions.
struct PaymentAccess {
    owner: Owner,
    id: TransactionId,
    language: Language,
    /// Address of its page, stored because a stream renders outside of any request.
    base: String,
    may_change: bool,
    sees_payers: bool,
}

impl PaymentAccess {
    fn of(visitor: &Visitor, mode: Mode, id: &str) -> Result<Self, PageError> {
        let id = TransactionId::parse(id).ok_or(PageError::NotFound)?;
        let may_change = visitor.user.role.permits(Permission::ChangePayments);
        let sees_payers = visitor.user.role.permits(Permission::SeePayers);
        let owner = visitor.owner(mode);
        let base = format!("{}/payments/{id}", base_of(mode));
        Ok(Self { owner, id, language: Language::current(), base, may_change, sees_payers })
    }

    async fn read(&self, console: &MerchantConsole) -> Result<Arc<Payment>, PageError> {
        Ok(console.edge.payments.read_own(self.id, &self.owner).await?)
    }

    fn body(&self, console: &MerchantConsole, payment: Arc<Payment>) -> Result<String, PageError> {
        let body = PaymentBody {
            texts: MerchantTexts::of(self.language),
            language: self.language,
            base: self.base.clone(),
            public_url: console.edge.public_url.clone(),
            may_change: self.may_change,
            sees_payers: self.sees_payers,
            by_hand: if self.may_change { by_hand::possible(&payment, console) } else { Vec::new() },
            payer: PayerView::of(&payment.order.payer, !self.sees_payers),
            moments: timeline::of(&payment, self.language, self.sees_payers),
            route: route::of(&payment, self.language),
            reckoned: console.edge.payments.reckoned_cost(&payment),
            payment,
        };
        Ok(body.render()?)
    }
}

/// Payment as a stream polls it.
struct LivePayment {
    wanted: PaymentAccess,
    session: StillIn,
    console: Arc<MerchantConsole>,
}

impl LivePart for LivePayment {
    fn key(&self) -> String {
        let PaymentAccess { owner, id, language, base: _, may_change, sees_payers } = &self.wanted;
        format!("payment {id} {} {may_change} {sees_payers} {}", language.tag(), owner.merchant)
    }

    async fn render(&self) -> Result<String, PageError> {
        let payment = self.wanted.read(&self.console).await?;
        self.wanted.body(&self.console, payment)
    }

    fn watcher(&self) -> Watcher {
        self.session.watcher()
    }

    async fn may_watch(&self) -> bool {
        self.session.is_true().await
    }
}
