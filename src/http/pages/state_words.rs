//! How a page names the status of a payment, in Portuguese.

use quita_domain::status::Status;

/// What a page says about a status: a word or two for the badge, a sentence below it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct StateWords {
    /// Which status the words are for.
    pub(crate) status: Status,
    /// What the badge says.
    pub(crate) label: &'static str,
    /// What it means for the payer, which depends on the method.
    pub(crate) sentence: &'static str,
}

impl StateWords {
    /// The method's sentence under the badge that all methods share.
    pub(crate) fn new(status: Status, sentence: &'static str) -> Self {
        let label = match status {
            Status::Initial => "Preparando",
            Status::Pending | Status::Approved => "Aguardando pagamento",
            Status::Paid => "Pago",
            Status::Declined => "Não autorizado",
            Status::Expired => "Expirado",
            Status::Cancelled => "Cancelado",
            Status::Refund => "Devolvido",
            Status::Chargeback => "Contestado",
        };
        Self { status, label, sentence }
    }

    /// Whether the payer can still pay.
    pub(crate) fn is_open(&self) -> bool {
        is_open(self.status)
    }
}

/// Whether a page offers something to pay.
pub(crate) fn is_open(status: Status) -> bool {
    match status {
        Status::Initial | Status::Pending | Status::Approved => true,
        Status::Paid
        | Status::Declined
        | Status::Expired
        | Status::Cancelled
        | Status::Refund
        | Status::Chargeback => false,
    }
}
