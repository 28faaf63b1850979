//! Words, sums and days of the page of a payment link, in both languages.

use chrono::NaiveDate;
use quita_domain::link::LinkStatus;
use quita_domain::method::Method;
use quita_domain::money::Money;
use quita_domain::status::Status;
use quita_domain::time::Timestamp;

use super::checkout_card::card_words;
use super::checkout_page::{FormMistake, StateView};
use crate::console::Language;

/// Returns the text in this language.
pub(crate) const fn pick(
    language: Language,
    portuguese: &'static str,
    english: &'static str,
) -> &'static str {
    match language {
        Language::Portuguese => portuguese,
        Language::English => english,
    }
}

/// Writes an amount: `R$ 1.234,56`, `R$1,234.56`.
pub(crate) fn money(language: Language, amount: Money) -> String {
    let text = language.money(amount);
    match language {
        Language::Portuguese => text,
        Language::English => text.replace('\u{a0}', ""),
    }
}

/// Writes a day: `31/12/2026`, `Dec 31, 2026`.
pub(crate) fn day(language: Language, day: NaiveDate) -> String {
    day.format(pick(language, "%d/%m/%Y", "%b %-d, %Y")).to_string()
}

/// Writes a time in Brasília.
pub(crate) fn time(language: Language, at: Timestamp) -> String {
    let at = at.in_sao_paulo();
    let clock = at.format("%H:%M");
    match language {
        Language::Portuguese => format!("{} às {clock} (Brasília)", day(language, at.date())),
        Language::English => format!("{}, {clock} (Brasília)", day(language, at.date())),
    }
}

/// Returns the words for a payment's status.
pub(crate) const fn state_of(language: Language, method: Method, status: Status) -> StateView {
    let (label, sentence) = match status {
        Status::Initial | Status::Pending if matches!(method, Method::CreditCard) => (
            pick(language, "Verificando", "Checking"),
            pick(
                language,
                "Estamos verificando este pagamento com o banco. Ninguém deve pagar de novo; esta página muda sozinha.",
                "We are checking this payment with the bank. Nobody should pay again; this page changes by itself.",
            ),
        ),
        Status::Initial => (
            pick(language, "Preparando", "Preparing"),
            pick(
                language,
                "O pagamento fica pronto em instantes. Não pague de novo.",
                "The payment will be ready in a moment. Do not pay again.",
            ),
        ),
        Status::Pending => (
            pick(language, "Aguardando pagamento", "Waiting for payment"),
            match method {
                Method::Boleto => pick(
                    language,
                    "Pague o boleto no seu banco. A confirmação pode levar até três dias úteis.",
                    "Pay the slip at your bank. Confirmation can take up to three business days.",
                ),
                Method::Pix | Method::CreditCard => pick(
                    language,
                    "Assim que você pagar, esta página muda sozinha.",
                    "This page changes by itself once you have paid.",
                ),
            },
        ),
        Status::Approved | Status::Paid => (
            pick(language, "Pago", "Paid"),
            pick(language, "Pagamento confirmado.", "Your payment is confirmed."),
        ),
        Status::Declined => (
            pick(language, "Não autorizado", "Not authorised"),
            pick(
                language,
                "Não foi possível iniciar este pagamento. Tente de novo ou escolha outro meio.",
                "This payment could not be started. Try again, or choose another method.",
            ),
        ),
        Status::Expired => (
            pick(language, "Expirado", "Expired"),
            pick(language, "O prazo deste pagamento terminou.", "This payment has expired."),
        ),
        Status::Cancelled => (
            pick(language, "Cancelado", "Cancelled"),
            pick(
                language,
                "Este pagamento foi cancelado. Não pague o código antigo.",
                "This payment was cancelled. Do not pay the old code.",
            ),
        ),
        Status::Refund => (
            pick(language, "Devolvido", "Refunded"),
            pick(language, "O valor foi devolvido.", "The amount was refunded."),
        ),
        Status::Chargeback => (
            pick(language, "Contestado", "Disputed"),
            pick(
                language,
                "Este pagamento foi contestado e está em análise.",
                "This payment was disputed and is under review.",
            ),
        ),
    };
    StateView { word: status.as_str(), label, sentence }
}

