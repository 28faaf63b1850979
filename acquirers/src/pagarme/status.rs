//! Statuses of charges and of their steps. Both spellings occur (`withError`, `with_error`), so case and underscores
//! are ignored.
//!
//! Source: docs.pagar.me, "Status"; official plugins (ecommerce-module-core, 2026-05-15).

/// Maximum length of an unknown status in a message to an operator.
const MAX_SHOWN: usize = 40;

/// Status of a charge, which decides.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum ChargeStatus {
    Pending,
    /// Money came in: `paid`, `overpaid`, `underpaid`. Only the amount shows if it is too much or too little.
    Paid,
    Canceled,
    Processing,
    Failed,
    ChargedBack,
    /// Not known to this program.
    Other(String),
}

impl ChargeStatus {
    pub(super) fn of(text: &str) -> Self {
        match folded(text).as_str() {
            "pending" => Self::Pending,
            "paid" | "overpaid" | "underpaid" => Self::Paid,
            "canceled" => Self::Canceled,
            "processing" => Self::Processing,
            "failed" => Self::Failed,
            "chargedback" => Self::ChargedBack,
            _ => Self::Other(shown(text)),
        }
    }
}

/// Meaning of the status of a charge's newest step. It explains the charge's status, and never outweighs it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Step {
    /// The answer has none.
    Missing,
    /// A card's limit is held.
    Held,
    /// Money came in.
    Taken,
    /// The issuer or the fraud check refused.
    NotAuthorized,
    /// Money is being refunded, or was refunded, or was released.
    GivenBack(GivenBack),
    /// The step waits for the payer.
    Waiting,
    /// The step is undecided, or its outcome is unknown: it is inquired about again.
    Undecided(Undecided),
    /// The step failed at the gateway, or it expired and Pagar.me does not say so.
    Failed,
    /// The step expired, by Pagar.me's clock.
    Expired,
    /// The holder took the money back.
    ChargedBack,
    /// Not known to this program.
    Other(String),
}

/// Progress of a refund.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum GivenBack {
    Done,
    /// Takes days.
    Pending,
    /// Was not done.
    Failed,
}

/// Reason why a step is undecided.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Undecided {
    /// A fraud check, which may involve people and take days.
    Review,
    /// The charge is being processed.
    Processing,
    /// Pagar.me does not know the outcome itself.
    Error,
}

impl Step {
    pub(super) fn of(text: &str) -> Self {
        match folded(text).as_str() {
            "authorizedpendingcapture" | "waitingcapture" => Self::Held,
            "captured" | "partialcapture" | "paid" | "overpaid" | "underpaid" => Self::Taken,
            "notauthorized" => Self::NotAuthorized,
            "voided" | "partialvoid" | "refunded" | "partialrefunded" => Self::GivenBack(GivenBack::Done),
            "pendingrefund" | "waitingcancellation" => Self::GivenBack(GivenBack::Pending),
            "erroronvoiding" | "erroronrefunding" => Self::GivenBack(GivenBack::Failed),
            "generated" | "viewed" | "waitingpayment" => Self::Waiting,
            "analyzing" | "pendingreview" => Self::Undecided(Undecided::Review),
            "processing" => Self::Undecided(Undecided::Processing),
            "witherror" => Self::Undecided(Undecided::Error),
            "failed" => Self::Failed,
            "expired" => Self::Expired,
            "chargedback" => Self::ChargedBack,
            "" => Self::Missing,
            _ => Self::Other(shown(text)),
        }
    }
}

/// Returns a status without case and underscores.
fn folded(text: &str) -> String {
    text.chars().filter(|one| *one != '_').map(|one| one.to_ascii_lowercase()).collect()
}

fn shown(text: &str) -> String {
    text.chars().filter(|one| one.is_ascii_alphanumeric() || *one == '_').take(MAX_SHOWN).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn both_spellings_of_a_status_are_one() {
        for (one, other) in
            [("with_error", "withError"), ("not_authorized", "notAuthorized"), ("paid", "PAID")]
        {
            assert_eq!(Step::of(one), Step::of(other));
        }
        assert_eq!(ChargeStatus::of("chargedback"), ChargeStatus::of("charged_back"));
    }

    #[test]
    fn what_is_not_known_stays_with_its_text() {
        assert_eq!(ChargeStatus::of("frozen!"), ChargeStatus::Other("frozen".into()));
        assert_eq!(Step::of("half_paid"), Step::Other("half_paid".into()));
    }
}
