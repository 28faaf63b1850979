//! People who may sign in to this console: operators, who direct, and auditors, who only view.

use actix_web::HttpResponse;
use actix_web::web::{Data, Path, Query};
use askama::Template;
use quita_domain::audit::AuditAction;
use quita_domain::people::{self, Login, OperatorRole};
use quita_domain::secret::Secret;

use super::frame::{BASE, OperatorFrame, OperatorSection};
use super::texts::OperatorTexts;
use super::visitor::{DirectorForm, Operator};
use super::{OperatorConsole, words};
use crate::console::kit::answer::{Done, html, see_other};
use crate::console::kit::page_error::PageError;
use crate::console::kit::people::{PeoplePart, PersonAction, RoleChoice, address_of, read_login};
use quita_services::audit::AuditDraft;

#[derive(Template)]
#[template(path = "console/operator/people.html")]
struct OperatorPeoplePage {
    frame: OperatorFrame,
    part: PeoplePart,
}

fn role_choice(role: OperatorRole) -> RoleChoice {
    let texts = OperatorTexts::current();
    let may = match role {
        OperatorRole::Operator => texts.operator_people.operator_may,
        OperatorRole::Auditor => texts.operator_people.auditor_may,
    };
    RoleChoice { value: role.as_str(), name: words::role(role, texts), may }
}

#[derive(Template)]
#[template(path = "console/operator/ask_person.html")]
struct AskPersonPage {
    frame: OperatorFrame,
    question: String,
    sentence: &'static str,
    button: &'static str,
    action: String,
}

#[derive(Template)]
#[template(path = "console/operator/password.html")]
struct PasswordPage {
    frame: OperatorFrame,
    title: String,
    password: String,
}

/// Handles `GET /people`.
pub(super) async fn show(
    operator: Operator,
    console: Data<OperatorConsole>,
    done: Query<Done>,
) -> Result<HttpResponse, PageError> {
    let people = console.people.operators().await?;
    let mut frame = operator.frame(OperatorSection::People);
    frame.notice = PeoplePart::notice(&done);
    let roles = OperatorRole::ALL.into_iter().map(role_choice).collect();
    let part = PeoplePart::new(&people, roles, operator.who.login.as_str(), BASE, frame.may_direct());
    html(&OperatorPeoplePage { frame, part })
}

/// Handles `POST /people`.
pub(super) async fn create(
    DirectorForm { visitor, form }: DirectorForm,
    console: Data<OperatorConsole>,
) -> Result<HttpResponse, PageError> {
    let login = read_login(&form)?;
    let role = OperatorRole::parse(form.text("role")).ok_or(PageError::NotFound)?;
    let password = console.people.create_operator(login.clone(), role).await?;
    let draft = AuditDraft::of_operators(AuditAction::OperatorCreated, &login).after(role.as_str());
    console.audit.note(&visitor.initiator(), draft).await;
    show_password(&visitor, &login, &password)
}

fn show_password(
    visitor: &Operator,
    login: &Login,
    password: &Secret<String>,
) -> Result<HttpResponse, PageError> {
    let frame = visitor.frame(OperatorSection::People);
    let title = frame.texts.people.password_for.replace("{login}", login.as_str());
    html(&PasswordPage { frame, title, password: password.expose().clone() })
}

/// Handles `GET /people/{login}/{reset|factor|remove}`.
pub(super) async fn ask(
    operator: Operator,
    path: Path<(String, PersonAction)>,
    console: Data<OperatorConsole>,
) -> Result<HttpResponse, PageError> {
    operator.must_direct()?;
    let (login, verb) = path.into_inner();
    let person = another(&operator, &login, &console).await?;
    let frame = operator.frame(OperatorSection::People);
    let texts = &frame.texts.people;
    let (question, sentence, button) = match verb {
        PersonAction::Reset => (texts.reset_question, texts.reset_sentence, texts.reset_password),
        PersonAction::Factor => (texts.factor_question, texts.factor_sentence, texts.reset_factor),
        PersonAction::Remove => {
            (texts.remove_question, frame.texts.operator_people.remove_sentence, texts.remove)
        }
        PersonAction::Role => return Err(PageError::NotFound),
    };
    let question = question.replace("{login}", person.login.as_str());
    let action = format!("{}/{}", address_of(&person.login, BASE), verb.as_str());
    html(&AskPersonPage { frame, question, sentence, button, action })
}

/// Handles `POST /people/{login}/{role|reset|factor|remove}`.
pub(super) async fn act(
    DirectorForm { visitor, form }: DirectorForm,
    path: Path<(String, PersonAction)>,
    console: Data<OperatorConsole>,
) -> Result<HttpResponse, PageError> {
    let (login, verb) = path.into_inner();
    let person = another(&visitor, &login, &console).await?;
    let (draft, done) = match verb {
        PersonAction::Reset => {
            let password = console.people.reset_operator_password(&person.login).await?;
            let draft = AuditDraft::of_operators(AuditAction::PasswordChanged, &person.login);
            console.audit.note(&visitor.initiator(), draft).await;
            return show_password(&visitor, &person.login, &password);
        }
        PersonAction::Factor => {
            console.people.remove_factor::<people::Operator>(&person.login).await?;
            (AuditDraft::of_operators(AuditAction::SecondFactorRemoved, &person.login), "factor")
        }
        PersonAction::Role => {
            let role = OperatorRole::parse(form.text("role")).ok_or(PageError::NotFound)?;
            let before = console.people.set_operator_role(&person.login, role).await?;
            let draft = AuditDraft::of_operators(AuditAction::OperatorRoleChanged, &person.login);
            (draft.before(before.as_str()).after(role.as_str()), "role")
        }
        PersonAction::Remove => {
            console.people.remove_operator(&person.login).await?;
            let draft = AuditDraft::of_operators(AuditAction::OperatorRemoved, &person.login);
            (draft.before(person.role.as_str()), "removed")
        }
    };
    console.audit.note(&visitor.initiator(), draft).await;
    Ok(see_other(format!("/people?done={done}")))
}

/// Finds an operator other than the visitor, so that nobody locks themselves out.
async fn another(
    visitor: &Operator,
    login: &str,
    console: &OperatorConsole,
) -> Result<people::Operator, PageError> {
    let login = Login::parse(login).ok_or(PageError::NotFound)?;
    if login == visitor.who.login {
        return Err(PageError::Refused(OperatorTexts::current().operator_people.not_yourself.into()));
    }
    let everybody = console.people.operators().await?;
    everybody.into_iter().find(|person| person.login == login).ok_or(PageError::NotFound)
}
