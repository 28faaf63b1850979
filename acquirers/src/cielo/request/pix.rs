//! A PIX charge.

use quita_domain::acquiring::ChargeQuery;
use quita_domain::time::Timestamp;
use serde::Serialize;

use super::{Unsendable, type_of};
use crate::cielo::settings::CieloSettings;

/// Longest lifetime of a code, in seconds: 24 hours, or two in the old form (E-commerce API 3.0, "Pix").
const LONGEST_S: u64 = 24 * 3_600;
const LONGEST_OLD_FORM_S: u64 = 2 * 3_600;

/// Shortest lifetime that is requested: a charge that is sent again may have less left.
const SHORTEST_S: u64 = 60;

#[derive(Serialize)]
#[serde(rename_all = "PascalCase")]
pub(super) struct PixPayment<'a> {
    r#type: &'static str,
    #[serde(skip_serializing_if = "Option::is_none")]
    provider: Option<&'a str>,
    amount: u64,
    #[serde(skip_serializing_if = "Option::is_none")]
    qr_code: Option<QrCode>,
}

#[derive(Serialize)]
#[serde(rename_all = "PascalCase")]
struct QrCode {
    expiration: u64,
}

impl<'a> PixPayment<'a> {
    pub(super) fn new(
        query: &ChargeQuery,
        expires_in_s: u64,
        settings: &'a CieloSettings,
        now: Timestamp,
    ) -> Result<Self, Unsendable> {
        let provider = settings.pix_provider.as_deref();
        let longest = if provider.is_some() { LONGEST_S } else { LONGEST_OLD_FORM_S };
        if expires_in_s > longest {
            return Err(Unsendable::Refused("expiry_too_long"));
        }
        // Cielo counts from now, the payment counts from its creation.
        let expires_at = query.created_at.plus_ms(expires_in_s.saturating_mul(1000));
        let left_s = expires_at.ms_since(now).div_ceil(1000).clamp(SHORTEST_S, longest);
        Ok(Self {
            r#type: type_of(query),
            provider,
            amount: query.amount.cents(),
            qr_code: provider.map(|_| QrCode { expiration: left_s }),
        })
    }
}
