//! Origins of the pages that may request card tokens.

use serde::{Deserialize, Serialize};
use thiserror::Error;
use url::Url;

use crate::card::holds_card_number;

/// Maximum number of origins of an application.
pub const MAX_ORIGINS: usize = 20;

/// Origins of an application's pages, each as a browser sends it in `Origin` (RFC 6454, section 6.2): scheme, host and
/// port, in lower case, without a default port.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Origins(Vec<String>);

/// Reason why a list of origins was refused.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
pub enum BadOrigins {
    /// It is not a scheme, host and port.
    #[error(
        "{0:?} is not an origin; write the scheme, the host and, if needed, the port, such as https://shop.example.com"
    )]
    NoOrigin(String),
    /// A browser would write it differently, or it contains more than an origin.
    #[error("{given:?} is not an origin as browsers write it; did you mean {meant}?")]
    OtherForm {
        /// Text that was given.
        given: String,
        /// Origin that it contains.
        meant: String,
    },
    /// It is not encrypted.
    #[error("{0} must be https; http is for development only")]
    NoHttps(String),
    /// It is in the list twice.
    #[error("{0} is in the list twice; remove one")]
    Repeated(String),
    /// The list is too long.
    #[error("an application has at most {MAX_ORIGINS} origins; leave some out")]
    TooMany,
}

impl Origins {
    /// Reads a list of origins. `allows_http` is for development.
    ///
    /// # Errors
    /// [`BadOrigins`], for the first origin that is refused.
    pub fn parse<'a>(
        texts: impl IntoIterator<Item = &'a str>,
        allows_http: bool,
    ) -> Result<Self, BadOrigins> {
        let mut origins = Vec::new();
        for text in texts {
            let origin = read_origin(text, allows_http)?;
            if origins.contains(&origin) {
                return Err(BadOrigins::Repeated(origin));
            }
            origins.push(origin);
        }
        if origins.len() > MAX_ORIGINS { Err(BadOrigins::TooMany) } else { Ok(Self(origins)) }
    }

    /// Returns true if this value of the `Origin` header is one of them.
    pub fn contains(&self, origin: &str) -> bool {
        self.0.iter().any(|own| own == origin)
    }

    /// Returns the origins, in the order in which they were given.
    pub fn iter(&self) -> impl Iterator<Item = &str> {
        self.0.iter().map(String::as_str)
    }

    /// Returns true if there is none.
    pub const fn is_empty(&self) -> bool {
        self.0.is_empty()
    }
}

fn read_origin(text: &str, allows_http: bool) -> Result<String, BadOrigins> {
    // Origins are stored, and shown in the audit log (PCI DSS 4.0.1, 3.5.1).
    if holds_card_number(text) {
        return Err(BadOrigins::NoOrigin("…".into()));
    }
    let no_origin = || BadOrigins::NoOrigin(text.into());
    let url = Url::parse(text).map_err(|_| no_origin())?;
    let has_wildcard = url.host_str().is_none_or(|host| host.contains('*'));
    if !matches!(url.scheme(), "http" | "https") || has_wildcard {
        return Err(no_origin());
    }
    let meant = url.origin().ascii_serialization();
    if meant != text {
        return Err(BadOrigins::OtherForm { given: text.into(), meant });
    }
    if url.scheme() == "http" && !allows_http { Err(BadOrigins::NoHttps(meant)) } else { Ok(meant) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_origin_is_scheme_host_and_port_as_a_browser_writes_them() {
        for text in ["https://shop.example.com", "https://shop.example.com:8443", "https://xn--aa-zia.com.br"]
        {
            let origins = Origins::parse([text], false).unwrap();
            assert!(origins.contains(text) && !origins.contains("https://example.com"), "{text}");
        }
        for text in
            ["null", "*", "", "shop.example.com", "https://*.example.com", "ftp://a.example", "https://"]
        {
            assert_eq!(Origins::parse([text], true), Err(BadOrigins::NoOrigin(text.into())), "{text}");
        }
        let card = Origins::parse(["https://4242424242424242.example"], true);
        assert_eq!(card, Err(BadOrigins::NoOrigin("…".into())));
        for text in [
            "https://shop.example.com/",
            "https://shop.example.com/pay",
            "https://shop.example.com?a",
            "https://shop.example.com#a",
            "https://shop.example.com:443",
            "https://SHOP.example.com",
            "HTTPS://shop.example.com",
            " https://shop.example.com",
            "https://ana@shop.example.com",
        ] {
            let refused = Origins::parse([text], true);
            let meant = "https://shop.example.com".into();
            assert_eq!(refused, Err(BadOrigins::OtherForm { given: text.into(), meant }), "{text}");
        }
    }

    #[test]
    fn only_development_takes_pages_without_encryption() {
        let text = "http://localhost:3000";
        assert!(Origins::parse([text], true).is_ok_and(|origins| origins.contains(text)));
        assert_eq!(Origins::parse([text], false), Err(BadOrigins::NoHttps(text.into())));
    }

    #[test]
    fn a_list_has_at_most_twenty_and_none_twice() {
        let texts: Vec<_> = (0..21).map(|number| format!("https://a{number}.example")).collect();
        let parse = |count: usize| Origins::parse(texts.iter().take(count).map(String::as_str), false);
        assert_eq!(parse(20).unwrap().iter().count(), 20);
        assert_eq!(parse(21), Err(BadOrigins::TooMany));
        let twice = ["https://a.example", "https://a.example"];
        assert_eq!(Origins::parse(twice, false), Err(BadOrigins::Repeated(twice[0].into())));
        assert!(Origins::parse([], false).unwrap().is_empty());
    }
}
