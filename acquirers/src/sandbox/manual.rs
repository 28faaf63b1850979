//! Payments that are moved by hand.

use quita_domain::acquiring::{Fact, Notice, Settlement};
use quita_domain::identity::AcquirerName;
use quita_domain::method::Method;
use quita_domain::payment::Payment;
use quita_domain::request::by_hand::{PaidBy, PayByHand};
use quita_domain::status::Status;
use quita_domain::time::Timestamp;

use super::movement;

/// Actions on a sandbox payment by hand.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SandboxAction {
    /// The payer pays; if the payment was charged back, the dispute is won.
    Pay,
    /// The time to pay is over.
    Expire,
    /// The whole remaining amount is returned to the payer.
    Refund,
    /// The payer's bank takes the money back.
    Chargeback,
}

impl SandboxAction {
    /// Every action.
    pub const ALL: [Self; 4] = [Self::Pay, Self::Expire, Self::Refund, Self::Chargeback];

    /// Returns the spelling in the API and on the command line.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Pay => "pay",
            Self::Expire => "expire",
            Self::Refund => "refund",
            Self::Chargeback => "chargeback",
        }
    }

    /// Returns the status that the payment reaches by this action.
    pub const fn target(self) -> Status {
        match self {
            Self::Pay => Status::Paid,
            Self::Expire => Status::Expired,
            Self::Refund => Status::Refund,
            Self::Chargeback => Status::Chargeback,
        }
    }

    /// Reads the spelling of the API.
    pub fn parse(text: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|action| action.as_str() == text)
    }
}

/// Returns the settlement of a payment made by hand.
fn settlement(pay: &PayByHand, payment: &Payment, now: Timestamp) -> Settlement {
    let query = payment.query();
    let on = pay.on.unwrap_or_else(|| now.sao_paulo_date());
    let amount = pay.amount.unwrap_or_else(|| movement::owed_on(&query, on));
    match pay.by {
        PaidBy::Pix if payment.method() == Method::Boleto => {
            movement::settlement_by_pix_code(&query, amount, on)
        }
        PaidBy::Barcode | PaidBy::Pix => movement::settlement(&query, amount, on),
    }
}

/// Returns the notice that the sandbox would send if this happened now.
///
/// Its id contains the payment's version, or the chargeback that it is about. So a double click is one notice, but the
/// same click after a change is another. `Pay` states the settlement that would come by itself, so that the payment is
/// never paid twice.
pub fn manual_notice(action: SandboxAction, pay: &PayByHand, payment: &Payment, now: Timestamp) -> Notice {
    let acquirer = payment.acquirer().cloned().unwrap_or_else(|| AcquirerName::new("sandbox"));
    let id = payment.id;
    let version = payment.state.version;
    let mut event = format!("{}-v{version}", action.as_str());
    let movement_id = format!("{}-{}-v{version}", action.as_str(), id.uuid().simple());
    let fact = match action {
        SandboxAction::Pay if payment.status() == Status::Chargeback => {
            let oldest = payment.open_chargebacks().next().map(|chargeback| chargeback.id.clone());
            // Each click wins one of several open disputes, and only the last one changes the payment's version.
            event = format!("won-{}", oldest.as_deref().unwrap_or_default());
            Fact::DisputeWon { id: event.clone(), chargeback_id: oldest }
        }
        SandboxAction::Pay => Fact::Settled(settlement(pay, payment, now)),
        SandboxAction::Expire => Fact::Expired,
        SandboxAction::Refund => Fact::Refunded { refund_id: movement_id, amount: None },
        SandboxAction::Chargeback => Fact::ChargedBack { id: movement_id, amount: None },
    };
    let notice_id = format!("{acquirer}:{id}:manual-{event}");
    Notice { id: notice_id, acquirer, transaction_id: id, fact, received_at: now }
}
