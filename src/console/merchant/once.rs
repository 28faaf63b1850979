//! Page that shows a secret once.

use actix_web::HttpResponse;
use askama::Template;

use super::frame::MerchantFrame;
use crate::console::kit::answer::html;
use crate::console::kit::page_error::PageError;

/// Page with a key, a secret or a password, which no page shows again.
#[derive(Template)]
#[template(path = "console/merchant/once.html")]
pub(crate) struct OncePage {
    pub(crate) frame: MerchantFrame,
    pub(crate) title: String,
    pub(crate) sentence: &'static str,
    pub(crate) secret: String,
    /// Second secret with its label.
    pub(crate) second: Option<SecondSecret>,
    /// Command line to paste, for a key that may create payments.
    pub(crate) curl: Option<String>,
    /// Address to continue to.
    pub(crate) back: String,
}

/// Second secret of the page.
pub(crate) struct SecondSecret {
    pub(crate) label: &'static str,
    pub(crate) secret: String,
}

impl OncePage {
    /// Responds with the page.
    pub(crate) fn show(self) -> Result<HttpResponse, PageError> {
        html(&self)
    }
}
