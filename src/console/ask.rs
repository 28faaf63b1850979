//! The page that asks once more.

use actix_web::HttpResponse;
use askama::Template;

use super::answer::html;
use super::failure::Failure;
use super::frame::Frame;

/// Asks once more before something is done.
#[derive(Template)]
#[template(path = "console/ask.html")]
pub(crate) struct AskPage {
    pub(crate) frame: Frame,
    pub(crate) question: String,
    pub(crate) sentence: String,
    pub(crate) button: &'static str,
    /// Where the form goes.
    pub(crate) action: String,
    /// Where the visitor came from.
    pub(crate) back: String,
    /// Whether there is no way back from it.
    pub(crate) is_grave: bool,
}

impl AskPage {
    /// The answer that carries the page.
    pub(crate) fn show(self) -> Result<HttpResponse, Failure> {
        html(&self)
    }
}