/// Returns the words for a payment that is being cancelled.
pub(crate) const fn state_of_cancelling(language: Language, status: Status) -> StateView {
    StateView {
        word: status.as_str(),
        label: pick(language, "Cancelando", "Cancelling"),
        sentence: pick(
            language,
            "Estamos cancelando este pagamento. Não pague o código; esta página muda sozinha.",
            "We are cancelling this payment. Do not pay the code; this page changes by itself.",
        ),
    }
}

/// Returns the words for a link on which nothing waits.
pub(crate) const fn state_of_link(language: Language, status: LinkStatus) -> StateView {
    let (label, sentence) = match status {
        LinkStatus::Open => (
            pick(language, "Escolha como pagar", "Choose how to pay"),
            pick(language, "Preencha seus dados e continue.", "Fill in your details and continue."),
        ),
        LinkStatus::Paid => (
            pick(language, "Pago", "Paid"),
            pick(
                language,
                "Todos os pagamentos deste link já foram feitos.",
                "All payments of this link have been made.",
            ),
        ),
        LinkStatus::Expired => (
            pick(language, "Link expirado", "Link expired"),
            pick(
                language,
                "O prazo deste link terminou. Peça um novo à loja.",
                "This link has expired. Ask the shop for a new one.",
            ),
        ),
        LinkStatus::Closed => (
            pick(language, "Link encerrado", "Link closed"),
            pick(
                language,
                "A loja encerrou este link. Fale com ela se você ainda quer pagar.",
                "The shop closed this link. Contact it if you still want to pay.",
            ),
        ),
    };
    StateView { word: status.as_str(), label, sentence }
}

