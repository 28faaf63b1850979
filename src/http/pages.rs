//! The pages that a payer sees without a key: PIX with its QR code, boleto with its line and bar code.
//!
//! Plain views: they receive words and numbers, and have no route, store or clock. The templates escape everything. No
//! page has inline scripts or styles, so the strictest policy (`CONTENT_SECURITY_POLICY`) holds.

pub(crate) mod assets;
pub(crate) mod boleto_page;
pub(crate) mod checkout_card;
pub(crate) mod checkout_page;
pub(crate) mod checkout_words;
pub(crate) mod due_words;
pub(crate) mod not_started;
pub(crate) mod pix_page;

mod state_words;

use quita_domain::time::Timestamp;

pub(crate) use state_words::is_open;

/// Content security policy with which these pages are served.
pub(crate) const CONTENT_SECURITY_POLICY: &str = "default-src 'none'; script-src 'self'; style-src 'self'; \
     img-src 'self' data:; connect-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'";

/// Writes an instant for people, in Brasília's time.
fn in_brasilia(at: Timestamp) -> String {
    at.in_sao_paulo().format("%d/%m/%Y às %H:%M").to_string()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_instant_is_shown_in_the_time_of_brasilia() {
        let at = Timestamp::parse("2026-12-01T02:30:00Z").unwrap();
        assert_eq!(in_brasilia(at), "30/11/2026 às 23:30");
    }
}
