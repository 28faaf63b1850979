//! Who may sign in: a merchant's users, for its owners.

use actix_web::HttpResponse;
use actix_web::http::header::LOCATION;
use actix_web::web::{Data, Path, Query};
use askama::Template;
use quita_domain::audit::AuditAction;
use quita_domain::identity::Mode;
use quita_domain::people::{Login, Permission, Role, User};
use quita_domain::secret::Secret;
use serde::Deserialize;

use super::Console;
use super::applications::path_segment;
use super::ask::AskPage;
use super::failure::Failure;
use super::frame::{Frame, Section};
use super::mode::InMode;
use super::place;
use super::texts::Texts;
use super::visitor::{PeopleChange, Visitor};

#[derive(Template)]
#[template(path = "console/people.html")]
struct PeoplePage {
    frame: Frame,
    users: Vec<User>,
}

impl PeoplePage {
    fn is_own(&self, user: &User) -> bool {
        self.frame.person.as_ref().is_some_and(|person| person.login == user.login.as_str())
    }

    fn may(&self, role: &Role) -> &'static str {
        let texts = &self.frame.texts.people;
        match role {
            Role::Owner => texts.owner_may,
            Role::Developer => texts.developer_may,
            Role::Viewer => texts.viewer_may,
        }
    }

    fn address(&self, user: &User) -> String {
        format!("{}/people/{}", self.frame.base(), path_segment(user.login.as_str()))
    }
}

#[derive(Template)]
#[template(path = "console/new_password.html")]
struct NewPasswordPage {
    frame: Frame,
    title: String,
    back: String,
    password: String,
}

/// What was just done, as the address says it.
#[derive(Deserialize)]
pub(crate) struct Done {
    #[serde(default)]
    done: String,
}

/// `GET /console/{mode}/people`
pub(crate) async fn show(
    visitor: Visitor,
    InMode(mode): InMode,
    console: Data<Console>,
    done: Query<Done>,
) -> Result<HttpResponse, Failure> {
    visitor.must(Permission::ManagePeople)?;
    let users = console.people.users(&visitor.user.merchant).await?;
    let mut frame = visitor.frame(mode, Section::People);
    frame.notice = notice(frame.texts, &done.done);
    let page = PeoplePage { frame, users };
    Ok(HttpResponse::Ok().content_type("text/html; charset=utf-8").body(page.render()?))
}

fn notice(texts: &Texts, done: &str) -> Option<&'static str> {
    match done {
        "removed" => Some(texts.people.removed),
        "role" => Some(texts.people.role_changed),
        _ => None,
    }
}

/// `POST /console/{mode}/people`
pub(crate) async fn create(
    change: PeopleChange,
    InMode(mode): InMode,
    console: Data<Console>,
) -> Result<HttpResponse, Failure> {
    let PeopleChange { visitor, form } = change;
    let texts = &place::current().texts().people;
    let login = Login::parse(form.text("email"));
    let login = login.ok_or_else(|| Failure::Unreadable(texts.not_an_email.into()))?;
    let role = Role::parse(form.text("role")).ok_or(Failure::NotFound)?;
    let merchant = visitor.user.merchant.clone();
    let password = console.people.create(merchant, login.clone(), role).await?;
    let deed = visitor.deed(AuditAction::UserCreated, &login).after(role.as_str());
    console.audit.note(&visitor.doer(), deed).await;
    show_password(&visitor, mode, &login, &password)
}

fn show_password(
    visitor: &Visitor,
    mode: Mode,
    login: &Login,
    password: &Secret<String>,
) -> Result<HttpResponse, Failure> {
    let frame = visitor.frame(mode, Section::People);
    let page = NewPasswordPage {
        title: frame.texts.people.password_for.replace("{login}", login.as_str()),
        back: format!("{}/people", frame.base()),
        password: password.expose().clone(),
        frame,
    };
    Ok(HttpResponse::Ok().content_type("text/html; charset=utf-8").body(page.render()?))
}

/// `GET /console/{mode}/people/{login}/{reset|remove}`
pub(crate) async fn ask(
    visitor: Visitor,
    InMode(mode): InMode,
    path: Path<(String, String, String)>,
    console: Data<Console>,
) -> Result<HttpResponse, Failure> {
    visitor.must(Permission::ManagePeople)?;
    let (_, login, verb) = path.into_inner();
    let user = another(&visitor, &login, &console).await?;
    let frame = visitor.frame(mode, Section::People);
    let texts = &frame.texts.people;
    let (question, sentence, button) = match verb.as_str() {
        "reset" => (texts.reset_question, texts.reset_sentence, texts.reset_password),
        "remove" => (texts.remove_question, texts.remove_sentence, texts.remove),
        _ => return Err(Failure::NotFound),
    };
    let back = format!("{}/people", frame.base());
    AskPage {
        question: question.replace("{login}", user.login.as_str()),
        sentence: sentence.into(),
        button,
        action: format!("{back}/{}/{verb}", path_segment(user.login.as_str())),
        back,
        is_grave: true,
        frame,
    }
    .show()
}

/// `POST /console/{mode}/people/{login}/{role|reset|remove}`
pub(crate) async fn act(
    change: PeopleChange,
    InMode(mode): InMode,
    path: Path<(String, String, String)>,
    console: Data<Console>,
) -> Result<HttpResponse, Failure> {
    let PeopleChange { visitor, form } = change;
    let (_, login, verb) = path.into_inner();
    let user = another(&visitor, &login, &console).await?;
    let merchant = &visitor.user.merchant;
    let (deed, done) = match verb.as_str() {
        "reset" => {
            let password = console.people.reset_password(merchant, &user.login).await?;
            let deed = visitor.deed(AuditAction::PasswordChanged, &user.login);
            console.audit.note(&visitor.doer(), deed).await;
            return show_password(&visitor, mode, &user.login, &password);
        }
        "role" => {
            let role = Role::parse(form.text("role")).ok_or(Failure::NotFound)?;
            let before = console.people.set_role(merchant, &user.login, role).await?;
            let deed = visitor.deed(AuditAction::UserRoleChanged, &user.login);
            (deed.before(before.as_str()).after(role.as_str()), "role")
        }
        "remove" => {
            console.people.remove(merchant, &user.login).await?;
            let deed = visitor.deed(AuditAction::UserRemoved, &user.login);
            (deed.before(user.role.as_str()), "removed")
        }
        _ => return Err(Failure::NotFound),
    };
    console.audit.note(&visitor.doer(), deed).await;
    let address = format!("/console/{}/people?done={done}", mode.as_str());
    Ok(HttpResponse::SeeOther().insert_header((LOCATION, address)).finish())
}

/// Another user of the visitor's merchant: so a merchant always keeps an owner.
async fn another(visitor: &Visitor, login: &str, console: &Console) -> Result<User, Failure> {
    let login = Login::parse(login).ok_or(Failure::NotFound)?;
    let user = console.people.user(&visitor.user.merchant, &login).await?;
    if user.login == visitor.user.login {
        let texts = &place::current().texts().people;
        return Err(Failure::Refused(texts.not_yourself.into()));
    }
    Ok(user)
}
