//! Static files of the pages, compiled in and served as `/assets/{name}`.

use base64::Engine;
use base64::engine::general_purpose::{STANDARD, URL_SAFE_NO_PAD};
use sha2::{Digest, Sha384};

/// A static file.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Asset {
    /// Name below `/assets/`.
    pub(crate) name: &'static str,
    pub(crate) content_type: &'static str,
    pub(crate) body: &'static str,
}

/// Every static file.
pub(crate) const ALL: [Asset; 5] = [
    Asset {
        name: "checkout-card.js",
        content_type: "text/javascript; charset=utf-8",
        body: include_str!("assets/checkout-card.js"),
    },
    Asset {
        name: "checkout.css",
        content_type: "text/css; charset=utf-8",
        body: include_str!("assets/checkout.css"),
    },
    Asset {
        name: "checkout.js",
        content_type: "text/javascript; charset=utf-8",
        body: include_str!("assets/checkout.js"),
    },
    Asset {
        name: "pages.css",
        content_type: "text/css; charset=utf-8",
        body: include_str!("assets/pages.css"),
    },
    Asset {
        name: "pages.js",
        content_type: "text/javascript; charset=utf-8",
        body: include_str!("assets/pages.js"),
    },
];

/// Finds a file by its name below `/assets/`.
pub(crate) fn find(name: &str) -> Option<&'static Asset> {
    ALL.iter().find(|asset| asset.name == name)
}

/// Returns the name of a file with its version, so that no browser uses an outdated copy.
pub(crate) fn versioned(name: &str) -> String {
    let version = |asset: &Asset| {
        let hash = URL_SAFE_NO_PAD.encode(Sha384::digest(asset.body));
        format!("{name}?v={}", hash.chars().take(12).collect::<String>())
    };
    find(name).map(version).unwrap_or_default()
}

/// Returns the hash of a file, as pages state it (Subresource Integrity). Empty for an unknown file.
pub(crate) fn integrity_of(name: &str) -> String {
    let hash = |asset: &Asset| format!("sha384-{}", STANDARD.encode(Sha384::digest(asset.body)));
    find(name).map(hash).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_is_found_by_name_only() {
        assert!(find("pages.js").is_some_and(|asset| asset.content_type.starts_with("text/javascript")));
        assert!(find("../pages.js").is_none());
    }

    #[test]
    fn nothing_is_loaded_from_elsewhere() {
        assert!(ALL.iter().all(|asset| !asset.body.contains("http:") && !asset.body.contains("https:")));
    }
}
