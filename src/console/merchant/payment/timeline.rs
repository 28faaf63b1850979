//! Timeline of a payment, in chronological order.

use quita_domain::delivery::{DeliveryAttempt, DeliveryState};
use quita_domain::event::Event;
use quita_domain::operation::{Operation, OperationKind, OperationState};
use quita_domain::payment::Payment;
use quita_domain::routing::{Attempt, ChargeEnd};
use quita_domain::state::RefundStatus;
use quita_domain::status::Status;
use quita_domain::time::Timestamp;

use crate::console::kit::language::Language;
use crate::console::merchant::deliveries::tone_of_attempt;
use crate::console::merchant::delivery_attempts::outcome_of;
use crate::console::merchant::texts::MerchantTexts;

/// Number of characters shown of a receiver's response.
const EXCERPT: usize = 1_024;

/// Moment in a payment's life.
pub(crate) struct Moment {
    pub(crate) at: Timestamp,
    /// Kind of moment, for the mark next to it: `event`, `acquirer` or `webhook`.
    pub(crate) kind: &'static str,
    /// Colour class of the outcome.
    pub(crate) tone: &'static str,
    /// Status that the payment reached, if it changed.
    pub(crate) status: Option<Status>,
    pub(crate) title: String,
    pub(crate) text: String,
    /// Response of a receiver.
    pub(crate) answer: Option<String>,
    /// True if the routing is shown here.
    pub(crate) tells_routing: bool,
}

impl Moment {
    fn new(at: Timestamp, kind: &'static str, tone: &'static str, title: String) -> Self {
        let status = None;
        let answer = None;
        let text = String::new();
        Self { at, kind, tone, status, title, text, answer, tells_routing: false }
    }
}

/// Returns every moment, oldest first.
pub(crate) fn of(payment: &Payment, language: Language, sees_payers: bool) -> Vec<Moment> {
    // Receivers' responses may repeat the payer's data, so only a role that sees payers may read them.
    let teller = Teller { language, texts: MerchantTexts::of(language), sees_payers };
    let mut moments = vec![teller.created(payment)];
    let attempts = payment.state.attempts.iter().enumerate();
    moments.extend(attempts.map(|(place, attempt)| teller.charge(attempt, place == 0)));
    moments.extend(payment.operations.iter().map(|operation| teller.operation(operation)));
    moments.extend(payment.history.iter().map(|event| teller.event(event)));
    moments.extend(teller.deliveries(payment));
    moments.sort_by_key(|moment| moment.at);
    moments
}

struct Teller {
    language: Language,
    texts: &'static MerchantTexts,
    sees_payers: bool,
}

impl Teller {
    fn created(&self, payment: &Payment) -> Moment {
        let title = self.texts.payments.created_moment.to_owned();
        let mut moment = Moment::new(payment.created_at, "event", "tone-info", title);
        moment.text = format!("{}: {}", self.texts.payments.application, payment.owner.application);
        moment
    }

    fn charge(&self, attempt: &Attempt, is_first: bool) -> Moment {
        let tone = match attempt.call.ended() {
            None => "tone-waiting",
            Some(ChargeEnd::Known) => "tone-done",
            Some(ChargeEnd::Declined | ChargeEnd::NotDelivered) => "tone-over",
        };
        let title = format!("{}: {}", attempt.acquirer, self.language.outcome(attempt.call.progress));
        let mut moment = Moment::new(attempt.at, "acquirer", tone, title);
        if attempt.call.inquiries > 0 {
            let asked = self.language.pick("perguntado {n} vezes", "asked {n} times");
            moment.text = asked.replace("{n}", &attempt.call.inquiries.to_string());
        }
        if let Some(decline) = &attempt.decline {
            let reason = self.language.reason_with_code(&decline.code);
            moment.text = format!("{reason} · {}", self.texts.payments.tried_further);
        }
        moment.tells_routing = is_first;
        moment
    }

