//! Words for the values that operators see. A new value does not compile until it has words.

use quita_actors::{MethodOutage, RouteState, Thousandths};
use quita_domain::control::RouteDirective;
use quita_domain::exception::ExceptionAction;
use quita_domain::identity::Mode;
use quita_domain::people::OperatorRole;

use super::texts::OperatorTexts;
use crate::console::kit::language::Language;
use crate::jobs::JobName;

/// Returns the words about a method that no acquirer can take.
pub(super) fn unable(outage: &MethodOutage, language: Language) -> String {
    let texts = OperatorTexts::of(language);
    let mode = match outage.mode {
        Mode::Test => texts.everywhere.test,
        Mode::Live => texts.everywhere.live,
    };
    let words = texts.operators.method_unable.replace("{method}", language.method(outage.method));
    words.replace("{mode}", mode).replace("{time}", &language.time(outage.since))
}

/// Returns the words for a route's state.
pub(super) const fn state(state: RouteState, texts: &OperatorTexts) -> &'static str {
    let texts = &texts.operators;
    match state {
        RouteState::NotCalled => texts.not_called,
        RouteState::Healthy => texts.healthy,
        RouteState::Failing => texts.failing,
        RouteState::Paused => texts.paused,
        RouteState::Draining => texts.draining,
        RouteState::Drained => texts.drained,
    }
}

/// Returns the label of a directive's button.
pub(super) const fn directive(directive: RouteDirective, texts: &OperatorTexts) -> &'static str {
    let texts = &texts.operators;
    match directive {
        RouteDirective::Open => texts.resume,
        RouteDirective::Paused => texts.pause,
        RouteDirective::Drained => texts.drain,
    }
}

/// Returns the label of an action's button, and its effect.
pub(super) const fn action(action: ExceptionAction, texts: &OperatorTexts) -> (&'static str, &'static str) {
    let texts = &texts.operators;
    match action {
        ExceptionAction::AskAcquirer => (texts.ask_acquirer, texts.ask_effect),
        ExceptionAction::Resolve => (texts.resolve, texts.resolve_effect),
    }
}

/// Returns the effect of a background job.
pub(super) const fn job(name: JobName, language: Language) -> &'static str {
    match name {
        JobName::StoreProbe => language.pick("Testa o armazenamento", "Probes the store"),
        JobName::LastUses => {
            language.pick("Grava o último uso das chaves de API", "Stores the last use of API keys")
        }
        JobName::NightlyComparison => {
            language.pick("Compara as listas dos adquirentes", "Compares acquirers' lists with the payments")
        }
        JobName::Retention => {
            language.pick("Apaga pagadores guardados além do prazo", "Erases payers past their retention")
        }
        JobName::Archive => language.pick("Arquiva pagamentos terminados", "Archives finished payments"),
        JobName::Erasures => language.pick("Esquece pagadores apagados", "Forgets payers that were erased"),
        JobName::Messages => {
            language.pick("Manda mensagens a donos e operadores", "Sends messages to owners and operators")
        }
        JobName::EndingKeys => {
            language.pick("Conta as chaves de API prestes a expirar", "Counts API keys that expire soon")
        }
        JobName::Certificates => {
            language.pick("Avisa de certificados prestes a expirar", "Warns of certificates that expire soon")
        }
        JobName::CallbackRegistration => language
            .pick("Registra o endereço de retorno nos bancos", "Registers the callback address at banks"),
        JobName::Sealing => {
            language.pick("Criptografa segredos ainda legíveis", "Encrypts secrets that are still readable")
        }
        JobName::CurrentSecretKey => language
            .pick("Segue a chave secreta do armazenamento", "Switches to the store's current secret key"),
        JobName::InactiveAccounts => {
            language.pick("Desativa contas sem uso há 90 dias", "Disables accounts unused for 90 days")
        }
    }
}

/// Formats a measured time, or a dash.
pub(super) fn measured(time: Option<&Thousandths>, language: Language) -> String {
    time.map_or_else(|| "–".into(), |time| language.microseconds(time.get()))
}

