//! Page that asks for a proof of identity and then resubmits the original form, to the same address, with the proof. It
//! redirects nowhere, so no other page has to know the next step.

use askama::Template;

use super::frame::Frame;

/// Form field that carries the proof.
pub(crate) const PROOF_FIELD: &str = "confirm";

/// Proof of identity that is required before an action.
#[derive(Debug)]
pub(crate) struct Confirmation {
    /// Target of the original form: one of our paths.
    pub(crate) action: String,
    /// Fields of the original form.
    pub(crate) fields: Vec<(String, String)>,
    /// Form token of the session.
    pub(crate) form_token: String,
    /// True if the page asks for a code, false if it asks for the password.
    pub(crate) asks_code: bool,
    /// True if the last proof was wrong.
    pub(crate) has_failed: bool,
    /// Page that the visitor came from.
    pub(crate) back: String,
}

/// Page that asks for the proof.
#[derive(Template)]
#[template(path = "console/kit/confirm.html")]
pub(crate) struct ConfirmPage<'a> {
    frame: Frame,
    asked: &'a Confirmation,
}

impl Confirmation {
    /// Returns the page that asks for the proof.
    pub(crate) fn page(&self) -> ConfirmPage<'_> {
        ConfirmPage { frame: Frame { form_token: self.form_token.clone(), ..Frame::bare() }, asked: self }
    }
}
