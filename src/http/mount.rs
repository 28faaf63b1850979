//! Path under which the outside reaches the public listener: the root of its host, or a path below it.

use std::fmt;

use url::Url;

/// Prefix of every public address, as a browser sees it: empty, or as in `/quita`. A proxy strips it, so received
/// addresses lack it, and published addresses have it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(crate) struct Mount(&'static str);

impl Mount {
    /// The root of a host.
    pub(crate) const ROOT: Self = Self("");

    /// Returns the path of this public address. Its text is leaked, since the listener lives as long as the program.
    pub(crate) fn of(public_url: &str) -> Self {
        let path = Url::parse(public_url).map(|url| url.path().trim_end_matches('/').to_owned());
        path.map_or(Self::ROOT, |path| Self(path.leak()))
    }

    /// Returns the prefix as text.
    pub(crate) const fn as_str(self) -> &'static str {
        self.0
    }

    /// Returns true if the host serves other applications too.
    pub(crate) const fn is_below_a_path(self) -> bool {
        !self.0.is_empty()
    }
}

impl fmt::Display for Mount {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_path_of_a_public_address_has_no_slash_at_its_end() {
        for (url, path) in [
            ("https://pay.example", ""),
            ("https://pay.example/", ""),
            ("https://shop.example/quita", "/quita"),
            ("https://shop.example/a/b/", "/a/b"),
            ("https://shop.example/a b\"", "/a%20b%22"),
        ] {
            assert_eq!(Mount::of(url).as_str(), path, "{url}");
        }
    }
}
