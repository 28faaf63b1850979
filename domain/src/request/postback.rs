//! `postbackUrl`: the receiver of status changes.

use url::{Host, ParseError, Url};

use super::fields::Fields;
use super::violation::{Broken, code};
use super::wordings;
use crate::webhook::address::{is_public, is_public_name};

/// Policy for the addresses of webhooks.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum PostbackPolicy {
    /// For development: also allows `http` and addresses of this machine and network.
    AllowAnything,
    /// `https` only, and no host that is certainly not public. Names are checked again when they are resolved.
    HttpsPublicOnly,
}

impl PostbackPolicy {
    /// Returns true if webhooks may be sent to this URL, as far as can be decided without resolving names.
    pub fn allows(self, url: &str) -> bool {
        check(url, self).is_ok()
    }
}

/// Reads the URL; it is kept in its original form.
pub(super) fn read(root: &Fields<'_>, policy: PostbackPolicy) -> Option<String> {
    root.optional("postbackUrl").parsed(|text| check(text, policy).map(|()| text.to_owned()))
}

/// Checks that webhooks may be sent to this URL, as far as can be decided without resolving names.
pub(super) fn check(text: &str, policy: PostbackPolicy) -> Result<(), Broken> {
    let refuse = |code, message| Err(Broken::new(code, message));
    if text.chars().count() > 2048 {
        return refuse(code::LENGTH, wordings::too_long(2048));
    }
    if text.chars().any(|character| character.is_control() || character.is_whitespace()) {
        return refuse(code::CHARACTER, wordings::blanks_in_url());
    }
    let url = parse_url(text)?;
    if !matches!(url.scheme(), "http" | "https") {
        return refuse(code::FORMAT, wordings::no_http_url());
    }
    if !url.username().is_empty() || url.password().is_some() {
        return refuse(code::FORMAT, wordings::credentials_in_url());
    }
    if url.fragment().is_some() {
        return refuse(code::FORMAT, wordings::fragment_in_url());
    }
    match policy {
        PostbackPolicy::AllowAnything => Ok(()),
        PostbackPolicy::HttpsPublicOnly if url.scheme() != "https" => {
            refuse(code::NOT_PUBLIC, wordings::no_https())
        }
        PostbackPolicy::HttpsPublicOnly if has_public_host(&url) => Ok(()),
        PostbackPolicy::HttpsPublicOnly => refuse(code::NOT_PUBLIC, wordings::no_public_address()),
    }
}

/// Reads a complete URL.
pub(super) fn parse_url(text: &str) -> Result<Url, Broken> {
    Url::parse(text).map_err(|error| {
        let message =
            if error == ParseError::InvalidPort { wordings::no_port() } else { wordings::no_whole_url() };
        Broken::new(code::FORMAT, message)
    })
}

fn has_public_host(url: &Url) -> bool {
    match url.host() {
        Some(Host::Domain(name)) => is_public_name(name),
        Some(Host::Ipv4(address)) => is_public(address.into()),
        Some(Host::Ipv6(address)) => is_public(address.into()),
        None => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Expects this code, or no refusal, first in development and then outside.
    fn check_both(text: &str, development: Option<&str>, outside: Option<&str>) {
        let code = |policy| check(text, policy).err().map(|broken| broken.code);
        assert_eq!(code(PostbackPolicy::AllowAnything), development, "{text} in development");
        assert_eq!(code(PostbackPolicy::HttpsPublicOnly), outside, "{text} outside development");
    }

    #[test]
    fn a_port_out_of_range_is_told_as_that() {
        for (text, message) in [
            ("http://127.0.0.1:99999/", "its port must be a number from 0 to 65535"),
            ("http://127.0.0.1:x/", "its port must be a number from 0 to 65535"),
            ("127.0.0.1", "must be a complete URL"),
        ] {
            let broken = check(text, PostbackPolicy::AllowAnything).unwrap_err();
            assert_eq!((broken.code, broken.message.english()), (code::FORMAT, message), "{text}");
        }
    }

    #[test]
    fn a_public_https_url_may_be_called_everywhere() {
        for text in [
            "https://shop.example.com",
            "https://shop.example.com:8443/hooks?a=1&b=%20",
            "https://8.8.8.8/",
            "https://[2606:4700::1111]/",
            "HTTPS://SHOP.EXAMPLE.COM/",
            "https://açaí.com.br/",
        ] {
            check_both(text, None, None);
        }
    }

    #[test]
    fn what_is_not_public_may_be_called_in_development_only() {
        for text in [
            "http://shop.example.com/",
            "https://localhost/",
            "https://LOCALHOST./",
            "https://printer.local/",
            "https://metadata.google.internal/",
            "https://intranet/",
            "https://127.0.0.1/",
            "https://127.1/",
            "https://2130706433/",
            "https://0x7f000001/",
            "https://0177.0.0.1/",
            "https://10.1.2.3/",
            "https://169.254.169.254/latest/meta-data/",
            "https://0.0.0.0/",
            "https://[::1]/",
            "https://[::ffff:10.0.0.1]/",
            "https://[fd00:ec2::254]/",
            "https://１２７.0.0.1/",
        ] {
            check_both(text, None, Some(code::NOT_PUBLIC));
        }
    }

    #[test]
    fn what_is_no_plain_url_is_refused_everywhere() {
        for text in [
            "",
            "shop.example.com/hooks",
            "//shop.example.com",
            "https://",
            "ftp://shop.example.com/",
            "file:///etc/passwd",
            "javascript:alert(1)",
            "https://user@shop.example.com/",
            "https://user:secret@shop.example.com/",
            "https://:secret@shop.example.com/",
            "https://shop.example.com/#part",
            "https://shop.example.com/#",
            "https://999.1.1.1/",
            "https://shop.example.com:99999/",
        ] {
            check_both(text, Some(code::FORMAT), Some(code::FORMAT));
        }
        for text in [
            " https://a.example.com",
            "https://a.example.com/ b",
            "https://a.example.com\n",
            "https://a\t.com",
        ] {
            check_both(text, Some(code::CHARACTER), Some(code::CHARACTER));
        }
    }

    #[test]
    fn a_url_has_at_most_2048_characters() {
        let of_length = |length: usize| format!("https://a.example.com/{}", "é".repeat(length - 22));
        check_both(&of_length(2048), None, None);
        check_both(&of_length(2049), Some(code::LENGTH), Some(code::LENGTH));
    }
}