    fn operation(&self, operation: &Operation) -> Moment {
        let tone = match operation.state() {
            OperationState::Processing => "tone-waiting",
            OperationState::Done => "tone-done",
            OperationState::Refused => "tone-over",
        };
        let amount = match operation.kind {
            OperationKind::Cancel => String::new(),
            OperationKind::Capture(amount) | OperationKind::Refund(amount) => {
                format!(" {}", self.language.money(amount))
            }
        };
        let (name, state) =
            (self.language.operation(operation.kind), self.language.operation_state(operation.state()));
        let title = format!("{name}{amount}: {state}");
        let mut moment = Moment::new(operation.requested_at, "acquirer", tone, title);
        let refusal = operation.call.refusal.as_deref();
        moment.text = refusal.map(|reason| self.language.reason_with_code(reason)).unwrap_or_default();
        moment
    }

    fn event(&self, event: &Event) -> Moment {
        let mut moment = match &event.refund {
            None => Moment {
                status: Some(event.status),
                ..Moment::new(event.occurred_at, "event", tone_of(event.status), String::new())
            },
            Some(refund) => {
                let name = self.texts.payments.refund_moment;
                let amount = self.language.money(refund.amount);
                let title = format!("{name} {amount}: {}", self.language.refund_status(refund.status));
                Moment::new(event.occurred_at, "event", tone_of_refund(refund.status), title)
            }
        };
        let name = format!("{} {} · {}", self.texts.payments.event, event.sequence, event.name());
        let cause = self.language.cause(event.actor);
        let failure = event.refund.as_ref().and_then(|refund| refund.failure_reason.as_ref());
        let reason = event.reason.as_ref().or(failure);
        let reason =
            reason.map(|code| format!(" · {}", self.language.reason_with_code(code))).unwrap_or_default();
        moment.text = format!("{name} · {cause}{reason}");
        moment
    }

    fn deliveries(&self, payment: &Payment) -> Vec<Moment> {
        let mut moments = Vec::new();
        for delivery in &payment.outbox {
            let name = payment.event(delivery.sequence).map(Event::name).unwrap_or_default();
            for (place, attempt) in delivery.attempts.iter().enumerate() {
                moments.push(self.delivery_attempt(&name, place, attempt));
            }
            let next = delivery.next_attempt_at.filter(|_| delivery.state == DeliveryState::Pending);
            if let Some(at) = next.filter(|_| !delivery.attempts.is_empty()) {
                let title =
                    format!("{} {name}: {}", self.texts.payments.webhook, self.texts.payments.waiting);
                let mut moment = Moment::new(at, "webhook", "tone-waiting", title);
                moment.text = self.texts.payments.next_attempt.to_owned();
                moments.push(moment);
            }
        }
        moments
    }

    fn delivery_attempt(&self, name: &str, place: usize, attempt: &DeliveryAttempt) -> Moment {
        let title = format!("{} {name}: {}", self.texts.payments.webhook, outcome_of(attempt, self.language));
        let mut moment = Moment::new(attempt.at, "webhook", tone_of_attempt(attempt), title);
        let number = place.saturating_add(1);
        let took = self.language.duration(attempt.duration_ms);
        moment.text = format!("{} {number} · {took}", self.texts.payments.attempt);
        let answer = attempt.answer.as_ref().filter(|answer| !answer.is_empty());
        moment.answer = answer.map(|answer| match self.sees_payers {
            true => answer.chars().take(EXCERPT).collect(),
            false => self.texts.payments.answer_not_shown.to_owned(),
        });
        moment
    }
}

/// Returns the colour class of a refund.
pub(crate) const fn tone_of_refund(status: RefundStatus) -> &'static str {
    match status {
        RefundStatus::Processing => "tone-waiting",
        RefundStatus::Succeeded => "tone-back",
        RefundStatus::Failed => "tone-over",
    }
}

/// Returns the colour class of a status.
fn tone_of(status: Status) -> &'static str {
    match status {
        Status::Initial | Status::Pending => "tone-waiting",
        Status::Approved => "tone-info",
        Status::Paid => "tone-done",
        Status::Refund => "tone-back",
        Status::Declined | Status::Chargeback | Status::Expired | Status::Cancelled => "tone-over",
    }
}
