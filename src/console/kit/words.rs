//! Words for the domain values that both consoles show. A new value does not compile until it has words.

use quita_domain::audit::AuditAction;
use quita_domain::method::Method;
use quita_domain::payment::Refusal;
use quita_domain::status::Status;

use super::language::Language;
use super::shown::Shown;
use quita_services::people::Weakness;

impl Language {
    /// Returns the text of this language.
    pub(crate) const fn pick(self, portuguese: &'static str, english: &'static str) -> &'static str {
        match self {
            Self::Portuguese => portuguese,
            Self::English => english,
        }
    }

    /// Returns the words for a payment's status.
    pub(crate) fn status(self, status: impl Shown<Status>) -> &'static str {
        match status.value() {
            Status::Initial => self.pick("Iniciado", "Initial"),
            Status::Pending => self.pick("Pendente", "Pending"),
            Status::Approved => self.pick("Autorizado", "Approved"),
            Status::Declined => self.pick("Recusado", "Declined"),
            Status::Refund => self.pick("Devolvido", "Refunded"),
            Status::Chargeback => self.pick("Contestado", "Chargeback"),
            Status::Expired => self.pick("Expirado", "Expired"),
            Status::Paid => self.pick("Pago", "Paid"),
            Status::Cancelled => self.pick("Cancelado", "Cancelled"),
        }
    }

    /// Returns the words for a payment method.
    pub(crate) fn method(self, method: impl Shown<Method>) -> &'static str {
        match method.value() {
            Method::Pix => "PIX",
            Method::Boleto => "Boleto",
            Method::CreditCard => self.pick("Cartão", "Card"),
        }
    }

    /// Returns the reason why a payment refused an operation.
    pub(crate) fn refusal(self, refusal: &Refusal) -> String {
        if self == Self::English {
            return refusal.to_string();
        }
        match refusal {
            Refusal::NotAllowed { status, .. } => {
                format!("O pagamento está «{}», e isso não permite a operação.", self.status(*status))
            }
            Refusal::NotCapturable(_) => "Só se captura um cartão criado com \"capture\": false.".into(),
            Refusal::CaptureOutOfBounds(most) => {
                format!("A captura vai de R$ 0,01 até o autorizado, {}.", self.money(*most))
            }
            Refusal::RefundExceedsPaid(left) => {
                format!("A devolução vai de R$ 0,01 até o que resta, {}.", self.money(*left))
            }
            Refusal::RefundUnsupported => {
                "O adquirente não devolve dinheiro deste pagamento; devolva por outro meio, como uma transferência."
                    .into()
            }
            Refusal::KeyReused => "Esta operação já foi pedida de outra forma.".into(),
            Refusal::Busy(_) => {
                "Outra operação deste pagamento ainda está em andamento; tente em instantes.".into()
            }
            Refusal::NoSuchDelivery => "Esta entrega não existe.".into(),
            Refusal::TooManyOperations(most) => {
                format!("O pagamento já tem {most} operações, o máximo que guarda.")
            }
            Refusal::RefusedTooOften { count, until, .. } => {
                let until = self.time(*until);
                format!(
                    "O adquirente recusou {count} operações deste tipo; a próxima pode ser pedida depois de {until}."
                )
            }
            Refusal::OutcomeUnknown => {
                "O adquirente ainda não disse o que houve com a cobrança; tente em instantes.".into()
            }
            Refusal::NotStuck => "Não está parado: já terminou, ou o adquirente ainda pode responder.".into(),
        }
    }

    /// Returns the reason why a password is refused.
    pub(crate) fn weakness(self, weakness: Weakness) -> String {
        let why =
            match weakness {
                Weakness::Keyboard => self.pick(
                    "As teclas estão lado a lado no teclado.",
                    "Its keys are next to each other on the keyboard.",
                ),
                Weakness::Repeats => {
                    self.pick("Ela repete os mesmos caracteres.", "It repeats the same characters.")
                }
                Weakness::Common => self.pick(
                    "Muita gente usa esta senha, ou uma parecida.",
                    "Many people use this password, or one like it.",
                ),
                Weakness::Sequence => self
                    .pick("Ela é uma sequência, como abc ou 123.", "It is a sequence, such as abc or 123."),
                Weakness::Date => self
                    .pick("Ela é quase só uma data ou um ano.", "It is little more than a date or a year."),
                Weakness::Word => self.pick(
                    "Ela é quase só um nome, uma palavra ou o seu e-mail.",
                    "It is little more than a name, a word or your e-mail address.",
                ),
                Weakness::Guessable => {
                    self.pick("Ela é feita de coisas fáceis de adivinhar.", "It is easy to guess.")
                }
            };
        let advice = self.pick(
            "Use uma frase sua, com algumas palavras que não costumam andar juntas.",
            "Use a phrase of your own, with a few words that rarely appear together.",
        );
        format!("{why} {advice}")
    }

    /// Returns the words for an action in the audit log.
    pub(crate) fn action(self, action: impl Shown<AuditAction>) -> &'static str {
        match action.value() {
            AuditAction::SignedIn => self.pick("entrou", "signed in"),
            AuditAction::SignInRefused => self.pick("não conseguiu entrar", "failed to sign in"),
            AuditAction::ProofRefused => {
                self.pick("não conseguiu confirmar quem é", "failed to confirm their identity")
            }
            AuditAction::SignedOut => self.pick("saiu", "signed out"),
            AuditAction::UserCreated => self.pick("criou a pessoa", "created the user"),
            AuditAction::UserRoleChanged => self.pick("mudou o papel de", "changed the role of"),
            AuditAction::PasswordChanged => self.pick("mudou a senha de", "changed the password of"),
            AuditAction::AccountDisabled => {
                self.pick("desativou por falta de uso a conta de", "disabled the unused account of")
            }
            AuditAction::SecondFactorSetUp => {
                self.pick("ativou a verificação em duas etapas de", "set up the second factor of")
            }
            AuditAction::SecondFactorRemoved => {
                self.pick("desativou a verificação em duas etapas de", "removed the second factor of")
            }
            AuditAction::RecoveryCodesMade => {
                self.pick("gerou novos códigos de recuperação de", "generated new recovery codes of")
            }
            AuditAction::RecoveryCodeUsed => {
                self.pick("usou um código de recuperação de", "used a recovery code of")
            }
            AuditAction::SessionsEnded => self.pick("encerrou sessões de", "ended sessions of"),
            AuditAction::MailingChanged => {
                self.pick("mudou as mensagens por e-mail a", "changed the messages by e-mail to")
            }
            AuditAction::MessageWebhookChanged => {
                self.pick("mudou os avisos por webhook a", "changed the messages by webhook to")
            }
            AuditAction::PolicyChanged => {
                self.pick("mudou as regras de acesso de", "changed the access rules of")
            }
            AuditAction::ProfileChanged => {
                self.pick("mudou o que os pagadores leem de", "changed the public profile of")
            }
            AuditAction::OperatorCreated => self.pick("criou o operador", "created the operator"),
            AuditAction::OperatorRoleChanged => {
                self.pick("mudou o papel do operador", "changed the role of the operator")
            }
            AuditAction::OperatorRemoved => self.pick("removeu o operador", "removed the operator"),
            AuditAction::UserRemoved => self.pick("removeu a pessoa", "removed the user"),
            AuditAction::ApplicationCreated => self.pick("criou a aplicação", "created the application"),
            AuditAction::ApplicationRenamed => self.pick("renomeou a aplicação", "renamed the application"),
            AuditAction::EndpointChanged => {
                self.pick("mudou o endereço dos webhooks de", "changed the webhook endpoint of")
            }
            AuditAction::OriginsChanged => self.pick("mudou as origens de", "changed the origins of"),
            AuditAction::KeyCreated => self.pick("criou a chave", "created the key"),
            AuditAction::KeyRotated => self.pick("trocou a chave", "rotated the key"),
            AuditAction::KeyExposed => {
                self.pick("recebeu de um navegador a chave secreta", "received from a browser the secret key")
            }
            AuditAction::KeyRevoked => self.pick("revogou a chave", "revoked the key"),
            AuditAction::SecretShown => self.pick("viu o segredo de", "viewed the secret of"),
            AuditAction::SecretRotated => self.pick("trocou o segredo de", "rotated the secret of"),
            AuditAction::TestEventSent => self.pick("enviou um evento de teste por", "sent a test event for"),
            AuditAction::PaymentCancelled => self.pick("cancelou o pagamento", "cancelled the payment"),
            AuditAction::TestPaymentCreated => {
                self.pick("criou o pagamento de teste", "created the test payment")
            }
            AuditAction::LinkCreated => self.pick("criou o link de pagamento", "created the payment link"),
            AuditAction::LinkClosed => self.pick("fechou o link de pagamento", "closed the payment link"),
            AuditAction::SandboxMoved => {
                self.pick("moveu no sandbox o pagamento", "moved the sandbox payment")
            }
            AuditAction::PaymentCaptured => self.pick("capturou o pagamento", "captured the payment"),
            AuditAction::PaymentRefunded => self.pick("devolveu o pagamento", "refunded the payment"),
            AuditAction::EventRedelivered => self.pick("reenviou o evento", "redelivered the event"),
            AuditAction::EventsRedelivered => self.pick("reenviou eventos", "redelivered events"),
            AuditAction::PaymentsExported => self.pick("exportou pagamentos", "exported payments"),
            AuditAction::ReconciliationExported => {
                self.pick("exportou a conciliação de", "exported the reconciliation of")
            }
            AuditAction::PayerShown => self.pick("viu o pagador de", "viewed the payer of"),
            AuditAction::PayerErased => self.pick("apagou o pagador de", "erased the payer of"),
            AuditAction::StaffErased => self.pick("apagou da auditoria", "erased from the audit log"),
            AuditAction::RouteDirected => {
                self.pick("deu uma diretiva ao adquirente", "directed the acquirer")
            }
            AuditAction::NodeTakenOff => self.pick("tirou da lista o nó", "removed the lost node"),
            AuditAction::JobRun => self.pick("rodou a tarefa", "ran the job"),
            AuditAction::ExceptionResolved => self.pick("resolveu a exceção", "resolved the exception"),
            AuditAction::OperationResolved => {
                self.pick("encerrou a operação parada", "ended the stuck operation")
            }
            AuditAction::PaymentEnded => self.pick("encerrou o pagamento", "ended the payment"),
            AuditAction::AcquirerAsked => self.pick("mandou perguntar por", "asked the acquirer about"),
            AuditAction::LogErased => self.pick("apagou deste registro", "erased from this log"),
            AuditAction::ErasureAccepted => {
                self.pick("aceitou como apagado deste registro", "accepted as erased from this log")
            }
            AuditAction::LogCutFound => {
                self.pick("encontrou este registro cortado depois de", "found this log truncated after")
            }
        }
    }
}
