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
use quita_services::refusal_log::Refusal;

/// Number of refusals shown.
const SHOWN: usize = 100;

#[derive(Template)]
#[template(path = "console/merchant/requests.html")]
struct RequestsPage {
    frame: Frame,
    refusals: Vec<Refusal>,
    /// Sentence about the node that keeps these refusals.
    of_node: String,
    /// Heading of an empty list.
    empty: String,
}

/// Handles `GET /console/{mode}/requests`.
pub(crate) async fn show(
    visitor: Visitor,
    InMode(mode): InMode,
    console: Data<MerchantConsole>,
) -> Result<HttpResponse, Failure> {
    let refusals = console.edge.refusals.newest(&visitor.user.merchant, mode, SHOWN);
    let frame = visitor.frame(mode, Section::Requests);
    let texts = &frame.texts.requests;
    let (empty, of_node) = match console.edge.payments.node_among_others() {
        Some(node) => (texts.empty_on_node.replace("{node}", &node), texts.of_nodes.replace("{node}", &node)),
        None => (texts.empty.into(), texts.of_node.into()),
    };
    html(&RequestsPage { frame, refusals, of_node, empty })
}
