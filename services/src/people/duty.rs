//! Steps that a person has to take before anything else.

use quita_domain::people::{Credentials, Operator};

use super::People;

/// Duty of a person before anything else.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Duty {
    /// Setting up a second factor, because one is required.
    SetUpFactor,
    /// Changing a password that someone else chose, or that was only meant for the start.
    ChangePassword,
}

impl People {
    /// Returns the duty of an operator. `needs_second_factor` says whether all of them need a second factor.
    ///
    /// The password comes first: whoever chose it could otherwise set up a second factor with it.
    pub fn duty_of_operator(&self, operator: &Operator, needs_second_factor: bool) -> Option<Duty> {
        let credentials = &operator.credentials;
        if self.must_change_password(credentials) {
            return Some(Duty::ChangePassword);
        }
        (needs_second_factor && credentials.second_factor.is_none()).then_some(Duty::SetUpFactor)
    }

    /// Returns true if the password has to be changed.
    pub fn must_change_password(&self, credentials: &Credentials) -> bool {
        credentials.is_password_due(self.clock.now())
    }
}
