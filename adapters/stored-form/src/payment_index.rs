//! The index along which a list of payments is read, the same in both stores.

use quita_domain::listing::PaymentFilter;

/// The part of a filter that selects the index. Along each index the newest payments come first.
///
/// A payer has few payments, and so has a reference; a million payments may have the same amount, status or method. For
/// these, the rest of the filter is compared with the other values in the index. Entries that do not match are skipped
/// without reading the payment.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum PaymentIndex {
    /// The id of one payment.
    Id,
    /// The payer's CPF or CNPJ.
    Document,
    /// The payer's e-mail address.
    Email,
    /// By the merchant's own id.
    ExternalReference,
    /// By payment link.
    Link,
    /// By amount.
    Amount,
    /// The due date, with the values that payments with a due date are compared with.
    DueDate,
    /// By status, by method, or both.
    Kind,
    /// Everything.
    Newest,
}

impl PaymentIndex {
    /// Returns the narrowest index for a filter.
    pub fn of(filter: &PaymentFilter) -> Self {
        if filter.id.is_some() {
            Self::Id
        } else if filter.document.is_some() {
            Self::Document
        } else if filter.email.is_some() {
            Self::Email
        } else if filter.external_reference.is_some() {
            Self::ExternalReference
        } else if filter.link.is_some() {
            Self::Link
        } else if filter.amount.is_some() {
            Self::Amount
        } else if filter.has_due_date() {
            Self::DueDate
        } else if filter.method.is_some() || !filter.statuses.is_empty() {
            Self::Kind
        } else {
            Self::Newest
        }
    }
}
