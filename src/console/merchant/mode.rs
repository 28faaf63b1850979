//! Mode of a page, test or live, from its address: `/console/{mode}/…`.

use std::future::{Ready, ready};

use actix_web::dev::Payload;
use actix_web::{FromRequest, HttpRequest};
use quita_domain::identity::Mode;

use crate::console::kit::page_context::PageContext;
use crate::console::kit::page_error::PageError;

/// Returns the start of the console's addresses in a mode, as browsers see them.
pub(crate) fn base_of(mode: Mode) -> String {
    format!("{}/{}", PageContext::current().root(), mode.as_str())
}

/// Mode of a page.
#[derive(Debug, Clone, Copy)]
pub(crate) struct InMode(pub(crate) Mode);

impl InMode {
    /// Returns the start of the console's addresses in this mode.
    pub(crate) fn base(self) -> String {
        base_of(self.0)
    }
}

impl FromRequest for InMode {
    type Error = PageError;
    type Future = Ready<Result<Self, PageError>>;

    fn from_request(request: &HttpRequest, _: &mut Payload) -> Self::Future {
        let mode = request.match_info().get("mode").and_then(Mode::parse);
        ready(mode.map(Self).ok_or(PageError::NotFound))
    }
}
