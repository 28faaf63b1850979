//! Names of a payment's status on the pages, in Portuguese.

use quita_domain::status::Status;

/// Texts about a status: a word or two for the badge, a sentence below it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct StateWords {
    /// Status that the texts are about.
    pub(crate) status: Status,
    /// Text of the badge.
    pub(crate) label: &'static str,
    /// Meaning for the payer, which depends on the method.
    pub(crate) sentence: &'static str,
}

impl StateWords {
    /// Combines the method's sentence with the badge that all methods share.
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

    /// Returns true if the payer can still pay.
    pub(crate) fn is_open(&self) -> bool {
        is_open(self.status)
    }
}

/// Returns true if a page offers something to pay.
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
