//! Store of the payments.

use std::fmt;
use std::path::{PathBuf, absolute};

use quita_domain::secret::Secret;
use url::{Host, form_urlencoded};

/// Form of a store URL, for messages.
pub const STORE_FORM: &str =
    "sqlite:PATH, such as sqlite:data/quita.db, or mongodb://HOST[:PORT][,HOST…]/DATABASE?replicaSet=NAME";

/// Store to use. It is printed without user and password.
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
            // Additional slashes change nothing, but in output they would look like part of the scheme.
            let name = path.trim_start_matches('/');
            let root = if name.len() < path.len() { "/" } else { "" };
            return (!name.is_empty()).then(|| Self::Embedded(format!("{root}{name}").into()));
        }
        let rest = text.strip_prefix("mongodb://").or_else(|| text.strip_prefix("mongodb+srv://"))?;
        (!rest.is_empty()).then(|| Self::Mongo(Secret::new(text.into())))
    }

    /// Returns the same store with the absolute path of its file, so that a message is clear wherever it is read.
    #[must_use]
    pub fn with_whole_path(self) -> Self {
        match self {
            Self::Embedded(path) => Self::Embedded(absolute(&path).unwrap_or(path)),
            Self::Mongo(url) => Self::Mongo(url),
        }
    }

    /// Returns true if it contains a user, and perhaps a password.
    pub fn has_credentials(&self) -> bool {
        match self {
            Self::Embedded(_) => false,
            Self::Mongo(url) => url.expose().contains('@'),
        }
    }
}

impl StoreUrl {
    /// Returns true if others on the network may read the traffic to a MongoDB server, or impersonate it. This is so
    /// for another machine without TLS, or with certificates that are not verified.
    pub fn is_readable_on_the_way(&self) -> bool {
        let Self::Mongo(url) = self else { return false };
        let (url, options) = (url.expose(), options_of(url.expose()));
        let says = |name: &str, word: &str| {
            options.iter().any(|(option, value)| option.eq_ignore_ascii_case(name) && value == word)
        };
        // The driver's default: a DNS seed list requires TLS.
        let has_tls = match url.starts_with("mongodb+srv:") {
            true => !says("tls", "false") && !says("ssl", "false"),
            false => says("tls", "true") || says("ssl", "true"),
        };
        let is_checked = !says("tlsInsecure", "true") && !says("tlsAllowInvalidCertificates", "true");
        !(has_tls && is_checked) && hosts_of(url).any(|host| !is_this_machine(host))
    }

    /// Returns the file of a client certificate with its key.
    pub fn key_file(&self) -> Option<PathBuf> {
        let Self::Mongo(url) = self else { return None };
        let mut options = options_of(url.expose()).into_iter();
        let file = options.find(|(name, _)| name.eq_ignore_ascii_case("tlsCertificateKeyFile"));
        file.map(|(_, path)| path.into())
    }
}

/// Returns the hosts, each with its port if it has one. It does not include those that a DNS seed list will name.
fn hosts_of(url: &str) -> impl Iterator<Item = &str> {
    let rest = url.split_once("://").map_or("", |(_, rest)| rest);
    let before_options = rest.split_once('?').map_or(rest, |(before, _)| before);
    let hosts = before_options.rsplit_once('@').map_or(before_options, |(_, hosts)| hosts);
    hosts.split_once('/').map_or(hosts, |(hosts, _)| hosts).split(',')
}

fn options_of(url: &str) -> Vec<(String, String)> {
    let options = url.split_once('?').map_or("", |(_, options)| options);
    form_urlencoded::parse(options.as_bytes()).into_owned().collect()
}

/// Returns true for a loopback address, or a socket of this machine.
fn is_this_machine(host: &str) -> bool {
    // A path of a Unix socket, which MongoDB requires to be escaped.
    if host.to_ascii_lowercase().contains("%2f") {
        return true;
    }
    let is_port = |port: &str| port.bytes().all(|byte| byte.is_ascii_digit());
    let name = host.rsplit_once(':').filter(|(_, port)| is_port(port)).map_or(host, |(name, _)| name);
    match Host::parse(name) {
        Ok(Host::Domain(name)) => name == "localhost" || name.ends_with(".localhost"),
        Ok(Host::Ipv4(address)) => address.is_loopback(),
        Ok(Host::Ipv6(address)) => address.to_canonical().is_loopback(),
        Err(_) => false,
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

/// Returns scheme, hosts and database of a connection string. Users and options are left out, because they may contain
/// secrets.
fn without_secrets(url: &str) -> String {
    let (scheme, rest) = url.split_once("://").unwrap_or(("mongodb", ""));
    let (before_options, options) = rest.split_once('?').unwrap_or((rest, ""));
    // A `?` in a user or password was not escaped: the text before it may be part of either.
    if options.contains('@') {
        return format!("{scheme}://…");
    }
    // Splits at the last one: a password may contain an `@` that was not escaped.
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
    fn a_file_is_named_with_its_whole_path() {
        let folder = std::env::current_dir().unwrap();
        let named = |text: &str| StoreUrl::parse(text).unwrap().with_whole_path().to_string();
        assert_eq!(named("sqlite:data/q.db"), format!("sqlite:{}/data/q.db", folder.display()));
        assert_eq!(named("sqlite:/var/q.db"), "sqlite:/var/q.db");
        assert_eq!(named("mongodb://host/quita"), "mongodb://host/quita");
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
    fn a_store_on_another_machine_is_readable_on_the_way_without_tls() {
        let is_readable = |url: &str| StoreUrl::parse(url).unwrap().is_readable_on_the_way();
        for url in [
            "mongodb://db.example/quita?replicaSet=rs",
            "mongodb://user:tls=true@db.example/quita",
            "mongodb://127.0.0.1:27017,10.0.0.2:27017/quita",
            "mongodb://10.0.0.2:27017",
            "mongodb://[fd00::1]:27017/quita",
            "mongodb://db.example/quita?tls=false",
            "mongodb://db.example/quita?tls=true&tlsAllowInvalidCertificates=true",
            "mongodb://db.example/quita?ssl=true&tlsInsecure=true",
            "mongodb+srv://db.example/quita?tls=false",
            "mongodb+srv://db.example/quita?tlsInsecure=true",
        ] {
            assert!(is_readable(url), "{url}");
        }
        for url in [
            "sqlite:data/quita.db",
            "mongodb://localhost/quita",
            "mongodb://127.0.0.1:27017,127.0.0.1:27018/quita",
            "mongodb://[::1]:27017/quita?replicaSet=rs",
            "mongodb://%2Ftmp%2Fmongodb-27017.sock/quita",
            "mongodb://user:p@db.example/quita?replicaSet=rs&tls=true",
            "mongodb://db.example/quita?TLS=true",
            "mongodb://db.example/quita?ssl=true",
            "mongodb+srv://user:p@db.example/quita",
        ] {
            assert!(!is_readable(url), "{url}");
        }
    }

    #[test]
    fn the_file_of_a_clients_certificate_is_found_in_the_address() {
        let url = "mongodb://h/quita?tls=true&tlsCertificateKeyFile=%2Fetc%2Fquita%2Fclient.pem";
        assert_eq!(StoreUrl::parse(url).unwrap().key_file(), Some("/etc/quita/client.pem".into()));
        assert_eq!(StoreUrl::parse("mongodb://h/quita").unwrap().key_file(), None);
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
