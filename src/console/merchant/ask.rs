//! Confirmation page of the merchants' console.

use std::sync::Arc;

use actix_web::HttpResponse;
use askama::Template;
use quita_domain::money::Money;
use quita_domain::payment::Payment;
use uuid::Uuid;

use super::frame::MerchantFrame;
use crate::console::kit::answer::html;
use crate::console::kit::page_error::PageError;

/// Page that asks for confirmation before an action.
#[derive(Template)]
#[template(path = "console/merchant/ask.html")]
pub(super) struct AskPage {
    frame: MerchantFrame,
    question: String,
    sentence: &'static str,
    button: &'static str,
    /// Target of the form.
    action: String,
    /// Page that the visitor came from.
    back: String,
    /// True if the action can't be undone.
    pub(super) is_grave: bool,
    /// Fingerprint of the value that the form replaces, so that it is replaced only once even if the form is sent
    /// repeatedly.
    pub(super) replaces: Option<String>,
    /// Payment that the action concerns, if any.
    pub(super) payment: Option<AskedPayment>,
    /// Additional choice in the form: the name of its field, and its label.
    pub(super) choice: Option<(&'static str, &'static str)>,
}

/// Words of a question to the visitor.
pub(super) struct AskWords {
    pub(super) question: String,
    pub(super) sentence: &'static str,
    /// Label of the button.
    pub(super) button: &'static str,
}

/// Payment with the parameters of an action on it.
pub(super) struct AskedPayment {
    pub(super) payment: Arc<Payment>,
    /// Maximum amount, and the label of its field.
    pub(super) amount: Option<(Money, &'static str)>,
    /// Idempotency key of this request, which is executed once even if the form is sent repeatedly.
    pub(super) key: Uuid,
}

impl AskPage {
    /// Creates the page with these words. The form is sent to `step` below the page that the visitor came from.
    pub(super) fn new(frame: MerchantFrame, words: AskWords, back: String, step: &str) -> Self {
        let AskWords { question, sentence, button } = words;
        let action = format!("{back}/{step}");
        Self {
            frame,
            question,
            sentence,
            button,
            action,
            back,
            is_grave: true,
            replaces: None,
            payment: None,
            choice: None,
        }
    }

    /// Responds with the page.
    pub(super) fn show(self) -> Result<HttpResponse, PageError> {
        html(&self)
    }
}
