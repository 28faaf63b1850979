//! Cookies of the consoles: sessions, visits of the sign-in form, known devices and the language.

use std::borrow::Cow;

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
use crate::http::Mount;

/// Reader and creator of one console's cookies. Browsers share cookies among the ports of a host, so each console uses
/// its own names.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Cookies {
    console: ConsoleKind,
    is_secure: bool,
    mount: Mount,
}

impl Cookies {
    /// Creates cookies that are sent only over TLS if `is_secure`, and only below this mount path on a shared host.
    pub(crate) const fn new(console: ConsoleKind, is_secure: bool, mount: Mount) -> Self {
        Self { console, is_secure, mount }
    }

    /// Returns the token of the session that a request belongs to.
    pub(crate) fn session(self, request: &HttpRequest) -> Option<Secret<String>> {
        request.cookie(&self.session_name()).map(|cookie| Secret::new(cookie.value().to_owned()))
    }

    /// Returns the cookie that starts a session.
    pub(crate) fn begin(self, token: &Secret<String>) -> Cookie<'static> {
        let seconds = i64::try_from(SESSION_MS / 1_000).unwrap_or(i64::MAX);
        self.bake(self.session_name(), token.expose().clone(), Duration::seconds(seconds))
    }

    /// Returns the cookie that ends a session.
    pub(crate) fn end(self) -> Cookie<'static> {
        self.bake(self.session_name(), String::new(), Duration::ZERO)
    }

    /// Returns the token that the sign-in form is bound to while there is no session yet.
    pub(crate) fn visit(self, request: &HttpRequest) -> Option<Secret<String>> {
        request.cookie(&self.visit_name()).map(|cookie| Secret::new(cookie.value().to_owned()))
    }

    /// Returns the cookie that marks a browser to which the sign-in form was shown.
    pub(crate) fn mark_visit(self, token: &Secret<String>) -> Cookie<'static> {
        self.bake(self.visit_name(), token.expose().clone(), Duration::hours(1))
    }

    /// Returns the mark of a browser in which somebody has signed in before.
    pub(crate) fn device(self, request: &HttpRequest) -> Option<Secret<String>> {
        request.cookie(&self.device_name()).map(|cookie| Secret::new(cookie.value().to_owned()))
    }

    /// Returns the cookie that marks a browser in which somebody has just signed in.
    pub(crate) fn mark_device(self, mark: &Secret<String>) -> Cookie<'static> {
        self.bake(self.device_name(), mark.expose().clone(), Duration::days(KNOWN_FOR_DAYS.into()))
    }

    /// Returns the cookie that keeps the chosen language. It is not secret.
    pub(crate) fn keep_language(self, language: Language) -> Cookie<'static> {
        self.bake(language::COOKIE, language.tag().to_owned(), Duration::days(365))
    }

    fn bake(self, name: impl Into<Cow<'static, str>>, value: String, lifetime: Duration) -> Cookie<'static> {
        let path = if self.mount.is_below_a_path() { self.mount.as_str() } else { "/" };
        Cookie::build(name, value)
            .path(path)
            .http_only(true)
            // Strict: a link or form on another site never carries the session.
            .same_site(SameSite::Strict)
            .secure(self.is_secure)
            .max_age(lifetime)
            .finish()
    }

    fn session_name(self) -> Cow<'static, str> {
        self.name(match self.console {
            ConsoleKind::Merchant => "quita_console",
            ConsoleKind::Operator => "quita_operator",
        })
    }

    fn visit_name(self) -> Cow<'static, str> {
        self.name(match self.console {
            ConsoleKind::Merchant => "quita_console_visit",
            ConsoleKind::Operator => "quita_operator_visit",
        })
    }

    fn device_name(self) -> Cow<'static, str> {
        self.name(match self.console {
            ConsoleKind::Merchant => "quita_console_device",
            ConsoleKind::Operator => "quita_operator_device",
        })
    }

    /// Returns the name of a cookie, with the strictest prefix that its attributes allow.
    fn name(self, plain: &'static str) -> Cow<'static, str> {
        // `__Host-` binds a cookie to this host and to TLS (RFC 6265bis, section 4.1.3.2). It requires `Secure` and the
        // path `/`; below any other path, only `__Secure-` is possible.
        match (self.is_secure, self.mount.is_below_a_path()) {
            (false, _) => plain.into(),
            (true, false) => format!("__Host-{plain}").into(),
            (true, true) => format!("__Secure-{plain}").into(),
        }
    }
}

/// Returns the token that binds a form to a session or a visit. It is a hash of a cookie that other sites cannot read.
pub(crate) fn form_token(cookie: &Secret<String>) -> String {
    // A hash rather than the cookie itself: the token is part of pages, and a page must not reveal the session.
    let hash = Sha256::new_with_prefix(b"quita form 1 ").chain_update(cookie.expose().as_bytes());
    hex(&hash.finalize())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_session_cookie_is_for_the_pages_of_this_host_alone() {
        let token = Secret::new(String::from("t"));
        let cookie = Cookies::new(ConsoleKind::Merchant, true, Mount::ROOT).begin(&token).to_string();
        assert_eq!(
            cookie,
            "__Host-quita_console=t; HttpOnly; SameSite=Strict; Secure; Path=/; Max-Age=43200"
        );
        let plain = Cookies::new(ConsoleKind::Operator, false, Mount::ROOT).begin(&token).to_string();
        assert_eq!(plain, "quita_operator=t; HttpOnly; SameSite=Strict; Path=/; Max-Age=43200");
    }

    #[test]
    fn below_a_path_a_cookie_goes_to_nobody_else_on_the_host() {
        let token = Secret::new(String::from("t"));
        let mount = Mount::of("https://shop.example/quita/");
        let cookie = Cookies::new(ConsoleKind::Merchant, true, mount).begin(&token).to_string();
        assert_eq!(
            cookie,
            "__Secure-quita_console=t; HttpOnly; SameSite=Strict; Secure; Path=/quita; Max-Age=43200"
        );
        let plain = Cookies::new(ConsoleKind::Merchant, false, mount).begin(&token).to_string();
        assert!(plain.starts_with("quita_console=t; ") && plain.contains("; Path=/quita; "), "{plain}");
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
