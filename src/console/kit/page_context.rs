//! In which console a page is, and in which language it speaks.

use actix_web::HttpRequest;

use super::console_kind::ConsoleKind;
use super::language::Language;
use crate::http::Mount;

/// The console of a request, where it is, and its language.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct PageContext {
    /// Which console.
    pub(crate) console: ConsoleKind,
    /// Path at which browsers see its listener.
    pub(crate) mount: Mount,
    /// In which language.
    pub(crate) language: Language,
}

tokio::task_local! {
    static CURRENT: PageContext;
}

impl PageContext {
    /// The context of a request to this console.
    pub(super) fn of(console: ConsoleKind, mount: Mount, request: &HttpRequest) -> Self {
        Self { console, mount, language: Language::of(request) }
    }

    /// The context of the request that is being handled.
    pub(crate) fn current() -> Self {
        let (console, mount) = (ConsoleKind::Merchant, Mount::ROOT);
        let default = Self { console, mount, language: Language::default() };
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
