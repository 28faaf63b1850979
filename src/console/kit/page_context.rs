//! Context of a page: its console, its language, and the state of the store.

use actix_web::HttpRequest;
use actix_web::http::Method;
use actix_web::web::Data;
use quita_actors::{StoreAway, StoreState, StoreTrouble};
use quita_domain::time::Timestamp;

use super::console_kind::ConsoleKind;
use super::language::Language;
use crate::http::Mount;

/// Context of a request to a console.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct PageContext {
    /// Console of the request.
    pub(crate) console: ConsoleKind,
    /// Path below which browsers see the console's listener.
    pub(crate) mount: Mount,
    /// Language of the page.
    pub(crate) language: Language,
    /// Outage of the store; `None` while it is available.
    pub(crate) outage: Option<Outage>,
    /// True if the request only reads, so a browser may repeat it by itself.
    pub(crate) only_looks: bool,
}

/// Outage of the store, as pages show it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Outage {
    /// Start of the outage.
    pub(crate) since: Timestamp,
    /// Kind of the trouble.
    pub(crate) trouble: StoreTrouble,
}

tokio::task_local! {
    static CURRENT: PageContext;
}

impl PageContext {
    /// Returns the context of a request to this console.
    pub(super) fn of(console: ConsoleKind, mount: Mount, request: &HttpRequest) -> Self {
        let store = request.app_data::<Data<StoreState>>();
        let away = store.and_then(|store| store.away());
        let outage = away.map(|StoreAway { since, trouble, .. }| Outage { since, trouble });
        let only_looks = *request.method() == Method::GET;
        Self { console, mount, language: Language::of(request), outage, only_looks }
    }

    /// Returns the context of the current request.
    pub(crate) fn current() -> Self {
        let console = ConsoleKind::Merchant;
        let mount = Mount::ROOT;
        let language = Language::default();
        let default = Self { console, mount, language, outage: None, only_looks: false };
        CURRENT.try_get().unwrap_or(default)
    }

    /// Returns the start of the console's addresses, as browsers see them, without a trailing slash.
    pub(crate) fn root(self) -> String {
        format!("{}{}", self.mount, self.console.path())
    }

    /// Returns the address of a request to this console, as its browser sees it.
    pub(crate) fn address_of(self, request: &HttpRequest) -> String {
        format!("{}{}", self.mount, request.uri().path_and_query().map_or("/", |path| path.as_str()))
    }

    /// Runs `work` in this context.
    pub(super) async fn scope<T>(self, work: impl Future<Output = T>) -> T {
        CURRENT.scope(self, work).await
    }
}

impl Language {
    /// Returns the language of the current request.
    pub(crate) fn current() -> Self {
        PageContext::current().language
    }
}
