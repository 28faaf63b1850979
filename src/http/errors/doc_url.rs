//! Addresses of the documentation, as the outside sees them.

use std::sync::OnceLock;

/// Public address of this service. It is the same for as long as the program runs, and errors are answered where nothing
/// else of the service is at hand: by the operators' listener, and before a request was understood.
static PUBLIC_URL: OnceLock<String> = OnceLock::new();

/// Tells where the outside sees the public listener. The first word counts.
pub(crate) fn announce_public_url(public_url: &str) {
    PUBLIC_URL.get_or_init(|| public_url.trim_end_matches('/').to_owned());
}

/// Address of a page of the documentation, or of its first one for an empty name. Without a host until it is known.
pub(crate) fn docs_url(page: &str) -> String {
    let public_url = PUBLIC_URL.get().map_or("", String::as_str);
    let separator = if page.is_empty() { "" } else { "/" };
    format!("{public_url}/docs{separator}{page}")
}
