//! Pages for error codes, made from their table: `/docs/errors` and `/docs/errors/CODE`.

use actix_web::HttpResponse;
use actix_web::http::header::{CONTENT_LANGUAGE, CONTENT_SECURITY_POLICY, HeaderValue, VARY};
use actix_web::web::{Data, Path};
use askama::Template;
use quita_domain::nearest::nearest;
use quita_domain::wording::Wording;

use super::answer;
use super::violation_codes::MEANINGS;
use crate::console::Language;
use crate::http::edge::Edge;
use crate::http::errors::{ApiError, ErrorCode, docs_url, wordings};
use crate::http::mount::Mount;
use crate::http::request_id;

/// Content security policy of pages without scripts.
const POLICY: &str =
    "default-src 'none'; style-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'";

/// Part of a sentence: plain text, or a name set as code.
#[derive(Debug, PartialEq, Eq)]
struct Part {
    is_code: bool,
    text: String,
}

/// Error code as a page shows it.
struct ErrorCodeView {
    code: &'static str,
    status: u16,
    status_words: &'static str,
    meaning: Vec<Part>,
    advice: Vec<Part>,
}

impl ErrorCodeView {
    fn of(code: ErrorCode, language: Language) -> Self {
        Self {
            code: code.as_str(),
            status: code.status().as_u16(),
            status_words: code.status().canonical_reason().unwrap_or_default(),
            meaning: parts(language.of_wording(&code.meaning())),
            advice: parts(language.of_wording(&code.advice())),
        }
    }
}

/// Code of a single violation as a page shows it.
struct ViolationEntry {
    code: &'static str,
    meaning: Vec<Part>,
}

#[derive(Template)]
#[template(path = "docs/error.html")]
struct ErrorPage {
    mount: Mount,
    language: Language,
    entry: ErrorCodeView,
    /// Codes in `details`, for errors that have some.
    violations: Vec<ViolationEntry>,
}

#[derive(Template)]
#[template(path = "docs/errors.html")]
struct ErrorsPage {
    mount: Mount,
    language: Language,
    entries: Vec<ErrorCodeView>,
}

/// `GET /docs/errors`
pub(crate) async fn all_errors(edge: Data<Edge>) -> Result<HttpResponse, ApiError> {
    let language = request_id::language();
    let entries = ErrorCode::ALL.iter().map(|code| ErrorCodeView::of(*code, language)).collect();
    page(&ErrorsPage { mount: edge.mount, language, entries }, language)
}

/// `GET /docs/errors/{code}`
pub(crate) async fn error(edge: Data<Edge>, code: Path<String>) -> Result<HttpResponse, ApiError> {
    let code = ErrorCode::parse(&code).ok_or_else(|| no_such_code(&code))?;
    let language = request_id::language();
    let violations = if has_details(code) { violations(language) } else { Vec::new() };
    page(
        &ErrorPage { mount: edge.mount, language, entry: ErrorCodeView::of(code, language), violations },
        language,
    )
}

fn no_such_code(asked: &str) -> ApiError {
    let docs = docs_url("errors");
    let message = match nearest(asked, ErrorCode::ALL.iter().map(|code| code.as_str())) {
        Some(code) => wordings::no_such_code_but(&format!("/docs/errors/{code}"), &docs),
        None => wordings::no_such_code(&docs),
    };
    ApiError::new(ErrorCode::NotFound, message)
}

fn has_details(code: ErrorCode) -> bool {
    [ErrorCode::MalformedRequest, ErrorCode::UnknownParameter, ErrorCode::ValidationFailed].contains(&code)
}

fn violations(language: Language) -> Vec<ViolationEntry> {
    let entry = |(code, meaning): &(&'static str, Wording)| ViolationEntry {
        code,
        meaning: parts(language.of_wording(meaning)),
    };
    MEANINGS.iter().map(entry).collect()
}

fn page(page: &impl Template, language: Language) -> Result<HttpResponse, ApiError> {
    let html = page.render().map_err(|error| ApiError::defect(&error.to_string()))?;
    let mut response = answer("text/html; charset=utf-8", html);
    let headers = response.headers_mut();
    headers.insert(CONTENT_SECURITY_POLICY, HeaderValue::from_static(POLICY));
    headers.insert(CONTENT_LANGUAGE, HeaderValue::from_static(language.tag()));
    headers.insert(VARY, HeaderValue::from_static("Accept-Language"));
    Ok(response)
}

/// Splits a sentence at its backticks.
fn parts(sentence: &str) -> Vec<Part> {
    let pieces = sentence.split('`').enumerate();
    let part = |(index, text): (usize, &str)| Part { is_code: index % 2 == 1, text: text.to_owned() };
    pieces.map(part).filter(|part| !part.text.is_empty()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_in_backticks_are_code() {
        let plain = |text: &str| Part { is_code: false, text: text.to_owned() };
        let code = |text: &str| Part { is_code: true, text: text.to_owned() };
        assert_eq!(parts("`a` and `b`."), [code("a"), plain(" and "), code("b"), plain(".")]);
        assert_eq!(parts("plain."), [plain("plain.")]);
    }

    #[test]
    fn every_page_can_be_made_in_every_language() {
        for language in Language::ALL {
            for code in ErrorCode::ALL {
                let entry = ErrorCodeView::of(*code, language);
                let violations = violations(language);
                let page = ErrorPage { mount: Mount::ROOT, language, entry, violations }.render().unwrap();
                assert!(page.contains(code.as_str()) && page.contains(language.tag()), "{code:?}");
                assert!(!page.contains('`'), "{code:?}");
            }
        }
    }
}
