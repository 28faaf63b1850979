//! Mistakes in a MongoDB URI, described without any possible secret.
//!
//! The driver's own messages may quote part of the password. So each part of a refused URI is tried alone.

use std::fs;
use std::path::Path;

use mongodb::error::ErrorKind;
use mongodb::options::{ConnectionString, Tls, TlsOptions};

/// Maximum length of an option's name that is shown.
const NAME_LENGTH: usize = 40;

const FORM: &str = "it is written mongodb://USER:PASSWORD@HOST:PORT/DATABASE?replicaSet=NAME";
const CREDENTIALS: &str = "special characters of its user and password must be percent-encoded: % is %25, / is %2F, \
                           : is %3A, ? is %3F, @ is %40, # is %23, [ is %5B, ] is %5D";
const HOSTS: &str =
    "its hosts are written HOST:PORT, with commas between them; after mongodb+srv:// comes one HOST alone";
const DATABASE: &str =
    "the name of its database has a blank or one of / \\ \" $, which MongoDB does not take there";
const OPTION_FORM: &str = "its options are written NAME=VALUE, with & between them, and with special characters \
                           percent-encoded";
const OPTIONS: &str = "its options do not go together";

/// Returns the mistake in a URI, if one is found without a connection. No name is resolved. The text continues "it
/// can't be used: ".
pub fn uri_mistake(uri: &str) -> Option<String> {
    let Some(parts) = UriParts::of(uri) else { return Some(FORM.into()) };
    // Checked before the driver reads the URI, because it decodes any two bytes after a % as a character.
    if parts.user.is_some_and(has_bare_percent) {
        return Some(CREDENTIALS.into());
    }
    match ConnectionString::parse(uri) {
        Ok(connection) => match connection.tls {
            Some(Tls::Enabled(options)) => unusable_file(&options),
            Some(Tls::Disabled) | None => None,
        },
        Err(_) => Some(parts.mistake()),
    }
}

/// Parts of a URI, separated as the driver does.
#[derive(Debug)]
struct UriParts<'a> {
    scheme: &'a str,
    user: Option<&'a str>,
    hosts: &'a str,
    database: &'a str,
    options: Option<&'a str>,
}

impl<'a> UriParts<'a> {
    fn of(uri: &'a str) -> Option<Self> {
        let (scheme, rest) = uri.split_once("://")?;
        let (before_options, options) = match rest.split_once('?') {
            Some((before, options)) => (before, Some(options)),
            None => (rest, None),
        };
        let (user, place) = match before_options.rsplit_once('@') {
            Some((user, place)) => (Some(user), place),
            None => (None, before_options),
        };
        let (hosts, database) = place.split_once('/').unwrap_or((place, ""));
        ["mongodb", "mongodb+srv"].contains(&scheme).then_some(Self {
            scheme,
            user,
            hosts,
            database,
            options,
        })
    }

    fn mistake(&self) -> String {
        let options = self.options.unwrap_or_default();
        // A password with a question mark ends up among the options, so no option may be shown then.
        if options.contains('@')
            || self.user.is_some_and(|user| is_refused(&format!("mongodb://{user}@host")))
        {
            return CREDENTIALS.into();
        }
        if is_refused(&format!("{}://{}", self.scheme, self.hosts)) {
            return HOSTS.into();
        }
        if is_refused(&format!("mongodb://host/{}", self.database)) {
            return DATABASE.into();
        }
        let wrong = options.split('&').find_map(|option| self.wrong_option(option));
        wrong.unwrap_or_else(|| OPTIONS.into())
    }

    /// Returns the mistake in this option, if the driver refuses it together with only the user and the hosts.
    fn wrong_option(&self, option: &str) -> Option<String> {
        let user = self.user.map(|user| format!("{user}@")).unwrap_or_default();
        let alone = format!("{}://{user}{}/?{option}", self.scheme, self.hosts);
        let error = ConnectionString::parse(alone).err()?;
        let name = option.split_once('=').map(|(name, _)| name).filter(|name| is_name(name));
        let Some(name) = name else { return Some(OPTION_FORM.into()) };
        let unknown = format!("{} is an invalid option", name.to_lowercase());
        if let ErrorKind::InvalidArgument { message, .. } = error.kind.as_ref()
            && message.starts_with(&unknown)
        {
            return Some(format!("there is no option {name}"));
        }
        Some(format!("its option {name} has a value that can't be used"))
    }
}

