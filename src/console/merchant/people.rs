//! Users of a merchant, managed by its owners.

pub(super) mod profile;
mod removal;

use actix_web::HttpResponse;
use actix_web::web::{Data, Path, Query};
use askama::Template;
use quita_domain::audit::AuditAction;
use quita_domain::identity::Mode;
use quita_domain::money::Money;
use quita_domain::people::{
    Login, MAX_CONTACT, MAX_DISPLAY_NAME, MAX_LOGO_BYTES, MerchantPolicy, MerchantProfile, Permission, Role,
    User,
};
use quita_domain::secret::Secret;

use super::MerchantConsole;
use super::ask::{AskPage, AskWords};
use super::frame::{MerchantFrame, MerchantSection};
use super::mode::{InMode, base_of};
use super::once::OncePage;
use super::texts::MerchantTexts;
use super::visitor::{PeopleChange, Visitor};
use crate::console::kit::answer::{Done, html, path_segment, see_other};
use crate::console::kit::language::Language;
use crate::console::kit::page_error::PageError;
use crate::console::kit::people::{PeoplePart, PersonAction, RoleChoice, read_login};

#[derive(Template)]
#[template(path = "console/merchant/people.html")]
struct MerchantPeoplePage {
    frame: MerchantFrame,
    part: PeoplePart,
    policy: MerchantPolicy,
    profile: MerchantProfile,
    /// Name that payers see if there is no profile.
    merchant: String,
}

impl MerchantPeoplePage {
    /// Maximum number of characters of a display name, for the field.
    const MAX_NAME: usize = MAX_DISPLAY_NAME;
    /// Maximum number of characters of a contact, for the field.
    const MAX_CONTACT: usize = MAX_CONTACT;
    /// Maximum number of bytes of a logo, for the field.
    const MAX_LOGO: usize = MAX_LOGO_BYTES;
}

fn role_choice(role: Role) -> RoleChoice {
    let texts = &MerchantTexts::current().users;
    let may = match role {
        Role::Owner => texts.owner_may,
        Role::Developer => texts.developer_may,
        Role::Viewer => texts.viewer_may,
    };
    RoleChoice { value: role.as_str(), name: Language::current().role(role), may }
}

/// Handles `GET /console/{mode}/people`.
pub(crate) async fn show(
    visitor: Visitor,
    InMode(mode): InMode,
    console: Data<MerchantConsole>,
    done: Query<Done>,
) -> Result<HttpResponse, PageError> {
    visitor.must(Permission::ManagePeople)?;
    let users = console.people.users(&visitor.user.merchant).await?;
    let mut frame = visitor.frame(mode, MerchantSection::People);
    frame.notice = match done.done.as_str() {
        "policy" => Some(frame.texts.users.policy_changed),
        "profile" => Some(frame.texts.users.profile_changed),
        _ => PeoplePart::notice(&done),
    };
    let roles = Role::ALL.into_iter().map(role_choice).collect();
    let part = PeoplePart::new(&users, roles, visitor.user.login.as_str(), &frame.base, true);
    let policy = console.people.policy(&visitor.user.merchant).await?;
    let profile = console.people.profile(&visitor.user.merchant).await?;
    html(&MerchantPeoplePage { frame, part, policy, profile, merchant: visitor.user.merchant.to_string() })
}

/// Handles `POST /console/{mode}/people`.
pub(crate) async fn create(
    change: PeopleChange,
    InMode(mode): InMode,
    console: Data<MerchantConsole>,
) -> Result<HttpResponse, PageError> {
    let PeopleChange { visitor, form } = change;
    let login = read_login(&form)?;
    let role = Role::parse(form.text("role")).ok_or(PageError::NotFound)?;
    console.user_limits.count_new_person(&visitor.user)?;
    let merchant = visitor.user.merchant.clone();
    let password = console.people.create(merchant, login.clone(), role).await?;
    let draft = visitor.draft(AuditAction::UserCreated, &login).after(role.as_str());
    console.audit.note(&visitor.initiator(), draft).await;
    show_password(&visitor, mode, &login, &password)
}

fn show_password(
    visitor: &Visitor,
    mode: Mode,
    login: &Login,
    password: &Secret<String>,
) -> Result<HttpResponse, PageError> {
    let frame = visitor.frame(mode, MerchantSection::People);
    let texts = &frame.texts.people;
    OncePage {
        title: texts.password_for.replace("{login}", login.as_str()),
        sentence: texts.password_shown_once,
        secret: password.expose().clone(),
        second: None,
        curl: None,
        back: format!("{}/people", frame.base),
        frame,
    }
    .show()
}

