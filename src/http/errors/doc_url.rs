//! Public addresses of the documentation.

use std::sync::OnceLock;

/// Public address of this service, constant while the program runs.
// Global, because some errors are sent where no other state is available: by the operators' listener, and before a
// request was parsed.
static PUBLIC_URL: OnceLock<String> = OnceLock::new();

/// Stores the address under which the outside reaches the public listener. Later calls have no effect.
pub(crate) fn announce_public_url(public_url: &str) {
    PUBLIC_URL.get_or_init(|| public_url.trim_end_matches('/').to_owned());
}

/// Returns the address of a documentation page, or of the first one for an empty name. It has no host until the public
/// address is stored.
pub(crate) fn docs_url(page: &str) -> String {
    let public_url = PUBLIC_URL.get().map_or("", String::as_str);
    let separator = if page.is_empty() { "" } else { "/" };
    format!("{public_url}/docs{separator}{page}")
}