fn is_refused(uri: &str) -> bool {
    ConnectionString::parse(uri).is_err()
}

fn is_name(text: &str) -> bool {
    !text.is_empty() && text.len() <= NAME_LENGTH && text.bytes().all(|byte| byte.is_ascii_alphanumeric())
}

fn has_bare_percent(user: &str) -> bool {
    let is_encoded = |rest: &str| rest.bytes().take(2).filter(u8::is_ascii_hexdigit).count() == 2;
    user.split('%').skip(1).any(|rest| !is_encoded(rest))
}

fn unusable_file(options: &TlsOptions) -> Option<String> {
    let named = [
        ("tlsCAFile", options.ca_file_path.as_deref()),
        ("tlsCertificateKeyFile", options.cert_key_file_path.as_deref()),
    ];
    named.into_iter().find_map(|(name, path)| without_certificate(name, path?))
}

fn without_certificate(name: &str, path: &Path) -> Option<String> {
    let file = path.display();
    match fs::read(path) {
        Err(error) => Some(format!("the file {file} of its option {name} can't be read: {error}")),
        Ok(bytes) if !String::from_utf8_lossy(&bytes).contains("-----BEGIN CERTIFICATE-----") => {
            Some(format!("the file {file} of its option {name} holds no certificate in PEM"))
        }
        Ok(_) => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_mistake_is_named_without_the_password() {
        for (uri, named) in [
            ("", "HOST:PORT"),
            ("http://a", "HOST:PORT"),
            ("mongodb://ana:se/cret@localhost/x", "%2F"),
            ("mongodb://ana:se%cret@localhost/x", "%25"),
            ("mongodb://ana:se%aécret@localhost/x", "%25"),
            ("mongodb://ana:se@cret@localhost/x", "%40"),
            ("mongodb://ana:se?cret@localhost/x", "%3F"),
            ("mongodb://ana:12/se?cret=1@localhost/x", "%3F"),
            ("mongodb://ana:secret@localhost:port/x", "HOST:PORT"),
            ("mongodb+srv://ana:secret@localhost:27017/x", "one HOST alone"),
            ("mongodb://ana:secret@localhost/x%20y", "database has a blank"),
            ("mongodb://ana:secret@localhost/x?replicaSet=rs&replicaSte=rs", "no option replicaSte"),
            ("mongodb://ana:secret@localhost/x?tls=maybe", "option tls has a value"),
            ("mongodb://ana:secret@localhost/x?connectTimeoutMS=soon", "option connectTimeoutMS has a value"),
            ("mongodb://ana:secret@localhost/x?replicaSet", "NAME=VALUE"),
            ("mongodb://ana:secret@localhost/x?replicaSet=a&replicaSet=b", "do not go together"),
            ("mongodb://localhost/?authMechanism=SCRAM-SHA-256", "authMechanism"),
            (
                "mongodb://ana:secret@localhost/x?tls=true&tlsCAFile=/none/ca.pem",
                "file /none/ca.pem of its option tlsCAFile",
            ),
            ("mongodb://localhost/?tls=true&tlsCAFile=/dev/null", "no certificate"),
        ] {
            let told = uri_mistake(uri).unwrap_or_else(|| panic!("{uri} is taken"));
            assert!(told.contains(named), "{uri}: {told}");
            assert!(!told.contains("cret") && !told.contains("se/"), "{uri}: {told}");
        }
    }

    #[test]
    fn a_uri_that_can_be_used_has_no_mistake() {
        for uri in [
            "mongodb://localhost",
            "mongodb://ana:se%40cret@a:1,b:2/quita?replicaSet=rs&tls=true&authSource=admin",
            "mongodb+srv://ana:secret@db.example/quita?retryWrites=true",
            "mongodb://localhost/?appName=a@b",
        ] {
            assert_eq!(uri_mistake(uri), None, "{uri}");
        }
    }
}
