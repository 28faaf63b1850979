//! Which index a list of payments is found along, the same in both stores.

use quita_domain::listing::PaymentFilter;

/// An index that yields payments the newest first, all of which match a part of a filter.
///
/// What is left of the filter is compared with what the index holds besides, where much may have to be passed over:
/// then no payment is read that does not match. A payer has few payments, and so has a reference; a status, a method
/// or an amount may be that of a million.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum PaymentIndex {
    /// That one payment.
    Id,
    /// A payer's, by CPF or CNPJ.
    Document,
    /// A payer's, by e-mail address.
    Email,
    /// By the merchant's own id.
    ExternalReference,
    /// By status. Holds method and amount.
    Status,
    /// By amount. Holds the method.
    Amount,
    /// Everything. Holds method, status, amount, and when it was paid.
    Newest,
}

impl PaymentIndex {
    /// The narrowest one for a filter.
    pub(crate) fn of(filter: &PaymentFilter) -> Self {
        if filter.id.is_some() {
            Self::Id
        } else if filter.document.is_some() {
            Self::Document
        } else if filter.email.is_some() {
            Self::Email
        } else if filter.external_reference.is_some() {
            Self::ExternalReference
        } else if !filter.statuses.is_empty() {
            Self::Status
        } else if filter.amount.is_some() {
            Self::Amount
        } else {
            Self::Newest
        }
    }
}
