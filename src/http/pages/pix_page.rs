//! The page on which a PIX is paid.

use askama::Template;
use quita_domain::status::Status;
use quita_domain::time::Timestamp;
use quita_paper::brazilian::reais;

use super::due_words::DueWords;
use super::in_brasilia;
use super::state_words::{StateWords, is_open};
use crate::http::Mount;

/// Contents of the PIX page. `{path}.svg` is its QR code, `{path}.logo` the merchant's logo, `{path}/status` the
/// payment's status.
#[derive(Debug, Clone, Template)]
#[template(path = "pix_page.html")]
pub(crate) struct PixPage {
    /// Path under which the outside reaches the public listener.
    pub(crate) mount: Mount,
    /// Path of this page as a browser sees it, as in `/pix/TOKEN`.
    pub(crate) path: String,
    /// Name of the merchant as payers see it.
    pub(crate) merchant_name: String,
    /// Contact at which the merchant answers questions.
    pub(crate) contact: Option<String>,
    /// True if the merchant has a logo.
    pub(crate) has_logo: bool,
    /// Amount to be paid, in cents.
    pub(crate) amount_cents: i64,
    /// Terms of a due date.
    pub(crate) due: Option<DueWords>,
    /// The BR Code to copy; absent until an acquirer has issued it.
    pub(crate) code: Option<String>,
    /// Time at which the code expires.
    pub(crate) expires_at: Timestamp,
    /// Time of the service, by which the page corrects the payer's clock.
    pub(crate) now: Timestamp,
    /// Status of the payment.
    pub(crate) status: Status,
    /// True for a sandbox payment, which moves no money.
    pub(crate) is_test: bool,
}

impl PixPage {
    fn amount(&self) -> String {
        reais(self.due.as_ref().map_or(self.amount_cents, DueWords::owed_cents))
    }

    fn original_amount(&self) -> String {
        reais(self.amount_cents)
    }

    fn expires_in_words(&self) -> String {
        in_brasilia(self.expires_at)
    }

    fn is_open(&self) -> bool {
        is_open(self.status)
    }

    fn current(&self) -> StateWords {
        words(self.status)
    }

    fn all_words(&self) -> [StateWords; 9] {
        Status::ALL.map(words)
    }

    fn payable_code(&self) -> Option<&str> {
        self.code.as_deref().filter(|_| is_open(self.status))
    }
}

fn words(status: Status) -> StateWords {
    let sentence = match status {
        Status::Initial => "O código fica pronto em instantes.",
        Status::Pending | Status::Approved => "Assim que você pagar, esta página muda sozinha.",
        Status::Paid => "Pagamento confirmado. Você já pode fechar esta página.",
        Status::Declined => "Não foi possível gerar este PIX. Volte à loja e tente de novo.",
        Status::Expired => "O prazo deste código terminou. Volte à loja e peça um novo.",
        Status::Cancelled => "Esta cobrança foi cancelada. Não pague este código.",
        Status::Refund => "O valor foi devolvido para a sua conta.",
        Status::Chargeback => "Este pagamento foi contestado e está em análise.",
    };
    StateWords::new(status, sentence)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn page() -> PixPage {
        PixPage {
            mount: Mount::ROOT,
            path: "/pix/tok_123".to_owned(),
            merchant_name: "Padaria & Café <Estrela>".to_owned(),
            contact: None,
            has_logo: false,
            amount_cents: 123_456,
            due: None,
            code: Some("00020126…6304ABCD".to_owned()),
            expires_at: Timestamp::parse("2026-11-21T18:00:00Z").unwrap(),
            now: Timestamp::parse("2026-11-21T17:00:00Z").unwrap(),
            status: Status::Pending,
            is_test: false,
        }
    }

    fn in_status(status: Status) -> String {
        PixPage { status, ..page() }.render().unwrap()
    }

    #[test]
    fn an_open_payment_shows_code_picture_amount_and_deadline() {
        let html = page().render().unwrap();
        for part in [
            "R$&nbsp;1.234,56",
            "src=\"/pix/tok_123.svg\"",
            "data-status-url=\"/pix/tok_123/status\"",
            "00020126…6304ABCD</textarea>",
            "data-expires-at=\"2026-11-21T18:00:00.000Z\"",
            "data-now=\"2026-11-21T17:00:00.000Z\"",
            "21/11/2026 às 15:00",
            "<noscript><meta http-equiv=\"refresh\"",
        ] {
            assert!(html.contains(part), "{part} is missing in:\n{html}");
        }
    }

    #[test]
    fn names_are_escaped() {
        let html = page().render().unwrap();
        assert!(
            !html.contains("<Estrela>") && html.contains("Padaria &#38; Café &#60;Estrela&#62;"),
            "{html}"
        );
    }

    #[test]
    fn a_contact_is_shown_whatever_the_status_and_no_line_without_one() {
        for status in [Status::Pending, Status::Paid] {
            let contact = Some("ajuda@<loja>.com.br".to_owned());
            let html = PixPage { contact, status, ..page() }.render().unwrap();
            assert!(html.contains("ajuda@&#60;loja&#62;.com.br"), "{html}");
        }
        assert!(!page().render().unwrap().contains("Dúvidas"));
    }

    #[test]
    fn a_paid_payment_says_so_and_offers_nothing_to_pay() {
        let html = in_status(Status::Paid);
        assert!(html.contains("Pagamento confirmado") && html.contains("data-status=\"paid\""));
        assert!(!html.contains("tok_123.svg") && !html.contains("6304ABCD") && !html.contains("http-equiv"));
    }

    #[test]
    fn no_closed_state_offers_a_code() {
        for status in Status::ALL.into_iter().filter(|status| !is_open(*status)) {
            assert!(!in_status(status).contains("6304ABCD"), "{status:?}");
        }
    }

    #[test]
    fn the_page_carries_the_words_for_every_state_it_may_reach() {
        let html = page().render().unwrap();
        for status in Status::ALL {
            assert!(html.contains(&format!("data-when=\"{}\"", status.as_str())), "{status:?}");
        }
    }

    #[test]
    fn nothing_on_the_page_needs_more_than_the_policy_allows() {
        let html = page().render().unwrap();
        assert!(!html.contains(" style=") && !html.contains("<style") && !html.contains(" onclick="));
        assert!(html.split("<script").skip(1).all(|script| script.starts_with(" src=\"/assets/")));
    }

    #[test]
    fn a_test_payment_is_marked() {
        let note = "Ambiente de testes";
        assert!(PixPage { is_test: true, ..page() }.render().unwrap().contains(note));
        assert!(!page().render().unwrap().contains(note));
    }
}
