//! The page that asks once more.

use std::sync::Arc;

use actix_web::HttpResponse;
use askama::Template;
use quita_domain::money::Money;
use quita_domain::payment::Payment;
use uuid::Uuid;

use super::frame::Frame;
use crate::console::kit::answer::html;
use crate::console::kit::failure::Failure;

/// Asks once more before something is done.
#[derive(Template)]
#[template(path = "console/merchant/ask.html")]
pub(super) struct AskPage {
    frame: Frame,
    question: String,
    sentence: &'static str,
    button: &'static str,
    /// Where the form goes.
    action: String,
    /// Where the visitor came from.
    back: String,
    /// Whether there is no way back from it.
    pub(super) is_grave: bool,
    /// What the form replaces, so that it does so once however often it is sent.
    pub(super) replaces: Option<String>,
    /// The payment that it is about, if it is about one.
    pub(super) payment: Option<AskedPayment>,
}

/// What is asked of a payment.
pub(super) struct AskedPayment {
    pub(super) payment: Arc<Payment>,
    /// The most that can be asked for, and what its field is called.
    pub(super) amount: Option<(Money, &'static str)>,
    /// Names this request, so that it is done once however often the form is sent.
    pub(super) key: Uuid,
}

impl AskPage {
    /// Asks with a question, a sentence and the word on the button. The form goes to `step` below the page that the
    /// visitor came from.
    pub(super) fn new(
        frame: Frame,
        (question, sentence, button): (impl Into<String>, &'static str, &'static str),
        back: String,
        step: &str,
    ) -> Self {
        let (question, action) = (question.into(), format!("{back}/{step}"));
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
        }
    }

    /// The answer that carries the page.
    pub(super) fn show(self) -> Result<HttpResponse, Failure> {
        html(&self)
    }
}
