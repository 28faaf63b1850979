//! API requests by the merchant's programs that were refused, or had unknown names.

use std::cmp::Reverse;

use actix_web::HttpResponse;
use actix_web::web::Data;
use askama::Template;
use quita_domain::access::KeyKind;
use quita_domain::request::UnknownName;

use super::MerchantConsole;
use super::frame::{MerchantFrame, MerchantSection};
use super::mode::InMode;
use super::texts::Requests;
use super::visitor::Visitor;
use crate::console::Language;
use crate::console::kit::answer::html;
use crate::console::kit::page_error::PageError;
use quita_services::refusal_log::{AnsweredRequest, IgnoredNames, Refusal};

/// Maximum number of requests shown for each kind of key.
const SHOWN: usize = 100;

/// Line of the list.
struct RequestRow {
    request: AnsweredRequest,
    /// Code of a refusal; empty if the request was accepted.
    code: &'static str,
    /// Sentences about each field, or one about the request.
    sentences: Vec<String>,
}

impl RequestRow {
    fn of_refusal(refusal: Refusal, language: Language) -> Self {
        let Refusal { request, code, message, violations } = refusal;
        let of_field = violations
            .iter()
            .map(|violation| format!("{}: {}", violation.field, language.of_wording(&violation.message)));
        let sentences: Vec<_> = of_field.collect();
        let whole = || vec![language.of_wording(&message).to_owned()];
        Self { request, code, sentences: if sentences.is_empty() { whole() } else { sentences } }
    }

    fn of_ignored(ignored: IgnoredNames, texts: &Requests) -> Self {
        let IgnoredNames { request, names } = ignored;
        let sentence = |name: &UnknownName| match &name.meant {
            Some(meant) => texts.ignored_but.replace("{name}", &name.path).replace("{meant}", meant),
            None => texts.ignored.replace("{name}", &name.path),
        };
        Self { request, code: "", sentences: names.iter().map(sentence).collect() }
    }
}

#[derive(Template)]
#[template(path = "console/merchant/requests.html")]
struct RequestsPage {
    frame: MerchantFrame,
    rows: Vec<RequestRow>,
    /// Sentence about the node that keeps these refusals.
    of_node: String,
    /// Heading of an empty list.
    empty: String,
}

/// Takes one of the slots for this kind of key. Returns false if none is left.
fn take_place(places: &mut [(KeyKind, usize)], kind: KeyKind) -> bool {
    let left = places.iter_mut().find(|(of, left)| *of == kind && *left > 0);
    left.map(|(_, left)| *left = left.saturating_sub(1)).is_some()
}

/// Handles `GET /console/{mode}/requests`.
pub(crate) async fn show(
    visitor: Visitor,
    InMode(mode): InMode,
    console: Data<MerchantConsole>,
) -> Result<HttpResponse, PageError> {
    let log = &console.edge.refusals;
    let merchant = &visitor.user.merchant;
    let refusals = log.newest(merchant, mode, SHOWN);
    let ignored = log.newest_ignored(merchant, mode, SHOWN);
    let frame = visitor.frame(mode, MerchantSection::Requests);
    let texts = &frame.texts.requests;
    let refusals = refusals.into_iter().map(|refusal| RequestRow::of_refusal(refusal, frame.language()));
    let ignored = ignored.into_iter().map(|ignored| RequestRow::of_ignored(ignored, texts));
    let mut rows: Vec<_> = refusals.chain(ignored).collect();
    rows.sort_by_key(|row| Reverse(row.request.at));
    // Requests with a publishable key, with which anyone can fill the page, take no slots from those with a secret key.
    let mut places = KeyKind::ALL.map(|kind| (kind, SHOWN));
    rows.retain(|row| take_place(&mut places, row.request.key_kind));
    let (empty, of_node) = match console.edge.payments.node_among_others() {
        Some(node) => (texts.empty_on_node.replace("{node}", &node), texts.of_nodes.replace("{node}", &node)),
        None => (texts.empty.into(), texts.of_node.into()),
    };
    html(&RequestsPage { frame, rows, of_node, empty })
}
