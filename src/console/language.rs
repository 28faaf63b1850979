//! In which language a page speaks.

use actix_web::HttpRequest;
use actix_web::http::header::ACCEPT_LANGUAGE;

/// The cookie in which a choice is kept.
pub(crate) const COOKIE: &str = "quita_language";

/// The languages that the consoles speak.
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

    /// As HTML and the cookie name it (BCP 47).
    pub(crate) const fn tag(self) -> &'static str {
        match self {
            Self::Portuguese => "pt-BR",
            Self::English => "en",
        }
    }

    /// What the language calls itself.
    pub(crate) const fn own_name(self) -> &'static str {
        match self {
            Self::Portuguese => "Português",
            Self::English => "English",
        }
    }

    /// Reads a tag.
    pub(crate) fn parse(tag: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|language| language.tag() == tag)
    }

    /// What the visitor chose, or what the browser asks for.
    pub(crate) fn of(request: &HttpRequest) -> Self {
        let chosen = request.cookie(COOKIE).and_then(|cookie| Self::parse(cookie.value()));
        let asked = || request.headers().get(ACCEPT_LANGUAGE)?.to_str().ok().and_then(Self::preferred);
        chosen.or_else(asked).unwrap_or_default()
    }

    /// The first of ours in a list that browsers write with the dearest first (RFC 9110, section 12.5.4).
    fn preferred(accepted: &str) -> Option<Self> {
        accepted.split(',').find_map(|range| {
            let tag = range.split(';').next().unwrap_or_default().trim().to_ascii_lowercase();
            match tag.split('-').next() {
                Some("pt") => Some(Self::Portuguese),
                Some("en") => Some(Self::English),
                Some(_) | None => None,
            }
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_browser_s_dearest_language_of_ours_is_taken() {
        for (accepted, expected) in [
            ("pt-BR,pt;q=0.9,en;q=0.8", Some(Language::Portuguese)),
            ("fr, en-GB;q=0.9, pt;q=0.1", Some(Language::English)),
            ("EN", Some(Language::English)),
            ("de,fr;q=0.5", None),
            ("", None),
        ] {
            assert_eq!(Language::preferred(accepted), expected, "{accepted:?}");
        }
    }

    #[test]
    fn a_tag_reads_back() {
        assert_eq!(Language::ALL.map(|language| Language::parse(language.tag())), Language::ALL.map(Some));
        assert_eq!(Language::parse("de"), None);
    }
}
