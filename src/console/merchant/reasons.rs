//! Words for the reasons that a record states only as codes: of a status, and of a declined card.

use crate::console::kit::language::Language;

impl Language {
    /// Returns the words for the reason of a status, of a declined charge or of an event; `None` for a code without any,
    /// such as an acquirer's own.
    pub(crate) fn reason(self, code: &str) -> Option<&'static str> {
        self.reason_of_service(code).or_else(|| self.reason_of_issuer(code))
    }

    /// Writes a reason in words, with its code; a code without words alone.
    pub(crate) fn reason_with_code(self, code: &str) -> String {
        self.reason(code).map_or_else(|| code.to_owned(), |words| format!("{words} ({code})"))
    }

    fn reason_of_service(self, code: &str) -> Option<&'static str> {
        let words = match code {
            "no_acquirer_available" => self.pick(
                "não foi possível contatar nenhum adquirente; nada foi cobrado",
                "no acquirer could be reached; nothing was charged",
            ),
            "acquirer_refused" => {
                self.pick("o adquirente recusou a cobrança", "the acquirer refused the charge")
            }
            "antifraud" => {
                self.pick("recusado pelo antifraude do adquirente", "refused by the acquirer's fraud check")
            }
            "interrupted" => self.pick("interrompido antes da cobrança", "interrupted before the charge"),
            "no_code" => self
                .pick("o adquirente não enviou o código para pagar", "the acquirer sent no code to pay with"),
            "capture_refused" => {
                self.pick("o adquirente recusou a captura", "the acquirer refused the capture")
            }
            "authorization_expired" => self.pick(
                "não capturado antes do fim da autorização",
                "not captured before the authorisation ended",
            ),
            "late_settlement" => {
                self.pick("o dinheiro chegou depois do fim", "the money arrived after the end")
            }
            "expired_at_acquirer" => {
                self.pick("a cobrança terminou no adquirente", "the charge ended at the acquirer")
            }
            "removed_at_bank" => {
                self.pick("retirado no banco do recebedor", "withdrawn at the receiver's bank")
            }
            "removed_by_psp" => self.pick("retirado pelo adquirente", "withdrawn by the acquirer"),
            "amount_mismatch" => self.pick(
                "o valor recebido é diferente do pedido",
                "the amount received differs from the requested one",
            ),
            "dispute_won" => self.pick("contestação ganha", "dispute won"),
            "status_changed" => {
                self.pick("o pagamento mudou antes do envio", "the payment changed before it was sent")
            }
            "resolved_by_operator" => self.pick("encerrado por um operador", "ended by an operator"),
            _ => return None,
        };
        Some(words)
    }

    /// Returns the words for the codes of issuers' declines, which are those of `acquirers/src/decline/abecs.csv`.
    fn reason_of_issuer(self, code: &str) -> Option<&'static str> {
        let words = match code {
            "generic_decline" => {
                self.pick("recusado pelo banco, sem motivo", "declined by the bank, without a reason")
            }
            "insufficient_funds" => self.pick("saldo ou limite insuficiente", "balance or limit too low"),
            "limit_exceeded" => self.pick("limite excedido", "limit exceeded"),
            "lost_card" => self.pick("cartão perdido", "lost card"),
            "stolen_card" => self.pick("cartão roubado", "stolen card"),
            "pickup_card" => self.pick("cartão a recolher", "card to be withheld"),
            "expired_card" => {
                self.pick("cartão vencido ou validade errada", "card expired, or wrong expiry date")
            }
            "incorrect_cvc" => self.pick("código de segurança errado", "wrong security code"),
            "incorrect_number" => self.pick("número do cartão errado", "wrong card number"),
            "incorrect_pin" => self.pick("senha errada ou bloqueada", "wrong or blocked PIN"),
            "card_blocked" => self.pick("cartão bloqueado", "card blocked"),
            "card_not_activated" => self.pick("cartão não ativado", "card not activated"),
            "closed_account" => self.pick("conta encerrada", "account closed"),
            "fraud" => self.pick("fraude", "fraud"),
            "suspected_fraud" => self.pick("suspeita de fraude", "suspected fraud"),
            "invalid_amount" => self.pick("valor não permitido", "amount not allowed"),
            "invalid_installments" => self.pick("parcelas não permitidas", "instalments not allowed"),
            "issuer_unavailable" => self.pick("banco do cartão indisponível", "card's bank unavailable"),
            "merchant_problem" => {
                self.pick("problema no cadastro do lojista", "problem with the merchant's registration")
            }
            "not_permitted" => self.pick("transação não permitida", "transaction not permitted"),
            "processing_error" => self.pick("erro no processamento", "processing error"),
            "restricted_by_law" => self.pick("proibido por lei", "restricted by law"),
            "stop_payment" => {
                self.pick("suspenso a pedido do portador", "stopped at the cardholder's request")
            }
            "try_again" => self.pick("tente de novo", "try again"),
            _ => return None,
        };
        Some(words)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The API's documentation, which names every reason of a status that is not an issuer's.
    const OPENAPI: &str = include_str!("../../http/docs/openapi.json");
    /// The table of issuers' codes, whose fourth column has our names of them.
    const ABECS: &str = include_str!("../../../acquirers/src/decline/abecs.csv");

    #[track_caller]
    fn check(code: &str) {
        let [portuguese, english] = Language::ALL.map(|language| language.reason(code));
        assert!(portuguese.is_some() && english.is_some(), "{code}");
        let is_alike = portuguese == english;
        assert!(!is_alike, "{code}: {english:?}");
    }

    #[test]
    fn every_documented_reason_of_a_status_has_words() {
        let listed = OPENAPI.split_once("Reason, where the status alone does not show it: ").unwrap().1;
        let listed = listed.split_once('"').unwrap().0;
        let codes: Vec<_> = listed.split('`').skip(1).step_by(2).collect();
        assert!(codes.len() > 10, "{codes:?}");
        codes.into_iter().for_each(check);
    }

    #[test]
    fn every_code_of_an_issuer_has_words() {
        for line in ABECS.lines().skip(1) {
            check(line.split(';').nth(3).unwrap());
        }
    }

    #[test]
    fn a_code_stands_behind_its_words_and_alone_without_any() {
        let english = Language::English;
        assert_eq!(english.reason_with_code("dispute_won"), "dispute won (dispute_won)");
        assert_eq!(english.reason_with_code("TX-9"), "TX-9");
    }
}
