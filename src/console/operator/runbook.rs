//! Runbook page, from `docs/ops/RUNBOOK.md`. Anyone may read it: it contains no data of this installation, and is
//! needed most while nobody can sign in.

use std::sync::LazyLock;
use std::time::Duration;

use actix_web::{FromRequest, HttpRequest, HttpResponse};
use askama::Template;
use pulldown_cmark::{CowStr, Event, Options, Parser, Tag, TagEnd, html as markdown};
use tokio::time::timeout;

use super::frame::{OperatorFrame, OperatorSection};
use super::visitor::Operator;
use crate::console::kit::answer::html;
use crate::console::kit::frame::Frame;
use crate::console::kit::page_error::PageError;

/// Time limit for the store to confirm a session. After it, the page is shown as to a visitor without one.
const CONFIRMED_WITHIN: Duration = Duration::from_secs(2);

/// Rendered runbook; HTML in its source is escaped.
static RUNBOOK: LazyLock<String> = LazyLock::new(|| render(include_str!("../../../docs/ops/RUNBOOK.md")));

#[derive(Template)]
#[template(path = "console/operator/runbook.html")]
struct RunbookPage {
    frame: OperatorFrame,
    text: &'static str,
}

/// Page for a visitor without a session: no navigation, and no data of this installation.
#[derive(Template)]
#[template(path = "console/operator/open_runbook.html")]
struct OpenRunbookPage {
    frame: Frame,
    text: &'static str,
}

/// Handles `GET /runbook`.
pub(super) async fn show(request: HttpRequest) -> Result<HttpResponse, PageError> {
    match timeout(CONFIRMED_WITHIN, Operator::extract(&request)).await {
        Ok(Ok(operator)) => {
            html(&RunbookPage { frame: operator.frame(OperatorSection::Overview), text: &RUNBOOK })
        }
        Ok(Err(_)) | Err(_) => html(&OpenRunbookPage { frame: Frame::bare(), text: &RUNBOOK }),
    }
}

fn render(text: &str) -> String {
    let mut rendered = String::new();
    markdown::push_html(&mut rendered, sanitised(Parser::new_ext(text, Options::ENABLE_TABLES)).into_iter());
    rendered
}

/// Sanitises the runbook: HTML is shown as text, and every heading gets the anchor that links to it use. Links to
/// repository files, which are not served, become text.
#[expect(clippy::wildcard_enum_match_arm, reason = "what is neither a link nor a heading is kept as it is")]
fn sanitised<'a>(events: impl Iterator<Item = Event<'a>>) -> Vec<Event<'a>> {
    let mut kept = Vec::new();
    let mut links = Vec::new();
    for event in events {
        match event {
            Event::Html(text) | Event::InlineHtml(text) => kept.push(Event::Text(text)),
            Event::Start(Tag::Link { ref dest_url, .. }) => {
                let is_served = dest_url.starts_with('#') || dest_url.starts_with("http");
                links.push(is_served);
                kept.extend(is_served.then_some(event));
            }
            Event::End(TagEnd::Link) => {
                let is_served = links.pop().unwrap_or_default();
                kept.extend(is_served.then_some(event));
            }
            Event::Start(Tag::Image { .. }) | Event::End(TagEnd::Image) => {}
            Event::End(TagEnd::Heading(_)) => {
                name_heading(&mut kept);
                kept.push(event);
            }
            event => kept.push(event),
        }
    }
    kept
}

/// Adds the anchor to the heading that ends here.
#[expect(clippy::wildcard_enum_match_arm, reason = "what is neither a link nor a heading is kept as it is")]
fn name_heading(events: &mut [Event<'_>]) {
    let mut name = String::new();
    for event in events.iter_mut().rev() {
        match event {
            Event::Text(text) | Event::Code(text) => name.insert_str(0, text),
            Event::Start(Tag::Heading { id, .. }) => {
                *id = Some(CowStr::from(name.to_lowercase().replace(' ', "-")));
                return;
            }
            _ => {}
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_heading_can_be_linked_to_and_nothing_leads_to_files_that_are_not_served() {
        for anchor in
            ["quitastorefailing", "quitanodelost", "quitaacquirerdown", "paid_twice", "alertmanager"]
        {
            assert_eq!(RUNBOOK.matches(&format!("id=\"{anchor}\"")).count(), 1, "{anchor}");
        }
        for link in RUNBOOK.split("href=\"").skip(1).map(|rest| rest.split('"').next().unwrap()) {
            let anchor = link.strip_prefix('#').map(|anchor| format!("id=\"{anchor}\""));
            let is_there = anchor.is_some_and(|anchor| RUNBOOK.contains(&anchor));
            assert!(is_there || link.starts_with("http"), "{link}");
        }
        assert!(!RUNBOOK.contains("<script") && !RUNBOOK.contains("<img"));
    }
}
