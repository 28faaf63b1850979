//! The page that shows a boleto on a screen and prints it.

use askama::Template;
use chrono::NaiveDate;
use quita_domain::status::Status;
use quita_paper::brazilian::{day, reais};
use quita_paper::itf::ItfBarcode;

use super::due_words::DueWords;
use super::state_words::{StateWords, is_open};
use crate::http::Mount;

/// Contents of the boleto page. `{path}.pdf` is the slip, `{path}.logo` the merchant's logo, `{path}/status` the
/// payment's status.
#[derive(Debug, Clone, Template)]
#[template(path = "boleto_page.html")]
pub(crate) struct BoletoPage {
    /// Path under which the outside reaches the public listener.
    pub(crate) mount: Mount,
    /// Path of this page as a browser sees it, as in `/boletos/TOKEN`.
    pub(crate) path: String,
    /// Bank name and code with digit, as in `Banco Itaú S.A. (341-7)`.
    pub(crate) bank: String,
    /// Linha digitável with its dots and spaces.
    pub(crate) line_formatted: String,
    /// Bars of the bar code. They are drawn, not written, so this is not text.
    pub(crate) barcode: ItfBarcode,
    /// Amount to be paid, in cents.
    pub(crate) amount_cents: i64,
    /// Terms of the due date.
    pub(crate) due: Option<DueWords>,
    /// Code of the PIX that pays it as well.
    pub(crate) pix_code: Option<PixCodeView>,
    /// Due date (vencimento).
    pub(crate) due_date: NaiveDate,
    /// Our number (nosso número) as the bank prints it.
    pub(crate) our_number: String,
    /// The beneficiary's own number of the document.
    pub(crate) document_number: String,
    /// Beneficiary of the payment.
    pub(crate) beneficiary: PartyView,
    /// True if the merchant has a logo.
    pub(crate) has_logo: bool,
    /// Payer of the boleto.
    pub(crate) payer: PartyView,
    /// Instructions of the beneficiary, one sentence each.
    pub(crate) instructions: Vec<String>,
    /// Status of the payment.
    pub(crate) status: Status,
    /// True for a sandbox payment, whose slip no bank has registered.
    pub(crate) is_test: bool,
}

/// A person or company on the page.
#[derive(Debug, Clone)]
pub(crate) struct PartyView {
    /// Full name.
    pub(crate) name: String,
    /// CPF or CNPJ with its punctuation, after the name of its kind.
    pub(crate) document_formatted: String,
    /// Address, one entry per line.
    pub(crate) address: Vec<String>,
}

/// A PIX code on the page.
#[derive(Debug, Clone)]
pub(crate) struct PixCodeView {
    /// BR Code to copy.
    pub(crate) code: String,
    /// Path of its QR code.
    pub(crate) picture: String,
}

impl BoletoPage {
    fn amount(&self) -> String {
        reais(self.due.as_ref().map_or(self.amount_cents, DueWords::owed_cents))
    }

    fn original_amount(&self) -> String {
        reais(self.amount_cents)
    }

    fn due_day(&self) -> String {
        day(self.due_date)
    }

    fn barcode_svg(&self) -> String {
        self.barcode.svg()
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
}

fn words(status: Status) -> StateWords {
    let sentence = match status {
        Status::Initial => "O boleto fica pronto em instantes.",
        Status::Pending | Status::Approved => "Depois de pago, a confirmação leva até três dias úteis.",
        Status::Paid => "Pagamento confirmado. Este boleto não precisa mais ser pago.",
        Status::Declined => "Este boleto não foi registrado. Volte à loja e tente de novo.",
        Status::Expired => "Este boleto venceu. Volte à loja e peça um novo.",
        Status::Cancelled => "Esta cobrança foi cancelada. Não pague este boleto.",
        Status::Refund => "O valor foi devolvido.",
        Status::Chargeback => "Este pagamento foi contestado e está em análise.",
    };
    StateWords::new(status, sentence)
}

#[cfg(test)]
mod tests {
    use super::*;

    const BARCODE: &str = "34193164700000100001090000000160057123457000";

    fn page() -> BoletoPage {
        let party = |name: &str, document: &str| PartyView {
            name: name.to_owned(),
            document_formatted: document.to_owned(),
            address: vec!["Rua A, 1".to_owned()],
        };
        BoletoPage {
            mount: Mount::ROOT,
            path: "/boletos/tok_123".to_owned(),
            bank: "Banco Itaú S.A. (341-7)".to_owned(),
            line_formatted: "34191.09008 00000.016003 57123.457000 3 16470000010000".to_owned(),
            barcode: ItfBarcode::from_digits(BARCODE).unwrap(),
            amount_cents: 10_000,
            due: None,
            pix_code: None,
            due_date: NaiveDate::from_ymd_opt(2026, 12, 1).unwrap(),
            our_number: "109/00000001-6".to_owned(),
            document_number: "123".to_owned(),
            beneficiary: party("Loja <b>X</b>", "CNPJ 12.345.678/0001-95"),
            has_logo: false,
            payer: party("João", "CPF 123.456.789-09"),
            instructions: vec!["Não receber após 31/12/2026.".to_owned()],
            status: Status::Pending,
            is_test: false,
        }
    }

    #[test]
    fn an_open_boleto_shows_line_bars_amount_and_both_parties() {
        let html = page().render().unwrap();
        for part in [
            "34191.09008 00000.016003 57123.457000 3 16470000010000</textarea>",
            "viewBox=\"0 0 445 1\"",
            "R$&nbsp;100,00",
            "01/12/2026",
            "href=\"/boletos/tok_123.pdf\"",
            "data-status-url=\"/boletos/tok_123/status\"",
            "CNPJ 12.345.678/0001-95",
            "CPF 123.456.789-09",
            "Não receber após 31/12/2026.",
            "109/00000001-6",
        ] {
            assert!(html.contains(part), "{part} is missing in:\n{html}");
        }
    }

    #[test]
    fn names_are_escaped_and_only_the_bars_are_not() {
        let html = page().render().unwrap();
        assert!(!html.contains("<b>X</b>") && html.contains("Loja &#60;b&#62;X"), "{html}");
        assert_eq!(html.matches("<svg").count(), 1);
    }

    #[test]
    fn a_paid_boleto_says_so_and_offers_nothing_to_pay() {
        let html = BoletoPage { status: Status::Paid, ..page() }.render().unwrap();
        assert!(html.contains("Este boleto não precisa mais ser pago."));
        assert!(!html.contains("16470000010000") && !html.contains("<svg") && !html.contains(".pdf"));
    }

    #[test]
    fn nothing_on_the_page_needs_more_than_the_policy_allows() {
        let html = page().render().unwrap();
        assert!(!html.contains(" style=") && !html.contains("<style") && !html.contains(" onclick="));
        assert!(html.split("<script").skip(1).all(|script| script.starts_with(" src=\"/assets/")));
    }
}
