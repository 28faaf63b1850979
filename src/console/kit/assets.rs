//! Static files of the consoles' pages, compiled in and served as `/console/assets/{name}`.

use actix_web::HttpResponse;
use actix_web::http::header::CACHE_CONTROL;
use actix_web::web::Path;

use super::page_error::PageError;

/// Files: name below `/console/assets/`, content type, body.
const ALL: [(&str, &str, &str); 8] = [
    ("colours.css", CSS, include_str!("assets/colours.css")),
    ("console.css", CSS, include_str!("assets/console.css")),
    ("console.js", SCRIPT, include_str!("assets/console.js")),
    ("figures.js", SCRIPT, include_str!("assets/figures.js")),
    ("logo.svg", PICTURE, include_str!("assets/logo.svg")),
    ("logo-operator.svg", PICTURE, include_str!("assets/logo-operator.svg")),
    ("vendor/uplot/uPlot.min.css", CSS, include_str!("assets/vendor/uplot/uPlot.min.css")),
    ("vendor/uplot/uPlot.iife.min.js", SCRIPT, include_str!("assets/vendor/uplot/uPlot.iife.min.js")),
];

const CSS: &str = "text/css; charset=utf-8";
const SCRIPT: &str = "text/javascript; charset=utf-8";
const PICTURE: &str = "image/svg+xml";

/// Handles `GET /console/assets/{name}`.
pub(crate) async fn asset(name: Path<String>) -> Result<HttpResponse, PageError> {
    let found = ALL.iter().find(|(known, _, _)| *known == name.as_str());
    let (_, kind, body) = found.ok_or(PageError::NotFound)?;
    Ok(HttpResponse::Ok()
        .content_type(*kind)
        .insert_header((CACHE_CONTROL, "public, max-age=300"))
        .body(*body))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nothing_is_loaded_from_elsewhere() {
        for (name, kind, body) in ALL {
            let ours = body.replace("http://www.w3.org/2000/svg", "");
            assert!(kind == SCRIPT || !ours.contains("http"), "{name}");
            assert!(!body.contains("@import"), "{name}");
        }
    }
}
