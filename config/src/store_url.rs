//! Where the payments are kept.

use std::fmt;
use std::path::PathBuf;

use quita_domain::secret::Secret;

/// What a store URL looks like, for messages.
pub const STORE_FORM: &str =
    "sqlite:PATH, such as sqlite:data/quita.db, or mongodb://HOST[:PORT][,HOST…]/DATABASE?replicaSet=NAME";

/// Which store to use. Prints without user and password.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum StoreUrl {
    /// One SQLite file on this machine.
    Embedded(PathBuf),
    /// A MongoDB replica set, by its connection string.
    Mongo(Secret<String>),
}

impl StoreUrl {
    /// Reads `sqlite:PATH`, `mongodb://…` or `mongodb+srv://…`.
    pub fn parse(text: &str) -> Option<Self> {
        if let Some(path) = text.strip_prefix("sqlite:") {
            // `sqlite:///var/x.db` is as common as `sqlite:/var/x.db`.
            let path = path.strip_prefix("//").unwrap_or(path);
            // More slashes before it change nothing, but printed they would be taken for those of the scheme.
            let name = path.trim_start_matches('/');
            let root = if name.len() < path.len() { "/" } else { "" };
            return (!name.is_empty()).then(|| Self::Embedded(format!("{root}{name}").into()));
        }
        let rest = text.strip_prefix("mongodb://").or_else(|| text.strip_prefix("mongodb+srv://"))?;
        (!rest.is_empty()).then(|| Self::Mongo(Secret::new(text.into())))
    }

    /// Whether it carries a user, and with it perhaps a password.
    pub fn has_credentials(&self) -> bool {
        match self {
            Self::Embedded(_) => false,
            Self::Mongo(url) => url.expose().contains('@'),
        }
    }
}

impl Default for StoreUrl {
    fn default() -> Self {
        Self::Embedded("data/quita.db".into())
    }
}

impl fmt::Display for StoreUrl {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Embedded(path) => write!(f, "sqlite:{}", path.display()),
            Self::Mongo(url) => f.write_str(&without_secrets(url.expose())),
        }
    }
}

/// Scheme, hosts and database of a connection string: users and options, which may hold secrets, are left out.
fn without_secrets(url: &str) -> String {
    let (scheme, rest) = url.split_once("://").unwrap_or(("mongodb", ""));
    let (before_options, options) = rest.split_once('?').unwrap_or((rest, ""));
    // Somebody forgot to escape a `?` in a user or password: what stands before it may be part of either.
    if options.contains('@') {
        return format!("{scheme}://…");
    }
    let hosts = before_options.rsplit_once('@').map_or(before_options, |(_, hosts)| hosts);
    format!("{scheme}://{hosts}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_path_may_be_relative_absolute_or_with_slashes() {
        for (text, path) in [
            ("sqlite:data/quita.db", "data/quita.db"),
            ("sqlite:/var/q.db", "/var/q.db"),
            ("sqlite:///var/q.db", "/var/q.db"),
            ("sqlite:////var/q.db", "/var/q.db"),
        ] {
            assert_eq!(StoreUrl::parse(text), Some(StoreUrl::Embedded(path.into())), "{text}");
        }
    }

    #[test]
    fn other_schemes_and_empty_ones_are_refused() {
        for text in
            ["", "sqlite:", "sqlite://", "sqlite:////", "mongodb://", "postgres://host/db", "data/quita.db"]
        {
            assert_eq!(StoreUrl::parse(text), None, "{text}");
        }
    }

    #[test]
    fn a_password_never_prints() {
        for (url, printed) in [
            ("mongodb://user:hunter2@h1:1,h2:2/quita?replicaSet=rs", "mongodb://h1:1,h2:2/quita"),
            ("mongodb+srv://user:hunter2@host/quita", "mongodb+srv://host/quita"),
            ("mongodb://us:hun@ter2@host/quita", "mongodb://host/quita"),
            ("mongodb://user:hunter2?x@host/quita", "mongodb://…"),
            ("mongodb://us@er:hunter2?x@host/quita", "mongodb://…"),
            ("mongodb://host/quita?tlsCertificateKeyFilePassword=hunter2", "mongodb://host/quita"),
        ] {
            let url = StoreUrl::parse(url).unwrap();
            assert_eq!(url.to_string(), printed);
            assert!(!format!("{url:?}").contains("hunter2"));
        }
    }
}
