//! Where a page stands: in which console, and in which language it speaks.

use actix_web::HttpRequest;

use super::cookies::Door;
use super::language::Language;
use super::texts::Texts;

/// The console and the language of the request that is being handled.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Place {
    /// Which console.
    pub(crate) door: Door,
    /// In which language.
    pub(crate) language: Language,
}

impl Place {
    /// Where a request belongs.
    pub(crate) fn of(door: Door, request: &HttpRequest) -> Self {
        Self { door, language: Language::of(request) }
    }

    /// Every text of the language.
    pub(crate) fn texts(self) -> &'static Texts {
        Texts::of(self.language)
    }

    /// The address under which the console's pages are.
    pub(crate) const fn root(self) -> &'static str {
        self.door.root()
    }
}

tokio::task_local! {
    static CURRENT: Place;
}

/// Where the request that is being handled belongs.
pub(crate) fn current() -> Place {
    CURRENT.try_get().unwrap_or(Place { door: Door::Merchant, language: Language::default() })
}

/// Does something there.
pub(crate) async fn within<T>(place: Place, work: impl Future<Output = T>) -> T {
    CURRENT.scope(place, work).await
}