/// Returns the name of a kind of exception. A kind from another version is returned unchanged.
pub(crate) fn kind(kind: &str, language: Language) -> &str {
    match kind {
        "too_early" => language.pick("Aviso cedo demais", "Notice too early"),
        "amount_mismatch" => language.pick("Valor que não confere", "Amount mismatch"),
        "overpaid" => language.pick("Pago a mais", "Overpaid"),
        "paid_twice" => language.pick("Pago duas vezes", "Paid twice"),
        "second_charge" => language.pick("Segunda cobrança do pagamento", "Second charge of the payment"),
        "paid_after_decline" => language.pick("Pago depois de recusado", "Paid after decline"),
        "refund_exceeds_paid" => language.pick("Devolvido mais que o pago", "More refunded than paid"),
        "refunded_and_charged_back" => language.pick("Devolvido e contestado", "Refunded and charged back"),
        "late_authorization" => language.pick("Autorização tardia", "Late authorisation"),
        "foreign_charge" => language.pick("Cobrança de outro recebedor", "Another payee's charge"),
        "contradiction" => language.pick("Contradição do adquirente", "Acquirer contradicts itself"),
        "unknown_outcome" => language.pick("Desfecho desconhecido", "Unknown outcome"),
        "number_taken" => language.pick("Número já usado no banco", "Number already used at the bank"),
        "pix_code_missing" => language.pick("Boleto sem código PIX", "Boleto without PIX code"),
        "amount_unknown" => language.pick("Valor pago desconhecido", "Paid amount unknown"),
        "pix_taken" => language.pick("Pix de outro pagamento", "PIX of another payment"),
        "numbers_low" => language.pick("Números de boletos no fim", "Boleto numbers running out"),
        "card_testing" => language.pick("Teste de cartões em um link", "Card testing on a link"),
        "unknown_payment" => language.pick("Aviso de pagamento desconhecido", "Notice of an unknown payment"),
        "unreadable" => language.pick("Pagamento ilegível", "Unreadable payment"),
        "status_differs" => {
            language.pick("Conciliação: situação diferente", "Reconciliation: different status")
        }
        "amount_differs" => language.pick("Conciliação: valor diferente", "Reconciliation: different amount"),
        "movement_differs" => {
            language.pick("Conciliação: outro movimento", "Reconciliation: different movement")
        }
        "missing_there" => language.pick("Conciliação: falta no extrato", "Reconciliation: missing there"),
        "unknown_here" => language.pick("Conciliação: desconhecido aqui", "Reconciliation: unknown here"),
        "list_not_compared" => {
            language.pick("Conciliação: lista não comparada", "Reconciliation: list not compared")
        }
        other => other,
    }
}

