//! The own sessions: where somebody is signed in, and how to end it from afar.

use actix_web::HttpResponse;
use actix_web::web::{Data, Path};
use quita_domain::audit::AuditAction;
use quita_domain::people::Session;
use quita_domain::time::Timestamp;

use super::MerchantConsole;
use super::mode::InMode;
use super::visitor::{OwnChange, Visitor};
use crate::console::kit::answer::see_other;
use crate::console::kit::browser_name::browser_name;
use crate::console::kit::failure::Failure;

/// A session as the page shows it.
pub(super) struct Row {
    pub(super) id: String,
    pub(super) browser: Option<String>,
    /// What the browser says of itself, whole.
    pub(super) said: String,
    pub(super) address: String,
    pub(super) began: Timestamp,
    pub(super) last_seen: Timestamp,
    /// Whether the page is looked at in it.
    pub(super) is_this: bool,
}

impl Row {
    fn of(session: Session, this: &Session) -> Self {
        Self {
            id: session.public_id(),
            browser: browser_name(&session.origin.browser),
            is_this: session.id == this.id,
            said: session.origin.browser,
            address: session.origin.address,
            began: session.created_at,
            last_seen: session.last_seen_at,
        }
    }
}

/// The visitor's sessions, this one first.
pub(super) async fn rows(visitor: &Visitor, console: &MerchantConsole) -> Result<Vec<Row>, Failure> {
    let sessions = console.people.sessions(&visitor.user).await?;
    let mut rows: Vec<_> = sessions.into_iter().map(|session| Row::of(session, &visitor.session)).collect();
    rows.sort_by_key(|row| !row.is_this);
    Ok(rows)
}

/// `POST /console/{mode}/account/sessions/{id}/end`
pub(crate) async fn end(
    change: OwnChange,
    InMode(mode): InMode,
    path: Path<(String, String)>,
    console: Data<MerchantConsole>,
) -> Result<HttpResponse, Failure> {
    let OwnChange { visitor, .. } = change;
    if !console.people.end_session(&visitor.user, &path.1).await? {
        return Err(Failure::NotFound);
    }
    note(&visitor, 1, &console).await;
    Ok(see_other(format!("/console/{}/account?done=session-ended", mode.as_str())))
}

/// `POST /console/{mode}/account/sessions/end-others`
pub(crate) async fn end_others(
    change: OwnChange,
    InMode(mode): InMode,
    console: Data<MerchantConsole>,
) -> Result<HttpResponse, Failure> {
    let OwnChange { visitor, .. } = change;
    let ended = console.people.end_other_sessions(&visitor.signed()).await?;
    note(&visitor, ended, &console).await;
    Ok(see_other(format!("/console/{}/account?done=others-ended", mode.as_str())))
}

async fn note(visitor: &Visitor, ended: usize, console: &MerchantConsole) {
    let draft = visitor.draft(AuditAction::SessionsEnded, &visitor.user.login);
    console.audit.note(&visitor.initiator(), draft.after(ended.to_string())).await;
}
