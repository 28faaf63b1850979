//! The page that asks once more who it is, and then goes on with what was asked for: it sends the same form again, to the
//! same address, with the proof beside it. So it leads nowhere else, and no second page has to know what comes next.

use askama::Template;

use super::frame::Frame;

/// The field that carries the proof.
pub(crate) const PROOF_FIELD: &str = "confirm";

/// What is asked for before something is done.
#[derive(Debug)]
pub(crate) struct Confirmation {
    /// Where the form went that asked for it: a path of ours.
    pub(crate) action: String,
    /// What the form had.
    pub(crate) fields: Vec<(String, String)>,
    /// The token of the session's forms.
    pub(crate) form_token: String,
    /// Whether a code is asked for, or the password.
    pub(crate) asks_code: bool,
    /// Whether a proof was given, and was wrong.
    pub(crate) has_failed: bool,
    /// Where the visitor came from.
    pub(crate) back: String,
}

/// The page.
#[derive(Template)]
#[template(path = "console/kit/confirm.html")]
pub(crate) struct ConfirmPage<'a> {
    frame: Frame,
    asked: &'a Confirmation,
}

impl Confirmation {
    /// The page that asks.
    pub(crate) fn page(&self) -> ConfirmPage<'_> {
        ConfirmPage { frame: Frame { form_token: self.form_token.clone(), ..Frame::bare() }, asked: self }
    }
}
