//! Endpoints and origins in words, for the audit log and the command line.

use quita_domain::access::Origins;

use crate::audit::audited_address;

/// Returns an endpoint as the audit log stores it.
pub fn url_in_words(url: Option<&str>) -> String {
    url.map_or_else(|| "none".into(), audited_address)
}

/// Returns a list of origins on one line.
pub fn origins_in_words(origins: &Origins) -> String {
    if origins.is_empty() { "none".into() } else { origins.iter().collect::<Vec<_>>().join(",") }
}
