//! Outage of the store, as shown on pages: words for each kind of trouble, and the endpoint that open pages query.

use actix_web::HttpResponse;
use actix_web::web::Data;
use quita_actors::{StoreState, StoreTrouble};
use serde::Serialize;

use super::console_kind::ConsoleKind;
use super::texts::Everywhere;

/// Words about one kind of trouble.
#[derive(Debug, Clone, Copy)]
pub(crate) struct OutageWords {
    /// Name of the trouble in samples and pages.
    pub(crate) name: &'static str,
    /// Name of the trouble, followed by the time of its start.
    pub(crate) heading: &'static str,
    /// Consequences of the trouble, and how it ends.
    pub(crate) sentence: &'static str,
    /// Section of the runbook about this trouble.
    pub(crate) section: &'static str,
}

impl OutageWords {
    /// Returns the words for visitors of a console.
    pub(crate) const fn of(trouble: StoreTrouble, console: ConsoleKind, texts: &Everywhere) -> Self {
        let (heading, sentence) = match console {
            ConsoleKind::Merchant => match trouble {
                StoreTrouble::Silent => (texts.outage_silent, texts.outage_for_merchants),
                StoreTrouble::ReadOnly | StoreTrouble::Full => {
                    (texts.outage_no_writes, texts.outage_for_merchants)
                }
                StoreTrouble::Broken => (texts.outage_no_writes, texts.outage_broken_for_merchants),
            },
            ConsoleKind::Operator => match trouble {
                StoreTrouble::Silent => (texts.outage_silent, texts.outage_for_operators),
                StoreTrouble::ReadOnly => (texts.outage_read_only, texts.outage_for_operators),
                StoreTrouble::Full => (texts.outage_full, texts.outage_full_for_operators),
                StoreTrouble::Broken => (texts.outage_broken, texts.outage_broken_for_operators),
            },
        };
        let section = match trouble {
            StoreTrouble::Silent | StoreTrouble::ReadOnly => "quitastorefailing",
            StoreTrouble::Full => "full-disk",
            StoreTrouble::Broken => "broken-store",
        };
        Self { name: trouble.as_str(), heading, sentence, section }
    }
}

#[derive(Serialize)]
struct OutageView {
    /// Start of the outage; null while the store is available.
    since: Option<String>,
    /// Kind of the trouble.
    trouble: Option<&'static str>,
}

/// Handles `GET /outage`. It is open to any visitor, because no session can be read meanwhile.
pub(crate) async fn show(store: Data<StoreState>) -> HttpResponse {
    let away = store.away();
    let since = away.as_ref().map(|away| away.since.to_string());
    HttpResponse::Ok().json(OutageView { since, trouble: away.map(|away| away.trouble.as_str()) })
}
