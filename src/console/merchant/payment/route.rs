//! Routing of a payment: every considered acquirer, and the outcome of its attempts.

use quita_domain::numbering::AttemptNumber;
use quita_domain::payment::Payment;
use quita_domain::routing::Considered;

use crate::console::kit::language::Language;
use crate::console::merchant::texts::MerchantTexts;

/// Acquirer that was considered.
pub(crate) struct RouteStep {
    pub(crate) acquirer: String,
    /// Reason why the acquirer was eligible or not.
    pub(crate) reason: String,
    /// Numbers and outcomes of its attempts, or a word if there were none.
    pub(crate) result: String,
    pub(crate) was_tried: bool,
}

/// Returns all considered acquirers, in the planned order.
pub(crate) fn of(payment: &Payment, language: Language) -> Vec<RouteStep> {
    payment.considered.iter().map(|considered| step(payment, considered, language)).collect()
}

fn step(payment: &Payment, considered: &Considered, language: Language) -> RouteStep {
    let texts = &MerchantTexts::of(language).payments;
    let attempts = payment.state.attempts.iter().enumerate();
    let tries = attempts.filter(|(_, attempt)| attempt.acquirer == considered.acquirer);
    let told = tries.map(|(index, attempt)| {
        let number = AttemptNumber::at(index);
        format!("{}\u{a0}{number}: {}", texts.attempt, language.outcome(attempt.call.progress))
    });
    let told: Vec<_> = told.collect();
    RouteStep {
        acquirer: considered.acquirer.to_string(),
        reason: language.route_reason(&considered.reason).to_owned(),
        result: if told.is_empty() { texts.not_tried.to_owned() } else { told.join("; ") },
        was_tried: !told.is_empty(),
    }
}
