//! Languages of the consoles, and the choice of one for a request.

use actix_web::HttpRequest;
use actix_web::http::header::{AcceptLanguage, Header as _, Quality};
use quita_domain::people::MailLanguage;
use quita_domain::wording::Wording;

/// Cookie that keeps the visitor's choice.
pub(crate) const COOKIE: &str = "quita_language";

/// Language of a page.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
pub(crate) enum Language {
    /// Brazilian Portuguese.
    #[default]
    Portuguese,
    /// English.
    English,
}

impl Language {
    /// Every language.
    pub(crate) const ALL: [Self; 2] = [Self::Portuguese, Self::English];

    /// Returns the tag used in HTML and in the cookie (BCP 47).
    pub(crate) const fn tag(self) -> &'static str {
        match self {
            Self::Portuguese => "pt-BR",
            Self::English => "en",
        }
    }

    /// Returns the language's own name.
    pub(crate) const fn own_name(self) -> &'static str {
        match self {
            Self::Portuguese => "Português",
            Self::English => "English",
        }
    }

    /// Parses a tag.
    pub(crate) fn parse(tag: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|language| language.tag() == tag)
    }

    /// Returns the language of messages by e-mail.
    pub(crate) const fn of_mail(language: MailLanguage) -> Self {
        match language {
            MailLanguage::Portuguese => Self::Portuguese,
            MailLanguage::English => Self::English,
        }
    }

    /// Returns the language that the visitor chose, or else the one that the browser requests.
    pub(crate) fn of(request: &HttpRequest) -> Self {
        let chosen = request.cookie(COOKIE).and_then(|cookie| Self::parse(cookie.value()));
        chosen.or_else(|| Self::asked_for(request)).unwrap_or_default()
    }

    /// Returns the language that `Accept-Language` requests, if it names a supported one.
    pub(crate) fn asked_for(request: &HttpRequest) -> Option<Self> {
        Self::accepted(AcceptLanguage::parse(request).ok()?)
    }

    /// Returns a sentence in this language.
    pub(crate) fn of_wording(self, wording: &Wording) -> &str {
        match self {
            Self::Portuguese => wording.portuguese(),
            Self::English => wording.english(),
        }
    }

    /// Returns the preferred supported language; never one with weight 0 (RFC 9110, section 12.4.2).
    fn accepted(mut wanted: AcceptLanguage) -> Option<Self> {
        wanted.0.retain(|range| range.quality > Quality::ZERO);
        wanted.ranked().iter().find_map(|range| match range.item()?.primary_language() {
            "pt" => Some(Self::Portuguese),
            "en" => Some(Self::English),
            _ => None,
        })
    }
}

#[cfg(test)]
mod tests {
    use actix_web::test::TestRequest;

    use super::*;

    fn accepted(header: &str) -> Option<Language> {
        let request = TestRequest::default().insert_header(("accept-language", header)).to_http_request();
        Language::accepted(AcceptLanguage::parse(&request).unwrap())
    }

    #[test]
    fn the_first_supported_language_is_used() {
        for (header, expected) in [
            ("pt-BR,pt;q=0.9,en;q=0.8", Some(Language::Portuguese)),
            ("fr, en-GB;q=0.9, pt;q=0.1", Some(Language::English)),
            ("EN", Some(Language::English)),
            ("de,fr;q=0.5", None),
            ("", None),
        ] {
            assert_eq!(accepted(header), expected, "{header:?}");
        }
    }

    #[test]
    fn weights_count_more_than_the_order() {
        for (header, expected) in [
            ("pt;q=0.2, en;q=0.7", Some(Language::English)),
            ("*, pt-BR;q=0.5, en-US", Some(Language::English)),
            ("en;q=0.5, pt;q=0.5", Some(Language::English)),
            ("en;q=0, pt;q=0.1", Some(Language::Portuguese)),
            ("en;q=0", None),
            ("-, en;q=9, pt;q=0.1", Some(Language::Portuguese)),
        ] {
            assert_eq!(accepted(header), expected, "{header:?}");
        }
    }

    #[test]
    fn a_tag_reads_back() {
        assert_eq!(Language::ALL.map(|language| Language::parse(language.tag())), Language::ALL.map(Some));
        assert_eq!(Language::parse("de"), None);
    }
}
