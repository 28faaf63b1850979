//! Unknown addresses of the documentation: the existing guides, and the one that was probably meant.

use actix_web::http::StatusCode;
use actix_web::http::header::{CONTENT_LANGUAGE, CONTENT_SECURITY_POLICY};
use actix_web::{HttpRequest, HttpResponse, ResponseError};
use askama::Template;
use quita_domain::nearest::nearest;

use super::errors::{ApiError, ErrorCode, docs_url, wordings};
use super::guides::{Guide, POLICY};
use super::mount::Mount;
use super::request_id;
use crate::console::Language;

/// Page that lists the guides.
#[derive(Template)]
#[template(path = "docs/not_found.html")]
struct NotFoundPage {
    mount: Mount,
    language: Language,
    /// Address that was probably meant, with its title.
    meant: Option<(String, &'static str)>,
    guides: Vec<(String, &'static str)>,
}

/// Returns the error for an unknown address below `/docs`.
pub(super) fn error(path: &str) -> ApiError {
    let language = language_of(path).unwrap_or_else(request_id::language);
    let guides: Vec<_> = Guide::ALL.iter().map(|guide| guide.slug()).collect();
    let docs = docs_url(language.short());
    let guides = guides.join(", ");
    let message = match meant(path) {
        Some(guide) => wordings::no_such_guide_but(&address(guide, language), &docs, &guides),
        None => wordings::no_such_guide(&docs, &guides),
    };
    ApiError::new(ErrorCode::NotFound, message)
}

/// Returns the page for such an address.
pub(super) fn page(mount: Mount, request: &HttpRequest) -> HttpResponse {
    let path = request.path();
    let language = language_of(path).unwrap_or_else(|| Language::of(request));
    let linked = |guide: Guide| (address(guide, language), guide.title(language));
    let meant = meant_code(path).or_else(|| meant(path).map(linked));
    let guides = Guide::ALL.iter().copied().map(linked).collect();
    match (NotFoundPage { mount, language, meant, guides }).render() {
        Ok(html) => HttpResponse::build(StatusCode::NOT_FOUND)
            .content_type("text/html; charset=utf-8")
            .insert_header((CONTENT_SECURITY_POLICY, POLICY))
            .insert_header((CONTENT_LANGUAGE, language.tag()))
            .body(html),
        Err(error) => ApiError::defect(&error.to_string()).error_response(),
    }
}

fn address(guide: Guide, language: Language) -> String {
    format!("/docs/{}/{}", language.short(), guide.slug())
}

/// Returns the parts of an address below `/docs`.
fn parts(path: &str) -> impl Iterator<Item = &str> {
    path.split('/').skip(2).filter(|part| !part.is_empty())
}

/// Returns the language that an address names.
fn language_of(path: &str) -> Option<Language> {
    let first = parts(path).next()?;
    Language::ALL.into_iter().find(|language| language.short() == first)
}

/// Returns the guide that was probably meant, by its name in addresses or by its title.
fn meant(path: &str) -> Option<Guide> {
    let names = |guide: &Guide| {
        let titles = Language::ALL.map(|language| guide.title(language));
        [guide.slug()].into_iter().chain(titles).map(|name| (name, *guide)).collect::<Vec<_>>()
    };
    let names: Vec<_> = Guide::ALL.iter().flat_map(names).collect();
    parts(path).find_map(|part| {
        let name = nearest(part, names.iter().map(|(name, _)| *name))?;
        names.iter().find(|(known, _)| *known == name).map(|(_, guide)| *guide)
    })
}

/// Returns the page of the error code that was probably meant.
fn meant_code(path: &str) -> Option<(String, &'static str)> {
    let mut parts = parts(path);
    let code = parts.next().filter(|first| *first == "errors").and(parts.next())?;
    let code = nearest(code, ErrorCode::ALL.iter().map(|code| code.as_str()))?;
    Some((format!("/docs/errors/{code}"), code))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_guide_is_found_by_what_is_nearly_its_name_or_title() {
        for (path, guide) in [
            ("/docs/en/link", Guide::Links),
            ("/docs/fr/webhooks", Guide::Webhooks),
            ("/docs/refunds", Guide::Refunds),
            ("/docs/pt/devolucoes", Guide::Refunds),
            ("/docs/en/going_live", Guide::GoingLive),
            ("/docs/en/guides/routing", Guide::Routing),
        ] {
            assert_eq!(meant(path), Some(guide), "{path}");
        }
        for path in ["/docs/en/wp-login", "/docs/en/x", "/docs/en//", "/docs/fr"] {
            assert_eq!(meant(path), None, "{path}");
        }
        assert_eq!(meant_code("/docs/errors/not_fund").unwrap().0, "/docs/errors/not_found");
        assert_eq!(meant_code("/docs/errors"), None);
    }
}
