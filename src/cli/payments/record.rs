//! Parts of a payment record that are shown to people.

use std::fmt;

use serde::Deserialize;

use crate::cli::failure::Failure;
use crate::cli::output::printable;

/// Parts of a record that are shown.
#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct ShownRecord {
    transaction_id: String,
    status: String,
    status_reason: Option<String>,
    amount: String,
    currency: String,
    payment_method: String,
    refunded_amount: Option<String>,
    acquirer: Option<String>,
    external_reference: Option<String>,
    created_at: String,
    paid_at: Option<String>,
    pix: Option<Pix>,
    boleto: Option<Boleto>,
    credit_card: Option<CreditCard>,
    /// Address of its webhooks: the one from its creation, or that of its application.
    pub(super) postback_url: Option<String>,
}

#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
struct Pix {
    code: Option<String>,
    qr_code: Option<String>,
    expires_at: Option<String>,
    due_date: Option<String>,
}

#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
struct Boleto {
    digitable_line: Option<String>,
    paid_amount: Option<String>,
    due_date: Option<String>,
    pix_code: Option<String>,
    url: Option<String>,
}

#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
struct CreditCard {
    brand: Option<String>,
    last_digits: Option<String>,
    captured_amount: Option<String>,
    decline_code: Option<String>,
}

impl ShownRecord {
    /// Parses the API's answer.
    ///
    /// # Errors
    /// Fails if it is not a payment record.
    pub(super) fn parse(answer: &str) -> Result<Self, Failure> {
        serde_json::from_str(answer).map_err(|error| unreadable(&error))
    }

    /// Returns the row in a list.
    pub(super) fn row(&self) -> [String; 6] {
        let Self { transaction_id, created_at, payment_method, status, amount, external_reference, .. } =
            self;
        let reference = external_reference.as_ref().map_or_else(String::new, |text| printable(text));
        let [id, at, method, status, amount] =
            [transaction_id, created_at, payment_method, status, amount].map(|text| printable(text));
        [id, at, method, status, amount, reference]
    }

    /// Returns the values that are shown, with their names. Absent ones are left out.
    fn parts(&self) -> Vec<(&'static str, String)> {
        let pix = self.pix.as_ref();
        let boleto = self.boleto.as_ref();
        let card = self.credit_card.as_ref();
        let amount = format!("{} {}", self.amount, self.currency);
        let refunded = self
            .refunded_amount
            .as_ref()
            .filter(|amount| amount.bytes().any(|byte| (b'1'..=b'9').contains(&byte)));
        // The page has the picture's address without the extension.
        let page =
            pix.and_then(|pix| pix.qr_code.as_ref()).map(|url| url.trim_end_matches(".png").to_owned());
        let number =
            card.and_then(|card| Some(format!("{} …{}", card.brand.as_ref()?, card.last_digits.as_ref()?)));
        let due = pix
            .and_then(|pix| pix.due_date.clone())
            .or_else(|| boleto.and_then(|boleto| boleto.due_date.clone()));
        let code = pix
            .and_then(|pix| pix.code.clone())
            .or_else(|| boleto.and_then(|boleto| boleto.pix_code.clone()));
        // Shown only if it differs from the requested amount.
        let differs = |sum: &String| *sum != self.amount;
        let captured = card.and_then(|card| card.captured_amount.clone()).filter(differs);
        let received = boleto.and_then(|boleto| boleto.paid_amount.clone()).filter(differs);
        let parts = [
            ("payment", Some(self.transaction_id.clone())),
            ("status", Some(self.status.clone())),
            ("reason", self.status_reason.clone()),
            ("declined", card.and_then(|card| card.decline_code.clone())),
            ("amount", Some(amount)),
            ("captured", captured),
            ("received", received),
            ("refunded", refunded.cloned()),
            ("method", Some(self.payment_method.clone())),
            ("card", number),
            ("acquirer", self.acquirer.clone()),
            ("reference", self.external_reference.clone()),
            ("created", Some(self.created_at.clone())),
            ("paid", self.paid_at.clone()),
            ("expires", pix.and_then(|pix| pix.expires_at.clone())),
            ("due", due),
            ("pix code", code),
            ("line", boleto.and_then(|boleto| boleto.digitable_line.clone())),
            ("page", page.or_else(|| boleto.and_then(|boleto| boleto.url.clone()))),
        ];
        parts.into_iter().filter_map(|(name, value)| Some((name, value?))).collect()
    }
}

impl fmt::Display for ShownRecord {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let lines = self.parts().into_iter().map(|(name, value)| format!("{name:<9}  {}", printable(&value)));
        f.write_str(&lines.collect::<Vec<_>>().join("\n"))
    }
}

/// Returns the failure for an answer that is not a payment record.
pub(in crate::cli) fn unreadable(error: &serde_json::Error) -> Failure {
    Failure::failed(format!("the answer can't be parsed ({error}); --json prints it unchanged"))
}

#[cfg(test)]
mod tests {
    use super::*;

    const RECORD: &str = r#"{"transactionId":"t","status":"paid","statusReason":null,"amount":"100.27","currency":"BRL",
        "paymentMethod":"PIX","refundedAmount":"0.00","acquirer":"sandbox","externalReference":"a\u001bb",
        "createdAt":"2026-11-25T12:00:00.000Z","paidAt":null,"boleto":null,"creditCard":null,
        "pix":{"code":"000201","qrCode":"http://h/pix/x.png","expiresAt":null}}"#;

    #[test]
    fn what_is_not_there_is_left_out_and_the_page_is_named() {
        let shown = ShownRecord::parse(RECORD).unwrap().to_string();
        let lines: Vec<_> = shown.lines().map(|line| line.split_once("  ").unwrap()).collect();
        let names: Vec<_> = lines.iter().map(|(name, _)| name.trim()).collect();
        let expected =
            ["payment", "status", "amount", "method", "acquirer", "reference", "created", "pix code", "page"];
        assert_eq!(names, expected, "{shown}");
        assert!(shown.ends_with("http://h/pix/x") && shown.contains("a\\u{1b}b"), "{shown}");
    }

    #[test]
    fn money_that_went_back_is_told() {
        let record = RECORD.replace("\"0.00\"", "\"0.10\"");
        assert!(ShownRecord::parse(&record).unwrap().to_string().contains("refunded   0.10"));
    }

    #[test]
    fn money_that_came_is_told_where_it_is_not_what_was_asked_for() {
        let told = |part: &str, value: &str| {
            let record = RECORD.replace(&format!("\"{part}\":null"), &format!("\"{part}\":{value}"));
            ShownRecord::parse(&record).unwrap().to_string()
        };
        assert!(told("creditCard", r#"{"capturedAmount":"60.00"}"#).contains("captured   60.00"));
        assert!(told("boleto", r#"{"paidAmount":"102.28"}"#).contains("received   102.28"));
        assert!(!told("creditCard", r#"{"capturedAmount":"100.27"}"#).contains("captured"));
    }

    #[test]
    fn another_answer_is_told() {
        let told = ShownRecord::parse("{\"data\":[]}").unwrap_err().to_string();
        assert!(told.contains("--json"), "{told}");
    }
}
