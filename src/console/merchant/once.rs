//! The page that shows something once.

use actix_web::HttpResponse;
use askama::Template;

use super::frame::Frame;
use crate::console::kit::answer::html;
use crate::console::kit::failure::Failure;

/// Shows a key, a secret or a password, which no page shows again.
#[derive(Template)]
#[template(path = "console/merchant/once.html")]
pub(crate) struct OncePage {
    pub(crate) frame: Frame,
    pub(crate) title: String,
    pub(crate) sentence: &'static str,
    pub(crate) secret: String,
    /// A second secret, and what tells it from the first.
    pub(crate) second: Option<SecondSecret>,
    /// A line to paste, if it is a key that may create payments.
    pub(crate) curl: Option<String>,
    /// Where to go on.
    pub(crate) back: String,
}

/// A secret beside the first one of the page.
pub(crate) struct SecondSecret {
    pub(crate) label: &'static str,
    pub(crate) secret: String,
}

impl OncePage {
    /// The answer that carries the page.
    pub(crate) fn show(self) -> Result<HttpResponse, Failure> {
        html(&self)
    }
}
