//! The one application of these tests, and its webhook secret.

use quita_domain::identity::{ApplicationName, MerchantId, Mode, Owner};
use quita_domain::webhook::signature::WebhookSecret;

/// Returns the owner of every payment.
pub(crate) fn owner() -> Owner {
    let merchant = MerchantId::new("demo");
    let application = ApplicationName::new("default");
    Owner { merchant, application, mode: Mode::Test }
}

/// Returns the secret that signs every webhook.
pub(crate) fn webhook_secret() -> WebhookSecret {
    WebhookSecret::from_bytes(vec![7; WebhookSecret::BYTES])
}
