//! In which console a page is, and in which language it speaks.

use actix_web::HttpRequest;

use super::console_kind::ConsoleKind;
use super::language::Language;

/// The console and the language of a request.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct PageContext {
    /// Which console.
    pub(crate) console: ConsoleKind,
    /// In which language.
    pub(crate) language: Language,
}

tokio::task_local! {
    static CURRENT: PageContext;
}

impl PageContext {
    /// The context of a request to this console.
    pub(super) fn of(console: ConsoleKind, request: &HttpRequest) -> Self {
        Self { console, language: Language::of(request) }
    }

    /// The context of the request that is being handled.
    pub(super) fn current() -> Self {
        let default = Self { console: ConsoleKind::Merchant, language: Language::default() };
        CURRENT.try_get().unwrap_or(default)
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
