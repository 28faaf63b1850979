//! Options of a sandbox.

use std::time::Duration;

use quita_domain::webhook::signature::WebhookSecret;

use super::table::AcquirerTable;
use crate::duration::{DURATION_FORM, parse_duration};

/// Options of a sandbox.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SandboxConfig {
    /// Time after which its payer pays.
    pub settle_after: Duration,
    /// Secret that signs its notices, instead of the one that is derived from the secret key.
    pub notification_secret: Option<WebhookSecret>,
}

/// Defaults of sandboxes.
#[derive(Debug, Clone, Copy)]
pub(crate) struct SandboxDefaults {
    pub(crate) settle_after: Duration,
    pub(crate) time_out: Duration,
}

impl SandboxConfig {
    pub(super) fn read(table: &mut AcquirerTable<'_>, defaults: &SandboxDefaults) -> Self {
        let settle_after = table.optional("settle-after", DURATION_FORM, parse_duration);
        Self {
            settle_after: settle_after.unwrap_or(defaults.settle_after),
            notification_secret: table.secret("notification-secret", SECRET_FORM, WebhookSecret::parse),
        }
    }
}

const SECRET_FORM: &str =
    "whsec_ and base64 of 24 to 64 bytes, such as `echo whsec_$(openssl rand -base64 32)`";