/// Handles `GET /console/{mode}/people/{login}/{reset|remove|factor}`.
pub(crate) async fn ask(
    visitor: Visitor,
    InMode(mode): InMode,
    path: Path<(String, String, PersonAction)>,
    console: Data<MerchantConsole>,
) -> Result<HttpResponse, PageError> {
    visitor.must(Permission::ManagePeople)?;
    let (_, login, verb) = path.into_inner();
    let user = another(&visitor, &login, &console).await?;
    let frame = visitor.frame(mode, MerchantSection::People);
    let texts = &frame.texts.people;
    let (question, sentence, button) = match verb {
        PersonAction::Reset => (texts.reset_question, texts.reset_sentence, texts.reset_password),
        PersonAction::Remove => return removal::ask(frame, &user, &console).await,
        PersonAction::Factor => (texts.factor_question, texts.factor_sentence, texts.reset_factor),
        PersonAction::Role => return Err(PageError::NotFound),
    };
    let login = user.login.as_str();
    let back = format!("{}/people", frame.base);
    let words = AskWords { question: question.replace("{login}", login), sentence, button };
    AskPage::new(frame, words, back, &format!("{}/{}", path_segment(login), verb.as_str())).show()
}

/// Handles `POST /console/{mode}/people/{login}/{role|reset|remove|factor}`.
pub(crate) async fn act(
    change: PeopleChange,
    InMode(mode): InMode,
    path: Path<(String, String, PersonAction)>,
    console: Data<MerchantConsole>,
) -> Result<HttpResponse, PageError> {
    let PeopleChange { visitor, form } = change;
    let (_, login, verb) = path.into_inner();
    let user = another(&visitor, &login, &console).await?;
    let merchant = &visitor.user.merchant;
    let (draft, done) = match verb {
        PersonAction::Reset => {
            let password = console.people.reset_password(merchant, &user.login).await?;
            let draft = visitor.draft(AuditAction::PasswordChanged, &user.login);
            console.audit.note(&visitor.initiator(), draft).await;
            return show_password(&visitor, mode, &user.login, &password);
        }
        PersonAction::Role => {
            let role = Role::parse(form.text("role")).ok_or(PageError::NotFound)?;
            let before = console.people.set_role(merchant, &user.login, role).await?;
            let draft = visitor.draft(AuditAction::UserRoleChanged, &user.login);
            (draft.before(before.as_str()).after(role.as_str()), "role")
        }
        PersonAction::Factor => {
            console.people.remove_factor::<User>(&user.login).await?;
            (visitor.draft(AuditAction::SecondFactorRemoved, &user.login), "factor")
        }
        PersonAction::Remove => {
            removal::remove(&visitor, &user, &form, &console).await?;
            return Ok(see_other(format!("{}/people?done=removed", base_of(mode))));
        }
    };
    console.audit.note(&visitor.initiator(), draft).await;
    let address = format!("{}/people?done={done}", base_of(mode));
    Ok(see_other(address))
}

/// Handles `POST /console/{mode}/people/policy`.
pub(crate) async fn set_policy(
    change: PeopleChange,
    InMode(mode): InMode,
    console: Data<MerchantConsole>,
) -> Result<HttpResponse, PageError> {
    let PeopleChange { visitor, form } = change;
    let merchant = &visitor.user.merchant;
    let before = console.people.policy(merchant).await?;
    let limit = match form.text("confirmRefundsAbove") {
        "" => None,
        amount => Some(read_limit(amount)?),
    };
    let after = MerchantPolicy {
        second_factor_required: form.text("secondFactorRequired") == "true",
        confirm_refunds_above: limit,
    };
    console.people.set_policy(merchant, &after).await?;
    let draft = visitor.draft(AuditAction::PolicyChanged, merchant);
    console.audit.note(&visitor.initiator(), draft.before(summary(before)).after(summary(after))).await;
    Ok(see_other(format!("{}/people?done=policy", base_of(mode))))
}

fn read_limit(text: &str) -> Result<Money, PageError> {
    let unreadable = || PageError::Unreadable(MerchantTexts::current().payments.bad_amount.into());
    Language::current().parse_money(text).ok_or_else(unreadable)
}

/// Describes a policy for the audit log.
fn summary(policy: MerchantPolicy) -> String {
    let required = if policy.second_factor_required { "required" } else { "not required" };
    let above = policy.confirm_refunds_above.map_or_else(|| String::from("none"), |most| most.to_string());
    format!("second factor {required}; refunds confirmed above {above}")
}

/// Finds a user of the visitor's merchant other than the visitor, so that nobody locks themselves out. Two owners can
/// still remove each other at the same moment; `quita users create` then creates the next one.
async fn another(visitor: &Visitor, login: &str, console: &MerchantConsole) -> Result<User, PageError> {
    let login = Login::parse(login).ok_or(PageError::NotFound)?;
    let user = console.people.user(&visitor.user.merchant, &login).await?;
    if user.login == visitor.user.login {
        return Err(PageError::Refused(MerchantTexts::current().users.not_yourself.into()));
    }
    Ok(user)
}