/// Returns the mistake that a rule's code means in a field, in the payer's words.
pub(crate) fn mistake(language: Language, field: &'static str, code: &'static str) -> FormMistake {
    use quita_domain::request::code as rule;
    let words = match (field, code) {
        (_, rule::CARD_NUMBER) => {
            pick(language, "Não escreva um número de cartão aqui.", "Do not enter a card number here.")
        }
        ("postal-code", "cep_uf") => {
            pick(language, "Este CEP não é deste estado.", "This CEP does not belong to this state.")
        }
        ("name", "last_name") => {
            pick(language, "Escreva nome e sobrenome.", "Enter your first and last name.")
        }
        ("name", _) => pick(language, "Escreva seu nome completo.", "Enter your full name."),
        ("document", _) => pick(
            language,
            "Escreva um CPF ou CNPJ válido: confira os números.",
            "Enter a valid CPF or CNPJ: check its digits.",
        ),
        ("email", _) => pick(
            language,
            "Escreva um e-mail, como maria@example.com.",
            "Enter an e-mail address, such as maria@example.com.",
        ),
        ("tel", _) => pick(
            language,
            "Escreva um telefone com DDD, como (11) 98765-4321.",
            "Enter a Brazilian phone number with its area code, such as (11) 98765-4321.",
        ),
        ("postal-code", _) => {
            pick(language, "Escreva um CEP de oito números.", "Enter a CEP of eight digits.")
        }
        ("street", _) => pick(language, "Escreva a rua.", "Enter the street."),
        ("number", _) => pick(language, "Escreva o número, ou S/N.", "Enter the house number, or S/N."),
        ("complement", _) => pick(language, "Este complemento é longo demais.", "This is too long."),
        ("neighborhood", _) => pick(language, "Escreva o bairro.", "Enter the neighbourhood."),
        ("city", _) => pick(language, "Escreva a cidade.", "Enter the city."),
        ("state", _) => pick(
            language,
            "Escreva a sigla do estado, como SP.",
            "Enter the state's two-letter code, such as SP.",
        ),
        (_, "declined") => pick(
            language,
            "O pagamento anterior não foi autorizado. Tente de novo ou escolha outro meio.",
            "The previous payment was not authorised. Try again, or choose another method.",
        ),
        (_, "boletos_held") => pick(
            language,
            "No momento este link não aceita mais boletos. Escolha PIX, ou tente de novo mais tarde.",
            "This link accepts no more slips at the moment. Choose PIX, or try again later.",
        ),
        (_, "half_held") => pick(
            language,
            "Muitos pagamentos deste link ainda esperam. Tente de novo mais tarde.",
            "Many payments of this link are still waiting. Try again later.",
        ),
        (_, "crowded") => pick(
            language,
            "Outra pessoa está começando um pagamento agora. Tente de novo em alguns segundos; nada foi cobrado.",
            "Somebody else is starting a payment now. Try again in a few seconds; nothing was charged.",
        ),
        (_, "too_many") => pick(
            language,
            "Muitos pagamentos foram iniciados a partir da sua rede. Espere uma hora e tente de novo.",
            "Too many payments were started from your network. Wait an hour and try again.",
        ),
        ("method", "needs_script") => pick(
            language,
            "Para pagar com cartão, ative o JavaScript neste navegador, ou escolha outro meio.",
            "To pay by card, enable JavaScript in this browser, or choose another method.",
        ),
        ("method", "method_unavailable") => pick(
            language,
            "Cartão não está disponível agora. Escolha outro meio.",
            "Card payments are not available now. Choose another method.",
        ),
        ("method", _) => pick(language, "Escolha um meio de pagamento.", "Choose a payment method."),
        _ => card_words(language, field, code).unwrap_or_else(|| {
            pick(
                language,
                "Este pagamento não pode ser feito agora. Fale com a loja.",
                "This payment can't be made now. Contact the shop.",
            )
        }),
    };
    FormMistake { field, code, words }
}

/// Returns the words for a link whose payments have all begun.
pub(crate) const fn sold_out(language: Language) -> StateView {
    StateView {
        word: "sold_out",
        label: pick(language, "Esgotado", "Sold out"),
        sentence: pick(
            language,
            "Todos os pagamentos deste link já começaram. Tente de novo mais tarde: um que não for pago libera o lugar.",
            "All payments of this link have been started. Try again later: one that is not paid frees its place.",
        ),
    }
}

/// Returns the words for a link that no acquirer takes, with its amount and terms.
pub(crate) const fn not_payable(language: Language) -> StateView {
    StateView {
        word: "open",
        label: pick(language, "Não pode ser pago", "Can't be paid"),
        sentence: pick(
            language,
            "Este link não pode ser pago com este valor e estas condições. Peça outro à loja; nada foi cobrado.",
            "This link can't be paid with this amount and these terms. Ask the shop for another one; nothing was charged.",
        ),
    }
}

/// Returns the words for a link none of whose methods can be taken now.
pub(crate) const fn no_method(language: Language) -> StateView {
    StateView {
        word: "open",
        label: pick(language, "Indisponível no momento", "Not available at the moment"),
        sentence: pick(
            language,
            "Nenhum meio de pagamento está disponível agora. Volte em alguns minutos.",
            "No payment method is available now. Come back in a few minutes.",
        ),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sums_and_days_are_written_as_the_language_writes_them() {
        let date = NaiveDate::from_ymd_opt(2026, 12, 31).unwrap();
        for (language, sum, written) in [
            (Language::Portuguese, "R$\u{a0}1.234,56", "31/12/2026"),
            (Language::English, "R$1,234.56", "Dec 31, 2026"),
        ] {
            assert_eq!(money(language, Money::from_cents(123_456)), sum);
            assert_eq!(day(language, date), written);
        }
    }
}
