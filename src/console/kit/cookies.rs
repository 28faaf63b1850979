//! The cookies of the consoles: whose session it is, and what a sign-in form belongs to.

use actix_web::HttpRequest;
use actix_web::cookie::time::Duration;
use actix_web::cookie::{Cookie, SameSite};
use quita_domain::people::SESSION_MS;
use quita_domain::secret::Secret;
use quita_domain::text::hex;
use sha2::{Digest, Sha256};

use super::console_kind::ConsoleKind;
use super::devices::KNOWN_FOR_DAYS;
use super::language::{self, Language};

/// Reads and makes the cookies of one console: browsers share cookies among the ports of a host, so each has names of
/// its own.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Cookies {
    console: ConsoleKind,
    is_secure: bool,
}

impl Cookies {
    /// Cookies that only go over TLS, if `is_secure`.
    pub(crate) const fn new(console: ConsoleKind, is_secure: bool) -> Self {
        Self { console, is_secure }
    }

    /// The token of the session that a request belongs to.
    pub(crate) fn session(self, request: &HttpRequest) -> Option<Secret<String>> {
        request.cookie(self.session_name()).map(|cookie| Secret::new(cookie.value().to_owned()))
    }

    /// Begins a session.
    pub(crate) fn begin(self, token: &Secret<String>) -> Cookie<'static> {
        let seconds = i64::try_from(SESSION_MS / 1_000).unwrap_or(i64::MAX);
        self.bake(self.session_name(), token.expose().clone(), Duration::seconds(seconds))
    }

    /// Ends a session.
    pub(crate) fn end(self) -> Cookie<'static> {
        self.bake(self.session_name(), String::new(), Duration::ZERO)
    }

    /// What the form for signing in belongs to: nobody has a session yet.
    pub(crate) fn visit(self, request: &HttpRequest) -> Option<Secret<String>> {
        request.cookie(self.visit_name()).map(|cookie| Secret::new(cookie.value().to_owned()))
    }

    /// Marks the browser that was shown the form for signing in.
    pub(crate) fn mark_visit(self, token: &Secret<String>) -> Cookie<'static> {
        self.bake(self.visit_name(), token.expose().clone(), Duration::hours(1))
    }

    /// The mark of a browser in which somebody signed in before.
    pub(crate) fn device(self, request: &HttpRequest) -> Option<Secret<String>> {
        request.cookie(self.device_name()).map(|cookie| Secret::new(cookie.value().to_owned()))
    }

    /// Marks the browser in which somebody has just signed in.
    pub(crate) fn mark_device(self, mark: &Secret<String>) -> Cookie<'static> {
        self.bake(self.device_name(), mark.expose().clone(), Duration::days(KNOWN_FOR_DAYS.into()))
    }

    /// Keeps the choice of a language. It is no secret.
    pub(crate) fn keep_language(self, language: Language) -> Cookie<'static> {
        self.bake(language::COOKIE, language.tag().to_owned(), Duration::days(365))
    }

    fn bake(self, name: &'static str, value: String, lifetime: Duration) -> Cookie<'static> {
        Cookie::build(name, value)
            .path("/")
            .http_only(true)
            .same_site(SameSite::Strict)
            .secure(self.is_secure)
            .max_age(lifetime)
            .finish()
    }

    /// `__Host-` binds a cookie to this host and to TLS (RFC 6265bis, section 4.1.3.2); it needs `Secure`.
    const fn session_name(self) -> &'static str {
        match (self.console, self.is_secure) {
            (ConsoleKind::Merchant, true) => "__Host-quita_console",
            (ConsoleKind::Merchant, false) => "quita_console",
            (ConsoleKind::Operator, true) => "__Host-quita_operator",
            (ConsoleKind::Operator, false) => "quita_operator",
        }
    }

    const fn visit_name(self) -> &'static str {
        match (self.console, self.is_secure) {
            (ConsoleKind::Merchant, true) => "__Host-quita_console_visit",
            (ConsoleKind::Merchant, false) => "quita_console_visit",
            (ConsoleKind::Operator, true) => "__Host-quita_operator_visit",
            (ConsoleKind::Operator, false) => "quita_operator_visit",
        }
    }

    const fn device_name(self) -> &'static str {
        match (self.console, self.is_secure) {
            (ConsoleKind::Merchant, true) => "__Host-quita_console_device",
            (ConsoleKind::Merchant, false) => "quita_console_device",
            (ConsoleKind::Operator, true) => "__Host-quita_operator_device",
            (ConsoleKind::Operator, false) => "quita_operator_device",
        }
    }
}

/// What a form must carry to belong to a session or a visit: nobody else can compute it from what they see.
pub(crate) fn form_token(cookie: &Secret<String>) -> String {
    let hash = Sha256::new_with_prefix(b"quita form 1 ").chain_update(cookie.expose().as_bytes());
    hex(&hash.finalize())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_session_cookie_is_for_the_pages_of_this_host_alone() {
        let token = Secret::new(String::from("t"));
        let cookie = Cookies::new(ConsoleKind::Merchant, true).begin(&token).to_string();
        assert_eq!(
            cookie,
            "__Host-quita_console=t; HttpOnly; SameSite=Strict; Secure; Path=/; Max-Age=43200"
        );
        let plain = Cookies::new(ConsoleKind::Operator, false).begin(&token).to_string();
        assert_eq!(plain, "quita_operator=t; HttpOnly; SameSite=Strict; Path=/; Max-Age=43200");
    }

    #[test]
    fn a_form_token_differs_from_the_cookie_and_from_what_is_stored_of_it() {
        let cookies = ["a session's token", "another's"];
        let tokens = cookies.map(|text| form_token(&Secret::new(text.into())));
        assert_ne!(tokens[0], tokens[1]);
        for (cookie, token) in cookies.iter().zip(&tokens) {
            assert_eq!(token.len(), 64);
            assert!(!token.contains(cookie) && *token != hex(&Sha256::digest(cookie)), "{token}");
        }
    }
}
