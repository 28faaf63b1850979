//! Words for the values that only merchants see. A new value does not compile until it has words.

use quita_domain::event::Cause;
use quita_domain::link::LinkStatus;
use quita_domain::operation::{OperationKind, OperationState};
use quita_domain::outbound_call::Progress;
use quita_domain::payment::DisputeStatus;
use quita_domain::people::Role;
use quita_domain::routing::ChargeEnd;
use quita_domain::state::RefundStatus;

use crate::console::kit::language::Language;
use crate::console::kit::shown::Shown;

impl Language {
    /// Returns the words for a user's role.
    pub(crate) fn role(self, role: impl Shown<Role>) -> &'static str {
        match role.value() {
            Role::Owner => self.pick("Dono", "Owner"),
            Role::Developer => self.pick("Desenvolvedor", "Developer"),
            Role::Viewer => self.pick("Leitor", "Viewer"),
        }
    }

    /// Returns the words for the status of a payment link.
    pub(crate) fn link_status(self, status: impl Shown<LinkStatus>) -> &'static str {
        match status.value() {
            LinkStatus::Open => self.pick("Aberto", "Open"),
            LinkStatus::Paid => self.pick("Pago", "Paid"),
            LinkStatus::Expired => self.pick("Expirado", "Expired"),
            LinkStatus::Closed => self.pick("Fechado", "Closed"),
        }
    }

    /// Returns the words for the cause of a change.
    pub(crate) const fn cause(self, cause: Cause) -> &'static str {
        match cause {
            Cause::Acquirer => self.pick("pelo adquirente", "by the acquirer"),
            Cause::Merchant => self.pick("a pedido do lojista", "requested by the merchant"),
            Cause::Service => self.pick("pelo serviço", "by the service"),
        }
    }

    /// Returns the words for the outcome of a charge that was sent to an acquirer.
    pub(crate) const fn outcome(self, outcome: Progress<ChargeEnd>) -> &'static str {
        match outcome {
            Progress::Ready | Progress::Sent => {
                self.pick("enviado, sem resposta ainda", "sent, no answer yet")
            }
            Progress::Unknown => {
                self.pick("desfecho desconhecido, sendo perguntado", "outcome unknown, inquiry in progress")
            }
            Progress::Taken => self.pick("recebido, sendo registrado", "received, being registered"),
            Progress::Ended(ChargeEnd::Known) => self.pick("aceitou", "accepted"),
            Progress::Ended(ChargeEnd::Declined) => self.pick("recusou", "declined"),
            Progress::Ended(ChargeEnd::NotDelivered) => self.pick("não recebeu", "took no charge"),
        }
    }

    /// Returns the words for the reason why an acquirer was eligible or not. The reasons are those of `routing/plan.rs`
    /// in the domain.
    pub(crate) fn route_reason(self, reason: &str) -> &str {
        match reason {
            "eligible" => self.pick("disponível", "available"),
            "failing_lately" => self.pick("falhou há pouco: fica por último", "failed recently: tried last"),
            "amount_out_of_bounds" => self.pick("não aceita este valor", "does not accept this amount"),
            "paused" => self.pick("pausado pela operação", "paused by operators"),
            "busy" => self.pick("ocupado", "busy"),
            "throttled" => self.pick("pediu menos chamadas", "throttles requests"),
            "expiry_too_long" => {
                self.pick("não mantém um PIX por tanto tempo", "does not accept such a late expiry for a PIX")
            }
            "due_date_unsupported" => {
                self.pick("não tem PIX com vencimento", "does not support PIX with a due date")
            }
            "numbers_used_up" => self.pick("não tem mais números de boletos", "has no boleto numbers left"),
            "terms_unsupported" => self.pick(
                "não aceita esta multa, juros, desconto ou prazo",
                "does not accept this fine, interest, discount or last day",
            ),
            "not_in_rule" => self.pick("não está na regra", "not in the rule"),
            "recipient_unknown" => {
                self.pick("não conhece um recebedor da divisão", "does not know a split recipient")
            }
            "email_too_long" => {
                self.pick("não aceita e-mail tão longo", "does not accept such a long e-mail address")
            }
            other => other,
        }
    }

    /// Returns the words for a refund's status.
    pub(crate) const fn refund_status(self, status: RefundStatus) -> &'static str {
        match status {
            RefundStatus::Processing => self.pick("em andamento", "processing"),
            RefundStatus::Succeeded => self.pick("concluída", "done"),
            RefundStatus::Failed => self.pick("não realizada", "failed"),
        }
    }

    /// Returns the words for the status of a dispute.
    pub(crate) const fn dispute_status(self, status: DisputeStatus) -> &'static str {
        match status {
            DisputeStatus::Open => self.pick("em aberto", "open"),
            DisputeStatus::Won => self.pick("ganha", "won"),
        }
    }

    /// Returns the noun for an operation.
    pub(crate) const fn operation(self, kind: OperationKind) -> &'static str {
        match kind {
            OperationKind::Cancel => self.pick("Cancelamento", "Cancellation"),
            OperationKind::Capture(_) => self.pick("Captura", "Capture"),
            OperationKind::Refund(_) => self.pick("Devolução", "Refund"),
        }
    }

    /// Returns the words for an operation's state.
    pub(crate) const fn operation_state(self, state: OperationState) -> &'static str {
        match state {
            OperationState::Processing => self.pick("em andamento", "processing"),
            OperationState::Done => self.pick("feita", "done"),
            OperationState::Refused => self.pick("recusada pelo adquirente", "refused by the acquirer"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_reason_of_a_route_has_words_of_its_own() {
        for reason in [
            "eligible",
            "failing_lately",
            "amount_out_of_bounds",
            "expiry_too_long",
            "due_date_unsupported",
            "terms_unsupported",
            "numbers_used_up",
            "paused",
            "busy",
            "throttled",
            "not_in_rule",
            "recipient_unknown",
            "email_too_long",
        ] {
            assert_ne!(Language::Portuguese.route_reason(reason), reason);
            assert_ne!(Language::English.route_reason(reason), Language::Portuguese.route_reason(reason));
        }
    }
}
