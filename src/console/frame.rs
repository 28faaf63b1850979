//! What stands around every page: who is signed in, where the visitor is, what was just done.

use quita_domain::identity::Mode;
use quita_domain::people::{Permission, Role};

use super::cookies::Door;
use super::language::Language;
use super::place::Place;
use super::texts::Texts;

/// The parts of the merchants' console.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Section {
    /// Volume and approval.
    Overview,
    /// Payments.
    Payments,
    /// Deliveries of webhooks.
    Deliveries,
    /// Applications, keys, secrets.
    Applications,
    /// Users.
    People,
    /// What people changed.
    Audit,
    /// The own account.
    Account,
}

impl Section {
    /// The address below the mode.
    pub(crate) const fn path(self) -> &'static str {
        match self {
            Self::Overview => "",
            Self::Payments => "/payments",
            Self::Deliveries => "/deliveries",
            Self::Applications => "/applications",
            Self::People => "/people",
            Self::Audit => "/audit",
            Self::Account => "/account",
        }
    }

    /// What the navigation calls it.
    pub(crate) const fn name(self, texts: &Texts) -> &'static str {
        match self {
            Self::Overview => texts.everywhere.overview,
            Self::Payments => texts.everywhere.payments,
            Self::Deliveries => texts.everywhere.deliveries,
            Self::Applications => texts.everywhere.applications,
            Self::People => texts.everywhere.people,
            Self::Audit => texts.everywhere.audit,
            Self::Account => texts.everywhere.account,
        }
    }
}

/// Whoever is signed in to the merchants' console, as the frame shows it.
#[derive(Debug, Clone)]
pub(crate) struct Person {
    pub(crate) login: String,
    pub(crate) merchant: String,
    pub(crate) role: Role,
}

/// What stands around a page.
#[derive(Clone)]
pub(crate) struct Frame {
    pub(crate) place: Place,
    pub(crate) texts: &'static Texts,
    pub(crate) person: Option<Person>,
    pub(crate) mode: Mode,
    pub(crate) section: Option<Section>,
    pub(crate) form_token: String,
    /// What was just done.
    pub(crate) notice: Option<&'static str>,
    /// Whether the page draws plots.
    pub(crate) has_plots: bool,
}

impl Frame {
    /// A page outside of any session.
    pub(crate) fn bare(place: Place) -> Self {
        Self {
            place,
            texts: place.texts(),
            person: None,
            mode: Mode::Test,
            section: None,
            form_token: String::new(),
            notice: None,
            has_plots: false,
        }
    }

    /// The language, for words and numbers.
    pub(crate) const fn language(&self) -> Language {
        self.place.language
    }

    /// The other languages that the page could speak.
    pub(crate) fn other_languages(&self) -> impl Iterator<Item = Language> {
        let own = self.place.language;
        Language::ALL.into_iter().filter(move |language| *language != own)
    }

    /// Whether this is about pretended money.
    pub(crate) fn is_test(&self) -> bool {
        self.mode == Mode::Test
    }

    /// The address of this part of the console in another mode.
    pub(crate) fn in_mode(&self, mode: &str) -> String {
        format!("/console/{mode}{}", self.section.map_or("", Section::path))
    }

    /// Whether the page belongs to this part.
    pub(crate) fn is_in(&self, section: &Section) -> bool {
        self.section == Some(*section)
    }

    /// Whether this is the operator's console.
    pub(crate) fn is_operators(&self) -> bool {
        self.place.door == Door::Operator
    }

    /// The address of this console's mark.
    pub(crate) const fn logo(&self) -> &'static str {
        match self.place.door {
            Door::Merchant => "/console/assets/logo.svg",
            Door::Operator => "/console/assets/logo-operator.svg",
        }
    }

    /// The address that all pages of this console and mode begin with.
    pub(crate) fn base(&self) -> String {
        match self.place.door {
            Door::Merchant => format!("/console/{}", self.mode.as_str()),
            Door::Operator => String::new(),
        }
    }

    /// The parts that the signed-in person may look at.
    pub(crate) fn sections(&self) -> Vec<Section> {
        let open = [Section::Overview, Section::Payments, Section::Deliveries, Section::Applications];
        let guarded = [Section::People, Section::Audit];
        let guarded = guarded.into_iter().filter(|_| self.permits(Permission::ManagePeople));
        open.into_iter().chain(guarded).collect()
    }

    /// Whether the signed-in person may do this.
    pub(crate) fn permits(&self, permission: Permission) -> bool {
        self.person.as_ref().is_some_and(|person| person.role.permits(permission))
    }

    /// Whether payments may be changed.
    pub(crate) fn may_change_payments(&self) -> bool {
        self.permits(Permission::ChangePayments)
    }

    /// Whether applications may be managed.
    pub(crate) fn may_manage_applications(&self) -> bool {
        self.permits(Permission::ManageApplications)
    }

    /// The first two letters of the login, for a little picture.
    pub(crate) fn initials(&self) -> String {
        let login = self.person.as_ref().map_or("", |person| person.login.as_str());
        login
            .chars()
            .filter(|character| character.is_alphanumeric())
            .take(2)
            .flat_map(char::to_uppercase)
            .collect()
    }

    /// The version of the program.
    pub(crate) const fn version(&self) -> &'static str {
        env!("CARGO_PKG_VERSION")
    }
}
