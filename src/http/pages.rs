//! The pages a payer sees without a key: PIX with its QR code, boleto with its line and bar code.
//!
//! Plain views: they are given words and numbers and know no route, store or clock. Everything in them is
//! escaped by the templates; no page has a script or style of its own, so the strictest policy
//! (`CONTENT_SECURITY_POLICY`) holds.

pub(crate) mod assets;
pub(crate) mod boleto_page;
pub(crate) mod pix_page;

mod state_words;

use chrono::{DateTime, SecondsFormat, TimeDelta, Utc};

/// The header these pages are to be served with.
pub(crate) const CONTENT_SECURITY_POLICY: &str = "default-src 'none'; script-src 'self'; style-src 'self'; \
     img-src 'self' data:; connect-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'";

/// Writes an instant for scripts, as in `2026-11-21T18:00:00.000Z`.
fn iso(at: DateTime<Utc>) -> String {
    at.to_rfc3339_opts(SecondsFormat::Millis, true)
}

/// Writes an instant for people in Brasília's time, which has been UTC−3 all year since 2019 (Decreto 9.772).
fn in_brasilia(at: DateTime<Utc>) -> String {
    let local = at.naive_utc().checked_sub_signed(TimeDelta::hours(3)).unwrap_or(at.naive_utc());
    local.format("%d/%m/%Y às %H:%M").to_string()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_instant_is_told_in_brasilia_s_time() {
        let at: DateTime<Utc> = "2026-12-01T02:30:00Z".parse().unwrap();
        assert_eq!(in_brasilia(at), "30/11/2026 às 23:30");
        assert_eq!(iso(at), "2026-12-01T02:30:00.000Z");
    }
}
