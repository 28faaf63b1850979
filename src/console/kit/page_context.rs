//! In which console a page is, in which language it speaks, and whether the store is there.

use actix_web::HttpRequest;
use actix_web::web::Data;
use quita_actors::StoreState;
use quita_domain::time::Timestamp;

use super::console_kind::ConsoleKind;
use super::language::Language;
use crate::http::Mount;

/// The console of a request, where it is, its language, and what it has to tell of the store.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct PageContext {
    /// Which console.
    pub(crate) console: ConsoleKind,
    /// Path at which browsers see its listener.
    pub(crate) mount: Mount,
    /// In which language.
    pub(crate) language: Language,
    /// Since when the store is away; `None` while it is there.
    pub(crate) away_since: Option<Timestamp>,
}

tokio::task_local! {
    static CURRENT: PageContext;
}

impl PageContext {
    /// The context of a request to this console.
    pub(super) fn of(console: ConsoleKind, mount: Mount, request: &HttpRequest) -> Self {
        let store = request.app_data::<Data<StoreState>>();
        let away_since = store.and_then(|store| store.away()).map(|away| away.since);
        Self { console, mount, language: Language::of(request), away_since }
    }

    /// The context of the request that is being handled.
    pub(crate) fn current() -> Self {
        let (console, mount) = (ConsoleKind::Merchant, Mount::ROOT);
        let default = Self { console, mount, language: Language::default(), away_since: None };
        CURRENT.try_get().unwrap_or(default)
    }

    /// Beginning of the console's addresses, as browsers see them, without a slash at the end.
    pub(crate) fn root(self) -> String {
        format!("{}{}", self.mount, self.console.path())
    }

    /// The address of a request to this console, as its browser sees it.
    pub(crate) fn address_of(self, request: &HttpRequest) -> String {
        format!("{}{}", self.mount, request.uri().path_and_query().map_or("/", |path| path.as_str()))
    }

    /// Does some work in this context.
    pub(super) async fn scope<T>(self, work: impl Future<Output = T>) -> T {
        CURRENT.scope(self, work).await
    }
}

impl Language {
    /// The language of the request that is being handled.
    pub(crate) fn current() -> Self {
        PageContext::current().language
    }
}
