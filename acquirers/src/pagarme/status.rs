//! Statuses of charges and of their steps. Both spellings are met (`withError`, `with_error`), so they are compared
//! without case and underscores.
//!
//! Source: docs.pagar.me, "Status"; official plugins (ecommerce-module-core, 2026-05-15).

/// Longest status that is repeated to an operator.
const MAX_SHOWN: usize = 40;

/// Status of a charge, which decides.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum ChargeStatus {
    Pending,
    /// Money came in: `paid`, `overpaid`, `underpaid`. Only the amount shows whether it is too much or too little.
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

/// Status of the newest step of a charge, by its meaning. It explains the charge's, and never outweighs it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Step {
    /// The answer has none.
    Missing,
    /// A card's limit is held.
    Held,
    /// Money came.
    Taken,
    /// The issuer, or the check against fraud, refused.
    NotAuthorized,
    /// Money goes back, or went back, or was let go.
    GivenBack(GivenBack),
    /// Waits for its payer.
    Waiting,
    /// Not decided, or not known: asked for again.
    Undecided(Undecided),
    /// Failed at the gateway, or its time is over and Pagar.me does not say so.
    Failed,
    /// Its time is over, by Pagar.me's clock.
    Expired,
    /// Taken back by the holder.
    ChargedBack,
    /// Not known to this program.
    Other(String),
}

/// Progress of money that goes back.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum GivenBack {
    Done,
    /// It takes days.
    Pending,
    /// It was not done.
    Failed,
}

/// Reason why a step is not decided.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Undecided {
    /// A check against fraud, which may take people and days.
    Review,
    /// The charge is being worked on.
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
