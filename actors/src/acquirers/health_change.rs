//! Changes of a route's health, for the log.

use quita_domain::identity::AcquirerName;
use quita_domain::method::Method;

/// Consequence of lost calls for payments.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Consequence {
    /// Enough charges are lost that new payments try the other routes first.
    TriedLast,
    /// Inquiries alone, or a few charges, are lost: new payments try it in its turn.
    TriedInTurn,
    /// Charges are answered and only inquiries are lost, so payments that come in may not be noticed.
    PaymentsUnnoticed,
}

/// A change of a route's health, to be logged.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum HealthChange {
    /// Enough calls in a row were lost that the route counts as failing.
    Fails {
        /// Number of lost calls.
        lost: u32,
        /// Consequence for payments.
        consequence: Consequence,
    },
    /// A call was answered again.
    Answers {
        /// Time since the first of the lost calls.
        after_ms: u64,
    },
}

impl HealthChange {
    /// Logs the change: once each, however many payments are affected. `why` is the error of the last lost call.
    pub(crate) fn tell(self, acquirer: &AcquirerName, method: Method, why: Option<&str>) {
        let method = method.label();
        match self {
            Self::Fails { lost, consequence: Consequence::PaymentsUnnoticed } => tracing::warn!(
                %acquirer, method, lost, error = why,
                "an acquirer is failing: it answers charges, but its last inquiries were lost, so payments that come in \
                 may not be noticed"
            ),
            // Only one that never answered, or a limit of one, fails with a single loss.
            Self::Fails { lost: 1, consequence: Consequence::TriedLast | Consequence::TriedInTurn } => {
                tracing::warn!(
                    %acquirer, method, lost = 1, error = why,
                    "an acquirer is failing: its last call was lost, and none has been answered since"
                )
            }
            Self::Fails { lost, consequence: Consequence::TriedLast } => tracing::warn!(
                %acquirer, method, lost, error = why,
                "an acquirer is failing: its last calls were lost, and any other is preferred until a call succeeds"
            ),
            Self::Fails { lost, consequence: Consequence::TriedInTurn } => tracing::warn!(
                %acquirer, method, lost, error = why,
                "an acquirer is failing: its last calls were lost, and none has been answered since"
            ),
            Self::Answers { after_ms } => {
                tracing::info!(%acquirer, method, after_ms, "an acquirer is answering again");
            }
        }
    }
}
