//! Index that a list of payments is read along, the same in both stores.

use quita_domain::listing::PaymentFilter;

/// The part of a filter that an index is taken for, in whose order the newest come first.
///
/// A payer has few payments, and so has a reference; an amount, a status or a method may be that of a million. So for
/// these the rest of the filter is compared with what their indexes hold besides, and what does not match is passed
/// over without reading it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum PaymentIndex {
    /// The id of one payment.
    Id,
    /// A payer's, by CPF or CNPJ.
    Document,
    /// A payer's, by e-mail address.
    Email,
    /// By the merchant's own id.
    ExternalReference,
    /// By payment link.
    Link,
    /// By amount.
    Amount,
    /// By due date: those that have one, and what they are compared with.
    DueDate,
    /// By status, by method, or both.
    Kind,
    /// Everything.
    Newest,
}

impl PaymentIndex {
    /// The narrowest one for a filter.
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
