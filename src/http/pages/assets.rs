//! Static files of the pages, compiled in and served as `/assets/{name}`.

/// A static file.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Asset {
    /// Name below `/assets/`.
    pub(crate) name: &'static str,
    pub(crate) content_type: &'static str,
    pub(crate) body: &'static str,
}

/// Every static file.
pub(crate) const ALL: [Asset; 2] = [
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
