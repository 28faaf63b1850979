//! Test or live, from the address of a page: `/console/{mode}/…`.

use std::future::{Ready, ready};

use actix_web::dev::Payload;
use actix_web::{FromRequest, HttpRequest};
use quita_domain::identity::Mode;

use crate::console::kit::failure::Failure;

/// The mode that a page is about.
#[derive(Debug, Clone, Copy)]
pub(crate) struct InMode(pub(crate) Mode);

impl InMode {
    /// What the addresses of the console begin with in this mode.
    pub(crate) fn base(self) -> String {
        format!("/console/{}", self.0.as_str())
    }
}

impl FromRequest for InMode {
    type Error = Failure;
    type Future = Ready<Result<Self, Failure>>;

    fn from_request(request: &HttpRequest, _: &mut Payload) -> Self::Future {
        let mode = request.match_info().get("mode").and_then(Mode::parse);
        ready(mode.map(Self).ok_or(Failure::NotFound))
    }
}
