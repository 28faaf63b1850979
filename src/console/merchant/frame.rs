//! Frame around every page of the merchants' console: signed-in user, mode and section.

use quita_domain::identity::Mode;
use quita_domain::people::{Permission, Role, User};
use quita_domain::secret::Secret;

use super::mode::base_of;
use super::texts::MerchantTexts;
use crate::console::kit::cookies::form_token;
use crate::console::kit::frame::{self, NavigationEntry};

/// Section of the merchants' console.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum MerchantSection {
    /// Volume and approval.
    Overview,
    /// Payments.
    Payments,
    /// Payment links.
    Links,
    /// Refunds of all payments.
    Refunds,
    /// Disputes about all payments.
    Disputes,
    /// Deliveries of webhooks.
    Deliveries,
    /// Refused API calls.
    Requests,
    /// Applications, keys and secrets.
    Applications,
    /// Users.
    People,
    /// Changes made by people.
    Audit,
    /// The user's own account.
    Account,
}

impl MerchantSection {
    /// Sections that the navigation shows before those of owners.
    const OPEN: [Self; 8] = [
        Self::Overview,
        Self::Payments,
        Self::Links,
        Self::Refunds,
        Self::Disputes,
        Self::Deliveries,
        Self::Requests,
        Self::Applications,
    ];
    const FOR_OWNERS: [Self; 2] = [Self::People, Self::Audit];

    /// Returns the address of the section below the mode.
    const fn path(self) -> &'static str {
        match self {
            Self::Overview => "",
            Self::Payments => "/payments",
            Self::Links => "/links",
            Self::Refunds => "/refunds",
            Self::Disputes => "/disputes",
            Self::Deliveries => "/deliveries",
            Self::Requests => "/requests",
            Self::Applications => "/applications",
            Self::People => "/people",
            Self::Audit => "/audit",
            Self::Account => "/account",
        }
    }

    /// Returns the name of the section in the navigation.
    const fn name(self, texts: &MerchantTexts) -> &'static str {
        match self {
            Self::Overview => texts.everywhere.overview,
            Self::Payments => texts.everywhere.payments,
            Self::Links => texts.everywhere.links,
            Self::Refunds => texts.everywhere.refunds,
            Self::Disputes => texts.everywhere.disputes,
            Self::Deliveries => texts.everywhere.deliveries,
            Self::Requests => texts.everywhere.requests,
            Self::Applications => texts.everywhere.applications,
            Self::People => texts.everywhere.people,
            Self::Audit => texts.everywhere.audit,
            Self::Account => texts.everywhere.account,
        }
    }
}

/// Content of the bar next to the navigation: signed-in user and mode.
pub(super) struct MerchantBar {
    pub(super) login: String,
    pub(super) merchant: String,
    pub(super) role: Role,
    pub(super) mode: Mode,
    section: MerchantSection,
}

/// Frame around a page.
pub(super) type MerchantFrame = frame::Frame<MerchantTexts, MerchantBar>;

impl MerchantFrame {
    /// Creates the frame of a page for this user. The navigation shows the number of failing deliveries.
    pub(super) fn of(
        user: &User,
        token: &Secret<String>,
        mode: Mode,
        section: MerchantSection,
        failing_deliveries: usize,
    ) -> Self {
        let texts = MerchantTexts::current();
        let login = user.login.to_string();
        let merchant = user.merchant.to_string();
        let bar = MerchantBar { login, merchant, role: user.role, mode, section };
        let base = base_of(mode);
        let guarded =
            MerchantSection::FOR_OWNERS.into_iter().filter(|_| user.role.permits(Permission::ManagePeople));
        let entry = |each: MerchantSection| NavigationEntry {
            address: format!("{base}{}", each.path()),
            name: each.name(texts),
            is_here: each == section,
            troubles: if each == MerchantSection::Deliveries { failing_deliveries } else { 0 },
        };
        let navigation = MerchantSection::OPEN.into_iter().chain(guarded).map(entry).collect();
        Self { navigation, base, form_token: form_token(token), ..Self::new(texts, bar) }
    }

    /// Returns true in test mode.
    pub(super) fn is_test(&self) -> bool {
        self.bar.mode == Mode::Test
    }

    /// Returns the address of this section in another mode.
    pub(super) fn in_mode(&self, mode: &str) -> String {
        format!("{}/{mode}{}", self.root(), self.bar.section.path())
    }

    /// Returns true if the user may change payments.
    pub(super) fn may_change_payments(&self) -> bool {
        self.bar.role.permits(Permission::ChangePayments)
    }

    /// Returns true if the user may manage applications.
    pub(super) fn may_manage_applications(&self) -> bool {
        self.bar.role.permits(Permission::ManageApplications)
    }

    /// Returns the first two letters of the login, for an avatar.
    pub(super) fn initials(&self) -> String {
        let letters = self.bar.login.chars().filter(|character| character.is_alphanumeric());
        letters.take(2).flat_map(char::to_uppercase).collect()
    }
}
