//! Refused API requests of the merchant's programs.

use actix_web::HttpResponse;
use actix_web::web::Data;
use askama::Template;

use super::MerchantConsole;
use super::frame::{Frame, Section};
use super::mode::InMode;
use super::visitor::Visitor;
use crate::console::kit::answer::html;
use crate::console::kit::failure::Failure;
use crate::service::refusal_log::Refusal;

/// Number of refusals shown.
const SHOWN: usize = 100;

#[derive(Template)]
#[template(path = "console/merchant/requests.html")]
struct RequestsPage {
    frame: Frame,
    refusals: Vec<Refusal>,
}

/// Handles `GET /console/{mode}/requests`.
pub(crate) async fn show(
    visitor: Visitor,
    InMode(mode): InMode,
    console: Data<MerchantConsole>,
) -> Result<HttpResponse, Failure> {
    let refusals = console.edge.refusals.newest(&visitor.user.merchant, mode, SHOWN);
    html(&RequestsPage { frame: visitor.frame(mode, Section::Requests), refusals })
}
