//! Pages for proofs of identity, for both consoles: second factor, its set-up, a password that somebody else set.

use askama::Template;
use quita_domain::people::RecoveryCode;
use quita_domain::secret::Secret;

use super::console_kind::ConsoleKind;
use super::cookies::form_token;
use super::frame::Frame;
use super::page_context::PageContext;
use super::page_error::PageError;
use super::qr;

/// Number of characters between spaces in a key that people type.
const GROUP: usize = 4;

/// Page that asks for the second factor after the password.
#[derive(Template)]
#[template(path = "console/kit/code.html")]
pub(crate) struct CodePage {
    pub(crate) frame: Frame,
    /// Address that the visitor requested.
    pub(crate) next: String,
    /// Reason why the last code was refused.
    pub(crate) failed: Option<String>,
}

/// Page that shows the data for an authenticator and asks for its first code.
#[derive(Template)]
#[template(path = "console/kit/factor.html")]
pub(crate) struct FactorPage {
    frame: Frame,
    next: String,
    secret: Secret<String>,
    /// QR code as a `data:` URL of an image.
    qr: String,
    /// True if a second factor is required but not set up yet.
    pub(crate) is_required: bool,
    /// True if this factor replaces another one.
    pub(crate) is_again: bool,
    /// Reason why the last code was refused.
    pub(crate) failed: Option<&'static str>,
}

/// Page that shows recovery codes, once.
#[derive(Template)]
#[template(path = "console/kit/recovery_codes.html")]
pub(crate) struct RecoveryCodesPage {
    frame: Frame,
    codes: Vec<String>,
    next: String,
}

/// Page that shows the secret of messages by webhook, once.
#[derive(Template)]
#[template(path = "console/kit/message_secret.html")]
pub(crate) struct MessageSecretPage {
    frame: Frame,
    secret: Secret<String>,
    next: String,
}

/// Page that asks for a new password in place of one that somebody else set.
#[derive(Template)]
#[template(path = "console/kit/given_password.html")]
pub(crate) struct GivenPasswordPage {
    pub(crate) frame: Frame,
    pub(crate) next: String,
    /// Reason why the last password was refused.
    pub(crate) failed: Option<String>,
}

/// Returns the frame of a page within a session, without navigation.
pub(crate) fn bare_frame(token: &Secret<String>) -> Frame {
    Frame { form_token: form_token(token), ..Frame::bare() }
}

impl FactorPage {
    /// Creates the page for this secret. An authenticator reads it from this address.
    ///
    /// # Errors
    /// [`PageError::Defect`] if the address is too long for a QR code.
    pub(crate) fn new(
        token: &Secret<String>,
        next: &str,
        secret: Secret<String>,
        address: &str,
    ) -> Result<Self, PageError> {
        let qr = qr::data_address(address)?;
        let frame = bare_frame(token);
        let next = next.to_owned();
        Ok(Self { frame, next, secret, qr, is_required: false, is_again: false, failed: None })
    }

    /// Returns the sentence that states who requires a second factor.
    fn required_sentence(&self) -> &'static str {
        let texts = &self.frame.texts.proof;
        match PageContext::current().console {
            ConsoleKind::Merchant => texts.factor_required_sentence,
            ConsoleKind::Operator => texts.factor_required_of_operators,
        }
    }

    /// Returns the secret in groups, as people type it.
    fn typed(&self) -> String {
        let letters: Vec<char> = self.secret.expose().chars().collect();
        letters.chunks(GROUP).map(|group| group.iter().collect::<String>()).collect::<Vec<_>>().join(" ")
    }
}

impl MessageSecretPage {
    /// Creates the page with this secret. It continues to the address `next`.
    pub(crate) fn new(token: &Secret<String>, secret: Secret<String>, next: String) -> Self {
        Self { frame: bare_frame(token), secret, next }
    }
}

impl RecoveryCodesPage {
    /// Creates the page with these codes. It continues to the address `next`.
    pub(crate) fn new(token: &Secret<String>, codes: &[RecoveryCode], next: String) -> Self {
        Self { frame: bare_frame(token), codes: codes.iter().map(RecoveryCode::reveal).collect(), next }
    }

    /// Returns all codes, one per line, to be copied.
    fn lines(&self) -> String {
        self.codes.join("\n")
    }
}
