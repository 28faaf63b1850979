//! Pages on the way in and about it, of either console: the second factor, its set-up, a password that others made.

use askama::Template;
use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use quita_domain::people::RecoveryCode;
use quita_domain::secret::Secret;
use quita_paper::qr::QrImage;

use super::console_kind::ConsoleKind;
use super::cookies::form_token;
use super::failure::Failure;
use super::frame::Frame;
use super::page_context::PageContext;

/// Characters between two blanks of a key that is typed.
const GROUP: usize = 4;

/// Asks for the second factor after the password.
#[derive(Template)]
#[template(path = "console/kit/code.html")]
pub(crate) struct CodePage {
    pub(crate) frame: Frame,
    /// Where the visitor wants to go.
    pub(crate) next: String,
    /// Why the last code was not taken.
    pub(crate) failed: Option<String>,
}

/// Shows what an authenticator needs, and asks for its first code.
#[derive(Template)]
#[template(path = "console/kit/factor.html")]
pub(crate) struct FactorPage {
    frame: Frame,
    next: String,
    secret: Secret<String>,
    /// The QR code as the address of an image.
    qr: String,
    /// Whether it is required, and there is none yet.
    pub(crate) is_required: bool,
    /// Whether there is one, which this one replaces.
    pub(crate) is_again: bool,
    /// Why the last code was not taken.
    pub(crate) failed: Option<&'static str>,
}

/// Shows recovery codes, once.
#[derive(Template)]
#[template(path = "console/kit/recovery_codes.html")]
pub(crate) struct RecoveryCodesPage {
    frame: Frame,
    codes: Vec<String>,
    next: String,
}

/// Asks for a password in place of one that somebody else made.
#[derive(Template)]
#[template(path = "console/kit/given_password.html")]
pub(crate) struct GivenPasswordPage {
    pub(crate) frame: Frame,
    pub(crate) next: String,
    /// Why the last one was not taken.
    pub(crate) failed: Option<String>,
}

/// A page within a session, without navigation.
pub(crate) fn bare_frame(token: &Secret<String>) -> Frame {
    Frame { form_token: form_token(token), ..Frame::bare() }
}

impl FactorPage {
    /// For this secret, which an authenticator reads from this address.
    ///
    /// # Errors
    /// [`Failure::Defect`] if the address fits no QR code.
    pub(crate) fn new(
        token: &Secret<String>,
        next: &str,
        secret: Secret<String>,
        address: &str,
    ) -> Result<Self, Failure> {
        let qr = QrImage::new(address).map_err(|error| Failure::Defect(error.to_string()))?;
        let qr = format!("data:image/svg+xml;base64,{}", STANDARD.encode(qr.svg()));
        let (frame, next) = (bare_frame(token), next.to_owned());
        Ok(Self { frame, next, secret, qr, is_required: false, is_again: false, failed: None })
    }

    /// Says who requires it.
    fn required_sentence(&self) -> &'static str {
        let texts = &self.frame.texts.proof;
        match PageContext::current().console {
            ConsoleKind::Merchant => texts.factor_required_sentence,
            ConsoleKind::Operator => texts.factor_required_of_operators,
        }
    }

    /// The secret in groups, as it is typed.
    fn typed(&self) -> String {
        let letters: Vec<char> = self.secret.expose().chars().collect();
        letters.chunks(GROUP).map(|group| group.iter().collect::<String>()).collect::<Vec<_>>().join(" ")
    }
}

impl RecoveryCodesPage {
    /// With these codes; the visitor goes on to an address of ours.
    pub(crate) fn new(token: &Secret<String>, codes: &[RecoveryCode], next: String) -> Self {
        Self { frame: bare_frame(token), codes: codes.iter().map(RecoveryCode::reveal).collect(), next }
    }

    /// All of them, a line for each, to be copied.
    fn lines(&self) -> String {
        self.codes.join("\n")
    }
}
