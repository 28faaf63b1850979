//! Steps that somebody has to take before anything else.

use quita_domain::people::{Credentials, Operator};

use super::People;

/// Duties of somebody before anything else.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Duty {
    /// Set up a second factor, because one is required.
    SetUpFactor,
    /// Change a password that somebody else made, or that was made to begin with.
    ChangePassword,
}

impl People {
    /// Duties of an operator before anything else, where all of them need a second factor or none does.
    ///
    /// The password comes first: whoever made it could set up a factor with it, too.
    pub fn duty_of_operator(&self, operator: &Operator, needs_second_factor: bool) -> Option<Duty> {
        let credentials = &operator.credentials;
        if self.must_change_password(credentials) {
            return Some(Duty::ChangePassword);
        }
        (needs_second_factor && credentials.second_factor.is_none()).then_some(Duty::SetUpFactor)
    }

    /// Says whether the password is one that must not stay.
    pub fn must_change_password(&self, credentials: &Credentials) -> bool {
        credentials.is_password_due(self.clock.now())
    }
}
