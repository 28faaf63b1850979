//! Verification of a webhook's signature.

use std::fmt;

use quita_domain::time::Timestamp;
use quita_domain::webhook::signature::{WebhookSecret, verify};

/// Tolerance in seconds for a webhook's timestamp, in both directions: five minutes, as in the libraries of Standard
/// Webhooks.
pub(in crate::cli) const TOLERANCE_S: u64 = 300;

/// Headers of a signature: id, time, signature.
pub(in crate::cli) const SIGNATURE_HEADERS: [&str; 3] =
    ["webhook-id", "webhook-timestamp", "webhook-signature"];

/// Reason against a signature that none of the secrets made, with its remedy.
const OTHER_SECRET: &str = "not created with this secret; set QUITA_SECRET to what quita secrets show --merchant NAME \
    --mode test prints, or --mode live for live events";

/// Signature headers of a webhook.
#[derive(Debug, Clone, Copy, Default)]
pub(in crate::cli) struct SignatureHeaders<'a> {
    pub(in crate::cli) id: Option<&'a str>,
    pub(in crate::cli) timestamp: Option<&'a str>,
    pub(in crate::cli) signature: Option<&'a str>,
}

impl<'a> SignatureHeaders<'a> {
    pub(in crate::cli) fn new(header: impl Fn(&'static str) -> Option<&'a str>) -> Self {
        let [id, timestamp, signature] = SIGNATURE_HEADERS.map(header);
        Self { id, timestamp, signature }
    }
}

/// Result of verifying a signature.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(in crate::cli) enum SignatureCheck {
    /// The signature matches one of our secrets, and the timestamp is within the tolerance.
    Good,
    /// The signature is invalid, for this reason.
    Bad(&'static str),
    /// The timestamp differs too much from our time.
    Stale {
        /// Difference in seconds.
        off_s: u64,
    },
    /// The webhook has no signature.
    Unsigned,
    /// The webhook has a signature, but there is no secret to check it with.
    Unchecked,
}

impl fmt::Display for SignatureCheck {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Good => f.write_str("signature good"),
            Self::Bad(why) => write!(f, "signature bad ({why})"),
            Self::Stale { off_s } => write!(f, "signature bad (its time is {off_s} s off)"),
            Self::Unsigned => f.write_str("unsigned"),
            Self::Unchecked => f.write_str("signature not checked"),
        }
    }
}

/// Verifies the signature of a body received at `now`.
pub(in crate::cli) fn judge(
    secrets: &[WebhookSecret],
    headers: &SignatureHeaders<'_>,
    body: &[u8],
    now: Timestamp,
) -> SignatureCheck {
    let Some(signature) = headers.signature else { return SignatureCheck::Unsigned };
    let Some(id) = headers.id.filter(|id| !id.is_empty()) else {
        return SignatureCheck::Bad("no webhook-id");
    };
    let Some(timestamp_s) = headers.timestamp.and_then(|text| text.parse::<i64>().ok()) else {
        return SignatureCheck::Bad("no valid webhook-timestamp");
    };
    if secrets.is_empty() {
        return SignatureCheck::Unchecked;
    }
    if !secrets.iter().any(|secret| verify(secret, id, timestamp_s, body, signature)) {
        return SignatureCheck::Bad(OTHER_SECRET);
    }
    // The timestamp is checked last: only a genuine signature proves that nothing but the clock is off.
    let off_s = now.millis().div_euclid(1_000).abs_diff(timestamp_s);
    if off_s > TOLERANCE_S { SignatureCheck::Stale { off_s } } else { SignatureCheck::Good }
}

#[cfg(test)]
mod tests {
    use quita_domain::webhook::signature::sign;

    use super::*;

    const NOW_S: i64 = 1_800_000_000;
    const BODY: &[u8] = b"{}";

    fn secret(byte: u8) -> WebhookSecret {
        WebhookSecret::from_bytes(vec![byte; 32])
    }

    fn check(
        secrets: &[WebhookSecret],
        headers: &SignatureHeaders<'_>,
        body: &[u8],
        expected: &SignatureCheck,
    ) {
        let now = Timestamp::from_millis(NOW_S * 1_000 + 999);
        assert_eq!(&judge(secrets, headers, body, now), expected, "{headers:?}");
    }

    #[test]
    fn a_signature_is_good_with_any_of_the_secrets_within_five_minutes() {
        for (timestamp_s, expected) in [
            (NOW_S, SignatureCheck::Good),
            (NOW_S - 300, SignatureCheck::Good),
            (NOW_S + 300, SignatureCheck::Good),
            (NOW_S - 301, SignatureCheck::Stale { off_s: 301 }),
            (NOW_S + 301, SignatureCheck::Stale { off_s: 301 }),
            (i64::MIN, SignatureCheck::Stale { off_s: NOW_S.abs_diff(i64::MIN) }),
        ] {
            let signature = sign(&[secret(2)], "evt_1", timestamp_s, BODY);
            let timestamp = timestamp_s.to_string();
            let headers = SignatureHeaders {
                id: Some("evt_1"),
                timestamp: Some(&timestamp),
                signature: Some(&signature),
            };
            check(&[secret(1), secret(2)], &headers, BODY, &expected);
        }
    }

    #[test]
    fn a_signature_of_another_secret_body_or_id_is_bad() {
        let timestamp = NOW_S.to_string();
        let signature = sign(&[secret(1)], "evt_1", NOW_S, BODY);
        let headers =
            SignatureHeaders { id: Some("evt_1"), timestamp: Some(&timestamp), signature: Some(&signature) };
        let bad = SignatureCheck::Bad(OTHER_SECRET);
        let remedy = "QUITA_SECRET to what quita secrets show --merchant NAME --mode test prints";
        assert!(bad.to_string().contains(remedy), "{bad}");
        check(&[secret(1)], &headers, BODY, &SignatureCheck::Good);
        check(&[secret(2)], &headers, BODY, &bad);
        check(&[secret(1)], &headers, b"{ }", &bad);
        check(&[secret(1)], &SignatureHeaders { id: Some("evt_2"), ..headers }, BODY, &bad);
        check(&[secret(1)], &SignatureHeaders { signature: Some("v1,AAAA"), ..headers }, BODY, &bad);
        check(&[], &headers, BODY, &SignatureCheck::Unchecked);
    }

    #[test]
    fn what_is_missing_is_told() {
        let headers =
            SignatureHeaders { id: Some("evt_1"), timestamp: Some("1"), signature: Some("v1,AAAA") };
        let no_time = SignatureCheck::Bad("no valid webhook-timestamp");
        check(&[secret(1)], &SignatureHeaders::default(), BODY, &SignatureCheck::Unsigned);
        check(
            &[secret(1)],
            &SignatureHeaders { signature: None, ..headers },
            BODY,
            &SignatureCheck::Unsigned,
        );
        for id in [None, Some("")] {
            let headers = SignatureHeaders { id, ..headers };
            check(&[secret(1)], &headers, BODY, &SignatureCheck::Bad("no webhook-id"));
        }
        for timestamp in [None, Some(""), Some("soon"), Some("1.5")] {
            check(&[secret(1)], &SignatureHeaders { timestamp, ..headers }, BODY, &no_time);
        }
    }
}