/// Returns the advice for an exception. The stored text is in English; the Portuguese text says the same.
pub(super) fn advice<'a>(kind: &str, stored: &'a str, language: Language) -> &'a str {
    if language == Language::English {
        return stored;
    }
    match kind {
        "too_early" => "Espere: é trabalhado de novo quando o pagamento tiver andado.",
        "amount_mismatch" => {
            "Compare com o extrato do adquirente; devolva ao pagador por lá, ou acerte a diferença com o lojista."
        }
        "overpaid" => {
            "Está pago; acerte o excedente com o lojista ou com o pagador, que pode ter digitado outro valor."
        }
        "paid_twice" => "Devolva a segunda liquidação no adquirente.",
        "second_charge" => {
            "Está sendo devolvida, uma vez; verifique no adquirente que esta cobrança não tem dinheiro nem limite reservado, nem pode ser paga."
        }
        "paid_after_decline" => {
            "Está sendo devolvida, uma vez; verifique no adquirente que foi, e devolva por lá o que ele ainda tiver."
        }
        "refund_exceeds_paid" => "Compare com o extrato do adquirente.",
        "refunded_and_charged_back" => {
            "Conteste o chargeback no adquirente com a prova da devolução: o pagador pode ter recebido duas vezes."
        }
        "late_authorization" => {
            "Está sendo desfeita; verifique no adquirente que nada do limite do cartão continua reservado."
        }
        "foreign_charge" => {
            "Descubra no adquirente de quem é a cobrança com este nome; nada dela é aceito, e o serviço continua perguntando."
        }
        "contradiction" => "Compare com o que o adquirente tem do pagamento.",
        "unknown_outcome" => {
            "Procure o pagamento no adquirente pelo id da transação; o serviço continua perguntando."
        }
        "number_taken" => {
            "Outro programa da conta usa números de our-numbers: configure uma faixa que seja só deste serviço."
        }
        "pix_code_missing" => {
            "Pode ser pago pelo código de barras; descubra no banco por que não fez o código PIX, muitas vezes falta a chave Pix."
        }
        "amount_unknown" => {
            "Compare com o extrato do adquirente; pergunta-se de novo, e fica pago quando ele disser o valor."
        }
        "pix_taken" => {
            "O Pix paga o outro pagamento, e nada dele foi aceito aqui; peça ao banco que corrija o que informa, e devolva ao pagador por lá se um Pix era deste pagamento."
        }
        "numbers_low" => {
            "Peça ao banco outra faixa e aumente our-numbers; quando acabar, o adquirente não recebe mais boletos."
        }
        "card_testing" => {
            "Veja com o lojista se o link está em mãos erradas, e feche-o se estiver; os cartões testados foram recusados e o limite continua valendo."
        }
        "unknown_payment" => "Procure a transação no adquirente; se entrou dinheiro, devolva por lá.",
        "unreadable" => "Restaure-o do backup; tenta-se de novo a cada minuto.",
        "status_differs" => {
            "Pergunte de novo ao adquirente; se ele continuar negando o que a lista dele tem, envie-lhe os dois, e devolva ao pagador por lá se o lojista nada entregou."
        }
        "amount_differs" => {
            "Compare com o extrato do adquirente; devolva ao pagador por lá, ou acerte a diferença com o lojista."
        }
        "movement_differs" => "O pagamento foi pago por outro movimento: devolva este no adquirente.",
        "missing_there" => {
            "Pergunte de novo ao adquirente, e procure o dinheiro no extrato da conta antes de entregar mais por ele."
        }
        "list_not_compared" => {
            "Veja por que o adquirente não entrega a lista (quita doctor); tenta-se de novo sozinho, e o que então for comparado não precisa de ninguém."
        }
        "unknown_here" => "Descubra no adquirente quem seria pago; se não era ninguém, devolva por lá.",
        _ => stored,
    }
}

/// Returns the name of an operator's role.
pub(super) const fn role(role: OperatorRole, texts: &OperatorTexts) -> &'static str {
    match role {
        OperatorRole::Operator => texts.operator_people.role_operator,
        OperatorRole::Auditor => texts.operator_people.role_auditor,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use quita_domain::exception::{CARD_TESTING, NUMBERS_LOW, UNKNOWN_PAYMENT, UNREADABLE};
    use quita_domain::payment::DiscrepancyKind;
    use quita_domain::reconciliation::{RECONCILIATION_KINDS, ReconciliationKind};

    #[test]
    fn every_kind_of_exception_has_a_name_and_advice_in_both_languages() {
        let kinds = DiscrepancyKind::ALL.map(DiscrepancyKind::as_str).into_iter();
        let kinds = kinds.chain(RECONCILIATION_KINDS.map(ReconciliationKind::as_str));
        for name in kinds.chain([UNKNOWN_PAYMENT, UNREADABLE, NUMBERS_LOW, CARD_TESTING]) {
            for language in Language::ALL {
                assert_ne!(kind(name, language), name, "{language:?}");
            }
            assert_ne!(advice(name, "stored", Language::Portuguese), "stored", "{name}");
        }
        assert_eq!(kind("of_tomorrow", Language::Portuguese), "of_tomorrow");
    }
}
