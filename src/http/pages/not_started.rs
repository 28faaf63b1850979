//! Payments that are `declined` although nobody declined them: words for their payers.

use quita_domain::payment::{NO_ACQUIRER_AVAILABLE, Payment};
use quita_domain::status::Status;

use super::checkout_page::{FormMistake, StateView};
use super::checkout_words::pick;
use crate::console::Language;

/// Reason why a payment was given up before anybody could decline it. Nothing was charged.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum NotStarted {
    /// No acquirer could be reached.
    Unreached,
    /// The charge was not sent again, because the card's number was no longer in memory.
    Interrupted,
    /// The acquirer sent no code to pay with.
    NoCode,
}

impl NotStarted {
    const ALL: [Self; 3] = [Self::Unreached, Self::Interrupted, Self::NoCode];

    /// Returns the reason of a payment. `None` if it was declined by somebody, or has another status.
    pub(crate) fn of(payment: &Payment) -> Option<Self> {
        Self::of_reason(payment.status(), payment.state.status_reason.as_deref()?)
    }

    fn of_reason(status: Status, reason: &str) -> Option<Self> {
        let is_declined = status == Status::Declined;
        Self::ALL.into_iter().find(|one| is_declined && one.reason() == reason)
    }

    /// Returns the `statusReason` of such payments.
    const fn reason(self) -> &'static str {
        match self {
            Self::Unreached => NO_ACQUIRER_AVAILABLE,
            Self::Interrupted => "interrupted",
            Self::NoCode => "no_code",
        }
    }

    /// Returns the state that the page shows.
    pub(crate) const fn state(self, language: Language) -> StateView {
        let label = match self {
            Self::Unreached | Self::NoCode => pick(language, "Não iniciado", "Not started"),
            Self::Interrupted => pick(language, "Interrompido", "Interrupted"),
        };
        let sentence = match self {
            Self::Unreached => pick(
                language,
                "Não conseguimos contato com o banco. Nada foi cobrado. Tente de novo mais tarde.",
                "We could not reach the bank. You have not been charged. Please try again later.",
            ),
            Self::Interrupted => pick(
                language,
                "Este pagamento foi interrompido antes da cobrança. Nada foi cobrado. Tente de novo.",
                "This payment was interrupted before the charge. You have not been charged. Please try again.",
            ),
            Self::NoCode => pick(
                language,
                "O banco não enviou o código para pagar. Nada foi cobrado. Tente de novo ou escolha outro meio.",
                "The bank sent no code to pay with. You have not been charged. Try again, or choose another method.",
            ),
        };
        StateView { word: Status::Declined.as_str(), label, sentence }
    }

    /// Returns the same as a notice above the form. The payer made no mistake in any field.
    pub(crate) const fn notice(self, language: Language) -> FormMistake {
        FormMistake { field: "", code: self.reason(), words: self.state(language).sentence }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_payment_that_nobody_declined_is_told_from_one_that_somebody_did() {
        for (reason, expected) in [
            ("no_acquirer_available", Some(NotStarted::Unreached)),
            ("interrupted", Some(NotStarted::Interrupted)),
            ("no_code", Some(NotStarted::NoCode)),
            ("acquirer_refused", None),
            ("antifraud", None),
            ("insufficient_funds", None),
        ] {
            assert_eq!(NotStarted::of_reason(Status::Declined, reason), expected, "{reason}");
            assert_eq!(NotStarted::of_reason(Status::Cancelled, reason), None, "{reason}");
        }
    }

    #[test]
    fn its_payer_reads_that_nothing_was_charged_and_not_that_it_was_not_authorised() {
        for (language, not_charged, refusals) in [
            (Language::Portuguese, "Nada foi cobrado.", ["autorizad", "recus"]),
            (Language::English, "You have not been charged.", ["authorised", "declined"]),
        ] {
            for why in NotStarted::ALL {
                let StateView { word, label, sentence } = why.state(language);
                assert_eq!((word, why.notice(language).words), ("declined", sentence));
                assert!(sentence.contains(not_charged), "{sentence}");
                let shown = format!("{label} {sentence}").to_lowercase();
                assert!(!refusals.iter().any(|refusal| shown.contains(refusal)), "{shown}");
            }
        }
    }
}
