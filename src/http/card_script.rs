//! The script for a merchant's own pages, and the hashes with which such a page pins it.

use std::collections::BTreeMap;

use actix_web::HttpResponse;
use actix_web::http::header::{ACCESS_CONTROL_ALLOW_ORIGIN, CACHE_CONTROL, HeaderName};
use actix_web::web::Path;
use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use sha2::{Digest, Sha384};

use super::errors::ApiError;

/// Header that lets pages of other origins embed a file (Fetch, section 3.7).
const RESOURCE_POLICY: HeaderName = HeaderName::from_static("cross-origin-resource-policy");

/// Every version of the script, oldest first. A released version never changes.
// 1.1 is withdrawn: an element of the page named `currentScript` could send its cards elsewhere.
const VERSIONS: [(&str, &str); 2] =
    [("v1.2.js", include_str!("card_script/v1.2.js")), ("v1.3.js", include_str!("card_script/v1.3.js"))];

/// Name of the newest version.
const NEWEST: &str = "v1.js";

/// Cache rule of a file that never changes (RFC 8246).
const NEVER_CHANGES: &str = "public, max-age=31536000, immutable";

/// `GET /checkout/v1.js` and `GET /checkout/v1.N.js`
pub(super) async fn script(number: Option<Path<String>>) -> Result<HttpResponse, ApiError> {
    let name = number.map_or_else(|| NEWEST.into(), |number| format!("v1.{number}.js"));
    let (content, cache) = find(&name).ok_or_else(ApiError::nothing_here)?;
    Ok(HttpResponse::Ok()
        .content_type("text/javascript; charset=utf-8")
        .insert_header((CACHE_CONTROL, cache))
        .insert_header((ACCESS_CONTROL_ALLOW_ORIGIN, "*"))
        .insert_header((RESOURCE_POLICY, "cross-origin"))
        .body(content))
}

/// `GET /checkout/integrity.json`: the hash of each file, as the attribute `integrity` has it (SRI, section 3.5).
pub(super) async fn integrity() -> HttpResponse {
    HttpResponse::Ok()
        .insert_header((CACHE_CONTROL, "no-cache"))
        .insert_header((ACCESS_CONTROL_ALLOW_ORIGIN, "*"))
        .insert_header((RESOURCE_POLICY, "cross-origin"))
        .json(card_script_hashes())
}

/// Returns the hash of every script that this program serves to other pages, by its path.
pub(crate) fn card_script_hashes() -> BTreeMap<String, String> {
    card_scripts().map(|(path, content)| (path, hash(content))).collect()
}

/// Returns the path and contents of every script that this program serves to other pages.
pub(crate) fn card_scripts() -> impl Iterator<Item = (String, &'static str)> {
    let names = VERSIONS.iter().map(|(name, _)| *name).chain([NEWEST]);
    names.filter_map(|name| Some((format!("/checkout/{name}"), find(name)?.0)))
}

/// Returns a file with its cache rule.
fn find(name: &str) -> Option<(&'static str, &'static str)> {
    if name == NEWEST {
        return VERSIONS.last().map(|(_, content)| (*content, "no-cache"));
    }
    let fixed = VERSIONS.iter().find(|(known, _)| *known == name);
    fixed.map(|(_, content)| (*content, NEVER_CHANGES))
}

fn hash(content: &str) -> String {
    format!("sha384-{}", STANDARD.encode(Sha384::digest(content.as_bytes())))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Hashes of the versions as they were released.
    const RELEASED: [(&str, &str); 2] = [
        ("v1.2.js", "sha384-QdF3Et6Y/QFYmS3Pkl29MsFELrfX0IODu6QulpdIPqbENx/0JQ2oB6zw87VVi3Hu"),
        ("v1.3.js", "sha384-gEEIDD/092hR1NL11pUddr+zYo77tOOaM99kjhelwJoC86sWdw2u/E31Zymuq1Op"),
    ];

    #[test]
    fn a_released_version_never_changes_and_is_small() {
        for (name, released) in RELEASED {
            let (content, cache) = find(name).unwrap();
            assert_eq!(hash(content), released, "make a new version of {name}");
            assert!(content.len() < 4_096 && cache.contains("immutable"), "{}", content.len());
        }
        assert_eq!(RELEASED.map(|(name, _)| name), VERSIONS.map(|(name, _)| name));
    }

    #[test]
    fn the_newest_version_is_asked_for_again_each_time() {
        assert_eq!(find(NEWEST), Some((VERSIONS[VERSIONS.len() - 1].1, "no-cache")));
        assert_eq!(find("v1.99.js"), None);
        assert_eq!(find("v1.1.js"), None, "withdrawn");
    }

    #[test]
    fn the_guides_pin_the_script_as_it_is() {
        let newest = hash(find(NEWEST).unwrap().0);
        for guide in [
            include_str!("../../docs/guides/en/cards-on-your-page.md"),
            include_str!("../../docs/guides/pt/cards-on-your-page.md"),
            include_str!("../../examples/cards-on-your-page/index.html"),
        ] {
            assert!(guide.contains(&newest), "{newest}");
        }
    }
}
